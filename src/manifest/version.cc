#include "manifest/version.h"

#include <algorithm>
#include <optional>

#include "base/assert.h"
#include "base/fixed_vector.h"
#include "base/format.h"
#include "execute/read_guard.h"
#include "manifest/file_marks.h"
#include "table/open/table_cache.h"

namespace ashlar {

namespace {

// Opens the table and keeps it until the guard ends. Returns null if the lookup has failed.
TableReader* OpenPaused(FileMetaData* file, const TableReadOptions& options, TableCache* tables,
                        Lookup* lookup) {
  ASHLAR_ASSERT(options.guard != nullptr);  // Requires of Get
  const ReadGuard::Pause pause(options.guard);
  Result<TableRef> opened = tables->Acquire(file, options);
  if (!opened.ok()) {
    lookup->Fail(opened.status());
    return nullptr;
  }
  options.guard->Keep(opened->TakePin());
  return opened->get();
}

// Runs a search of one table under its range tombstones. These are searched first, because the
// filter of a table does not cover them.
template <typename Search>
void SearchUnderRanges(const TableReader& reader, Lookup* lookup, const Search& search) {
  if (!reader.HasRanges()) [[likely]] {
    return search();
  }
  lookup->RaiseCoveringSequence(
      reader.ranges().CoveringSequence(lookup->user_key(), lookup->snapshot()));
  search();
  lookup->EndIfCovered();
}

// Returns false if the lookup needs no further table.
bool GetFromFile(FileMetaData* file, const TableReadOptions& options, TableCache* tables,
                 Lookup* lookup) {
  TableReader* reader = TableCache::FindOpen(file);
  if (reader == nullptr) [[unlikely]] {
    reader = OpenPaused(file, options, tables, lookup);
    if (reader == nullptr) return false;
  }
  SearchUnderRanges(*reader, lookup, [&] { reader->Get(options, lookup); });
  return !lookup->Done();
}

std::shared_ptr<const FileIndexer> MakeIndexer(const KeyComparator& comparator,
                                               const Version::Levels& levels,
                                               const std::shared_ptr<const FileIndexer>& base) {
  if (base != nullptr && base->IsOf(levels)) return base;
  return std::make_shared<const FileIndexer>(
      FileIndexer::Args{.comparator = comparator, .levels = levels, .base = base.get()});
}

}  // namespace

Version::Version(const KeyComparator& comparator, Levels levels, const Version* base)
    : comparator_(comparator),
      levels_(std::move(levels)),
      indexer_(MakeIndexer(comparator_, levels_, base != nullptr ? base->indexer_ : nullptr)),
      relatives_(base != nullptr ? base->relatives_ : std::make_shared<std::atomic<uint64_t>>(0)) {
  relatives_->fetch_add(1, std::memory_order_relaxed);
}

Version::~Version() { relatives_->fetch_sub(1, std::memory_order_relaxed); }

void Version::Unref() {
  // Release: publishes this holder's accesses. Acquire: the last holder deletes after all of them.
  const uint32_t before = refs_.fetch_sub(1, std::memory_order_acq_rel);
  ASHLAR_ASSERT(before > 0);  // Lifetime: the count was held
  if (before == 1) delete this;
}

const LevelFiles* Version::Get(const TableReadOptions& options, TableCache* tables,
                               Lookup* lookup) const {
  if (!GetFromLevelZero(options, tables, lookup)) return levels_[0].get();
  FileDescent descent(*indexer_, lookup->user_key(), lookup->seek_tag());
  for (FileMetaData* file = descent.Next(); file != nullptr; file = descent.Next()) {
    // Most keys are in the last level.
    lookup->ExpectAbsence(!descent.IsInLastLevel());
    if (!GetFromFile(file, options, tables, lookup)) return descent.level();
  }
  return nullptr;
}

Level Version::LevelOf(const LevelFiles* level) const {
  const auto found = std::find_if(levels_.begin(), levels_.end(), [level](const auto& candidate) {
    return candidate.get() == level;
  });
  ASHLAR_ASSERT(found != levels_.end());  // Get returned it
  return static_cast<Level>(found - levels_.begin());
}

bool Version::GetFromLevelZero(const TableReadOptions& options, TableCache* tables,
                               Lookup* lookup) const {
  const LevelFiles& level = *levels_[0];
  if (level.empty()) return true;
  const std::optional<uint64_t> head = level.HeadOf(lookup->user_key());
  if (!head) return true;
  lookup->ExpectAbsence(level.size() > 1);
  for (size_t i = 0; i < level.size(); ++i) {
    if (level.FileMayMatch(i, lookup->user_key(), *head) &&
        !GetFromFile(level.files()[i], options, tables, lookup))
      return false;
  }
  return true;
}

namespace {

// The lookups of a batch, each with the file that it searches next.
class FileBatch {
 public:
  FileBatch(const TableReadOptions& options, TableCache* tables)
      : options_(options), tables_(tables) {}

