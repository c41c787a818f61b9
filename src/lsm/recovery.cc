#include "lsm/recovery.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <utility>

#include "ashlar/write_batch.h"
#include "base/assert.h"
#include "base/coding.h"
#include "base/format.h"
#include "filesystem/file_helpers.h"
#include "filesystem/filename.h"
#include "key/write_batch_internal.h"
#include "lsm/job_events.h"
#include "lsm/lost_files.h"
#include "lsm/memtable_inserter.h"
#include "lsm/options_file.h"
#include "lsm/predecessor_record.h"
#include "lsm/resolve_options.h"
#include "manifest/read_without_lock.h"
#include "observe/event_line.h"
#include "platform/path.h"
#include "wal/log_reader.h"
#include "wal/recovery_policy.h"

namespace ashlar {

namespace {

// The state that the MANIFEST gives. No lock is needed: no other thread knows the database yet.
const PublishedState& Recovered(const DatabaseState& state) {
  kDatabaseMutex.AssertHeld();
  return state.versions->Published();
}

constexpr size_t kOptionsFilesKept = 2;
constexpr size_t kIdentityBytesMax = 1024;

std::string RandomDigits(size_t count, const char* alphabet, size_t symbols) {
  std::random_device device;
  std::uniform_int_distribution<size_t> pick(0, symbols - 1);
  std::string digits;
  for (size_t i = 0; i < count; ++i) digits.push_back(alphabet[pick(device)]);
  return digits;
}

// ---- The directory.

// Creates the directory where it is missing and makes its entry durable: otherwise a power cut
// could take the database with everything that was synced in it.
Status CreateDirectoryDurably(FileSystem* fs, const std::string& path) {
  const bool was_there = fs->FileExists(path).ok();
  ASHLAR_RETURN_IF_ERROR(fs->CreateDirIfMissing(path));
  std::unique_ptr<Directory> parent;
  const Status opened = fs->NewDirectory(ParentDirectory(path), &parent);
  // A process that may use a directory need not be allowed to read its parent.
  if (!opened.ok()) return was_there ? Status::OK() : opened;
  return parent->Sync();
}

struct FoundFile {
  std::string name;
  uint64_t number = 0;
  FileType type = FileType::kTempFile;
};

// The files with names of a database. A directory that is missing has none.
Result<std::vector<FoundFile>> ListFiles(const DatabaseState& state, const std::string& directory) {
  std::vector<std::string> names;
  std::vector<FoundFile> files;
  const Status listed = state.file_system->GetChildren(directory, &names);
  if (listed.IsPathNotFound()) return files;
  ASHLAR_RETURN_IF_ERROR(listed);
  for (std::string& name : names) {
    FoundFile file;
    if (!ParseFileName(name, &file.number, &file.type)) continue;
    file.name = std::move(name);
    files.push_back(std::move(file));
  }
  return files;
}

// Without CURRENT there is no database, unless it got lost: then a new one would push the tables
// and logs of the old one aside. The creation of a database that was cut off leaves no more than
// its first MANIFEST.
Status CheckNothingIsThere(FileSystem* fs, const std::string& directory) {
  constexpr uint64_t kFirstManifest = 1;
  std::vector<std::string> names;
  ASHLAR_RETURN_IF_ERROR(fs->GetChildren(directory, &names));
  for (const std::string& name : names) {
    uint64_t number = 0;
    FileType type;
    if (!ParseFileName(name, &number, &type)) continue;
    const bool of_a_database = type == FileType::kTableFile || type == FileType::kWalFile ||
                               type == FileType::kBlobFile ||
                               (type == FileType::kDescriptorFile && number > kFirstManifest);
    if (of_a_database)
      return Status::Corruption(CurrentFileName(directory),
                                StrCat("is missing, but there are files of a database: ", name));
  }
  return Status::OK();
}

// Whether there is a database, which has to suit the options. Without the lock the answer serves
// only to refuse.
Result<bool> FindDatabase(const DatabaseState& state) {
  const Status there = state.file_system->FileExists(CurrentFileName(state.directory));
  if (there.ok()) {
    if (state.options.error_if_exists && !state.read_only) {
      return Status::InvalidArgument(state.directory, "exists (error_if_exists is true)");
    }
    return true;
  }
  if (!there.IsNotFound() && !there.IsPathNotFound()) return there;
  if (state.options.best_efforts_recovery && !state.read_only) {
    ASHLAR_ASSIGN_OR_RETURN(const std::vector<FoundFile> files, ListFiles(state, state.directory));
    const bool has_manifest = std::any_of(files.begin(), files.end(), [](const FoundFile& file) {
      return file.type == FileType::kDescriptorFile;
    });
    if (has_manifest) return true;
  }
  if (state.read_only) {
    return Status::PathNotFound(CurrentFileName(state.directory),
                                "does not exist, and a read-only open creates no database");
  }
  if (!state.options.create_if_missing) {
    return Status::InvalidArgument(CurrentFileName(state.directory),
                                   "does not exist (create_if_missing is false): set "
                                   "DBOptions::create_if_missing to create the database");
  }
  return false;
}

Status PrepareDirectory(DatabaseState* state) {
  FileSystem* const fs = state->file_system;
  // Refuses early, so that a directory without a database gets no LOCK.
  ASHLAR_ASSIGN_OR_RETURN(const bool was_there, FindDatabase(*state));
  if (state->read_only) return Status::OK();
  if (!was_there) ASHLAR_RETURN_IF_ERROR(CreateDirectoryDurably(fs, state->directory));
  if (state->options.create_if_missing && state->wal_directory != state->directory) {
    ASHLAR_RETURN_IF_ERROR(CreateDirectoryDurably(fs, state->wal_directory));
  }
  ASHLAR_RETURN_IF_ERROR(fs->LockFile(LockFileName(state->directory), &state->lock));
  ASHLAR_RETURN_IF_ERROR(fs->NewDirectory(state->directory, &state->directory_handle));
  ASHLAR_RETURN_IF_ERROR(fs->NewDirectory(state->wal_directory, &state->wal_directory_handle));
  // Another process may have created or destroyed the database before this one got the lock.
  ASHLAR_ASSIGN_OR_RETURN(const bool is_there, FindDatabase(*state));
  if (is_there) return Status::OK();
  ASHLAR_RETURN_IF_ERROR(CheckNothingIsThere(fs, state->directory));
  return VersionSet::CreateNewDatabase(fs, state->directory, NewDatabaseId());
}

// Tables are opened and written long after the database: whether the directory's file system can
// bypass the page cache is asked now.
Status CheckDirectIo(const DatabaseState& state) {
  if (!state.options.use_direct_reads && !state.options.use_direct_io_for_flush_and_compaction)
    return Status::OK();
  std::unique_ptr<RandomAccessFile> probe;
  const FileOptions direct{.use_direct_io = true};
  const Status opened =
      state.file_system->NewRandomAccessFile(CurrentFileName(state.directory), direct, &probe);
  return opened.WithContext("DBOptions::use_direct_reads, use_direct_io_for_flush_and_compaction");
}

// ---- The logs.

// One more than the offset of the last byte after `from` that is not zero; `from` if there is none.
Result<uint64_t> FindContentsEnd(FileSystem* fs, const std::string& name, uint64_t from) {
  constexpr size_t kPieceBytes = size_t{1} << 16;
  std::unique_ptr<SequentialFile> file;
  ASHLAR_RETURN_IF_ERROR(fs->NewSequentialFile(name, FileOptions(), &file));
  ASHLAR_RETURN_IF_ERROR(file->Skip(from));
  const auto scratch = std::make_unique_for_overwrite<char[]>(kPieceBytes);
  uint64_t end = from;
  for (uint64_t offset = from;;) {
    Slice piece;
    ASHLAR_RETURN_IF_ERROR(file->Read(kPieceBytes, &piece, scratch.get()));
    if (piece.empty()) return end;
    const auto last =
        std::find_if(std::make_reverse_iterator(piece.end()),
                     std::make_reverse_iterator(piece.begin()), [](char c) { return c != 0; });
    const auto used_bytes = static_cast<uint64_t>(last.base() - piece.begin());
    if (used_bytes > 0) end = offset + used_bytes;
    offset += piece.size();
  }
}

class LogReplay {
 public:
  LogReplay(DatabaseState* state, WALRecoveryMode mode)
      : state_(state),
        mode_(mode),
        report_(&state->recovery),
        sequence_(Recovered(*state).last_sequence) {}

