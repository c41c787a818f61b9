#include "platform/futex.h"

#include "platform/windows/timeout.h"
#include "platform/windows/windows_headers.h"

namespace ashlar {
namespace {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

// The system call takes a pointer without const, but only reads the word.
void* AddressOf(const std::atomic<uint32_t>& word) {
  return const_cast<std::atomic<uint32_t>*>(&word);
}

}  // namespace

void FutexWait(const std::atomic<uint32_t>& word, uint32_t expected) {
  WaitOnAddress(AddressOf(word), &expected, sizeof(expected), INFINITE);
}

bool FutexTimedWait(const std::atomic<uint32_t>& word, uint32_t expected, uint64_t timeout_us) {
  return WaitOnAddress(AddressOf(word), &expected, sizeof(expected), TimeoutMillis(timeout_us)) !=
             0 ||
         GetLastError() != ERROR_TIMEOUT;
}

void FutexWakeOne(const std::atomic<uint32_t>& word) { WakeByAddressSingle(AddressOf(word)); }

void FutexWakeAll(const std::atomic<uint32_t>& word) { WakeByAddressAll(AddressOf(word)); }

}  // namespace ashlar
