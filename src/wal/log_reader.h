// LogReader: reads the records of a write-ahead log or a MANIFEST, and reports why they end.
//
//   kReading --> kReading | kEnd | kTornTail | kCorruption | kUnsupported | kIoError
//   kCorruption --SkipDamage--> kReading        kEnd --Extend--> kReading
//   any --ContinueAt--> kReading
//
// At a fragment that is not intact (README.md has the reasons):
//   an intact record begins after it (a hole is never skipped)           kCorruption
//   it is cut off by the end of the file                                 kTornTail
//     unless another length fits its checksum: then the length is wrong  kCorruption
//   it has whole sectors of zeros, or nothing but zeros follow           kTornTail
//   it ends where the file ends or the next one begins (wrong checksum)  kCorruption
//   anything else is garbage                                             kTornTail
//   in a recycled log, followed by its previous contents, a record is one with the log's number;
//   without one after it these are kTornTail, and an intact fragment without that number is kEnd
//
// I1: every record returned has an intact checksum and was written whole; records come in file
//     order with none missing between two of them, except after SkipDamage.
// I2: last_good_offset() is the end of the last whole record: a file cut there reads as kEnd.
// I3: memory is bounded by the longest record in the file (compressed: kCompressedRecordBytesMax).
// I4: the search for a record after damage checksums at most kSearchBytesMax bytes per reader;
//     beyond them only the beginnings of blocks are tried.
// I5: SkipDamage goes on where a writer puts a fragment (README.md), as a value may hold others.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/vfs.h"
#include "wal/log_format.h"

namespace ashlar {

class RecordDecompressor;

class LogReader {
 public:
  // kReading: no end yet. kEnd: the file ends directly after a record. kTornTail: an incomplete
  // tail after a process crash or a power cut. kCorruption: damage with another cause.
  // kUnsupported: an intact fragment of a type that is not implemented. kIoError: an error of the
  // file system, or no memory for a record; it says nothing about the bytes of the log.
  enum class Outcome : uint8_t { kReading, kEnd, kTornTail, kCorruption, kUnsupported, kIoError };

  static constexpr uint64_t kSearchBytesMax = uint64_t{256} << 20;

  // file_bytes: the size of the file; the reader stops there even if more has been appended since.
  // file: null only if ContinueAt comes before the first ReadRecord.
  LogReader(std::unique_ptr<vfs::SequentialFile> file, std::string file_name, uint64_t log_number,
            uint64_t file_bytes);
  ~LogReader();
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  // True: *record is the next one, valid until the next call; its bytes are in *scratch or in the
  // reader. False: see outcome(). No exception leaves it.
  [[nodiscard]] bool ReadRecord(Slice* record, std::string* scratch);
  // Call after kEnd, for a log that is still written. The file now has records up to file_bytes,
  // and reading continues with the first new one. If file_bytes is less than before, or kEnd came
  // before the known end of the file (in a recycled log), nothing changes.
  void Extend(uint64_t file_bytes);
  // Continues at `offset` in a reopened file of the same log, which another process writes and
  // which now has file_bytes. The offset is 0 or the end of a record that was read. The reader
  // forgets everything after it. An error of the file system leaves kIoError.
  Status ContinueAt(uint64_t offset, std::unique_ptr<vfs::SequentialFile> file,
                    uint64_t file_bytes);
  // After kCorruption: continues with the first record found after the damage. For
  // kSkipAnyCorruptedRecords and for tools.
  void SkipDamage();

  Outcome outcome() const { return outcome_; }
  // Ok for kEnd; otherwise Corruption (kTornTail too) or NotSupported with the file, the reason and
  // the offset of the fragment that ended the reading (of the record, if its end is missing), or
  // the file system's error or MemoryLimit.
  const Status& status() const { return status_; }
  uint64_t last_good_offset() const { return last_good_offset_; }
  // After kTornTail: the end of the bytes that may be part of a record of this log.
  uint64_t torn_end() const { return torn_end_; }
  // Where the record that ReadRecord returned begins.
  uint64_t record_offset() const { return record_offset_; }
  const std::string& file_name() const { return file_name_; }
  uint64_t log_number() const { return log_number_; }
  // Asserts I2 and the reader's place in the file.
  void CheckInvariants() const;

 private:
  struct Fragment {
    uint8_t type = 0;
    Slice payload;
    uint64_t offset = 0;
  };

