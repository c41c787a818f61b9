#include "lsm/reader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/assert.h"
#include "base/fixed_vector.h"
#include "base/result.h"
#include "execute/read_guard.h"
#include "iterate/level_cursor.h"
#include "iterate/merging_cursor.h"
#include "iterate/undeleted_cursor.h"
#include "memtable/memtable_cursor.h"
#include "observe/observed.h"
#include "observe/perf.h"

namespace ashlar {

namespace {

// guard: the guard of the lookup, or null for a cursor.
TableReadOptions ToTableReadOptions(const ReadOptions& options, ReadGuard* guard) {
  return TableReadOptions{.verify_checksums = options.verify_checksums,
                          .fill_cache = options.fill_cache,
                          .cached_only = options.read_tier == kBlockCacheTier,
                          .readahead_bytes = options.readahead_size,
                          .guard = guard};
}

Status TailOfSnapshotError() {
  return Status::InvalidArgument(
      "an iterator with ReadOptions::tailing shows the newest state, and none of a snapshot");
}

Status CheckIteratorOptions(const ReadOptions& options) {
  if (options.read_tier == kPersistedTier) {
    return Status::NotSupported(
        "iterators do not serve ReadOptions::read_tier kPersistedTier; Get and MultiGet do");
  }
  if (options.tailing && options.snapshot != nullptr) return TailOfSnapshotError();
  return Status::OK();
}

RenewedBy RenewalOf(const ReadOptions& options) {
  if (options.tailing) return RenewedBy::kTailing;
  return options.auto_refresh_iterator_with_snapshot ? RenewedBy::kNewerView : RenewedBy::kNothing;
}

// Returns null if every seek is in total order.
std::unique_ptr<SeekPrefix> NewSeekPrefix(const ReadOptions& options, bool opt_in_only,
                                          const KeyComparator& comparator,
                                          const SliceTransform* prefix_extractor) {
  if (prefix_extractor == nullptr || options.total_order_seek) return nullptr;
  if (opt_in_only && !options.auto_prefix_mode && !options.prefix_same_as_start) return nullptr;
  return std::make_unique<SeekPrefix>(SeekPrefix::Args{
      .comparator = comparator,
      .transform = prefix_extractor,
      .upper_bound = options.iterate_upper_bound,
      .scope_max = options.auto_prefix_mode ? SeekScope::kTotalOrder : SeekScope::kPrefix});
}

// Requires: the lookup has operands.
void NoteThreshold(const ReadOptions& options, const Lookup& lookup, Status* status) {
  ASHLAR_DCHECK(lookup.HasOperands());  // Requires
  if (!options.merge_operand_count_threshold.has_value() || !status->ok()) return;
  if (lookup.operand_count() > *options.merge_operand_count_threshold)
    *status = Status::OkMergeOperandThresholdExceeded();
}

// The two classes below observe one lookup. There are two, so that a lookup without statistics and
// PerfContext pays nothing.
class NoObserver {
 public:
  void AfterMemTables(const Lookup&) {}
  void AfterTables(const Lookup&, const Version&, const LevelFiles*) {}
  void AtEnd(const Recorder&, const PinnableSlice&) {}
};

class LookupObserver {
 public:
  explicit LookupObserver(const Recorder& recorder)
      : recorder_(recorder),
        watch_(recorder, DB_GET),
        start_nanos_(PerfTimes() ? MonotonicNanos() : 0) {}

  void AfterMemTables(const Lookup& lookup) {
    recorder_.Tick(lookup.Done() ? MEMTABLE_HIT : MEMTABLE_MISS);
    AddTime(&PerfContext::get_from_memtable_time);
  }
  void AfterTables(const Lookup& lookup, const Version& version, const LevelFiles* found_in) {
    AddTime(&PerfContext::get_from_output_files_time);
    if (found_in == nullptr || lookup.state() != Lookup::State::kFound) return;
    const Level level = version.LevelOf(found_in);
    recorder_.Tick(level == 0 ? GET_HIT_L0 : level == 1 ? GET_HIT_L1 : GET_HIT_L2_AND_UP);
  }
  void AtEnd(const Recorder& recorder, const PinnableSlice& value) {
    recorder.Tick(NUMBER_KEYS_READ);
    recorder.Tick(BYTES_READ, value.size());
    recorder.Record(BYTES_PER_READ, value.size());
  }

