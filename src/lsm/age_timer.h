// AgeTimer: triggers age-based compactions (ttl, periodic_compaction_seconds) in a database where
// no job ends that would trigger them.
//
//   Start ─> tick ─ is a look due? ─> ViewChanged of each family that has an age ─> tick ─> ...
//
// A look is due after a fifth of the shortest age or max_compaction_trigger_wakeup_seconds,
// whichever is less. Ticks run at least that often, and at least once a minute. A job that waits in
// the executor cannot be withdrawn, so the limit of a minute ensures that a closed database leaves
// a tick there for a minute at most.
//
// I1: after Stop no tick accesses the database, which may be destroyed before the executor is.
//
// Rejected: a sleeping thread. A program with many databases would have one thread for each.
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
  // State shared with the tick that waits in the executor, which may outlive the database there.
  // `mutex` is acquired before the database mutex.
  struct Ticks {
    Mutex mutex;
    bool stopped ASHLAR_GUARDED_BY(mutex) = false;
  };

  void Tick();
  void TickAfter(uint64_t seconds);
  // The time between two looks, or 0 if no family has an age.
  uint64_t PeriodSeconds() const ASHLAR_REQUIRES(kDatabaseMutex);
  void Look() ASHLAR_REQUIRES(kDatabaseMutex);

  DatabaseState* const state_;
  ViewObserver* const observer_;
  const std::shared_ptr<Ticks> ticks_ = std::make_shared<Ticks>();
  uint64_t looked_nanos_ ASHLAR_GUARDED_BY(kDatabaseMutex) = 0;  // time of the last look
};

}  // namespace ashlar
