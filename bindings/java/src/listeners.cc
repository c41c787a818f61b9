// Java's event listeners and the job reports passed to them.
//
// A callback attaches its thread to the JVM only if the listener has the event enabled. An
// exception is printed and has no other effect. A database that is passed to a callback is the
// program's own, under the handle that Java has. While the database is being opened or closed, it
// has a handle that is valid only during the callback, like other objects that the engine passes.
// Later use is detected. A listener cannot close its database: see Object::ReasonNotToClose.
#include <array>
#include <exception>

#include "convert.h"
#include "native.h"
#include "objects.h"
#include "transfer.h"

namespace ashlar::java {
namespace {

// ---- Numbers of Java's enumerations that differ from those of the engine.

jint JavaReason(FlushReason reason) {
  // Java has no reason for full logs, and only one reason for all recoveries.
  if (reason == FlushReason::kErrorRecoveryRetryFlush) reason = FlushReason::kErrorRecovery;
  if (reason > FlushReason::kErrorRecovery) reason = FlushReason::kOthers;
  return static_cast<jint>(reason);
}

jint JavaReason(BackgroundErrorReason reason) {
  switch (reason) {
    case BackgroundErrorReason::kFlush:
    case BackgroundErrorReason::kCompaction:
    case BackgroundErrorReason::kWriteCallback:
    case BackgroundErrorReason::kMemTable: return static_cast<jint>(reason);
    // Java has no separate reasons for these, most of which follow a flush.
    case BackgroundErrorReason::kManifestWrite:
    case BackgroundErrorReason::kFlushNoWAL:
    case BackgroundErrorReason::kManifestWriteNoWAL:
    case BackgroundErrorReason::kAsyncFileOpen: break;
  }
  return static_cast<jint>(BackgroundErrorReason::kFlush);
}

jbyte JavaReason(CompactionReason reason) {
  switch (reason) {
    case CompactionReason::kFilesMarkedForCompaction: return 0x10;
    case CompactionReason::kBottommostFiles: return 0x0a;
    case CompactionReason::kTtl: return 0x0b;
    case CompactionReason::kFlush: return 0x0c;
    case CompactionReason::kExternalSstIngestion: return 0x0d;
    case CompactionReason::kPeriodicCompaction: return 0x0e;
    case CompactionReason::kRefitLevel: return 0;  // unknown
    default: return static_cast<jbyte>(reason);
  }
}

jint JavaCondition(WriteStallCondition condition) {
  switch (condition) {
    case WriteStallCondition::kNormal: return 0;
    case WriteStallCondition::kDelayed: return 1;
    case WriteStallCondition::kStopped: return 2;
  }
  return 0;
}

// ---- Objects that are passed to callbacks.

jobject NewFlushInfo(Call& call, const FlushJobInfo& info) {
  const LocalRef<jstring> family(call.env(), call.NewText(info.cf_name));
  const LocalRef<jstring> path(call.env(), call.NewText(info.file_path));
  const LocalRef<> properties(call.env(), NewTableProperties(call, info.table_properties));
  return call.New(
      "org/rocksdb/FlushJobInfo",
      "(JLjava/lang/String;Ljava/lang/String;JIZZJJLorg/rocksdb/TableProperties;B)V",
      static_cast<jlong>(info.cf_id), family.get(), path.get(), static_cast<jlong>(info.thread_id),
      static_cast<jint>(info.job_id), static_cast<jint>(info.triggered_writes_slowdown),
      static_cast<jint>(info.triggered_writes_stop), static_cast<jlong>(info.smallest_seqno),
      static_cast<jlong>(info.largest_seqno), properties.get(), JavaReason(info.flush_reason));
}

jobject NewCreationBriefInfo(Call& call, const TableFileCreationBriefInfo& info) {
  const LocalRef<jstring> db(call.env(), call.NewText(info.db_name));
  const LocalRef<jstring> family(call.env(), call.NewText(info.cf_name));
  const LocalRef<jstring> path(call.env(), call.NewText(info.file_path));
  return call.New("org/rocksdb/TableFileCreationBriefInfo",
                  "(Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;IB)V", db.get(),
                  family.get(), path.get(), static_cast<jint>(info.job_id),
                  static_cast<jint>(info.reason));
}

jobject NewCreationInfo(Call& call, const TableFileCreationInfo& info) {
  const LocalRef<> properties(call.env(), NewTableProperties(call, info.table_properties));
  const LocalRef<> status(call.env(), call.NewStatus(info.status));
  const LocalRef<jstring> db(call.env(), call.NewText(info.db_name));
  const LocalRef<jstring> family(call.env(), call.NewText(info.cf_name));
  const LocalRef<jstring> path(call.env(), call.NewText(info.file_path));
  return call.New("org/rocksdb/TableFileCreationInfo",
                  "(JLorg/rocksdb/TableProperties;Lorg/rocksdb/Status;Ljava/lang/String;"
                  "Ljava/lang/String;Ljava/lang/String;IB)V",
                  static_cast<jlong>(info.file_size), properties.get(), status.get(), db.get(),
                  family.get(), path.get(), static_cast<jint>(info.job_id),
                  static_cast<jint>(info.reason));
}

jobject NewDeletionInfo(Call& call, const TableFileDeletionInfo& info) {
  const LocalRef<jstring> db(call.env(), call.NewText(info.db_name));
  const LocalRef<jstring> path(call.env(), call.NewText(info.file_path));
  const LocalRef<> status(call.env(), call.NewStatus(info.status));
  return call.New("org/rocksdb/TableFileDeletionInfo",
                  "(Ljava/lang/String;Ljava/lang/String;ILorg/rocksdb/Status;)V", db.get(),
                  path.get(), static_cast<jint>(info.job_id), status.get());
}

jobject NewMemTableInfo(Call& call, const MemTableInfo& info) {
  const LocalRef<jstring> family(call.env(), call.NewText(info.cf_name));
  return call.New("org/rocksdb/MemTableInfo", "(Ljava/lang/String;JJJJ)V", family.get(),
                  static_cast<jlong>(info.first_seqno), static_cast<jlong>(info.earliest_seqno),
                  static_cast<jlong>(info.num_entries), static_cast<jlong>(info.num_deletes));
}

jobject NewStallInfo(Call& call, const WriteStallInfo& info) {
  const LocalRef<jstring> family(call.env(), call.NewText(info.cf_name));
  return call.New("org/rocksdb/WriteStallInfo", "(Ljava/lang/String;BB)V", family.get(),
                  JavaCondition(info.condition.cur), JavaCondition(info.condition.prev));
}

jobject NewIngestionInfo(Call& call, const ExternalFileIngestionInfo& info) {
  const LocalRef<jstring> family(call.env(), call.NewText(info.cf_name));
  const LocalRef<jstring> outside(call.env(), call.NewText(info.external_file_path));
  const LocalRef<jstring> inside(call.env(), call.NewText(info.internal_file_path));
  const LocalRef<> properties(call.env(), NewTableProperties(call, info.table_properties));
  return call.New("org/rocksdb/ExternalFileIngestionInfo",
                  "(Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;J"
                  "Lorg/rocksdb/TableProperties;)V",
                  family.get(), outside.get(), inside.get(), static_cast<jlong>(info.global_seqno),
                  properties.get());
}

// ---- The listener.

// Numbers of Java's EnabledEventCallback. The other numbers are of single file operations, which
// the engine does not report.
enum class Event : uint8_t {
  kFlushCompleted = 0x00,
  kFlushBegin = 0x01,
  kTableFileDeleted = 0x02,
  kCompactionBegin = 0x03,
  kCompactionCompleted = 0x04,
  kTableFileCreated = 0x05,
  kTableFileCreationStarted = 0x06,
  kMemTableSealed = 0x07,
  kColumnFamilyHandleDeletionStarted = 0x08,
  kExternalFileIngested = 0x09,
  kBackgroundError = 0x0a,
  kStallConditionsChanged = 0x0b,
  kErrorRecoveryBegin = 0x14,
  kErrorRecoveryCompleted = 0x15,
};
constexpr size_t kEvents = 0x16;

struct EventMethod {
  Event event;
  const char* name;
  const char* signature;
};
constexpr EventMethod kEventMethods[] = {
    {Event::kFlushCompleted, "onFlushCompletedProxy", "(JLorg/rocksdb/FlushJobInfo;)V"},
    {Event::kFlushBegin, "onFlushBeginProxy", "(JLorg/rocksdb/FlushJobInfo;)V"},
    {Event::kTableFileDeleted, "onTableFileDeleted", "(Lorg/rocksdb/TableFileDeletionInfo;)V"},
    {Event::kCompactionBegin, "onCompactionBeginProxy", "(JLorg/rocksdb/CompactionJobInfo;)V"},
    {Event::kCompactionCompleted, "onCompactionCompletedProxy",
     "(JLorg/rocksdb/CompactionJobInfo;)V"},
    {Event::kTableFileCreated, "onTableFileCreated", "(Lorg/rocksdb/TableFileCreationInfo;)V"},
    {Event::kTableFileCreationStarted, "onTableFileCreationStarted",
     "(Lorg/rocksdb/TableFileCreationBriefInfo;)V"},
    {Event::kMemTableSealed, "onMemTableSealed", "(Lorg/rocksdb/MemTableInfo;)V"},
    {Event::kColumnFamilyHandleDeletionStarted, "onColumnFamilyHandleDeletionStarted",
     "(Lorg/rocksdb/ColumnFamilyHandle;)V"},
    {Event::kExternalFileIngested, "onExternalFileIngestedProxy",
     "(JLorg/rocksdb/ExternalFileIngestionInfo;)V"},
    {Event::kBackgroundError, "onBackgroundErrorProxy", "(BLorg/rocksdb/Status;)V"},
    {Event::kStallConditionsChanged, "onStallConditionsChanged", "(Lorg/rocksdb/WriteStallInfo;)V"},
    {Event::kErrorRecoveryBegin, "onErrorRecoveryBeginProxy", "(BLorg/rocksdb/Status;)Z"},
    {Event::kErrorRecoveryCompleted, "onErrorRecoveryCompleted", "(Lorg/rocksdb/Status;)V"},
};

// The Java object, which all databases of a listener share.
class ListenerObject {
 public:
  ListenerObject(Call& call, jobject listener, jlong events)
      : listener_(call.env(), listener), events_(static_cast<uint64_t>(events)) {
    const LocalRef<jclass> type(call.env(), call.Class("org/rocksdb/AbstractEventListener"));
    for (const EventMethod& m : kEventMethods) {
      methods_[static_cast<size_t>(m.event)] =
          call.Made(call.env()->GetMethodID(type.get(), m.name, m.signature));
    }
  }

