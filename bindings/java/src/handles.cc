#include "handles.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

namespace ashlar::java {

namespace {

constexpr size_t kSlotsInChunk = 4096;
constexpr size_t kChunksMax = 16384;
constexpr uint64_t kGenerationMask = (uint64_t{1} << 23) - 1;

struct Slot {
  // The handle of the object, or 0. Written with release after object. Announce reads it with
  // sequential consistency, in one total order with the announcements.
  std::atomic<jlong> handle{0};
  Object* object = nullptr;
  uint64_t generation = 0;  // of the last handle; under the registry's mutex
};

struct Registry {
  std::mutex mutex;
  std::array<std::atomic<Slot*>, kChunksMax> chunks = {};
  size_t slots_used = 0;  // under mutex, as is free_slots
  std::vector<uint32_t> free_slots;
  std::atomic<ThreadRecord*> records{nullptr};
};

// Never destroyed, because threads end after the static variables.
Registry& TheRegistry() {
  static Registry* registry = new Registry;
  return *registry;
}

Slot* FindSlot(Registry& registry, jlong handle) {
  const uint64_t index = static_cast<uint64_t>(handle) & 0xffffffff;
  if (handle <= 0 || index >= kSlotsInChunk * kChunksMax) return nullptr;
  Slot* chunk = registry.chunks[index / kSlotsInChunk].load(std::memory_order_acquire);
  return chunk == nullptr ? nullptr : chunk + index % kSlotsInChunk;
}

// Returns the record to the registry when the thread ends.
struct RecordOwner {
  RecordOwner();
  ~RecordOwner() {
    if (record != nullptr) record->taken.store(false, std::memory_order_release);
  }
  RecordOwner(const RecordOwner&) = delete;
  RecordOwner& operator=(const RecordOwner&) = delete;

