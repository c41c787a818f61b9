// ColumnFamily: one ordered map of the database, with its memtables, its version, its options, and
// the view that reads use.
//
//   writes -> active memtable -> (full) immutable memtables -> (flush) level 0 -> (compaction)
//   deeper levels
//
// I1: view() refers to exactly the current {active, immutable, version, prefix extractor}.
// I2: immutable memtables are flushed oldest first. A memtable leaves the list in the same critical
//     section that publishes the version with its tables.
// I3: every logged write that is not in a table is in a log whose number is at least
//     OldestLogNumber(). The log numbers of the memtables ascend from old to new.
//
// Thread safety: constant members from any thread. view() from any thread inside an epoch guard.
// The commit leader alone replaces the active memtable, so it reads LeaderActive() without a lock.
// The rest is guarded by the database mutex, and clang checks it.
//
// Lifetime: shared by the family table, handles, and running jobs.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/listener.h"
#include "ashlar/merge_operator.h"
#include "ashlar/options.h"
#include "compact/plan/compaction_policy.h"
#include "compact/run/table_job.h"
#include "key/internal_key.h"
#include "key/key_comparator.h"
#include "lsm/read_view.h"
#include "manifest/database_locks.h"
#include "memtable/arena.h"
#include "table/open/table_cache.h"

namespace ashlar {

// Limits the chain of operands that a key may have in the memtable (max_successive_merges).
struct SuccessiveMerges {
  size_t operands_max = 0;   // 0: no limit
  bool reads_files = false;  // may read a value from disk to shorten the chain
};

struct MemTableEntry {
  MemTableRef table;
  uint64_t log_number = 0;  // the oldest log that can hold its writes
  bool flushing = false;
};

// Sums over the jobs of a family since the database was opened, or since DB::ResetStats.
struct FamilyTotals {
  struct OfLevel {
    uint64_t jobs = 0;
    uint64_t micros = 0;
    uint64_t cpu_micros = 0;
    uint64_t bytes_read = 0;
    uint64_t bytes_written = 0;
    uint64_t entries_in = 0;
    uint64_t entries_dropped = 0;
  };
  // For a flush the output level is 0, and no table is read.
  void CountJob(Level output_level, const TableJobStatistics& statistics);
  // Keeps the capacity of `levels`, so that neither Reset nor CountJob has to allocate.
  void Reset() {
    levels.clear();
    delays = 0;
    stops = 0;
  }

  std::vector<OfLevel> levels;  // indexed by output level
  uint64_t delays = 0;          // how often a slowdown of writers began
  uint64_t stops = 0;
};

class ColumnFamily {
 public:
  struct Args {
    uint32_t id = 0;
    std::string name;
    ColumnFamilyOptions options;
    CompactionConfig compaction;
    std::unique_ptr<TableCache> tables;
    ArenaBlockPool* arena_blocks = nullptr;
    EpochDomain* epochs = nullptr;
    std::atomic<int64_t>* live_memtables = nullptr;
    std::atomic<int64_t>* live_views = nullptr;
    Version* version = nullptr;  // the family takes its own count
    uint64_t log_number = 0;     // of the active memtable
    uint32_t user_key_bytes = 0;
    std::map<Level, std::string> compact_cursors = {};
  };

  explicit ColumnFamily(Args args);
  ~ColumnFamily();
  ColumnFamily(const ColumnFamily&) = delete;
  ColumnFamily& operator=(const ColumnFamily&) = delete;

  uint32_t id() const { return id_; }
  const std::string& name() const { return name_; }
  const KeyComparator& comparator() const { return comparator_; }
  const MergeOperator* merge_operator() const { return merge_operator_.get(); }
  bool has_compaction_filter() const { return has_compaction_filter_; }
  // True if Merge is refused because there is no merge operator, or only the name of one
  // (UnknownMergeOperator).
  bool RefusesMerges() const { return refuses_merges_; }
  // Returns InvalidArgument if the family's tables cannot hold the entry. Once in a memtable, it
  // would make every flush fail.
  Status CheckEntry(const Slice& key, const Slice& value) const {
    if (!EntryFits(key.size(), value.size())) [[unlikely]]
      return TooLarge(key, value);
    if (user_key_bytes_ == 0 || key.size() == user_key_bytes_) [[likely]]
      return Status::OK();
    return WrongKeyLength(key);
  }
  // Whether all keys must have one length, so that every key of a foreign table has to be checked.
  bool FixesKeyLength() const { return user_key_bytes_ != 0; }
  // Returns InvalidArgument if the end is before the begin or an entry cannot hold both, and
  // NotSupported if the family's tables cannot hold range tombstones.
  Status CheckRange(const Slice& begin, const Slice& end) const;
  TableCache* tables() const { return tables_.get(); }

