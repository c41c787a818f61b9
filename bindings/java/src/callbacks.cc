// Java objects that the engine calls: comparators, compaction filter factories, filters of tables
// and logs, loggers, write batch handlers. A Java object is kept until its C++ counterpart is
// deleted. Callbacks run in whichever thread the engine calls from.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "convert.h"
#include "native.h"
#include "objects.h"
#include "transfer.h"

namespace ashlar::java {
namespace {

struct ComparatorOptions {
  // Of RocksDB's three kinds of reuse, only one exists here: buffers of the calling thread.
  jbyte reused_synchronisation_type = 1;
  jint max_reused_buffer_size = 64;
  bool use_direct_buffer = true;
};
using ComparatorOptionsObject = Holder<ComparatorOptions, Kind::kComparatorOptions>;

// Returns the text that the object's method name() returns.
std::string NameOf(Call& call, jobject object) {
  JNIEnv* env = call.env();
  const LocalRef<jclass> type(env, env->GetObjectClass(object));
  const jmethodID method = call.Made(env->GetMethodID(type.get(), "name", "()Ljava/lang/String;"));
  const LocalRef<jstring> name(env, static_cast<jstring>(env->CallObjectMethod(object, method)));
  call.CheckJava();
  return call.Text(name.get());
}

jclass GlobalClass(Call& call, const char* name) {
  const LocalRef<jclass> local(call.env(), call.Class(name));
  return call.Made(static_cast<jclass>(call.env()->NewGlobalRef(local.get())));
}

// ---- Comparators.

// A thread's pair of direct buffers for keys, so that a comparison creates no objects. While they
// are busy, a comparison that runs within a comparison creates its own buffers.
//
// Invariant: the Java buffers belong to one comparator, owner_. Java's bridge restores the position
// of a buffer after a comparison but not its byte order, which the next comparator must not
// inherit.
class KeyBuffers {
 public:
  static constexpr size_t kBytes = 1024;

  KeyBuffers() = default;
  KeyBuffers(const KeyBuffers&) = delete;
  KeyBuffers& operator=(const KeyBuffers&) = delete;
  ~KeyBuffers() { Release(); }

  // Must be called before Fill. Drops the buffers of another comparator.
  void SetOwner(uint64_t comparator) {
    if (owner_ == comparator) return;
    Release();
    owner_ = comparator;
  }
  // Returns null if a buffer cannot be allocated.
  jobject Fill(JNIEnv* env, size_t which, const Slice& key) {
    jobject& buffer = buffers_[which];
    if (buffer == nullptr) {
      const LocalRef<> local(env, env->NewDirectByteBuffer(bytes_[which], kBytes));
      buffer = local.get() == nullptr ? nullptr : env->NewGlobalRef(local.get());
    }
    std::memcpy(bytes_[which], key.data(), key.size());
    return buffer;
  }
  // Used after an exception, which leaves positions that the next comparison does not expect.
  void Release() {
    if (buffers_[0] == nullptr && buffers_[1] == nullptr) return;
    const JavaThread thread(1);
    for (jobject& buffer : buffers_) {
      if (buffer != nullptr && thread.env() != nullptr) thread.env()->DeleteGlobalRef(buffer);
      buffer = nullptr;
    }
  }

  bool busy = false;

