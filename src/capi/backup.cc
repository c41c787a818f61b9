// Backups.
#include "capi/accessors.h"
#include "capi/transfer.h"

using ashlar::BackupEngine;
using ashlar::BackupEngineOptions;
using ashlar::BackupInfo;
using ashlar::capi::BorrowText;
using ashlar::capi::Check;
using ashlar::capi::Rep;
using ashlar::capi::Wrap;

namespace {

rocksdb_backup_engine_t* OpenEngine(const BackupEngineOptions& options, ashlar::Env* env,
                                    char** errptr) {
  BackupEngine* engine = nullptr;
  return Check(errptr, BackupEngine::Open(options, env, &engine)) ? Wrap(engine) : nullptr;
}

// Null options mean the defaults.
void CreateBackup(rocksdb_backup_engine_t* engine, rocksdb_t* db,
                  const rocksdb_create_backup_options_t* options, const std::string& app_metadata,
                  uint32_t* backup_id, char** errptr) {
  const ashlar::CreateBackupOptions defaults;
  Check(errptr,
        Rep(engine)->CreateNewBackupWithMetadata(options == nullptr ? defaults : options->rep,
                                                 db->rep, app_metadata, backup_id));
}

const BackupInfo& Info(const rocksdb_backup_engine_info_t* info, int index) {
  return info->rep[static_cast<size_t>(index)];
}

}  // namespace

rocksdb_backup_engine_t* rocksdb_backup_engine_open(const rocksdb_options_t* options,
                                                    const char* path, char** errptr) noexcept {
  return OpenEngine(BackupEngineOptions(path), options->rep.env, errptr);
}
rocksdb_backup_engine_t* rocksdb_backup_engine_open_opts(
    const rocksdb_backup_engine_options_t* options, rocksdb_env_t* env, char** errptr) noexcept {
  return OpenEngine(options->rep, env->rep, errptr);
}
void rocksdb_backup_engine_close(rocksdb_backup_engine_t* engine) noexcept { delete Rep(engine); }

// ---- Taking backups.

void rocksdb_backup_engine_create_new_backup(rocksdb_backup_engine_t* engine, rocksdb_t* db,
                                             char** errptr) noexcept {
  Check(errptr, Rep(engine)->CreateNewBackup(db->rep));
}
void rocksdb_backup_engine_create_new_backup_flush(rocksdb_backup_engine_t* engine, rocksdb_t* db,
                                                   unsigned char flush_before_backup,
                                                   char** errptr) noexcept {
  Check(errptr, Rep(engine)->CreateNewBackup(db->rep, flush_before_backup != 0));
}
void rocksdb_backup_engine_create_new_backup_with_options(
    rocksdb_backup_engine_t* engine, rocksdb_t* db, const rocksdb_create_backup_options_t* options,
    uint32_t* backup_id, char** errptr) noexcept {
  CreateBackup(engine, db, options, std::string(), backup_id, errptr);
}
void rocksdb_backup_engine_create_new_backup_with_metadata(
    rocksdb_backup_engine_t* engine, rocksdb_t* db, const rocksdb_create_backup_options_t* options,
    const char* app_metadata, size_t app_metadata_size, uint32_t* backup_id,
    char** errptr) noexcept {
  const std::string metadata(app_metadata == nullptr ? "" : app_metadata,
                             app_metadata == nullptr ? 0 : app_metadata_size);
  CreateBackup(engine, db, options, metadata, backup_id, errptr);
}
void rocksdb_backup_engine_stop_backup(rocksdb_backup_engine_t* engine) noexcept {
  Rep(engine)->StopBackup();
}

// ---- Inspecting, restoring and removing backups.

void rocksdb_backup_engine_purge_old_backups(rocksdb_backup_engine_t* engine,
                                             uint32_t num_backups_to_keep, char** errptr) noexcept {
  Check(errptr, Rep(engine)->PurgeOldBackups(num_backups_to_keep));
}
void rocksdb_backup_engine_verify_backup(rocksdb_backup_engine_t* engine, uint32_t backup_id,
                                         char** errptr) noexcept {
  Check(errptr, Rep(engine)->VerifyBackup(backup_id));
}
void rocksdb_backup_engine_restore_db_from_latest_backup(
    rocksdb_backup_engine_t* engine, const char* db_dir, const char* wal_dir,
    const rocksdb_restore_options_t* restore_options, char** errptr) noexcept {
  Check(errptr, Rep(engine)->RestoreDBFromLatestBackup(restore_options->rep, db_dir, wal_dir));
}
void rocksdb_backup_engine_restore_db_from_backup(rocksdb_backup_engine_t* engine,
                                                  const char* db_dir, const char* wal_dir,
                                                  const rocksdb_restore_options_t* restore_options,
                                                  const uint32_t backup_id,
                                                  char** errptr) noexcept {
  Check(errptr, Rep(engine)->RestoreDBFromBackup(restore_options->rep, backup_id, db_dir, wal_dir));
}

const rocksdb_backup_engine_info_t* rocksdb_backup_engine_get_backup_info(
    rocksdb_backup_engine_t* engine) noexcept {
  auto* const info = new rocksdb_backup_engine_info_t();
  Rep(engine)->GetBackupInfo(&info->rep);
  return info;
}
void rocksdb_backup_engine_info_destroy(const rocksdb_backup_engine_info_t* info) noexcept {
  delete info;
}
int rocksdb_backup_engine_info_count(const rocksdb_backup_engine_info_t* info) noexcept {
  return static_cast<int>(info->rep.size());
}
int64_t rocksdb_backup_engine_info_timestamp(const rocksdb_backup_engine_info_t* info,
                                             int index) noexcept {
  return Info(info, index).timestamp;
}
uint32_t rocksdb_backup_engine_info_backup_id(const rocksdb_backup_engine_info_t* info,
                                              int index) noexcept {
  return Info(info, index).backup_id;
}
uint64_t rocksdb_backup_engine_info_size(const rocksdb_backup_engine_info_t* info,
                                         int index) noexcept {
  return Info(info, index).size;
}
uint32_t rocksdb_backup_engine_info_number_files(const rocksdb_backup_engine_info_t* info,
                                                 int index) noexcept {
  return Info(info, index).number_files;
}

