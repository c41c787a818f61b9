// LogWriter: appends records to a write-ahead log or a MANIFEST (wal/log_format.h draws the bytes).
//
//   APPENDING --any error, Fail--> FAILED            APPENDING --Close--> CLOSED
//
//   0 .......... good_bytes() .......... handed over .......... bytes()
//   |  committed, in the file  |  in the file, perhaps  | in the buffer |
//
// I1: the file holds whole records in the order in which they were added, followed by a part of one
//     at most: after an error, or while the rest of it is in the buffer.
// I2: an error is final: the content that a failed append, flush, sync or close left in the file is
//     unknown, so every later call returns the first error and writes nothing to the file.
// I3: after Sync returned Ok every record added before it is durable.
// I4: good_bytes() is the end of a record and counts only bytes that the file accepted: a log that
//     is cut there is always whole.
//
// A record is framed in a buffer of three blocks, and the file gets the buffer's content in one
// append: a group of records costs one system call, and a large record is written in large pieces.
// (Appending headers and payloads one by one would cost two calls per record.) With a codec a
// record is compressed before it is framed.
//
// Thread safety: one thread at a time.
// Lifetime: owns the file. The destructor closes without reporting; call Close.
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
  // Continues at the end of the file. An existing file must end with a whole record: truncate it to
  // LogReader::last_good_offset() first.
  LogWriter(std::unique_ptr<vfs::WritableFile> file, std::string file_name, uint64_t log_number);
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // Every fragment names its log from now on, as a file needs that is written over, or will be.
  // Requires: nothing was added.
  void NumberFragments();
  // Every record is compressed from now on. Requires: an empty file, and CompressesLogs(type).
  // Stages the fragment that tells readers.
  Status CompressRecords(CompressionType type);

  // One record, given in pieces, some or all of which may be empty. AddRecord appends it to the
  // file. StageRecord keeps it in the buffer, which is appended when it is full, by AddRecord, and
  // by every call below.
  Status AddRecord(std::span<const Slice> pieces);
  Status AddRecord(const Slice& record) { return AddRecord(std::span<const Slice>(&record, 1)); }
  // With CompressRecords a record has at most kCompressedRecordBytesMax.
  Status StageRecord(std::span<const Slice> pieces);
  // To the operating system: survives kill -9. Also cuts a tail that the file keeps, of zeros or of
  // an older log.
  Status Flush();
  // The same without the cut.
  Status HandOver();
  // Advises the system to start writing to the medium the bytes that it has from `offset` on.
  void StartWriteBack(uint64_t offset);
  // To the medium: survives a power cut.
  Status Sync();
  // After an error: closes the file without writing the buffer, and returns the error.
  Status Close();

  // Marks every record added so far as committed: good_bytes() counts it once the operating system
  // has it.
  void MarkCommitted() {
    committed_bytes_ = bytes_;
    AdvanceGoodBytes();
  }
  // Fails the writer: `error` becomes the first error, unless there is one.
  void Fail(const Status& error);

  // Bytes of the file with everything that was added, including the buffer.
  uint64_t bytes() const { return bytes_; }
  // The end of the last record that is committed and written to the operating system. Bytes that
  // the file had at the start count.
  uint64_t good_bytes() const { return good_bytes_; }
  uint64_t log_number() const { return log_number_; }
  const std::string& file_name() const { return file_name_; }
  // For a sync, concurrent with calls of the writer, of the bytes in the operating system. Null
  // once closed.
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
  uint64_t handed_over_bytes_;  // of those, the operating system has these
  uint64_t committed_bytes_;    // the end of the last committed record
  uint64_t good_bytes_;
  Status first_error_;
};

}  // namespace ashlar
