// Handles: the numbers by which Java objects name objects of this library.
//
//   63  62 .. 40     39 .. 32  31 .. 0
//   0   generation   kind      slot        0 is no object
//
// A slot holds an object and the handle under which it was registered. Disposing of the object
// changes the slot, so that a handle which is used afterwards is recognised: the call throws
// IllegalStateException. A call announces in its thread's record which handles it uses, before it
// looks at their slots; the disposal waits for the calls that announced the handle first.
//
// Invariants:
//   I1  an object is deleted by one thread, after its slot has changed and no record of another
//       thread has its handle
//   I2  the handles in a record are those of the calls that the thread is in, innermost last
//
// Rejected: pointers as handles, as RocksDB has. A call after close() is then a crash.
//
// Cost: one exchange and three loads for each use, about 10 ns together with its removal.
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

// The object of a handle. Deleted by Dispose.
class Object {
 public:
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;

  // Of objects with parts: why the thread of the record cannot close it now; null if it can.
  virtual const char* ReasonNotToClose(const ThreadRecord& /*own*/) const { return nullptr; }
};

// An object that is one value.
template <typename T, Kind kind>
struct Holder : Object {
  static constexpr Kind kKind = kind;

  Holder() = default;
  explicit Holder(T value_in) : value(std::move(value_in)) {}

  T value;
};

// The handles that one thread uses (I2), in blocks that double: 64, 128, 256 ... A block is made
// when the thread first needs it, and kept for its later calls. Push and PopTo are the owner's
// alone.
struct ThreadRecord {
  // bad_alloc if there is no memory for a block; nothing is announced then.
  void Push(jlong handle) {
    if (count >= used_max.load(std::memory_order_relaxed)) [[unlikely]]
      Extend();
    Place(count++).exchange(handle);
  }
  void PopTo(size_t begin) {
    while (count > begin) Place(--count).store(0, std::memory_order_release);
  }
  // Whether the predicate is true of one of the first n handles. Requires: n <= used_max.
  template <typename Predicate>
  bool AnyOf(size_t n, Predicate predicate) const {
    for (size_t i = 0; i < n; ++i) {
      if (predicate(Place(i).load())) return true;
    }
    return false;
  }

  // So many of them were ever in use; only the owner changes it, before it announces.
  std::atomic<size_t> used_max{0};
  size_t count = 0;                // of the owner alone
  jthrowable exception = nullptr;  // a global reference: see JavaThread::ReportException
  std::atomic<bool> taken = true;
  ThreadRecord* next = nullptr;  // constant once listed

 private:
  using Handle = std::atomic<jlong>;
  static constexpr size_t kFirstBlock = 64;
  static constexpr size_t kBlocks = 32;  // 2 TiB of handles

  static size_t BlockOf(size_t i) {
    return static_cast<size_t>(std::bit_width(i / kFirstBlock + 1)) - 1;
  }
  static size_t BeginOf(size_t block) { return (kFirstBlock << block) - kFirstBlock; }
  // Requires: i < used_max, whose store follows that of the block.
  Handle& Place(size_t i) const {
    if (i < kFirstBlock) [[likely]]
      return blocks_[0].load(std::memory_order_acquire)[i];
    const size_t block = BlockOf(i);
    return blocks_[block].load(std::memory_order_acquire)[i - BeginOf(block)];
  }
  // Makes the place of the next handle one of those in use.
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

// The object, announced in the record; null if there is no such object any more. The caller
// removes the announcement, also in the case of null.
Object* Announce(ThreadRecord& record, jlong handle);
inline Kind KindOf(jlong handle) { return static_cast<Kind>((handle >> 32) & 0xff); }

// Deletes the object after the calls of other threads that use it; does nothing for a handle that
// names none. ObjectInUse: a call of this thread uses it or a part of it, from which a callback
// came here, or it is a database and this is a thread of the engine.
// Requires: the calling thread holds nothing that such a call waits for.
void Dispose(jlong handle);

// The same without the deletion: null for a handle that names no object of the kind.
Object* Take(Kind kind, jlong handle);

struct ObjectInUse : std::logic_error {
  using std::logic_error::logic_error;
};

// An object that Java knows as long as this exists.
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

// Number of objects that exist.
size_t LiveObjects();

}  // namespace ashlar::java
