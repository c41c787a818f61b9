#include "lsm/recovery.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/format.h"
#include "base/random_id.h"
#include "filesystem/file_helpers.h"
#include "filesystem/filename.h"
#include "key/write_batch_internal.h"
#include "lsm/database_lock.h"
#include "lsm/job_events.h"
#include "lsm/lost_files.h"
#include "lsm/options_file.h"
#include "lsm/replayed_order.h"
#include "lsm/resolve_options.h"
#include "lsm/wal_files.h"
#include "manifest/read_without_lock.h"
#include "observe/event_line.h"
#include "platform/path.h"
#include "wal/log_reader.h"

namespace ashlar {

namespace {

// No lock is needed, because no other thread can access the database yet.
const FamilyTable& FamiliesOf(const DatabaseState& state) {
  kDatabaseMutex.AssertHeld();
  return state.Families();
}

// The state in the MANIFEST. No lock is needed, because no other thread can access the database.
const PublishedState& Recovered(const DatabaseState& state) {
  kDatabaseMutex.AssertHeld();
  return state.versions->Published();
}

// The report being filled. No lock is needed, because no other thread can access the database.
RecoveryReport* ReportOf(DatabaseState* state) {
  kDatabaseMutex.AssertHeld();
  return &state->recovery;
}

constexpr size_t kOptionsFilesKept = 2;
constexpr size_t kIdentityBytesMax = 1024;

// ---- The directory.

struct FoundFile {
  std::string name;
  uint64_t number = 0;
  FileType type = FileType::kTempFile;
};

// Lists the files with names of a database. A missing directory has none.
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

// Without CURRENT there is no database, unless CURRENT was lost. A new database would then replace
// the tables and logs of the old one. An interrupted creation leaves at most the first MANIFEST.
Status CheckNothingIsThere(vfs::FileSystem* fs, const std::string& directory) {
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
                                StrCat("is missing, but there are files of a database: ", name,
                                       "; set best_efforts_recovery, or call RepairDB"));
  }
  return Status::OK();
}

// A new database would replay the logs that another one has here, and then delete them. The other
// one may be open, and would continue with a log that has no name.
Status CheckNoLogIsThere(const DatabaseState& state) {
  ASHLAR_ASSIGN_OR_RETURN(const std::vector<FoundFile> files,
                          ListFiles(state, state.wal_directory));
  for (const FoundFile& file : files) {
    if (file.type != FileType::kWalFile) continue;
    return Status::Corruption(StrCat(state.wal_directory, "/", file.name),
                              StrCat("is a log of another database: a new one in ", state.directory,
                                     " needs a wal_dir without logs"));
  }
  return Status::OK();
}

