// IOStatus: the outcome of a FileSystem call. It is a Status with attributes of an I/O error that a
// database may act on. They stay with the error when it is copied into a Status.
//
// Thread safety: as Status.
#pragma once

#include <utility>

#include "ashlar/export.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"

namespace ashlar {

class [[nodiscard]] ASHLAR_API IOStatus : public Status {
 public:
  using Code = Status::Code;
  using SubCode = Status::SubCode;

  // The scope of the error.
  enum IOErrorScope : unsigned char {
    kIOErrorScopeFileSystem,
    kIOErrorScopeFile,
    kIOErrorScopeRange,
    kIOErrorScopeMax,
  };

  IOStatus() noexcept = default;

  // Whether the same call may succeed later.
  bool GetRetryable() const { return io_facts_.is_retryable != 0; }
  void SetRetryable(bool retryable) { io_facts_.is_retryable = retryable ? 1 : 0; }
  // Whether written data are lost.
  bool GetDataLoss() const { return io_facts_.is_data_loss != 0; }
  void SetDataLoss(bool data_loss) { io_facts_.is_data_loss = data_loss ? 1 : 0; }
  IOErrorScope GetScope() const { return static_cast<IOErrorScope>(io_facts_.scope); }
  void SetScope(IOErrorScope scope) { io_facts_.scope = scope; }

  static IOStatus OK() { return IOStatus(); }
  // Each error takes a text, two texts that ": " joins, or a subcode.
  static IOStatus NotSupported(const Slice& msg, const Slice& msg2 = Slice()) {
    return Make(kNotSupported, kNone, msg, msg2);
  }
  static IOStatus NotSupported(SubCode subcode = kNone) { return Make(kNotSupported, subcode); }
  static IOStatus NotFound(const Slice& msg, const Slice& msg2 = Slice()) {
    return Make(kNotFound, kNone, msg, msg2);
  }
  static IOStatus NotFound(SubCode subcode = kNone) { return Make(kNotFound, subcode); }
  static IOStatus Corruption(const Slice& msg, const Slice& msg2 = Slice()) {
    return Make(kCorruption, kNone, msg, msg2);
  }
  static IOStatus Corruption(SubCode subcode = kNone) { return Make(kCorruption, subcode); }
  static IOStatus InvalidArgument(const Slice& msg, const Slice& msg2 = Slice()) {
    return Make(kInvalidArgument, kNone, msg, msg2);
  }
  static IOStatus InvalidArgument(SubCode subcode = kNone) {
    return Make(kInvalidArgument, subcode);
  }
  static IOStatus IOError(const Slice& msg, const Slice& msg2 = Slice()) {
    return Make(kIOError, kNone, msg, msg2);
  }
  static IOStatus IOError(SubCode subcode = kNone) { return Make(kIOError, subcode); }
  static IOStatus Busy(const Slice& msg, const Slice& msg2 = Slice()) {
    return Make(kBusy, kNone, msg, msg2);
  }
  static IOStatus Busy(SubCode subcode = kNone) { return Make(kBusy, subcode); }
  static IOStatus TimedOut(const Slice& msg, const Slice& msg2 = Slice()) {
    return Make(kTimedOut, kNone, msg, msg2);
  }
  static IOStatus TimedOut(SubCode subcode = kNone) { return Make(kTimedOut, subcode); }
  static IOStatus Aborted(const Slice& msg, const Slice& msg2 = Slice()) {
    return Make(kAborted, kNone, msg, msg2);
  }
  static IOStatus Aborted(SubCode subcode = kNone) { return Make(kAborted, subcode); }
  static IOStatus NoSpace(const Slice& msg = Slice(), const Slice& msg2 = Slice()) {
    return Make(kIOError, kNoSpace, msg, msg2);
  }
  static IOStatus PathNotFound(const Slice& msg = Slice(), const Slice& msg2 = Slice()) {
    return Make(kIOError, kPathNotFound, msg, msg2);
  }
  static IOStatus IOFenced(const Slice& msg = Slice(), const Slice& msg2 = Slice()) {
    return Make(kIOError, kIOFenced, msg, msg2);
  }

 private:
  friend IOStatus status_to_io_status(Status&& status);
  explicit IOStatus(Status&& status) noexcept : Status(std::move(status)) {}
  static IOStatus Make(Code code, SubCode subcode, const Slice& msg = Slice(),
                       const Slice& msg2 = Slice()) {
    return IOStatus(Status::Error(code, subcode, msg, msg2));
  }
};

// Returns the same outcome: code, subcode, text and attributes.
inline IOStatus status_to_io_status(Status&& status) { return IOStatus(std::move(status)); }

}  // namespace ashlar
