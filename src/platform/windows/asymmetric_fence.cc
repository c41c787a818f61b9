#include "platform/asymmetric_fence.h"

#include "platform/windows/windows_headers.h"

namespace ashlar {
namespace internal {

constinit std::atomic<bool> light_fence_is_free{false};

void FullFence() { std::atomic_thread_fence(std::memory_order_seq_cst); }

}  // namespace internal

namespace {

// Wine 8 has FlushProcessWriteBuffers, but it does nothing. The export identifies Wine.
bool Register() {
  const bool is_wine =
      GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != nullptr;
  internal::light_fence_is_free.store(!is_wine, std::memory_order_relaxed);
  return !is_wine;
}

bool RegisterOnce() {
  static const bool registered = Register();
  return registered;
}

[[maybe_unused]] const bool registered_at_start = RegisterOnce();

}  // namespace

void HeavyFence() {
  internal::FullFence();
  if (RegisterOnce()) FlushProcessWriteBuffers();
}

}  // namespace ashlar
