#include "platform/asymmetric_fence.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.h"

namespace ashlar {
namespace internal {

constinit std::atomic<bool> light_fence_is_free{false};

#if defined(__GNUC__) && !defined(__clang__)
// The fence is for the processor. ThreadSanitizer sees the order of the callers' atomics.
#pragma GCC diagnostic ignored "-Wtsan"
#endif
void FullFence() { std::atomic_thread_fence(std::memory_order_seq_cst); }

}  // namespace internal

namespace {

int Membarrier(int command) { return static_cast<int>(syscall(SYS_membarrier, command, 0, 0)); }

bool RegisterOnce() {
  static const bool registered = [] {
    const bool ok = Membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
    internal::light_fence_is_free.store(ok, std::memory_order_relaxed);
    return ok;
  }();
  return registered;
}

const bool registered_at_start = RegisterOnce();

}  // namespace

void HeavyFence() {
  internal::FullFence();
  if (!RegisterOnce()) return;
  if (Membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) return;
  // A lost registration (for example in a forked child) can be renewed. A reader that relies on the
  // barrier must not be left without it.
  ASHLAR_ASSERT(Membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0 &&
                Membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0);
}

}  // namespace ashlar
