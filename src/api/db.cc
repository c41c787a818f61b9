// The static functions of DB, and the convenience methods that are written in terms of the virtual
// ones.
#include "ashlar/db.h"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "ashlar/vfs.h"
#include "base/format.h"
#include "base/result.h"
#include "config/options_file.h"
#include "config/validate.h"
#include "execute/rate_limiter.h"
#include "filesystem/file_helpers.h"
#include "filesystem/filename.h"
#include "lsm/database_lock.h"
#include "lsm/lost_files.h"
#include "lsm/lsm_db.h"
#include "lsm/recovery.h"
#include "lsm/wal_files.h"
#include "platform/path.h"

namespace ashlar {

namespace {

Env* EnvOf(const DBOptions& options) {
  return options.env == nullptr ? Env::Default() : options.env;
}

Status OpenLsm(OpenArgs args, std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* db) {
  db->reset();
  args.options.env = EnvOf(args.options);
  ASHLAR_RETURN_IF_ERROR(ValidateOptions(args.options, args.families,
                                         args.read_only ? OpenFor::kReading : OpenFor::kWriting));
  if (!args.read_only) {
    ASHLAR_RETURN_IF_ERROR(
        CheckRateLimiter(args.options.rate_limiter.get()).WithContext("option rate_limiter"));
  }
  const bool has_default = std::any_of(
      args.families.begin(), args.families.end(),
      [](const ColumnFamilyDescriptor& f) { return f.name == kDefaultColumnFamilyName; });
  if (!has_default)
    return Status::InvalidArgument(
        "the column family \"default\" must be among those that are opened");
  ASHLAR_ASSIGN_OR_RETURN(*db, LsmDB::Open(std::move(args), handles));
  return Status::OK();
}

OpenArgs OnlyDefault(const Options& options, const std::string& name) {
  return OpenArgs{
      .options = DBOptions(options),
      .directory = name,
      .families = {ColumnFamilyDescriptor(kDefaultColumnFamilyName, ColumnFamilyOptions(options))}};
}

Status Release(const Status& status, std::unique_ptr<DB> db, DB** dbptr) {
  *dbptr = db.release();
  return status;
}

// Deletes the logs of `directory` and of its archive, including those kept for reuse. Deletes the
// archive if nothing else is in it.
Status DeleteLogs(vfs::FileSystem* fs, const std::string& directory) {
  Status first_error;
  std::vector<std::string> names;
  const std::string archive = ArchiveDirectory(directory);
  for (const std::string& folder : {directory, archive}) {
    if (!fs->GetChildren(folder, &names).ok()) continue;
    for (const std::string& name : names) {
      uint64_t number = 0;
      FileType type;
      const bool is_log = ParseFileName(name, &number, &type) &&
                          (type == FileType::kWalFile || type == FileType::kTempFile);
      if (!is_log) continue;
      const Status deleted = fs->DeleteFile(StrCat(folder, "/", name));
      if (first_error.ok() && !deleted.ok() && !deleted.IsPathNotFound()) first_error = deleted;
    }
  }
  if (fs->GetChildren(archive, &names).ok() && names.empty()) {
    const Status deleted = fs->DeleteDir(archive);
    if (first_error.ok()) first_error = deleted;
  }
  return first_error;
}

// Returns false if the newest OPTIONS file names another log folder. The logs in `folder` are then
// another database's, for example if a checkpoint is destroyed with the options of the original.
bool MayHaveLogsIn(vfs::FileSystem* fs, const std::string& name, const std::string& folder) {
  const Result<uint64_t> newest = FindNewestOptionsFile(fs, name);
  if (!newest.ok()) return true;
  const Result<ParsedOptionsFile> file = ReadOptionsFile(
      fs, OptionsFileName(name, *newest), {.ignore_unknown = true, .ignore_newer_values = true});
  if (!file.ok()) return true;
  const std::string& wal_dir = file->db_options.wal_dir;
  const std::string& recorded = wal_dir.empty() ? name : wal_dir;
  if (WithoutSeparatorAtEnd(recorded) == WithoutSeparatorAtEnd(folder)) return true;
  bool same = false;  // the same folder under another path
  return fs->AreFilesSame(recorded, folder, &same).ok() && same;
}

}  // namespace

Status DB::Open(const Options& options, const std::string& name, std::unique_ptr<DB>* dbptr) try {
  return OpenLsm(OnlyDefault(options, name), nullptr, dbptr);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DB::Open(const Options& options, const std::string& name, DB** dbptr) try {
  std::unique_ptr<DB> db;
  const Status status = Open(options, name, &db);
  return Release(status, std::move(db), dbptr);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DB::Open(const DBOptions& db_options, const std::string& name,
                const std::vector<ColumnFamilyDescriptor>& column_families,
                std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* dbptr) try {
  handles->clear();
  return OpenLsm(OpenArgs{.options = db_options, .directory = name, .families = column_families},
                 handles, dbptr);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DB::Open(const DBOptions& db_options, const std::string& name,
                const std::vector<ColumnFamilyDescriptor>& column_families,
                std::vector<ColumnFamilyHandle*>* handles, DB** dbptr) try {
  std::unique_ptr<DB> db;
  const Status status = Open(db_options, name, column_families, handles, &db);
  return Release(status, std::move(db), dbptr);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DB::OpenForReadOnly(const Options& options, const std::string& name,
                           std::unique_ptr<DB>* dbptr, bool error_if_wal_file_exists) try {
  OpenArgs args = OnlyDefault(options, name);
  args.read_only = true;
  args.error_if_log_exists = error_if_wal_file_exists;
  return OpenLsm(std::move(args), nullptr, dbptr);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DB::OpenForReadOnly(const Options& options, const std::string& name, DB** dbptr,
                           bool error_if_wal_file_exists) try {
  std::unique_ptr<DB> db;
  const Status status = OpenForReadOnly(options, name, &db, error_if_wal_file_exists);
  return Release(status, std::move(db), dbptr);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DB::OpenForReadOnly(const DBOptions& db_options, const std::string& name,
                           const std::vector<ColumnFamilyDescriptor>& column_families,
                           std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* dbptr,
                           bool error_if_wal_file_exists) try {
  handles->clear();
  return OpenLsm(OpenArgs{.options = db_options,
                          .directory = name,
                          .families = column_families,
                          .read_only = true,
                          .error_if_log_exists = error_if_wal_file_exists},
                 handles, dbptr);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DB::OpenForReadOnly(const DBOptions& db_options, const std::string& name,
                           const std::vector<ColumnFamilyDescriptor>& column_families,
                           std::vector<ColumnFamilyHandle*>* handles, DB** dbptr,
                           bool error_if_wal_file_exists) try {
  std::unique_ptr<DB> db;
  const Status status =
      OpenForReadOnly(db_options, name, column_families, handles, &db, error_if_wal_file_exists);
  return Release(status, std::move(db), dbptr);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DB::OpenAsSecondary(const Options& options, const std::string& name,
                           const std::string& secondary_path, std::unique_ptr<DB>* dbptr) try {
  OpenArgs args = OnlyDefault(options, name);
  args.read_only = true;
  args.secondary = true;
  args.secondary_path = secondary_path;
  return OpenLsm(std::move(args), nullptr, dbptr);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DB::OpenAsSecondary(const Options& options, const std::string& name,
                           const std::string& secondary_path, DB** dbptr) try {
  std::unique_ptr<DB> db;
  const Status status = OpenAsSecondary(options, name, secondary_path, &db);
  return Release(status, std::move(db), dbptr);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DB::OpenAsSecondary(const DBOptions& db_options, const std::string& name,
                           const std::string& secondary_path,
                           const std::vector<ColumnFamilyDescriptor>& column_families,
                           std::vector<ColumnFamilyHandle*>* handles,
                           std::unique_ptr<DB>* dbptr) try {
  handles->clear();
  return OpenLsm(OpenArgs{.options = db_options,
                          .directory = name,
                          .families = column_families,
                          .read_only = true,
                          .secondary = true,
                          .secondary_path = secondary_path},
                 handles, dbptr);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DB::OpenAsSecondary(const DBOptions& db_options, const std::string& name,
                           const std::string& secondary_path,
                           const std::vector<ColumnFamilyDescriptor>& column_families,
                           std::vector<ColumnFamilyHandle*>* handles, DB** dbptr) try {
  std::unique_ptr<DB> db;
  const Status status =
      OpenAsSecondary(db_options, name, secondary_path, column_families, handles, &db);
  return Release(status, std::move(db), dbptr);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DB::TryCatchUpWithPrimary() {
  return Status::NotSupported(
      "the database was not opened by OpenAsSecondary, and only a secondary catches up");
}

Status DB::PromoteToPrimary() {
  return Status::NotSupported(
      "the database was not opened by OpenAsSecondary, and only a secondary can be promoted");
}

Status DB::ListColumnFamilies(const DBOptions& db_options, const std::string& name,
                              std::vector<std::string>* column_families) try {
  return VersionSet::ListColumnFamilies(EnvOf(db_options)->EngineFiles().get(), name,
                                        column_families);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

// ---- Convenience methods.

Status DB::CreateColumnFamilies(const ColumnFamilyOptions& options,
                                const std::vector<std::string>& column_family_names,
                                std::vector<ColumnFamilyHandle*>* handles) try {
  std::vector<ColumnFamilyDescriptor> families;
  for (const std::string& name : column_family_names) families.emplace_back(name, options);
  return CreateColumnFamilies(families, handles);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DB::CreateColumnFamilyWithImport(const ColumnFamilyOptions& options,
                                        const std::string& column_family_name,
                                        const ImportColumnFamilyOptions& import_options,
                                        const ExportImportFilesMetaData& metadata,
                                        ColumnFamilyHandle** handle) try {
  return CreateColumnFamilyWithImport(options, column_family_name, import_options,
                                      std::vector<const ExportImportFilesMetaData*>{&metadata},
                                      handle);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DB::DropColumnFamily(ColumnFamilyHandle* column_family) try {
  return DropColumnFamilies({column_family});
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DB::Flush(const FlushOptions& options, ColumnFamilyHandle* column_family) try {
  return Flush(options, std::vector<ColumnFamilyHandle*>{column_family});
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DB::Get(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
               std::string* value) try {
  PinnableSlice pinned(value);
  Status s = Get(options, column_family, key, &pinned);
  if (s.ok() && pinned.IsPinned()) value->assign(pinned.data(), pinned.size());
  return s;
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

std::vector<Status> DB::MultiGet(const ReadOptions& options,
                                 const std::vector<ColumnFamilyHandle*>& column_families,
                                 const std::vector<Slice>& keys, std::vector<std::string>* values) {
  std::vector<ColumnFamilyHandle*> families = column_families;
  std::vector<PinnableSlice> found(keys.size());
  std::vector<Status> statuses(keys.size());
  MultiGet(options, keys.size(), families.data(), keys.data(), found.data(), statuses.data());
  values->assign(keys.size(), std::string());
  for (size_t i = 0; i < keys.size(); ++i) {
    if (statuses[i].ok()) (*values)[i].assign(found[i].data(), found[i].size());
  }
  return statuses;
}

std::vector<Status> DB::MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                                 std::vector<std::string>* values) {
  return MultiGet(options, std::vector<ColumnFamilyHandle*>(keys.size(), DefaultColumnFamily()),
                  keys, values);
}

Status DB::GetApproximateSizes(ColumnFamilyHandle* column_family, const Range* ranges, int n,
                               uint64_t* sizes, SizeApproximationFlags include_flags) try {
  SizeApproximationOptions options;
  options.include_memtables =
      (include_flags & SizeApproximationFlags::INCLUDE_MEMTABLES) != SizeApproximationFlags::NONE;
  options.include_files =
      (include_flags & SizeApproximationFlags::INCLUDE_FILES) != SizeApproximationFlags::NONE;
  options.include_blob_files =
      (include_flags & SizeApproximationFlags::INCLUDE_BLOB_FILES) != SizeApproximationFlags::NONE;
  return GetApproximateSizes(options, column_family, ranges, n, sizes);
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status DB::EnableFileDeletions(bool force) {
  Status enabled = EnableFileDeletions();
  while (force && enabled.ok()) enabled = EnableFileDeletions();
  return enabled.IsInvalidArgument() ? Status::OK() : enabled;
}

Status DB::GetPropertiesOfTablesByLevel(
    ColumnFamilyHandle* /*column_family*/,
    std::vector<std::unique_ptr<TablePropertiesCollection>>* /*props_by_level*/) {
  return Status::NotSupported("this class of database has no levels");
}

Status DB::GetCreationTimeOfOldestFile(uint64_t* creation_time) try {
  std::vector<LiveFileMetaData> tables;
  GetLiveFilesMetaData(&tables);
  *creation_time = std::numeric_limits<uint64_t>::max();
  for (const LiveFileMetaData& table : tables)
    *creation_time = std::min(*creation_time, table.file_creation_time);
  return Status::OK();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

void DB::GetColumnFamilyMetaData(ColumnFamilyHandle* column_family,
                                 const GetColumnFamilyMetaDataOptions& options,
                                 ColumnFamilyMetaData* metadata) {
  ColumnFamilyHandle* const family =
      column_family != nullptr ? column_family : DefaultColumnFamily();
  GetColumnFamilyMetaData(family, metadata);
  const Comparator& comparator = *family->GetComparator();
  const RangeOpt& range = options.range;
  const auto is_outside = [&](const SstFileMetaData& file) {
    return (range.start && comparator.Compare(file.largestkey, *range.start) < 0) ||
           (range.limit && comparator.Compare(file.smallestkey, *range.limit) > 0);
  };
  if (options.level >= 0) {
    std::erase_if(metadata->levels,
                  [&](const LevelMetaData& level) { return level.level != options.level; });
  }
  metadata->size = metadata->file_count = 0;
  for (LevelMetaData& level : metadata->levels) {
    std::erase_if(level.files, is_outside);
    level.size = 0;
    for (const SstFileMetaData& file : level.files) level.size += file.size;
    metadata->size += level.size;
    metadata->file_count += level.files.size();
  }
  std::erase_if(metadata->levels, [](const LevelMetaData& level) { return level.files.empty(); });
}

ManagedSnapshot::ManagedSnapshot(DB* db) : db_(db), snapshot_(db->GetSnapshot()) {}
ManagedSnapshot::~ManagedSnapshot() { db_->ReleaseSnapshot(snapshot_); }

// ---- Removal.

Status DestroyDB(const std::string& name, const Options& options,
                 const std::vector<ColumnFamilyDescriptor>& /*column_families*/) try {
  vfs::FileSystem* const fs = EnvOf(options)->EngineFiles().get();
  std::vector<std::string> names;
  if (const Status listed = fs->GetChildren(name, &names); !listed.ok())
    return listed.IsPathNotFound() ? Status::OK() : listed;
  std::unique_ptr<vfs::FileLock> lock;
  ASHLAR_RETURN_IF_ERROR(fs->LockFile(LockFileName(name), &lock));
  // Another process may have made files before this one got the lock.
  ASHLAR_RETURN_IF_ERROR(fs->GetChildren(name, &names));
  Status first_error;
  const auto remove = [&](const std::string& path) {
    const Status deleted = fs->DeleteFile(path);
    if (first_error.ok() && !deleted.ok() && !deleted.IsPathNotFound()) first_error = deleted;
  };
  std::vector<std::string> log_folders = {name};
  std::unique_ptr<vfs::FileLock> wal_lock;
  if (!options.wal_dir.empty() && MayHaveLogsIn(fs, name, options.wal_dir)) {
    ASHLAR_RETURN_IF_ERROR(LockLogs(fs, name, options.wal_dir, &wal_lock));
    log_folders.push_back(options.wal_dir);
  }
  // CURRENT is deleted first, durably. After that there is no database, even if deleting the rest
  // fails, and no power cut leaves one that opens without its logs.
  remove(CurrentFileName(name));
  ASHLAR_RETURN_IF_ERROR(first_error);
  if (const Status synced = SyncDirectory(fs, name); !synced.ok() && !synced.IsNotSupported())
    return synced;
  for (const std::string& child : names) {
    uint64_t number = 0;
    FileType type;
    if (!ParseFileName(child, &number, &type) || type == FileType::kDBLockFile ||
        type == FileType::kCurrentFile)
      continue;
    remove(name + "/" + child);
  }
  for (const std::string& folder : log_folders) {
    if (const Status deleted = DeleteLogs(fs, folder); first_error.ok()) first_error = deleted;
  }
  if (const Status deleted = DeleteLostFiles(fs, name); first_error.ok()) first_error = deleted;
  // Deletes LOCK while it is held. Otherwise another process could lock it before its deletion.
  // Windows deletes no file that any process holds, so there a second attempt follows the release.
  const auto remove_lock = [&](const std::string& folder, std::unique_ptr<vfs::FileLock> held) {
    const bool lock_is_gone = fs->DeleteFile(LockFileName(folder)).ok();
    held.reset();
    if (!lock_is_gone) remove(LockFileName(folder));
  };
  if (wal_lock != nullptr) remove_lock(options.wal_dir, std::move(wal_lock));
  remove_lock(name, std::move(lock));
  // Keeps a directory that has other files.
  if (fs->GetChildren(name, &names).ok() && names.empty()) {
    const Status deleted = fs->DeleteDir(name);
    if (first_error.ok()) first_error = deleted;
  }
  return first_error;
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

}  // namespace ashlar