// Whether there is a database. Fails if that does not suit the options. Without the lock, the
// answer may be used only to refuse an open.
Result<bool> FindDatabase(const DatabaseState& state) {
  const Status there = state.file_system->FileExists(CurrentFileName(state.directory));
  if (there.ok()) {
    if (state.options.error_if_exists && !state.read_only()) {
      return Status::InvalidArgument(state.directory, "exists (error_if_exists is true)");
    }
    return true;
  }
  if (!there.IsNotFound() && !there.IsPathNotFound()) return there;
  if (state.options.best_efforts_recovery && !state.read_only()) {
    ASHLAR_ASSIGN_OR_RETURN(const std::vector<FoundFile> files, ListFiles(state, state.directory));
    const bool has_manifest = std::any_of(files.begin(), files.end(), [](const FoundFile& file) {
      return file.type == FileType::kDescriptorFile;
    });
    // The remains of an interrupted creation are no database.
    if (has_manifest && !CheckNothingIsThere(state.file_system, state.directory).ok()) return true;
  }
  if (state.read_only()) {
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
  vfs::FileSystem* const fs = state->file_system;
  // Refuses early, so that a directory without a database gets no LOCK.
  ASHLAR_ASSIGN_OR_RETURN(const bool was_there, FindDatabase(*state));
  if (state->read_only()) return Status::OK();
  if (!was_there) ASHLAR_RETURN_IF_ERROR(CreateDirDurably(fs, state->directory));
  if (state->options.create_if_missing && state->wal_directory != state->directory) {
    ASHLAR_RETURN_IF_ERROR(CreateDirDurably(fs, state->wal_directory));
  }
  ASHLAR_RETURN_IF_ERROR(TakeDatabase(state));
  // Another process may have created or destroyed the database before this one got the lock.
  ASHLAR_ASSIGN_OR_RETURN(const bool is_there, FindDatabase(*state));
  ASHLAR_RETURN_IF_ERROR(SyncWhatWasFound(*state, is_there));
  if (is_there) return Status::OK();
  ASHLAR_RETURN_IF_ERROR(CheckNothingIsThere(fs, state->directory));
  ASHLAR_RETURN_IF_ERROR(CheckNoLogIsThere(*state));
  return VersionSet::CreateNewDatabase(fs, state->directory, NewDatabaseId());
}

// Tables are opened and written long after the database. This checks at the open whether the
// directory's file system can bypass the page cache.
Status CheckDirectIo(const DatabaseState& state) {
  if (!state.options.use_direct_reads && !state.options.use_direct_io_for_flush_and_compaction)
    return Status::OK();
  std::unique_ptr<vfs::RandomAccessFile> probe;
  const vfs::FileOptions direct{.use_direct_io = true};
  const Status opened =
      state.file_system->NewRandomAccessFile(CurrentFileName(state.directory), direct, &probe);
  return opened.WithContext("DBOptions::use_direct_reads, use_direct_io_for_flush_and_compaction");
}

// ---- The families.

Status OpenVersions(DatabaseState* state, const std::vector<ColumnFamilyDescriptor>& descriptors) {
  // I6: the replay of the MANIFEST opens the tables.
  ASHLAR_ASSERT(!state->read_only() || state->pinned_tables != nullptr);
  state->versions = std::make_unique<VersionSet>(VersionSet::Args{
      .file_system = state->file_system,
      .directory = state->directory,
      .manifest_bytes_max = state->options.max_manifest_file_size,
      .drop_file =
          [state](FileMetaData* file) {
            state->open_tables.Evict(file);
            if (!state->writes_files()) return;  // it deletes no file
            if (state->pinned_tables != nullptr) state->pinned_tables->Forget(file->number);
            state->obsolete_files.AddTable(
                {.number = file->number, .file_bytes = file->file_bytes});
          },
      .adopted_file =
          [state](const FileMetaData& file) { state->space.Track(file.number, file.file_bytes); },
      .pinned_tables = state->pinned_tables.get(),
      .recorder = state->recorder,
      // A secondary continues from its last state.
      .best_efforts = state->options.best_efforts_recovery && !state->is_secondary(),
      .tracks_logs = state->options.track_and_verify_wals_in_manifest,
  });
  std::vector<ColumnFamilySpec> specs;
  for (const ColumnFamilyDescriptor& descriptor : descriptors) {
    specs.push_back(ColumnFamilySpec{.name = descriptor.name,
                                     .comparator = KeyComparator(descriptor.options.comparator),
                                     .levels = static_cast<Level>(descriptor.options.num_levels)});
  }
  ASHLAR_RETURN_IF_ERROR(state->versions->Recover(specs, state->read_only()));
  for (const std::string& family : state->versions->went_back()) {
    ReportOf(state)->warnings.push_back(
        StrCat("column family ", NameForDisplay(family),
               " is opened in an older state, the newest of which every table exists "
               "(best_efforts_recovery)"));
  }
  if (!state->versions->database_id().empty()) return Status::OK();
  // Databases of old releases have the identity only in the file IDENTITY, or not at all.
  Result<std::string> identity = ReadIdentity(state->file_system, state->directory);
  if (identity.ok() && !identity->empty())
    state->versions->set_database_id(std::move(identity).value());
  return Status::OK();
}

Status OpenFamilies(DatabaseState* state, const std::vector<ColumnFamilyDescriptor>& descriptors) {
  auto families = std::make_unique<FamilyTable>();
  for (const ColumnFamilyDescriptor& descriptor : descriptors) {
    const ColumnFamilyState* const recorded = Recovered(*state).FindFamily(Slice(descriptor.name));
    if (recorded == nullptr) {
      if (state->options.create_missing_column_families && !state->read_only())
        continue;  // created once the database is open
      return Status::InvalidArgument(StrCat(state->directory,
                                            ": there is no column family of this name; "
                                            "DBOptions::create_missing_column_families makes it"),
                                     NameForDisplay(descriptor.name));
    }
    MutexLock lock(state->mutex());
    // If a family is named twice, the first options count.
    if (families->Find(recorded->id) != nullptr) continue;
    families->Add(MakeColumnFamily(state, *recorded, recorded->current, descriptor.options,
                                   recorded->log_number));
  }
  MutexLock lock(state->mutex());
  state->SetFamilies(std::move(families));
  return Status::OK();
}

}  // namespace

