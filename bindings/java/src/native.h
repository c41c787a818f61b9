// The parts of every native method. A Call holds the Java environment, resolves handles, and turns
// errors into exceptions.
//
//   ASHLAR_NATIVE(jlong, RocksDB_getLatestSequenceNumber, jlong db) {
//     return Native(env, [&](Call& call) { return ...call.Use<DBObject>(db)...; });
//   }
//
// Exceptions: a Java exception is raised in the environment and leaves the body as ExceptionRaised.
// Native catches it and any other C++ exception and returns 0, so none of them reaches the JVM.
// While a Java exception is pending, no other function of the environment is called.
//
// References: local references are released when a native method returns. A body that creates them
// in a loop releases each one early (LocalRef). In threads of the engine, which never return to
// Java, a JavaThread creates a local frame for each callback.
#pragma once

#include <jni.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "handles.h"
#include "prototypes.h"  // from generate.py: types that differ from the jar's do not compile

#define ASHLAR_NATIVE(result, name, ...)                       \
  extern "C" JNIEXPORT result JNICALL Java_org_rocksdb_##name( \
      [[maybe_unused]] JNIEnv* env, [[maybe_unused]] jobject self __VA_OPT__(, ) __VA_ARGS__)

namespace ashlar::java {

struct ExceptionRaised {};

// ---- Raising Java exceptions. These do not throw.
void RaiseStatus(JNIEnv* env, const Status& status);
void Raise(JNIEnv* env, const char* class_name, const char* message);
// Raises UnsupportedOperationException with the text "<feature>: not in Ashlar".
void RaiseUnsupported(JNIEnv* env, const char* feature);
// The numbers that Java's Status has for a code and a subcode, or 127 (Undefined) if it has none.
jbyte JavaCode(Status::Code code);
jbyte JavaSubCode(Status::SubCode subcode);
// Raises the C++ exception that is being handled. Requires: it is called in a handler.
void RaiseCurrentException(JNIEnv* env) noexcept;

// A local reference that is deleted at the end of its scope.
template <typename T = jobject>
class LocalRef {
 public:
  LocalRef(JNIEnv* env, T ref) : env_(env), ref_(ref) {}
  ~LocalRef() {
    if (ref_ != nullptr) env_->DeleteLocalRef(ref_);
  }
  LocalRef(const LocalRef&) = delete;
  LocalRef& operator=(const LocalRef&) = delete;
  T get() const { return ref_; }
  T release() { return std::exchange(ref_, nullptr); }

 private:
  JNIEnv* env_;
  T ref_;
};

// A copy of the bytes of a Java array. Short copies need no allocation. An array is never pinned
// while the engine works, because that may delay the garbage collector.
class ByteCopy {
 public:
  ByteCopy() = default;
  ByteCopy(const ByteCopy&) = delete;
  ByteCopy& operator=(const ByteCopy&) = delete;
  ~ByteCopy() {
    if (data_ != inline_) ::operator delete(data_);
  }
  char* Allocate(size_t size) {
    if (size > sizeof inline_) data_ = static_cast<char*>(::operator new(size));
    size_ = size;
    return data_;
  }
  Slice slice() const { return Slice(data_, size_); }
  operator Slice() const { return slice(); }  // NOLINT: it is one

 private:
  char inline_[256];
  char* data_ = inline_;
  size_t size_ = 0;
};

class Call {
 public:
  // kNative: raises the exceptions of callbacks when the method returns to Java. kCallback: leaves
  // them to the native method that contains the callback.
  enum class Of : bool { kNative, kCallback };

