#include "lsm/properties.h"

#include <algorithm>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "ashlar/cache.h"
#include "ashlar/statistics.h"
#include "base/assert.h"
#include "base/format.h"
#include "base/result.h"
#include "filesystem/filename.h"
#include "lsm/reader.h"
#include "lsm/resolve_options.h"
#include "lsm/tree_inputs.h"
#include "manifest/file_marks.h"
#include "table/table_properties.h"

namespace ashlar {

namespace {

using Names = DB::Properties;

// The argument of a property's function. It exists only while the database mutex is held, so its
// accessors tell the analysis that it is.
class Subject {
 public:
  Subject(const DatabaseState& state, const BackgroundWork& background, const ColumnFamily& family)
      ASHLAR_REQUIRES(kDatabaseMutex)
      : state_(state), background_(background), family_(family) {}

  const DatabaseState& state() const ASHLAR_ASSERT_CAPABILITY(kDatabaseMutex) { return state_; }
  const BackgroundWork& background() const ASHLAR_ASSERT_CAPABILITY(kDatabaseMutex) {
    return background_;
  }
  const ColumnFamily& family() const ASHLAR_ASSERT_CAPABILITY(kDatabaseMutex) { return family_; }
  const Version& version() const { return *family().version(); }

 private:
  const DatabaseState& state_;
  const BackgroundWork& background_;
  const ColumnFamily& family_;
};

uint64_t SumImmutable(const ColumnFamily& family, uint64_t (*get)(const MemTable&))
    ASHLAR_REQUIRES(kDatabaseMutex) {
  uint64_t sum = 0;
  for (const MemTableEntry& entry : family.immutable()) sum += get(*entry.table);
  return sum;
}

template <typename Function>
void ForEachFile(const Version& version, const Function& function) {
  for (Level level = 0; level < version.levels(); ++level) {
    for (FileMetaData* const file : version.files(level)) function(level, file);
  }
}

struct EntryCounts {
  uint64_t entries = 0;
  uint64_t deletions = 0;
};
// The MANIFEST does not record entry counts. They are known for tables that were written in this
// run, and for others once they have been opened. If necessary this opens some tables, from which
// the rest is estimated. Requires: the database mutex is not held, because this reads files.
void LearnEntryCounts(BackgroundWork* background, const ColumnFamily& family) {
  constexpr size_t kSample = 64;
  const ViewOfCall view(background, family);
  std::vector<FileMetaData*> unknown;
  size_t known = 0;
  ForEachFile(*view->version, [&](Level, FileMetaData* file) {
    if (file->entries.load(std::memory_order_relaxed) == 0) {
      unknown.push_back(file);
    } else {
      ++known;
    }
  });
  if (known >= kSample) return;
  const size_t step = unknown.size() / kSample + 1;
  // The error of a table that cannot be opened is reported by the reads that need the table.
  for (size_t i = 0; i < unknown.size(); i += step)
    static_cast<void>(family.tables()->Acquire(unknown[i], {}).ok());
}

EntryCounts CountEntries(const Version& version) {
  EntryCounts counts;
  uint64_t known_bytes = 0;
  uint64_t total_bytes = 0;
  ForEachFile(version, [&](Level, const FileMetaData* file) {
    total_bytes += file->file_bytes;
    const uint64_t entries = file->entries.load(std::memory_order_acquire);
    if (entries == 0) return;
    counts.entries += entries;
    counts.deletions += file->deletions.load(std::memory_order_relaxed);
    known_bytes += file->file_bytes;
  });
  if (known_bytes > 0 && known_bytes < total_bytes) {
    const double scale = static_cast<double>(total_bytes) / static_cast<double>(known_bytes);
    counts.entries = static_cast<uint64_t>(static_cast<double>(counts.entries) * scale);
    counts.deletions = static_cast<uint64_t>(static_cast<double>(counts.deletions) * scale);
  }
  return counts;
}

uint64_t EstimateKeys(const DatabaseState& /*state*/, const ReadView& view) {
  EntryCounts counts = CountEntries(*view.version);
  const auto add = [&counts](const MemTable& table) {
    counts.entries += table.entries();
    counts.deletions += table.deletions();
  };
  add(*view.active);
  for (const MemTableRef& table : view.immutable) add(*table);
  // Each deletion removes itself and the entry that it deletes from the estimate.
  return counts.entries > 2 * counts.deletions ? counts.entries - 2 * counts.deletions : 0;
}

// Range deletions count as entries, and not as deletions.
uint64_t CountEntries(const MemTable& table) { return table.entries() + table.range_deletions(); }

uint64_t TableReaderMemory(const DatabaseState& state, const ReadView& view) {
  uint64_t bytes = 0;
  const EpochGuard guard(state.epochs);
  ForEachFile(*view.version, [&](Level, FileMetaData* file) {
    if (TableReader* const reader = TableCache::FindOpen(file); reader != nullptr)
      bytes += reader->MemoryBytes();
  });
  return bytes;
}

// The files that overlap no file on a lower level. A low estimate of the data without overwritten
// entries.
uint64_t LiveDataBytes(const DatabaseState& /*state*/, const ReadView& view) {
  const Version& version = *view.version;
  uint64_t bytes = 0;
  for (Level level = version.levels(); level-- > 0;) {
    for (const FileMetaData* const file : version.files(level)) {
      bool covered = false;
      const Slice smallest = file->smallest_user_key();
      const Slice largest = file->largest_user_key();
      for (Level below = level + 1; below < version.levels() && !covered; ++below) {
        covered =
            !version.RangeIsEmpty(below, UserKeyRange{.smallest = &smallest, .largest = &largest});
      }
      if (!covered) bytes += file->file_bytes;
    }
  }
  return bytes;
}

// Numbers that need a visit to each table. They are computed without the database mutex, on a view.
struct ViewProperty {
  const std::string& name;
  uint64_t (*get)(const DatabaseState& state, const ReadView& view);
};

const ViewProperty* FindViewProperty(const Slice& property) {
  static const ViewProperty kTable[] = {
      {Names::kEstimateNumKeys, &EstimateKeys},
      {Names::kEstimateTableReadersMem, &TableReaderMemory},
      {Names::kEstimateLiveDataSize, &LiveDataBytes},
  };
  for (const ViewProperty& candidate : kTable) {
    if (Slice(candidate.name) == property) return &candidate;
  }
  return nullptr;
}

// Null if the family has no block cache.
std::shared_ptr<Cache> CacheOf(const ColumnFamily& family) ASHLAR_REQUIRES(kDatabaseMutex) {
  const BlockBasedTableOptions* const table = TableOptionsOf(family.options());
  return table == nullptr ? nullptr : table->block_cache;
}

// Numbers of the block cache, which families may share. They are read without the database mutex,
// because the cache may visit each of its blocks.
struct CacheProperty {
  const std::string& name;
  size_t (Cache::*get)() const;
};

const CacheProperty* FindCacheProperty(const Slice& property) {
  static const CacheProperty kTable[] = {
      {Names::kBlockCacheCapacity, &Cache::GetCapacity},
      {Names::kBlockCacheUsage, &Cache::GetUsage},
      {Names::kBlockCachePinnedUsage, &Cache::GetPinnedUsage},
  };
  for (const CacheProperty& candidate : kTable) {
    if (Slice(candidate.name) == property) return &candidate;
  }
  return nullptr;
}

// For numbers of blob files and of flushed memtables that are kept, because there are none.
uint64_t Zero(const Subject& /*s*/) { return 0; }

struct NumberProperty {
  const std::string& name;
  bool whole_database;
  uint64_t (*get)(const Subject& s);
};

const std::span<const NumberProperty> NumberProperties() {
  static const NumberProperty kTable[] = {
      {Names::kNumImmutableMemTable, false,
       [](const Subject& s) { return uint64_t{s.family().immutable().size()}; }},
      {Names::kNumImmutableMemTableFlushed, false, &Zero},
      {Names::kMemTableFlushPending, false,
       [](const Subject& s) {
         // A family without memtables may still be due for an edit that releases its log.
         return uint64_t{!s.family().immutable().empty() && s.family().WantsFlush()};
       }},
      {Names::kNumRunningFlushes, true,
       [](const Subject& s) { return static_cast<uint64_t>(s.background().RunningFlushes()); }},
      {Names::kNumRunningCompactions, true,
       [](const Subject& s) { return static_cast<uint64_t>(s.background().RunningCompactions()); }},
      {Names::kCurSizeActiveMemTable, false,
       [](const Subject& s) {
         return uint64_t{s.family().ActiveLocked()->ApproximateMemoryUsage()};
       }},
      {Names::kCurSizeAllMemTables, false,
       [](const Subject& s) { return uint64_t{s.family().MemTableBytes()}; }},
      {Names::kSizeAllMemTables, false,
       [](const Subject& s) { return uint64_t{s.family().MemTableBytes()}; }},
      {Names::kNumEntriesActiveMemTable, false,
       [](const Subject& s) { return CountEntries(*s.family().ActiveLocked()); }},
      {Names::kNumEntriesImmMemTables, false,
       [](const Subject& s) {
         return SumImmutable(s.family(), [](const MemTable& t) { return CountEntries(t); });
       }},
      {Names::kNumDeletesActiveMemTable, false,
       [](const Subject& s) { return s.family().ActiveLocked()->deletions(); }},
      {Names::kNumDeletesImmMemTables, false,
       [](const Subject& s) {
         return SumImmutable(s.family(), [](const MemTable& t) { return t.deletions(); });
       }},
      {Names::kCompactionPending, false,
       [](const Subject& s) { return uint64_t{CompactionPending(s.state(), s.family())}; }},
      {Names::kEstimatePendingCompactionBytes, false,
       [](const Subject& s) {
         return s.family().policy().PendingBytes(MakeTreeSizes(s.family()));
       }},
      {Names::kCompactionAbortCount, true,
       [](const Subject& s) { return static_cast<uint64_t>(s.background().CompactionAborts()); }},
      {Names::kBackgroundErrors, true,
       [](const Subject& s) {
         return uint64_t{s.state().error_handler.IsSet()} +
                s.state().lost_errors.load(std::memory_order_relaxed);
       }},
      {Names::kActualDelayedWriteRate, true,
       [](const Subject& s) {
         return s.state().write_controller.state() == WriteController::State::kDelayed
                    ? s.state().write_controller.bytes_per_second()
                    : 0;
       }},
      {Names::kIsWriteStopped, true,
       [](const Subject& s) {
         return uint64_t{s.state().write_controller.state() == WriteController::State::kStopped};
       }},
      {Names::kTotalSstFilesSize, false, [](const Subject& s) { return s.version().TotalBytes(); }},
      {Names::kLiveSstFilesSize, false, [](const Subject& s) { return s.version().TotalBytes(); }},
      {Names::kObsoleteSstFilesSize, true,
       [](const Subject& s) { return s.state().obsolete_files.TableBytes(); }},
      {Names::kIsFileDeletionsEnabled, true,
       [](const Subject& s) { return uint64_t{!s.background().files().IsDisabled()}; }},
      {Names::kBaseLevel, false,
       [](const Subject& s) {
         return static_cast<uint64_t>(s.family().policy().BaseLevel(MakeTreeSizes(s.family())));
       }},
      {Names::kMinLogNumberToKeep, true,
       [](const Subject& s) { return s.background().files().OldestRecordedLog(); }},
      {Names::kNumSnapshots, true,
       [](const Subject& s) { return uint64_t{s.state().snapshots.size()}; }},
      {Names::kOldestSnapshotTime, true,
       [](const Subject& s) {
         const SnapshotImpl* const oldest = s.state().snapshots.oldest();
         return oldest == nullptr ? 0 : static_cast<uint64_t>(oldest->GetUnixTime());
       }},
      {Names::kOldestSnapshotSequence, true,
       [](const Subject& s) {
         const SnapshotImpl* const oldest = s.state().snapshots.oldest();
         return oldest == nullptr ? 0 : oldest->GetSequenceNumber();
       }},
      {Names::kNumLiveVersions, false,
       [](const Subject& s) { return s.version().LiveRelatives(); }},
      {Names::kCurrentSuperVersionNumber, false,
       [](const Subject& s) { return s.family().view_number(); }},
      {Names::kNumBlobFiles, false, &Zero},
      {Names::kTotalBlobFileSize, false, &Zero},
      {Names::kLiveBlobFileSize, false, &Zero},
      {Names::kLiveBlobFileGarbageSize, false, &Zero},
  };
  return kTable;
}

const NumberProperty* FindNumber(const Slice& property) {
  for (const NumberProperty& candidate : NumberProperties()) {
    if (Slice(candidate.name) == property) return &candidate;
  }
  return nullptr;
}

// "rocksdb.num-files-at-level3" -> 3
bool ParseLevel(const Slice& property, const std::string& prefix, uint64_t* level) {
  if (!property.starts_with(prefix)) return false;
  return ParseUint64(property.ToStringView().substr(prefix.size()), level);
}

// ---- The table of levels in rocksdb.stats. Its title and the names of its columns are RocksDB's,
// which programs look for; columns of figures that are not counted are left out.

struct LevelRow {
  uint64_t files = 0;
  uint64_t compacting = 0;  // of these
  uint64_t bytes = 0;
  double score = 0;
  FamilyTotals::OfLevel jobs;