Result<std::string> ReadIdentity(vfs::FileSystem* file_system, const std::string& directory) {
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
    // The error is not a missing file, so the file may hold an identity and is left alone.
    return state->versions->database_id().empty() ? identity.status() : Status::OK();
  }
  if (state->versions->database_id().empty()) {
    std::string id = NewDatabaseId();
    MutexLock lock(state->mutex());
    state->versions->set_database_id(std::move(id));
  }
  const std::string temporary = TempFileName(state->directory, state->versions->NewFileNumber());
  const uint64_t failures_before = state->directory_handle->failures();
  ASHLAR_RETURN_IF_ERROR(WriteStringToFile(state->file_system, state->versions->database_id(),
                                           temporary, Durability::kSynced));
  ASHLAR_RETURN_IF_ERROR(
      state->file_system->RenameFile(temporary, IdentityFileName(state->directory)));
  return state->directory_handle->Sync(failures_before);
}

Status TakeDatabase(DatabaseState* state) {
  vfs::FileSystem* const fs = state->file_system;
  ASHLAR_RETURN_IF_ERROR(LockDatabase(fs, state->directory, state->wal_directory, &state->lock));
  ASHLAR_ASSIGN_OR_RETURN(state->directory_handle, SyncedDirectory::Open(fs, state->directory));
  state->wal_directory_handle = state->directory_handle;
  if (state->wal_directory == state->directory) return Status::OK();
  ASHLAR_ASSIGN_OR_RETURN(state->wal_directory_handle,
                          SyncedDirectory::Open(fs, state->wal_directory));
  return Status::OK();
}

// Otherwise, in the logs' directory, a new log could outlast its database, whose CURRENT is lost,
// or the logs of a destroyed database could reach a new one, which would replay them.
Status SyncWhatWasFound(const DatabaseState& state, bool is_there) {
  if (state.wal_directory == state.directory) return Status::OK();
  SyncedDirectory* const found =
      is_there ? state.directory_handle.get() : state.wal_directory_handle.get();
  return found->Sync(found->failures());
}

void ReturnDatabase(DatabaseState* state) {
  ASHLAR_ASSERT(!state->writes_files());  // I3 of life_cycle.h: it can still be undone
  state->wal_directory_handle.reset();
  state->directory_handle.reset();
  state->lock.reset();
}

std::string NewDatabaseId() { return RandomUuid(); }

