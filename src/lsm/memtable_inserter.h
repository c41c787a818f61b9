// MemTableInserter: applies the records of write batches to the active memtables of their families.
// The commit leader and recovery share it.
//
// I1: every counted record takes one sequence, also when its family is skipped.
// I2: a batch whose records the engine does not implement is refused before anything of it is
//     applied (CheckBatch, WriteBatchInternal::CheckApplicable).
// Thread safety: one thread, the only writer of the memtables.
#pragma once

#include <utility>

#include "ashlar/write_batch.h"
#include "lsm/column_family.h"

namespace ashlar {

class MemTableInserter {
 public:
  struct Args {
    const FamilyTable* families = nullptr;
    // Recovery: the log being replayed; records of families that have flushed it are in tables
    // already.
    bool replaying = false;
    uint64_t log_number = 0;
    bool counts_bytes = false;  // for GrownBytes
  };

  explicit MemTableInserter(const Args& args) : args_(args) {}

  // Applies a batch in wire form; its first record gets `first`. Records of families that do not
  // exist (any more) are skipped. Corruption when the batch is damaged. *has_applied is set once a
  // memtable has taken a record.
  Status Apply(const Slice& contents, SequenceNumber first, bool* has_applied);
  // A memtable that took a record since the last call is full.
  bool TakeFoundFull() { return std::exchange(found_full_, false); }
  // The bytes by which the memtables grew since the last call.
  uint64_t GrownBytes() {
    CountSelected();
    return std::exchange(grown_bytes_, 0);
  }

 private:
  ColumnFamily* Select(uint32_t family);
  void CountSelected();

  const Args args_;
  ColumnFamily* selected_ = nullptr;
  uint32_t selected_id_ = UINT32_MAX;
  bool found_full_ = false;
  uint64_t selected_bytes_ = 0;  // of the selected family's memtable, when it was counted last
  uint64_t grown_bytes_ = 0;
};

// Whether a batch may be committed: well-formed, every record one that the engine applies, to a
// family that exists (or ignore_missing) and has what the record needs. Called inside an epoch
// guard, or under the database mutex.
Status CheckBatch(const WriteBatch& batch, const FamilyTable& families, bool ignore_missing);

}  // namespace ashlar
