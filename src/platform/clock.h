// The system's clocks. Engine code uses execute/clock.h, which tests can replace.
#pragma once

#include <cstdint>

namespace ashlar {

// Nanoseconds since some fixed moment; monotonic.
uint64_t MonotonicNanos();
// Processor time that the calling thread has used; 0 if the system does not report it.
uint64_t ThreadCpuNanos();
// Microseconds since 1970-01-01 UTC; may jump when the clock is set.
uint64_t UnixMicros();
void SleepForMicros(uint64_t micros);
// Identifies the boot of the machine during which this process runs. Returns 0 if the system
// provides no such number.
uint64_t BootId();

}  // namespace ashlar