  // Finds the logs that are needed. Read-only it also opens them, newest first: an older log is
  // complete by the time its size is taken.
  Status FindLogs() {
    std::vector<std::string> names;
    ASHLAR_RETURN_IF_ERROR(state_->file_system->GetChildren(state_->wal_directory, &names));
    oldest_ = std::max(Recovered(*state_).MinLogNumberWithUnflushedData(),
                       Recovered(*state_).min_log_number_to_keep);
    for (const std::string& name : names) {
      uint64_t number = 0;
      FileType type = FileType::kTempFile;
      const bool parsed = ParseFileName(name, &number, &type);
      const bool is_log = parsed ? type == FileType::kWalFile : name.ends_with(".log");
      if (!is_log) continue;
      if (!parsed || !state_->versions->MayBelong(number)) {
        report_->warnings.push_back(StrCat(state_->wal_directory, "/", name,
                                           " is not a log of this database, which has never "
                                           "reached such a number; the file is left alone"));
        continue;
      }
      state_->versions->MarkFileNumberUsed(number);
      if (number >= oldest_) logs_.push_back({.number = number});
    }
    std::sort(logs_.begin(), logs_.end(),
              [](const Log& a, const Log& b) { return a.number < b.number; });
    // A listing during which files come and go may give one name twice.
    logs_.erase(std::unique(logs_.begin(), logs_.end(),
                            [](const Log& a, const Log& b) { return a.number == b.number; }),
                logs_.end());
    for (const Log& log : logs_) {
      ASHLAR_ASSERT(report_->logs.empty() || report_->logs.back() < log.number);  // no name twice
      report_->logs.push_back(log.number);
    }
    for (const auto& [number, synced_bytes] : Recovered(*state_).recorded_logs) {
      if (!WentBack() && number >= oldest_ && synced_bytes.has_value() &&
          !std::binary_search(report_->logs.begin(), report_->logs.end(), number)) {
        return Status::Corruption(WalFileName(state_->wal_directory, number),
                                  "the log is on record as synced, and missing");
      }
    }
    if (!state_->read_only) return Status::OK();
    for (auto log = logs_.rbegin(); log != logs_.rend(); ++log) {
      const Status opened = OpenLog(&*log);
      if (opened.IsPathNotFound()) return opened;
      // Other errors, such as too many open files, are reported when the log is replayed.
      if (!opened.ok()) log->file.reset();
    }
    return Status::OK();
  }