 private:
  void AddTime(uint64_t PerfContext::* time) {
    if (start_nanos_ == 0) return;
    const uint64_t now_nanos = MonotonicNanos();
    get_perf_context()->*time += now_nanos - start_nanos_;
    start_nanos_ = now_nanos;
  }

  const Recorder& recorder_;
  StopWatch watch_;
  uint64_t start_nanos_;  // of the current step; 0: times are not measured
};

// Whether the view's sources may have range tombstones that are visible to a read that begins now.
bool MemTablesHaveRanges(const ReadView& view) {
  const auto has_ranges = [](const auto& table) { return table->HasRangeDeletions(); };
  return view.active->HasRangeDeletions() ||
         std::any_of(view.immutable.begin(), view.immutable.end(), has_ranges);
}
bool MayHaveRanges(const ReadView& view) {
  return MemTablesHaveRanges(view) || view.version->MayHaveRanges();
}

// Deletes the files that only released views kept. Requires: the views are released.
void DeleteFilesOfViews(BackgroundWork* background) {
  background->files().DeleteObsoleteFilesIfAny();
}

// Calls the function for each view, and only once for adjacent equal views.
template <typename Function>
void ForEachView(std::span<ReadView* const> views, const Function& function) {
  for (size_t i = 0; i < views.size(); ++i) {
    if (i == 0 || views[i] != views[i - 1]) function(views[i]);
  }
}

}  // namespace

const PinOps Reader::ViewRoot::kPinOps = {
    .acquire = [](void* root) { static_cast<ViewRoot*>(root)->view->pins.Acquire(); },
    .release =
        [](void* owner, void*) {
          const ViewRoot& root = *static_cast<ViewRoot*>(owner);
          ReadView::kPinOps.release(root.view, nullptr);
          DeleteFilesOfViews(root.reader->background_);
        },
};

const PinOps Reader::ViewsRoot::kPinOps = {
    .acquire =
        [](void* root) {
          ForEachView(static_cast<ViewsRoot*>(root)->views,
                      [](ReadView* view) { view->pins.Acquire(); });
        },
    .release =
        [](void* owner, void*) {
          const ViewsRoot& root = *static_cast<ViewsRoot*>(owner);
          ForEachView(root.views, [](ReadView* view) { ReadView::kPinOps.release(view, nullptr); });
          DeleteFilesOfViews(root.reader->background_);
        },
};

ViewOfCall::~ViewOfCall() {
  view_.TakePin().Release();
  DeleteFilesOfViews(background_);
}

namespace {

void SearchMemTable(const MemTable& table, Lookup* lookup) {
  if (!table.HasRangeDeletions()) [[likely]] {
    return table.Get(lookup);
  }
  lookup->RaiseCoveringSequence(table.CoveringSequence(lookup->user_key(), lookup->snapshot()));
  table.Get(lookup);
  lookup->EndIfCovered();
}

}  // namespace

bool Reader::SkipsMemTables(const ReadOptions& options) const {
  return options.read_tier == kPersistedTier &&
         state_->unlogged_writes.load(std::memory_order_relaxed);
}

void Reader::SearchMemTables(const ReadView& view, Lookup* lookup) const {
  // The sequences visible to the lookup were published after the memtable counted their entries.
  if (!view.active->IsEmpty()) SearchMemTable(*view.active, lookup);
  for (const MemTableRef& table : view.immutable) {
    if (lookup->Done()) break;
    SearchMemTable(*table, lookup);
  }
}

Status Reader::Get(const ReadOptions& options, ColumnFamily* family, const Slice& key,
                   PinnableSlice* value) const {
  if (!Observed(state_->recorder)) [[likely]] {
    NoObserver nobody;
    return LookUp(options, family, key, value, &nobody);
  }
  LookupObserver observer(state_->recorder);
  return LookUp(options, family, key, value, &observer);
}

template <typename Load>
auto Reader::TakeInOneState(const Load& load) const {
  if (!state_->is_secondary()) [[likely]]
    return load();
  const uint64_t before = state_->secondary_installs.load(std::memory_order_acquire);
  if (before % 2 == 0) {
    auto taken = load();
    if (state_->secondary_installs.load(std::memory_order_relaxed) == before) return taken;
  }
  MutexLock lock(state_->mutex());
  return load();
}

Reader::ViewAtSequence Reader::LoadView(const ColumnFamily& family,
                                        const Snapshot* snapshot) const {
  ReadView* const view = family.view();
  return {.view = view,
          .sequence =
              snapshot != nullptr ? snapshot->GetSequenceNumber() : state_->PublishedSequence()};
}

Reader::ViewAtSequence Reader::TakeView(const ColumnFamily& family,
                                        const Snapshot* snapshot) const {
  return TakeInOneState([&] { return LoadView(family, snapshot); });
}

Reader::ViewAtSequence Reader::LoadViewOfMoment(const ColumnFamily& family,
                                                const Snapshot* snapshot) const {
  for (;;) {
    const ViewAtSequence taken = LoadView(family, snapshot);
    if (snapshot != nullptr || taken.view == family.view()) [[likely]]
      return taken;
  }
}

void Reader::SearchAgainIfReplaced(const ReadOptions& options, const ColumnFamily& family,
                                   ViewRoot* root, Lookup* lookup) const {
  while (lookup->HasOperands() && options.snapshot == nullptr && root->view != family.view()) {
    const ViewAtSequence later = TakeView(family, nullptr);
    root->view = later.view;
    lookup->Restart(later.sequence);
    SearchMemTables(*root->view, lookup);
  }
}

template <typename Observer>
Lookup Reader::Search(const ReadOptions& options, ColumnFamily* family, const Slice& key,
                      const MergeOperator* merge_operator, Observer* observer) const {
  ViewRoot root;
  ReadGuard guard(state_->epochs);
  const auto [view, sequence] = TakeView(*family, options.snapshot);
  root = {.reader = this, .view = view};
  guard.SetRoot({&ViewRoot::kPinOps, &root});
  Lookup lookup(
      Lookup::Args{.user_key = key, .snapshot = sequence, .merge_operator = merge_operator});
  if (options.ignore_range_deletions) [[unlikely]]
    lookup.IgnoreRanges();
  if (!SkipsMemTables(options)) [[likely]] {
    SearchMemTables(*view, &lookup);
    if (lookup.HasOperands()) [[unlikely]]
      SearchAgainIfReplaced(options, *family, &root, &lookup);
  }
  observer->AfterMemTables(lookup);
  if (!lookup.Done()) {
    const LevelFiles* const found_in =
        root.view->version->Get(ToTableReadOptions(options, &guard), family->tables(), &lookup);
    observer->AfterTables(lookup, *root.view->version, found_in);
  }
  return lookup;
}

template <typename Observer>
Status Reader::LookUp(const ReadOptions& options, ColumnFamily* family, const Slice& key,
                      PinnableSlice* value, Observer* observer) const {
  value->Reset();
  Lookup lookup = Search(options, family, key, family->merge_operator(), observer);
  ASHLAR_DCHECK(state_->WasPublished(lookup.snapshot()));  // I3 of database_state.h
  Status status = lookup.Finish(state_->recorder, state_->logger.get(), value);
  if (lookup.HasOperands()) [[unlikely]]
    NoteThreshold(options, lookup, &status);
  PerfCount(&PerfContext::get_from_memtable_count);
  PerfCount(&PerfContext::get_read_bytes, value->size());
  observer->AtEnd(state_->recorder, *value);
  return status;
}

namespace {

// Replaces the merge operator in a lookup of GetMergeOperands, which calls only ShouldMerge.
class ContinueOperator final : public MergeOperator {
 public:
  explicit ContinueOperator(const GetMergeOperandsOptions::ContinueCallback& callback)
      : callback_(callback) {}
  const char* Name() const override { return "ContinueOperator"; }
  bool ShouldMerge(const std::vector<Slice>& operands) const override {
    return !callback_(operands.back());
  }

