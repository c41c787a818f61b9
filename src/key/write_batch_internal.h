// The bytes of a WriteBatch, in memory and in the log.
//
//   offset 0          8           12
//          sequence   count       record*
//          fixed64    fixed32
//
//   put            01 key value      05 family key value      key, value: varint32 length, bytes
//   delete         00 key            04 family key            family: varint32
//   single delete  07 key            08 family key
//   merge          02 key value      06 family key value
//   delete range   0f begin end      0e family begin end
//   log data       03 blob                                    not counted
//   noop           0d                                         not counted
//   two-phase      09 | 12 | 13, 0a xid, 0b xid, 15 ts xid, 0c xid   not counted
//   blob index     11 key value      10 family key value
//   entity         16 key columns    17 family key columns
//
// I1: `count` is the number of counted records; each takes one sequence number, from `sequence` on.
// I2: a record of family 0 has the short form.
// I3: the checksum of a batch, if it has one, is the checksum of its records as they were added. It
//     differs from ChainRecords of the bytes only if something else changed them.
// BatchReader is the only decoder: replay, commit, Handlers and validation all read batches through
// it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/types.h"
#include "ashlar/write_batch.h"
#include "base/coding.h"
#include "base/compiler.h"
#include "key/internal_key.h"

namespace ashlar {

// One record. Its type is the form without a column family.
struct BatchRecord {
  ValueType type = ValueType::kNoop;
  bool counted = false;  // takes a sequence number
  uint32_t column_family_id = 0;
  Slice key;          // begin of a range; empty where the type has none
  Slice value;        // operand, end of a range, log data, xid, entity
  size_t offset = 0;  // of the record, in the batch
};

// Reads the records of a batch in order.
//   for (BatchReader reader(contents); reader.Next();) use(reader.record());
// Then check reader.status().
// Every length is checked against the bytes left. Allocates nothing. Lifetime: the contents outlive
// the reader, and records point into them.
class BatchReader {
 public:
  static constexpr size_t kHeaderBytes = 12;

  // If the batch is shorter than its header, Next returns false and the status is Corruption.
  explicit BatchReader(const Slice& contents) : begin_(contents.data()) {
    if (contents.size() < kHeaderBytes) [[unlikely]] {
      FailHeader(contents.size());
      return;
    }
    expected_count_ = DecodeFixed32(contents.data() + 8);
    rest_ = Slice(contents.data() + kHeaderBytes, contents.size() - kHeaderBytes);
  }

  // Returns false at the end and on an error.
  bool Next() {
    if (!rest_.empty()) return Parse();
    if (counted_ != expected_count_) [[unlikely]] {
      FailCount();
    }
    return false;
  }
  const BatchRecord& record() const { return record_; }
  // Ok, or Corruption with the offset. After the last record, it also tells whether the count in
  // the header is right.
  const Status& status() const { return status_; }
  // The bytes of record().
  Slice record_bytes() const {
    return Slice(begin_ + record_.offset,
                 static_cast<size_t>(rest_.data() - begin_) - record_.offset);
  }
  // Counted records up to and including record(). A batch from outside may have more than 2^32.
  uint64_t counted() const { return counted_; }

 private:
  bool Parse();
  // The three ways to fail. After each of them counted_ equals expected_count_.
  bool Fail(const char* what);
  void FailHeader(size_t bytes);
  void FailCount();

  const char* const begin_;
  Slice rest_;
  uint64_t expected_count_ = 0;
  uint64_t counted_ = 0;
  BatchRecord record_;
  Status status_;
};

struct RecordWriter;

class WriteBatchInternal {
 public:
  static constexpr size_t kHeaderBytes = BatchReader::kHeaderBytes;

  static SequenceNumber Sequence(const Slice& contents) { return DecodeFixed64(contents.data()); }
  static SequenceNumber Sequence(const WriteBatch* batch) {
    return DecodeFixed64(batch->rep_.data());
  }
  static void SetSequence(WriteBatch* batch, SequenceNumber sequence) {
    EncodeFixed64(batch->rep_.data(), sequence);
  }
  static uint32_t Count(const WriteBatch* batch) { return DecodeFixed32(batch->rep_.data() + 8); }
  static Slice Contents(const WriteBatch* batch) { return Slice(batch->rep_); }

  // Replaces the batch by `contents`. Returns Corruption and leaves the batch unchanged if they are
  // not well-formed.
  static Status SetContents(WriteBatch* batch, const Slice& contents);
  // Whether contents decode to the end and the count is right.
  static Status Validate(const Slice& contents);
  // Appends the records of `source`, as they are now, to `target` and to its checksum. The limit of
  // `target` does not apply.
  static void Append(WriteBatch* target, const WriteBatch* source);

  // Whether the engine applies records of this type. A batch with other types is refused before any
  // part of it is logged or applied.
  static bool IsApplicable(ValueType type) {
    const RecordKind* kind = FindRecordKind(type);
    return kind != nullptr && kind->role != RecordRole::kRefused;
  }
  // Ok, or NotSupported with the first record that the engine cannot apply, or Corruption.
  static Status CheckApplicable(const WriteBatch* batch);

  // Adds one record, or fails and changes nothing. Inlined where the fields of the record are
  // known; only write_batch.cc calls it.
  ASHLAR_ALWAYS_INLINE static Status Add(WriteBatch* batch, const RecordWriter& record);
  // Returns true if the engine applies every record and this library encoded the batch. Then
  // CheckApplicable returns Ok without a scan.
  static bool IsKnownApplicable(const WriteBatch* batch);

 private:
  friend class WriteBatch;
  static uint32_t ScanFlags(const Slice& contents);
  // Continues the checksum over the records of `contents`, in their order.
  static Status ChainRecords(const Slice& contents, uint64_t* checksum);
};

// The bytes of a batch that are written to the log: all of it or, with a termination point, a batch
// of the records before that point. Lifetime: points into the batch and into itself. Requires: the
// batch has a header.
class LoggedPart {
 public:
  explicit LoggedPart(const WriteBatch& batch) {
    pieces_[0] = WriteBatchInternal::Contents(&batch);
    if (!batch.GetWalTerminationPoint().is_cleared()) [[unlikely]]
      EndAt(batch.GetWalTerminationPoint());
  }
  LoggedPart(const LoggedPart&) = delete;
  LoggedPart& operator=(const LoggedPart&) = delete;

  std::span<const Slice> pieces() const { return {pieces_, num_pieces_}; }
  size_t bytes() const { return pieces_[0].size() + pieces_[1].size(); }
  // Returns false if the batch has records that are in no log.
  bool IsWhole() const { return num_pieces_ == 1; }

 private:
  void EndAt(const SavePoint& point);

  char header_[WriteBatchInternal::kHeaderBytes];  // used with two pieces
  Slice pieces_[2];
  size_t num_pieces_ = 1;
};

}  // namespace ashlar