  explicit Call(JNIEnv* env, Of of = Of::kNative)
      : env_(env), record_(CurrentRecord()), begin_(record_.count), of_(of) {}
  ~Call() {
    if (record_.exception != nullptr && of_ == Of::kNative) [[unlikely]]
      RaiseCallbackException();
    record_.PopTo(begin_);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  JNIEnv* env() const { return env_; }

  // Returns the object, which stays until the call ends. Raises IllegalStateException if closed.
  template <typename T>
  T& Use(jlong handle) {
    return *static_cast<T*>(UseObject(T::kKind, handle));
  }
  // Returns null for the handle 0.
  template <typename T>
  T* UseOrNull(jlong handle) {
    return handle == 0 ? nullptr : &Use<T>(handle);
  }
  Object* UseObject(Kind kind, jlong handle);
  // Returns null if it was closed. Either way, this thread cannot close it before the call ends.
  template <typename T>
  T* UseUnlessClosed(jlong handle) {
    return KindOf(handle) == T::kKind ? static_cast<T*>(Announce(record_, handle)) : nullptr;
  }
  // Returns the function's result, which must not refer to the object, because the object is in use
  // only during the function.
  template <typename T, typename F>
  auto With(jlong handle, F function) {
    const size_t begin = record_.count;
    auto result = function(Use<T>(handle));
    record_.PopTo(begin);
    return result;
  }

  // Raises RocksDBException unless the status is ok.
  void Check(const Status& status) {
    if (!status.ok()) [[unlikely]] {
      RaiseStatus(env_, status);
      throw ExceptionRaised();
    }
  }
  [[noreturn]] void Fail(const char* class_name, const std::string& message) {
    Raise(env_, class_name, message.c_str());
    throw ExceptionRaised();
  }
  [[noreturn]] void Unsupported(const char* feature) {
    RaiseUnsupported(env_, feature);
    throw ExceptionRaised();
  }
  // True if a callback threw. Its exception is raised at the end of the call, whose result is lost.
  bool CallbackHasThrown() const { return record_.exception != nullptr; }
  // Throws if a Java exception is pending. Used after a call into Java.
  void CheckJava() {
    if (env_->ExceptionCheck()) [[unlikely]]
      throw ExceptionRaised();
  }
  // Returns a reference that the environment made. Throws if it is null after an exception.
  template <typename T>
  T Made(T reference) {
    if (reference == nullptr) throw ExceptionRaised();
    return reference;
  }

  // ---- Bytes from Java.
  void Copy(jbyteArray array, jint offset, jint length, ByteCopy* copy);
  void Copy(jbyteArray array, ByteCopy* copy) { Copy(array, 0, Length(array), copy); }
  std::string CopyString(jbyteArray array);
  jint Length(jarray array) {
    if (array == nullptr) Fail("java/lang/NullPointerException", "the array is null");
    return env_->GetArrayLength(array);
  }
  // Raises IllegalArgumentException if not direct, IndexOutOfBoundsException if out of range.
  char* Direct(jobject buffer, jint offset, jint length);
  Slice DirectSlice(jobject buffer, jint offset, jint length) {
    return Slice(Direct(buffer, offset, length), static_cast<size_t>(length));
  }
  std::string Text(jstring string);
  std::vector<std::string> Texts(jobjectArray strings);
  std::vector<std::string> ByteStrings(jobjectArray arrays);
  std::vector<jlong> Longs(jlongArray array);
  std::vector<jint> Ints(jintArray array);

  // ---- Bytes to Java.
  jbyteArray NewBytes(const Slice& bytes);
  jstring NewText(const std::string& text);
  jobjectArray NewByteArrays(const std::vector<std::string>& strings);
  jobjectArray NewTexts(const std::vector<std::string>& strings);
  jlongArray NewLongs(const std::vector<jlong>& values);
  // Copies as many bytes as fit into the range of the array, and returns the size of all.
  jint CopyOut(const Slice& bytes, jbyteArray array, jint offset, jint length);
  jint CopyOutDirect(const Slice& bytes, jobject buffer, jint offset, jint length);

  // ---- Java objects.
  // Also works in threads of the engine, where FindClass cannot find the program's classes.
  jclass Class(const char* name);
  // Calls the constructor with these arguments.
  jobject New(const char* class_name, const char* signature, ...);
  jobject NewMap();
  void PutInMap(jobject map, jobject key, jobject value);
  jobject NewList(size_t size);
  void AddToList(jobject list, jobject value);
  jobject NewStatus(const Status& status);

 private:
  void RaiseCallbackException();

  JNIEnv* env_;
  ThreadRecord& record_;
  size_t begin_;
  Of of_;
};

template <typename Body>
auto Native(JNIEnv* env, Body&& body) noexcept -> std::invoke_result_t<Body, Call&> {
  using Result = std::invoke_result_t<Body, Call&>;
  try {
    Call call(env);
    return body(call);
  } catch (const ExceptionRaised&) {
  } catch (...) {
    RaiseCurrentException(env);
  }
  if constexpr (!std::is_void_v<Result>) return Result();
}

// The Java environment for one callback in a thread of the engine. Attaches the thread until it
// ends, as a daemon thread, which does not keep the JVM alive.
class JavaThread {
 public:
  // references: how many local references the callback has room for.
  explicit JavaThread(jint references = 16);
  ~JavaThread();
  JavaThread(const JavaThread&) = delete;
  JavaThread& operator=(const JavaThread&) = delete;

  // Null if the JVM has ended or is out of memory.
  JNIEnv* env() const { return env_; }
  // Clears a pending exception and returns its text, or an empty string if there is none.
  std::string TakeException();
  // For callbacks that cannot fail, such as comparisons. Clears a pending exception, which the
  // native method that contains the callback raises when it returns. A thread of the engine prints
  // it instead. Returns true if there was an exception.
  bool ReportException();
  // For callbacks whose failure does not affect the engine, such as those of listeners. Prints a
  // pending exception and clears it.
  void PrintException();

 private:
  JNIEnv* env_ = nullptr;
  // An exception that was pending before the callback, for example in a Java thread that reads with
  // a Java comparator.
  jthrowable pending_ = nullptr;
};

// True if the calling thread is an engine thread that a callback attached to the JVM.
bool InThreadOfEngine();

// The text of an exception: toString().
std::string ExceptionText(JNIEnv* env, jthrowable exception);

// A reference to a Java object that stays valid outside of any call.
class GlobalRef {
 public:
  GlobalRef(JNIEnv* env, jobject object) : ref_(env->NewGlobalRef(object)) {
    if (ref_ == nullptr) throw std::bad_alloc();
  }
  ~GlobalRef();
  GlobalRef(const GlobalRef&) = delete;
  GlobalRef& operator=(const GlobalRef&) = delete;
  jobject get() const { return ref_; }

 private:
  jobject ref_;
};

// Converts Java's signed number to a size. Raises IllegalArgumentException if it is negative.
size_t ToSize(Call& call, jlong value);

}  // namespace ashlar::java
