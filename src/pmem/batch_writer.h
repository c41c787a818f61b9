// BatchWriter: applies many changes as one, through a redo log in the pool.
//
//   records, new leaves, batch log | fence | batch mark | fence | the log's words | fence | clear
//   the mark | fence
//
// The words are slots, fingerprints, next pointers and commit words of published leaves. Storing
// them twice is harmless. If the mark is set, recovery stores them again, otherwise none of them.
// New leaves and records are unreachable until then and need no words.
//
// One next pointer unlinks a run of leaves that become empty, so deleting a range costs words only
// for its two ends.
//
// I1: the structure mutex and the locks of all changed leaves are held from the plan to the end, so
//     that no reader sees a part of a batch in one leaf. A reader of several leaves may see one
//     before the batch and another after it, because there are no snapshots.
// I2: all space and all memory are allocated before the first store to something published, so that
//     nothing fails from the batch mark on.
// I3: a batch that only deletes needs at most one word for each leaf. A leaf that stays needs its
//     commit word, and its next pointer only if the leaf right of it is unlinked and needs no word.
//     The heap holds back pages for these words (heap.h, I5), so a full pool takes the batch.
// I4: a leaf is locked once, and is unlinked from its left neighbour. The index finds both by the
//     keys of separators. Damage may have changed these keys since the open, so both are checked.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ashlar/write_batch.h"
#include "base/function_ref.h"
#include "pmem/deleted_ranges.h"
#include "pmem/recovery.h"
#include "pmem/tree_state.h"

namespace ashlar::pmem {

class BatchWriter {
 public:
  explicit BatchWriter(TreeState* state) : state_(*state), ranges_(state->order) {}
  ~BatchWriter();

  Status Write(const WriteBatch& updates) ASHLAR_TAKES_SCARCE_MUTEX;
  Status DeleteRange(const KeyRange& range) ASHLAR_TAKES_SCARCE_MUTEX;

 private:
  // The outcome for one key: a new record, or none.
  struct KeyChange {
    Slice key;
    Slice value;
    bool is_put;
    size_t position;  // in the batch
    PoolOffset record = 0;
  };
  struct Unlinked {
    PoolOffset offset;
    uint64_t bytes;
  };
  struct NewLeaf {
    size_t number = 0;  // in the plan
    std::vector<LeafEntry> entries;
    PoolOffset offset = 0;
    PoolOffset separator = 0;
    LeafRef* ref = nullptr;  // in the index change
  };
  struct UnlockUnchanged {
    void operator()(LeafRef* ref) const { ref->UnlockUnchanged(); }
  };
  // The lock of a leaf in which nothing is stored.
  using LeafHold = std::unique_ptr<LeafRef, UnlockUnchanged>;
  // A leaf as it is, and as it will be.
  struct LeafPlan {
    BoundedLeaf leaf;
    LeafHold lock;
    uint64_t commit = 0;
    uint64_t kept = 0;  // slots that stay as they are
    // The other entries. A new entry has kNewEntry as its index. If they are too many for a leaf,
    // they are all entries, in order. Otherwise order and keys do not matter.
    std::vector<LeafEntry> entries;
    std::vector<Unlinked> unlinked;
    std::vector<NewLeaf> more;  // right of the leaf, if the entries are too many
    int64_t added = 0;
    size_t changed_slots = 0;
    bool dropped = false;
  };
  struct Plan {
    std::vector<LeafPlan> leaves;           // in order
    std::vector<uint64_t> separator_bytes;  // of each new leaf
    size_t words_max = 0;
  };
  struct Space {
    std::vector<PoolObject> log;  // pieces
    size_t log_words = 0;         // that the pieces have room for
    std::vector<PoolOffset> leaves;
    std::vector<PoolObject> separators;
  };
  enum class Attempt : uint8_t {
    kDone,
    kNothing,
    kMoreSpace,
    kFailed
  };  // kNothing: the tree has the wanted contents already

  static constexpr uint32_t kNewEntry = kSlots;

  Status Parse(const WriteBatch& updates);
  void Normalise();
  Status Run() ASHLAR_TAKES_SCARCE_MUTEX;
  Status RunWith(Reserve reserve) ASHLAR_BEGINS_OPERATION;
  Result<PoolOffset> Allocate(uint64_t bytes) ASHLAR_BEGINS_OPERATION;
  Status AllocateRecords() ASHLAR_BEGINS_OPERATION;
  Status AllocateSpace(const Plan& plan, Reserve reserve) ASHLAR_BEGINS_OPERATION;
  Status AllocateLog(size_t words, Reserve reserve) ASHLAR_BEGINS_OPERATION;
  void ReleaseSpace();
  Attempt Try(PoolOperation* op, Plan* plan, Status* status) ASHLAR_REQUIRES(kStructureMutex);
  Status MakePlan(Plan* plan) ASHLAR_REQUIRES(kStructureMutex);
  // Returns nullopt if this batch has already locked that leaf.
  std::optional<BoundedLeaf> LockLeaf(const std::optional<Slice>& key, bool before,
                                      FunctionRef<bool(const LeafRef*)> is_locked_here) const
      ASHLAR_REQUIRES(kStructureMutex);
  Status DamagedBound(const char* separator) const;
  std::optional<Slice> FirstPosition() const;
  std::optional<Slice> NextPosition(const Slice& upper, size_t next_change) const;
  Status AddLeaf(const BoundedLeaf& leaf, size_t* next_change, Plan* plan);
  Status ApplyInOrder(size_t begin, size_t end, LeafPlan* out) const;
  Status ApplyByKey(size_t begin, size_t end, LeafPlan* out) const;
  static LeafEntry EntryOf(const KeyChange& change, uint32_t index);
  static bool Has(const std::vector<LeafPlan>& leaves, const LeafRef* ref);
  Status AddPredecessors(Plan* plan) ASHLAR_REQUIRES(kStructureMutex);
  static void Distribute(LeafPlan* leaf, bool right_goes, Plan* plan);
  bool HasSpace(const Plan& plan) const;
  static void AskForMore(const Plan& plan, Plan* needed);
  std::vector<PoolOffset> NextLeaves(const Plan& plan) const;
  std::vector<BatchWord> WriteAside(PoolOperation* op, Plan* plan, uint64_t* mark);
  void AppendWords(const LeafPlan& leaf, PoolOffset next, std::vector<BatchWord>* words) const;
  void PrepareIndex(Plan* plan, LeafIndex::Change* change) ASHLAR_REQUIRES(kStructureMutex);
  void Apply(PoolOperation* op, const std::vector<BatchWord>& words, uint64_t mark, Plan* plan);
  void Install(Plan* plan, LeafIndex::Change* change) ASHLAR_REQUIRES(kStructureMutex);

  TreeState& state_;
  std::vector<KeyChange> changes_;  // by key, one for each
  DeletedRanges ranges_;
  Space space_;
  std::vector<Unlinked> retired_;
  bool published_ = false;  // the records belong to the tree
};

}  // namespace ashlar::pmem
