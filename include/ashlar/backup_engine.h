// BackupEngine: backs up whole databases while they are in use, in RocksDB's backup format.
//
// A backup is the state of a database at one moment. Backups in one directory share tables: a new
// backup copies only those that no earlier one has. Every file is stored with a checksum, which a
// restore verifies. RocksDB (7.8 and later) restores these backups, and Ashlar restores RocksDB's.
//
// Errors: IOError names the path. Corruption names a file whose checksum or size differs from the
// recorded one. NotFound: the backup does not exist. A backup that fails leaves the earlier ones
// unchanged; the files that it copied are removed at once or at the next open. Thread safety: any
// number of threads. Calls that create or delete backups run one after the other. Lifetime: the
// engine may be closed before or after the database.
//
// Several engines, in one process or in several, may have the same directory open. Only one of them
// changes it at a time. While it does, a call of another engine that creates or deletes backups
// returns IOError and changes nothing. Each such call, and the open, first reads the list of
// backups. An engine shows the list that it read last, even after a call that failed. A backup that
// another engine has deleted is NotFound.
#pragma once

#include <climits>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/env.h"
#include "ashlar/export.h"
#include "ashlar/rate_limiter.h"
#include "ashlar/status.h"

namespace ashlar {

class DB;

struct BackupEngineOptions {
  // The directory of the backups. A BackupEngine creates it if it is missing.
  std::string backup_dir;
  // The Env of backup_dir. Null: the Env that is passed to Open.
  Env* backup_env = nullptr;
  // Make every file of a backup durable before the backup becomes valid.
  bool sync = true;
  // Delete all backups at open. InvalidArgument for a BackupEngineReadOnly.
  bool destroy_old_data = false;
  // Copy the logs too. A backup without logs contains only flushed data, so set flush_before_backup
  // if this is false.
  bool backup_log_files = true;
  // Both must be true, because backups always share tables by checksum. False is refused.
  bool share_table_files = true;
  bool share_files_with_checksum = true;
  // The most bytes per second that backups and restores write; 0: no limit. A limiter, if set,
  // replaces its rate. The mode of the limiter decides whether reads, writes or both wait.
  uint64_t backup_rate_limit = 0;
  std::shared_ptr<RateLimiter> backup_rate_limiter;
  uint64_t restore_rate_limit = 0;
  std::shared_ptr<RateLimiter> restore_rate_limiter;
  uint64_t io_buffer_size = 0;                        // accepted: files are copied by MiB
  uint64_t callback_trigger_interval_size = 4194304;  // accepted: see progress_callback
  int max_background_operations = 1;                  // accepted: one thread copies
  // A BackupEngineReadOnly lists the newest usable backups, at most this many. Others list all.
  int max_valid_backups_to_open = INT_MAX;
  bool current_temperatures_override_manifest = false;  // accepted
  // Accepted: names always contain checksum and size. RocksDB accepts names of any form.
  enum ShareFilesNaming : uint32_t {
    kLegacyCrc32cAndFileSize = 1U,
    kUseDbSessionId = 2U,
    kMaskNoNamingFlags = 0xffffU,
    kFlagIncludeFileSize = 1U << 31,
    kMaskNamingFlags = ~kMaskNoNamingFlags,
  };
  ShareFilesNaming share_files_with_checksum_naming =
      static_cast<ShareFilesNaming>(kUseDbSessionId | kFlagIncludeFileSize);
  int schema_version = 1;  // refused unless 1

  explicit BackupEngineOptions(const std::string& backup_dir_in, Env* backup_env_in = nullptr)
      : backup_dir(backup_dir_in), backup_env(backup_env_in) {}
};

// The arguments of CreateBackupOptions::exclude_files_callback.
struct BackupExcludedFileInfo {
  explicit BackupExcludedFileInfo(const std::string& relative_file_in)
      : relative_file(relative_file_in) {}

  std::string relative_file;  // relative to the directory of the backups
};
struct MaybeExcludeBackupFile {
  explicit MaybeExcludeBackupFile(BackupExcludedFileInfo&& info_in) : info(std::move(info_in)) {}

  const BackupExcludedFileInfo info;
  bool exclude_decision = false;
};

struct CreateBackupOptions {
  // Flushes first, so that the backup also contains data that was written without a log.
  bool flush_before_backup = false;
  bool atomic_flush = false;  // refused
  // Both are accepted: the calling thread copies, at its own priority.
  bool decrease_background_thread_cpu_priority = false;
  CpuPriority background_thread_cpu_priority = CpuPriority::kNormal;
  // Called after each copied file, if set. An exception ends the backup with Aborted.
  std::function<void()> progress_callback;
  // Selects tables to leave out. Refused, because a backup always has all of its files.
  std::function<void(MaybeExcludeBackupFile* files_begin, MaybeExcludeBackupFile* files_end)>
      exclude_files_callback;
};

struct RestoreOptions {
  // How to treat files that are already in the directories.
  enum Mode : uint32_t {
    kKeepLatestDbSessionIdFiles = 1U,  // refused
    kVerifyChecksum = 2U,              // refused
    kPurgeAllFiles = 0xffffU,          // replaces all files of the database
  };
  Mode mode = kPurgeAllFiles;
  // Keep the logs that are in wal_dir, instead of deleting and replacing them, and move archived
  // logs (WAL_ttl_seconds) back to wal_dir. The database then opens with all writes since the
  // backup. If false, the archive is emptied, too.
  bool keep_log_files = false;

