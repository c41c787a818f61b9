// The work of an environment's threads: Env.getThreadList, and the texts of ThreadStatus.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ashlar/env.h"
#include "ashlar/thread_status.h"
#include "native.h"
#include "objects.h"

namespace ashlar::java {

namespace {

// Returns null for an empty text, as RocksDB's library does.
jstring NewTextOrNull(Call& call, const std::string& text) {
  return text.empty() ? nullptr : call.NewText(text);
}

// Java's classes know only these three operations, and reject any other number.
jbyte JavaOperation(ThreadStatus::OperationType type) {
  return type <= ThreadStatus::OP_FLUSH ? static_cast<jbyte>(type) : jbyte{0};
}

jobject NewThreadStatus(Call& call, const ThreadStatus& status) {
  JNIEnv* const env = call.env();
  const LocalRef<jstring> db(env, NewTextOrNull(call, status.db_name));
  const LocalRef<jstring> family(env, NewTextOrNull(call, status.cf_name));
  std::vector<jlong> numbers;
  for (const uint64_t number : status.op_properties) numbers.push_back(static_cast<jlong>(number));
  const LocalRef<jlongArray> properties(env, call.NewLongs(numbers));
  return call.New("org/rocksdb/ThreadStatus", "(JBLjava/lang/String;Ljava/lang/String;BJB[JB)V",
                  static_cast<jlong>(status.thread_id), static_cast<jint>(status.thread_type),
                  db.get(), family.get(), static_cast<jint>(JavaOperation(status.operation_type)),
                  static_cast<jlong>(status.op_elapsed_micros),
                  static_cast<jint>(status.operation_stage), properties.get(),
                  static_cast<jint>(status.state_type));
}

}  // namespace

ASHLAR_NATIVE(jobjectArray, Env_getThreadList, jlong handle) {
  return Native(env, [&](Call& call) {
    std::vector<ThreadStatus> threads;
    call.Check(call.Use<EnvObject>(handle).value->GetThreadList(&threads));
    const LocalRef<jclass> type(env, call.Class("org/rocksdb/ThreadStatus"));
    const jobjectArray result =
        call.Made(env->NewObjectArray(static_cast<jsize>(threads.size()), type.get(), nullptr));
    for (size_t i = 0; i < threads.size(); ++i) {
      const LocalRef<> status(env, NewThreadStatus(call, threads[i]));
      env->SetObjectArrayElement(result, static_cast<jsize>(i), status.get());
    }
    return result;
  });
}

ASHLAR_NATIVE(jstring, ThreadStatus_getThreadTypeName, jbyte type) {
  return Native(env, [&](Call& call) {
    return NewTextOrNull(
        call, ThreadStatus::GetThreadTypeName(static_cast<ThreadStatus::ThreadType>(type)));
  });
}
ASHLAR_NATIVE(jstring, ThreadStatus_getOperationName, jbyte operation) {
  return Native(env, [&](Call& call) {
    return NewTextOrNull(
        call, ThreadStatus::GetOperationName(static_cast<ThreadStatus::OperationType>(operation)));
  });
}
ASHLAR_NATIVE(jstring, ThreadStatus_microsToStringNative, jlong micros) {
  return Native(env, [&](Call& call) {
    return NewTextOrNull(call, ThreadStatus::MicrosToString(static_cast<uint64_t>(micros)));
  });
}
ASHLAR_NATIVE(jstring, ThreadStatus_getOperationStageName, jbyte stage) {
  return Native(env, [&](Call& call) {
    return NewTextOrNull(call, ThreadStatus::GetOperationStageName(
                                   static_cast<ThreadStatus::OperationStage>(stage)));
  });
}
ASHLAR_NATIVE(jstring, ThreadStatus_getOperationPropertyName, jbyte operation, jint index) {
  return Native(env, [&](Call& call) {
    return NewTextOrNull(call, ThreadStatus::GetOperationPropertyName(
                                   static_cast<ThreadStatus::OperationType>(operation), index));
  });
}
ASHLAR_NATIVE(jobject, ThreadStatus_interpretOperationProperties, jbyte operation,
              jlongArray properties) {
  return Native(env, [&](Call& call) {
    // Numbers that a shorter array does not have are 0.
    std::array<uint64_t, ThreadStatus::kNumOperationProperties> numbers{};
    const std::vector<jlong> given = call.Longs(properties);
    for (size_t i = 0; i < std::min(given.size(), numbers.size()); ++i) {
      numbers[i] = static_cast<uint64_t>(given[i]);
    }
    const jobject map = call.NewMap();
    for (const auto& [name, number] : ThreadStatus::InterpretOperationProperties(
             static_cast<ThreadStatus::OperationType>(operation), numbers.data())) {
      const LocalRef<jstring> key(env, call.NewText(name));
      const LocalRef<> value(env, call.New("java/lang/Long", "(J)V", static_cast<jlong>(number)));
      call.PutInMap(map, key.get(), value.get());
    }
    return map;
  });
}
ASHLAR_NATIVE(jstring, ThreadStatus_getStateName, jbyte state) {
  return Native(env, [&](Call& call) {
    return NewTextOrNull(call,
                         ThreadStatus::GetStateName(static_cast<ThreadStatus::StateType>(state)));
  });
}

}  // namespace ashlar::java