 private:
  uint64_t owner_ = 0;  // 0: no comparator
  jobject buffers_[2] = {};
  char bytes_[2][kBytes];
};

// On the heap, because the engine's thread-local variables are in the small block that the system
// reserves for libraries loaded late, and two more kilobytes would not fit.
KeyBuffers& BuffersOfThread() {
  static thread_local std::unique_ptr<KeyBuffers> buffers;
  if (buffers == nullptr) buffers = std::make_unique<KeyBuffers>();
  return *buffers;
}

// Not the address of a comparator, because a later comparator may have the same address.
uint64_t NewComparatorId() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

class JavaComparator final : public Comparator {
 public:
  JavaComparator(Call& call, jobject comparator, const ComparatorOptions& options)
      : comparator_(call.env(), comparator),
        name_(NameOf(call, comparator)),
        direct_(options.use_direct_buffer),
        // Once loaded, the bridge class remains as long as the comparator's class.
        bridge_(GlobalClass(call, "org/rocksdb/AbstractComparatorJniBridge")) {
    compare_ = call.Made(call.env()->GetStaticMethodID(
        bridge_, "compareInternal",
        "(Lorg/rocksdb/AbstractComparator;Ljava/nio/ByteBuffer;ILjava/nio/ByteBuffer;I)I"));
    byte_buffer_ = GlobalClass(call, "java/nio/ByteBuffer");
    wrap_ =
        call.Made(call.env()->GetStaticMethodID(byte_buffer_, "wrap", "([B)Ljava/nio/ByteBuffer;"));
  }
  ~JavaComparator() override {
    const JavaThread thread(1);
    if (thread.env() == nullptr) return;
    thread.env()->DeleteGlobalRef(bridge_);
    thread.env()->DeleteGlobalRef(byte_buffer_);
  }

  const char* Name() const override { return name_.c_str(); }
  bool direct() const { return direct_; }

  int Compare(const Slice& a, const Slice& b) const override {
    JavaThread thread(8);
    JNIEnv* env = thread.env();
    // If Java fails, the operation still needs some order to end.
    if (env == nullptr) return a.compare(b);
    KeyBuffers& buffers = BuffersOfThread();
    const bool reuse = direct_ && !buffers.busy && a.size() <= KeyBuffers::kBytes &&
                       b.size() <= KeyBuffers::kBytes;
    if (reuse) buffers.SetOwner(id_);
    const jobject first = reuse ? buffers.Fill(env, 0, a) : NewBuffer(env, a);
    const jobject second = first == nullptr ? nullptr
                           : reuse          ? buffers.Fill(env, 1, b)
                                            : NewBuffer(env, b);
    const bool has_both = first != nullptr && second != nullptr;
    jint order = 0;
    if (has_both) {
      if (reuse) buffers.busy = true;
      order = env->CallStaticIntMethod(bridge_, compare_, comparator_.get(), first,
                                       reuse ? static_cast<jint>(a.size()) : -1, second,
                                       reuse ? static_cast<jint>(b.size()) : -1);
      if (reuse) buffers.busy = false;
    }
    // A buffer may be null without an exception. Even then, different keys must not be equal.
    if (!has_both || env->ExceptionCheck()) [[unlikely]] {
      thread.ReportException();
      if (reuse) buffers.Release();
      return a.compare(b);
    }
    return order;
  }

  // Shorter keys in indexes do not justify calls into Java.
  void FindShortestSeparator(std::string* /*start*/, const Slice& /*limit*/) const override {}
  void FindShortSuccessor(std::string* /*key*/) const override {}

 private:
  // Returns null if it raised an exception.
  jobject NewBuffer(JNIEnv* env, const Slice& key) const {
    const auto size = static_cast<jsize>(key.size());
    if (direct_) return env->NewDirectByteBuffer(const_cast<char*>(key.data()), size);
    const jbyteArray array = env->NewByteArray(size);
    if (array == nullptr) return nullptr;
    env->SetByteArrayRegion(array, 0, size, reinterpret_cast<const jbyte*>(key.data()));
    const jobject buffer = env->CallStaticObjectMethod(byte_buffer_, wrap_, array);
    return env->ExceptionCheck() ? nullptr : buffer;
  }

