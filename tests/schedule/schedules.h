// The schedules that a test of this suite runs.
#pragma once

#include <cstdint>
#include <functional>

namespace ashlar::test {

// Runs body under `schedules` seeds, with the seed as its argument. ASHLAR_SCHEDULE_EFFORT
// multiplies the number. ASHLAR_SCHEDULE_SEED is the first seed (default 1), or the only one with
// ASHLAR_SCHEDULE_ONLY. A failure ends the test, SIGABRT and SIGSEGV end the process, and each of
// them names the seed. PrepareSchedules is called with the body before the first schedule.
void ForEachSchedule(uint64_t schedules, const std::function<void(uint64_t seed)>& body);

// Creates the objects that outlive a run, so that a run does not depend on earlier ones: function
// statics, by a call of body without the scheduler, and the engine's thread slots.
void PrepareSchedules(const std::function<void()>& body);

}  // namespace ashlar::test
