#include "native.h"

#include <algorithm>
#include <cstdarg>
#include <cstring>
#include <exception>
#include <limits>

namespace ashlar::java {

namespace {

constexpr const char* kRocksDBException = "org/rocksdb/RocksDBException";

std::atomic<JavaVM*> java_machine{nullptr};
// RocksDBException and the class of its Status. They are looked up when the library is loaded,
// because threads of the engine cannot find the program's classes.
jclass rocksdb_exception = nullptr;
jclass status_class = nullptr;
jmethodID new_rocksdb_exception = nullptr;
jmethodID new_status = nullptr;
// The loader of RocksDB's classes. Null stands for the JVM's own loader.
jobject class_loader = nullptr;
jmethodID load_class = nullptr;

// Converts UTF-8 to a Java string. Bytes that are not UTF-8 become U+FFFD.
std::u16string ToUtf16(const std::string& text) {
  std::u16string units;
  size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    static constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t code = length == 1 ? lead : lead & (0xffU >> (length + 1));
    bool valid = (lead < 0x80 || (lead >= 0xc2 && lead < 0xf5)) && i + length <= text.size();
    for (size_t k = 1; valid && k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      valid = (next & 0xc0) == 0x80;
      code = code << 6 | (next & 0x3f);
    }
    valid = valid && code >= kSmallest[length] && code < 0x110000 && (code & 0xfffff800) != 0xd800;
    i += valid ? length : 1;
    if (!valid) code = 0xfffd;
    if (code >= 0x10000) {
      units.push_back(static_cast<char16_t>(0xd800 + ((code - 0x10000) >> 10)));
      units.push_back(static_cast<char16_t>(0xdc00 + ((code - 0x10000) & 0x3ff)));
    } else {
      units.push_back(static_cast<char16_t>(code));
    }
  }
  return units;
}

std::string ToUtf8(const jchar* units, size_t size) {
  std::string text;
  for (size_t i = 0; i < size; ++i) {
    uint32_t code = units[i];
    if ((code & 0xfffffc00) == 0xd800 && i + 1 < size && (units[i + 1] & 0xfc00) == 0xdc00) {
      code = 0x10000 + ((code & 0x3ff) << 10 | (units[++i] & 0x3ffU));
    }
    if (code < 0x80) {
      text.push_back(static_cast<char>(code));
      continue;
    }
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static constexpr uint32_t kLead[] = {0, 0xc0, 0xe0, 0xf0};
    text.push_back(static_cast<char>(kLead[more] | code >> (6 * more)));
    for (int k = more - 1; k >= 0; --k) {
      text.push_back(static_cast<char>(0x80 | ((code >> (6 * k)) & 0x3f)));
    }
  }
  return text;
}

jstring ToJava(JNIEnv* env, const std::string& text) {
  const std::u16string units = ToUtf16(text);
  return env->NewString(reinterpret_cast<const jchar*>(units.data()),
                        static_cast<jsize>(units.size()));
}

jclass GlobalClass(JNIEnv* env, const char* name) {
  const LocalRef<jclass> local(env, env->FindClass(name));
  return local.get() == nullptr ? nullptr : static_cast<jclass>(env->NewGlobalRef(local.get()));
}

// Detaches a thread that a callback attached when the thread ends. Thread-local variables that use
// Java in their destructors are created after this one, so that they are destroyed before it.
// Otherwise they would attach the thread again, and nothing would detach it.
struct Attachment {
  ~Attachment() {
    JavaVM* machine = java_machine.load();
    if (attached && machine != nullptr) machine->DetachCurrentThread();
  }
  bool attached = false;
};
thread_local Attachment attachment;

}  // namespace

bool InThreadOfEngine() { return attachment.attached; }

jbyte JavaCode(Status::Code code) {
  return code <= Status::kTryAgain ? static_cast<jbyte>(code) : jbyte{0x7f};
}
jbyte JavaSubCode(Status::SubCode subcode) {
  if (subcode == Status::kSpaceLimit || subcode == Status::kOpenFilesLimit ||
      subcode == Status::kFileLocked) {
    return Status::kNone;
  }
  return subcode <= Status::kMemoryLimit ? static_cast<jbyte>(subcode) : jbyte{0x7f};
}

