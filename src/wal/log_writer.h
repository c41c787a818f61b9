// LogWriter: appends records to a write-ahead log or a MANIFEST (wal/log_format.h shows the bytes).
//
//   APPENDING --any error, Fail--> FAILED            APPENDING --Close--> CLOSED
//
//   0 .......... good_bytes() .......... handed over .......... bytes()
//   |  committed, in the file  |  in the file, perhaps  | in the buffer |
//
// I1: the file holds complete records in the order in which they were added. At most a part of one
//     more record follows them, after an error or while the rest of that record is in the buffer.
// I2: an error is final. A failed append, flush, sync or close leaves unknown content in the file,
//     so every later call returns the first error and writes nothing to the file.
// I3: after Sync returned Ok every record added before it is durable.
// I4: good_bytes() is the end of a record and counts only bytes that the file accepted, so a log
//     cut there always ends with a complete record.
//
// A record is framed in a buffer of three blocks, whose content is appended to the file in one
// call. A group of records therefore costs one system call, and a large record is written in large
// pieces. (Appending headers and payloads one by one would cost two calls per record.) With a
// codec, a record is compressed before it is framed.
//
// Thread safety: one thread at a time.
// Lifetime: owns the file. The destructor closes it without reporting errors, so call Close.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "ashlar/compression_type.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/vfs.h"
#include "base/assert.h"

namespace ashlar {

class RecordCompressor;

class LogWriter {
 public:
  // Continues at the end of the file. Requires: an existing file ends with a complete record.
  // Truncate it to LogReader::last_good_offset() first.
  LogWriter(std::unique_ptr<vfs::WritableFile> file, std::string file_name, uint64_t log_number);
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // Adds the log's number to every fragment from now on. A file needs this if it is or will be
  // recycled. Requires: nothing was added.
  void NumberFragments();
  // Compresses every record from now on, and stages the compression fragment for readers. Requires:
  // an empty file, and CompressesLogs(type).
  Status CompressRecords(CompressionType type);

  // Both take one record in pieces, any of which may be empty. AddRecord appends the record to the
  // file. StageRecord keeps it in the buffer. The buffer is appended when it is full and by
  // AddRecord, Flush, HandOver, Sync and Close.
  Status AddRecord(std::span<const Slice> pieces);
  Status AddRecord(const Slice& record) { return AddRecord(std::span<const Slice>(&record, 1)); }
  // Requires: with CompressRecords, a record of at most kCompressedRecordBytesMax.
  Status StageRecord(std::span<const Slice> pieces);
  // Hands all bytes to the operating system, so that they survive kill -9. Also cuts off a tail of
  // zeros or of an older log that the file still has.
  Status Flush();
  // Flush without cutting off the tail.
  Status HandOver();
  // Advises the system to start writing the bytes that it has from `offset` on to the medium.
  void StartWriteBack(uint64_t offset);
  // Makes all bytes durable, so that they survive a power cut.
  Status Sync();
  // Closes the file. After an error, does not write the buffer and returns the first error.
  Status Close();

  // Marks every record added so far as committed. good_bytes() counts them once the operating
  // system has them.
  void MarkCommitted() {
    committed_bytes_ = bytes_;
    AdvanceGoodBytes();
  }
  // Fails the writer: `error` becomes the first error unless the writer already has one.
  void Fail(const Status& error);

  // The length of the file with everything that was added, including the buffer.
  uint64_t bytes() const { return bytes_; }
  // The end of the last record that is committed and written to the operating system. Bytes that
  // the file had at the start count.
  uint64_t good_bytes() const { return good_bytes_; }
  uint64_t log_number() const { return log_number_; }
  const std::string& file_name() const { return file_name_; }
  // For a sync of the bytes in the operating system, concurrent with calls of the writer. Null once
  // closed.
  vfs::WritableFile* file() const { return file_.get(); }
  // The first error, or Ok.
  const Status& status() const { return first_error_; }
  // Asserts I4 and the order of the offsets in the picture.
  void CheckInvariants() const;

 private:
  class PieceReader;

  Status StageUnusual(std::span<const Slice> pieces);
  template <bool kIsCompressed, bool kIsNumbered>
  Status StageFragments(std::span<const Slice> pieces);
  void StageBlockTrailer();
  template <bool kIsNumbered>
  void StageFragment(PieceReader* pieces, size_t payload_bytes, uint8_t type);
  Status WriteStaged();
  Status Latch(Status status);
  void HandedOver() {
    handed_over_bytes_ = bytes_;
    AdvanceGoodBytes();
  }
  void AdvanceGoodBytes() {
    if (committed_bytes_ <= handed_over_bytes_) good_bytes_ = committed_bytes_;
    if constexpr (kDebugChecks) CheckInvariants();
  }

  const std::string file_name_;
  const uint64_t log_number_;
  const std::unique_ptr<char[]> staging_;
  std::unique_ptr<vfs::WritableFile> file_;       // null once closed
  std::unique_ptr<RecordCompressor> compressor_;  // null: records are written as they are
  const bool appends_at_once_;
  bool numbers_fragments_ = false;
  bool is_usual_ = true;  // records are neither compressed nor numbered
  size_t staged_bytes_ = 0;
  size_t block_offset_;  // where in its block the next fragment begins, staged bytes included
  uint64_t bytes_;
  uint64_t handed_over_bytes_;  // handed to the operating system
  uint64_t committed_bytes_;    // the end of the last committed record
  uint64_t good_bytes_;
  Status first_error_;
};

}  // namespace ashlar