  bool Wants(Event event) const { return (events_ >> static_cast<unsigned>(event) & 1) != 0; }
  jobject listener() const { return listener_.get(); }
  jmethodID method(Event event) const { return methods_[static_cast<size_t>(event)]; }

 private:
  GlobalRef listener_;
  uint64_t events_;
  std::array<jmethodID, kEvents> methods_ = {};
};

class JavaListener final : public EventListener {
 public:
  JavaListener(std::shared_ptr<const ListenerObject> object, OwnHandle database)
      : object_(std::move(object)), database_(std::move(database)) {}

  std::shared_ptr<EventListener> For(const OwnHandle& database) const {
    return std::make_shared<JavaListener>(object_, database);
  }
  jobject listener() const { return object_->listener(); }

  void OnFlushBegin(DB* db, const FlushJobInfo& info) override {
    NotifyWithDatabase(Event::kFlushBegin, db, info, NewFlushInfo);
  }
  void OnFlushCompleted(DB* db, const FlushJobInfo& info) override {
    NotifyWithDatabase(Event::kFlushCompleted, db, info, NewFlushInfo);
  }
  void OnCompactionBegin(DB* db, const CompactionJobInfo& info) override {
    NotifyOfCompaction(Event::kCompactionBegin, db, info);
  }
  void OnCompactionCompleted(DB* db, const CompactionJobInfo& info) override {
    NotifyOfCompaction(Event::kCompactionCompleted, db, info);
  }
  void OnTableFileCreationStarted(const TableFileCreationBriefInfo& info) override {
    NotifyOf(Event::kTableFileCreationStarted, info, NewCreationBriefInfo);
  }
  void OnTableFileCreated(const TableFileCreationInfo& info) override {
    NotifyOf(Event::kTableFileCreated, info, NewCreationInfo);
  }
  void OnTableFileDeleted(const TableFileDeletionInfo& info) override {
    NotifyOf(Event::kTableFileDeleted, info, NewDeletionInfo);
  }
  void OnMemTableSealed(const MemTableInfo& info) override {
    NotifyOf(Event::kMemTableSealed, info, NewMemTableInfo);
  }
  void OnStallConditionsChanged(const WriteStallInfo& info) override {
    NotifyOf(Event::kStallConditionsChanged, info, NewStallInfo);
  }
  void OnExternalFileIngested(DB* db, const ExternalFileIngestionInfo& info) override {
    NotifyWithDatabase(Event::kExternalFileIngested, db, info, NewIngestionInfo);
  }
  void OnColumnFamilyHandleDeletionStarted(ColumnFamilyHandle* family) override {
    Notify(Event::kColumnFamilyHandleDeletionStarted, [&](const Callback& callback) {
      const Temporary handle(callback.database == nullptr
                                 ? Register(new ColumnFamilyObject(family))
                                 : callback.database->RegisterChild(
                                       new ColumnFamilyObject(*callback.database, family, false)));
      const LocalRef<> java(callback.call.env(), callback.call.New("org/rocksdb/ColumnFamilyHandle",
                                                                   "(J)V", handle.handle()));
      callback.Run(java.get());
    });
  }
  void OnBackgroundError(BackgroundErrorReason reason, Status* error) override {
    Notify(Event::kBackgroundError, [&](const Callback& callback) {
      const LocalRef<> status(callback.call.env(), callback.call.NewStatus(*error));
      callback.Run(JavaReason(reason), status.get());
    });
  }
  void OnErrorRecoveryBegin(BackgroundErrorReason reason, Status error,
                            bool* auto_recovery) override {
    Notify(Event::kErrorRecoveryBegin, [&](const Callback& callback) {
      JNIEnv* env = callback.call.env();
      const LocalRef<> status(env, callback.call.NewStatus(error));
      const jboolean automatic = env->CallBooleanMethod(object_->listener(), callback.method,
                                                        JavaReason(reason), status.get());
      if (!env->ExceptionCheck()) *auto_recovery = automatic != 0;
    });
  }
  // As in RocksDB, also called when the recovery has failed.
  void OnErrorRecoveryEnd(const BackgroundErrorRecoveryInfo& info) override {
    Notify(Event::kErrorRecoveryCompleted, [&](const Callback& callback) {
      const LocalRef<> status(callback.call.env(), callback.call.NewStatus(info.old_bg_error));
      callback.Run(status.get());
    });
  }

