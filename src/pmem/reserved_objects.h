// ReservedObjects: free objects that a thread has taken from the heap ahead of use, so that it
// allocates a record without the heap's mutex.
//
//                    Set (owner)                          Take (owner)
//   word of a span's bitmap ------> reservation: base, mask ------> an object, to be published
//           ^                              |
//           +------ TakeBack (any thread) -+
//
// For each size class a thread has one reservation, the free bits of one word of a span's bitmap.
// The span counts them as taken. All of this is volatile, and nothing durable refers to a reserved
// object. So a crash leaves nothing to undo, and an open finds the object free.
//
// I1: a bit of a mask is an object that is taken in its span's bitmap and is in no other mask. The
//     span is neither marked nor evacuated.
// I2: only the owner sets a mask that is 0, under the heap's mutex. All others only clear bits. So
//     the owner's compare-exchange cannot mistake one set of bits for another.
// I3: base changes under the heap's mutex, by the owner. The owner reads it without the mutex.
//
// Rejected: lists of objects per thread, each with its own lock. That lock costs a put as much as
// the heap's mutex does without contention.
//
// Thread safety: Take and Set by the owner, the other calls under the heap's mutex. The owner is
// the thread that has the slot (platform/thread.h); a slot's next owner inherits the objects.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <new>

#include "base/assert.h"
#include "platform/cpu.h"
#include "platform/thread.h"
#include "pmem/layout.h"
#include "pmem/pool_locks.h"
#include "pmem/size_class.h"

namespace ashlar::pmem {

class ReservedObjects {
 public:
  // Threads beyond this number reserve nothing.
  static constexpr uint32_t kThreadsMax = 64;
  // A thread reserves at most this many bytes of a class.
  static constexpr uint64_t kBytesMax = uint64_t{16} << 10;

  ReservedObjects() = default;
  ~ReservedObjects() {
    for (const std::atomic<PerThread*>& thread : threads_) delete thread.load();
  }
  ReservedObjects(const ReservedObjects&) = delete;
  ReservedObjects& operator=(const ReservedObjects&) = delete;

  // Whether the calling thread can reserve objects. False if it cannot allocate its reservations.
  bool CanReserve() ASHLAR_REQUIRES(kHeapMutex) {
    const uint32_t slot = CurrentThreadSlot().index;
    if (slot >= kThreadsMax) return false;
    if (threads_[slot].load(std::memory_order_relaxed) != nullptr) return true;
    auto* const thread = new (std::nothrow) PerThread;
    threads_[slot].store(thread, std::memory_order_relaxed);
    threads_used_ = std::max(threads_used_, slot + 1);
    return thread != nullptr;
  }

  // Takes an object of the class that the calling thread has reserved, or returns 0. Sets *next to
  // the following reserved object, if there is one.
  PoolOffset Take(uint32_t class_index, PoolOffset* next) {
    const uint32_t slot = CurrentThreadSlot().index;
    if (slot >= kThreadsMax) [[unlikely]]
      return 0;
    PerThread* const thread = threads_[slot].load(std::memory_order_relaxed);
    if (thread == nullptr) [[unlikely]]
      return 0;
    Reservation& reservation = thread->of_class[class_index];
    uint64_t mask = reservation.mask.load(std::memory_order_relaxed);
    while (mask != 0) {
      // Relaxed, because the heap's mutex orders what other threads did to these objects (Set).
      const uint64_t rest = mask & (mask - 1);
      if (reservation.mask.compare_exchange_weak(mask, rest, std::memory_order_relaxed)) {
        const auto object_of = [&](uint64_t objects) {
          return reservation.base +
                 static_cast<uint64_t>(std::countr_zero(objects)) * SizeClassBytes(class_index);
        };
        if (rest != 0) *next = object_of(rest);
        return object_of(mask);
      }
    }
    return 0;
  }

  // Reserves the objects of the mask for the calling thread. Bit i is the one at base + i objects.
  // Requires: CanReserve() was true, and the thread has none of the class (I2).
  void Set(uint32_t class_index, PoolOffset base, uint64_t mask) ASHLAR_REQUIRES(kHeapMutex) {
    const uint32_t slot = CurrentThreadSlot().index;
    Reservation& reservation =
        threads_[slot].load(std::memory_order_relaxed)->of_class[class_index];
    ASHLAR_ASSERT(reservation.mask.load(std::memory_order_relaxed) == 0);  // I2
    reservation.base = base;
    reservation.mask.store(mask, std::memory_order_relaxed);
  }

