#include "lsm/reader.h"

#include <algorithm>
#include <utility>

#include "base/result.h"
#include "iterate/level_cursor.h"
#include "iterate/merging_cursor.h"
#include "memtable/memtable_cursor.h"

namespace ashlar {

namespace {

TableReadOptions ToTableReadOptions(const ReadOptions& options) {
  return TableReadOptions{.verify_checksums = options.verify_checksums,
                          .fill_cache = options.fill_cache,
                          .readahead_bytes = options.readahead_size,
                          .cached_only = options.read_tier == kBlockCacheTier};
}

// Lookups of a MultiGet that go through the tables together: enough to keep the memory busy, few enough to stay in the nearest cache.
constexpr size_t kLookupsAtOnce = 32;

Status CheckReadOptions(const ReadOptions& options) {
  if (options.read_tier == kPersistedTier || options.read_tier == kMemtableTier) {
    return Status::NotSupported("ReadOptions::read_tier kPersistedTier and kMemtableTier are not implemented; use kReadAllTier or kBlockCacheTier");
  }
  if (options.table_filter) return Status::NotSupported("ReadOptions::table_filter is not implemented; leave it empty");
  if (options.tailing) return Status::NotSupported("ReadOptions::tailing is not implemented; use Iterator::Refresh");
  return Status::OK();
}

// Null: every seek is in total order.
std::unique_ptr<SeekPrefix> NewSeekPrefix(const ReadOptions& options, const KeyComparator& comparator, const SliceTransform* prefix_extractor) {
  if (prefix_extractor == nullptr || options.total_order_seek) return nullptr;
  return std::make_unique<SeekPrefix>(SeekPrefix::Args{.comparator = comparator,
                                                       .transform = prefix_extractor,
                                                       .upper_bound = options.iterate_upper_bound,
                                                       .scope_max = options.auto_prefix_mode ? SeekScope::kTotalOrder : SeekScope::kPrefix});
}

void ReleaseView(void* view, void*) {
  static_cast<ReadView*>(view)->pins.Release();
  EpochReclaim();
}
constexpr PinOps kViewPin{.acquire = [](void* view) { static_cast<ReadView*>(view)->pins.Acquire(); }, .release = &ReleaseView};

}  // namespace

void Reader::SearchMemTables(const ReadView& view, Lookup* lookup) const {
  view.active->Get(lookup);
  for (const MemTableRef& table : view.immutable) {
    if (lookup->Done()) break;
    table->Get(lookup);
  }
  state_->recorder.Tick(lookup->Done() ? MEMTABLE_HIT : MEMTABLE_MISS);
}

Status Reader::Get(const ReadOptions& options, ColumnFamily* family, const Slice& key, PinnableSlice* value) const {
  ASHLAR_RETURN_IF_ERROR(CheckReadOptions(options));
  value->Reset();
  const EpochGuard guard;
  const ReadView* const view = family->view();
  const SequenceNumber sequence = options.snapshot != nullptr ? options.snapshot->GetSequenceNumber() : state_->PublishedSequence();
  Lookup lookup(Lookup::Args{.user_key = key, .snapshot = sequence, .merge_operator = family->merge_operator()});
  SearchMemTables(*view, &lookup);
  if (!lookup.Done()) view->version->Get(ToTableReadOptions(options), family->tables(), &lookup);
  Status status = lookup.Finish(value);
  if (state_->recorder.IsOn()) {
    state_->recorder.Tick(NUMBER_KEYS_READ);
    state_->recorder.Tick(BYTES_READ, value->size());
  }
  return status;
}

template <typename FamilyPointer>
Reader::Views Reader::TakeViews(const ReadOptions& options, std::span<const FamilyPointer> families) const {
  Views taken{.views = std::vector<ReadView*>(families.size())};
  for (bool settled = false; !settled;) {
    for (size_t i = 0; i < families.size(); ++i) {
      taken.views[i] = i > 0 && families[i] == families[i - 1] ? taken.views[i - 1] : families[i]->view();
    }
    taken.sequence = options.snapshot != nullptr ? options.snapshot->GetSequenceNumber() : state_->PublishedSequence();
    settled = true;
    for (size_t i = 0; i < families.size() && settled; ++i) settled = taken.views[i] == families[i]->view();
  }
  return taken;
}

void Reader::MultiGet(const ReadOptions& options, const MultiGetRequest& request) const {
  const Status checked = CheckReadOptions(options);
  const EpochGuard guard;
  const auto [views, sequence] = TakeViews(options, request.families);
  state_->recorder.Tick(NUMBER_MULTIGET_CALLS);
  state_->recorder.Tick(NUMBER_MULTIGET_KEYS_READ, views.size());
  const TableReadOptions table_options = ToTableReadOptions(options);
  uint64_t bytes = 0;
  std::vector<Lookup> lookups;
  lookups.reserve(std::min(views.size(), kLookupsAtOnce));
  for (size_t begin = 0; begin < views.size();) {
    // As many as one family has in a row.
    size_t end = begin + 1;
    while (end < views.size() && end - begin < kLookupsAtOnce && request.families[end] == request.families[begin]) ++end;
    const ColumnFamily& family = *request.families[begin];
    const bool wanted = checked.ok() && bytes <= options.value_size_soft_limit;
    lookups.clear();
    for (size_t i = begin; i < end && wanted; ++i) {
      lookups.emplace_back(Lookup::Args{.user_key = request.keys[i], .snapshot = sequence, .merge_operator = family.merge_operator()});
      SearchMemTables(*views[begin], &lookups.back());
    }
    if (wanted) views[begin]->version->MultiGet(table_options, family.tables(), lookups);
    for (size_t i = begin; i < end; ++i) {
      request.values[i].Reset();
      if (!checked.ok() || bytes > options.value_size_soft_limit) {
        request.statuses[i] = checked.ok() ? Status::Aborted("ReadOptions::value_size_soft_limit was reached") : checked;
        continue;
      }
      request.statuses[i] = lookups[i - begin].Finish(&request.values[i]);
      bytes += request.values[i].size();
    }
    begin = end;
  }
}

Reader::ExistsAnswer Reader::KeyMayExist(const ReadOptions& options, ColumnFamily* family, const Slice& key, PinnableSlice* value) const {
  ReadOptions memory_only = options;
  memory_only.read_tier = kBlockCacheTier;
  PinnableSlice found;
  const Status status = Get(memory_only, family, key, value != nullptr ? value : &found);
  if (status.ok()) return {.may_exist = true, .value_found = true};
  return {.may_exist = !status.IsNotFound(), .value_found = false};
}

// ---- Iterators.

IteratorSource Reader::MakeSource(const ReadOptions& options, const ColumnFamily& family, ReadView* view, SequenceNumber sequence) const {
  const SliceTransform* const prefix_extractor = view->prefix_extractor.get();
  std::unique_ptr<SeekPrefix> seek_prefix = NewSeekPrefix(options, family.comparator(), prefix_extractor);
  std::vector<std::unique_ptr<InternalCursor>> children;
  const auto add_memtable = [&](const MemTable& table) {
    children.push_back(std::make_unique<MemTableCursor>(&table, MemTableCursor::Hold::kBorrowed, seek_prefix.get()));
  };
  if (!view->active->IsEmpty()) add_memtable(*view->active);
  for (const MemTableRef& table : view->immutable) add_memtable(*table);
  const Version& version = *view->version;
  TableReadOptions read_options = ToTableReadOptions(options);
  read_options.seek_prefix = seek_prefix.get();
  const LevelCursorArgs base{.comparator = family.comparator(),
                             .files = {},
                             .opener = family.tables(),
                             .read_options = read_options,
                             .lower_bound = options.iterate_lower_bound,
                             .upper_bound = options.iterate_upper_bound};
  for (Level level = 0; level < version.levels(); ++level) {
    const std::span<FileMetaData* const> files = version.files(level);
    // Files of level 0 overlap: each is a sorted run of its own.
    const size_t run = level == 0 ? 1 : std::max<size_t>(files.size(), 1);
    for (size_t begin = 0; begin < files.size(); begin += run) {
      LevelCursorArgs args = base;
      args.files = files.subspan(begin, run);
      children.push_back(std::make_unique<LevelCursor>(args));
    }
  }
  return IteratorSource{.keep_alive = Pin(&kViewPin, view),
                        .prefix_extractor = prefix_extractor,
                        .seek_prefix = std::move(seek_prefix),
                        .cursor = NewMergingCursor(family.comparator(), std::move(children)),
                        .sequence = sequence,
                        .view_number = view->number};
}

void Reader::IteratorIsGone(void* state, void* background) {
  auto* const database = static_cast<DatabaseState*>(state);
  if (database->obsolete_tables.Some()) static_cast<BackgroundWork*>(background)->DeleteObsoleteFiles();
  database->live_iterators.fetch_sub(1, std::memory_order_relaxed);
}

std::unique_ptr<Iterator> Reader::NewIteratorOnView(const ReadOptions& options, const std::shared_ptr<ColumnFamily>& family, ReadView* view,
                                                    SequenceNumber sequence) const {
  // An empty active memtable is left out of the source, and the cursors of some do not see what comes later; then a refresh cannot reuse it.
  const auto is_complete = [](const MemTable& active) { return !active.IsEmpty() && active.CursorsFollow(); };
  RefreshFunction refresh = [this, options, family, is_complete, complete = is_complete(*view->active)](
                                const Snapshot* snapshot, IteratorSource old) mutable -> Result<IteratorSource> {
    const EpochGuard guard;
    ReadView* const current = family->view();
    const SequenceNumber newest = snapshot != nullptr ? snapshot->GetSequenceNumber() : state_->PublishedSequence();
    if (complete && current->number == old.view_number) {
      old.sequence = newest;
      return old;
    }
    complete = is_complete(*current->active);
    current->pins.Acquire();
    return MakeSource(options, *family, current, newest);
  };
  UserIteratorArgs args{.comparator = family->comparator(),
                        .merge_operator = family->merge_operator(),
                        .lower_bound = options.iterate_lower_bound,
                        .upper_bound = options.iterate_upper_bound,
                        .prefix_same_as_start = options.prefix_same_as_start,
                        .max_sequential_skip = family->max_sequential_skip(),
                        .max_skippable_entries = options.max_skippable_internal_keys,
                        .refresh = std::move(refresh),
                        .source = MakeSource(options, *family, view, sequence)};
  auto iterator = std::make_unique<UserIterator>(std::move(args));
  state_->live_iterators.fetch_add(1, std::memory_order_relaxed);
  iterator->RegisterCleanup(&Reader::IteratorIsGone, state_, background_);
  return iterator;
}

Status Reader::NewIterators(const ReadOptions& options, std::span<const std::shared_ptr<ColumnFamily>> families,
                            std::vector<std::unique_ptr<Iterator>>* iterators) const {
  ASHLAR_RETURN_IF_ERROR(CheckReadOptions(options));
  const EpochGuard guard;
  const auto [views, sequence] = TakeViews(options, families);
  for (size_t i = 0; i < views.size(); ++i) {
    views[i]->pins.Acquire();
    iterators->push_back(NewIteratorOnView(options, families[i], views[i], sequence));
  }
  return Status::OK();
}

}  // namespace ashlar