  ReadView* view() const { return view_.load(std::memory_order_acquire); }
  // Pins the view for a call that may wait, which it must do outside guards.
  ViewRef PinView() const;
  // For the commit leader, the only thread that replaces the active memtable.
  MemTable* LeaderActive() const { return leader_active_; }
  // The oldest log that can hold writes of the active memtable. For the commit leader and recovery.
  uint64_t LeaderLogNumber() const { return leader_log_number_; }
  MemTable* ActiveLocked() const ASHLAR_REQUIRES(kDatabaseMutex) { return active_.table.get(); }
  // For the commit leader.
  bool IsFull() const {
    return LeaderActive()->ApproximateMemoryUsed() >= full_bytes_.load(std::memory_order_relaxed);
  }
  uint64_t max_sequential_skip() const {
    return max_sequential_skip_.load(std::memory_order_relaxed);
  }
  SuccessiveMerges successive_merges() const {
    return {.operands_max = successive_merges_max_.load(std::memory_order_relaxed),
            .reads_files = successive_merges_read_files_.load(std::memory_order_relaxed)};
  }
  bool remembers_gaps() const { return remembers_gaps_.load(std::memory_order_relaxed); }
  // The limit on the memory of all memtables of this family.
  uint64_t MemTableLimitBytes() const {
    return memtable_limit_bytes_.load(std::memory_order_relaxed);
  }

  // Written under the database mutex.
  bool dropped() const { return dropped_.load(std::memory_order_relaxed); }
  // Returns ColumnFamilyDropped, with the name of the family, once the family is dropped.
  Status CheckNotDropped() const { return dropped() ? DroppedError() : Status::OK(); }
  void MarkDropped() ASHLAR_REQUIRES(kDatabaseMutex) {
    dropped_.store(true, std::memory_order_relaxed);
  }

  // ---- Guarded by the database mutex.

  // The memory for a switch of the memtable, allocated before anything changes.
  class PreparedSwitch {
   public:
    PreparedSwitch(PreparedSwitch&&) = default;

   private:
    friend class ColumnFamily;
    explicit PreparedSwitch(MemTableRef table, ReadView* prepared)
        : fresh(std::move(table)), view(prepared) {}

    struct Unlinker {
      void operator()(ReadView* unused) const { unused->Unlink(); }
    };
    MemTableRef fresh;
    std::unique_ptr<ReadView, Unlinker> view;
  };
  // Requires: no switch, install or flush of the family until SwitchMemTable takes the result.
  PreparedSwitch PrepareSwitch() ASHLAR_REQUIRES(kDatabaseMutex);
  // Makes the fresh memtable the active one, whose writes go to log_number, and publishes the view.
  // The old memtable becomes the newest immutable one. Call EpochDomain::Reclaim after releasing
  // the mutex.
  void SwitchMemTable(PreparedSwitch prepared, uint64_t log_number) noexcept
      ASHLAR_REQUIRES(kDatabaseMutex);
  // Raises the log number of the active memtable to this one if the memtable is empty.
  void AdvanceEmptyMemTable(uint64_t log_number) ASHLAR_REQUIRES(kDatabaseMutex);
  // Records that entries with sequences up to `through` were ingested into the published version.
  // Call in the critical section that publishes the version.
  void NoteIngested(SequenceNumber through) ASHLAR_REQUIRES(kDatabaseMutex) {
    ingested_through_ = through;
    active_.table->EndGaps();
  }
  // Counts a flush. Returns all immutable memtables, oldest first, and marks them as being flushed.
  std::vector<MemTableRef> StartFlush() ASHLAR_REQUIRES(kDatabaseMutex);
  // Ends what StartFlush began. Removes the `flushed` oldest memtables, which are in tables now.
  void EndFlush(size_t flushed) ASHLAR_REQUIRES(kDatabaseMutex);
  // Records that listeners will be notified of the flush that EndFlush has ended. The flush is
  // identified by its oldest memtable. Call in the critical section of EndFlush.
  void BeginFlushReport(uint64_t oldest_memtable) noexcept ASHLAR_REQUIRES(kDatabaseMutex);
  void EndFlushReport(uint64_t oldest_memtable) ASHLAR_REQUIRES(kDatabaseMutex);
  // Whether a flush with a memtable older than this one is being reported.
  bool ReportsFlushBefore(uint64_t memtable_id) const ASHLAR_REQUIRES(kDatabaseMutex);
  // The oldest log that will still be needed once the `flushed` oldest memtables are in tables.
  uint64_t LogNumberAfterFlush(size_t flushed) const ASHLAR_REQUIRES(kDatabaseMutex);
  bool WantsFlush() const ASHLAR_REQUIRES(kDatabaseMutex) {
    if (running_flushes > 0) return false;
    if (immutable_.empty()) return log_release_wanted;
    return flush_wanted || log_release_wanted ||
           immutable_.size() >=
               static_cast<size_t>(policy_->config().common.min_write_buffer_number_to_merge);
  }
  // The next view of a secondary's family, allocated before anything changes.
  class PreparedFollow {
   public:
    PreparedFollow(PreparedFollow&&) = default;