 private:
  const GetMergeOperandsOptions::ContinueCallback& callback_;
};

class SequenceSnapshot final : public Snapshot {
 public:
  explicit SequenceSnapshot(SequenceNumber sequence) : sequence_(sequence) {}
  SequenceNumber GetSequenceNumber() const override { return sequence_; }
  int64_t GetUnixTime() const override { return 0; }

 private:
  const SequenceNumber sequence_;
};

}  // namespace

Status Reader::GetMergeOperands(const ReadOptions& options, ColumnFamily* family, const Slice& key,
                                const GetMergeOperandsOptions& wanted, PinnableSlice* operands,
                                int* count) const {
  const auto room = static_cast<size_t>(wanted.expected_max_number_of_operands);
  for (size_t i = 0; i < room; ++i) operands[i].Reset();
  const ContinueOperator until(wanted.continue_cb);
  NoObserver nobody;
  Lookup lookup = Search(options, family, key, wanted.continue_cb ? &until : nullptr, &nobody);
  ASHLAR_DCHECK(state_->WasPublished(lookup.snapshot()));  // I3 of database_state.h
  size_t found = 0;
  ASHLAR_RETURN_IF_ERROR(lookup.FinishOperands({operands, room}, &found));
  *count = static_cast<int>(found);
  if (found <= room) return Status::OK();
  return Status::Error(Status::kIncomplete, Status::KMergeOperandsInsufficientCapacity,
                       "the key has more merge operands than expected_max_number_of_operands");
}

Status Reader::GetUnpublished(const ReadOptions& options, ColumnFamily* family, const Slice& key,
                              SequenceNumber sequence, PinnableSlice* value) const {
  const SequenceSnapshot snapshot(sequence);
  ReadOptions at_sequence = options;
  at_sequence.snapshot = &snapshot;
  NoObserver nobody;
  return Search(at_sequence, family, key, family->merge_operator(), &nobody)
      .Finish(state_->recorder, state_->logger.get(), value);
}

template <typename FamilyPointer>
Reader::Views Reader::TakeViews(const ReadOptions& options,
                                std::span<const FamilyPointer> families) const {
  constexpr int kLoadsWithoutMutex = 8;
  Views taken{.views = std::vector<ReadView*>(families.size())};
  for (int i = 0; i < kLoadsWithoutMutex; ++i) {
    if (TakeInOneState([&] { return LoadViews(options, families, &taken); })) return taken;
  }
  // Called before the mutex is taken, because the snapshot may be an object of the program. It is
  // older than the call, and so is everything that it sees.
  if (options.snapshot != nullptr) taken.sequence = options.snapshot->GetSequenceNumber();
  MutexLock lock(state_->mutex());  // no view is replaced
  for (size_t i = 0; i < families.size(); ++i) taken.views[i] = families[i]->view();
  if (options.snapshot == nullptr) taken.sequence = state_->PublishedSequence();
  ASHLAR_DCHECK(state_->WasPublished(taken.sequence));  // I3 of database_state.h
  return taken;
}

template <typename FamilyPointer>
bool Reader::LoadViews(const ReadOptions& options, std::span<const FamilyPointer> families,
                       Views* taken) const {
  std::vector<ReadView*>& views = taken->views;
  for (size_t i = 0; i < families.size(); ++i)
    views[i] = i > 0 && families[i] == families[i - 1] ? views[i - 1] : families[i]->view();
  taken->sequence = options.snapshot != nullptr ? options.snapshot->GetSequenceNumber()
                                                : state_->PublishedSequence();
  for (size_t i = 0; i < families.size(); ++i) {
    if (views[i] != families[i]->view()) return false;
  }
  ASHLAR_DCHECK(state_->WasPublished(taken->sequence));  // I3 of database_state.h
  return true;
}

void Reader::MultiGet(const ReadOptions& options, const MultiGetRequest& request) const {
  const StopWatch watch(state_->recorder, DB_MULTIGET);
  ASHLAR_DCHECK(request.families.size() == request.keys.size());  // one per key
  for (size_t i = 0; i < request.keys.size(); ++i) request.values[i].Reset();
  ViewsRoot root{.reader = this, .views = {}};
  Views taken;
  ReadGuard guard(state_->epochs);
  taken = TakeViews(options, request.families);
  root.views = taken.views;
  guard.SetRoot({&ViewsRoot::kPinOps, &root});
  const std::vector<ReadView*>& views = taken.views;
  const bool observed = Observed(state_->recorder);
  const bool skips_memtables = SkipsMemTables(options);
  const TableReadOptions table_options = ToTableReadOptions(options, &guard);
  uint64_t bytes = 0;
  FixedVector<Lookup, Version::kLookupsMax> lookups;
  for (size_t begin = 0; begin < views.size();) {
    // The adjacent keys of one family, up to kLookupsMax.
    size_t end = begin + 1;
    while (end < views.size() && end - begin < Version::kLookupsMax &&
           request.families[end] == request.families[begin])
      ++end;
    const ColumnFamily& family = *request.families[begin];
    const bool wanted = bytes <= options.value_size_soft_limit;
    for (size_t i = begin; i < end && wanted; ++i) {
      lookups.emplace_back(Lookup::Args{.user_key = request.keys[i],
                                        .snapshot = taken.sequence,
                                        .merge_operator = family.merge_operator()});
      if (options.ignore_range_deletions) lookups.back().IgnoreRanges();
      if (!skips_memtables) SearchMemTables(*views[begin], &lookups.back());
      if (observed) state_->recorder.Tick(lookups.back().Done() ? MEMTABLE_HIT : MEMTABLE_MISS);
    }
    ASHLAR_DCHECK(lookups.size() == (wanted ? end - begin : 0));  // one per key of the run
    if (wanted) views[begin]->version->MultiGet(table_options, family.tables(), lookups);
    // A merge runs code of the program, so the guard is paused.
    std::optional<ReadGuard::Pause> pause;
    if (std::any_of(lookups.begin(), lookups.end(),
                    [](const Lookup& lookup) { return lookup.HasOperands(); }))
      pause.emplace(&guard);
    for (size_t i = begin; i < end; ++i) {
      if (bytes > options.value_size_soft_limit) {
        request.statuses[i] = Status::Aborted(
            "ReadOptions::value_size_soft_limit was reached; read the rest of the keys in another "
            "call, or raise it");
        continue;
      }
      ASHLAR_DCHECK(i - begin < lookups.size());  // bytes only grew: the run was wanted
      Lookup& lookup = lookups[i - begin];
      request.statuses[i] =
          lookup.Finish(state_->recorder, state_->logger.get(), &request.values[i]);
      if (lookup.HasOperands()) NoteThreshold(options, lookup, &request.statuses[i]);
      bytes += request.values[i].size();
    }
    lookups.clear();
    begin = end;
  }
  PerfCount(&PerfContext::multiget_read_bytes, bytes);
  if (observed) CountMultiGet(request);
}

void Reader::CountMultiGet(const MultiGetRequest& request) const {
  uint64_t found = 0;
  uint64_t bytes = 0;
  for (size_t i = 0; i < request.keys.size(); ++i) {
    if (!request.statuses[i].ok()) continue;
    ++found;
    bytes += request.values[i].size();
  }
  const Recorder& recorder = state_->recorder;
  recorder.Tick(NUMBER_MULTIGET_CALLS);
  recorder.Tick(NUMBER_MULTIGET_KEYS_READ, request.keys.size());
  recorder.Tick(NUMBER_MULTIGET_KEYS_FOUND, found);
  recorder.Tick(NUMBER_MULTIGET_BYTES_READ, bytes);
  recorder.Record(BYTES_PER_MULTIGET, bytes);
}

Reader::ExistsAnswer Reader::KeyMayExist(const ReadOptions& options, ColumnFamily* family,
                                         const Slice& key, PinnableSlice* value) const {
  ReadOptions memory_only = options;
  memory_only.read_tier = kBlockCacheTier;
  PinnableSlice found;
  const Status status = Get(memory_only, family, key, value != nullptr ? value : &found);
  if (status.ok()) return {.may_exist = true, .decided = true};
  return {.may_exist = !status.IsNotFound(), .decided = status.IsNotFound()};
}

// ---- Iterators.

IteratorSource Reader::MakeSource(const ReadOptions& options, const ColumnFamily& family,
                                  ViewRef view, SequenceNumber sequence) const {
  const SliceTransform* const prefix_extractor = view->prefix_extractor.get();
  std::unique_ptr<SeekPrefix> seek_prefix = NewSeekPrefix(
      options, state_->options.prefix_seek_opt_in_only, family.comparator(), prefix_extractor);
  const Version& version = *view->version;
  const bool only_memtables = options.read_tier == kMemtableTier;
  const Level levels = only_memtables ? 0 : version.levels();
  std::vector<std::unique_ptr<InternalCursor>> children;
  children.reserve(1 + view->immutable.size() + version.files(0).size() +
                   static_cast<size_t>(version.levels()));
  TableReadOptions read_options = ToTableReadOptions(options, nullptr);
  std::optional<RangeCover> cover;   // none: nothing has range tombstones, or they are ignored
  std::unique_ptr<bool> met_ranges;  // with cover
  if (!options.ignore_range_deletions && MayHaveRanges(*view.get())) {
    cover.emplace(RangeCover::Args{.comparator = family.comparator(),
                                   .tables = family.tables(),
                                   .read_options = read_options,
                                   .visible = sequence});
    met_ranges = std::make_unique<bool>(MemTablesHaveRanges(*view.get()));
  }
  const auto add_memtable = [&](const MemTable& table) {
    if (cover) cover->AddMemTable(&table);
    children.push_back(std::make_unique<MemTableCursor>(&table, MemTableCursor::PinMode::kBorrowed,
                                                        seek_prefix.get()));
  };
  if (!view->active->IsEmpty()) add_memtable(*view->active);
  for (const MemTableRef& table : view->immutable) add_memtable(*table);
  read_options.seek_prefix = seek_prefix.get();
  if (options.table_filter) read_options.table_filter = &options.table_filter;
  const LevelCursorArgs base{.comparator = family.comparator(),
                             .files = {},
                             .opener = family.tables(),
                             .read_options = read_options,
                             .lower_bound = options.iterate_lower_bound,
                             .upper_bound = options.iterate_upper_bound,
                             .met_ranges = met_ranges.get()};
  for (Level level = 0; level < levels; ++level) {
    const std::span<FileMetaData* const> files = version.files(level);
    const size_t run = IsSorted(level) ? std::max<size_t>(files.size(), 1) : 1;
    for (size_t begin = 0; begin < files.size(); begin += run) {
      LevelCursorArgs args = base;
      args.files = files.subspan(begin, run);
      if (cover) cover->AddFiles(args.files);
      children.push_back(std::make_unique<LevelCursor>(args));
    }
  }
  // A gap may consist of range deletions only. It holds for all tables, including those that a
  // filter leaves out.
  const bool uses_gaps = seek_prefix == nullptr && family.remembers_gaps() &&
                         !options.ignore_range_deletions && !only_memtables &&
                         !options.table_filter;
  const MemTable* const gaps = uses_gaps ? view->active.get() : nullptr;
  std::unique_ptr<InternalCursor> cursor;
  UndeletedCursor* undeleted = nullptr;
  if (cover && !children.empty()) {
    auto made = std::make_unique<UndeletedCursor>(
        UndeletedCursor::Args{.comparator = family.comparator(),
                              .children = std::move(children),
                              .cover = std::move(*cover),
                              .met_ranges = std::move(met_ranges),
                              .seek_prefix = seek_prefix.get(),
                              .lower_bound = options.iterate_lower_bound,
                              .upper_bound = options.iterate_upper_bound,
                              .gaps = gaps});
    undeleted = made.get();
    cursor = std::move(made);
  } else {
    cursor = NewMergingCursor(family.comparator(), std::move(children));
  }
  const uint64_t view_number = view->number;
  return IteratorSource{.keep_alive = view.TakePin(),
                        .prefix_extractor = prefix_extractor,
                        .seek_prefix = std::move(seek_prefix),
                        .cursor = std::move(cursor),
                        .undeleted = undeleted,
                        .sequence = sequence,
                        .gaps = gaps,
                        .view_number = view_number};
}

// The successive views of one iterator.
class Reader::ViewRenewal final : public SourceRenewal {
 public:
  // view: the view of the first source.
  ViewRenewal(const Reader* reader, const ReadOptions& options,
              std::shared_ptr<ColumnFamily> family, const ReadView* view)
      : reader_(reader),
        options_(options),
        family_(std::move(family)),
        view_(view),
        follows_(FollowsWrites(*view)) {}

