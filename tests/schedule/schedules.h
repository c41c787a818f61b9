// The schedules that a test of this suite runs.
#pragma once

#include <cstdint>
#include <functional>

namespace ashlar::test {

// Runs body under `schedules` seeds: the seed is its argument. ASHLAR_SCHEDULE_EFFORT multiplies
// the number; ASHLAR_SCHEDULE_SEED is the first seed (default 1), and with ASHLAR_SCHEDULE_ONLY set
// the only one. A failure ends the test and names its seed; so do SIGABRT and SIGSEGV, which end
// the process. Before the first, PrepareSchedules is called with the body.
void ForEachSchedule(uint64_t schedules, const std::function<void(uint64_t seed)>& body);

// Makes the objects that outlive a run, so that a run does not depend on earlier ones: function
// statics, by running body without the scheduler, and the engine's slots of threads.
void PrepareSchedules(const std::function<void()>& body);

}  // namespace ashlar::test