   private:
    friend class ColumnFamily;
    explicit PreparedFollow(Version* to) : version(to) {}

    Version* const version;
    std::vector<MemTableEntry> immutable;
    MemTableEntry active;
    uint64_t next_memtable_id = 0;
    std::unique_ptr<ReadView, PreparedSwitch::Unlinker> view;
  };
  // Prepares for a version that the primary has recorded. Its tables have all writes of the logs
  // below log_number, so memtables without other writes are left out. `rebuilt`: a family whose
  // memtables replace this one's; null: none. Requires: no switch or install until Follow takes the
  // result, and the active memtable to be used has a log number of at least log_number.
  PreparedFollow PrepareFollow(Version* version, uint64_t log_number, const ColumnFamily* rebuilt)
      ASHLAR_REQUIRES(kDatabaseMutex);
  // Publishes the view. `through`: an upper bound of the sequences that the primary has used for
  // the version. Call EpochDomain::Reclaim after releasing the mutex.
  void Follow(PreparedFollow prepared, SequenceNumber through) noexcept
      ASHLAR_REQUIRES(kDatabaseMutex);
  // Publishes the current members as the view and unlinks the old one. Call EpochDomain::Reclaim
  // after releasing the mutex.
  void InstallView() ASHLAR_REQUIRES(kDatabaseMutex);
  // Allocates the memory for the next InstallPreparedView. Any number of memtables may be switched
  // in between.
  void PrepareView() ASHLAR_REQUIRES(kDatabaseMutex);
  // InstallView after PrepareView.
  void InstallPreparedView() noexcept ASHLAR_REQUIRES(kDatabaseMutex);
  void SetVersion(Version* version) ASHLAR_REQUIRES(kDatabaseMutex);

  Version* version() const ASHLAR_REQUIRES(kDatabaseMutex) { return version_; }
  uint64_t view_number() const ASHLAR_REQUIRES(kDatabaseMutex) { return view_number_; }
  // Oldest first.
  const std::vector<MemTableEntry>& immutable() const ASHLAR_REQUIRES(kDatabaseMutex) {
    return immutable_;
  }
  uint64_t OldestLogNumber() const ASHLAR_REQUIRES(kDatabaseMutex) {
    return immutable_.empty() ? active_.log_number : immutable_.front().log_number;
  }
  uint64_t active_log_number() const ASHLAR_REQUIRES(kDatabaseMutex) { return active_.log_number; }
  // The smallest sequence in the memtables, or kSequenceNumberMax if they are empty.
  SequenceNumber OldestUnflushed() const ASHLAR_REQUIRES(kDatabaseMutex);
  size_t MemTableBytes() const ASHLAR_REQUIRES(kDatabaseMutex);
  // Asserts I1 to I3, which hold between the critical sections that change the family.
  void CheckInvariants() const ASHLAR_REQUIRES(kDatabaseMutex);

