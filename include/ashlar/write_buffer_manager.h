// WriteBufferManager: one limit for the memory of the memtables of any number of databases.
//
//   options.write_buffer_manager = std::make_shared<WriteBufferManager>(size_t{256} << 20);
//
// A database that writes flushes its largest memtables once the active memtables of all databases
// exceed 7/8 of the limit, or half of it if all memtables together reach the limit. A database that
// does not write does not flush. With a cache, the memory is part of the cache's capacity, so
// blocks make room for memtables.
//
// With allow_stall, writers wait while all memtables together reach the limit and a flush of one of
// the databases is under way. Without a flush they do not wait. The limit may therefore be exceeded
// while iterators or pinned values keep flushed memtables in memory, background work is paused or
// canceled, or an error is latched. A write with no_slowdown returns Incomplete instead of waiting.
// With allow_stall, do not write in a listener's OnFlushBegin or OnFlushCompleted, because the
// write may wait for that flush.
//
// The memory of a memtable is the blocks of its arena. They are counted when they are allocated and
// released when the memtable is destroyed. Memtables of read-only and secondary databases count as
// memory that takes no writes. The engine for persistent memory has none.
//
// Thread safety: every method may be called by several threads at once. Lifetime: a database keeps
// its manager, which keeps the cache.
#pragma once

#include <cstddef>
#include <memory>

#include "ashlar/cache.h"
#include "ashlar/export.h"

namespace ashlar {

class MemoryBudget;

class ASHLAR_API WriteBufferManager final {
 public:
  // buffer_size: bytes; 0: no limit, memory is only counted. cache: charged for the memory in steps
  // of 256 KiB, as far as pinned blocks leave room; null: none is charged.
  explicit WriteBufferManager(size_t buffer_size, std::shared_ptr<Cache> cache = {},
                              bool allow_stall = false);
  ~WriteBufferManager();
  WriteBufferManager(const WriteBufferManager&) = delete;
  WriteBufferManager& operator=(const WriteBufferManager&) = delete;

  // Whether there is a limit.
  bool enabled() const { return buffer_size() > 0; }
  bool cost_to_cache() const;
  // Bytes of all memtables, and of the active ones.
  size_t memory_usage() const;
  size_t mutable_memtable_memory_usage() const;
  // Bytes charged to the cache; 0 without one.
  size_t dummy_entries_in_cache_usage() const;
  size_t buffer_size() const;

  // Takes effect at the next write of each database, and on waiting writers at once.
  void SetBufferSize(size_t new_size);
  void SetAllowStall(bool new_allow_stall);

  // Whether a database that writes has to flush.
  bool ShouldFlush() const;
  // Whether writers wait once a flush is under way.
  bool ShouldStall() const;
  // Whether a writer waits.
  bool IsStallActive() const;
  // Whether all memtables together reach the limit. True without a limit.
  bool IsStallThresholdExceeded() const;

  // Count memory of the program like that of a memtable, which is allocated, becomes immutable, and
  // is released. Call all three for each byte, in this order.
  void ReserveMem(size_t mem);
  void ScheduleFreeMem(size_t mem);
  void FreeMem(size_t mem);

 private:
  friend class DatabaseMemory;

  const std::unique_ptr<MemoryBudget> budget_;
};

}  // namespace ashlar