  // Calls give(class, offset) for each object that is reserved, and leaves none reserved.
  template <typename Function>
  void TakeBack(const Function& give) ASHLAR_REQUIRES(kHeapMutex) {
    for (uint32_t slot = 0; slot < threads_used_; ++slot) {
      PerThread* const thread = threads_[slot].load(std::memory_order_relaxed);
      if (thread == nullptr) continue;
      for (uint32_t class_index = 0; class_index < kSizeClasses; ++class_index) {
        Reservation& reservation = thread->of_class[class_index];
        if (reservation.mask.load(std::memory_order_relaxed) == 0) continue;
        Visit(reservation, class_index, reservation.mask.exchange(0, std::memory_order_relaxed),
              give);
      }
    }
  }
  // Calls function(class, offset) for each object that is reserved at the moment, and takes none.
  template <typename Function>
  void ForEach(const Function& function) const ASHLAR_REQUIRES(kHeapMutex) {
    for (uint32_t slot = 0; slot < threads_used_; ++slot) {
      const PerThread* const thread = threads_[slot].load(std::memory_order_relaxed);
      if (thread == nullptr) continue;
      for (uint32_t class_index = 0; class_index < kSizeClasses; ++class_index) {
        const Reservation& reservation = thread->of_class[class_index];
        Visit(reservation, class_index, reservation.mask.load(std::memory_order_relaxed), function);
      }
    }
  }

  // Whether a thread has reserved the object. Requires: an object of the class is there.
  bool Contains(uint32_t class_index, PoolOffset object) const ASHLAR_REQUIRES(kHeapMutex) {
    const uint64_t object_bytes = SizeClassBytes(class_index);
    for (uint32_t slot = 0; slot < threads_used_; ++slot) {
      const PerThread* const thread = threads_[slot].load(std::memory_order_relaxed);
      if (thread == nullptr) continue;
      const Reservation& reservation = thread->of_class[class_index];
      const uint64_t distance = object - reservation.base;  // large for a lower object
      if (distance >= 64 * object_bytes) continue;
      const uint64_t mask = reservation.mask.load(std::memory_order_relaxed);
      if ((mask >> (distance / object_bytes) & 1) != 0) return true;
    }
    return false;
  }

  // Asserts that no object is in two masks (I1). Its users check the bitmaps of the spans.
  void CheckInvariants() const ASHLAR_REQUIRES(kHeapMutex) {
    for (uint32_t slot = 0; slot < kThreadsMax; ++slot) {
      const PerThread* const thread = threads_[slot].load(std::memory_order_relaxed);
      ASHLAR_ASSERT(thread == nullptr || slot < threads_used_);  // CanReserve
      for (uint32_t other = slot + 1; thread != nullptr && other < threads_used_; ++other) {
        const PerThread* const second = threads_[other].load(std::memory_order_relaxed);
        if (second != nullptr) CheckDisjoint(*thread, *second);
      }
    }
  }

  // Bytes of volatile state.
  uint64_t VolatileBytes() const {
    uint64_t bytes = 0;
    for (const std::atomic<PerThread*>& slot : threads_)
      bytes += slot.load(std::memory_order_relaxed) == nullptr ? 0 : sizeof(PerThread);
    return bytes;
  }

 private:
  struct Reservation {
    PoolOffset base = 0;            // I3
    std::atomic<uint64_t> mask{0};  // I2. Relaxed: it hands over no other memory
  };
  struct alignas(kCacheLineBytes) PerThread {
    std::array<Reservation, kSizeClasses> of_class;
  };

  // A base belongs to one word of a bitmap, so masks with different bases have different objects.
  static void CheckDisjoint(const PerThread& a, const PerThread& b) {
    for (uint32_t class_index = 0; class_index < kSizeClasses; ++class_index) {
      const Reservation& of_a = a.of_class[class_index];
      const Reservation& of_b = b.of_class[class_index];
      if (of_a.base != of_b.base) continue;
      ASHLAR_ASSERT((of_a.mask.load(std::memory_order_relaxed) &
                     of_b.mask.load(std::memory_order_relaxed)) == 0);  // I1
    }
  }

  template <typename Function>
  static void Visit(const Reservation& reservation, uint32_t class_index, uint64_t mask,
                    const Function& function) {
    for (; mask != 0; mask &= mask - 1) {
      function(class_index, reservation.base + static_cast<uint64_t>(std::countr_zero(mask)) *
                                                   SizeClassBytes(class_index));
    }
  }

  // Indexed by thread slot. Created before the thread's first reservation, under the heap's mutex.
  std::array<std::atomic<PerThread*>, kThreadsMax> threads_{};
  uint32_t threads_used_ ASHLAR_GUARDED_BY(kHeapMutex) = 0;  // slots from here on have none
};

}  // namespace ashlar::pmem
