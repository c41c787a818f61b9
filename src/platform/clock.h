// The system's clocks. Engine code asks execute/clock.h, which tests can replace.
#pragma once

#include <cstdint>

namespace ashlar {

// Nanoseconds since some fixed moment; monotonic.
uint64_t MonotonicNanos();
// Processor time that the calling thread has used; 0 where the system does not say.
uint64_t ThreadCpuNanos();
// Microseconds since 1970-01-01 UTC; may jump when the clock is set.
uint64_t UnixMicros();
void SleepForMicros(uint64_t micros);
// Identifies the boot of the machine that this process runs in; 0 where the system has no such
// number.
uint64_t BootId();

}  // namespace ashlar