const char* rocksdb_backup_engine_info_app_metadata(const rocksdb_backup_engine_info_t* info,
                                                    int index, size_t* size) noexcept {
  return BorrowText(&Info(info, index).app_metadata, size);
}

// ---- Options.

rocksdb_backup_engine_options_t* rocksdb_backup_engine_options_create(
    const char* backup_dir) noexcept {
  return new rocksdb_backup_engine_options_t{BackupEngineOptions(backup_dir)};
}
void rocksdb_backup_engine_options_destroy(rocksdb_backup_engine_options_t* options) noexcept {
  delete options;
}
void rocksdb_backup_engine_options_set_env(rocksdb_backup_engine_options_t* options,
                                           rocksdb_env_t* env) noexcept {
  options->rep.backup_env = env == nullptr ? nullptr : env->rep;
}
void rocksdb_backup_engine_options_set_backup_dir(rocksdb_backup_engine_options_t* options,
                                                  const char* value) noexcept {
  options->rep.backup_dir = value;
}
const char* rocksdb_backup_engine_options_get_backup_dir(rocksdb_backup_engine_options_t* options,
                                                         size_t* size) noexcept {
  *size = options->rep.backup_dir.size();
  return options->rep.backup_dir.c_str();
}
ASHLAR_C_ACCESSORS(backup_engine_options, sync, unsigned char)
ASHLAR_C_ACCESSORS(backup_engine_options, destroy_old_data, unsigned char)
ASHLAR_C_ACCESSORS(backup_engine_options, backup_log_files, unsigned char)
ASHLAR_C_ACCESSORS(backup_engine_options, share_table_files, unsigned char)
ASHLAR_C_ACCESSORS(backup_engine_options, share_files_with_checksum, unsigned char)
ASHLAR_C_ACCESSORS(backup_engine_options, backup_rate_limit, uint64_t)
ASHLAR_C_ACCESSORS(backup_engine_options, restore_rate_limit, uint64_t)
ASHLAR_C_ACCESSORS(backup_engine_options, io_buffer_size, uint64_t)
ASHLAR_C_ACCESSORS(backup_engine_options, callback_trigger_interval_size, uint64_t)
ASHLAR_C_ACCESSORS(backup_engine_options, max_background_operations, int)
ASHLAR_C_ACCESSORS(backup_engine_options, max_valid_backups_to_open, int)
ASHLAR_C_ACCESSORS(backup_engine_options, current_temperatures_override_manifest, unsigned char)
ASHLAR_C_ACCESSORS(backup_engine_options, share_files_with_checksum_naming, int)
ASHLAR_C_ACCESSORS(backup_engine_options, schema_version, int)
void rocksdb_backup_engine_options_set_backup_rate_limiter(
    rocksdb_backup_engine_options_t* options, rocksdb_ratelimiter_t* limiter) noexcept {
  options->rep.backup_rate_limiter = limiter == nullptr ? nullptr : limiter->rep;
}
void rocksdb_backup_engine_options_set_restore_rate_limiter(
    rocksdb_backup_engine_options_t* options, rocksdb_ratelimiter_t* limiter) noexcept {
  options->rep.restore_rate_limiter = limiter == nullptr ? nullptr : limiter->rep;
}

ASHLAR_C_CREATE_AND_DESTROY(create_backup_options)
void rocksdb_create_backup_options_set_progress_callback(
    rocksdb_create_backup_options_t* options, void* state,
    rocksdb_create_backup_options_progress_cb callback) noexcept {
  options->rep.progress_callback = nullptr;
  if (callback != nullptr) options->rep.progress_callback = [state, callback] { callback(state); };
}
void rocksdb_create_backup_options_set_exclude_files_callback(
    rocksdb_create_backup_options_t* options, void* state,
    rocksdb_create_backup_options_exclude_files_cb callback) noexcept {
  options->rep.exclude_files_callback = nullptr;
  if (callback == nullptr) return;
  options->rep.exclude_files_callback = [state, callback](
                                            ashlar::MaybeExcludeBackupFile* files_begin,
                                            ashlar::MaybeExcludeBackupFile* files_end) {
    for (auto* file = files_begin; file != files_end; ++file) {
      const std::string& name = file->info.relative_file;
      file->exclude_decision = callback(state, name.data(), name.size()) != 0;
    }
  };
}
ASHLAR_C_ACCESSORS(create_backup_options, flush_before_backup, unsigned char)
ASHLAR_C_ACCESSORS(create_backup_options, atomic_flush, unsigned char)
ASHLAR_C_ACCESSORS(create_backup_options, decrease_background_thread_cpu_priority, unsigned char)
ASHLAR_C_ACCESSORS(create_backup_options, background_thread_cpu_priority, int)

ASHLAR_C_CREATE_AND_DESTROY(restore_options)
ASHLAR_C_SETTER(restore_options, keep_log_files, int)
ASHLAR_C_GETTER(restore_options, keep_log_files, unsigned char)
ASHLAR_C_ACCESSORS(restore_options, mode, int)
