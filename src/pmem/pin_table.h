// PinTable: the records that pinned slices and iterators refer to. It has volatile counts, found by
// a hash of the record's offset. Two records may share a count: a pin of one then delays the reuse
// of the other, and has no other effect.
//
// A reader pins inside the epoch guard in which it found the record. IsPinned is called after that
// epoch is over, so it sees every pin that will ever be taken: the release at the end of the guard
// pairs with the acquire of the reclaimer's scan.
//
// A count in the record was rejected: the pool would be written by readers. An exact table (a hash
// map with locks) was rejected: a Get pays for it.
//
// Thread safety: any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "pmem/layout.h"

namespace ashlar::pmem {

class PinTable {
 public:
  using Count = std::atomic<uint32_t>;

  // Takes a pin; give it back with Unpin.
  Count* Pin(PoolOffset record) {
    Count* const count = &counts_[Hash(record)];
    count->fetch_add(1, std::memory_order_relaxed);
    return count;
  }
  // Release: the holder's reads happen before the reuse that IsPinned permits.
  static void Unpin(Count* count) { count->fetch_sub(1, std::memory_order_release); }

  bool IsPinned(PoolOffset record) const {
    return counts_[Hash(record)].load(std::memory_order_acquire) != 0;
  }
  bool AnyPinned() const {
    for (const Count& count : counts_) {
      if (count.load(std::memory_order_acquire) != 0) return true;
    }
    return false;
  }

 private:
  static constexpr uint32_t kBits = 14;
  static uint32_t Hash(PoolOffset record) {
    return static_cast<uint32_t>((record / kUnitBytes) * 0x9e3779b97f4a7c15u >> (64 - kBits));
  }

  std::array<Count, size_t{1} << kBits> counts_{};
};

}  // namespace ashlar::pmem
