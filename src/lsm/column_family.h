// ColumnFamily: one ordered map of the database: its memtables, its version, its options, and the
// view that reads use.
//
//   writes -> active memtable -> (full) immutable memtables -> (flush) level 0 -> (compaction)
//   deeper levels
//
// I1: view() lists exactly the {active, immutable, version, prefix extractor} that there are.
// I2: immutable memtables are flushed oldest first; a memtable leaves the list in the same critical
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

// How long a key's chain of operands in the memtable may be (max_successive_merges).
struct SuccessiveMerges {
  size_t operands_max = 0;   // 0: as long as it becomes
  bool reads_files = false;  // a value on disk is read to shorten it
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
  // A flush writes to level 0 and reads no table.
  void CountJob(Level output_level, const TableJobStatistics& statistics);
  // Keeps the room for the levels, so that it needs no memory, nor does CountJob.
  void Reset() {
    levels.clear();
    delays = 0;
    stops = 0;
  }

  std::vector<OfLevel> levels;  // by the level that was written to
  uint64_t delays = 0;          // times that writers began to be slowed down
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
    Version* version = nullptr;  // takes a count of its own
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
  // True if Merge is refused: there is no merge operator, or only the name of one
  // (UnknownMergeOperator).
  bool RefusesMerges() const { return refuses_merges_; }
  // InvalidArgument for an entry that the family's tables cannot hold. Once in a memtable, it would
  // make every flush fail.
  Status CheckEntry(const Slice& key, const Slice& value) const {
    if (!EntryFits(key.size(), value.size())) [[unlikely]]
      return TooLarge(key, value);
    if (user_key_bytes_ == 0 || key.size() == user_key_bytes_) [[likely]]
      return Status::OK();
    return WrongKeyLength(key);
  }
  // Whether all keys need one length, so that each key of a foreign table has to be looked at.
  bool FixesKeyLength() const { return user_key_bytes_ != 0; }
  // InvalidArgument for a range whose end is before its begin; NotSupported if the family's tables
  // cannot hold range tombstones.
  Status CheckRange(const Slice& begin, const Slice& end) const;
  TableCache* tables() const { return tables_.get(); }

  ReadView* view() const { return view_.load(std::memory_order_acquire); }
  // For calls that may wait, which they do outside guards.
  ViewRef PinView() const;
  // For the commit leader, the only thread that replaces it.
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
  // ColumnFamilyDropped, with the name of the family, once it is dropped.
  Status CheckNotDropped() const { return dropped() ? DroppedError() : Status::OK(); }
  void MarkDropped() ASHLAR_REQUIRES(kDatabaseMutex) {
    dropped_.store(true, std::memory_order_relaxed);
  }

  // ---- Guarded by the database mutex.