  // The options of every source of the iterator. They outlive the sources.
  const ReadOptions& options() const { return options_; }
  bool IsDue() const override { return family_->view() != view_; }

  Result<bool> Renew(const Request& request, IteratorSource* source) override {
    if (options_.tailing && request.snapshot != nullptr) return TailOfSnapshotError();
    ViewAtSequence taken;
    {
      const EpochGuard guard(reader_->state_->epochs);
      taken = reader_->TakeInOneState(
          [&] { return reader_->LoadViewOfMoment(*family_, request.snapshot); });
      ASHLAR_DCHECK(taken.view->number >= source->view_number);  // views only become newer
      if (taken.view == view_ && taken.sequence == source->sequence) return false;
      if (taken.view == view_ && follows_ && !MayHaveRanges(*taken.view)) {
        source->sequence = taken.sequence;
        return true;
      }
      if (request.in_walk && taken.view->prefix_extractor.get() != source->prefix_extractor)
        return false;
      taken.view->pins.Acquire();
    }
    ViewRef renewed(taken.view);
    const bool follows = FollowsWrites(*taken.view);  // before the source is made
    {
      // The replaced cursors are destroyed before their view.
      const IteratorSource replaced = std::exchange(
          *source, reader_->MakeSource(options_, *family_, std::move(renewed), taken.sequence));
    }
    view_ = taken.view;
    follows_ = follows;
    DeleteFilesOfViews(reader_->background_);
    return true;
  }