std::string NewSessionId() { return RandomText(20, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"); }

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
                     .block_cache = std::static_pointer_cast<BlockCache>(cache),
                     .open_tables = &state->open_tables,
                     .pinned_tables = state->pinned_tables.get(),
                     .mmap_reads = state->options.allow_mmap_reads,
                     .direct_reads = state->options.use_direct_reads,
                     .recorder = state->recorder,
                     .live_blocks = &state->live_blocks,
                     .random_access_hint = state->options.advise_random_on_open,
                     .prefix_extractor = filled.prefix_extractor});
  // A cache that no family and no table uses any more stays as long as a block of it is pinned.
  std::erase_if(state->block_caches, [](const std::shared_ptr<Cache>& other) {
    return other.use_count() == 1 && other->GetUsage() == 0;
  });
  std::erase(state->block_caches, cache);
  if (cache != nullptr) state->block_caches.push_back(cache);
  CompactionConfig compaction =
      ResolveCompactionConfig(filled, state->current_options, state->default_delayed_write_rate);
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

void LogRecovery(const DatabaseState& state) {
  const RecoveryReport recovery = state.CopyRecoveryReport();
  for (const std::string& warning : recovery.warnings)
    LogWarning(state, StrCat("recovery: ", warning));
  for (const RecoveryReport::Loss& loss : recovery.losses) {
    LogWarning(state, StrCat("recovery: ", loss.reason, ": ", loss.bytes, " bytes from offset ",
                             loss.offset, " are not replayed",
                             loss.is_torn_tail ? ", as after the death of a process" : ""));
  }
  for (const std::string& path : recovery.kept_logs)
    LogWarning(state, StrCat("recovery: a damaged log is kept as ", path));
}

namespace {

Status KeepDamagedLogs(DatabaseState* state) {
  ASHLAR_ASSERT(state->lock != nullptr);  // it may write
  for (const uint64_t number : state->CopyRecoveryReport().DamagedLogs()) {
    ASHLAR_ASSIGN_OR_RETURN(std::string copy, KeepLog(*state, number));
    MutexLock lock(state->mutex());
    state->recovery.kept_logs.push_back(std::move(copy));
  }
  MutexLock lock(state->mutex());
  ASHLAR_ASSERT(state->recovery.kept_logs.size() == state->recovery.DamagedLogs().size());  // I4
  return Status::OK();
}

// Renames a table with LevelDB's name. Reads find either name, so a crash is harmless, but the code
// that copies or deletes tables uses only one.
Status RenameLegacyTable(DatabaseState* state, FileNumber number) {
  const std::string name = TableFileName(state->directory, number);
  const Status there = state->file_system->FileExists(name);
  if (!there.IsNotFound() && !there.IsPathNotFound()) return there;
  return state->file_system->RenameFile(LegacyTableFileName(state->directory, number), name);
}

// Prevents the numbers of existing files from being used again (I7). Best-efforts recovery also
// keeps copies of the tables and MANIFESTs of newer states.
Status KeepFoundFiles(DatabaseState* state) {
  const bool went_back = !state->versions->went_back().empty();
  const std::unordered_set<FileNumber> live = state->versions->LiveTables();
  ASHLAR_ASSIGN_OR_RETURN(const std::vector<FoundFile> files, ListFiles(*state, state->directory));
  for (const FoundFile& file : files) {
    const bool is_table = file.type == FileType::kTableFile;
    const bool is_numbered = is_table || file.type == FileType::kDescriptorFile ||
                             file.type == FileType::kOptionsFile ||
                             file.type == FileType::kTempFile;
    if (!is_numbered || !state->versions->MayBelong(file.number)) continue;
    state->versions->MarkFileNumberUsed(file.number);
    ASHLAR_ASSERT(state->versions->next_file_number() > file.number);  // I7
    if (live.contains(file.number) && file.name.ends_with(".ldb"))
      ASHLAR_RETURN_IF_ERROR(RenameLegacyTable(state, file.number));
    const bool is_newer_state =
        file.type == FileType::kDescriptorFile || (is_table && !live.contains(file.number));
    if (!went_back || !is_newer_state) continue;
    ASHLAR_RETURN_IF_ERROR(
        KeepFile(state->file_system, state->directory, StrCat(state->directory, "/", file.name))
            .status());
  }
  return Status::OK();
}

}  // namespace

