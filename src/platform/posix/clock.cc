#include "platform/clock.h"

#include <time.h>

#include <cerrno>
#include <cstdlib>

#include "platform/file.h"

namespace ashlar {
namespace {

uint64_t ReadClock(clockid_t id, uint64_t units_per_second) {
  timespec now;
  clock_gettime(id, &now);
  return static_cast<uint64_t>(now.tv_sec) * units_per_second +
         static_cast<uint64_t>(now.tv_nsec) / (1'000'000'000 / units_per_second);
}

}  // namespace

uint64_t MonotonicNanos() { return ReadClock(CLOCK_MONOTONIC, 1'000'000'000); }

uint64_t ThreadCpuNanos() { return ReadClock(CLOCK_THREAD_CPUTIME_ID, 1'000'000'000); }

uint64_t UnixMicros() { return ReadClock(CLOCK_REALTIME, 1'000'000); }

void SleepForMicros(uint64_t micros) {
  timespec left{static_cast<time_t>(micros / 1'000'000),
                static_cast<long>(micros % 1'000'000 * 1000)};
  while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
  }
}

// Linux names each boot with a random UUID. Its first 16 hexadecimal digits are enough.
uint64_t BootId() {
  const Result<OsFile> file =
      OsFile::Open("/proc/sys/kernel/random/boot_id", {.mode = OpenMode::kRead});
  char text[37] = {};
  if (!file.ok() || !file->ReadAt(0, sizeof(text) - 1, text).ok()) return 0;
  char digits[17] = {};
  size_t count = 0;
  for (const char c : text) {
    if (c != '-' && count < sizeof(digits) - 1) digits[count++] = c;
  }
  return std::strtoull(digits, nullptr, 16);
}

}  // namespace ashlar
