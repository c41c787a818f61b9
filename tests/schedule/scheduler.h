// Scheduler: runs a test's threads one at a time, and draws from a seed which of them goes on at
// each point where another order could matter.
//
//   thread 1  ──lock──┐             ┌──atomic store──┐
//   thread 2          └──atomic load┘                └──wait──┐          one runs, the others stand
//   thread 3                                                  └──...
//
// A point is a call of a pthread function, a futex, a sleep, or, in code that was compiled with
// -fsanitize=thread, an atomic operation: interposed.cc and atomics.cc stand in for the system's
// functions. Mutexes and condition variables exist only in the scheduler's books, and time moves
// only when it lets it. So one seed is one schedule, a hang is an error within seconds, and the
// length of a sleep does not matter.
//
// Each seed also draws a strategy: to change the thread with a probability of 1/2 to 1/64 at each
// point, with or without threads that stall for up to 4,096 points; or to run the thread with the
// highest of random priorities, and to lower that at a few random points (Burckhardt et al., A
// Randomized Scheduler with Probabilistic Guarantees of Finding Bugs, 2010).
//
// I1: at most one thread of a run is not in Stand (scheduler.cc). It alone touches the scheduler's
//     data.
// I2: memory is sequentially consistent. What goes wrong only in weaker models is for
//     tests/weak_memory.
//
// Requires: every thread of a run is started in the run and has ended before its end; function
// statics that a run may initialise are initialised before it. Thread safety: one run at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace ashlar::test {

struct ScheduleResult {
  uint64_t points = 0;    // at which another thread could have gone on
  uint64_t switches = 0;  // at which one did
  uint64_t hash = 0;      // of the threads at all points: of the schedule
};

// Runs body and the threads that it starts. A deadlock, or more than kPointsMax points, prints the
// seed and what each thread waits for, and aborts.
ScheduleResult RunScheduled(uint64_t seed, const std::function<void()>& body);

}  // namespace ashlar::test