  const uint64_t id_ = NewComparatorId();
  GlobalRef comparator_;
  std::string name_;
  bool direct_;
  jclass bridge_;
  jclass byte_buffer_ = nullptr;
  jmethodID compare_ = nullptr;
  jmethodID wrap_ = nullptr;
};

// ---- Compaction filters.

// A filter that Java created by name. RemoveEmptyValueCompactionFilter is the only such filter.
class RemoveEmptyValues final : public CompactionFilter {
 public:
  const char* Name() const override { return "RemoveEmptyValueCompactionFilter"; }
  bool Filter(int /*level*/, const Slice& /*key*/, const Slice& value, std::string* /*new_value*/,
              bool* /*value_changed*/) const override {
    return value.empty();
  }
};

// A filter for the engine that shares ownership of a filter that Java may have closed.
class SharedFilter final : public CompactionFilter {
 public:
  explicit SharedFilter(std::shared_ptr<const CompactionFilter> filter)
      : filter_(std::move(filter)) {}
  const char* Name() const override { return filter_->Name(); }
  Decision FilterV2(int level, const Slice& key, ValueType type, const Slice& value,
                    std::string* new_value, std::string* skip_until) const override {
    return filter_->FilterV2(level, key, type, value, new_value, skip_until);
  }

 private:
  std::shared_ptr<const CompactionFilter> filter_;
};

class JavaFilterFactory final : public CompactionFilterFactory {
 public:
  JavaFilterFactory(Call& call, jobject factory)
      : factory_(call.env(), factory), name_(NameOf(call, factory)) {
    const LocalRef<jclass> type(call.env(),
                                call.Class("org/rocksdb/AbstractCompactionFilterFactory"));
    create_ = call.Made(call.env()->GetMethodID(type.get(), "createCompactionFilter", "(ZZ)J"));
  }
  const char* Name() const override { return name_.c_str(); }

  // Java hands over the filter. An exception ends the job with an error that contains its text.
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) override {
    JavaThread thread;
    if (thread.env() == nullptr) throw std::runtime_error("the Java machine has ended");
    const jlong handle = thread.env()->CallLongMethod(
        factory_.get(), create_, ToJava<jboolean>(context.is_full_compaction),
        ToJava<jboolean>(context.is_manual_compaction));
    const std::string failure = thread.TakeException();
    if (!failure.empty()) throw std::runtime_error(failure);
    const std::unique_ptr<CompactionFilterObject> filter(
        static_cast<CompactionFilterObject*>(Take(Kind::kCompactionFilter, handle)));
    if (filter == nullptr) return nullptr;
    return std::make_unique<SharedFilter>(filter->value);
  }

 private:
  GlobalRef factory_;
  std::string name_;
  jmethodID create_ = nullptr;
};

// ---- Filters of tables and of logs. They run in Java's thread within a native method, which
// throws their exceptions.

class JavaTableFilter {
 public:
  JavaTableFilter(Call& call, jobject filter) : filter_(call.env(), filter) {
    const LocalRef<jclass> type(call.env(), call.Class("org/rocksdb/TableFilter"));
    wants_ = call.Made(
        call.env()->GetMethodID(type.get(), "filter", "(Lorg/rocksdb/TableProperties;)Z"));
  }

  bool Wants(const TableProperties& properties) const {
    JavaThread thread(32);
    JNIEnv* env = thread.env();
    if (env == nullptr) return true;
    Call call(env, Call::Of::kCallback);
    bool wanted = true;
    try {
      const LocalRef<> java_properties(env, NewTableProperties(call, properties));
      wanted = env->CallBooleanMethod(filter_.get(), wants_, java_properties.get()) != 0;
    } catch (...) {
      // A Java exception is pending. If an allocation failed, the table is wanted.
    }
    return thread.ReportException() || wanted;
  }

 private:
  GlobalRef filter_;
  jmethodID wants_ = nullptr;
};

class JavaWalFilter final : public WalFilter {
 public:
  JavaWalFilter(Call& call, jobject filter)
      : filter_(call.env(), filter), name_(NameOf(call, filter)) {
    JNIEnv* env = call.env();
    const LocalRef<jclass> type(env, call.Class("org/rocksdb/AbstractWalFilter"));
    families_ = call.Made(env->GetMethodID(type.get(), "columnFamilyLogNumberMap",
                                           "(Ljava/util/Map;Ljava/util/Map;)V"));
    // The high byte of the result is the decision, the low byte says if the batch is replaced.
    record_ =
        call.Made(env->GetMethodID(type.get(), "logRecordFoundProxy", "(JLjava/lang/String;JJ)S"));
  }
  const char* Name() const override { return name_.c_str(); }