  Status Run() {
    for (Log& log : logs_) {
      if (WentBack()) {
        stopped_early_ = true;
        AddLoss({.number = log.number,
                 .reason = StrCat(LogName(log.number),
                                  ": the log does not continue the state of the tables "
                                  "(best_efforts_recovery)")});
      } else if (dropped_rest_) {
        AddLoss({.number = log.number,
                 .reason = StrCat(LogName(log.number), ": the log before it ends early")});
      } else {
        ASHLAR_RETURN_IF_ERROR(ReplayLog(&log));
      }
    }
    if (dropped_rest_ && !report_->DamagedLogs().empty()) report_->NoTornTails();
    report_->must_flush =
        stopped_early_ || (applied_records_ && !state_->options.avoid_flush_during_recovery);
    ASHLAR_ASSERT(sequence_ >= Recovered(*state_).last_sequence);  // I3 of database_state.h
    state_->published_sequence.store(sequence_, std::memory_order_release);
    return Status::OK();
  }
  // Of a log that was read: where its last record ends. 0 for one that was not.
  uint64_t good_bytes(uint64_t number) const {
    const auto found = good_bytes_.find(number);
    return found == good_bytes_.end() ? 0 : found->second;
  }
  bool applied_records() const { return applied_records_; }

 private:
  struct Log {
    uint64_t number = 0;
    uint64_t bytes = 0;                         // when it was opened
    std::unique_ptr<SequentialFile> file = {};  // null: not open
  };

  bool WentBack() const { return !state_->versions->went_back().empty(); }
  std::string LogName(uint64_t number) const { return WalFileName(state_->wal_directory, number); }

  Status OpenLog(Log* log) const {
    const std::string name = LogName(log->number);
    ASHLAR_RETURN_IF_ERROR(state_->file_system->NewSequentialFile(name, FileOptions(), &log->file));
    return state_->file_system->GetFileSize(name, &log->bytes);
  }

  // Adds a loss that goes on to the end of the log. Nothing but zeros is no loss.
  void AddLoss(RecoveryReport::Loss loss) {
    const Result<uint64_t> end =
        FindContentsEnd(state_->file_system, LogName(loss.number), loss.offset);
    // Another process may have deleted the log of a read-only database.
    if (end.ok() && *end == loss.offset) return;
    loss.bytes = end.ok() ? *end - loss.offset : 0;
    report_->losses.push_back(std::move(loss));
  }

