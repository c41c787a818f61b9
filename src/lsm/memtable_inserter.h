// MemTableInserter: applies the records of write batches to the active memtables of their families,
// for the commit leader and for recovery.
//
// I1: every counted record takes one sequence, even if its family is skipped.
// I2: a batch with a record that the engine does not implement is refused before any record is
//     applied (CheckBatch, WriteBatchInternal::CheckApplicable).
//
// Thread safety: one thread, the only writer of the memtables.
#pragma once

#include <utility>

#include "ashlar/cleanable.h"
#include "ashlar/write_batch.h"
#include "key/merge_helper.h"
#include "lsm/column_family.h"

namespace ashlar {

struct BatchRecord;
class ReadGuard;
class Reader;

class MemTableInserter {
 public:
  struct Args {
    const FamilyTable* families = nullptr;
    // Recovery: log_number is the log being replayed. Records of families that have flushed that
    // log are in tables already and are skipped.
    bool replaying = false;
    uint64_t log_number = 0;
    bool counts_bytes = false;  // for GrownBytes
    // For max_successive_merges. Null: operands are added as they are.
    const Reader* reader = nullptr;
    Logger* logger = nullptr;  // for the merge operators; null: none
    // The guard of the caller, which is paused while `reader` reads. Null if there is none.
    ReadGuard* guard = nullptr;
  };

  explicit MemTableInserter(const Args& args) : args_(args) {}

  // Applies a batch in wire form. Its first record gets the sequence `first`. Records of families
  // that do not exist (any more) are skipped. Returns Corruption if the batch is damaged.
  // *has_applied is set once a memtable contains a record of the batch.
  Status Apply(const Slice& contents, SequenceNumber first, bool* has_applied);
  // True if a memtable to which a record was added since the last call is full.
  bool TakeFoundFull() { return std::exchange(found_full_, false); }
  // The bytes by which the memtables grew since the last call.
  uint64_t GrownBytes() {
    CountSelected();
    return std::exchange(grown_bytes_, 0);
  }

 private:
  ColumnFamily* Select(uint32_t family);
  // Does nothing for an empty range.
  static Status ApplyRangeDeletion(ColumnFamily* family, const BatchRecord& record,
                                   SequenceNumber sequence);
  // Adds the operand, or the combined value that max_successive_merges requires.
  Status ApplyMerge(ColumnFamily* family, const BatchRecord& record, SequenceNumber sequence) const;
  // Combines the operand with the value of its key. Returns false if it is to be added unchanged.
  bool CombineMerges(ColumnFamily* family, const BatchRecord& record, SequenceNumber sequence,
                     MergeResult* result, PinnableSlice* base) const;
  void CountSelected();

  const Args args_;
  ColumnFamily* selected_ = nullptr;
  uint32_t selected_id_ = UINT32_MAX;
  bool found_full_ = false;
  uint64_t selected_bytes_ = 0;  // of the selected family's memtable, when it was counted last
  uint64_t grown_bytes_ = 0;
};

// OK if the batch may be committed: it is well-formed, the engine implements every record, and the
// record's family exists (or ignore_missing is true) and has the operator that the record needs.
// *has_missing: set if a record's family does not exist. Requires: inside an epoch guard, or under
// the database mutex.
Status CheckBatch(const WriteBatch& batch, const FamilyTable& families, bool ignore_missing,
                  bool* has_missing);

}  // namespace ashlar