  bool empty() const { return items_.empty(); }
  void Clear() { items_.clear(); }
  void Add(Lookup* lookup, FileMetaData* file) {
    items_.emplace_back(
        StagedLookup{.lookup = lookup, .file = file, .reader = TableCache::FindOpen(file)});
  }
  void Get() {
    const uint32_t pauses = Pauses();
    SearchInStages();
    for (const StagedLookup& item : items_) {
      // After a pause the reader and the results of the stages may no longer exist.
      if (item.reader != nullptr && Pauses() == pauses) [[likely]] {
        SearchUnderRanges(*item.reader, item.lookup,
                          [&] { item.reader->GetStaged(options_, item); });
      } else {
        static_cast<void>(GetFromFile(item.file, options_, tables_, item.lookup));
      }
    }
  }

 private:
  uint32_t Pauses() const { return options_.guard != nullptr ? options_.guard->pauses() : 0; }
  static TableReader::StagedSearch SearchOf(const StagedLookup& item) {
    return item.reader == nullptr ? nullptr : item.reader->staged_search();
  }
  // Searches neighbours with the same class of reader together.
  void SearchInStages() {
    for (size_t begin = 0; begin < items_.size();) {
      const TableReader::StagedSearch search = SearchOf(items_[begin]);
      size_t end = begin + 1;
      while (end < items_.size() && SearchOf(items_[end]) == search) ++end;
      if (search != nullptr) search({items_.begin() + begin, end - begin});
      begin = end;
    }
  }