void Raise(JNIEnv* env, const char* class_name, const char* message) {
  if (env->ExceptionCheck()) return;
  const LocalRef<jclass> type(env, env->FindClass(class_name));
  if (type.get() != nullptr) env->ThrowNew(type.get(), message);
}

void RaiseUnsupported(JNIEnv* env, const char* feature) {
  Raise(env, "java/lang/UnsupportedOperationException",
        (std::string(feature) + ": not in Ashlar").c_str());
}

void RaiseStatus(JNIEnv* env, const Status& status) {
  if (env->ExceptionCheck()) return;
  // Without a text, Java shows the code.
  const bool has_text = *status.getState() != '\0';
  const LocalRef<jstring> state(env, has_text ? ToJava(env, status.getState()) : nullptr);
  if (has_text && state.get() == nullptr) return;
  const LocalRef<> java_status(env,
                               env->NewObject(status_class, new_status, JavaCode(status.code()),
                                              JavaSubCode(status.subcode()), state.get()));
  if (java_status.get() == nullptr) return;
  const LocalRef<jthrowable> exception(
      env, static_cast<jthrowable>(
               env->NewObject(rocksdb_exception, new_rocksdb_exception, java_status.get())));
  if (exception.get() != nullptr) env->Throw(exception.get());
}

void RaiseCurrentException(JNIEnv* env) noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    Raise(env, "java/lang/OutOfMemoryError", "no memory outside of the Java heap");
  } catch (const ObjectInUse& e) {
    Raise(env, "java/lang/IllegalStateException", e.what());
  } catch (const std::exception& e) {
    Raise(env, kRocksDBException, e.what());
  } catch (...) {
    Raise(env, kRocksDBException, "an exception of an unknown type");
  }
}

Object* Call::UseObject(Kind kind, jlong handle) {
  Object* object = KindOf(handle) == kind ? Announce(record_, handle) : nullptr;
  if (object == nullptr) [[unlikely]] {
    if (handle == 0) {
      Fail("java/lang/IllegalStateException",
           std::string("there is no ") + KindName(kind) + ", or it was closed");
    }
    if (KindOf(handle) != kind) {
      Fail("java/lang/IllegalArgumentException",
           std::string("this is a ") + KindName(KindOf(handle)) + ", not a " + KindName(kind));
    }
    Fail("java/lang/IllegalStateException",
         std::string("the ") + KindName(kind) + " was closed before this call");
  }
  return object;
}

void Call::Copy(jbyteArray array, jint offset, jint length, ByteCopy* copy) {
  const jint size = Length(array);
  if (offset < 0 || length < 0 || offset > size - length) {
    Fail("java/lang/IndexOutOfBoundsException", std::to_string(length) + " bytes at " +
                                                    std::to_string(offset) + " of an array of " +
                                                    std::to_string(size));
  }
  char* bytes = copy->Allocate(static_cast<size_t>(length));
  env_->GetByteArrayRegion(array, offset, length, reinterpret_cast<jbyte*>(bytes));
}

std::string Call::CopyString(jbyteArray array) {
  std::string bytes(static_cast<size_t>(Length(array)), '\0');
  env_->GetByteArrayRegion(array, 0, static_cast<jsize>(bytes.size()),
                           reinterpret_cast<jbyte*>(bytes.data()));
  return bytes;
}

char* Call::Direct(jobject buffer, jint offset, jint length) {
  void* address = buffer == nullptr ? nullptr : env_->GetDirectBufferAddress(buffer);
  if (address == nullptr) {
    // An empty direct buffer may have no address.
    if (buffer != nullptr && length == 0 && env_->GetDirectBufferCapacity(buffer) == 0) {
      static char nothing;
      return &nothing;
    }
    Fail("java/lang/IllegalArgumentException", "the buffer is not a direct ByteBuffer");
  }
  if (offset < 0 || length < 0 || env_->GetDirectBufferCapacity(buffer) - length < offset) {
    Fail("java/lang/IndexOutOfBoundsException", "the range is outside of the buffer");
  }
  return static_cast<char*>(address) + offset;
}

std::string Call::Text(jstring string) {
  if (string == nullptr) Fail("java/lang/NullPointerException", "the string is null");
  const jsize size = env_->GetStringLength(string);
  std::vector<jchar> units(static_cast<size_t>(size));
  env_->GetStringRegion(string, 0, size, units.data());
  return ToUtf8(units.data(), units.size());
}

