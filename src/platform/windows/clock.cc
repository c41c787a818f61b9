#include "platform/clock.h"

#include <algorithm>
#include <limits>

#include "platform/windows/handle.h"
#include "platform/windows/windows_headers.h"

namespace ashlar {
namespace {

constexpr uint64_t kNanosPerSecond = 1'000'000'000;
constexpr uint64_t kNanosPerTick = 100;  // of a FILETIME
constexpr uint64_t kUnixEpochTicks = 116'444'736'000'000'000;
// Windows 10 1803 and later; older versions refuse the flag.
constexpr DWORD kHighResolutionTimer = 0x00000002;

uint64_t ToTicks(const FILETIME& time) {
  return static_cast<uint64_t>(time.dwHighDateTime) << 32 | time.dwLowDateTime;
}

uint64_t CounterFrequency() {
  LARGE_INTEGER frequency;
  QueryPerformanceFrequency(&frequency);
  return static_cast<uint64_t>(frequency.QuadPart);
}

// Sleep alone wakes only at the system's ticks, 15 ms apart. Wine was seen to lose a timer, so the
// wait has a time-out shortly after the due time.
void SleepOnce(uint64_t micros) {
  const auto millis = static_cast<DWORD>(micros / 1000 + 1);
  const UniqueHandle timer(CreateWaitableTimerExW(nullptr, nullptr, kHighResolutionTimer,
                                                  TIMER_MODIFY_STATE | SYNCHRONIZE));
  LARGE_INTEGER due;  // negative: from now, in ticks
  due.QuadPart = -static_cast<LONGLONG>(micros * 10);
  if (timer.valid() && SetWaitableTimer(timer.get(), &due, 0, nullptr, nullptr, FALSE)) {
    WaitForSingleObject(timer.get(), millis + 1);
  } else {
    Sleep(millis);
  }
}

}  // namespace

uint64_t MonotonicNanos() {
  static const uint64_t frequency = CounterFrequency();
  LARGE_INTEGER now;
  QueryPerformanceCounter(&now);
  const auto count = static_cast<uint64_t>(now.QuadPart);
  // Computed in two parts, because count * kNanosPerSecond would overflow after half an hour.
  return count / frequency * kNanosPerSecond + count % frequency * kNanosPerSecond / frequency;
}

uint64_t ThreadCpuNanos() {
  FILETIME created, exited, kernel, user;
  if (!GetThreadTimes(GetCurrentThread(), &created, &exited, &kernel, &user)) return 0;
  return (ToTicks(kernel) + ToTicks(user)) * kNanosPerTick;
}

uint64_t UnixMicros() {
  FILETIME now;
  GetSystemTimePreciseAsFileTime(&now);
  return (ToTicks(now) - kUnixEpochTicks) / 10;
}

void SleepForMicros(uint64_t micros) {
  constexpr uint64_t kMicrosMax = uint64_t{1} << 40;
  const uint64_t end = MonotonicNanos() + std::min(micros, kMicrosMax) * 1000;
  for (uint64_t now = MonotonicNanos(); now < end; now = MonotonicNanos()) {
    constexpr uint64_t kMicrosAtOnce = 1'000'000'000;
    SleepOnce(std::min((end - now + 999) / 1000, kMicrosAtOnce));
  }
}

uint64_t BootId() { return 0; }

}  // namespace ashlar
