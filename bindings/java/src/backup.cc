// Checkpoint, BackupEngine and its options.
#include "convert.h"
#include "native.h"
#include "objects.h"

namespace ashlar::java {

// ---- Checkpoint

ASHLAR_NATIVE(jlong, Checkpoint_newCheckpoint, jlong handle) {
  return Native(env, [&](Call& call) {
    auto& db = call.Use<DBObject>(handle);
    Checkpoint* checkpoint = nullptr;
    call.Check(Checkpoint::Create(&db.db(), &checkpoint));
    auto* object = new CheckpointObject(db);
    object->checkpoint.reset(checkpoint);
    return db.RegisterChild(object);
  });
}
ASHLAR_NATIVE(void, Checkpoint_createCheckpoint, jlong handle, jstring path) {
  Native(env, [&](Call& call) {
    call.Check(call.Use<CheckpointObject>(handle).checkpoint->CreateCheckpoint(call.Text(path)));
  });
}

// ---- BackupEngineOptions

ASHLAR_NATIVE(jlong, BackupEngineOptions_newBackupEngineOptions, jstring path) {
  return Native(
      env, [&](Call& call) { return Register(new BackupEngineOptionsObject(call.Text(path))); });
}
ASHLAR_NATIVE(jstring, BackupEngineOptions_backupDir, jlong handle) {
  return Native(env, [&](Call& call) {
    return call.NewText(call.Use<BackupEngineOptionsObject>(handle).value.backup_dir);
  });
}
#define BACKUP_OPTION(getter, setter, type, member)                                    \
  ASHLAR_NATIVE(void, BackupEngineOptions_##setter, jlong handle, type value) {        \
    Native(env, [&](Call& call) {                                                      \
      auto& options = call.Use<BackupEngineOptionsObject>(handle).value;               \
      options.member = FromJava<std::remove_cvref_t<decltype(options.member)>>(value); \
    });                                                                                \
  }                                                                                    \
  ASHLAR_NATIVE(type, BackupEngineOptions_##getter, jlong handle) {                    \
    return Native(env, [&](Call& call) {                                               \
      return ToJava<type>(call.Use<BackupEngineOptionsObject>(handle).value.member);   \
    });                                                                                \
  }
BACKUP_OPTION(sync, setSync, jboolean, sync)
BACKUP_OPTION(destroyOldData, setDestroyOldData, jboolean, destroy_old_data)
BACKUP_OPTION(backupLogFiles, setBackupLogFiles, jboolean, backup_log_files)
BACKUP_OPTION(shareTableFiles, setShareTableFiles, jboolean, share_table_files)
BACKUP_OPTION(shareFilesWithChecksum, setShareFilesWithChecksum, jboolean,
              share_files_with_checksum)
BACKUP_OPTION(backupRateLimit, setBackupRateLimit, jlong, backup_rate_limit)
BACKUP_OPTION(restoreRateLimit, setRestoreRateLimit, jlong, restore_rate_limit)
BACKUP_OPTION(maxBackgroundOperations, setMaxBackgroundOperations, jint, max_background_operations)
BACKUP_OPTION(callbackTriggerIntervalSize, setCallbackTriggerIntervalSize, jlong,
              callback_trigger_interval_size)
#undef BACKUP_OPTION
ASHLAR_NATIVE(void, BackupEngineOptions_setBackupEnv, jlong handle, jlong environment) {
  Native(env, [&](Call& call) {
    auto& options = call.Use<BackupEngineOptionsObject>(handle);
    options.env = call.Use<EnvObject>(environment).value;
    options.value.backup_env = options.env.get();
  });
}
ASHLAR_NATIVE(void, BackupEngineOptions_setBackupRateLimiter, jlong handle, jlong limiter) {
  Native(env, [&](Call& call) {
    call.Use<BackupEngineOptionsObject>(handle).value.backup_rate_limiter =
        call.Use<RateLimiterObject>(limiter).value;
  });
}
ASHLAR_NATIVE(void, BackupEngineOptions_setRestoreRateLimiter, jlong handle, jlong limiter) {
  Native(env, [&](Call& call) {
    call.Use<BackupEngineOptionsObject>(handle).value.restore_rate_limiter =
        call.Use<RateLimiterObject>(limiter).value;
  });
}
// Accepted without effect, because Ashlar's backup engine writes no messages.
ASHLAR_NATIVE(void, BackupEngineOptions_setInfoLog, jlong handle, jlong logger) {
  Native(env, [&](Call& call) {
    call.Use<BackupEngineOptionsObject>(handle);
    call.Use<LoggerObject>(logger);
  });
}

// ---- BackupEngine

ASHLAR_NATIVE(jlong, BackupEngine_open, jlong environment, jlong options) {
  return Native(env, [&](Call& call) {
    BackupEngineOptions o = call.Use<BackupEngineOptionsObject>(options).value;
    // Tables are always shared and identified by their checksums. A backup that requests its own
    // copies gets the same contents in less space.
    o.share_table_files = true;
    o.share_files_with_checksum = true;
    BackupEngine* engine = nullptr;
    call.Check(BackupEngine::Open(o, call.Use<EnvObject>(environment).value.get(), &engine));
    return Register(new BackupEngineObject(std::unique_ptr<BackupEngine>(engine)));
  });
}
ASHLAR_NATIVE(void, BackupEngine_createNewBackup, jlong handle, jlong db, jboolean flush) {
  Native(env, [&](Call& call) {
    auto& engine = call.Use<BackupEngineObject>(handle).value;
    call.Check(engine->CreateNewBackup(&call.Use<DBObject>(db).db(), flush != 0));
  });
}
ASHLAR_NATIVE(void, BackupEngine_createNewBackupWithMetadata, jlong handle, jlong db,
              jstring metadata, jboolean flush) {
  Native(env, [&](Call& call) {
    auto& engine = call.Use<BackupEngineObject>(handle).value;
    CreateBackupOptions options;
    options.flush_before_backup = flush != 0;
    call.Check(engine->CreateNewBackupWithMetadata(options, &call.Use<DBObject>(db).db(),
                                                   call.Text(metadata)));
  });
}
ASHLAR_NATIVE(jobject, BackupEngine_getBackupInfo, jlong handle) {
  return Native(env, [&](Call& call) {
    std::vector<BackupInfo> infos;
    call.Use<BackupEngineObject>(handle).value->GetBackupInfo(&infos);
    const jobject list = call.NewList(infos.size());
    for (const BackupInfo& info : infos) {
      const LocalRef<jstring> metadata(env, call.NewText(info.app_metadata));
      const LocalRef<> java_info(
          env, call.New("org/rocksdb/BackupInfo", "(IJJILjava/lang/String;)V",
                        static_cast<jint>(info.backup_id), static_cast<jlong>(info.timestamp),
                        static_cast<jlong>(info.size), static_cast<jint>(info.number_files),
                        metadata.get()));
      call.AddToList(list, java_info.get());
    }
    return list;
  });
}
ASHLAR_NATIVE(jintArray, BackupEngine_getCorruptedBackups, jlong handle) {
  return Native(env, [&](Call& call) {
    std::vector<BackupID> damaged;
    call.Use<BackupEngineObject>(handle).value->GetCorruptedBackups(&damaged);
    const std::vector<jint> ids(damaged.begin(), damaged.end());
    const jintArray array = call.Made(env->NewIntArray(static_cast<jsize>(ids.size())));
    env->SetIntArrayRegion(array, 0, static_cast<jsize>(ids.size()), ids.data());
    return array;
  });
}
ASHLAR_NATIVE(void, BackupEngine_garbageCollect, jlong handle) {
  Native(env, [&](Call& call) {
    call.Check(call.Use<BackupEngineObject>(handle).value->GarbageCollect());
  });
}
ASHLAR_NATIVE(void, BackupEngine_purgeOldBackups, jlong handle, jint kept) {
  Native(env, [&](Call& call) {
    call.Check(call.Use<BackupEngineObject>(handle).value->PurgeOldBackups(
        static_cast<uint32_t>(ToSize(call, kept))));
  });
}
ASHLAR_NATIVE(void, BackupEngine_deleteBackup, jlong handle, jint id) {
  Native(env, [&](Call& call) {
    call.Check(call.Use<BackupEngineObject>(handle).value->DeleteBackup(static_cast<BackupID>(id)));
  });
}
ASHLAR_NATIVE(void, BackupEngine_restoreDbFromBackup, jlong handle, jint id, jstring db_dir,
              jstring wal_dir, jlong options) {
  Native(env, [&](Call& call) {
    call.Check(call.Use<BackupEngineObject>(handle).value->RestoreDBFromBackup(
        call.Use<RestoreOptionsObject>(options).value, static_cast<BackupID>(id), call.Text(db_dir),
        call.Text(wal_dir)));
  });
}
ASHLAR_NATIVE(void, BackupEngine_restoreDbFromLatestBackup, jlong handle, jstring db_dir,
              jstring wal_dir, jlong options) {
  Native(env, [&](Call& call) {
    call.Check(call.Use<BackupEngineObject>(handle).value->RestoreDBFromLatestBackup(
        call.Use<RestoreOptionsObject>(options).value, call.Text(db_dir), call.Text(wal_dir)));
  });
}

}  // namespace ashlar::java
