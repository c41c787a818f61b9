// A pair of fences of which only one side is expensive. At least one of the two loads sees the
// other thread's store if
//
//   thread A runs   store x; LightFence; load y
//   thread B runs   store y; HeavyFence; load x
//
// LightFence only stops the compiler from reordering and costs nothing at run time. HeavyFence
// makes the kernel run a full fence on every processor that runs a thread of this process (Linux:
// membarrier), which costs microseconds. If the kernel cannot do that, and under ThreadSanitizer,
// both are full fences.
//
// I1: light_fence_is_free becomes true only after HeavyFence has become able to reach every
//     processor, and then stays true.
//
// Thread safety: any thread.
#pragma once

#include <atomic>

namespace ashlar {

#if defined(__SANITIZE_THREAD__)
#define ASHLAR_REAL_LIGHT_FENCE 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ASHLAR_REAL_LIGHT_FENCE 1
#endif
#endif

namespace internal {
// Written once, by static initialisation or by the first HeavyFence, whichever runs first. Relaxed
// loads suffice, because a stale false only makes the reader run a full fence.
extern constinit std::atomic<bool> light_fence_is_free;
void FullFence();
}  // namespace internal

inline void LightFence() {
#if defined(ASHLAR_REAL_LIGHT_FENCE)
  internal::FullFence();
#else
  if (internal::light_fence_is_free.load(std::memory_order_relaxed)) [[likely]] {
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } else {
    internal::FullFence();
  }
#endif
}

void HeavyFence();

}  // namespace ashlar