  // The memory that a switch of the memtable needs, allocated before anything changes.
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
  // Puts the fresh memtable in place, whose writes go to log_number, and publishes the view. The
  // old memtable becomes the newest immutable one. Call EpochDomain::Reclaim after releasing the
  // mutex.
  void SwitchMemTable(PreparedSwitch prepared, uint64_t log_number) noexcept
      ASHLAR_REQUIRES(kDatabaseMutex);
  // An empty active memtable needs no older log than this.
  void AdvanceEmptyMemTable(uint64_t log_number) ASHLAR_REQUIRES(kDatabaseMutex);
  // Entries with sequences up to this one, which the published version has, were ingested into it.
  // Call in the critical section that publishes the version.
  void NoteIngested(SequenceNumber through) ASHLAR_REQUIRES(kDatabaseMutex) {
    ingested_through_ = through;
    active_.table->EndGaps();
  }
  // Counts a flush. All immutable memtables, oldest first, marked as being flushed.
  std::vector<MemTableRef> StartFlush() ASHLAR_REQUIRES(kDatabaseMutex);
  // The end of StartFlush. The `flushed` oldest memtables are in tables now and leave the list.
  void EndFlush(size_t flushed) ASHLAR_REQUIRES(kDatabaseMutex);
  // Listeners are about to hear of the flush that EndFlush has ended; its oldest memtable names it.
  // Call in the critical section of EndFlush.
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
  // The primary has recorded this version, whose tables have all writes of the logs below
  // log_number: memtables with nothing else leave. rebuilt: a family that has the memtables to use
  // instead of this one's; null: its own. Requires: no switch or install until Follow takes the
  // result, and an active memtable whose log number is not below log_number.
  PreparedFollow PrepareFollow(Version* version, uint64_t log_number, const ColumnFamily* rebuilt)
      ASHLAR_REQUIRES(kDatabaseMutex);
  // Publishes the view. through: every sequence that the primary has used for the version is not
  // above it. Call EpochDomain::Reclaim after releasing the mutex.
  void Follow(PreparedFollow prepared, SequenceNumber through) noexcept
      ASHLAR_REQUIRES(kDatabaseMutex);
  // Publishes the current members as the view and unlinks the old one. Call EpochDomain::Reclaim
  // after releasing the mutex.
  void InstallView() ASHLAR_REQUIRES(kDatabaseMutex);
  // Allocates the memory of the next InstallPreparedView. Any number of memtables may be switched
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
  // The smallest sequence of the memtables; kSequenceNumberMax: they are empty.
  SequenceNumber OldestUnflushed() const ASHLAR_REQUIRES(kDatabaseMutex);
  size_t MemTableBytes() const ASHLAR_REQUIRES(kDatabaseMutex);
  // Asserts I1 to I3. True between the critical sections that change the family.
  void CheckInvariants() const ASHLAR_REQUIRES(kDatabaseMutex);

  const ColumnFamilyOptions& options() const ASHLAR_REQUIRES(kDatabaseMutex) { return options_; }
  // Exchanges the options with the family's. Installs a view if the prefix extractor is another.
  // Changes nothing if it throws. Allocates nothing if the prefix extractor is the same. After
  // releasing the mutex, destroy the old options and call EpochDomain::Reclaim.
  void SetOptions(ColumnFamilyOptions* options, CompactionConfig compaction)
      ASHLAR_REQUIRES(kDatabaseMutex);
  // Of new memtables and tables; null: none. Reads take the view's.
  const std::shared_ptr<const SliceTransform>& prefix_extractor() const
      ASHLAR_REQUIRES(kDatabaseMutex) {
    return options_.prefix_extractor;
  }
  // The decisions about the family's tree.
  CompactionPolicy& policy() ASHLAR_REQUIRES(kDatabaseMutex) { return *policy_; }
  const CompactionPolicy& policy() const ASHLAR_REQUIRES(kDatabaseMutex) { return *policy_; }
  bool CompactsAutomatically() const ASHLAR_REQUIRES(kDatabaseMutex) {
    return !policy_->config().common.disable_auto_compactions;
  }

  WriteStall stall ASHLAR_GUARDED_BY(kDatabaseMutex);
  bool compaction_behind ASHLAR_GUARDED_BY(kDatabaseMutex) = false;
  // Compactions that failed in a row for lack of space or descriptors, and the last error. While
  // compaction_paused none is picked.
  uint32_t compaction_failures ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;
  bool compaction_paused ASHLAR_GUARDED_BY(kDatabaseMutex) = false;
  Status compaction_failure ASHLAR_GUARDED_BY(kDatabaseMutex);
  std::vector<const CompactionPlan*> running_plans ASHLAR_GUARDED_BY(kDatabaseMutex);
  // TreeView::AwaitedSnapshot of the last pick that found nothing.
  SequenceNumber awaited_snapshot ASHLAR_GUARDED_BY(kDatabaseMutex) = kNoSnapshotAwaited;
  // Flush even if fewer memtables wait than min_write_buffer_number_to_merge.
  bool flush_wanted ASHLAR_GUARDED_BY(kDatabaseMutex) = false;
  // Flush even without a memtable: the edit lets logs go that no family needs.
  bool log_release_wanted ASHLAR_GUARDED_BY(kDatabaseMutex) = false;
  // Why a memtable was switched last.
  FlushReason flush_reason ASHLAR_GUARDED_BY(kDatabaseMutex) = FlushReason::kOthers;
  int running_flushes ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;
  // Steps of manual compactions that wait for running plans; no plan is picked meanwhile.
  int waiting_steps ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;
  // A manual compaction runs alone.
  bool exclusive_compaction ASHLAR_GUARDED_BY(kDatabaseMutex) = false;
  // Ingested files have reserved places and are not in the tree yet; no plan is picked.
  bool ingesting ASHLAR_GUARDED_BY(kDatabaseMutex) = false;
  FamilyTotals totals ASHLAR_GUARDED_BY(kDatabaseMutex);