std::vector<std::string> Call::Texts(jobjectArray strings) {
  std::vector<std::string> result;
  const jint size = Length(strings);
  for (jint i = 0; i < size; ++i) {
    const LocalRef<jstring> string(env_,
                                   static_cast<jstring>(env_->GetObjectArrayElement(strings, i)));
    result.push_back(Text(string.get()));
  }
  return result;
}

std::vector<std::string> Call::ByteStrings(jobjectArray arrays) {
  std::vector<std::string> result;
  const jint size = Length(arrays);
  for (jint i = 0; i < size; ++i) {
    const LocalRef<jbyteArray> array(
        env_, static_cast<jbyteArray>(env_->GetObjectArrayElement(arrays, i)));
    result.push_back(CopyString(array.get()));
  }
  return result;
}

std::vector<jlong> Call::Longs(jlongArray array) {
  std::vector<jlong> values(static_cast<size_t>(Length(array)));
  env_->GetLongArrayRegion(array, 0, static_cast<jsize>(values.size()), values.data());
  return values;
}

std::vector<jint> Call::Ints(jintArray array) {
  std::vector<jint> values(static_cast<size_t>(Length(array)));
  env_->GetIntArrayRegion(array, 0, static_cast<jsize>(values.size()), values.data());
  return values;
}

jbyteArray Call::NewBytes(const Slice& bytes) {
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<jsize>::max() - 8)) {
    Check(Status::MemoryLimit(
        "Requested array size exceeds VM limit: a value of more than 2 GiB fits into no array"));
  }
  const auto size = static_cast<jsize>(bytes.size());
  const jbyteArray array = Made(env_->NewByteArray(size));
  env_->SetByteArrayRegion(array, 0, size, reinterpret_cast<const jbyte*>(bytes.data()));
  return array;
}

jstring Call::NewText(const std::string& text) { return Made(ToJava(env_, text)); }

jobjectArray Call::NewByteArrays(const std::vector<std::string>& strings) {
  const LocalRef<jclass> type(env_, Class("[B"));
  const jobjectArray result =
      Made(env_->NewObjectArray(static_cast<jsize>(strings.size()), type.get(), nullptr));
  for (size_t i = 0; i < strings.size(); ++i) {
    const LocalRef<jbyteArray> bytes(env_, NewBytes(strings[i]));
    env_->SetObjectArrayElement(result, static_cast<jsize>(i), bytes.get());
  }
  return result;
}

jobjectArray Call::NewTexts(const std::vector<std::string>& strings) {
  const LocalRef<jclass> type(env_, Class("java/lang/String"));
  const jobjectArray result =
      Made(env_->NewObjectArray(static_cast<jsize>(strings.size()), type.get(), nullptr));
  for (size_t i = 0; i < strings.size(); ++i) {
    const LocalRef<jstring> text(env_, NewText(strings[i]));
    env_->SetObjectArrayElement(result, static_cast<jsize>(i), text.get());
  }
  return result;
}

jlongArray Call::NewLongs(const std::vector<jlong>& values) {
  const jlongArray array = Made(env_->NewLongArray(static_cast<jsize>(values.size())));
  env_->SetLongArrayRegion(array, 0, static_cast<jsize>(values.size()), values.data());
  return array;
}

jint Call::CopyOut(const Slice& bytes, jbyteArray array, jint offset, jint length) {
  const jint size = Length(array);
  if (offset < 0 || length < 0 || offset > size - length) {
    Fail("java/lang/IndexOutOfBoundsException", "the range is outside of the array");
  }
  const size_t copied = std::min(bytes.size(), static_cast<size_t>(length));
  env_->SetByteArrayRegion(array, offset, static_cast<jsize>(copied),
                           reinterpret_cast<const jbyte*>(bytes.data()));
  return static_cast<jint>(bytes.size());
}

jint Call::CopyOutDirect(const Slice& bytes, jobject buffer, jint offset, jint length) {
  char* target = Direct(buffer, offset, length);
  std::copy_n(bytes.data(), std::min(bytes.size(), static_cast<size_t>(length)), target);
  return static_cast<jint>(bytes.size());
}