  const TableReadOptions& options_;
  TableCache* const tables_;
  FixedVector<StagedLookup, Version::kLookupsMax> items_;
};

void GetFromLevelZero(const LevelFiles& level, std::span<Lookup> lookups, FileBatch* batch) {
  FixedVector<std::optional<uint64_t>, Version::kLookupsMax> heads;
  for (const Lookup& lookup : lookups) heads.emplace_back(level.HeadOf(lookup.user_key()));
  for (size_t file = 0; file < level.size(); ++file) {
    batch->Clear();
    for (size_t i = 0; i < lookups.size(); ++i) {
      Lookup& lookup = lookups[i];
      if (!lookup.Done() && heads[i] && level.FileMayMatch(file, lookup.user_key(), *heads[i]))
        batch->Add(&lookup, level.files()[file]);
    }
    batch->Get();
  }
}

}  // namespace

void Version::MultiGet(const TableReadOptions& options, TableCache* tables,
                       std::span<Lookup> lookups) const {
  ASHLAR_DCHECK(lookups.size() <= kLookupsMax);  // Requires
  FileBatch batch(options, tables);
  if (!levels_[0]->empty()) ashlar::GetFromLevelZero(*levels_[0], lookups, &batch);
  FixedVector<FileDescent, kLookupsMax> descents;
  for (const Lookup& lookup : lookups)
    descents.emplace_back(*indexer_, lookup.user_key(), lookup.seek_tag());
  // In each round every lookup searches its next file, of any level.
  do {
    batch.Clear();
    for (size_t i = 0; i < lookups.size(); ++i) {
      FileMetaData* const file = lookups[i].Done() ? nullptr : descents[i].Next();
      if (file != nullptr) batch.Add(&lookups[i], file);
    }
    batch.Get();
  } while (!batch.empty());
}

size_t Version::NumFiles() const {
  size_t files = 0;
  for (const auto& level : levels_) files += level->size();
  return files;
}

bool Version::MayHaveRanges() const {
  constexpr int kLevelShift = 32;
  const uint64_t from = ranges_from_.load(std::memory_order_relaxed);
  auto level = static_cast<Level>(from >> kLevelShift);
  size_t place = from & UINT32_MAX;
  for (; level < levels(); ++level, place = 0) {
    const std::span<FileMetaData* const> tables = files(level);
    while (place < tables.size() &&
           tables[place]->has_ranges.load(std::memory_order_relaxed) == HasRanges::kNo)
      ++place;
    if (place < tables.size()) break;
  }
  const uint64_t found = (uint64_t{level} << kLevelShift) | place;
  if (found != from) ranges_from_.store(found, std::memory_order_relaxed);
  return level < levels();
}

SequenceNumber Version::LargestSequence() const {
  SequenceNumber largest = 0;
  for (const auto& level : levels_) {
    for (const FileMetaData* const file : level->files())
      largest = std::max(largest, file->largest_sequence);
  }
  return largest;
}

uint64_t Version::TotalBytes() const {
  uint64_t bytes = 0;
  for (const auto& level : levels_) bytes += level->bytes();
  return bytes;
}

std::vector<FileMetaData*> Version::OverlappingFiles(Level level, const UserKeyRange& range) const {
  ASHLAR_ASSERT(level < levels_.size());  // a level of this Version
  const LevelFiles& files = *levels_[level];
  std::vector<FileMetaData*> result;
  if (IsSorted(level)) {
    const FilePositions positions = files.Overlapping(range);
    for (size_t i = positions.begin; i < positions.end; ++i) result.push_back(files.files()[i]);
    return result;
  }
  for (size_t i = 0; i < files.size(); ++i) {
    if (files.FileOverlaps(i, range)) result.push_back(files.files()[i]);
  }
  return result;
}

bool Version::RangeIsEmpty(Level level, const UserKeyRange& range) const {
  ASHLAR_ASSERT(level < levels_.size());  // a level of this Version
  const LevelFiles& files = *levels_[level];
  if (IsSorted(level)) {
    const FilePositions positions = files.Overlapping(range);
    return positions.begin >= positions.end;
  }
  for (size_t i = 0; i < files.size(); ++i) {
    if (files.FileOverlaps(i, range)) return false;
  }
  return true;
}

Result<uint64_t> Version::ApproximateBytes(const Slice& begin, const Slice& end,
                                           TableCache* tables) const {
  uint64_t bytes = 0;
  if (comparator_.Compare(begin, end) >= 0) return bytes;
  const UserKeyRange range{.smallest = &begin, .largest = &end};
  const std::string begin_key = MakeInternalKey(begin, kSequenceNumberMax, ValueType::kMax);
  const std::string end_key = MakeInternalKey(end, kSequenceNumberMax, ValueType::kMax);
  for (Level level = 0; level < levels(); ++level) {
    for (FileMetaData* file : OverlappingFiles(level, range)) {
      const bool begins_inside = comparator_.Compare(begin, file->smallest_user_key()) > 0;
      const bool ends_inside = comparator_.Compare(end, file->largest_user_key()) <= 0;
      if (!begins_inside && !ends_inside) {
        bytes += file->file_bytes;
        continue;
      }
      ASHLAR_ASSIGN_OR_RETURN(const TableRef reader, tables->Acquire(file, {}));
      const uint64_t from = begins_inside ? reader->ApproximateOffsetOf(begin_key) : 0;
      const uint64_t to = ends_inside ? reader->ApproximateOffsetOf(end_key) : file->file_bytes;
      bytes += to > from ? to - from : 0;
    }
  }
  return bytes;
}

Status Version::Validate() const {
  for (const auto& level : levels_) ASHLAR_RETURN_IF_ERROR(level->Validate());
  return Status::OK();
}

void Version::CheckInvariants() const {
  ASHLAR_ASSERT(!levels_.empty() && levels_.size() <= kLevelsMax);  // num_levels is 1 to 64
  ASHLAR_ASSERT(refs_.load(std::memory_order_relaxed) > 0);         // I2: the caller holds it
  for (const auto& level : levels_) level->CheckInvariants();
  ASHLAR_ASSERT(indexer_->IsOf(levels_));  // it is the index of levels_
  indexer_->CheckInvariants();
}

std::string Version::DebugString() const {
  std::string out;
  for (Level level = 0; level < levels(); ++level) {
    if (levels_[level]->empty()) continue;
    StrAppend(&out, "level ", level, ": ", levels_[level]->size(), " tables, ",
              HumanBytes(levels_[level]->bytes()), "\n");
    for (const FileMetaData* file : levels_[level]->files()) {
      StrAppend(&out, "  ", file->number, ": ", file->file_bytes, " bytes, sequences ",
                file->smallest_sequence, " to ", file->largest_sequence,
                IsBeingCompacted(*file) ? ", in a compaction" : "", "\n");
    }
  }
  return out;
}

}  // namespace ashlar
