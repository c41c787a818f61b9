#include "lsm/column_family.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/format.h"
#include "key/unknown_merge_operator.h"
#include "lsm/resolve_options.h"

namespace ashlar {

namespace {
// The size at which the active memtable is full. The blocks of an arena add up to a multiple of the
// largest size minus the smallest (memtable/arena.h). The last entries before write_buffer_size
// would open another block, and its first touch may take a huge page. Small memtables use the full
// size, because a level is rewritten for every few of them, so a smaller memtable costs more than a
// block.
size_t FullBytes(const ColumnFamilyOptions& options) {
  constexpr size_t kSmallBytes = size_t{1} << 20;
  constexpr size_t kLastEntriesBytes = size_t{8} << 10;
  if (options.write_buffer_size < kSmallBytes) return options.write_buffer_size;
  return options.write_buffer_size - (ArenaBlockPool::kBlockBytesMin + kLastEntriesBytes);
}
// Returns UINT64_MAX if the product is larger.
uint64_t MemTableLimit(const ColumnFamilyOptions& options) {
  const auto memtables = static_cast<uint64_t>(options.max_write_buffer_number);
  return options.write_buffer_size > UINT64_MAX / memtables ? UINT64_MAX
                                                            : options.write_buffer_size * memtables;
}
}  // namespace

ColumnFamily::ColumnFamily(Args args)
    : id_(args.id),
      name_(std::move(args.name)),
      comparator_(args.options.comparator),
      merge_operator_(args.options.merge_operator),
      has_compaction_filter_(args.options.compaction_filter != nullptr ||
                             args.options.compaction_filter_factory != nullptr),
      refuses_merges_(merge_operator_ == nullptr || AsUnknown(merge_operator_.get()) != nullptr),
      refuses_ranges_(WritesPlainTables(args.options)),
      user_key_bytes_(args.user_key_bytes),
      tables_(std::move(args.tables)),
      arena_blocks_(args.arena_blocks),
      epochs_(args.epochs),
      live_memtables_(args.live_memtables),
      live_views_(args.live_views),
      full_bytes_(FullBytes(args.options)),
      memtable_limit_bytes_(MemTableLimit(args.options)),
      max_sequential_skip_(args.options.max_sequential_skip_in_iterations),
      remembers_gaps_(args.options.iterators_remember_gaps),
      successive_merges_max_(args.options.max_successive_merges),
      successive_merges_read_files_(args.options.strict_max_successive_merges),
      version_(args.version),
      options_(std::move(args.options)),
      policy_(NewCompactionPolicy(args.compaction)) {
  for (const auto& [level, key] : args.compact_cursors) policy_->RestoreCursor(level, key);
  totals.levels.reserve(version_->levels());
  SetActive(NewMemTable(), args.log_number);
  active_.table->SetOlderThrough(version_->LargestSequence());
  InstallView();
  // Must be last, because a constructor that throws runs no destructor.
  version_->Ref();
}

ColumnFamily::~ColumnFamily() {
  view_.exchange(nullptr, std::memory_order_acq_rel)->Unlink();
  version_->Unref();
}

Status ColumnFamily::DroppedError() const {
  return Status::ColumnFamilyDropped(NameForDisplay(name_));
}

Status ColumnFamily::WrongKeyLength(const Slice& key) const {
  return Status::InvalidArgument(
      NameForDisplay(name_),
      StrCat("a key of ", key.size(), " bytes in a column family whose tables hold keys of ",
             user_key_bytes_, ", by PlainTableOptions::user_key_len"));
}

Status ColumnFamily::CheckRange(const Slice& begin, const Slice& end) const {
  if (refuses_ranges_)
    return Status::NotSupported(NameForDisplay(name_),
                                "a PlainTable holds no range deletions; delete the keys");
  if (!EntryFits(begin.size(), end.size())) return TooLarge(begin, end);
  if (comparator_.Compare(begin, end) > 0)
    return Status::InvalidArgument(NameForDisplay(name_),
                                   "the end of a range deletion is before its begin");
  return Status::OK();
}

Status ColumnFamily::TooLarge(const Slice& key, const Slice& value) const {
  return Status::InvalidArgument(
      NameForDisplay(name_),
      StrCat("a key of ", key.size(), " bytes and a value of ", value.size(), ": together at most ",
             kEntryBytesMax, " bytes (512 MiB); split the value"));
}

MemTableRef ColumnFamily::NewMemTable() {
  return MemTable::Create(MemTableArgs{.comparator = comparator_,
                                       .arena_blocks = arena_blocks_,
                                       .epochs = epochs_,
                                       .live_count = live_memtables_,
                                       .id = next_memtable_id_++,
                                       .prefix_extractor = options_.prefix_extractor,
                                       .shape = ResolveMemTableShape(options_)});
}

const std::shared_ptr<ColumnFamily>& FamilyTable::Search(uint32_t id) const {
  static const std::shared_ptr<ColumnFamily> kNone;
  const auto place =
      std::lower_bound(families.begin(), families.end(), id,
                       [](const auto& family, uint32_t wanted) { return family->id() < wanted; });
  return place != families.end() && (*place)->id() == id ? *place : kNone;
}

void FamilyTable::Add(std::shared_ptr<ColumnFamily> family) {
  const auto place =
      std::lower_bound(families.begin(), families.end(), family->id(),
                       [](const auto& other, uint32_t id) { return other->id() < id; });
  ASHLAR_ASSERT(place == families.end() || (*place)->id() != family->id());  // I1 of FamilyTable
  families.insert(place, std::move(family));
}

void FamilyTable::CheckInvariants() const {
  for (size_t i = 0; i < families.size(); ++i) {
    ASHLAR_ASSERT(i == 0 || families[i - 1]->id() < families[i]->id());  // I1 of FamilyTable
    ASHLAR_ASSERT(!families[i]->dropped());                              // I1 of FamilyTable
  }
}

void FamilyTable::Remove(uint32_t id) {
  std::erase_if(dropped, [](const auto& family) { return family.expired(); });
  if (const std::shared_ptr<ColumnFamily>& family = Shared(id); family != nullptr)
    dropped.push_back(family);
  std::erase_if(families, [id](const auto& family) { return family->id() == id; });
}

void FamilyTotals::CountJob(Level output_level, const TableJobStatistics& statistics) {
  if (levels.size() <= output_level) levels.resize(output_level + 1);
  OfLevel& level = levels[output_level];
  ++level.jobs;
  level.micros += statistics.micros;
  level.cpu_micros += statistics.cpu_micros;
  level.bytes_read += statistics.bytes_read;
  level.bytes_written += statistics.bytes_written;
  level.entries_in += statistics.entries.entries_in;
  level.entries_dropped += statistics.entries.entries_in -
                           std::min(statistics.entries.entries_in, statistics.entries.entries_out);
}

void ColumnFamily::SetActive(MemTableRef table, uint64_t log_number) {
  active_ = MemTableEntry{.table = std::move(table), .log_number = log_number};
  leader_active_ = active_.table.get();
  leader_log_number_ = log_number;
}

ColumnFamily::PreparedSwitch ColumnFamily::PrepareSwitch() {
  if (immutable_.size() == immutable_.capacity()) immutable_.reserve(2 * immutable_.size() + 4);
  if (spare_view_.has_value()) spare_view_->immutable.reserve(immutable_.size() + 1);
  MemTableRef fresh = NewMemTable();
  ReadView* const view = NewView(fresh, active_.table, options_.prefix_extractor);
  return PreparedSwitch(std::move(fresh), view);
}

void ColumnFamily::SwitchMemTable(PreparedSwitch prepared, uint64_t log_number) noexcept {
  ASHLAR_ASSERT(log_number >= active_.log_number);                       // I3
  ASHLAR_ASSERT(immutable_.size() < immutable_.capacity());              // PrepareSwitch
  ASHLAR_ASSERT(prepared.fresh != nullptr && prepared.view != nullptr);  // the same
  prepared.fresh->SetOlderThrough(std::max(
      {active_.table->older_through(), active_.table->last_sequence(), ingested_through_}));
  active_.table->MarkImmutable();
  immutable_.push_back(std::move(active_));
  SetActive(std::move(prepared.fresh), log_number);
  PublishView(prepared.view.release());
}

void ColumnFamily::AdvanceEmptyMemTable(uint64_t log_number) {
  if (!active_.table->IsEmpty()) return;
  ASHLAR_ASSERT(log_number >= active_.log_number);  // I3
  active_.log_number = log_number;
  leader_log_number_ = log_number;
}

ReadView* ColumnFamily::NewView(const MemTableRef& active, const MemTableRef& newest_immutable,
                                const std::shared_ptr<const SliceTransform>& prefix_extractor) {
  std::vector<MemTableRef> immutable;
  immutable.reserve(immutable_.size() + 1);
  if (newest_immutable != nullptr) immutable.push_back(newest_immutable);
  ReadView::Args args = ViewArgs(active, std::move(immutable));
  args.prefix_extractor = prefix_extractor;
  return new ReadView(std::move(args));
}

ReadView::Args ColumnFamily::ViewArgs(const MemTableRef& active,
                                      std::vector<MemTableRef> immutable) {
  for (auto entry = immutable_.rbegin(); entry != immutable_.rend(); ++entry)
    immutable.push_back(entry->table);
  return {.active = active,
          .immutable = std::move(immutable),
          .version = version_,
          .prefix_extractor = options_.prefix_extractor,
          .number = ++view_number_,
          .epochs = epochs_,
          .live_views = live_views_};
}

void ColumnFamily::PrepareView() {
  SpareView spare{
      .immutable = {},
      .memory = std::unique_ptr<void, RawMemoryDeleter>(::operator new(sizeof(ReadView)))};
  spare.immutable.reserve(immutable_.size());
  spare_view_ = std::move(spare);
}

void ColumnFamily::InstallPreparedView() noexcept {
  // Ensured by PrepareView, and by each PrepareSwitch since then.
  ASHLAR_ASSERT(spare_view_.has_value() && spare_view_->immutable.capacity() >= immutable_.size());
  ReadView::Args args = ViewArgs(active_.table, std::move(spare_view_->immutable));
  void* const memory = spare_view_->memory.release();
  spare_view_.reset();
  PublishView(new (memory) ReadView(std::move(args)));
}

void ColumnFamily::PublishView(ReadView* view) noexcept {
  ReadView* const old = view_.exchange(view, std::memory_order_acq_rel);
  if (old != nullptr) old->Unlink();
  if constexpr (kDebugChecks) CheckInvariants();
}

void ColumnFamily::CheckInvariants() const {
  const ReadView& view = *view_.load(std::memory_order_acquire);
  ASHLAR_ASSERT(view.active == active_.table);                        // I1
  ASHLAR_ASSERT(view.version == version_);                            // I1
  ASHLAR_ASSERT(view.prefix_extractor == options_.prefix_extractor);  // I1
  ASHLAR_ASSERT(view.number <= view_number_);                         // I1
  const size_t n = immutable_.size();
  ASHLAR_ASSERT(view.immutable.size() == n);  // I1
  for (size_t i = 0; i < n; ++i) {
    const MemTableEntry& older = immutable_[i];
    const MemTableEntry& newer = i + 1 < n ? immutable_[i + 1] : active_;
    ASHLAR_ASSERT(view.immutable[n - 1 - i] == older.table);  // I1
    ASHLAR_ASSERT(older.table->id() < newer.table->id());     // I2
    ASHLAR_ASSERT(older.flushing || !newer.flushing);         // I2
    ASHLAR_ASSERT(older.log_number <= newer.log_number);      // I3
  }
  ASHLAR_ASSERT(!active_.flushing);                             // I2
  ASHLAR_ASSERT(leader_active_ == active_.table.get());         // of active_
  ASHLAR_ASSERT(leader_log_number_ == active_.log_number);      // the same
  ASHLAR_ASSERT(running_flushes >= 0 && running_flushes <= 1);  // I1 of flush_runner.h
}

ColumnFamily::PreparedFollow ColumnFamily::PrepareFollow(Version* version, uint64_t log_number,
                                                         const ColumnFamily* rebuilt) {
  const ColumnFamily& source = rebuilt != nullptr ? *rebuilt : *this;
  PreparedFollow prepared(version);
  prepared.immutable.reserve(source.immutable_.size());
  for (const MemTableEntry& entry : source.immutable_) {
    if (entry.log_number >= log_number) prepared.immutable.push_back(entry);
  }
  prepared.active = source.active_;
  ASHLAR_ASSERT(prepared.active.log_number >= log_number);  // Requires
  prepared.next_memtable_id = std::max(next_memtable_id_, source.next_memtable_id_);
  ReadView::Args args{.active = prepared.active.table,
                      .immutable = {},
                      .version = version,
                      .prefix_extractor = options_.prefix_extractor,
                      .number = ++view_number_,
                      .epochs = epochs_,
                      .live_views = live_views_};
  args.immutable.reserve(prepared.immutable.size());
  for (auto entry = prepared.immutable.rbegin(); entry != prepared.immutable.rend(); ++entry)
    args.immutable.push_back(entry->table);
  prepared.view.reset(new ReadView(std::move(args)));
  return prepared;
}

void ColumnFamily::Follow(PreparedFollow prepared, SequenceNumber through) noexcept {
  ASHLAR_ASSERT(running_flushes == 0);  // a secondary flushes nothing
  immutable_ = std::move(prepared.immutable);
  SetActive(std::move(prepared.active.table), prepared.active.log_number);
  next_memtable_id_ = prepared.next_memtable_id;
  if (prepared.version != version_) SetVersion(prepared.version);
  // Older sources now have entries that were never in a memtable of this family.
  NoteIngested(through);
  PublishView(prepared.view.release());
}

void ColumnFamily::InstallView() {
  PublishView(NewView(active_.table, nullptr, options_.prefix_extractor));
}

ViewRef ColumnFamily::PinView() const {
  const EpochGuard guard(*epochs_);
  ReadView* const found = view();
  ASHLAR_DCHECK(found != nullptr);  // I1
  found->pins.Acquire();
  return ViewRef(found);
}

std::vector<MemTableRef> ColumnFamily::StartFlush() {
  ASHLAR_ASSERT(running_flushes == 0);  // I1 of flush_runner.h
  std::vector<MemTableRef> tables;
  tables.reserve(immutable_.size());
  flush_reports_.reserve(flush_reports_.size() + 1);
  // Nothing fails from here on.
  ++running_flushes;
  for (MemTableEntry& entry : immutable_) {
    ASHLAR_ASSERT(!entry.flushing);  // I2
    entry.flushing = true;
    tables.push_back(entry.table);
  }
  flush_wanted = false;
  log_release_wanted = false;
  return tables;
}

void ColumnFamily::EndFlush(size_t flushed) {
  ASHLAR_ASSERT(running_flushes == 1);                              // I1 of flush_runner.h
  ASHLAR_ASSERT(flushed <= immutable_.size());                      // I2
  ASHLAR_ASSERT(flushed == 0 || immutable_[flushed - 1].flushing);  // I2
  --running_flushes;
  immutable_.erase(immutable_.begin(), immutable_.begin() + static_cast<ptrdiff_t>(flushed));
  for (MemTableEntry& entry : immutable_) entry.flushing = false;
}

void ColumnFamily::BeginFlushReport(uint64_t oldest_memtable) noexcept {
  ASHLAR_ASSERT(running_flushes == 0);                               // EndFlush
  ASHLAR_ASSERT(flush_reports_.size() < flush_reports_.capacity());  // StartFlush
  flush_reports_.push_back(oldest_memtable);
}

void ColumnFamily::EndFlushReport(uint64_t oldest_memtable) {
  const size_t ended = std::erase(flush_reports_, oldest_memtable);
  ASHLAR_ASSERT(ended == 1);  // BeginFlushReport
}

bool ColumnFamily::ReportsFlushBefore(uint64_t memtable_id) const {
  return std::any_of(flush_reports_.begin(), flush_reports_.end(),
                     [memtable_id](uint64_t oldest) { return oldest < memtable_id; });
}

uint64_t ColumnFamily::LogNumberAfterFlush(size_t flushed) const {
  ASHLAR_ASSERT(flushed <= immutable_.size());  // I2
  return flushed < immutable_.size() ? immutable_[flushed].log_number : active_.log_number;
}

void ColumnFamily::SetVersion(Version* version) {
  ASHLAR_ASSERT(version != nullptr);  // I1
  version->Ref();
  version_->Unref();
  version_ = version;
}

SequenceNumber ColumnFamily::OldestUnflushed() const {
  for (const MemTableEntry& entry : immutable_) {
    const SequenceNumber first = entry.table->first_sequence();
    if (first != 0) return first;
  }
  const SequenceNumber first = active_.table->first_sequence();
  return first == 0 ? kSequenceNumberMax : first;
}

size_t ColumnFamily::MemTableBytes() const {
  size_t bytes = ActiveLocked()->ApproximateMemoryUsage();
  for (const MemTableEntry& entry : immutable_) bytes += entry.table->ApproximateMemoryUsage();
  return bytes;
}

void ColumnFamily::SetOptions(ColumnFamilyOptions* options, CompactionConfig compaction) {
  std::unique_ptr<ReadView, PreparedSwitch::Unlinker> view;
  if (options->prefix_extractor != options_.prefix_extractor) {
    view.reset(NewView(active_.table, nullptr, options->prefix_extractor));
    tables_->SetPrefixExtractor(options->prefix_extractor);
  }
  // Nothing below throws.
  if (options->table_factory != options_.table_factory)
    tables_->SetConfig(ResolveTableConfig(*options));
  full_bytes_.store(FullBytes(*options), std::memory_order_relaxed);
  memtable_limit_bytes_.store(MemTableLimit(*options), std::memory_order_relaxed);
  max_sequential_skip_.store(options->max_sequential_skip_in_iterations, std::memory_order_relaxed);
  remembers_gaps_.store(options->iterators_remember_gaps, std::memory_order_relaxed);
  successive_merges_max_.store(options->max_successive_merges, std::memory_order_relaxed);
  successive_merges_read_files_.store(options->strict_max_successive_merges,
                                      std::memory_order_relaxed);
  std::swap(options_, *options);
  policy_->SetConfig(std::move(compaction));
  if (view != nullptr) PublishView(view.release());
}

}  // namespace ashlar
