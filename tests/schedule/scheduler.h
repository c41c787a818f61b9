// Scheduler: runs a test's threads one at a time. At each point where another order could matter,
// it draws from a seed the thread that continues.
//
//   thread 1  ──lock──┐             ┌──atomic store──┐
//   thread 2          └──atomic load┘                └──wait──┐          one runs, the others wait
//   thread 3                                                  └──...
//
// A point is a call of a pthread function, a futex, a sleep, or an atomic operation in code that
// was compiled with -fsanitize=thread. interposed.cc and atomics.cc replace the system's functions.
// Mutexes and condition variables exist only in the scheduler's state, and only the scheduler
// advances time. So one seed is one schedule, a hang is reported within seconds, and the length of
// a sleep does not matter.
//
// Each seed also draws a strategy. Either the thread changes with a probability of 1/2 to 1/64 at
// each point, with or without threads that stall for up to 4,096 points, or the thread with the
// highest random priority runs, and that is lowered at a few random points (Burckhardt et al., A
// Randomized Scheduler with Probabilistic Guarantees of Finding Bugs, 2010).
//
// I1: at most one thread of a run is not in Stand (scheduler.cc). Only that thread accesses the
//     scheduler's data.
// I2: memory is sequentially consistent. tests/weak_memory covers errors that occur only in weaker
//     models.
//
// Requires: every thread of a run is started in the run and has ended before its end. Function
// statics that a run may initialise are initialised before it. Thread safety: one run at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace ashlar::test {

struct ScheduleResult {
  uint64_t points = 0;    // at which another thread could have run
  uint64_t switches = 0;  // at which another thread did run
  uint64_t hash = 0;      // of the running threads at all points
};

// Runs body and the threads that it starts. A deadlock, or more than kPointsMax points, prints the
// seed and the reason for which each thread waits, and aborts.
ScheduleResult RunScheduled(uint64_t seed, const std::function<void()>& body);

}  // namespace ashlar::test
