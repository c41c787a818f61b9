// Handles: the numbers by which Java objects name objects of this library.
//
//   63  62 .. 40     39 .. 32  31 .. 0
//   0   generation   kind      slot        0 is no object
//
// A slot holds an object and the handle under which it was registered. Disposal of the object
// changes the slot, so that later use of the handle is detected and throws IllegalStateException. A
// call announces in its thread's record which handles it uses before it reads their slots. Disposal
// waits for the calls that announced the handle first.
//
// Invariants:
//   I1  an object is deleted by one thread, after its slot has changed and no record of another
//       thread has its handle
//   I2  the handles in a record are those of the calls that the thread is in, innermost last
//
// Rejected: pointers as handles, as in RocksDB. A call after close() would crash.
//
// Cost: one exchange and three loads for each use, about 10 ns including the removal.
// Thread safety: any thread.
#pragma once

#include <jni.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace ashlar::java {

enum class Kind : uint8_t {
  kNone,
  kBackupEngine,
  kBackupEngineOptions,
  kCache,
  kCheckpoint,
  kColumnFamily,
  kColumnFamilyOptions,
  kCompactRangeOptions,
  kCompactionFilter,
  kCompactionFilterFactory,
  kCompactionJobInfo,
  kCompactionJobStats,
  kCompactionOptions,
  kCompactionOptionsFifo,
  kCompactionOptionsUniversal,
  kComparator,
  kComparatorOptions,
  kCompressionOptions,
  kConfigOptions,
  kDB,
  kDBOptions,
  kEnv,
  kEnvOptions,
  kEventListener,
  kFilterPolicy,
  kFlushOptions,
  kIngestExternalFileOptions,
  kIterator,
  kLogger,
  kMemTableFactory,
  kMergeOperator,
  kOptions,
  kRateLimiter,
  kReadOptions,
  kRestoreOptions,
  kSlice,
  kSnapshot,
  kSstFileManager,
  kSstFileReader,
  kSstFileReaderIterator,
  kSstFileWriter,
  kSstPartitionerFactory,
  kStatistics,
  kTableFactory,
  kTableFilter,
  kTransactionLogIterator,
  kWalFilter,
  kWriteBatch,
  kWriteBatchHandler,
  kWriteBufferManager,
  kWriteOptions,
};
const char* KindName(Kind kind);

struct ThreadRecord;

// The object of a handle. Dispose deletes it.
class Object {
 public:
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;

  // For objects with parts: why the record's thread cannot close it now, or null if it can.
  virtual const char* ReasonNotToClose(const ThreadRecord& /*own*/) const { return nullptr; }
};

// An object that holds one value.
template <typename T, Kind kind>
struct Holder : Object {
  static constexpr Kind kKind = kind;

  Holder() = default;
  explicit Holder(T value_in) : value(std::move(value_in)) {}

  T value;
};

// The handles that one thread uses (I2), in blocks whose sizes double: 64, 128, 256 ... A block is
// allocated when the thread first needs it and is kept for later calls. Only the owning thread
// calls Push and PopTo.
struct ThreadRecord {
  // Throws bad_alloc if a block cannot be allocated. Nothing is announced in that case.
  void Push(jlong handle) {
    if (count >= used_max.load(std::memory_order_relaxed)) [[unlikely]]
      Extend();
    Place(count++).exchange(handle);
  }
  void PopTo(size_t begin) {
    while (count > begin) Place(--count).store(0, std::memory_order_release);
  }
  // True if the predicate holds for one of the first n handles. Requires: n <= used_max.
  template <typename Predicate>
  bool AnyOf(size_t n, Predicate predicate) const {
    for (size_t i = 0; i < n; ++i) {
      if (predicate(Place(i).load())) return true;
    }
    return false;
  }

  // The largest number of handles ever in use. Only the owner changes it, before it announces.
  std::atomic<size_t> used_max{0};
  size_t count = 0;                // for the owner only
  jthrowable exception = nullptr;  // a global reference: see JavaThread::ReportException
  std::atomic<bool> taken = true;
  ThreadRecord* next = nullptr;  // constant once the record is listed

 private:
  using Handle = std::atomic<jlong>;
  static constexpr size_t kFirstBlock = 64;
  static constexpr size_t kBlocks = 32;  // 2 TiB of handles

  static size_t BlockOf(size_t i) {
    return static_cast<size_t>(std::bit_width(i / kFirstBlock + 1)) - 1;
  }
  static size_t BeginOf(size_t block) { return (kFirstBlock << block) - kFirstBlock; }
  // Requires: i < used_max. The store to used_max follows that of the block.
  Handle& Place(size_t i) const {
    if (i < kFirstBlock) [[likely]]
      return blocks_[0].load(std::memory_order_acquire)[i];
    const size_t block = BlockOf(i);
    return blocks_[block].load(std::memory_order_acquire)[i - BeginOf(block)];
  }
  // Extends used_max to include the place of the next handle, and allocates its block if needed.
  void Extend();

  std::array<std::atomic<Handle*>, kBlocks> blocks_ = {};
};

// The record of the calling thread.
ThreadRecord& CurrentRecord();

// Registers an object, which the registry then owns.
jlong Register(Kind kind, Object* object);
template <typename T>
jlong Register(T* object) {
  return Register(T::kKind, object);
}

// Announces the handle in the record and returns its object, or null if the object no longer
// exists. The caller must remove the announcement in either case.
Object* Announce(ThreadRecord& record, jlong handle);
inline Kind KindOf(jlong handle) { return static_cast<Kind>((handle >> 32) & 0xff); }

// Deletes the object once the calls of other threads that use it have ended. Does nothing if the
// handle names no object. Throws ObjectInUse if a call of this thread, from which a callback came
// here, uses it or a part of it, or if it is a database and this is a thread of the engine.
// Requires: the calling thread holds no resource for which such a call waits.
void Dispose(jlong handle);

// The same without the deletion. Returns null if the handle names no object of this kind.
Object* Take(Kind kind, jlong handle);

struct ObjectInUse : std::logic_error {
  using std::logic_error::logic_error;
};

// Makes an object known to Java for as long as this exists.
class Temporary {
 public:
  explicit Temporary(jlong handle) : handle_(handle) {}
  ~Temporary() {
    if (handle_ != 0) Dispose(handle_);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  jlong handle() const { return handle_; }

 private:
  jlong handle_;
};

// The number of live objects.
size_t LiveObjects();

}  // namespace ashlar::java
