#include "memtable/arena.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <new>

#include "memtable/memory_budget.h"

namespace ashlar {
namespace {

constexpr size_t kPageBytes = 4096;

char* LoadLink(const char* block) {
  char* next;
  memcpy(&next, block, sizeof(next));
  return next;
}

}  // namespace

size_t ArenaBlockPool::SizeIndex(size_t bytes) {
  const size_t blocks = (bytes + kBlockBytesMin - 1) / kBlockBytesMin;
  return blocks <= 1 ? 0 : static_cast<size_t>(std::bit_width(blocks - 1));
}

char* ArenaBlockPool::NewBlock(size_t bytes) const {
  if (!IsMapped(bytes))
    return static_cast<char*>(::operator new(bytes, std::align_val_t{kPageBytes}));
  void* const mapped = options_.map(bytes);
  if (mapped == nullptr) throw std::bad_alloc();
  return static_cast<char*>(mapped);
}

void ArenaBlockPool::FreeBlock(char* data, size_t bytes) const noexcept {
  ASHLAR_UNPOISON(data, bytes);
  if (IsMapped(bytes)) {
    options_.unmap(data, bytes);
  } else {
    ::operator delete(data, std::align_val_t{kPageBytes});
  }
}

ArenaBlockPool::~ArenaBlockPool() {
  ASHLAR_ASSERT(blocks_out_ == 0);  // Requires
  for (size_t i = 0; i < kSizes; ++i) {
    while (char* block = free_[i]) {
      ASHLAR_UNPOISON(block, sizeof(char*));
      free_[i] = LoadLink(block);
      FreeBlock(block, kBlockBytesMin << i);
    }
  }
}

ArenaBlock ArenaBlockPool::Acquire(size_t bytes_min) {
  // The rounding below does not overflow.
  ASHLAR_ASSERT(bytes_min <= std::numeric_limits<size_t>::max() - kPageBytes);
  ArenaBlock block{.data = nullptr, .bytes = (bytes_min + kPageBytes - 1) & ~(kPageBytes - 1)};
  if (bytes_min <= kBlockBytesMax) {
    const size_t index = SizeIndex(bytes_min);
    block.bytes = kBlockBytesMin << index;
    MutexLock lock(mutex_);
    block.data = free_[index];
    if (block.data != nullptr) {
      ASHLAR_UNPOISON(block.data, block.bytes);
      free_[index] = LoadLink(block.data);
      free_bytes_ -= block.bytes;
      ++blocks_out_;
      return block;
    }
  }
  block.data = NewBlock(block.bytes);
  MutexLock lock(mutex_);
  ++blocks_out_;
  return block;
}

void ArenaBlockPool::Release(ArenaBlock block) noexcept {
  {
    MutexLock lock(mutex_);
    ASHLAR_ASSERT(blocks_out_ > 0);  // the block is from Acquire
    --blocks_out_;
    if (block.bytes <= kBlockBytesMax && free_bytes_ + block.bytes <= options_.free_bytes_max) {
      const size_t index = SizeIndex(block.bytes);
      memcpy(block.data, &free_[index], sizeof(char*));
      free_[index] = block.data;
      free_bytes_ += block.bytes;
      ASHLAR_POISON(block.data, block.bytes);
      return;
    }
  }
  FreeBlock(block.data, block.bytes);
}

size_t ArenaBlockPool::FreeBytes() const {
  MutexLock lock(mutex_);
  return free_bytes_;
}

size_t ArenaBlockPool::BlockBytesMax() const {
  constexpr size_t kBlocksPerLimit = 32;
  const MemoryBudget* const budget =
      options_.memory == nullptr ? nullptr : options_.memory->budget();
  if (budget == nullptr || budget->limit_bytes() == 0) return kBlockBytesMax;
  return std::clamp(std::bit_floor(budget->limit_bytes() / kBlocksPerLimit), kBlockBytesMin,
                    kBlockBytesMax);
}

Arena::Arena(ArenaBlockPool* pool)
    : pool_(pool),
      block_bytes_max_(pool->BlockBytesMax()),
      takes_writes_(pool->memory() == nullptr || pool->memory()->TakesWrites()) {}

Arena::~Arena() {
  if (!sealed_) Seal();
  for (const ArenaBlock& block : blocks_) pool_->Release(block);
  if (pool_->memory() != nullptr && !blocks_.empty()) pool_->memory()->Free(MemoryAllocated());
}

void Arena::Seal() noexcept {
  ASHLAR_DCHECK(!sealed_);  // Requires
  sealed_ = true;
  if (pool_->memory() != nullptr && takes_writes_) pool_->memory()->ScheduleFree(MemoryAllocated());
}

ArenaBlock Arena::AcquireBlock(size_t bytes_min) {
  ASHLAR_DCHECK(!sealed_);  // Requires of Seal
  // Reserve before the block is acquired, because a failed allocation must not lose the block.
  if (blocks_.size() == blocks_.capacity()) blocks_.reserve(2 * blocks_.size() + 8);
  const ArenaBlock block =
      pool_->Acquire(bytes_min > next_block_bytes_ ? bytes_min : next_block_bytes_);
  blocks_.push_back(block);
  memory_allocated_.store(memory_allocated_.load(std::memory_order_relaxed) + block.bytes,
                          std::memory_order_relaxed);
  if (next_block_bytes_ < block_bytes_max_) next_block_bytes_ *= 2;
  if (pool_->memory() == nullptr) return block;
  if (takes_writes_) {
    pool_->memory()->Reserve(block.bytes);
  } else {
    pool_->memory()->ReserveForReads(block.bytes);
  }
  return block;
}

void Arena::SwitchTo(const ArenaBlock& block, size_t used) {
  used_in_other_blocks_ += static_cast<size_t>(cursor_ - start_);
  start_ = block.data;
  cursor_ = block.data + used;
  limit_ = block.data + block.bytes;
}

void Arena::CheckInvariants() const {
  size_t bytes = 0;
  size_t current = 0;  // blocks that are the current one
  for (const ArenaBlock& block : blocks_) {
    bytes += block.bytes;
    current += block.data == start_ && block.data + block.bytes == limit_ ? size_t{1} : 0;
  }
  ASHLAR_ASSERT(bytes == MemoryAllocated());                      // the counter agrees
  ASHLAR_ASSERT(current == (start_ == nullptr ? size_t{0} : 1));  // the current one is in the list
  ASHLAR_ASSERT(start_ <= cursor_ && cursor_ <= limit_);          // I2
  ASHLAR_ASSERT(MemoryUsed() <= bytes);                           // I2
  ASHLAR_ASSERT(next_block_bytes_ <= block_bytes_max_);           // blocks double up to it
}

// The new block has more room than the current one (I3), which has less than bytes_min left.
void Arena::AddBlock(size_t bytes_min) { SwitchTo(AcquireBlock(bytes_min), 0); }

char* Arena::AllocateSlow(size_t n, size_t alignment) {
  // Blocks are page-aligned, so a new one needs no padding.
  ASHLAR_ASSERT(alignment <= kPageBytes);
  const ArenaBlock block = AcquireBlock(n);
  if (block.bytes - n < static_cast<size_t>(limit_ - cursor_)) {
    used_in_other_blocks_ += n;
  } else {
    SwitchTo(block, n);
  }
  return block.data;
}

}  // namespace ashlar