  const ColumnFamilyOptions& options() const ASHLAR_REQUIRES(kDatabaseMutex) { return options_; }
  // Swaps `*options` with the family's options. Installs a view if the prefix extractor differs.
  // Changes nothing if it throws. Allocates nothing if the prefix extractor is the same. After
  // releasing the mutex, destroy the old options and call EpochDomain::Reclaim.
  void SetOptions(ColumnFamilyOptions* options, CompactionConfig compaction)
      ASHLAR_REQUIRES(kDatabaseMutex);
  // The prefix extractor of new memtables and tables; null: none. Reads use the view's.
  const std::shared_ptr<const SliceTransform>& prefix_extractor() const
      ASHLAR_REQUIRES(kDatabaseMutex) {
    return options_.prefix_extractor;
  }
  // Makes the decisions about the family's tree.
  CompactionPolicy& policy() ASHLAR_REQUIRES(kDatabaseMutex) { return *policy_; }
  const CompactionPolicy& policy() const ASHLAR_REQUIRES(kDatabaseMutex) { return *policy_; }
  bool CompactsAutomatically() const ASHLAR_REQUIRES(kDatabaseMutex) {
    return !policy_->config().common.disable_auto_compactions;
  }

  WriteStall stall ASHLAR_GUARDED_BY(kDatabaseMutex);
  bool compaction_behind ASHLAR_GUARDED_BY(kDatabaseMutex) = false;
  // Compactions that failed in a row for a transient reason (CompactionBackoff), and the last
  // error. No compaction is picked while compaction_paused is set.
  uint32_t compaction_failures ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;
  bool compaction_paused ASHLAR_GUARDED_BY(kDatabaseMutex) = false;
  Status compaction_failure ASHLAR_GUARDED_BY(kDatabaseMutex);
  std::vector<const CompactionPlan*> running_plans ASHLAR_GUARDED_BY(kDatabaseMutex);
  // TreeView::AwaitedSnapshot of the last pick that found nothing.
  SequenceNumber awaited_snapshot ASHLAR_GUARDED_BY(kDatabaseMutex) = kNoSnapshotAwaited;
  // Flush even if fewer memtables wait than min_write_buffer_number_to_merge demands.
  bool flush_wanted ASHLAR_GUARDED_BY(kDatabaseMutex) = false;
  // Flush even without a memtable, so that the edit releases logs that no family needs.
  bool log_release_wanted ASHLAR_GUARDED_BY(kDatabaseMutex) = false;
  // The reason of the last memtable switch.
  FlushReason flush_reason ASHLAR_GUARDED_BY(kDatabaseMutex) = FlushReason::kOthers;
  int running_flushes ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;
  // Steps of manual compactions that wait for running plans; no plan is picked meanwhile.
  int waiting_steps ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;
  // A manual compaction runs alone, or waits until it may.
  bool exclusive_compaction ASHLAR_GUARDED_BY(kDatabaseMutex) = false;
  // Ingested files have reserved their levels and are not in the tree yet, so no plan is picked.
  bool ingesting ASHLAR_GUARDED_BY(kDatabaseMutex) = false;
  FamilyTotals totals ASHLAR_GUARDED_BY(kDatabaseMutex);

 private:
  struct RawMemoryDeleter {
    void operator()(void* memory) const { ::operator delete(memory); }
  };
  // The memory of a view, before the members of the view are known.
  struct SpareView {
    std::vector<MemTableRef> immutable;  // empty, with its capacity reserved
    std::unique_ptr<void, RawMemoryDeleter> memory;
  };

  void SetActive(MemTableRef table, uint64_t log_number) ASHLAR_REQUIRES(kDatabaseMutex);
  MemTableRef NewMemTable() ASHLAR_REQUIRES(kDatabaseMutex);
  // Makes a view of the arguments and the other current members.
  ReadView* NewView(const MemTableRef& active, const MemTableRef& newest_immutable,
                    const std::shared_ptr<const SliceTransform>& prefix_extractor)
      ASHLAR_REQUIRES(kDatabaseMutex);
  ReadView::Args ViewArgs(const MemTableRef& active, std::vector<MemTableRef> immutable)
      ASHLAR_REQUIRES(kDatabaseMutex);
  void PublishView(ReadView* view) noexcept ASHLAR_REQUIRES(kDatabaseMutex);
  Status DroppedError() const;
  Status WrongKeyLength(const Slice& key) const;
  Status TooLarge(const Slice& key, const Slice& value) const;

