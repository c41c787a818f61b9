// Arena: memory that is allocated piece by piece and freed as a whole. ArenaBlockPool: the source
// of arena blocks. Arenas return blocks for reuse, because the first touch of fresh memory costs
// more than storing the data.
//
//   pool   free lists by size: 64 KiB, 128 KiB, ... 4 MiB      (larger blocks have the requested
//                                                               size and are not kept)
//              | Acquire                ^ Release
//   arena  [block 64K][block 128K] ... [block 4M: used | rest]  cursor_ moves towards limit_
//              | Reserve                ^ Free
//   memory of the database (memory_budget.h), if it is limited
//
// I1. A piece never moves and stays valid until its arena is destroyed.
// I2. Pieces of one arena do not overlap; those of AllocateAligned begin at a multiple of their
//     alignment.
// I3. When a piece does not fit, the arena puts it into a new block. It continues in the old or the
//     new block, whichever has more room left.
//
// Memory is not zeroed, and recycled blocks hold old bytes. An allocation that fails throws
// std::bad_alloc and changes no state. Thread safety: any number of threads may use an
// ArenaBlockPool. An arena has one writer at a time; anyone may read MemoryAllocated at any time.
// Lifetime: the pool outlives its arenas.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/assert.h"
#include "base/compiler.h"
#include "platform/mutex.h"

namespace ashlar {

class DatabaseMemory;

struct ArenaBlock {
  char* data = nullptr;
  size_t bytes = 0;
};

class ArenaBlockPool {
 public:
  static constexpr size_t kBlockBytesMin = size_t{64} << 10;
  static constexpr size_t kBlockBytesMax = size_t{4} << 20;
  static constexpr size_t kMappedBytesMin = size_t{1} << 20;
  static_assert((kBlockBytesMin & (kBlockBytesMin - 1)) == 0 &&
                (kBlockBytesMax & (kBlockBytesMax - 1)) == 0);

  struct Options {
    size_t free_bytes_max = size_t{256}
                            << 20;  // released blocks beyond this total are unmapped or deleted
    // Map and unmap page-aligned blocks of kMappedBytesMin or more; null: the allocator is used. It
    // would not return them to the system, because a memtable's blocks are between others and free
    // memory there stays resident.
    void* (*map)(size_t bytes) noexcept = nullptr;
    void (*unmap)(void* start, size_t bytes) noexcept = nullptr;
    // Counts the blocks of the pool's arenas and outlives them; null: the blocks are not counted.
    DatabaseMemory* memory = nullptr;
  };

  explicit ArenaBlockPool(const Options& options) : options_(options) {}
  // Requires: every block has been released.
  ~ArenaBlockPool();
  ArenaBlockPool(const ArenaBlockPool&) = delete;
  ArenaBlockPool& operator=(const ArenaBlockPool&) = delete;

  // Returns a block of at least bytes_min bytes. Its size is the smallest of the pool's sizes that
  // fits or, above kBlockBytesMax, bytes_min rounded up to pages.
  ArenaBlock Acquire(size_t bytes_min);
  void Release(ArenaBlock block) noexcept;

  // Bytes of the blocks that wait for reuse.
  size_t FreeBytes() const;

  // The blocks of an arena double up to this size. If the memory limit is small, blocks are small,
  // so that the counted bytes are close to the written bytes.
  size_t BlockBytesMax() const;
  DatabaseMemory* memory() const { return options_.memory; }

 private:
  static constexpr size_t kSizes = 7;
  static_assert(kBlockBytesMin << (kSizes - 1) == kBlockBytesMax);
  static size_t SizeIndex(size_t bytes);
  bool IsMapped(size_t bytes) const { return options_.map != nullptr && bytes >= kMappedBytesMin; }
  char* NewBlock(size_t bytes) const;
  void FreeBlock(char* data, size_t bytes) const noexcept;

  const Options options_;
  mutable Mutex mutex_;
  // A free block holds the link to the next one in its first bytes.
  std::array<char*, kSizes> free_ ASHLAR_GUARDED_BY(mutex_){};
  size_t free_bytes_ ASHLAR_GUARDED_BY(mutex_) = 0;
  size_t blocks_out_ ASHLAR_GUARDED_BY(mutex_) = 0;
};

class Arena {
 public:
  explicit Arena(ArenaBlockPool* pool);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // n bytes without alignment. n may be 0; the result is then not null, but must not be read.
  char* Allocate(size_t n) {
    if (ASHLAR_LIKELY(n <= static_cast<size_t>(limit_ - cursor_) && cursor_ != nullptr)) {
      char* piece = cursor_;
      cursor_ += n;
      return piece;
    }
    return AllocateSlow(n, 1);
  }

  // n bytes aligned for a pointer or a 64-bit atomic.
  char* AllocateAligned(size_t n) { return AllocateAligned(n, 8); }
  // alignment: a power of two, at most 4096.
  char* AllocateAligned(size_t n, size_t alignment) {
    ASHLAR_DCHECK(alignment != 0 && (alignment & (alignment - 1)) == 0 && alignment <= 4096);  // I2
    const size_t padding = (0 - reinterpret_cast<uintptr_t>(cursor_)) & (alignment - 1);
    const auto left = static_cast<size_t>(limit_ - cursor_);
    if (ASHLAR_LIKELY(padding <= left && n <= left - padding && cursor_ != nullptr)) {
      char* piece = cursor_ + padding;
      cursor_ = piece + n;
      return piece;
    }
    return AllocateSlow(n, alignment);
  }

  // Ensures that later allocations of n bytes in total, including padding, succeed.
  void Reserve(size_t n) {
    if (n > static_cast<size_t>(limit_ - cursor_)) AddBlock(n);
  }

  // Reports that the memory takes no more writes. Call at most once, after the last allocation.
  void Seal() noexcept;

  // Bytes of the blocks held. Any thread.
  size_t MemoryAllocated() const { return memory_allocated_.load(std::memory_order_relaxed); }
  // Bytes allocated, including padding. The writer's thread only.
  size_t MemoryUsed() const {
    return used_in_other_blocks_ + static_cast<size_t>(cursor_ - start_);
  }
  // Asserts that the blocks, the current block and the counters agree. The writer's thread only.
  void CheckInvariants() const;

 private:
  ASHLAR_NO_INLINE char* AllocateSlow(size_t n, size_t alignment);
  ArenaBlock AcquireBlock(size_t bytes_min);
  void AddBlock(size_t bytes_min);
  void SwitchTo(const ArenaBlock& block, size_t used);

  ArenaBlockPool* const pool_;
  // The current block: [start_, cursor_) is allocated, [cursor_, limit_) is free.
  char* cursor_ = nullptr;
  char* limit_ = nullptr;
  char* start_ = nullptr;
  size_t used_in_other_blocks_ = 0;
  size_t next_block_bytes_ = ArenaBlockPool::kBlockBytesMin;
  const size_t block_bytes_max_;
  const bool takes_writes_;  // DatabaseMemory::TakesWrites at construction
  std::vector<ArenaBlock> blocks_;
  bool sealed_ = false;
  std::atomic<size_t> memory_allocated_{
      0};  // relaxed: written by the writer, read by anyone as an estimate
};

}  // namespace ashlar
