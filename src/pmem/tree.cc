#include "pmem/tree.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/format.h"
#include "base/out_of_memory.h"
#include "execute/epoch.h"
#include "iterate/error_iterator.h"
#include "platform/clock.h"
#include "platform/cpu.h"
#include "pmem/batch_writer.h"
#include "pmem/durability_choice.h"
#include "pmem/leaf_mark.h"
#include "pmem/leaf_writer.h"
#include "pmem/log_replay.h"
#include "pmem/logged_medium.h"
#include "pmem/mapped_medium.h"
#include "pmem/pool.h"
#include "pmem/tree_check.h"
#include "pmem/tree_iterator.h"

namespace ashlar {

const char* DurabilityClassName(DurabilityClass durability) {
  switch (durability) {
    case DurabilityClass::kCpuFlush: return "cpu-flush";
    case DurabilityClass::kProcessCrashOnly: return "process-crash-only";
    case DurabilityClass::kLogged: return "logged";
  }
  return "unknown";
}

namespace pmem {
namespace {

Status Closed() { return Status::Aborted("the persistent tree is closed"); }

// ---- Opening.

uint32_t ChooseRecoveryThreads(const PersistentTreeOptions& options) {
  constexpr uint32_t kThreadsMax = 8;
  return options.recovery_threads > 0 ? static_cast<uint32_t>(options.recovery_threads)
                                      : std::min(HardwareThreads(), kThreadsMax);
}

Result<std::unique_ptr<Medium>> MapShared(std::unique_ptr<PoolFile> file,
                                          const DurabilityChoice& choice) {
  const bool sync =
      choice.durability == DurabilityClass::kCpuFlush && file->Backing() == PoolBacking::kDax;
  ASHLAR_ASSIGN_OR_RETURN(std::unique_ptr<PoolMapping> mapping,
                          file->Map(sync ? PoolMapMode::kSharedSync : PoolMapMode::kShared));
  auto medium = std::make_unique<MappedMedium>(file->path(), std::move(mapping), choice.durability,
                                               choice.instruction);
  medium->Keep(std::move(file));
  return std::unique_ptr<Medium>(std::move(medium));
}

Result<std::unique_ptr<PoolFile>> OpenOrCreate(const PersistentTreeOptions& options,
                                               const std::string& path) {
  const auto exists = [&] {
    return Status::InvalidArgument(path, "exists (error_if_exists is set)");
  };
  Result<std::unique_ptr<PoolFile>> file = PoolFile::Open(path);
  if (file.ok() && options.error_if_exists) return exists();
  if (file.ok() || !file.status().IsPathNotFound()) return file;
  if (!options.create_if_missing)
    return Status::InvalidArgument(path, "does not exist (create_if_missing is not set)");
  ASHLAR_ASSIGN_OR_RETURN(
      const bool made,
      CreatePool(path, options.pool_bytes, options.huge_pages_effort_max, *options.comparator));
  if (!made && options.error_if_exists) return exists();
  return PoolFile::Open(path);
}

Result<std::unique_ptr<Medium>> OpenMedium(const PersistentTreeOptions& options,
                                           const std::string& path) {
  ASHLAR_ASSIGN_OR_RETURN(std::unique_ptr<PoolFile> file, OpenOrCreate(options, path));
  std::string page(kPageBytes, '\0');
  if (file->bytes() >= kPageBytes)
    ASHLAR_RETURN_IF_ERROR(file->ReadAt(0, page.size(), page.data()));
  ASHLAR_ASSIGN_OR_RETURN(const PoolHeader header,
                          DecodePoolHeader(path, page, file->bytes(), *options.comparator));
  ASHLAR_ASSIGN_OR_RETURN(
      const DurabilityChoice choice,
      ChooseDurability(options, file->Backing(),
                       {.are_persistent = CachesArePersistent(), .best = BestFlushInstruction()},
                       file->path()));
  auto storage = std::make_unique<FileStorage>(std::move(file));
  ASHLAR_RETURN_IF_ERROR(
      ReplayLog(storage.get(), {.pool_id = header.pool_id,
                                .accept_damage = options.accept_log_damage,
                                .sync_pool = choice.durability == DurabilityClass::kCpuFlush}));
  if (choice.durability == DurabilityClass::kLogged) {
    return LoggedMedium::Create(std::move(storage),
                                {.pool_id = header.pool_id,
                                 .sync = options.sync_log,
                                 .log_bytes_max = options.log_bytes_max,
                                 .private_bytes_max = options.private_bytes_max});
  }
  return MapShared(storage->Release(), choice);
}

}  // namespace

Result<std::unique_ptr<PersistentTree>> OpenTree(std::unique_ptr<Medium> medium,
                                                 TreeConfig config) {
  const uint64_t start_nanos = MonotonicNanos();
  const Comparator* const comparator = config.recovery.comparator;
  ASHLAR_ASSIGN_OR_RETURN(std::unique_ptr<TreeState> state,
                          RecoverTree(std::move(medium), std::move(config.recovery)));
  auto tree = std::make_unique<Tree>(std::move(state), comparator);
  tree->open_micros_ = (MonotonicNanos() - start_nanos) / 1000;
  ASHLAR_RETURN_IF_ERROR(tree->StartMark(config.mark, std::move(config.before_marked_leaf)));
  return std::unique_ptr<PersistentTree>(std::move(tree));
}

Tree::Tree(std::unique_ptr<TreeState> state, const Comparator* comparator)
    : path_(state->medium->path()),
      comparator_(comparator),
      durability_class_(state->medium->durability_class()),
      state_(std::move(state)) {}

Status Tree::StartMark(MarkRun run, std::function<void()> before_leaf) {
  const auto mark = [this, before_leaf = std::move(before_leaf)] {
    mark_status_ =
        CatchBadAlloc([&] { return MarkRecords(state_.get(), stop_mark_, before_leaf); });
    if (mark_status_.IsCorruption()) {
      state_->heap.FailMark(std::move(mark_status_));
    } else {
      // If an allocation of the mark fails, the tree does without the space from before the open.
      state_->heap.FinishMark(mark_status_.ok() && !stop_mark_.load(std::memory_order_relaxed));
    }
  };
  if (run == MarkRun::kAtOpen) {
    mark();
    return Status::OK();
  }
  auto started = std::make_unique<Thread>();  // before the start, because a thread needs an owner
  ASHLAR_ASSIGN_OR_RETURN(
      *started,
      Thread::Start({.name = "ashlar-mark", .priority = ThreadPriority::kBackground}, mark));
  mark_thread_ = std::move(started);
  return Status::OK();
}

// ---- Closing.

Tree::~Tree() {
  if (process_ != CurrentProcessId()) Abandon();
  static_cast<void>(Close());
  // A pin or an iterator that outlives its tree would read unmapped memory.
  ASHLAR_ASSERT(state_ == nullptr);
}

// I1. The destructors would wait for threads and locks that the child does not have.
void Tree::Abandon() noexcept {
  static_cast<void>(state_.release());        // NOLINT(bugprone-unused-return-value)
  static_cast<void>(mark_thread_.release());  // NOLINT(bugprone-unused-return-value)
}

Status Tree::Close() try {
  if (state_ == nullptr) return Status::OK();
  if (process_ != CurrentProcessId())
    return Status::Aborted(path_, "the process that has opened the tree has to close it");
  if (state_->iterators.load(std::memory_order_acquire) != 0)
    return Status::Aborted(path_, "iterators are alive");
  if (state_->pins->AnyPinned()) return Status::Aborted(path_, "pinned values are alive");
  stop_mark_.store(true, std::memory_order_relaxed);
  if (mark_thread_) mark_thread_->Join();
  mark_thread_.reset();
  state_->heap.Reclaim();
  // If an allocation fails, the next open replays the log.
  const Status status = CatchBadAlloc([this] { return state_->medium->Close(); });
  state_.reset();
  return status;
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();  // no memory for the text of Aborted
}

// ---- Changes.

Status Tree::Put(const Slice& key, const Slice& value) try {
  return state_ == nullptr ? Closed() : LeafWriter(state_.get()).Put(key, value);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}
Status Tree::Delete(const Slice& key) try {
  return state_ == nullptr ? Closed() : LeafWriter(state_.get()).Delete(key);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}
Status Tree::Write(const WriteBatch& updates) try {
  return state_ == nullptr ? Closed() : BatchWriter(state_.get()).Write(updates);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}
Status Tree::DeleteRange(const KeyRange& range) try {
  return state_ == nullptr ? Closed() : BatchWriter(state_.get()).DeleteRange(range);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

// ---- Reads.

namespace {

// Looks for the record of a key in this leaf, in a guard. Returns Ok, NotFound or Corruption, or
// nullopt if the leaf has changed since it was found.
std::optional<Status> LookInLeaf(const TreeState& state, const FoundLeaf& leaf, const Slice& key,
                                 uint8_t fingerprint, RecordPart part, SlotFound* found) {
  *found = FindInLeaf(*state.medium, state.order, leaf.offset,
                      LeafView(*state.medium, leaf.offset).Commit(), key, fingerprint, part);
  if (!leaf.Unchanged()) [[unlikely]] {
    return std::nullopt;
  }
  if (found->damaged != 0) [[unlikely]] {
    return state.DamagedRecord(found->damaged);
  }
  return found->found ? Status::OK() : Status::NotFound();
}

Status FindRecord(const TreeState& state, const Slice& key, RecordPart part, SlotFound* found) {
  for (;;) {
    const FoundLeaf leaf = state.index.Find(key);
    // The fingerprint is computed while the leaf's lines are fetched.
    std::optional<Status> status = LookInLeaf(state, leaf, key, Fingerprint(key), part, found);
    if (status) [[likely]] {
      return *std::move(status);
    }
  }
}

// Requires, as Deliver does: the guard in which the record was found.
void GiveValue(const TreeState& state, const SlotFound& found, PinnableSlice* value) {
  PinRecord(state.pins.get(), found.offset, found.record, value);
}
// The guard keeps the record while it is copied, so no pin is needed.
void GiveValue(const TreeState& /*state*/, const SlotFound& found, std::string* value) {
  value->assign(found.record.value().data(), found.record.value().size());
}
template <typename Value>
Status Deliver(const TreeState& state, const ReadOptions& options, const SlotFound& found,
               Value* value) {
  if (options.verify_checksums && !ChecksumMatches(found.record))
    return state.DamagedRecord(found.offset);
  GiveValue(state, found, value);
  return Status::OK();
}
template <typename Value>
Status GetValue(const TreeState& state, const ReadOptions& options, const Slice& key,
                Value* value) try {
  EpochGuard guard(state.epochs);
  SlotFound found;
  ASHLAR_RETURN_IF_ERROR(FindRecord(state, key, RecordPart::kAll, &found));
  return Deliver(state, options, found, value);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

// Keys that are looked up together. The memory for all of them is prefetched before any is read.
class LookupGroup {
 public:
  static constexpr size_t kKeysMax = 16;

  explicit LookupGroup(const TreeState& state) : state_(state) {}

  // Requires: a guard.
  void Run(const ReadOptions& options, const Slice* keys, size_t count, PinnableSlice* values,
           Status* statuses) {
    for (size_t i = 0; i < count; ++i) {
      leaves_[i] = state_.index.Find(keys[i]);
      fingerprints_[i] = Fingerprint(keys[i]);
    }
    for (size_t i = 0; i < count; ++i)
      PrefetchCandidate(*state_.medium, leaves_[i].offset, fingerprints_[i]);
    for (size_t i = 0; i < count; ++i) {
      SlotFound found;
      const std::optional<Status> status =
          LookInLeaf(state_, leaves_[i], keys[i], fingerprints_[i], RecordPart::kAll, &found);
      statuses[i] = status ? *status : FindRecord(state_, keys[i], RecordPart::kAll, &found);
      if (statuses[i].ok()) statuses[i] = Deliver(state_, options, found, &values[i]);
    }
  }

 private:
  const TreeState& state_;
  std::array<FoundLeaf, kKeysMax> leaves_;
  std::array<uint8_t, kKeysMax> fingerprints_;
};

}  // namespace

Status Tree::Get(const ReadOptions& options, const Slice& key, PinnableSlice* value) {
  value->Reset();
  return state_ == nullptr ? Closed() : GetValue(*state_, options, key, value);
}

Status Tree::Get(const ReadOptions& options, const Slice& key, std::string* value) {
  return state_ == nullptr ? Closed() : GetValue(*state_, options, key, value);
}

bool Tree::Exists(const Slice& key) {
  if (state_ == nullptr) return false;
  EpochGuard guard(state_->epochs);
  SlotFound found;
  return FindRecord(*state_, key, RecordPart::kKey, &found).ok();
}

std::vector<Status> Tree::MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                                   std::vector<PinnableSlice>* values) {
  values->clear();
  values->resize(keys.size());
  std::vector<Status> statuses(keys.size());
  if (state_ == nullptr) {
    std::fill(statuses.begin(), statuses.end(), Closed());
    return statuses;
  }
  LookupGroup group(*state_);
  for (size_t begin = 0; begin < keys.size(); begin += LookupGroup::kKeysMax) {
    const size_t count = std::min(keys.size() - begin, LookupGroup::kKeysMax);
    // One guard for each group, because a long guard delays the reuse of space.
    EpochGuard guard(state_->epochs);
    group.Run(options, &keys[begin], count, &(*values)[begin], &statuses[begin]);
  }
  return statuses;
}

std::unique_ptr<Iterator> Tree::NewIterator(const ReadOptions& options, const KeyRange& range) try {
  if (state_ == nullptr) return MakeErrorIterator(Closed());
  return std::make_unique<TreeIterator>(state_.get(), options, range);
} catch (const std::bad_alloc&) {
  return MakeErrorIterator(Status::MemoryLimit());
}

uint64_t Tree::Count(const KeyRange& range) {
  return state_ == nullptr ? 0 : CountKeys(state_.get(), range);
}

// ---- The rest.

PersistentTreeStats Tree::Stats() {
  if (state_ == nullptr) return {};
  PersistentTreeStats stats;
  stats.pool_bytes = state_->medium->bytes();
  stats.used_bytes = state_->heap.UsedBytes();
  stats.free_bytes = stats.pool_bytes - stats.used_bytes;
  stats.entries = state_->entries.load(std::memory_order_relaxed);
  stats.leaves = state_->leaves.load(std::memory_order_relaxed);
  MutexLock structure(state_->structure_mutex());
  stats.volatile_bytes = sizeof(TreeState) + state_->pins->VolatileBytes() +
                         state_->index.VolatileBytes() + state_->heap.VolatileBytes();
  stats.leaf_splits = state_->splits.load(std::memory_order_relaxed);
  stats.leaf_merges = state_->merges.load(std::memory_order_relaxed);
  stats.open_micros = open_micros_;
  stats.free_space_known = state_->heap.marked();
  return stats;
}

Status Tree::Defragment() try {
  return state_ == nullptr ? Closed() : DefragmentTree(state_.get());
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status Tree::Verify() try {
  if (state_ == nullptr) return Closed();
  state_->heap.WaitForMark();
  ASHLAR_RETURN_IF_ERROR(VerifyTree(state_.get()));
  ASHLAR_RETURN_IF_ERROR(state_->heap.status());
  return mark_status_;
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

void Tree::CheckInvariants() const {
  if (state_ == nullptr) return;
  state_->heap.CheckInvariants();
  state_->pins->CheckInvariants();
  MutexLock structure(state_->structure_mutex());
  state_->index.CheckInvariants();
}

Result<std::unique_ptr<PersistentTree>> OpenTreeAt(const PersistentTreeOptions& options,
                                                   const std::string& path,
                                                   SplitStrategy strategy) {
  if (options.comparator == nullptr)
    return Status::InvalidArgument(path, "PersistentTreeOptions::comparator is null");
  ASHLAR_ASSIGN_OR_RETURN(std::unique_ptr<Medium> medium, OpenMedium(options, path));
  TreeConfig config;
  config.recovery.comparator = options.comparator;
  config.recovery.split_strategy = strategy;
  config.recovery.threads = ChooseRecoveryThreads(options);
  return OpenTree(std::move(medium), std::move(config));
}

}  // namespace pmem

Status PersistentTree::Open(const PersistentTreeOptions& options, const std::string& path,
                            std::unique_ptr<PersistentTree>* tree) try {
  tree->reset();
  ASHLAR_ASSIGN_OR_RETURN(*tree,
                          pmem::OpenTreeAt(options, path, pmem::SplitStrategy::kZeroCopySwap));
  return Status::OK();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

}  // namespace ashlar