Status KeepFound(DatabaseState* state) {
  ASHLAR_RETURN_IF_ERROR(KeepDamagedLogs(state));
  return KeepFoundFiles(state);
}

namespace {

Status CheckManifestUnchanged(const DatabaseState& state) {
  kManifestMutex.AssertHeld();  // no other thread can access the database
  return state.versions->CheckManifestUnchanged(state.versions->place());
}

Status CheckNothingIngested(const DatabaseState& state, SequenceNumber newest) {
  kManifestMutex.AssertHeld();  // no other thread can access the database
  return state.versions->CheckNothingIngestedBefore(newest, state.versions->place());
}

// Whether the log has a write, or damage that may hide one. Log data are no write.
Result<bool> HasWrites(vfs::FileSystem* fs, const std::string& log, uint64_t number) {
  std::unique_ptr<vfs::SequentialFile> file;
  ASHLAR_RETURN_IF_ERROR(fs->NewSequentialFile(log, vfs::FileOptions(), &file));
  uint64_t bytes = 0;
  ASHLAR_RETURN_IF_ERROR(fs->GetFileSize(log, &bytes));
  LogReader reader(std::move(file), log, number, bytes);
  Slice record;
  std::string scratch;
  while (reader.ReadRecord(&record, &scratch)) {
    BatchReader batch(record);
    while (batch.Next()) {
      if (batch.record().type != ValueType::kLogData) return true;
    }
    if (!batch.status().ok()) return true;
  }
  if (reader.outcome() == LogReader::Outcome::kIoError) return reader.status();
  return reader.outcome() != LogReader::Outcome::kEnd &&
         reader.outcome() != LogReader::Outcome::kTornTail;
}

// Whether a database that has its logs in the folder is open for writing.
bool HasLogsOfAnOpenDatabase(vfs::FileSystem* fs, const std::string& folder) {
  const std::string name = LockFileName(folder);
  std::unique_ptr<vfs::FileLock> lock;
  return fs->FileExists(name).ok() && fs->LockFile(name, &lock).subcode() == Status::kFileLocked;
}

}  // namespace

Status CheckLogsAreNotElsewhere(DatabaseState* state, const std::string& recorded_wal_dir) {
  uint64_t oldest = 0;
  {
    MutexLock lock(state->mutex());
    if (!state->recovery.logs.empty() || !state->versions->went_back().empty()) return Status::OK();
    oldest = state->versions->Published().MinLogNumberToRecover();
  }
  const bool may_write = state->lock != nullptr;
  for (const std::string& folder : {state->directory, recorded_wal_dir}) {
    if (folder.empty() || folder == state->wal_directory) continue;
    const Result<std::vector<FoundFile>> files = ListFiles(*state, folder);
    if (!files.ok()) continue;
    for (const FoundFile& file : *files) {
      if (file.type != FileType::kWalFile || file.number < oldest ||
          !state->versions->MayBelong(file.number))
        continue;
      const std::string log = WalFileName(folder, file.number);
      const Result<bool> has_writes = HasWrites(state->file_system, log, file.number);
      if (IsMissing(has_writes.status()) || (has_writes.ok() && !*has_writes)) continue;
      if (may_write) {
        ASHLAR_RETURN_IF_ERROR(has_writes.status());
        if (folder != state->directory && HasLogsOfAnOpenDatabase(state->file_system, folder))
          break;
      }
      const std::string what = StrCat(
          "it may have writes that no table has, and there is no log in ", state->wal_directory,
          ". Set wal_dir to ", folder,
          "; for a copy of the database, to copies of the logs, because an open deletes logs");
      if (may_write) return Status::InvalidArgument(log, what);
      MutexLock lock(state->mutex());
      state->recovery.warnings.push_back(StrCat(log, ": ", what));
    }
  }
  return Status::OK();
}