 private:
  // Whether a source over the view serves later sequences, too. An empty active memtable is not
  // part of the source, and the cursors of some kinds do not see later entries. A source with range
  // tombstones is for one sequence only.
  static bool FollowsWrites(const ReadView& view) {
    return !view.active->IsEmpty() && view.active->CursorsFollow() && !MayHaveRanges(view);
  }

  const Reader* const reader_;
  const ReadOptions options_;
  const std::shared_ptr<ColumnFamily> family_;
  const ReadView* view_;  // the source pins it, so another view has another address
  bool follows_;
};

void Reader::IteratorIsGone(void* state, void* background) {
  auto* const database = static_cast<DatabaseState*>(state);
  DeleteFilesOfViews(static_cast<BackgroundWork*>(background));
  database->recorder.Tick(NO_ITERATOR_DELETED);
  const int64_t before = database->live_iterators.fetch_sub(1, std::memory_order_release);
  ASHLAR_ASSERT(before > 0);  // a live iterator keeps the core (LsmCore::IsInUse)
}

std::unique_ptr<Iterator> Reader::NewIteratorOnView(const ReadOptions& options,
                                                    const std::shared_ptr<ColumnFamily>& family,
                                                    ViewRef view, SequenceNumber sequence) const {
  auto renewal = std::make_unique<ViewRenewal>(this, options, family, view.get());
  const ReadOptions& kept_options = renewal->options();
  UserIteratorArgs args{.comparator = family->comparator(),
                        .merge_operator = family->merge_operator(),
                        .lower_bound = options.iterate_lower_bound,
                        .upper_bound = options.iterate_upper_bound,
                        .prefix_same_as_start = options.prefix_same_as_start,
                        .max_sequential_skip = family->max_sequential_skip(),
                        .max_skippable_entries = options.max_skippable_internal_keys,
                        .recorder = state_->recorder,
                        .logger = state_->logger.get(),
                        .renewal = std::move(renewal),
                        .renewed_by = RenewalOf(options),
                        .snapshot = options.snapshot,
                        .source = MakeSource(kept_options, *family, std::move(view), sequence)};
  auto iterator = std::make_unique<UserIterator>(std::move(args));
  state_->recorder.Tick(NO_ITERATOR_CREATED);
  state_->live_iterators.fetch_add(1, std::memory_order_relaxed);
  iterator->RegisterCleanup(&Reader::IteratorIsGone, state_, background_);
  return iterator;
}

Status Reader::NewIterator(const ReadOptions& options, const std::shared_ptr<ColumnFamily>& family,
                           std::unique_ptr<Iterator>* iterator) const {
  if (!state_->is_secondary()) [[likely]] {
    ASHLAR_RETURN_IF_ERROR(CheckIteratorOptions(options));
    ViewAtSequence taken;
    {
      const EpochGuard guard(state_->epochs);
      taken = LoadViewOfMoment(*family, options.snapshot);
      taken.view->pins.Acquire();
    }
    *iterator = NewIteratorOnView(options, family, ViewRef(taken.view), taken.sequence);
    return Status::OK();
  }
  std::vector<std::unique_ptr<Iterator>> made;
  ASHLAR_RETURN_IF_ERROR(NewIterators(options, {&family, 1}, &made));
  *iterator = std::move(made.front());
  return Status::OK();
}

Status Reader::NewIterators(const ReadOptions& options,
                            std::span<const std::shared_ptr<ColumnFamily>> families,
                            std::vector<std::unique_ptr<Iterator>>* iterators) const {
  ASHLAR_RETURN_IF_ERROR(CheckIteratorOptions(options));
  if (options.snapshot != nullptr && state_->is_secondary())
    return Status::NotSupported("ReadOptions::snapshot: a secondary has no snapshots");
  std::vector<ViewRef> views;
  views.reserve(families.size());
  SequenceNumber sequence = 0;
  {
    const EpochGuard guard(state_->epochs);
    const Views taken = TakeViews(options, families);
    sequence = taken.sequence;
    for (ReadView* const view : taken.views) {
      view->pins.Acquire();
      views.emplace_back(view);
    }
  }
  ASHLAR_DCHECK(views.size() == families.size());  // one per family
  for (size_t i = 0; i < views.size(); ++i)
    iterators->push_back(NewIteratorOnView(options, families[i], std::move(views[i]), sequence));
  return Status::OK();
}

}  // namespace ashlar
