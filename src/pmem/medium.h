// Medium: the memory of a pool, and how a store to it becomes durable. The engine reads the pool
// through view(), as const memory, and changes it only through the four verbs of a PoolOperation.
//
//   Store   one aligned word of 8 bytes, atomic for readers and for crashes
//   Copy    bytes that no reader reads yet
//   Flush   begins to make the lines of a range durable
//   Fence   all flushed lines are durable before anything that is stored later
//
//   PoolOperation op(medium);        may wait for a checkpoint, so begin before locks and guards
//   op.Copy ... op.Flush ... op.Fence ... op.Store ... op.Flush ... op.Fence
//   op.Commit();                     under the locks that order this change with others
//   op.AwaitDurable()                without locks
//
// The verbs order the stores. The logged medium ignores Flush and Fence, and its Commit makes one
// log record of the stores. Without stores, AwaitDurable covers all that the operation has seen.
//
// I1: an operation that depends on the stores of another operation commits after it.
// I2: only the verbs store to the pool. (The tests map the view read-only.)
// I3: an operation that never commits stores only to places that nothing published refers to. Such
//     a store may be in memory only, so no change relies on the contents of such a place.
// I4: within one cache line stores become durable in their order.
// I5: no verb throws between the store that publishes a change and Commit (ReserveStores).
//
// Thread safety: one thread per operation, and one operation at a time per thread, because a second
// one could wait for a checkpoint that waits for the first. Lifetime: outlives operations.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>

#include "ashlar/persistent_tree.h"
#include "ashlar/status.h"
#include "base/assert.h"
#include "pmem/layout.h"
#include "pmem/pool_locks.h"

namespace ashlar::pmem {

class PoolOperation;

class Medium {
 public:
  virtual ~Medium() = default;
  Medium(const Medium&) = delete;
  Medium& operator=(const Medium&) = delete;

  virtual DurabilityClass durability_class() const = 0;
  // The error that made the pool read-only, or Ok.
  virtual Status status() const { return Status::OK(); }
  // Makes all committed changes durable and closes the files needed for that. Requires: no
  // operation is under way, and none follows.
  virtual Status Close() { return Status::OK(); }

  const char* view() const { return view_; }
  uint64_t bytes() const { return bytes_; }
  // Names the pool in errors.
  const std::string& path() const { return path_; }

  uint64_t Load(PoolOffset offset) const {
    ASHLAR_DCHECK(offset % 8 == 0 && offset + 8 <= bytes_);  // an aligned word
    return WordAt(view_, offset).load(std::memory_order_acquire);
  }

 protected:
  Medium(std::string path, const char* view, uint64_t bytes)
      : path_(std::move(path)), view_(view), bytes_(bytes) {}

  // A word of the pool. A word of const memory is only loaded.
  static std::atomic_ref<uint64_t> WordAt(const char* base, PoolOffset offset) {
    return std::atomic_ref<uint64_t>(
        *reinterpret_cast<uint64_t*>(const_cast<char*>(base) + offset));
  }

 private:
  friend class PoolOperation;
  virtual void Begin(PoolOperation* operation) = 0;
  virtual void ReserveStores(PoolOperation* /*operation*/, size_t /*stores*/) {}
  virtual void Store(PoolOperation* operation, PoolOffset to, uint64_t word) = 0;
  virtual void Copy(PoolOperation* operation, PoolOffset to, const char* from, size_t n) = 0;
  virtual void Flush(PoolOffset from, size_t n) = 0;
  virtual void Fence() = 0;
  // An operation without Commit calls End. Its stores are in places that nothing refers to (I3).
  virtual void Commit(PoolOperation* operation) = 0;
  virtual void End(PoolOperation* operation) = 0;
  virtual Status AwaitDurable(PoolOperation* operation) = 0;

  const std::string path_;
  const char* const view_;
  const uint64_t bytes_;
};

class ASHLAR_SCOPED_CAPABILITY PoolOperation {
 public:
  explicit PoolOperation(Medium& medium) ASHLAR_ACQUIRE(kPoolOperation)
      ASHLAR_EXCLUDES(kStructureMutex, kLeafLock, kHeapMutex)
      : medium_(medium) {
    medium_.Begin(this);
  }
  ~PoolOperation() ASHLAR_RELEASE() {
    if (!committed_) medium_.End(this);
  }
  PoolOperation(const PoolOperation&) = delete;
  PoolOperation& operator=(const PoolOperation&) = delete;

  // Ensures that the next `stores` calls of Store do not throw. Other calls of Store and Copy may
  // throw std::bad_alloc before they change the pool.
  void ReserveStores(size_t stores) { medium_.ReserveStores(this, stores); }
  void Store(PoolOffset to, uint64_t word) {
    ASHLAR_DCHECK(!committed_);  // I3: a later store would be in no record
    ASHLAR_DCHECK(to % 8 == 0 && to + 8 <= medium_.bytes());  // an aligned word
    medium_.Store(this, to, word);
  }
  void Copy(PoolOffset to, const void* from, size_t n) {
    ASHLAR_DCHECK(!committed_);                // I3
    ASHLAR_DCHECK(to + n <= medium_.bytes());  // inside the pool
    medium_.Copy(this, to, static_cast<const char*>(from), n);
  }
  void Flush(PoolOffset from, size_t n) { medium_.Flush(from, n); }
  void Fence() { medium_.Fence(); }
  void Commit() {
    ASHLAR_DCHECK(!committed_);  // once
    committed_ = true;
    medium_.Commit(this);
  }
  // Requires: Commit. On error the pool is read-only, and the change may be lost with the process.
  Status AwaitDurable() ASHLAR_EXCLUDES(kStructureMutex, kLeafLock, kHeapMutex) {
    ASHLAR_DCHECK(committed_);  // after Commit
    return medium_.AwaitDurable(this);
  }

  // For the medium: the stores so far, and the end of the log that includes them.
  std::string redo;
  uint64_t log_end = 0;

 private:
  Medium& medium_;
  bool committed_ = false;
};

}  // namespace ashlar::pmem