  explicit RestoreOptions(bool keep_log_files_in = false, Mode mode_in = kPurgeAllFiles)
      : mode(mode_in), keep_log_files(keep_log_files_in) {}
};

// Ascending numbers, from 1 on.
using BackupID = uint32_t;

struct BackupInfo {
  BackupID backup_id = 0;
  int64_t timestamp = 0;  // seconds since 1970
  uint64_t size = 0;      // bytes of all its files, shared ones included
  uint32_t number_files = 0;
  std::string app_metadata;
};

// Lists, verifies and restores backups. Changes nothing in the directory of the backups.
class ASHLAR_API BackupEngineReadOnly {
 public:
  // The caller owns *backup_engine, which is null after a failure. Damaged backups do not fail the
  // open: see GetCorruptedBackups.
  static Status Open(const BackupEngineOptions& options, Env* db_env,
                     BackupEngineReadOnly** backup_engine);
  static Status Open(Env* db_env, const BackupEngineOptions& options,
                     BackupEngineReadOnly** backup_engine) {
    return Open(options, db_env, backup_engine);
  }

  BackupEngineReadOnly() = default;
  BackupEngineReadOnly(const BackupEngineReadOnly&) = delete;
  BackupEngineReadOnly& operator=(const BackupEngineReadOnly&) = delete;
  virtual ~BackupEngineReadOnly() = default;

  // The usable backups, oldest first.
  virtual void GetBackupInfo(std::vector<BackupInfo>* backup_infos) const = 0;
  virtual Status GetBackupInfo(BackupID backup_id, BackupInfo* backup_info) const = 0;
  virtual Status GetLatestBackupInfo(BackupInfo* backup_info) const = 0;
  // Returns the backups whose description is damaged, or that lack a file or a part of a table.
  virtual void GetCorruptedBackups(std::vector<BackupID>* corrupt_backup_ids) const = 0;

  // Checks that every file exists and that CURRENT names one of them. verify_with_checksum also
  // reads every file and compares its checksum; backup_rate_limiter may slow this down.
  virtual Status VerifyBackup(BackupID backup_id, bool verify_with_checksum = false) const = 0;

  // Replaces the database in db_dir, and its logs in wal_dir, with the backup. The OPTIONS file
  // then names wal_dir. IOError: the database is open, or another one that has its logs in wal_dir.
  // InvalidArgument: backups have files in one of the directories. These errors, NotFound and a
  // backup that lacks a file leave the database as it was. After a later failure db_dir has no
  // database that can be opened, or all of it if only the last sync failed; repeat the restore.
  virtual Status RestoreDBFromBackup(const RestoreOptions& options, BackupID backup_id,
                                     const std::string& db_dir,
                                     const std::string& wal_dir) const = 0;
  Status RestoreDBFromBackup(BackupID backup_id, const std::string& db_dir,
                             const std::string& wal_dir,
                             const RestoreOptions& options = RestoreOptions()) const {
    return RestoreDBFromBackup(options, backup_id, db_dir, wal_dir);
  }
  virtual Status RestoreDBFromLatestBackup(const RestoreOptions& options, const std::string& db_dir,
                                           const std::string& wal_dir) const = 0;
  Status RestoreDBFromLatestBackup(const std::string& db_dir, const std::string& wal_dir,
                                   const RestoreOptions& options = RestoreOptions()) const {
    return RestoreDBFromLatestBackup(options, db_dir, wal_dir);
  }
};

class ASHLAR_API BackupEngine : public BackupEngineReadOnly {
 public:
  // As BackupEngineReadOnly::Open. Also removes the files of unfinished backups.
  static Status Open(const BackupEngineOptions& options, Env* db_env, BackupEngine** backup_engine);
  static Status Open(Env* db_env, const BackupEngineOptions& options,
                     BackupEngine** backup_engine) {
    return Open(options, db_env, backup_engine);
  }

  // Backs up all data written before the call. Concurrent writes continue. app_metadata is stored
  // with the backup; more than 1 MiB of it is InvalidArgument. new_backup_id may be null.
  // Incomplete: StopBackup was called. A database that only reads is not flushed, and its backup
  // fails if a process that has it open for writing changes its tables during the call.
  virtual Status CreateNewBackupWithMetadata(const CreateBackupOptions& options, DB* db,
                                             const std::string& app_metadata,
                                             BackupID* new_backup_id = nullptr) = 0;
  Status CreateNewBackup(const CreateBackupOptions& options, DB* db,
                         BackupID* new_backup_id = nullptr) {
    return CreateNewBackupWithMetadata(options, db, std::string(), new_backup_id);
  }
  Status CreateNewBackup(DB* db, bool flush_before_backup = false) {
    CreateBackupOptions options;
    options.flush_before_backup = flush_before_backup;
    return CreateNewBackup(options, db);
  }

  // Makes the running backup and every later one return Incomplete. Any thread may call it.
  virtual void StopBackup() = 0;

  // Deletes all usable backups except the newest ones. Damaged backups stay.
  virtual Status PurgeOldBackups(uint32_t num_backups_to_keep) = 0;
  // Deletes a damaged backup, too.
  virtual Status DeleteBackup(BackupID backup_id) = 0;
  // Removes files that no backup refers to. While a backup is damaged, shared tables stay. Here and
  // when a backup is deleted, files with names that no engine creates stay.
  virtual Status GarbageCollect() = 0;
};

}  // namespace ashlar
