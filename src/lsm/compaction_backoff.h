// CompactionBackoff: pauses a family's automatic compactions after one failed for a transient
// reason, which is a lack of space, memory or file descriptors.
//
//   failure --Pause--> family->compaction_paused --timer--> ViewChanged, or Pause for twice as long
//
// I1: an error of a compaction is latched unless it is transient and the MANIFEST does not have the
//     edit. No acknowledged write depends on a compaction.
// I2: after Stop no timer accesses the database, which may be destroyed before the executor is.
// I3: a paused family has the error of its last failure, and its pauses stop doubling at a maximum.
//
// Thread safety: methods marked REQUIRES under the database mutex, the others without locks.
#pragma once

#include <cstdint>
#include <memory>

#include "lsm/event_outbox.h"
#include "lsm/view_observer.h"

namespace ashlar {

class CompactionBackoff {
 public:
  CompactionBackoff(DatabaseState* state, EventOutbox* outbox, ViewObserver* observer)
      : state_(state), outbox_(outbox), observer_(observer) {}
  CompactionBackoff(const CompactionBackoff&) = delete;
  CompactionBackoff& operator=(const CompactionBackoff&) = delete;

  // Implements I1. `may_be_recorded`: the MANIFEST may have the edit.
  void HandleFailure(const std::shared_ptr<ColumnFamily>& family, const Status& error,
                     bool may_be_recorded);
  // Compactions of the family are not picked until the retry. Returns the seconds until then.
  uint64_t Pause(const std::shared_ptr<ColumnFamily>& family, const Status& error) noexcept
      ASHLAR_REQUIRES(kDatabaseMutex);
  void Stop();
  // Asserts that a family's pause has a reason and a length.
  static void CheckInvariants(const ColumnFamily& family) ASHLAR_REQUIRES(kDatabaseMutex);

 private:
  // State shared with jobs that wait in the executor for their time, and may outlive the database
  // there. `mutex` is acquired before the database mutex.
  struct Timers {
    Mutex mutex;
    bool stopped ASHLAR_GUARDED_BY(mutex) = false;
  };

  // Lets compactions be picked again after `seconds`. Returns false if the executor shuts down.
  bool RetryAfter(uint64_t seconds, const std::shared_ptr<ColumnFamily>& family);

  DatabaseState* const state_;
  EventOutbox* const outbox_;
  ViewObserver* const observer_;
  const std::shared_ptr<Timers> timers_ = std::make_shared<Timers>();
};

}  // namespace ashlar
