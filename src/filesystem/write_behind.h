// WriteBehind: writes one piece of a file on its own thread while the owner fills the next one. An
// unbuffered write waits for the device; the owner can use that time to compute the next bytes.
//
//   owner    fill A | fill B        | wait | fill A ...
//   thread          | write A              | write B ...
//
// I1: at most one piece is being written.
// I2: after a failed write no other is started; every later call returns the error.
//
// The thread starts with the first piece. If the system refuses a thread, pieces are written at
// once.
//
// Thread safety: one owner at a time. Lifetime: the file outlives it.
#pragma once

#include <cstdint>
#include <optional>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "platform/file.h"
#include "platform/mutex.h"
#include "platform/thread.h"

namespace ashlar {

class WriteBehind {
 public:
  explicit WriteBehind(OsFile* file) : file_(*file) {}
  // Waits.
  ~WriteBehind();
  WriteBehind(const WriteBehind&) = delete;
  WriteBehind& operator=(const WriteBehind&) = delete;

  // Waits for the piece before, and begins to write this one. The bytes stay as they are until the
  // next call of Begin or Wait, or the destructor, has returned.
  Status Begin(uint64_t offset, const Slice& bytes);
  // When it returns nothing is on its way.
  Status Wait();

 private:
  struct Piece {
    uint64_t offset;
    Slice bytes;
  };
  // Whether there is a thread.
  bool HasThread();
  void Run();

  OsFile& file_;
  Thread thread_;
  enum class Start { kNotTried, kRefused, kRuns } start_ = Start::kNotTried;

  Mutex mutex_;
  CondVar changed_;
  std::optional<Piece> piece_ ASHLAR_GUARDED_BY(mutex_);  // on its way
  Status status_ ASHLAR_GUARDED_BY(mutex_);               // the first error
  bool ends_ ASHLAR_GUARDED_BY(mutex_) = false;
};

}  // namespace ashlar