  void ColumnFamilyLogNumberMap(const std::map<uint32_t, uint64_t>& log_numbers,
                                const std::map<std::string, uint32_t>& ids) override {
    has_thrown_ = false;  // an open begins
    Run([&](Call& call) {
      JNIEnv* env = call.env();
      const LocalRef<> java_numbers(env, call.NewMap());
      for (const auto& [id, number] : log_numbers) {
        const LocalRef<> key(env, NewInteger(call, id));
        const LocalRef<> value(env, call.New("java/lang/Long", "(J)V", static_cast<jlong>(number)));
        call.PutInMap(java_numbers.get(), key.get(), value.get());
      }
      const LocalRef<> java_ids(env, call.NewMap());
      for (const auto& [name, id] : ids) {
        const LocalRef<jstring> key(env, call.NewText(name));
        const LocalRef<> value(env, NewInteger(call, id));
        call.PutInMap(java_ids.get(), key.get(), value.get());
      }
      env->CallVoidMethod(filter_.get(), families_, java_numbers.get(), java_ids.get());
    });
  }

  WalProcessingOption LogRecordFound(unsigned long long log_number, const std::string& file_name,
                                     const WriteBatch& batch, WriteBatch* new_batch,
                                     bool* batch_changed) override {
    // The engine treats this as an invalid decision and fails the open.
    WalProcessingOption decision = WalProcessingOption::kWalProcessingOptionMax;
    Run([&](Call& call) {
      const LocalRef<jstring> name(call.env(), call.NewText(file_name));
      // Java's WriteBatch objects do not own the batches that they name.
      const Temporary found(Register(new WriteBatchObject(batch)));
      const Temporary made(Register(new WriteBatchObject));
      const jint answer =
          call.env()->CallShortMethod(filter_.get(), record_, static_cast<jlong>(log_number),
                                      name.get(), found.handle(), made.handle());
      call.CheckJava();
      *batch_changed = (answer & 0xff) != 0;
      if (*batch_changed)
        *new_batch = call.With<WriteBatchObject>(made.handle(), [](auto& o) { return o.value; });
      decision = static_cast<WalProcessingOption>(answer >> 8);
    });
    return decision;
  }

 private:
  static jobject NewInteger(Call& call, uint32_t value) {
    return call.New("java/lang/Integer", "(I)V", static_cast<jint>(value));
  }

  // Runs no callback after one has thrown.
  template <typename Body>
  void Run(Body body) {
    JavaThread thread;
    if (thread.env() == nullptr || has_thrown_) return;
    {
      Call call(thread.env(), Call::Of::kCallback);
      try {
        body(call);
      } catch (const ExceptionRaised&) {
      }
    }
    has_thrown_ = thread.ReportException();
  }

  GlobalRef filter_;
  std::string name_;
  jmethodID families_ = nullptr;
  jmethodID record_ = nullptr;
  bool has_thrown_ = false;
};

// ---- Loggers.

class JavaLogger final : public Logger {
 public:
  JavaLogger(Call& call, jobject logger, InfoLogLevel level)
      : Logger(level), logger_(call.env(), logger) {
    JNIEnv* env = call.env();
    const LocalRef<jclass> type(env, call.Class("org/rocksdb/Logger"));
    log_ = call.Made(
        env->GetMethodID(type.get(), "log", "(Lorg/rocksdb/InfoLogLevel;Ljava/lang/String;)V"));
    levels_ = GlobalClass(call, "org/rocksdb/InfoLogLevel");
    get_level_ = call.Made(
        env->GetStaticMethodID(levels_, "getInfoLogLevel", "(B)Lorg/rocksdb/InfoLogLevel;"));
  }
  ~JavaLogger() override {
    const JavaThread thread(1);
    if (thread.env() != nullptr) thread.env()->DeleteGlobalRef(levels_);
  }

