// The bytes of a redo log, which is a header and then records without gaps, and what they prove.
//
//   page 0      magic | checksum u64 | pool id u64 | generation u64 | boot id u64 | whole end u64
//   record*     bytes u64 | redo checksum u32 | head checksum u32 | pool id u64 | generation u64 |
//               number u64 | synced end u64 | redo: (offset u64, bytes u64, data)*
//
// `bytes` counts the entire record. The head checksum covers the head except itself. Everything
// below the synced end, an offset in the log, was durable before the record was written. The whole
// end says the same for the header, because a log begins with records that no checkpoint covers.
//
//   ScanLog:  [record 0][record 1]...[record n-1] end   bytes of an older log, zeros, or a hole and
//                                                        then records of this generation
//
// I1: the records of a generation are numbered from 0, and each is written after the previous one.
// I2: a process that dies leaves a prefix of its writes. Only a power cut leaves a record without
//     its predecessor, and only among records that were not synced.
// I3: the file is extended before a record that crosses its end is written.
//
// A readable record after the end proves damage if no power was lost since the log was begun, or if
// its synced end is after the end. An end below the whole end proves it too. If no power was lost,
// so does a record or head that the end of the file cuts off. Damage within the last write looks
// like a torn write, because both leave a part of a record. Zeros and bytes of an older log do not,
// but up to 31 bytes of an older log at the file's end may look like the start of a head.
//
// Thread safety: pure functions; a LogWindow belongs to one thread.
#pragma once

#include <cstdint>
#include <string>

#include "ashlar/slice.h"
#include "base/result.h"
#include "pmem/layout.h"

namespace ashlar::pmem {

inline constexpr uint64_t kLogHeaderBytes = kPageBytes;

struct LogHeader {
  uint64_t pool_id = 0;
  uint64_t generation = 0;
  uint64_t boot_id = 0;  // of the machine when the log was begun; 0: not known
  uint64_t whole_end = kLogHeaderBytes;
};

// The result has kLogHeaderBytes bytes.
std::string EncodeLogHeader(const LogHeader& header);
// Returns false if the header is damaged or missing.
bool DecodeLogHeader(const Slice& log, LogHeader* header);

// Appends a record that has no synced end yet.
void AppendRecord(const LogHeader& log, uint64_t number, const Slice& redo, std::string* to);
uint64_t RecordBytesFor(const Slice& redo);
// Sets the synced end of the record at `record`.
void SetSyncedEnd(char* record, uint64_t synced_end);

// The source of a log's bytes.
class LogSource {
 public:
  virtual ~LogSource() = default;
  LogSource(const LogSource&) = delete;
  LogSource& operator=(const LogSource&) = delete;

  virtual uint64_t bytes() const = 0;
  // Requires: these bytes are in the log.
  virtual Status ReadAt(uint64_t offset, size_t n, char* to) const = 0;

 protected:
  LogSource() = default;
};

// Reads a log in pieces, because a log has any length, and the failure of a mapped log's device
// would end the process. Takes the memory of one piece or of the longest record.
class LogWindow {
 public:
  // `log` outlives the window.
  explicit LogWindow(const LogSource* log) : log_(*log) {}

  uint64_t bytes() const { return log_.bytes(); }
  // At least `n` bytes at `offset`, fewer only at the log's end. Valid until the next call.
  // Requires: offset <= bytes().
  Result<Slice> Read(uint64_t offset, uint64_t n);

 private:
  const LogSource& log_;
  uint64_t start_ = 0;  // of the buffer, in the log
  std::string buffer_;
};

struct LogScan {
  uint64_t end = kLogHeaderBytes;  // of the records that can be replayed
  uint64_t records = 0;
  bool is_damaged = false;  // existing records are not readable, or not reachable
  bool has_rest = false;    // parts of records of this generation are after the end
};
// Requires: `header` is the log's. power_was_lost: power may have failed since the log was begun.
Result<LogScan> ScanLog(LogWindow* log, const LogHeader& header, bool power_was_lost);

// Returns the redo of the record at `offset`, valid until the next call of the window. Returns
// IOError if the record is no longer there. Requires: ScanLog has read the record.
Result<Slice> ReadRedo(LogWindow* log, uint64_t offset);

}  // namespace ashlar::pmem
