// AgeTimer: triggers the compactions by age (ttl, periodic_compaction_seconds) in a database in
// which no job ends that would trigger them.
//
//   Start ─> tick ─ is a look due? ─> ViewChanged of each family that has an age ─> tick ─> ...
//
// A look is due once a fifth of the shortest age has passed, or the time that
// max_compaction_trigger_wakeup_seconds sets, whichever is less. Ticks come at least that often,
// and once a minute: a job that waits in the executor cannot be called back, so a closed database
// leaves one there for a minute at most.
//
// I1: after Stop no tick touches the database, which may end before the executor does.
//
// A thread that sleeps was rejected: a program with many databases would have one for each.
// Thread safety: Start and Stop once each, without locks.
#pragma once

#include <cstdint>
#include <memory>

#include "lsm/database_state.h"
#include "lsm/view_observer.h"

namespace ashlar {

class AgeTimer {
 public:
  AgeTimer(DatabaseState* state, ViewObserver* observer) : state_(state), observer_(observer) {}
  AgeTimer(const AgeTimer&) = delete;
  AgeTimer& operator=(const AgeTimer&) = delete;

  void Start();
  void Stop();

 private:
  // Ticks that wait in the executor, and may outlive the database there. Its mutex is taken before
  // the database mutex.
  struct Ticks {
    Mutex mutex;
    bool stopped ASHLAR_GUARDED_BY(mutex) = false;
  };

  void Tick();
  void TickAfter(uint64_t seconds);
  // Between two looks. 0: no family has an age.
  uint64_t PeriodSeconds() const ASHLAR_REQUIRES(kDatabaseMutex);
  void Look() ASHLAR_REQUIRES(kDatabaseMutex);

  DatabaseState* const state_;
  ViewObserver* const observer_;
  const std::shared_ptr<Ticks> ticks_ = std::make_shared<Ticks>();
  uint64_t looked_nanos_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;  // when it looked last
};

}  // namespace ashlar