  void Log(InfoLogLevel level, std::string_view message) override {
    JavaThread thread;
    JNIEnv* env = thread.env();
    if (env == nullptr) return;
    const jobject java_level =
        env->CallStaticObjectMethod(levels_, get_level_, static_cast<jint>(level));
    if (!env->ExceptionCheck()) {
      // Messages are ASCII except for paths.
      Call call(env, Call::Of::kCallback);
      try {
        env->CallVoidMethod(logger_.get(), log_, java_level, call.NewText(std::string(message)));
      } catch (const ExceptionRaised&) {
      }
    }
    // A lost message is no reason to fail.
    thread.TakeException();
  }

 private:
  GlobalRef logger_;
  jclass levels_ = nullptr;
  jmethodID log_ = nullptr;
  jmethodID get_level_ = nullptr;
};

// ---- Handlers of write batches.

struct HandlerMethods {
  HandlerMethods(Call& call) {
    const LocalRef<jclass> type(call.env(), call.Class("org/rocksdb/WriteBatch$Handler"));
    const auto find = [&](const char* name, const char* signature) {
      return call.Made(call.env()->GetMethodID(type.get(), name, signature));
    };
    put = find("put", "([B[B)V");
    put_family = find("put", "(I[B[B)V");
    merge = find("merge", "([B[B)V");
    merge_family = find("merge", "(I[B[B)V");
    remove = find("delete", "([B)V");
    remove_family = find("delete", "(I[B)V");
    single_delete = find("singleDelete", "([B)V");
    single_delete_family = find("singleDelete", "(I[B)V");
    delete_range = find("deleteRange", "([B[B)V");
    delete_range_family = find("deleteRange", "(I[B[B)V");
    log_data = find("logData", "([B)V");
    put_blob_index = find("putBlobIndex", "(I[B[B)V");
    begin_prepare = find("markBeginPrepare", "()V");
    end_prepare = find("markEndPrepare", "([B)V");
    noop = find("markNoop", "(Z)V");
    rollback = find("markRollback", "([B)V");
    commit = find("markCommit", "([B)V");
    commit_with_timestamp = find("markCommitWithTimestamp", "([B[B)V");
    should_continue = find("shouldContinue", "()Z");
  }
  jmethodID put, put_family, merge, merge_family, remove, remove_family, single_delete,
      single_delete_family, delete_range, delete_range_family, log_data, put_blob_index,
      begin_prepare, end_prepare, noop, rollback, commit, commit_with_timestamp, should_continue;
};

struct BatchHandlerObject : Object {
  static constexpr Kind kKind = Kind::kWriteBatchHandler;
  BatchHandlerObject(Call& call, jobject handler_in)
      : handler(call.env(), handler_in), methods(call) {}
  GlobalRef handler;
  HandlerMethods methods;
};

// One iteration in the Java thread that requested it. An exception of the handler stays pending and
// ends the iteration. Java's iterate throws it.
class BatchIteration final : public WriteBatch::Handler {
 public:
  BatchIteration(Call& call, const BatchHandlerObject& object)
      : call_(call), handler_(object.handler.get()), m_(object.methods) {}