 private:
  // One notification.
  struct Callback {
    template <typename... Args>
    void Run(Args... args) const {
      call.env()->CallVoidMethod(listener, method, args...);
    }
    void RunWithDatabase(DB* db, jobject info) const {
      const Temporary borrowed(database == nullptr ? Register(new DBObject(db)) : 0);
      Run(database == nullptr ? borrowed.handle() : handle, info);
    }

    Call& call;
    jobject listener;
    jmethodID method;
    jlong handle;        // of the database, if it has an object
    DBObject* database;  // null: it is being opened or closed
  };

  // An event is lost if an allocation fails.
  template <typename Function>
  void Notify(Event event, Function function) noexcept {
    if (!object_->Wants(event)) return;
    constexpr jint kReferences = 32;
    JavaThread thread(kReferences);
    if (thread.env() == nullptr) return;
    try {
      Call call(thread.env(), Call::Of::kCallback);
      const jlong handle = database_->load();
      auto* database = call.UseUnlessClosed<DBObject>(handle);
      function(Callback{call, object_->listener(), object_->method(event), handle, database});
    } catch (const ExceptionRaised&) {
    } catch (const std::exception&) {
    }
    thread.PrintException();
  }

  template <typename Info>
  void NotifyOf(Event event, const Info& info, jobject (*make)(Call&, const Info&)) {
    Notify(event, [&](const Callback& callback) {
      const LocalRef<> java(callback.call.env(), make(callback.call, info));
      callback.Run(java.get());
    });
  }