  ThreadRecord* record = nullptr;
};

RecordOwner::RecordOwner() {
  Registry& registry = TheRegistry();
  for (ThreadRecord* r = registry.records.load(std::memory_order_acquire); r != nullptr;
       r = r->next) {
    bool taken = false;
    if (r->taken.compare_exchange_strong(taken, true, std::memory_order_acquire)) {
      record = r;
      return;
    }
  }
  record = new ThreadRecord;
  record->next = registry.records.load(std::memory_order_relaxed);
  while (!registry.records.compare_exchange_weak(record->next, record)) {
  }
}

bool IsAnnounced(const ThreadRecord& record, size_t count, jlong handle) {
  return record.AnyOf(count, [&](jlong used) { return used == handle; });
}

constexpr const char* kInUse =
    "the object is in use by a call of this thread that has not returned";

// See Object. Only databases and table readers have parts.
const char* ReasonNotToClose(ThreadRecord& own, jlong handle) {
  if (IsAnnounced(own, own.count, handle)) return kInUse;
  if (KindOf(handle) != Kind::kDB && KindOf(handle) != Kind::kSstFileReader) return nullptr;
  const size_t begin = own.count;
  const Object* object = Announce(own, handle);
  const char* reason = object == nullptr ? nullptr : object->ReasonNotToClose(own);
  own.PopTo(begin);
  return reason;
}

bool AnnouncedElsewhere(const Registry& registry, const ThreadRecord* own, jlong handle) {
  for (const ThreadRecord* r = registry.records.load(); r != nullptr; r = r->next) {
    if (r != own && IsAnnounced(*r, r->used_max.load(), handle)) return true;
  }
  return false;
}

}  // namespace

const char* KindName(Kind kind) {
  static constexpr const char* kNames[] = {
      "object",
      "BackupEngine",
      "BackupEngineOptions",
      "Cache",
      "Checkpoint",
      "ColumnFamilyHandle",
      "ColumnFamilyOptions",
      "CompactRangeOptions",
      "compaction filter",
      "compaction filter factory",
      "CompactionJobInfo",
      "CompactionJobStats",
      "CompactionOptions",
      "CompactionOptionsFIFO",
      "CompactionOptionsUniversal",
      "comparator",
      "ComparatorOptions",
      "CompressionOptions",
      "ConfigOptions",
      "RocksDB",
      "DBOptions",
      "Env",
      "EnvOptions",
      "event listener",
      "Filter",
      "FlushOptions",
      "IngestExternalFileOptions",
      "RocksIterator",
      "Logger",
      "memtable factory",
      "MergeOperator",
      "Options",
      "RateLimiter",
      "ReadOptions",
      "RestoreOptions",
      "slice",
      "Snapshot",
      "SstFileManager",
      "SstFileReader",
      "SstFileReaderIterator",
      "SstFileWriter",
      "SstPartitionerFactory",
      "Statistics",
      "table factory",
      "table filter",
      "TransactionLogIterator",
      "WAL filter",
      "WriteBatch",
      "WriteBatch.Handler",
      "WriteBufferManager",
      "WriteOptions",
  };
  static_assert(std::size(kNames) == static_cast<size_t>(Kind::kWriteOptions) + 1);
  const size_t index = static_cast<size_t>(kind);
  return index < std::size(kNames) ? kNames[index] : kNames[0];
}

void ThreadRecord::Extend() {
  const size_t block = BlockOf(count);
  if (blocks_[block].load(std::memory_order_relaxed) == nullptr) {
    blocks_[block].store(new Handle[kFirstBlock << block](), std::memory_order_release);
  }
  used_max.store(count + 1);
}

ThreadRecord& CurrentRecord() {
  static thread_local RecordOwner owner;
  return *owner.record;
}

jlong Register(Kind kind, Object* object) {
  std::unique_ptr<Object> guard(object);
  Registry& registry = TheRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  uint32_t index;
  if (!registry.free_slots.empty()) {
    index = registry.free_slots.back();
    registry.free_slots.pop_back();
  } else {
    if (registry.slots_used == kSlotsInChunk * kChunksMax) throw std::bad_alloc();
    if (registry.slots_used % kSlotsInChunk == 0) {
      // Reserves room for every slot, so that a disposal never allocates.
      registry.free_slots.reserve(registry.slots_used + kSlotsInChunk);
      registry.chunks[registry.slots_used / kSlotsInChunk].store(new Slot[kSlotsInChunk],
                                                                 std::memory_order_release);
    }
    index = static_cast<uint32_t>(registry.slots_used++);
  }
  Slot& slot =
      registry.chunks[index / kSlotsInChunk].load(std::memory_order_relaxed)[index % kSlotsInChunk];
  slot.generation = (slot.generation + 1) & kGenerationMask;
  slot.object = guard.release();
  const jlong handle =
      static_cast<jlong>(slot.generation << 40 | static_cast<uint64_t>(kind) << 32 | index);
  slot.handle.store(handle, std::memory_order_release);
  return handle;
}

Object* Announce(ThreadRecord& record, jlong handle) {
  record.Push(handle);
  const Slot* slot = FindSlot(TheRegistry(), handle);
  return slot != nullptr && slot->handle.load() == handle ? slot->object : nullptr;
}

Object* Take(Kind kind, jlong handle) {
  Registry& registry = TheRegistry();
  Slot* slot = KindOf(handle) == kind ? FindSlot(registry, handle) : nullptr;
  ThreadRecord* own = &CurrentRecord();
  if (slot != nullptr) {
    const char* reason = ReasonNotToClose(*own, handle);
    if (reason != nullptr) throw ObjectInUse(reason);
  }
  jlong expected = handle;
  if (slot == nullptr || !slot->handle.compare_exchange_strong(expected, 0)) return nullptr;
  // Most calls are short, but some wait for background work, and spinning would waste a processor.
  for (int round = 0; AnnouncedElsewhere(registry, own, handle); ++round) {
    if (round < 100) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }
  Object* object = std::exchange(slot->object, nullptr);  // I1
  std::lock_guard<std::mutex> lock(registry.mutex);
  registry.free_slots.push_back(static_cast<uint32_t>(handle & 0xffffffff));
  return object;
}

void Dispose(jlong handle) { delete Take(KindOf(handle), handle); }

size_t LiveObjects() {
  Registry& registry = TheRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  return registry.slots_used - registry.free_slots.size();
}

}  // namespace ashlar::java