  void Add(const LevelRow& row) {
    files += row.files;
    compacting += row.compacting;
    bytes += row.bytes;
    jobs.jobs += row.jobs.jobs;
    jobs.micros += row.jobs.micros;
    jobs.cpu_micros += row.jobs.cpu_micros;
    jobs.bytes_read += row.jobs.bytes_read;
    jobs.bytes_written += row.jobs.bytes_written;
    jobs.entries_in += row.jobs.entries_in;
    jobs.entries_dropped += row.jobs.entries_dropped;
  }
};

constexpr std::string_view kLevelHeader =
    "Level    Files       Size Score  Read(GB) Write(GB) Rd(MB/s) Wr(MB/s)  Comp(sec) "
    "CompMergeCPU(sec) Comp(cnt) Avg(sec)      KeyIn    KeyDrop\n";

void AppendRight(std::string_view text, size_t width, std::string* out) {
  out->append(width - std::min(width, text.size()), ' ');
  out->append(text);
}

void AppendLevelRow(std::string_view name, const LevelRow& row, std::string* out) {
  constexpr double kMicrosPerSecond = 1e6;
  constexpr double kMiB = 1 << 20;
  constexpr double kGiB = 1 << 30;
  const FamilyTotals::OfLevel& jobs = row.jobs;
  const double seconds = static_cast<double>(jobs.micros) / kMicrosPerSecond;
  const auto rate = [&](uint64_t bytes) {
    return FixedDecimal(seconds > 0 ? static_cast<double>(bytes) / kMiB / seconds : 0, 1);
  };
  const double average_seconds = jobs.jobs == 0 ? 0 : seconds / static_cast<double>(jobs.jobs);
  AppendRight(name, 5, out);
  AppendRight(StrCat(row.files, "/", row.compacting), 9, out);
  AppendRight(HumanBytes(row.bytes), 11, out);
  AppendRight(FixedDecimal(row.score, 1), 6, out);
  AppendRight(FixedDecimal(static_cast<double>(jobs.bytes_read) / kGiB, 3), 10, out);
  AppendRight(FixedDecimal(static_cast<double>(jobs.bytes_written) / kGiB, 3), 10, out);
  AppendRight(rate(jobs.bytes_read), 9, out);
  AppendRight(rate(jobs.bytes_written), 9, out);
  AppendRight(FixedDecimal(seconds, 2), 11, out);
  AppendRight(FixedDecimal(static_cast<double>(jobs.cpu_micros) / kMicrosPerSecond, 2), 18, out);
  AppendRight(StrCat(jobs.jobs), 10, out);
  AppendRight(FixedDecimal(average_seconds, 3), 9, out);
  AppendRight(StrCat(jobs.entries_in), 11, out);
  AppendRight(StrCat(jobs.entries_dropped), 11, out);
  *out += '\n';
}

}  // namespace

bool PropertyReader::Number(const std::shared_ptr<ColumnFamily>& family, const Slice& property,
                            uint64_t* value) const {
  if (const CacheProperty* const of_cache = FindCacheProperty(property); of_cache != nullptr) {
    std::shared_ptr<Cache> cache;
    {
      MutexLock lock(state_->mutex());
      cache = CacheOf(*family);
    }
    if (cache == nullptr) return false;
    *value = (cache.get()->*of_cache->get)();
    return true;
  }
  if (const ViewProperty* const of_view = FindViewProperty(property); of_view != nullptr) {
    if (property == Slice(Names::kEstimateNumKeys)) LearnEntryCounts(background_, *family);
    const ViewOfCall view(background_, *family);
    *value = of_view->get(*state_, *view);
    return true;
  }
  const NumberProperty* const found = FindNumber(property);
  MutexLock lock(state_->mutex());
  if (found != nullptr) {
    *value = found->get(Subject(*state_, *background_, *family));
    return true;
  }
  uint64_t level = 0;
  if (!ParseLevel(property, Names::kNumFilesAtLevelPrefix, &level) ||
      level >= family->version()->levels())
    return false;
  *value = family->version()->NumFiles(static_cast<Level>(level));
  return true;
}

std::vector<std::shared_ptr<ColumnFamily>> PropertyReader::Families() const {
  MutexLock lock(state_->mutex());
  return state_->LiveFamilies();
}

void PropertyReader::LearnAllEntryCounts() const {
  for (const std::shared_ptr<ColumnFamily>& family : Families())
    LearnEntryCounts(background_, *family);
}

bool PropertyReader::Sum(const Slice& property, uint64_t* value) const {
  if (const CacheProperty* const of_cache = FindCacheProperty(property); of_cache != nullptr) {
    std::vector<std::shared_ptr<Cache>> caches;
    {
      std::set<const Cache*> counted{nullptr};
      MutexLock lock(state_->mutex());
      for (const std::shared_ptr<ColumnFamily>& family : state_->LiveFamilies()) {
        const std::shared_ptr<Cache> cache = CacheOf(*family);
        if (counted.insert(cache.get()).second) caches.push_back(cache);
      }
    }
    *value = 0;
    for (const std::shared_ptr<Cache>& cache : caches) *value += (cache.get()->*of_cache->get)();
    return true;
  }
  if (const ViewProperty* const of_view = FindViewProperty(property); of_view != nullptr) {
    if (property == Slice(Names::kEstimateNumKeys)) LearnAllEntryCounts();
    *value = 0;
    for (const std::shared_ptr<ColumnFamily>& family : Families()) {
      const ViewOfCall view(background_, *family);
      *value += of_view->get(*state_, *view);
    }
    return true;
  }
  const NumberProperty* const found = FindNumber(property);
  if (found == nullptr) return false;
  *value = 0;
  MutexLock lock(state_->mutex());
  for (const std::shared_ptr<ColumnFamily>& family : state_->LiveFamilies()) {
    *value += found->get(Subject(*state_, *background_, *family));
    if (found->whole_database) break;
  }
  return true;
}

std::string PropertyReader::LevelStats(const ColumnFamily& family) const {
  std::string text = "Level Files Size(MB)\n--------------------\n";
  for (Level level = 0; level < family.version()->levels(); ++level) {
    StrAppend(&text, "  ", level, "  ", family.version()->NumFiles(level), "  ",
              family.version()->LevelBytes(level) >> 20, "\n");
  }
  return text;
}

std::string PropertyReader::FamilyStats(const ColumnFamily& family) const {
  std::vector<LevelRow> rows(family.version()->levels());
  for (const LevelScore& score : family.policy().Scores(MakeTreeView(*state_, family))) {
    ASHLAR_ASSERT(score.level < rows.size());  // the version has every level of the view
    rows[score.level].score = score.score;
  }
  LevelRow sum;
  std::string text = StrCat("\n** Compaction Stats [", family.name(), "] **\n", kLevelHeader,
                            std::string(kLevelHeader.size() - 1, '-'), "\n");
  for (Level level = 0; level < rows.size(); ++level) {
    LevelRow& row = rows[level];
    for (const FileMetaData* file : family.version()->files(level)) {
      ++row.files;
      if (IsBeingCompacted(*file)) ++row.compacting;
    }
    row.bytes = family.version()->LevelBytes(level);
    if (level < family.totals.levels.size()) row.jobs = family.totals.levels[level];
    sum.Add(row);
    if (row.files != 0 || row.jobs.jobs != 0) AppendLevelRow(StrCat("L", level), row, &text);
  }
  ASHLAR_ASSERT(sum.files == family.version()->NumFiles());  // the levels have all files
  AppendLevelRow("Sum", sum, &text);
  StrAppend(&text, "\nmemtables: ", 1 + family.immutable().size(), ", ",
            HumanBytes(family.MemTableBytes()),
            "\nbase level: ", family.policy().BaseLevel(MakeTreeSizes(family)),
            ", running compactions: ", family.running_plans.size(),
            "\nwrite stall: ", StallStateName(family.stall.state), " (",
            StallCauseName(family.stall.cause), "), delays: ", family.totals.delays,
            ", stops: ", family.totals.stops, "\n");
  return text;
}

std::string PropertyReader::DatabaseStats() const {
  return StrCat("\n** DB Stats **\nsequence: ", state_->PublishedSequence(),
                ", live logs: ", HumanBytes(state_->logs.TotalBytes()),
                ", snapshots: ", state_->snapshots.size(),
                ", error: ", state_->error_handler.status().ToString(), "\n");
}

std::string PropertyReader::Dump(std::span<const std::shared_ptr<ColumnFamily>> families) const {
  std::string text;
  {
    MutexLock lock(state_->mutex());
    text = DatabaseStats();
  }
  for (const std::shared_ptr<ColumnFamily>& family : families) {
    MutexLock lock(state_->mutex());  // per family, because there may be thousands
    text += FamilyStats(*family);
  }
  return text;
}

bool PropertyReader::Text(const std::shared_ptr<ColumnFamily>& family, const Slice& property,
                          std::string* value) const {
  uint64_t number = 0;
  if (Number(family, property, &number)) {
    *value = std::to_string(number);
    return true;
  }
  // The program's own class may answer, so the mutex is not held.
  if (property == Slice(Names::kOptionsStatistics) && state_->options.statistics != nullptr) {
    *value = state_->options.statistics->ToString();
    return true;
  }
  MutexLock lock(state_->mutex());
  if (property == Slice(Names::kLevelStats)) {
    *value = LevelStats(*family);
  } else if (property == Slice(Names::kSSTables)) {
    *value = family->version()->DebugString();
  } else if (property == Slice(Names::kCFStats) ||
             property == Slice(Names::kCFStatsNoFileHistogram)) {
    *value = FamilyStats(*family);
  } else if (property == Slice(Names::kDBStats)) {
    *value = DatabaseStats();
  } else if (property == Slice(Names::kStats)) {
    *value = DatabaseStats() + FamilyStats(*family);
  } else if (property == Slice(Names::kLogDamage)) {
    *value = state_->recovery.DamageText();
  } else {
    return false;
  }
  return true;
}

bool PropertyReader::Map(const std::shared_ptr<ColumnFamily>& family, const Slice& property,
                         std::map<std::string, std::string>* value) const {
  if (property != Slice(Names::kCFStats)) return false;
  MutexLock lock(state_->mutex());
  value->clear();
  const TreeView view = MakeTreeView(*state_, *family);
  for (Level level = 0; level < family->version()->levels(); ++level) {
    const std::string prefix = StrCat("compaction.L", level, ".");
    (*value)[prefix + "NumFiles"] = std::to_string(family->version()->NumFiles(level));
    (*value)[prefix + "SizeBytes"] = std::to_string(family->version()->LevelBytes(level));
  }
  for (const LevelScore& score : family->policy().Scores(view)) {
    (*value)[StrCat("compaction.L", score.level, ".Score")] = FixedDecimal(score.score, 2);
  }
  for (size_t i = 0; i < family->totals.levels.size(); ++i) {
    const FamilyTotals::OfLevel& total = family->totals.levels[i];
    const std::string prefix = StrCat("compaction.L", i, ".");
    (*value)[prefix + "CompCount"] = std::to_string(total.jobs);
    (*value)[prefix + "ReadBytes"] = std::to_string(total.bytes_read);
    (*value)[prefix + "WriteBytes"] = std::to_string(total.bytes_written);
    (*value)[prefix + "CompMicros"] = std::to_string(total.micros);
    (*value)[prefix + "CompCPUMicros"] = std::to_string(total.cpu_micros);
    (*value)[prefix + "KeyIn"] = std::to_string(total.entries_in);
    (*value)[prefix + "KeyDrop"] = std::to_string(total.entries_dropped);
  }
  (*value)["io_stalls.delays"] = std::to_string(family->totals.delays);
  (*value)["io_stalls.stops"] = std::to_string(family->totals.stops);
  (*value)["io_stalls.state"] = StallStateName(family->stall.state);
  (*value)["io_stalls.cause"] = StallCauseName(family->stall.cause);
  return true;
}

// ---- Files.

namespace {

void Describe(const DatabaseState& state, const FileMetaData& file, SstFileMetaData* out)
    ASHLAR_REQUIRES(kDatabaseMutex) {
  const std::string path = TableFileName(state.directory, file.number);
  out->relative_filename = BaseName(path);
  out->name = "/" + out->relative_filename;
  out->directory = state.directory;
  out->db_path = state.directory;
  out->file_number = file.number;
  out->size = file.file_bytes;
  out->temperature = file.temperature;
  out->file_checksum = file.checksum;
  out->file_checksum_func_name = file.checksum_function;
  out->smallest_seqno = file.smallest_sequence;
  out->largest_seqno = file.largest_sequence;
  out->smallestkey = file.smallest_user_key().ToString();
  out->largestkey = file.largest_user_key().ToString();
  out->smallest = file.smallest;
  out->largest = file.largest;
  out->being_compacted = IsBeingCompacted(file);
  out->num_entries = file.entries;
  out->num_deletions = file.deletions;
  out->oldest_ancester_time = file.oldest_ancestor_unix_seconds;
  out->file_creation_time = file.creation_unix_seconds;
}

}  // namespace

void PropertyReader::LiveFiles(std::vector<LiveFileMetaData>* metadata) const {
  metadata->clear();
  LearnAllEntryCounts();
  MutexLock lock(state_->mutex());
  for (const std::shared_ptr<ColumnFamily>& family : state_->LiveFamilies()) {
    ForEachFile(*family->version(), [&](Level level, const FileMetaData* file) {
      kDatabaseMutex.AssertHeld();
      LiveFileMetaData& out = metadata->emplace_back();
      Describe(*state_, *file, &out);
      out.column_family_name = family->name();
      out.level = static_cast<int>(level);
    });
  }
}

void PropertyReader::FamilyMetaData(const std::shared_ptr<ColumnFamily>& family,
                                    ColumnFamilyMetaData* metadata) const {
  *metadata = ColumnFamilyMetaData();
  LearnEntryCounts(background_, *family);
  MutexLock lock(state_->mutex());
  metadata->name = family->name();
  const Version& version = *family->version();
  metadata->size = version.TotalBytes();
  metadata->file_count = version.NumFiles();
  uint64_t listed_bytes = 0;
  for (Level level = 0; level < version.levels(); ++level) {
    LevelMetaData& out = metadata->levels.emplace_back();
    out.level = static_cast<int>(level);
    out.size = version.LevelBytes(level);
    for (const FileMetaData* const file : version.files(level))
      Describe(*state_, *file, &out.files.emplace_back());
    listed_bytes += out.size;
  }
  ASHLAR_ASSERT(listed_bytes == metadata->size);  // the levels have all bytes
}

Status PropertyReader::AddTable(const ColumnFamily& family, FileMetaData* file,
                                TablePropertiesCollection* properties) const {
  ASHLAR_ASSIGN_OR_RETURN(const TableRef table, family.tables()->Acquire(file, {}));
  (*properties)[TableFileName(state_->directory, file->number)] =
      std::make_shared<TableProperties>(table->properties());
  return Status::OK();
}

Status PropertyReader::TablesOf(const std::shared_ptr<ColumnFamily>& family,
                                TablePropertiesCollection* properties) const {
  properties->clear();
  const ViewOfCall view(background_, *family);
  Status status;
  ForEachFile(*view->version, [&](Level, FileMetaData* file) {
    if (status.ok()) status = AddTable(*family, file, properties);
  });
  return status;
}

Status PropertyReader::TablesByLevel(
    const std::shared_ptr<ColumnFamily>& family,
    std::vector<std::unique_ptr<TablePropertiesCollection>>* levels) const {
  levels->clear();
  const ViewOfCall view(background_, *family);
  for (Level level = 0; level < view->version->levels(); ++level)
    levels->push_back(std::make_unique<TablePropertiesCollection>());
  Status status;
  ForEachFile(*view->version, [&](Level level, FileMetaData* file) {
    if (status.ok()) status = AddTable(*family, file, (*levels)[level].get());
  });
  return status;
}

Status PropertyReader::TablesInRanges(const std::shared_ptr<ColumnFamily>& family,
                                      std::span<const Range> ranges,
                                      TablePropertiesCollection* properties) const {
  properties->clear();
  const ViewOfCall view(background_, *family);
  const Version& version = *view->version;
  std::set<FileMetaData*> found;  // once each: ranges may overlap
  for (const Range& range : ranges) {
    if (version.comparator().Compare(range.start, range.limit) > 0) continue;
    for (Level level = 0; level < version.levels(); ++level) {
      for (FileMetaData* const file :
           version.OverlappingFiles(level, {.smallest = &range.start, .largest = &range.limit}))
        found.insert(file);
    }
  }
  for (FileMetaData* const file : found)
    ASHLAR_RETURN_IF_ERROR(AddTable(*family, file, properties));
  return Status::OK();
}

bool AnyValuePinned(DatabaseState* state) {
  state->DrainEpochs();
  // Includes dropped families that their handles keep. They are released without the mutex.
  std::vector<std::shared_ptr<ColumnFamily>> families;
  MutexLock lock(state->mutex());
  const EpochGuard guard(state->epochs);
  families = state->LiveFamilies();
  for (const std::weak_ptr<ColumnFamily>& dropped : state->Families().dropped) {
    if (std::shared_ptr<ColumnFamily> family = dropped.lock(); family != nullptr)
      families.push_back(std::move(family));
  }
  int64_t views = 0;
  int64_t linked = 0;
  int64_t cached = 0;
  for (const std::shared_ptr<ColumnFamily>& family : families) {
    if (family->ActiveLocked()->PinCount() > 0 || family->view()->pins.Count() > 0) return true;
    ++views;
    linked += 1 + static_cast<int64_t>(family->immutable().size());
    for (const MemTableEntry& entry : family->immutable()) {
      if (entry.table->PinCount() > 0) return true;
    }
    bool pinned = false;
    ForEachFile(*family->version(), [&](Level, FileMetaData* file) {
      TableReader* const reader = TableCache::FindOpen(file);
      if (reader == nullptr) return;
      const TableReader::BlockCensus census = reader->CountBlocks();
      cached += census.cached;
      pinned |= census.any_pinned || reader->Refs() > 0;
    });
    if (pinned) return true;
  }
  // All linked objects were checked, so an unlinked one that still exists is pinned.
  return state->live_views.load(std::memory_order_acquire) > views ||
         state->live_memtables.load(std::memory_order_acquire) > linked ||
         state->live_blocks.load(std::memory_order_acquire) > cached;
}

}  // namespace ashlar