  Status PutCF(uint32_t family, const Slice& key, const Slice& value) override {
    return Two(family, m_.put, m_.put_family, key, value);
  }
  Status MergeCF(uint32_t family, const Slice& key, const Slice& value) override {
    return Two(family, m_.merge, m_.merge_family, key, value);
  }
  Status DeleteCF(uint32_t family, const Slice& key) override {
    return One(family, m_.remove, m_.remove_family, key);
  }
  Status SingleDeleteCF(uint32_t family, const Slice& key) override {
    return One(family, m_.single_delete, m_.single_delete_family, key);
  }
  Status DeleteRangeCF(uint32_t family, const Slice& begin, const Slice& end) override {
    return Two(family, m_.delete_range, m_.delete_range_family, begin, end);
  }
  Status PutBlobIndexCF(uint32_t family, const Slice& key, const Slice& value) override {
    const LocalRef<jbyteArray> k(env(), call_.NewBytes(key)), v(env(), call_.NewBytes(value));
    env()->CallVoidMethod(handler_, m_.put_blob_index, static_cast<jint>(family), k.get(), v.get());
    return Checked();
  }
  void LogData(const Slice& blob) override {
    const LocalRef<jbyteArray> bytes(env(), call_.NewBytes(blob));
    env()->CallVoidMethod(handler_, m_.log_data, bytes.get());
    call_.CheckJava();
  }
  Status MarkBeginPrepare(bool /*unprepare*/) override {
    env()->CallVoidMethod(handler_, m_.begin_prepare);
    return Checked();
  }
  Status MarkEndPrepare(const Slice& id) override { return Mark(m_.end_prepare, id); }
  Status MarkCommit(const Slice& id) override { return Mark(m_.commit, id); }
  Status MarkRollback(const Slice& id) override { return Mark(m_.rollback, id); }
  Status MarkCommitWithTimestamp(const Slice& id, const Slice& timestamp) override {
    const LocalRef<jbyteArray> i(env(), call_.NewBytes(id)), t(env(), call_.NewBytes(timestamp));
    env()->CallVoidMethod(handler_, m_.commit_with_timestamp, i.get(), t.get());
    return Checked();
  }
  Status MarkNoop(bool empty_batch) override {
    env()->CallVoidMethod(handler_, m_.noop, ToJava<jboolean>(empty_batch));
    return Checked();
  }
  bool Continue() override {
    const bool go_on = env()->CallBooleanMethod(handler_, m_.should_continue) != 0;
    call_.CheckJava();
    return go_on;
  }

 private:
  JNIEnv* env() const { return call_.env(); }
  Status Checked() {
    call_.CheckJava();
    return Status::OK();
  }
  Status Mark(jmethodID method, const Slice& id) {
    const LocalRef<jbyteArray> bytes(env(), call_.NewBytes(id));
    env()->CallVoidMethod(handler_, method, bytes.get());
    return Checked();
  }
  // Java's methods for the default family have no family parameter.
  Status One(uint32_t family, jmethodID plain, jmethodID with_family, const Slice& key) {
    const LocalRef<jbyteArray> k(env(), call_.NewBytes(key));
    if (family == 0) {
      env()->CallVoidMethod(handler_, plain, k.get());
    } else {
      env()->CallVoidMethod(handler_, with_family, static_cast<jint>(family), k.get());
    }
    return Checked();
  }
  Status Two(uint32_t family, jmethodID plain, jmethodID with_family, const Slice& key,
             const Slice& value) {
    const LocalRef<jbyteArray> k(env(), call_.NewBytes(key)), v(env(), call_.NewBytes(value));
    if (family == 0) {
      env()->CallVoidMethod(handler_, plain, k.get(), v.get());
    } else {
      env()->CallVoidMethod(handler_, with_family, static_cast<jint>(family), k.get(), v.get());
    }
    return Checked();
  }

  Call& call_;
  jobject handler_;
  const HandlerMethods& m_;
};

}  // namespace

// ---- Comparators

ASHLAR_NATIVE(jlong, AbstractComparator_createNewComparator, jlong options) {
  return Native(env, [&](Call& call) {
    return Register(new ComparatorObject(std::make_shared<JavaComparator>(
        call, self, call.Use<ComparatorOptionsObject>(options).value)));
  });
}
ASHLAR_NATIVE(jboolean, AbstractComparator_usingDirectBuffers, jlong handle) {
  return Native(env, [&](Call& call) {
    const auto& comparator = call.Use<ComparatorObject>(handle).value;
    return ToJava<jboolean>(static_cast<const JavaComparator&>(*comparator).direct());
  });
}