  // The next intact fragment. False: stopped.
  bool NextFragment(Fragment* fragment);
  bool ParseFragment(Fragment* fragment);
  // The next block, or the bytes that Extend added to the last one.
  bool LoadBlock();
  bool FinishAtFileEnd();
  // The rest of the block has no room for a header.
  bool IsAtTrailer() const;
  size_t HeaderBytesMin() const {
    return recycled_ ? log_format::kRecyclableHeaderBytes : log_format::kHeaderBytes;
  }

  // The effect of a fragment on the record being assembled in *scratch. True: *record is whole.
  bool Assemble(const Fragment& fragment, Slice* record, std::string* scratch);
  bool BeginRecord(const Fragment& fragment);
  bool ContinueRecord(const Fragment& fragment, std::string* scratch);
  bool CompleteRecord(const Slice& bytes, Slice* record);
  void SetCompression(const Fragment& fragment);

  // The ways to stop; all return false.
  bool StopAtDamage(size_t claimed_end, const char* reason);
  // The fragment has the number of another log, or lacks the one that it needs.
  bool StopAtOtherLog(size_t fragment_end);
  bool StopCorrupt(uint64_t offset, const char* reason) {
    return Stop(Outcome::kCorruption, offset, reason);
  }
  bool StopTorn(uint64_t offset, const char* reason) {
    torn_end_ = file_bytes_;
    return Stop(Outcome::kTornTail, offset, reason);
  }
  bool StopOn(Status error);
  bool Stop(Outcome outcome, uint64_t offset, const std::string& reason);

  struct Damage {
    bool is_cut = false;  // by the end of the file, after a plausible header
    bool has_zero_sector = false;
    bool fills_block = false;  // only zeros after it, in this block
    std::optional<size_t> fitting_end;
  };
  // The bytes of the file after damage.
  struct Remainder {
    // An intact record begins there. The reader is at it, otherwise at the end of the file.
    bool record = false;
    bool continuation = false;  // the next block begins with an intact fragment
    bool data = false;          // the blocks after this one are not all zeros
  };
  Damage Examine(size_t claimed_end);
  // fragment_end: where a reader that skips the damage goes on, in this block (I5).
  Remainder SearchRemainder(size_t fragment_end);
  // The end of the damaged fragment, or else of its block. claimed_end: what the header says.
  size_t EndOfDamaged(size_t claimed_end, std::optional<size_t> fitting_end);
  // The end by another length, for which the checksum of the damaged fragment is right.
  std::optional<size_t> FittingEnd();
  bool MayEndAt(size_t position);
  // Where a record of this log may begin, by the header alone.
  bool MayBeginAt(size_t position) const;
  // Whether the fragment at position_ is the log's only if its header has the log's number. In a
  // recycled log a plain one is a part of a value of the older log, which may hold a log.
  bool NeedsNumber(uint8_t type) const;
  // Of a recycled log: the header has the log's own number.
  bool IsOwnAt(size_t position) const;
  bool HasZeroSector(size_t begin, size_t end) const;
  // The rest of the header at position_ is in a sector of zeros, so its length means nothing.
  bool HeaderEndsInZeroSector() const;
  bool IntactFragmentAt(size_t position) const;
  bool Afford(uint64_t bytes);

  uint64_t offset() const { return block_offset_ + position_; }
  bool IsLastBlock() const { return block_offset_ + block_bytes_ == file_bytes_; }

  const std::string file_name_;
  const uint64_t log_number_;
  std::unique_ptr<vfs::SequentialFile> file_;
  const std::unique_ptr<char[]> block_;
  uint64_t file_bytes_;        // lowered when the file turns out to be shorter
  uint64_t block_offset_ = 0;  // of block_ in the file
  size_t block_bytes_ = 0;
  size_t position_ = 0;             // in block_: the next fragment
  bool recycled_ = false;           // recyclable fragments have been met
  bool other_log_follows_ = false;  // at kEnd: it is not the end of the file

  bool in_record_ = false;
  uint64_t pending_offset_ = 0;  // where the record being assembled begins
  uint64_t pending_bytes_ = 0;   // and its bytes so far
  uint64_t record_offset_ = 0;
  uint64_t last_good_offset_ = 0;
  uint64_t torn_end_ = 0;
  Outcome outcome_ = Outcome::kReading;
  Status status_;

  uint64_t search_bytes_left_ = kSearchBytesMax;
  std::optional<size_t> skip_to_;  // in block_, after a search; none: the end of the file

  std::unique_ptr<RecordDecompressor> decompressor_;  // null: records are not compressed
  std::string decompressed_;
};

}  // namespace ashlar
