// The schedules that a test of this suite runs.
#pragma once

#include <cstdint>
#include <functional>

namespace ashlar::test {

// Runs body under `schedules` seeds: the seed is its argument. ASHLAR_SCHEDULE_EFFORT multiplies the
// number; ASHLAR_SCHEDULE_SEED is the first seed (default 1), and with ASHLAR_SCHEDULE_ONLY set the
// only one. A failure ends the test and names its seed. Before the first, body runs once without
// the scheduler, for function statics.
void ForEachSchedule(uint64_t schedules, const std::function<void(uint64_t seed)>& body);

}  // namespace ashlar::test