 private:
  struct RawMemoryDeleter {
    void operator()(void* memory) const { ::operator delete(memory); }
  };
  // The memory of a view, before the members of the view are known.
  struct SpareView {
    std::vector<MemTableRef> immutable;  // empty; the capacity counts
    std::unique_ptr<void, RawMemoryDeleter> memory;
  };

  void SetActive(MemTableRef table, uint64_t log_number) ASHLAR_REQUIRES(kDatabaseMutex);
  MemTableRef NewMemTable() ASHLAR_REQUIRES(kDatabaseMutex);
  // A view of these and the other current members.
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
  const uint32_t user_key_bytes_;  // of every key, because the tables do not store it; 0: any
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

  // Of active_. The commit leader reads them without a lock, and alone writes them while the
  // database is open, under the database mutex.
  MemTable* leader_active_ = nullptr;
  uint64_t leader_log_number_ = 0;

  MemTableEntry active_ ASHLAR_GUARDED_BY(kDatabaseMutex);
  std::vector<MemTableEntry> immutable_ ASHLAR_GUARDED_BY(kDatabaseMutex);
  // The oldest memtables of flushes that are being reported. StartFlush keeps the room for its own.
  std::vector<uint64_t> flush_reports_ ASHLAR_GUARDED_BY(kDatabaseMutex);
  // Of the install that is being written.
  std::optional<SpareView> spare_view_ ASHLAR_GUARDED_BY(kDatabaseMutex);
  Version* version_ ASHLAR_GUARDED_BY(kDatabaseMutex);
  ColumnFamilyOptions options_ ASHLAR_GUARDED_BY(kDatabaseMutex);
  const std::unique_ptr<CompactionPolicy> policy_ ASHLAR_PT_GUARDED_BY(kDatabaseMutex);
  SequenceNumber ingested_through_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;
  uint64_t next_memtable_id_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 1;
  uint64_t view_number_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;
};

// The families by id, immutable, so that the commit leader and MultiGet look families up without a
// lock: replaced as a whole when one is created or dropped, and retired through the epoch.
//
// I1: ids ascend strictly, and no family in it is dropped.
// I2: a table is replaced only by an exclusive request of the commit queue (and by the open), so
//     the commit leader reads it without an epoch guard.
// I3: numbers ascend with each replacement.
struct FamilyTable : EpochRetired {
  FamilyTable() : EpochRetired{.deleter = &Delete} {}

  uint64_t number = 0;                                  // set when the table is published
  std::vector<std::shared_ptr<ColumnFamily>> families;  // ascending by id, dropped ones left out
  // Those that Remove has taken out, as long as handles or jobs keep them.
  std::vector<std::weak_ptr<ColumnFamily>> dropped;

  ColumnFamily* Find(uint32_t id) const { return Shared(id).get(); }
  // Null: there is none, or it was dropped.
  const std::shared_ptr<ColumnFamily>& Shared(uint32_t id) const {
    // Until a family is dropped its id is its place.
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