ASHLAR_NATIVE(jlong, ComparatorOptions_newComparatorOptions) {
  return Native(env, [&](Call&) { return Register(new ComparatorOptionsObject); });
}
#define COMPARATOR_OPTION(type, getter, setter, member)                                \
  ASHLAR_NATIVE(void, ComparatorOptions_##setter, jlong handle, type value) {          \
    Native(env, [&](Call& call) {                                                      \
      auto& options = call.Use<ComparatorOptionsObject>(handle).value;                 \
      options.member = FromJava<std::remove_cvref_t<decltype(options.member)>>(value); \
    });                                                                                \
  }                                                                                    \
  ASHLAR_NATIVE(type, ComparatorOptions_##getter, jlong handle) {                      \
    return Native(env, [&](Call& call) {                                               \
      return ToJava<type>(call.Use<ComparatorOptionsObject>(handle).value.member);     \
    });                                                                                \
  }
COMPARATOR_OPTION(jbyte, reusedSynchronisationType, setReusedSynchronisationType,
                  reused_synchronisation_type)
COMPARATOR_OPTION(jint, maxReusedBufferSize, setMaxReusedBufferSize, max_reused_buffer_size)
COMPARATOR_OPTION(jboolean, useDirectBuffer, setUseDirectBuffer, use_direct_buffer)
#undef COMPARATOR_OPTION

// ---- Compaction filters

ASHLAR_NATIVE(jlong, AbstractCompactionFilterFactory_createNewCompactionFilterFactory0) {
  return Native(env, [&](Call& call) {
    return Register(
        new CompactionFilterFactoryObject(std::make_shared<JavaFilterFactory>(call, self)));
  });
}
ASHLAR_NATIVE(jlong, RemoveEmptyValueCompactionFilter_createNewRemoveEmptyValueCompactionFilter0) {
  return Native(env, [&](Call&) {
    return Register(new CompactionFilterObject(std::make_shared<RemoveEmptyValues>()));
  });
}

// ---- Filters of tables and of logs

ASHLAR_NATIVE(jlong, AbstractTableFilter_createNewTableFilter) {
  return Native(env, [&](Call& call) {
    const auto filter = std::make_shared<const JavaTableFilter>(call, self);
    return Register(new TableFilterObject(
        [filter](const TableProperties& properties) { return filter->Wants(properties); }));
  });
}
ASHLAR_NATIVE(jlong, AbstractWalFilter_createNewWalFilter) {
  return Native(env, [&](Call& call) {
    return Register(new WalFilterObject(std::make_shared<JavaWalFilter>(call, self)));
  });
}

// ---- Loggers

ASHLAR_NATIVE(jlong, Logger_createNewLoggerOptions, jlong options) {
  return Native(env, [&](Call& call) {
    const InfoLogLevel level = call.Use<OptionsObject>(options).value.info_log_level;
    return Register(new LoggerObject(std::make_shared<JavaLogger>(call, self, level)));
  });
}
ASHLAR_NATIVE(jlong, Logger_createNewLoggerDbOptions, jlong options) {
  return Native(env, [&](Call& call) {
    const InfoLogLevel level = call.Use<DBOptionsObject>(options).value.info_log_level;
    return Register(new LoggerObject(std::make_shared<JavaLogger>(call, self, level)));
  });
}
ASHLAR_NATIVE(void, Logger_setInfoLogLevel, jlong handle, jbyte level) {
  Native(env, [&](Call& call) {
    call.Use<LoggerObject>(handle).value->SetInfoLogLevel(static_cast<InfoLogLevel>(level));
  });
}
ASHLAR_NATIVE(jbyte, Logger_infoLogLevel, jlong handle) {
  return Native(env, [&](Call& call) {
    return static_cast<jbyte>(call.Use<LoggerObject>(handle).value->GetInfoLogLevel());
  });
}

// ---- Handlers of write batches

ASHLAR_NATIVE(jlong, WriteBatch_00024Handler_createNewHandler0) {
  return Native(env, [&](Call& call) { return Register(new BatchHandlerObject(call, self)); });
}
ASHLAR_NATIVE(void, WriteBatch_iterate, jlong handle, jlong handler) {
  Native(env, [&](Call& call) {
    const WriteBatch& batch = call.Use<WriteBatchObject>(handle).value;
    BatchIteration iteration(call, call.Use<BatchHandlerObject>(handler));
    call.Check(batch.Iterate(&iteration));
  });
}

}  // namespace ashlar::java
