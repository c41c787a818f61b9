#include "platform/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

namespace ashlar {
namespace {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

long Futex(const std::atomic<uint32_t>& word, int operation, uint32_t value,
           const timespec* timeout) {
  return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, timeout, nullptr, 0);
}

}  // namespace

void FutexWait(const std::atomic<uint32_t>& word, uint32_t expected) {
  Futex(word, FUTEX_WAIT, expected, nullptr);
}

bool FutexTimedWait(const std::atomic<uint32_t>& word, uint32_t expected, uint64_t timeout_us) {
  const timespec timeout{static_cast<time_t>(timeout_us / 1'000'000),
                         static_cast<long>(timeout_us % 1'000'000 * 1000)};
  return Futex(word, FUTEX_WAIT, expected, &timeout) == 0 || errno != ETIMEDOUT;
}

void FutexWakeOne(const std::atomic<uint32_t>& word) { Futex(word, FUTEX_WAKE, 1, nullptr); }

void FutexWakeAll(const std::atomic<uint32_t>& word) { Futex(word, FUTEX_WAKE, INT_MAX, nullptr); }

}  // namespace ashlar