  template <typename Info>
  void NotifyWithDatabase(Event event, DB* db, const Info& info,
                          jobject (*make)(Call&, const Info&)) {
    Notify(event, [&](const Callback& callback) {
      const LocalRef<> java(callback.call.env(), make(callback.call, info));
      callback.RunWithDatabase(db, java.get());
    });
  }

  void NotifyOfCompaction(Event event, DB* db, const CompactionJobInfo& info) {
    Notify(event, [&](const Callback& callback) {
      const Temporary report(Register(new CompactionJobInfoObject(info)));
      const LocalRef<> java(callback.call.env(), callback.call.New("org/rocksdb/CompactionJobInfo",
                                                                   "(J)V", report.handle()));
      callback.RunWithDatabase(db, java.get());
    });
  }

  const std::shared_ptr<const ListenerObject> object_;
  const OwnHandle database_;
};

// A Java program can set no other listeners.
const JavaListener& AsJava(const std::shared_ptr<EventListener>& listener) {
  return static_cast<const JavaListener&>(*listener);
}

void SetListeners(Call& call, DBOptions& options, jlongArray handles) {
  std::vector<std::shared_ptr<EventListener>> listeners;
  if (handles != nullptr) {
    for (const jlong handle : call.Longs(handles)) {
      listeners.push_back(
          call.With<EventListenerObject>(handle, [](auto& object) { return object.value; }));
    }
  }
  options.listeners = std::move(listeners);
}

jobjectArray GetListeners(Call& call, const DBOptions& options) {
  const LocalRef<jclass> type(call.env(), call.Class("org/rocksdb/AbstractEventListener"));
  const auto& listeners = options.listeners;
  const jobjectArray result = call.Made(
      call.env()->NewObjectArray(static_cast<jsize>(listeners.size()), type.get(), nullptr));
  for (size_t i = 0; i < listeners.size(); ++i) {
    call.env()->SetObjectArrayElement(result, static_cast<jsize>(i),
                                      AsJava(listeners[i]).listener());
  }
  return result;
}

}  // namespace

OwnHandle BindListeners(std::vector<std::shared_ptr<EventListener>>* listeners) {
  const auto own = std::make_shared<std::atomic<jlong>>(0);
  for (std::shared_ptr<EventListener>& listener : *listeners) listener = AsJava(listener).For(own);
  return own;
}

ASHLAR_NATIVE(jlong, AbstractEventListener_createNewEventListener, jlong events) {
  return Native(env, [&](Call& call) {
    return Register(new EventListenerObject(
        std::make_shared<JavaListener>(std::make_shared<ListenerObject>(call, self, events),
                                       std::make_shared<std::atomic<jlong>>(0))));
  });
}
#define LISTENERS_OF(java_class)                                                            \
  ASHLAR_NATIVE(void, java_class##_setEventListeners, jlong handle, jlongArray listeners) { \
    Native(env, [&](Call& call) {                                                           \
      SetListeners(call, call.Use<java_class##Object>(handle).value, listeners);            \
    });                                                                                     \
  }                                                                                         \
  ASHLAR_NATIVE(jobjectArray, java_class##_eventListeners, jlong handle) {                  \
    return Native(env, [&](Call& call) {                                                    \
      return GetListeners(call, call.Use<java_class##Object>(handle).value);                \
    });                                                                                     \
  }
LISTENERS_OF(Options)
LISTENERS_OF(DBOptions)
#undef LISTENERS_OF

// ---- CompactionJobInfo

ASHLAR_NATIVE(jlong, CompactionJobInfo_newCompactionJobInfo) {
  return Native(env, [&](Call&) { return Register(new CompactionJobInfoObject); });
}
#define JOB(result, name, expression)                                                  \
  ASHLAR_NATIVE(result, CompactionJobInfo_##name, jlong handle) {                      \
    return Native(env, [&](Call& call) -> result {                                     \
      const CompactionJobInfo& info = call.Use<CompactionJobInfoObject>(handle).value; \
      return expression;                                                               \
    });                                                                                \
  }
JOB(jbyteArray, columnFamilyName, call.NewBytes(info.cf_name))
JOB(jobject, status, call.NewStatus(info.status))
JOB(jlong, threadId, static_cast<jlong>(info.thread_id))
JOB(jint, jobId, info.job_id)
JOB(jint, baseInputLevel, info.base_input_level)
JOB(jint, outputLevel, info.output_level)
JOB(jobjectArray, inputFiles, call.NewTexts(info.input_files))
JOB(jobjectArray, outputFiles, call.NewTexts(info.output_files))
JOB(jobject, tableProperties, NewTablePropertiesMap(call, info.table_properties))
JOB(jbyte, compactionReason, JavaReason(info.compaction_reason))
JOB(jbyte, compression, ToJava<jbyte>(info.compression))
#undef JOB
ASHLAR_NATIVE(jlong, CompactionJobInfo_stats, jlong handle) {
  return Native(env, [&](Call& call) {
    const CompactionJobInfo& info = call.Use<CompactionJobInfoObject>(handle).value;
    auto stats = std::make_unique<CompactionJobStatsObject>();
    stats->value = info.stats;
    for (const CompactionFileInfo& file : info.input_file_infos) {
      if (file.level == info.output_level) ++stats->input_files_at_output_level;
    }
    return Register(stats.release());
  });
}

// ---- CompactionJobStats

ASHLAR_NATIVE(jlong, CompactionJobStats_newCompactionJobStats) {
  return Native(env, [&](Call&) { return Register(new CompactionJobStatsObject); });
}
ASHLAR_NATIVE(void, CompactionJobStats_reset, jlong handle) {
  Native(env, [&](Call& call) {
    auto& stats = call.Use<CompactionJobStatsObject>(handle);
    stats.value = CompactionJobStats();
    stats.input_files_at_output_level = 0;
  });
}
ASHLAR_NATIVE(void, CompactionJobStats_add, jlong handle, jlong other) {
  Native(env, [&](Call& call) {
    auto& sum = call.Use<CompactionJobStatsObject>(handle);
    const auto& added = call.Use<CompactionJobStatsObject>(other);
    for (uint64_t CompactionJobStats::* member : {&CompactionJobStats::elapsed_micros,
                                                  &CompactionJobStats::cpu_micros,
                                                  &CompactionJobStats::num_input_records,
                                                  &CompactionJobStats::num_input_files,
                                                  &CompactionJobStats::num_output_records,
                                                  &CompactionJobStats::num_output_files,
                                                  &CompactionJobStats::total_input_bytes,
                                                  &CompactionJobStats::total_output_bytes,
                                                  &CompactionJobStats::num_records_replaced,
                                                  &CompactionJobStats::num_input_deletion_records,
                                                  &CompactionJobStats::num_expired_deletion_records,
                                                  &CompactionJobStats::num_corrupt_keys,
                                                  &CompactionJobStats::total_input_raw_key_bytes,
                                                  &CompactionJobStats::total_input_raw_value_bytes,
                                                  &CompactionJobStats::file_write_nanos,
                                                  &CompactionJobStats::file_range_sync_nanos,
                                                  &CompactionJobStats::file_fsync_nanos,
                                                  &CompactionJobStats::file_prepare_write_nanos,
                                                  &CompactionJobStats::num_single_del_fallthru,
                                                  &CompactionJobStats::num_single_del_mismatch}) {
      sum.value.*member += added.value.*member;
    }
    sum.input_files_at_output_level += added.input_files_at_output_level;
  });
}
#define STATS(result, name, expression)                                \
  ASHLAR_NATIVE(result, CompactionJobStats_##name, jlong handle) {     \
    return Native(env, [&](Call& call) -> result {                     \
      const auto& object = call.Use<CompactionJobStatsObject>(handle); \
      [[maybe_unused]] const CompactionJobStats& stats = object.value; \
      return expression;                                               \
    });                                                                \
  }
#define COUNT(name, expression) STATS(jlong, name, static_cast<jlong>(expression))
COUNT(elapsedMicros, stats.elapsed_micros)
COUNT(numInputRecords, stats.num_input_records)
COUNT(numInputFiles, stats.num_input_files)
COUNT(numInputFilesAtOutputLevel, object.input_files_at_output_level)
COUNT(numOutputRecords, stats.num_output_records)
COUNT(numOutputFiles, stats.num_output_files)
STATS(jboolean, isManualCompaction, ToJava<jboolean>(stats.is_manual_compaction))
COUNT(totalInputBytes, stats.total_input_bytes)
COUNT(totalOutputBytes, stats.total_output_bytes)
COUNT(numRecordsReplaced, stats.num_records_replaced)
COUNT(numInputDeletionRecords, stats.num_input_deletion_records)
COUNT(numExpiredDeletionRecords, stats.num_expired_deletion_records)
COUNT(numCorruptKeys, stats.num_corrupt_keys)
COUNT(totalInputRawKeyBytes, stats.total_input_raw_key_bytes)
COUNT(totalInputRawValueBytes, stats.total_input_raw_value_bytes)
COUNT(fileWriteNanos, stats.file_write_nanos)
COUNT(fileRangeSyncNanos, stats.file_range_sync_nanos)
COUNT(fileFsyncNanos, stats.file_fsync_nanos)
COUNT(filePrepareWriteNanos, stats.file_prepare_write_nanos)
COUNT(numSingleDelFallthru, stats.num_single_del_fallthru)
COUNT(numSingleDelMismatch, stats.num_single_del_mismatch)
STATS(jbyteArray, smallestOutputKeyPrefix, call.NewBytes(stats.smallest_output_key_prefix))
STATS(jbyteArray, largestOutputKeyPrefix, call.NewBytes(stats.largest_output_key_prefix))
#undef COUNT
#undef STATS

}  // namespace ashlar::java
