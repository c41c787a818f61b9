// LogReader: reads the records of a write-ahead log or a MANIFEST, and reports why they end.
//
//   kReading --> kReading | kEnd | kTornTail | kCorruption | kUnsupported | kIoError
//   kCorruption --SkipDamage--> kReading        kEnd --Extend--> kReading
//   any --ContinueAt--> kReading
//
// The outcome at a fragment that is not intact (README.md gives the reasons):
//   an intact record begins after it (a hole is never skipped)           kCorruption
//   it is cut off by the end of the file                                 kTornTail
//     unless its checksum fits another length, so the length is wrong    kCorruption
//   its header is zeros, or it has sectors of zeros                      kTornTail
//   it ends at the end of the file or at the next fragment (checksum)    kCorruption
//   anything else is garbage                                             kTornTail
//   in a recycled log, whose file still holds an older log, only records with the log's number
//   count; if none follows, these are kTornTail, and an intact fragment without the number is kEnd
//
// I1: every returned record has an intact checksum and was written completely. Records are returned
//     in file order without gaps, except after SkipDamage.
// I2: last_good_offset() is the end of the last complete record. A file cut there reads as kEnd.
// I3: memory is bounded by the longest record in the file (compressed: kCompressedRecordBytesMax).
// I4: the search for a record after damage checksums at most kSearchBytesMax bytes per reader.
//     After that it tries only the starts of blocks.
// I5: SkipDamage resumes only where a writer puts fragments (README.md), as values may hold some.
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
  // kUnsupported: an intact fragment of a type that is not implemented. kIoError: a file system
  // error, or a failed allocation for a record, which says nothing about the bytes of the log.
  enum class Outcome : uint8_t { kReading, kEnd, kTornTail, kCorruption, kUnsupported, kIoError };

  static constexpr uint64_t kSearchBytesMax = uint64_t{256} << 20;

  // file_bytes: the size of the file; the reader stops there even if more has been appended since.
  // file: null only if ContinueAt is called before the first ReadRecord.
  LogReader(std::unique_ptr<vfs::SequentialFile> file, std::string file_name, uint64_t log_number,
            uint64_t file_bytes);
  ~LogReader();
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  // Returns true with the next record in *record, valid until the next call. Its bytes are in
  // *scratch or in the reader. Returns false if reading stopped, see outcome(). Throws nothing.
  [[nodiscard]] bool ReadRecord(Slice* record, std::string* scratch);
  // Requires: kEnd. For a log that is still being written: the file now has records up to
  // file_bytes, and reading continues with the first new one. Does nothing if file_bytes has not
  // grown, or if kEnd was before the known end of the file (in a recycled log).
  void Extend(uint64_t file_bytes);
  // Continues at `offset` in a reopened file of the same log. Another process writes this log,
  // which now has file_bytes. The offset is 0 or the end of a record that was read. The reader
  // discards its state beyond the offset. A file system error sets kIoError.
  Status ContinueAt(uint64_t offset, std::unique_ptr<vfs::SequentialFile> file,
                    uint64_t file_bytes);
  // After kCorruption: continues with the first record found after the damage. For
  // kSkipAnyCorruptedRecords and for tools.
  void SkipDamage();

  Outcome outcome() const { return outcome_; }
  // Ok while reading and for kEnd. Corruption (also for kTornTail) and NotSupported name the file,
  // the reason and the offset of the fragment that stopped the reader, or of the record if its end
  // is missing. For kIoError: the file system's error or MemoryLimit.
  const Status& status() const { return status_; }
  uint64_t last_good_offset() const { return last_good_offset_; }
  // After kTornTail: the end of the bytes that may be part of a record of this log.
  uint64_t torn_end() const { return torn_end_; }
  // The offset of the record that ReadRecord returned.
  uint64_t record_offset() const { return record_offset_; }
  const std::string& file_name() const { return file_name_; }
  uint64_t log_number() const { return log_number_; }
  // Asserts I2 and the reader's position in the file.
  void CheckInvariants() const;

 private:
  struct Fragment {
    uint8_t type = 0;
    Slice payload;
    uint64_t offset = 0;
  };

  // Reads the next intact fragment. Returns false if the reader stopped.
  bool NextFragment(Fragment* fragment);
  bool ParseFragment(Fragment* fragment);
  // Loads the next block, or the bytes that Extend added to the last block.
  bool LoadBlock();
  bool FinishAtFileEnd();
  // Whether the rest of the block is zeros without room for a header.
  bool IsAtTrailer() const;
  size_t HeaderBytesMin() const {
    return recycled_ ? log_format::kRecyclableHeaderBytes : log_format::kHeaderBytes;
  }

  // Adds a fragment to the record assembled in *scratch. Returns true if *record is complete.
  bool Assemble(const Fragment& fragment, Slice* record, std::string* scratch);
  bool BeginRecord(const Fragment& fragment);
  bool ContinueRecord(const Fragment& fragment, std::string* scratch);
  bool CompleteRecord(const Slice& bytes, Slice* record);
  void SetCompression(const Fragment& fragment);

  // The ways to stop; all return false.
  bool StopAtDamage(size_t claimed_end, const char* reason);
  // Stops at a fragment that has another log's number, or lacks the number that it needs.
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
    bool fills_block = false;  // only zeros follow it in this block
    std::optional<size_t> fitting_end;
  };
  // The bytes of the file after damage.
  struct Remainder {
    // An intact record begins there. The reader is at that record, or else at the end of the file.
    bool record = false;
    bool continuation = false;  // the next block begins with an intact fragment
    bool data = false;          // the blocks after this one are not all zeros
  };
  Damage Examine(size_t claimed_end);
  // fragment_end: where a reader that skips the damage continues, in this block (I5).
  Remainder SearchRemainder(size_t fragment_end);
  // The end of the damaged fragment, or else of its block. claimed_end: the end by its header.
  size_t EndOfDamaged(size_t claimed_end, std::optional<size_t> fitting_end);
  // The end of the damaged fragment for another length that fits its checksum, if there is one.
  std::optional<size_t> FittingEnd();
  bool MayEndAt(size_t position);
  // Whether a record of this log may begin there, judged by the header alone.
  bool MayBeginAt(size_t position) const;
  // Whether the fragment at position_ belongs to this log only if its header has the log's number.
  // In a recycled log, a plain fragment is part of an older log's value, which may hold a log.
  bool NeedsNumber(uint8_t type) const;
  // For a recycled log: whether the header has the log's own number.
  bool IsOwnAt(size_t position) const;
  bool HasZeroSector(size_t begin, size_t end) const;
  // Whether the header at position_ ends in a sector of zeros, so that its length means nothing.
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
  bool recycled_ = false;           // recyclable fragments have been found
  bool other_log_follows_ = false;  // kEnd is before the end of the file

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