  Status ReplayLog(Log* log) {
    const uint64_t number = log->number;
    if (log->file == nullptr) ASHLAR_RETURN_IF_ERROR(OpenLog(log));
    LogReader reader(std::move(log->file), LogName(number), number, log->bytes);
    MemTableInserter inserter(MemTableInserter::Args{
        .families = &state_->Families(), .replaying = true, .log_number = number});
    Slice record;
    std::string scratch;
    std::optional<RecoveryReport::Loss>
        skipped;  // begun by damage that is skipped; ends where the next record begins
    for (;;) {
      while (reader.ReadRecord(&record, &scratch)) {
        if (skipped.has_value()) {
          skipped->bytes = reader.record_offset() - skipped->offset;
          report_->losses.push_back(*std::exchange(skipped, std::nullopt));
        }
        ASHLAR_RETURN_IF_ERROR(ReplayRecord(reader, record, &inserter));
        if (dropped_rest_) return Status::OK();
        if (inserter.TakeFoundFull()) SwitchFullMemTables(number);
      }
      const LogStop stop{.mode = mode_,
                         .outcome = reader.outcome(),
                         .last_good_offset = reader.last_good_offset(),
                         .synced_bytes = SyncedBytes(number)};
      const LogStopAction action = DecideAtLogStop(stop);
      if (action == LogStopAction::kFail) return LogStopFailure(reader, stop);
      if (reader.outcome() != LogReader::Outcome::kEnd) {
        stopped_early_ = true;
        if (!skipped.has_value()) {
          skipped = RecoveryReport::Loss{
              .number = number,
              .offset = reader.last_good_offset(),
              .is_torn_tail = reader.outcome() == LogReader::Outcome::kTornTail,
              .reason = reader.status().getState()};
        }
      }
      if (action == LogStopAction::kSkipDamage) {
        reader.SkipDamage();
        continue;
      }
      if (skipped.has_value()) AddLoss(*std::move(skipped));
      ASHLAR_ASSERT(!good_bytes_.contains(number));  // each log is read once
      good_bytes_[number] = reader.last_good_offset();
      continuity_ = ContinuityAfter(action, continuity_);
      if (action == LogStopAction::kNextLogOrStop)
        ASHLAR_RETURN_IF_ERROR(CheckNoFamilyIsAhead(number, reader.status()));
      return Status::OK();
    }
  }

  Status ReplayRecord(const LogReader& reader, const Slice& record, MemTableInserter* inserter) {
    const auto context = [&](const Status& status) {
      return status.WithContext(
          StrCat(reader.file_name(), ": batch of the record at offset ", reader.record_offset()));
    };
    if (record.size() < WriteBatchInternal::kHeaderBytes)
      return context(Status::Corruption("shorter than a batch's header"));
    const SequenceNumber first = WriteBatchInternal::Sequence(record);
    if (DecodeFixed32(record.data() + sizeof(SequenceNumber)) == 0) {
      if (const std::optional<PredecessorRecord> head = DecodePredecessorRecord(record);
          head.has_value())
        return CheckContinues(reader, *head);
    }
    switch (DecideAtRecord(continuity_, first, next_replayed_.value_or(sequence_ + 1))) {
      case RecordAction::kApply: continuity_ = Continuity::kNotNeeded; break;
      case RecordAction::kDropRest:
        dropped_rest_ = true;
        AddLoss({.number = reader.log_number(),
                 .offset = reader.record_offset(),
                 .reason = StrCat(reader.file_name(), ": records before the one at offset ",
                                  reader.record_offset(), " are missing")});
        return Status::OK();
      case RecordAction::kFail: return context(Status::Corruption("records before it are missing"));
    }
    const WriteBatch batch(record.ToString());
    if (first > kSequenceNumberMaxAtOpen || batch.Count() > kSequenceNumberMaxAtOpen - first) {
      return context(Status::Corruption(StrCat("the sequence ", first,
                                               " is above the highest that is allowed, ",
                                               kSequenceNumberMaxAtOpen)));
    }
    if (const Status checked = WriteBatchInternal::CheckApplicable(&batch); !checked.ok())
      return context(checked);
    bool has_applied = false;
    if (const Status applied = inserter->Apply(batch.Data(), first, &has_applied); !applied.ok())
      return context(applied);
    const uint32_t count = batch.Count();
    next_replayed_ = first + count;
    if (count > 0) sequence_ = std::max(sequence_, first + count - 1);
    applied_records_ |= count > 0;
    return Status::OK();
  }

  // The head of a log says how long the one before it was: whether that one was read to its end.
  Status CheckContinues(const LogReader& reader, const PredecessorRecord& head) {
    if (head.previous_number < oldest_ || mode_ == WALRecoveryMode::kSkipAnyCorruptedRecords)
      return Status::OK();
    const std::string previous = WalFileName(state_->wal_directory, head.previous_number);
    const auto read = good_bytes_.find(head.previous_number);
    if (read == good_bytes_.end())
      return Status::Corruption(
          previous, StrCat("the log is missing, and ", reader.file_name(), " continues it"));
    if (read->second >= head.previous_bytes) {
      continuity_ = Continuity::kNotNeeded;
      return Status::OK();
    }
    const Status cut =
        Status::Corruption(previous, StrCat("the log ends at offset ", read->second, ", but ",
                                            head.previous_bytes, " bytes were written to it"));
    if (mode_ != WALRecoveryMode::kPointInTimeRecovery) return cut;
    dropped_rest_ = true;
    stopped_early_ = true;
    AddLoss({.number = reader.log_number(),
             .offset = reader.last_good_offset(),
             .reason = StrCat(reader.file_name(), ": ", cut.getState())});
    return CheckNoFamilyIsAhead(head.previous_number, cut);
  }