namespace {

// Recovers versions, families and memtables. Requires: the lock, unless read-only.
Status RecoverState(const OpenArgs& args, RecoveredDatabase* recovered) {
  DatabaseState* const state = recovered->state.get();
  ASHLAR_ASSERT(args.read_only == (state->lock == nullptr));  // I1 and I5
  ASHLAR_RETURN_IF_ERROR(CheckDirectIo(*state));
  std::vector<ColumnFamilyDescriptor> families = args.families;
  std::string recorded_wal_dir;
  ASHLAR_RETURN_IF_ERROR(TakeRecordedOptions(state, &families, &recorded_wal_dir));
  ASHLAR_RETURN_IF_ERROR(OpenVersions(state, families));
  ASHLAR_RETURN_IF_ERROR(OpenFamilies(state, families));
  recovered->replay =
      std::make_unique<LogReplay>(state, state->options.wal_recovery_mode, args.secondary);
  LogReplay& replay = *recovered->replay;
  ASHLAR_RETURN_IF_ERROR(replay.FindLogs({.recorded = &Recovered(*state),
                                          .families = &FamiliesOf(*state),
                                          .report = ReportOf(state)}));
  if (!args.secondary && !args.repaired)
    ASHLAR_RETURN_IF_ERROR(CheckLogsAreNotElsewhere(state, recorded_wal_dir));
  if (state->read_only()) ASHLAR_RETURN_IF_ERROR(CheckManifestUnchanged(*state));
  if (!state->read_only()) {
    EventLine(state->logger.get(), state->clock->NowUnixMicros(), 0, "recovery_started")
        .Add("wal_files", ReportOf(state)->logs);
  }
  ASHLAR_RETURN_IF_ERROR(replay.Run());
  if (state->read_only()) ASHLAR_RETURN_IF_ERROR(CheckNothingIngested(*state, replay.sequence()));
  state->published_sequence.store(replay.sequence(), std::memory_order_release);
  if (args.error_if_log_exists && replay.applied_records()) {
    return Status::Corruption(args.directory,
                              "there is a log with records, and error_if_wal_file_exists is set");
  }
  if (!args.secondary) {
    for (const uint64_t number : ReportOf(state)->logs)
      state->logs.AdoptClosed(number, replay.good_bytes(number));
  }
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
  DBOptions options = args.options;
  // Otherwise the OPTIONS file would name the old directory after the database has been moved.
  if (WithoutSeparatorAtEnd(options.wal_dir) == WithoutSeparatorAtEnd(args.directory))
    options.wal_dir.clear();
  auto state = std::make_unique<DatabaseState>(options, args.directory);
  if (args.read_only) {
    state->role.store(args.secondary ? DatabaseRole::kSecondary : DatabaseRole::kReader,
                      std::memory_order_relaxed);
    state->owns_files.store(false, std::memory_order_relaxed);
    state->memory.SetTakesWrites(false);
  }
  state->session_id = NewSessionId();
  state->logger = args.options.info_log;
  MutexLock lock(state->mutex());
  state->SetFamilies(std::make_unique<FamilyTable>());
  return state;
}

Result<RecoveredDatabase> RecoverForWriting(const OpenArgs& args) {
  RecoveredDatabase recovered{.state = NewState(args), .replay = nullptr};
  DatabaseState* const state = recovered.state.get();
  ASHLAR_RETURN_IF_ERROR(PrepareDirectory(state));
  OpenInfoLog(state, state->directory, args.families);
  Status status = RecoverState(args, &recovered);
  if (status.ok()) status = CheckReplayedOrder(FamiliesOf(*state));  // I8
  if (status.ok()) status = KeepFound(state);
  LogRecovery(*state);
  if (status.ok()) return recovered;
  LogWarning(*state, StrCat("the open failed: ", status.ToString()));
  return status;
}

// A secondary writes a LOG of its own.
Status OpenSecondaryLog(const OpenArgs& args, DatabaseState* state) {
  if (state->logger == nullptr) {
    if (WithoutSeparatorAtEnd(args.secondary_path) == WithoutSeparatorAtEnd(args.directory)) {
      return Status::InvalidArgument(args.secondary_path,
                                     "is the primary's directory: a secondary writes its LOG in a "
                                     "directory of its own");
    }
    ASHLAR_RETURN_IF_ERROR(CreateDirDurably(state->file_system, args.secondary_path));
  }
  OpenInfoLog(state, args.secondary_path, args.families);
  LogInfo(*state, StrCat("as a secondary of ", args.directory));
  if (args.options.max_open_files != -1) {
    LogWarning(*state,
               StrCat("max_open_files is ", args.options.max_open_files,
                      ": tables beyond that are opened when they are read, and the primary may "
                      "have deleted them; with -1 all are held open"));
  }
  return Status::OK();
}

Result<RecoveredDatabase> RecoverForReading(OpenArgs args) {
  std::string session_id = NewSessionId();
  if (args.secondary) {
    const std::unique_ptr<DatabaseState> before = NewState(args);
    ASHLAR_RETURN_IF_ERROR(OpenSecondaryLog(args, before.get()));
    args.options.info_log = before->logger;
    session_id = before->session_id;
  }
  // Tables stay open between attempts, so that a table that two attempts need cannot be missing in
  // the second.
  const auto pinned_tables = std::make_shared<PinnedTables>(
      PinnedTables::Args{.file_system = args.options.env->EngineFiles().get(),
                         .file_options = {.use_mmap_reads = args.options.allow_mmap_reads,
                                          .use_direct_io = args.options.use_direct_reads},
                         .files_max = ResolveOpenTablesMax(args.options)});
  RecoveredDatabase recovered;
  const Status read = ReadWithoutLock([&]() -> Status {
    recovered = {.state = NewState(args), .replay = nullptr};
    recovered.state->session_id = session_id;
    recovered.state->pinned_tables = pinned_tables;
    Status status = PrepareDirectory(recovered.state.get());
    if (status.ok()) status = RecoverState(args, &recovered);
    if (!status.ok()) {
      recovered = {};
      return status;
    }
    // A record that is being written may look like damage.
    const std::string damage = ReportOf(recovered.state.get())->DamageReasons();
    return damage.empty() ? Status::OK() : Status::Corruption(damage);
  });
  if (recovered.state == nullptr || read.IsTryAgain()) return read;
  pinned_tables->Retain(recovered.state->versions->LiveTables());
  LogRecovery(*recovered.state);
  return recovered;
}

// FileJanitor repeats a deletion that fails here.
Status DeleteOrphan(DatabaseState* state, const std::string& path) {
  Status deleted = DeleteObsoleteFile(*state, path);
  if (!deleted.ok() && !deleted.IsPathNotFound()) state->obsolete_files.AddOther(path);
  return deleted;
}

}  // namespace

Result<RecoveredDatabase> RecoverDatabase(OpenArgs args) {
  for (ColumnFamilyDescriptor& descriptor : args.families) FillDefaults(&descriptor.options);
  return args.read_only ? RecoverForReading(std::move(args)) : RecoverForWriting(args);
}

void DeleteOrphans(DatabaseState* state, uint64_t oldest_needed_log, FileNumber own_files_begin) {
  ASHLAR_ASSERT(state->lock != nullptr);                             // I3 of file_janitor.h
  ASHLAR_ASSERT(oldest_needed_log <= state->logs.current_number());  // I2 of file_janitor.h
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
    const bool is_transient = type == FileType::kTableFile || type == FileType::kTempFile;
    if (is_transient && number >= own_files_begin) continue;
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
    if (!ParseFileName(name, &number, &type)) continue;
    if (type == FileType::kWalFile && number < oldest_needed_log)
      state->obsolete_files.AddOther(WalFileName(state->wal_directory, number));
    // A log that was kept (I3 of spare_logs.h).
    if (type == FileType::kTempFile && number < own_files_begin)
      remove(state->wal_directory + "/" + name);
  }
}

}  // namespace ashlar
