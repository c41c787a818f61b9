// LogWriter: appends records to a write-ahead log or a MANIFEST (wal/log_format.h draws the bytes).
//
//   APPENDING --any error--> LATCHED            APPENDING --Close--> CLOSED
//
// I1: the file holds whole records in the order of AddRecord, followed by at most one torn record after an error.
// I2: an error is final: what a failed append, flush, sync or close left behind is not known, so every later call returns the first error and touches
//     nothing.
// I3: after Sync returned Ok every record added before it is durable.
//
// A record is staged as fragments in a buffer of three blocks and handed to the file from there, so that a small record costs one call and a large
// one reaches the operating system in large pieces. (A header and a payload appended one by one would cost two calls per record and a checksum over
// bytes that are no longer near.)
//
// Thread safety: one thread at a time, except that Sync may run beside AddRecord and Flush.
// Lifetime: owns the file. The destructor closes without reporting; call Close.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "ashlar/file_system.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "platform/mutex.h"

namespace ashlar {

class LogWriter {
 public:
  // Goes on where the file ends. An existing file must end with a whole record: truncate it to LogReader::last_good_offset() first.
  LogWriter(std::unique_ptr<WritableFile> file, std::string file_name, uint64_t log_number);
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // One record: the pieces one after another. They may be empty, also all of them.
  Status AddRecord(std::span<const Slice> pieces);
  Status AddRecord(const Slice& record) { return AddRecord(std::span<const Slice>(&record, 1)); }
  // To the operating system: survives kill -9. Also cuts a tail of zeros that the file keeps.
  Status Flush();
  // The same, but for the tail: nothing to do where the file hands over by itself.
  Status HandOver() { return appends_at_once_ && !failed_.load(std::memory_order_acquire) ? Status::OK() : Flush(); }
  // To the medium: survives a power cut.
  Status Sync();
  Status Close();

  // Bytes of the file with everything that was added.
  uint64_t bytes() const { return bytes_; }
  uint64_t log_number() const { return log_number_; }
  const std::string& file_name() const { return file_name_; }
  // The latched error, or Ok.
  Status status() const;

 private:
  class PieceReader;

  void StageBlockTrailer();
  void StageFragment(PieceReader* pieces, size_t payload_bytes, uint8_t type);
  Status WriteStaged();
  Status Latch(Status status);

  const std::string file_name_;
  const uint64_t log_number_;
  const std::unique_ptr<char[]> staging_;
  std::unique_ptr<WritableFile> file_;  // null once closed
  const bool appends_at_once_;
  size_t staged_bytes_ = 0;
  size_t block_offset_;  // where in its block the next fragment begins, staged bytes included
  uint64_t bytes_;

  mutable Mutex mutex_;
  Status first_error_ ASHLAR_GUARDED_BY(mutex_);
  std::atomic<bool> failed_{false};  // set after first_error_ (release), tested before every operation (acquire)
};

}  // namespace ashlar