  const uint32_t id_;
  const std::string name_;
  const KeyComparator comparator_;
  const std::shared_ptr<const MergeOperator> merge_operator_;
  const bool has_compaction_filter_;
  const bool refuses_merges_;
  const bool refuses_ranges_;
  const uint32_t user_key_bytes_;  // the length of all keys, which the tables do not store; 0: any
  const std::unique_ptr<TableCache> tables_;
  ArenaBlockPool* const arena_blocks_;
  EpochDomain* const epochs_;  // the database's
  std::atomic<int64_t>* const live_memtables_;
  std::atomic<int64_t>* const live_views_;

  std::atomic<ReadView*> view_{
      nullptr};  // written under the database mutex (release), read inside epoch guards (acquire)
  std::atomic<size_t> full_bytes_;  // written under the database mutex, read by the commit leader
  std::atomic<uint64_t> memtable_limit_bytes_;  // the same
  // Written under the database mutex, read by iterators.
  std::atomic<uint64_t> max_sequential_skip_;
  std::atomic<bool> remembers_gaps_;  // the same
  // Written under the database mutex, read by the commit leader.
  std::atomic<size_t> successive_merges_max_;
  std::atomic<bool> successive_merges_read_files_;

  std::atomic<bool> dropped_{false};  // written under the database mutex, read by writers

  // Copies of the members of active_. The commit leader reads them without a lock. While the
  // database is open, only the leader writes them, under the database mutex.
  MemTable* leader_active_ = nullptr;
  uint64_t leader_log_number_ = 0;

  MemTableEntry active_ ASHLAR_GUARDED_BY(kDatabaseMutex);
  std::vector<MemTableEntry> immutable_ ASHLAR_GUARDED_BY(kDatabaseMutex);
  // The oldest memtable of each flush that is being reported. StartFlush reserves the capacity.
  std::vector<uint64_t> flush_reports_ ASHLAR_GUARDED_BY(kDatabaseMutex);
  // For the install whose edit is being written.
  std::optional<SpareView> spare_view_ ASHLAR_GUARDED_BY(kDatabaseMutex);
  Version* version_ ASHLAR_GUARDED_BY(kDatabaseMutex);
  ColumnFamilyOptions options_ ASHLAR_GUARDED_BY(kDatabaseMutex);
  const std::unique_ptr<CompactionPolicy> policy_ ASHLAR_PT_GUARDED_BY(kDatabaseMutex);
  SequenceNumber ingested_through_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;
  uint64_t next_memtable_id_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 1;
  uint64_t view_number_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;
};

// The families by id. Immutable, so the commit leader and MultiGet find families without a lock.
// Replaced when a family is created or dropped. The old table is retired through the epoch.
//
// I1: ids ascend strictly, and no family in it is dropped.
// I2: a table is replaced only by an exclusive request of the commit queue (and by the open), so
//     the commit leader reads it without an epoch guard.
// I3: numbers ascend with each replacement.
struct FamilyTable : EpochRetired {
  FamilyTable() : EpochRetired{.deleter = &Delete} {}

  uint64_t number = 0;                                  // set when the table is published
  std::vector<std::shared_ptr<ColumnFamily>> families;  // ascending by id, dropped ones left out
  // Families that Remove has taken out and that handles or jobs may still hold.
  std::vector<std::weak_ptr<ColumnFamily>> dropped;

  ColumnFamily* Find(uint32_t id) const { return Shared(id).get(); }
  // Null if no family has the id, or the family was dropped.
  const std::shared_ptr<ColumnFamily>& Shared(uint32_t id) const {
    // Until a family is dropped, the id of each family is its index.
    if (id < families.size() && families[id]->id() == id) [[likely]]
      return families[id];
    return Search(id);
  }
  void Add(std::shared_ptr<ColumnFamily> family);
  void Remove(uint32_t id);
  void CheckInvariants() const;

 private:
  static void Delete(EpochRetired* self) { delete static_cast<FamilyTable*>(self); }
  const std::shared_ptr<ColumnFamily>& Search(uint32_t id) const;
};

}  // namespace ashlar
