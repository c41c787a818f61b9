#include "execute/shared_count.h"

#include <bit>

#include "base/assert.h"

namespace ashlar {
namespace {

// One for each thread that can run at once, up to 64, rounded up to a power of two.
uint32_t ShardCount() {
  static const uint32_t shards = std::bit_ceil(HardwareThreads() < 64 ? HardwareThreads() : 64);
  return shards;
}

}  // namespace

SharedCount::~SharedCount() {
  const bool was_killed = killed_.load(std::memory_order_acquire);
  ASHLAR_ASSERT(was_killed ? central_.load(std::memory_order_acquire) == 0
                           : SumShards() == 0);  // I1: every Acquire has had its Release
  delete[] shards_.load(std::memory_order_acquire);
}

SharedCount::Shard& SharedCount::ShardOfThisThread() {
  Shard* shards = shards_.load(std::memory_order_acquire);
  if (shards == nullptr) shards = AllocateShards();
  return shards[CurrentThreadSlot().index & (ShardCount() - 1)];
}

SharedCount::Shard* SharedCount::AllocateShards() {
  Shard* fresh = new Shard[ShardCount()];
  Shard* installed = nullptr;
  if (shards_.compare_exchange_strong(installed, fresh, std::memory_order_acq_rel,
                                      std::memory_order_acquire))
    return fresh;
  delete[] fresh;
  return installed;
}

void SharedCount::Acquire() {
  const EpochGuard guard(epochs_);
  if (killed_.load(std::memory_order_acquire)) {
    const int64_t held = central_.fetch_add(1, std::memory_order_relaxed);
    ASHLAR_DCHECK(held > 0);  // I3
  } else {
    ShardOfThisThread().count.fetch_add(1, std::memory_order_relaxed);
  }
}

void SharedCount::Release() {
  {
    const EpochGuard guard(epochs_);
    if (!killed_.load(std::memory_order_acquire)) {
      ShardOfThisThread().count.fetch_sub(1, std::memory_order_relaxed);
      return;
    }
  }
  // The count that the caller holds keeps the object alive up to here.
  const int64_t held = central_.fetch_sub(1, std::memory_order_acq_rel);
  ASHLAR_DCHECK(held > 0);  // I1
  if (held == 1) callback_(argument_);
}

void SharedCount::Kill() noexcept {
  const bool killed_before = killed_.exchange(true, std::memory_order_acq_rel);
  ASHLAR_ASSERT(!killed_before);  // I1: the callback would run twice
  epochs_.RetireUnderLock(this, 0);
}

void SharedCount::Fold(EpochRetired* self) {
  SharedCount* count = static_cast<SharedCount*>(self);
  const int64_t change = count->SumShards() - kOwnerBias;
  if (count->central_.fetch_add(change, std::memory_order_acq_rel) + change == 0)
    count->callback_(count->argument_);
}

int64_t SharedCount::SumShards() const {
  const Shard* shards = shards_.load(std::memory_order_acquire);
  if (shards == nullptr) return 0;
  int64_t sum = 0;
  for (uint32_t i = 0; i < ShardCount(); i++)
    sum += shards[i].count.load(std::memory_order_relaxed);
  return sum;
}

int64_t SharedCount::Count() const {
  ASHLAR_ASSERT(!killed_.load(std::memory_order_acquire));  // Requires
  return SumShards();
}

}  // namespace ashlar
