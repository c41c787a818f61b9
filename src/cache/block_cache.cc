#include "cache/block_cache.h"

#include <algorithm>

#include "base/assert.h"
#include "base/out_of_memory.h"

namespace ashlar {

namespace {

// The number of entries per shard, and of shards, that an Insert visits. With these the clock makes
// several rounds while the reserve is used up.
constexpr size_t kLooksPerShard = 16;
constexpr size_t kShardsPerInsert = 8;
// The number of entries that GetPinnedUsage visits under one lock. Reads that miss wait for it.
constexpr size_t kLooksAtOnce = 1024;

// Makes room for one more entry. Returns false if the allocation fails.
bool GrowRing(std::vector<CacheEntry*>* ring) {
  if (ring->size() < ring->capacity()) return true;
  return CatchBadAlloc([ring] {
           ring->reserve(2 * ring->size() + 1);
           return Status::OK();
         })
      .ok();
}

}  // namespace

bool CacheBudget::TryReserve(size_t bytes) {
  size_t used = usage_.load(std::memory_order_relaxed);
  const size_t capacity = capacity_.load(std::memory_order_relaxed);
  do {
    if (used > capacity || bytes > capacity - used) return false;
  } while (!usage_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return true;
}

const PinOps CacheEntry::kPinOps = {
    [](void* entry) { static_cast<CacheEntry*>(entry)->AddRef(); },
    [](void* entry, void*) { static_cast<CacheEntry*>(entry)->Release(); },
};

void CacheEntry::Free() {
  CacheBudget* const budget = budget_;
  const size_t charge = charge_;
  const bool detached = detached_;
  destroy_(this);
  if (budget == nullptr) return;
  if (detached) budget->detached().fetch_sub(charge, std::memory_order_relaxed);
  budget->Release(charge);
  budget->Unref();
}

BlockCache::BlockCache(size_t capacity) : budget_(new CacheBudget(capacity)) {}

BlockCache::~BlockCache() {
  for (Shard& shard : shards_) {
    MutexLock lock(shard.mutex);
    ASHLAR_ASSERT(shard.ring.empty());  // I2; fails if a table outlived its cache
  }
  budget_->Unref();
}

bool BlockCache::Insert(BlockSlot* slot, EpochDomain* epochs, CacheEntry* entry) {
  ASHLAR_DCHECK(entry->budget_ == nullptr && !entry->detached_);  // I2: it is in no ring
  if (!Reserve(entry->charge_)) return false;
  entry->slot_ = slot;
  entry->epochs_ = epochs;
  bool taken = false;
  {
    Shard& shard = ShardOf(slot);
    MutexLock lock(shard.mutex);
    if (slot->load(std::memory_order_relaxed) == nullptr && GrowRing(&shard.ring)) {
      budget_->Ref();
      entry->budget_ = budget_;
      entry->ring_index_ = static_cast<uint32_t>(shard.ring.size());
      shard.ring.push_back(entry);
      slot->store(entry, std::memory_order_release);
      taken = true;
    }
  }
  if (!taken) budget_->Release(entry->charge_);
  return taken;
}

bool BlockCache::Reserve(size_t bytes) {
  const size_t capacity = budget_->capacity();
  if (bytes > capacity) return false;
  // The charges of entries that wait for their grace period are released soon, unless pinned.
  const size_t wanted = bytes + ReserveBytes(capacity);
  const size_t used = budget_->usage();
  const size_t coming = budget_->waiting().load(std::memory_order_relaxed);
  const size_t free_soon = (used < capacity ? capacity - used : 0) + coming;
  if (free_soon < wanted) EvictSome(wanted - free_soon);
  if (coming > ReserveBytes(capacity) / 2) EpochReclaimAll();
  if (budget_->TryReserve(bytes)) return true;
  EpochReclaimAll();
  return budget_->TryReserve(bytes);
}

void BlockCache::EvictSome(size_t bytes) {
  size_t found = 0;
  for (size_t i = 0; i < kShardsPerInsert && found < bytes; ++i) {
    Shard& shard = shards_[next_shard_.fetch_add(1, std::memory_order_relaxed) % kShards];
    MutexLock lock(shard.mutex);
    found += SweepShard(shard, bytes - found, kLooksPerShard);
  }
}

void BlockCache::EvictAsked(size_t bytes) {
  size_t found = 0;
  // First every shard frees its share, then shards with more entries free the rest.
  for (const size_t part : {bytes / kShards + 1, bytes}) {
    for (Shard& shard : shards_) {
      if (found >= bytes) break;
      MutexLock lock(shard.mutex);
      // Two rounds, because the first one may only clear used bits.
      found += SweepShard(shard, std::min(part, bytes - found), 2 * shard.ring.size());
      if constexpr (kDebugChecks) CheckShard(shard);
    }
  }
}

size_t BlockCache::SweepShard(Shard& shard, size_t bytes, size_t looks) {
  size_t found = 0;
  for (size_t i = 0; i < looks && found < bytes && !shard.ring.empty(); ++i) {
    if (shard.hand >= shard.ring.size()) shard.hand = 0;
    CacheEntry* const entry = shard.ring[shard.hand];
    if (entry->used_.load(std::memory_order_relaxed)) {
      entry->used_.store(false, std::memory_order_relaxed);
      ++shard.hand;
    } else if (entry->refs_.load(std::memory_order_relaxed) > 1) {
      ++shard.hand;
    } else {
      found += entry->charge_;
      Unlink(shard, entry);
    }
  }
  return found;
}

void BlockCache::Unlink(Shard& shard, CacheEntry* entry) {
  ASHLAR_ASSERT(shard.ring[entry->ring_index_] == entry && !entry->detached_);  // I2
  entry->slot_->store(nullptr, std::memory_order_release);
  CacheEntry* const last = shard.ring.back();
  shard.ring[entry->ring_index_] = last;
  last->ring_index_ = entry->ring_index_;
  shard.ring.pop_back();
  entry->detached_ = true;
  budget_->detached().fetch_add(entry->charge_, std::memory_order_relaxed);
  budget_->waiting().fetch_add(entry->charge_, std::memory_order_relaxed);
  entry->epochs_->RetireUnderLock(entry, entry->charge_);
}

void CacheEntry::EndGrace(EpochRetired* retired) {
  auto* const entry = static_cast<CacheEntry*>(retired);
  entry->budget_->waiting().fetch_sub(entry->charge_, std::memory_order_relaxed);
  entry->Release();
}

void BlockCache::Erase(std::span<BlockSlot> slots) {
  EpochDomain* epochs = nullptr;
  // Takes every shard's lock even if all its slots are empty, because an evictor that cleared one
  // may not have retired its entry yet (I5).
  for (size_t first = 0; first < std::min(kShards, slots.size()); ++first) {
    Shard& shard = ShardOf(&slots[first]);
    MutexLock lock(shard.mutex);
    for (size_t i = first; i < slots.size(); i += kShards) {
      CacheEntry* const entry = slots[i].load(std::memory_order_relaxed);
      if (entry == nullptr) continue;
      epochs = entry->epochs_;
      Unlink(shard, entry);
      ASHLAR_DCHECK(slots[i].load(std::memory_order_relaxed) == nullptr);  // I5
    }
  }
  if (epochs != nullptr) epochs->ReclaimIfDue();
}

bool BlockCache::ReserveMetadata(size_t bytes) {
  if (bytes > budget_->capacity()) return false;
  if (!Reserve(bytes)) {
    EvictAsked(bytes);
    EpochReclaimAll();
    if (!budget_->TryReserve(bytes)) return false;
  }
  metadata_.fetch_add(bytes, std::memory_order_relaxed);
  return true;
}

void BlockCache::ReleaseMetadata(size_t bytes) {
  ASHLAR_DCHECK(bytes <= metadata_.load(std::memory_order_relaxed));  // I1: it was reserved
  metadata_.fetch_sub(bytes, std::memory_order_relaxed);
  budget_->Release(bytes);
}

void BlockCache::SetCapacity(size_t capacity) {
  budget_->set_capacity(capacity);
  const size_t used = budget_->usage();
  if (used <= capacity) return;
  EvictAsked(used - capacity);
  EpochSynchronizeAll();
}

void BlockCache::EraseUnRefEntries() {
  for (Shard& shard : shards_) {
    MutexLock lock(shard.mutex);
    for (size_t i = shard.ring.size(); i-- > 0;) {
      CacheEntry* const entry = shard.ring[i];
      if (entry->refs_.load(std::memory_order_relaxed) <= 1) Unlink(shard, entry);
    }
    shard.hand = 0;
    if constexpr (kDebugChecks) CheckShard(shard);
  }
  EpochSynchronizeAll();
}

size_t BlockCache::GetPinnedUsage() const {
  size_t pinned = metadata_.load(std::memory_order_relaxed) +
                  budget_->detached().load(std::memory_order_relaxed);
  for (const Shard& shard : shards_) {
    size_t end = 0;
    for (size_t begin = 0; begin == end; begin += kLooksAtOnce) {
      MutexLock lock(shard.mutex);
      end = std::min(begin + kLooksAtOnce, shard.ring.size());
      for (size_t i = begin; i < end; ++i) {
        const CacheEntry* const entry = shard.ring[i];
        if (entry->refs_.load(std::memory_order_relaxed) > 1) pinned += entry->charge_;
      }
    }
  }
  return pinned;
}

size_t BlockCache::GetOccupancyCount() const {
  size_t entries = 0;
  for (const Shard& shard : shards_) {
    MutexLock lock(shard.mutex);
    entries += shard.ring.size();
  }
  return entries;
}

void BlockCache::CheckShard(const Shard& shard) const {
  for (size_t i = 0; i < shard.ring.size(); ++i) {
    const CacheEntry* const entry = shard.ring[i];
    ASHLAR_ASSERT(entry->ring_index_ == i && !entry->detached_);            // I2
    ASHLAR_ASSERT(entry->slot_->load(std::memory_order_relaxed) == entry);  // I2
    ASHLAR_ASSERT(&shards_[ShardIndex(entry->slot_)] == &shard);            // I2
    ASHLAR_ASSERT(entry->refs_.load(std::memory_order_relaxed) >= 1);       // I3
  }
}

void BlockCache::CheckInvariants() const {
  size_t linked = 0;
  for (const Shard& shard : shards_) {
    MutexLock lock(shard.mutex);
    CheckShard(shard);
    for (const CacheEntry* const entry : shard.ring) linked += entry->charge_;
  }
  const size_t others = metadata_.load(std::memory_order_relaxed) +
                        budget_->detached().load(std::memory_order_relaxed);
  ASHLAR_ASSERT(budget_->usage() == linked + others);  // I1
}

}  // namespace ashlar