  void SwitchFullMemTables(uint64_t log_number) {
    MutexLock lock(state_->mutex());
    for (const std::shared_ptr<ColumnFamily>& family : state_->LiveFamilies()) {
      if (!family->IsFull()) continue;
      // The log number stays that of the first log: nothing is installed before the end of the
      // replay.
      const uint64_t number = std::min(family->active_log_number(), log_number);
      family->SwitchMemTable(family->PrepareSwitch(), number);
    }
  }

  uint64_t SyncedBytes(uint64_t number) const {
    const RecordedLogs& logs = Recovered(*state_).recorded_logs;
    const auto found = logs.find(number);
    return found == logs.end() ? 0 : found->second.value_or(0);
  }

  Status CheckNoFamilyIsAhead(uint64_t stopped_log, const Status& damage) const {
    for (const auto& [id, family] : Recovered(*state_).families) {
      if (FamilyIsAhead(family->log_number, family->current->NumFiles() > 0, stopped_log)) {
        return Status::Corruption(StrCat("column family ", family->name,
                                         " has tables that are newer than the damage in the log, "
                                         "so the families cannot be brought to one "
                                         "point in time"),
                                  damage.getState());
      }
    }
    return Status::OK();
  }

  DatabaseState* const state_;
  const WALRecoveryMode mode_;
  RecoveryReport* const report_;
  SequenceNumber sequence_;
  std::optional<SequenceNumber>
      next_replayed_;    // one more than the last one replayed; the MANIFEST may know of later ones
  uint64_t oldest_ = 0;  // logs below are not needed
  std::vector<Log> logs_;  // ascending
  std::map<uint64_t, uint64_t>
      good_bytes_;  // of the logs read so far: up to the end of the last record
  Continuity continuity_ = Continuity::kNotNeeded;
  bool dropped_rest_ = false;
  bool stopped_early_ =
      // a log ended early: recovered records must reach tables before a new one is logged
      false;
  bool applied_records_ = false;
};

// ---- The families.

Status OpenVersions(DatabaseState* state, const std::vector<ColumnFamilyDescriptor>& descriptors) {
  state->versions = std::make_unique<VersionSet>(VersionSet::Args{
      .file_system = state->file_system,
      .directory = state->directory,
      .manifest_bytes_max = state->options.max_manifest_file_size,
      .drop_file =
          [state](FileMetaData* file) {
            state->open_tables.Evict(file);
            state->obsolete_files.AddTable(
                {.number = file->number, .file_bytes = file->file_bytes});
          },
      .pinned_tables = state->pinned_tables.get(),
      .recorder = state->recorder,
      .best_efforts = state->options.best_efforts_recovery,
  });
  std::vector<ColumnFamilySpec> specs;
  for (const ColumnFamilyDescriptor& descriptor : descriptors) {
    specs.push_back(ColumnFamilySpec{.name = descriptor.name,
                                     .comparator = KeyComparator(descriptor.options.comparator),
                                     .levels = static_cast<Level>(descriptor.options.num_levels)});
  }
  ASHLAR_RETURN_IF_ERROR(state->versions->Recover(specs, state->read_only));
  for (const std::string& family : state->versions->went_back()) {
    state->recovery.warnings.push_back(
        StrCat("column family ", family,
               " is opened in an older state, the newest of which every table exists "
               "(best_efforts_recovery)"));
  }
  if (!state->versions->database_id().empty()) return Status::OK();
  // Databases of old releases have it in the file only, or not at all.
  Result<std::string> identity = ReadIdentity(state->file_system, state->directory);
  if (identity.ok() && !identity->empty())
    state->versions->set_database_id(std::move(identity).value());
  return Status::OK();
}

Status OpenFamilies(DatabaseState* state, const std::vector<ColumnFamilyDescriptor>& descriptors) {
  for (const ColumnFamilyDescriptor& descriptor : descriptors) {
    const ColumnFamilyState* const recorded = Recovered(*state).FindFamily(Slice(descriptor.name));
    if (recorded == nullptr) {
      if (state->options.create_missing_column_families && !state->read_only)
        continue;  // created once the database is open
      return Status::InvalidArgument(StrCat(state->directory,
                                            ": there is no column family of this name; "
                                            "DBOptions::create_missing_column_families makes it"),
                                     descriptor.name);
    }
    MutexLock lock(state->mutex());
    state->SetFamilies(
        FamiliesWith(*state, MakeColumnFamily(state, *recorded, recorded->current,
                                              descriptor.options, recorded->log_number)));
  }
  return Status::OK();
}

}  // namespace

Result<std::string> ReadIdentity(FileSystem* file_system, const std::string& directory) {
  ASHLAR_ASSIGN_OR_RETURN(
      std::string identity,
      ReadFileToString(file_system, IdentityFileName(directory), kIdentityBytesMax));
  while (!identity.empty() && identity.back() == '\n') identity.pop_back();
  return identity;
}

Status EnsureIdentity(DatabaseState* state) {
  ASHLAR_ASSERT(state->lock != nullptr);  // it may write
  const Result<std::string> identity = ReadIdentity(state->file_system, state->directory);
  if (identity.ok() && !identity->empty()) return Status::OK();
  if (!identity.ok() && !identity.status().IsNotFound() && !identity.status().IsPathNotFound()) {
    // Another error than its absence, so that the file may hold an identity: it is left alone.
    return state->versions->database_id().empty() ? identity.status() : Status::OK();
  }
  if (state->versions->database_id().empty()) state->versions->set_database_id(NewDatabaseId());
  const std::string temporary = TempFileName(state->directory, state->versions->NewFileNumber());
  ASHLAR_RETURN_IF_ERROR(WriteStringToFile(state->file_system, state->versions->database_id(),
                                           temporary, Durability::kSynced));
  ASHLAR_RETURN_IF_ERROR(
      state->file_system->RenameFile(temporary, IdentityFileName(state->directory)));
  return state->directory_handle->Sync();
}

std::string NewDatabaseId() {
  std::string id = RandomDigits(36, "0123456789abcdef", 16);
  for (const size_t dash : {size_t{8}, size_t{13}, size_t{18}, size_t{23}}) id[dash] = '-';
  id[14] = '4';  // version 4, variant 1: a random UUID
  id[19] = "89ab"[static_cast<size_t>(id[19]) % 4];
  return id;
}

std::string NewSessionId() { return RandomDigits(20, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", 36); }

std::shared_ptr<ColumnFamily> MakeColumnFamily(DatabaseState* state,
                                               const ColumnFamilyState& recorded, Version* version,
                                               const ColumnFamilyOptions& options,
                                               uint64_t log_number) {
  ASHLAR_ASSERT(version != nullptr);  // I1 of column_family.h
  ColumnFamilyOptions filled = options;
  FillDefaults(&filled);
  const std::shared_ptr<Cache> cache = ResolveBlockCache(&filled);
  auto tables = std::make_unique<TableCache>(
      TableCacheArgs{.file_system = state->file_system,
                     .epochs = &state->epochs,
                     .directory = state->directory,
                     .comparator = recorded.comparator,
                     .config = ResolveTableConfig(filled),
                     .plain_config = ResolvePlainTableConfig(filled),
                     .block_cache = static_cast<BlockCache*>(cache.get()),
                     .open_tables = &state->open_tables,
                     .pinned_tables = state->pinned_tables.get(),
                     .mmap_reads = state->options.allow_mmap_reads,
                     .direct_reads = state->options.use_direct_reads,
                     .recorder = state->recorder,
                     .live_blocks = &state->live_blocks,
                     .random_access_hint = state->options.advise_random_on_open,
                     .prefix_extractor = filled.prefix_extractor});
  // A cache that no family uses any more stays as long as a block of it is pinned.
  std::erase_if(state->block_caches, [](const std::shared_ptr<Cache>& other) {
    return other.use_count() == 1 && other->GetUsage() == 0;
  });
  std::erase(state->block_caches, cache);
  if (cache != nullptr) state->block_caches.push_back(cache);
  CompactionConfig compaction = ResolveCompactionConfig(filled, state->options);
  const uint32_t user_key_bytes = ResolveUserKeyBytes(filled);
  return std::make_shared<ColumnFamily>(
      ColumnFamily::Args{.id = recorded.id,
                         .name = recorded.name,
                         .options = std::move(filled),
                         .compaction = std::move(compaction),
                         .tables = std::move(tables),
                         .arena_blocks = &state->arena_blocks,
                         .epochs = &state->epochs,
                         .live_memtables = &state->live_memtables,
                         .live_views = &state->live_views,
                         .version = version,
                         .log_number = log_number,
                         .user_key_bytes = user_key_bytes,
                         .compact_cursors = recorded.compact_cursors});
}

std::unique_ptr<FamilyTable> FamiliesWith(const DatabaseState& state,
                                          std::shared_ptr<ColumnFamily> family) {
  const FamilyTable* const old = state.family_table.load(std::memory_order_acquire);
  auto families =
      old != nullptr ? std::make_unique<FamilyTable>(*old) : std::make_unique<FamilyTable>();
  families->Add(std::move(family));
  return families;
}

namespace {

// Writes the findings about the logs to the LOG.
void LogRecovery(const DatabaseState& state) {
  for (const std::string& warning : state.recovery.warnings)
    LogWarning(state, StrCat("recovery: ", warning));
  for (const RecoveryReport::Loss& loss : state.recovery.losses) {
    LogWarning(state, StrCat("recovery: ", loss.reason, ": ", loss.bytes, " bytes from offset ",
                             loss.offset, " are not replayed",
                             loss.is_torn_tail ? ", as after the death of a process" : ""));
  }
  for (const std::string& path : state.recovery.kept_logs)
    LogWarning(state, StrCat("recovery: a damaged log is kept as ", path));
}

Status KeepDamagedLogs(DatabaseState* state) {
  ASHLAR_ASSERT(!state->read_only);
  for (const uint64_t number : state->recovery.DamagedLogs()) {
    ASHLAR_ASSIGN_OR_RETURN(std::string copy, KeepLog(*state, number));
    state->recovery.kept_logs.push_back(std::move(copy));
  }
  return Status::OK();
}

// The numbers of the tables and MANIFESTs that are there are not used again: a table that no
// version lists may be a link to a file from outside (taken_file.h), which a new table would
// overwrite. What best_efforts_recovery leaves of newer states is kept.
Status KeepFoundFiles(DatabaseState* state) {
  const bool went_back = !state->versions->went_back().empty();
  const std::unordered_set<FileNumber> live = state->versions->LiveTables();
  ASHLAR_ASSIGN_OR_RETURN(const std::vector<FoundFile> files, ListFiles(*state, state->directory));
  for (const FoundFile& file : files) {
    const bool is_table = file.type == FileType::kTableFile;
    const bool is_manifest = file.type == FileType::kDescriptorFile;
    if ((!is_table && !is_manifest) || !state->versions->MayBelong(file.number)) continue;
    state->versions->MarkFileNumberUsed(file.number);
    if (!went_back || (is_table && live.contains(file.number))) continue;
    ASHLAR_RETURN_IF_ERROR(
        KeepFile(state->file_system, state->directory, StrCat(state->directory, "/", file.name))
            .status());
  }
  return Status::OK();
}

// Recovers versions, families and memtables. Requires: the lock, unless read-only.
Status RecoverState(const OpenArgs& args, DatabaseState* state) {
  ASHLAR_RETURN_IF_ERROR(CheckDirectIo(*state));
  std::vector<ColumnFamilyDescriptor> families = args.families;
  ASHLAR_RETURN_IF_ERROR(TakeRecordedObjects(state, &families));
  ASHLAR_RETURN_IF_ERROR(OpenVersions(state, families));
  LogReplay replay(state, args.salvages_logs ? WALRecoveryMode::kSkipAnyCorruptedRecords
                                             : state->options.wal_recovery_mode);
  ASHLAR_RETURN_IF_ERROR(replay.FindLogs());
  if (state->read_only) ASHLAR_RETURN_IF_ERROR(state->versions->CheckManifestUnchanged());
  ASHLAR_RETURN_IF_ERROR(OpenFamilies(state, families));
  if (!state->read_only) {
    EventLine(state->logger.get(), state->clock->NowUnixMicros(), 0, "recovery_started")
        .Add("wal_files", state->recovery.logs);
  }
  ASHLAR_RETURN_IF_ERROR(replay.Run());
  if (args.error_if_log_exists && replay.applied_records()) {
    return Status::Corruption(args.directory,
                              "there is a log with records, and error_if_wal_file_exists is set");
  }
  for (const uint64_t number : state->recovery.logs)
    state->logs.AdoptClosed(number, replay.good_bytes(number));
  ASHLAR_ASSERT(state->logs.current_number() == 0);  // I1
  if constexpr (kDebugChecks) {
    MutexLock lock(state->mutex());
    state->CheckInvariants();
  }
  return Status::OK();
}

bool MayDeleteManifest(DatabaseState* state, FileNumber number) {
  MutexLock installers(state->manifest_mutex());
  return state->versions->MayDeleteManifest(number);
}

std::unique_ptr<DatabaseState> NewState(const OpenArgs& args) {
  auto state = std::make_unique<DatabaseState>(args.options, args.directory);
  state->read_only = args.read_only;
  state->session_id = NewSessionId();
  state->logger = args.options.info_log;
  MutexLock lock(state->mutex());
  state->SetFamilies(std::make_unique<FamilyTable>());
  return state;
}

Result<std::unique_ptr<DatabaseState>> RecoverForWriting(const OpenArgs& args) {
  std::unique_ptr<DatabaseState> state = NewState(args);
  ASHLAR_RETURN_IF_ERROR(PrepareDirectory(state.get()));
  OpenInfoLog(state.get(), args.families);
  Status recovered = RecoverState(args, state.get());
  if (recovered.ok()) recovered = KeepDamagedLogs(state.get());
  if (recovered.ok()) recovered = KeepFoundFiles(state.get());
  LogRecovery(*state);
  if (recovered.ok()) return state;
  LogWarning(*state, StrCat("the open failed: ", recovered.ToString()));
  return recovered;
}

Result<std::unique_ptr<DatabaseState>> RecoverForReading(const OpenArgs& args) {
  // Tables stay open from one attempt to the next: a table that both need cannot be missed any
  // more.
  const auto pinned_tables = std::make_shared<PinnedTables>(
      PinnedTables::Args{.file_system = args.options.env->GetFileSystem().get(),
                         .file_options = {.use_mmap_reads = args.options.allow_mmap_reads,
                                          .use_direct_io = args.options.use_direct_reads},
                         .files_max = ResolveOpenTablesMax(args.options)});
  std::unique_ptr<DatabaseState> state;
  const Status recovered = ReadWithoutLock([&]() -> Status {
    state = NewState(args);
    state->pinned_tables = pinned_tables;
    Status status = PrepareDirectory(state.get());
    if (status.ok()) status = RecoverState(args, state.get());
    if (!status.ok()) {
      state.reset();
      return status;
    }
    // A record that is being written may look like damage.
    const std::string damage = state->recovery.DamageReasons();
    return damage.empty() ? Status::OK() : Status::Corruption(damage);
  });
  if (state == nullptr) return recovered;
  pinned_tables->Retain(state->versions->LiveTables());
  LogRecovery(*state);
  return state;
}

// FileJanitor tries again what fails here.
Status DeleteOrphan(DatabaseState* state, const std::string& path) {
  Status deleted = DeleteObsoleteFile(*state, path);
  if (!deleted.ok() && !deleted.IsPathNotFound()) state->obsolete_files.AddOther(path);
  return deleted;
}

}  // namespace

Result<std::unique_ptr<DatabaseState>> RecoverDatabase(OpenArgs args) {
  for (ColumnFamilyDescriptor& descriptor : args.families) FillDefaults(&descriptor.options);
  return args.read_only ? RecoverForReading(args) : RecoverForWriting(args);
}

void DeleteOrphans(DatabaseState* state, uint64_t oldest_needed_log) {
  ASHLAR_ASSERT(state->lock != nullptr);  // I3 of file_janitor.h
  ASHLAR_ASSERT(oldest_needed_log <= state->logs.current_number());
  std::vector<std::string> names;
  if (!state->file_system->GetChildren(state->directory, &names).ok()) return;
  const std::unordered_set<FileNumber> live = state->versions->LiveTables();
  std::vector<uint64_t> options_files;
  const auto remove = [state](const std::string& path) {
    static_cast<void>(DeleteOrphan(state, path).ok());
  };
  for (const std::string& name : names) {
    uint64_t number = 0;
    FileType type;
    if (!ParseFileName(name, &number, &type) || !state->versions->MayBelong(number)) continue;
    const std::string path = state->directory + "/" + name;
    switch (type) {
      case FileType::kTableFile:
        if (!live.contains(number))
          NotifyTableDeleted(*state, path, number, DeleteOrphan(state, path));
        break;
      case FileType::kDescriptorFile:
        if (MayDeleteManifest(state, number)) remove(path);
        break;
      case FileType::kOptionsFile: options_files.push_back(number); break;
      case FileType::kTempFile: remove(path); break;
      default: break;
    }
  }
  std::sort(options_files.begin(), options_files.end());
  for (size_t i = 0; i + kOptionsFilesKept < options_files.size(); ++i)
    remove(OptionsFileName(state->directory, options_files[i]));
  if (!state->file_system->GetChildren(state->wal_directory, &names).ok()) return;
  for (const std::string& name : names) {
    uint64_t number = 0;
    FileType type;
    const bool is_old_log = ParseFileName(name, &number, &type) && type == FileType::kWalFile &&
                            number < oldest_needed_log;
    if (is_old_log) state->obsolete_files.AddOther(WalFileName(state->wal_directory, number));
  }
}

}  // namespace ashlar