jclass Call::Class(const char* name) {
  const bool of_rocksdb = std::strncmp(name, "org/rocksdb/", 12) == 0;
  if (of_ == Of::kNative || class_loader == nullptr || !of_rocksdb) {
    return Made(env_->FindClass(name));
  }
  std::string dotted = name;
  std::replace(dotted.begin(), dotted.end(), '/', '.');
  const LocalRef<jstring> text(env_, NewText(dotted));
  const jobject found = env_->CallObjectMethod(class_loader, load_class, text.get());
  CheckJava();
  return static_cast<jclass>(Made(found));
}

jobject Call::New(const char* class_name, const char* signature, ...) {
  const LocalRef<jclass> type(env_, Class(class_name));
  const jmethodID constructor = Made(env_->GetMethodID(type.get(), "<init>", signature));
  va_list arguments;
  va_start(arguments, signature);
  const jobject object = env_->NewObjectV(type.get(), constructor, arguments);
  va_end(arguments);
  return Made(object);
}

jobject Call::NewMap() { return New("java/util/HashMap", "()V"); }

void Call::PutInMap(jobject map, jobject key, jobject value) {
  const LocalRef<jclass> type(env_, Class("java/util/HashMap"));
  const jmethodID put = Made(env_->GetMethodID(
      type.get(), "put", "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;"));
  const LocalRef<> previous(env_, env_->CallObjectMethod(map, put, key, value));
  CheckJava();
}

jobject Call::NewList(size_t size) {
  return New("java/util/ArrayList", "(I)V", static_cast<jint>(size));
}

void Call::AddToList(jobject list, jobject value) {
  const LocalRef<jclass> type(env_, Class("java/util/List"));
  const jmethodID add = Made(env_->GetMethodID(type.get(), "add", "(Ljava/lang/Object;)Z"));
  env_->CallBooleanMethod(list, add, value);
  CheckJava();
}

jobject Call::NewStatus(const Status& status) {
  const LocalRef<jstring> state(env_,
                                *status.getState() == '\0' ? nullptr : NewText(status.getState()));
  return Made(env_->NewObject(status_class, new_status, JavaCode(status.code()),
                              JavaSubCode(status.subcode()), state.get()));
}

JavaThread::JavaThread(jint references) {
  Attachment& own_attachment = attachment;  // this reference creates it
  JavaVM* machine = java_machine.load();
  if (machine == nullptr) return;
  void* env = nullptr;
  if (machine->GetEnv(&env, JNI_VERSION_1_8) == JNI_EDETACHED) {
    JavaVMAttachArgs arguments = {JNI_VERSION_1_8, const_cast<char*>("ashlar"), nullptr};
    if (machine->AttachCurrentThreadAsDaemon(&env, &arguments) != JNI_OK) return;
    own_attachment.attached = true;
  }
  if (env == nullptr) return;
  env_ = static_cast<JNIEnv*>(env);
  pending_ = env_->ExceptionOccurred();
  if (pending_ != nullptr) env_->ExceptionClear();
  if (env_->PushLocalFrame(references) != JNI_OK) {
    env_->ExceptionClear();
    if (pending_ != nullptr) env_->Throw(pending_);
    env_ = nullptr;
  }
}

JavaThread::~JavaThread() {
  if (env_ == nullptr) return;
  env_->PopLocalFrame(nullptr);
  if (pending_ != nullptr) {
    env_->Throw(pending_);
    env_->DeleteLocalRef(pending_);
  }
}

std::string JavaThread::TakeException() {
  const jthrowable exception = env_->ExceptionOccurred();
  if (exception == nullptr) return std::string();
  env_->ExceptionClear();
  return ExceptionText(env_, exception);
}

bool JavaThread::ReportException() {
  const LocalRef<jthrowable> exception(env_, env_->ExceptionOccurred());
  if (exception.get() == nullptr) return false;
  ThreadRecord& record = CurrentRecord();
  if (record.count == 0) {
    env_->ExceptionDescribe();
    env_->ExceptionClear();
    return true;
  }
  env_->ExceptionClear();
  if (record.exception == nullptr) {
    record.exception = static_cast<jthrowable>(env_->NewGlobalRef(exception.get()));
  }
  return true;
}

void JavaThread::PrintException() {
  if (!env_->ExceptionCheck()) return;
  env_->ExceptionDescribe();
  env_->ExceptionClear();
}

