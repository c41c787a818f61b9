// What every native method is made of: a Call, which knows the Java environment, resolves handles,
// and turns errors into exceptions.
//
//   ASHLAR_NATIVE(jlong, RocksDB_getLatestSequenceNumber, jlong db) {
//     return Native(env, [&](Call& call) { return ...call.Use<DBObject>(db)...; });
//   }
//
// Exceptions: a Java exception is raised in the environment and leaves the body as ExceptionRaised;
// Native catches that, and every other C++ exception, and returns 0. No C++ exception reaches the
// Java machine. While a Java exception is pending no other function of the environment is called.
//
// References: local references die when a native method returns; a body that makes them in a loop
// deletes them as it goes (LocalRef). In threads of the engine, which never return to Java, a
// JavaThread frames each callback.
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
#include "prototypes.h"  // generate.py: other types than those of the jar do not compile

#define ASHLAR_NATIVE(result, name, ...)                       \
  extern "C" JNIEXPORT result JNICALL Java_org_rocksdb_##name( \
      [[maybe_unused]] JNIEnv* env, [[maybe_unused]] jobject self __VA_OPT__(, ) __VA_ARGS__)

namespace ashlar::java {

struct ExceptionRaised {};

// ---- Raising Java exceptions. These do not throw.
void RaiseStatus(JNIEnv* env, const Status& status);
void Raise(JNIEnv* env, const char* class_name, const char* message);
// UnsupportedOperationException: "<feature>: not in Ashlar".
void RaiseUnsupported(JNIEnv* env, const char* feature);
// The numbers of Java's Status for a code and a subcode: 127, Undefined, for one that it lacks.
jbyte JavaCode(Status::Code code);
jbyte JavaSubCode(Status::SubCode subcode);
// After a C++ exception, inside its handler.
void RaiseCurrentException(JNIEnv* env) noexcept;

// A local reference that is deleted early.
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

// Bytes of a Java array, copied: short ones without an allocation. An array is never pinned while
// the engine works, since that may hold up the garbage collector.
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
  // A native method returns to Java, and raises the exceptions of callbacks then. A callback leaves
  // them to the native method that it is in.
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

  // The object, which stays until the call ends. IllegalStateException if it was closed.
  template <typename T>
  T& Use(jlong handle) {
    return *static_cast<T*>(UseObject(T::kKind, handle));
  }
  // Null for the handle 0.
  template <typename T>
  T* UseOrNull(jlong handle) {
    return handle == 0 ? nullptr : &Use<T>(handle);
  }
  Object* UseObject(Kind kind, jlong handle);
  // Null if it was closed. It cannot be closed in this thread before the call ends, in either case.
  template <typename T>
  T* UseUnlessClosed(jlong handle) {
    return KindOf(handle) == T::kKind ? static_cast<T*>(Announce(record_, handle)) : nullptr;
  }
  // The function's result, which must not refer to the object: it is in use during the function
  // only.
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
  // Whether a callback has thrown, which is raised when the call ends: its result is lost.
  bool CallbackHasThrown() const { return record_.exception != nullptr; }
  // After a call into Java.
  void CheckJava() {
    if (env_->ExceptionCheck()) [[unlikely]]
      throw ExceptionRaised();
  }
  // A reference that the environment made; null means that it raised an exception.
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
  // The bytes of a direct buffer. IllegalArgumentException for another one, or a range outside.
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
  // Writes the elements that fit into the array, and returns the size of all.
  jint CopyOut(const Slice& bytes, jbyteArray array, jint offset, jint length);
  jint CopyOutDirect(const Slice& bytes, jobject buffer, jint offset, jint length);

  // ---- Java objects.
  // Also in threads of the engine, which are in no method whose classes FindClass would find.
  jclass Class(const char* name);
  // The constructor is called with these arguments.
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

// The Java environment of a thread of the engine for one callback: attaches the thread, as a daemon
// that does not keep the Java machine alive, until the thread ends.
class JavaThread {
 public:
  // Local references for the callback.
  explicit JavaThread(jint references = 16);
  ~JavaThread();
  JavaThread(const JavaThread&) = delete;
  JavaThread& operator=(const JavaThread&) = delete;

  // Null when the Java machine has ended, or has no memory.
  JNIEnv* env() const { return env_; }
  // Takes a pending exception away and returns its text; empty if there is none.
  std::string TakeException();
  // For callbacks that cannot fail, such as comparisons. Takes a pending exception away; the native
  // method that the thread is in raises it when it returns. In a thread of the engine it is
  // printed. Returns whether there was one.
  bool ReportException();
  // For callbacks that the engine does not wait for, such as those of listeners: prints a pending
  // exception and takes it away.
  void PrintException();

 private:
  JNIEnv* env_ = nullptr;
  // An exception that was pending before the callback: of a Java thread that reads with a Java
  // comparator, say.
  jthrowable pending_ = nullptr;
};

// Whether the calling thread is one of the engine that a callback attached to the Java machine.
bool InThreadOfEngine();

// The text of an exception: toString().
std::string ExceptionText(JNIEnv* env, jthrowable exception);

// A reference to a Java object from outside of any call.
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

// Java's numbers for signed sizes. A negative one is IllegalArgumentException.
size_t ToSize(Call& call, jlong value);

}  // namespace ashlar::java
