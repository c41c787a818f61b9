#include "platform/futex.h"

#include "platform/windows/windows_headers.h"

namespace ashlar {
namespace {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

// The system asks for a pointer without const, and only reads.
void* AddressOf(const std::atomic<uint32_t>& word) {
  return const_cast<std::atomic<uint32_t>*>(&word);
}

}  // namespace

void FutexWait(const std::atomic<uint32_t>& word, uint32_t expected) {
  WaitOnAddress(AddressOf(word), &expected, sizeof(expected), INFINITE);
}

bool FutexTimedWait(const std::atomic<uint32_t>& word, uint32_t expected, uint64_t timeout_us) {
  const uint64_t milliseconds = timeout_us / 1000 + (timeout_us % 1000 != 0 ? 1 : 0);
  constexpr uint64_t kLongest = INFINITE - 1;
  const auto timeout = static_cast<DWORD>(milliseconds < kLongest ? milliseconds : kLongest);
  return WaitOnAddress(AddressOf(word), &expected, sizeof(expected), timeout) != 0 ||
         GetLastError() != ERROR_TIMEOUT;
}

void FutexWakeOne(const std::atomic<uint32_t>& word) { WakeByAddressSingle(AddressOf(word)); }

void FutexWakeAll(const std::atomic<uint32_t>& word) { WakeByAddressAll(AddressOf(word)); }

}  // namespace ashlar