void Call::RaiseCallbackException() {
  const jthrowable exception = std::exchange(record_.exception, nullptr);
  // The exception of the call is a consequence, so it is added as a suppressed exception.
  const LocalRef<jthrowable> raised(env_, env_->ExceptionOccurred());
  if (raised.get() != nullptr) {
    env_->ExceptionClear();
    const LocalRef<jclass> type(env_, env_->FindClass("java/lang/Throwable"));
    const jmethodID add =
        env_->GetMethodID(type.get(), "addSuppressed", "(Ljava/lang/Throwable;)V");
    env_->CallVoidMethod(exception, add, raised.get());
    env_->ExceptionClear();
  }
  env_->Throw(exception);
  env_->DeleteGlobalRef(exception);
}

std::string ExceptionText(JNIEnv* env, jthrowable exception) {
  const LocalRef<jclass> type(env, env->GetObjectClass(exception));
  const jmethodID to_string = env->GetMethodID(type.get(), "toString", "()Ljava/lang/String;");
  const auto text = static_cast<jstring>(env->CallObjectMethod(exception, to_string));
  if (env->ExceptionCheck() || text == nullptr) {
    env->ExceptionClear();
    return "a Java exception";
  }
  const jsize size = env->GetStringLength(text);
  std::vector<jchar> units(static_cast<size_t>(size));
  env->GetStringRegion(text, 0, size, units.data());
  return ToUtf8(units.data(), units.size());
}

GlobalRef::~GlobalRef() {
  const JavaThread thread(1);
  if (thread.env() != nullptr) thread.env()->DeleteGlobalRef(ref_);
}

size_t ToSize(Call& call, jlong value) {
  if (value < 0) {
    call.Fail("java/lang/IllegalArgumentException", "a size below 0: " + std::to_string(value));
  }
  return static_cast<size_t>(value);
}

}  // namespace ashlar::java

namespace ashlar::java {
namespace {

// Returns false if it raised an exception.
bool FindClassLoader(JNIEnv* env) {
  const LocalRef<jclass> class_of_classes(env, env->FindClass("java/lang/Class"));
  const LocalRef<jclass> class_of_loaders(env, env->FindClass("java/lang/ClassLoader"));
  if (class_of_classes.get() == nullptr || class_of_loaders.get() == nullptr) return false;
  load_class = env->GetMethodID(class_of_loaders.get(), "loadClass",
                                "(Ljava/lang/String;)Ljava/lang/Class;");
  const jmethodID get_loader =
      env->GetMethodID(class_of_classes.get(), "getClassLoader", "()Ljava/lang/ClassLoader;");
  if (load_class == nullptr || get_loader == nullptr) return false;
  const LocalRef<> loader(env, env->CallObjectMethod(rocksdb_exception, get_loader));
  if (env->ExceptionCheck()) return false;
  if (loader.get() == nullptr) return true;
  class_loader = env->NewGlobalRef(loader.get());
  return class_loader != nullptr;
}

}  // namespace
}  // namespace ashlar::java

extern "C" JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* machine, void* /*reserved*/) {
  using namespace ashlar::java;
  void* place = nullptr;
  if (machine->GetEnv(&place, JNI_VERSION_1_8) != JNI_OK) return JNI_ERR;
  auto* env = static_cast<JNIEnv*>(place);
  rocksdb_exception = GlobalClass(env, "org/rocksdb/RocksDBException");
  status_class = GlobalClass(env, "org/rocksdb/Status");
  if (rocksdb_exception == nullptr || status_class == nullptr) return JNI_ERR;
  new_rocksdb_exception = env->GetMethodID(rocksdb_exception, "<init>", "(Lorg/rocksdb/Status;)V");
  new_status = env->GetMethodID(status_class, "<init>", "(BBLjava/lang/String;)V");
  if (new_rocksdb_exception == nullptr || new_status == nullptr) return JNI_ERR;
  if (!FindClassLoader(env)) return JNI_ERR;
  java_machine.store(machine);
  return JNI_VERSION_1_8;
}

extern "C" JNIEXPORT void JNICALL JNI_OnUnload(JavaVM* /*machine*/, void* /*reserved*/) {
  ashlar::java::java_machine.store(nullptr);
}
