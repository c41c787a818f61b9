// EventOutbox: collects notifications that arise where locks are held or writers wait. These are
// sealed memtables, changes of write stalls, and failed decisions about jobs.
//
//   Add... (database mutex held) --> changes_ --Notify (no lock held)--> listeners, LOG
//
// I1: one thread at a time delivers what was added, so the order is kept.
// I2: listeners and the LOG are called without locks, except for LifeCycle's role lock.
// I3: a notification that cannot allocate memory is left out. Notify throws nothing.
//
// Thread safety: Add... under the database mutex; the rest from any thread without locks.
#pragma once

#include <atomic>
#include <string_view>
#include <variant>
#include <vector>

#include "ashlar/listener.h"
#include "compact/plan/write_stall.h"
#include "lsm/database_state.h"
#include "lsm/space_recovery.h"

namespace ashlar {

class EventOutbox {
 public:
  EventOutbox(DatabaseState* state, SpaceRecovery* recovery) : state_(state), recovery_(recovery) {}
  EventOutbox(const EventOutbox&) = delete;
  EventOutbox& operator=(const EventOutbox&) = delete;

  // The active memtable of the family is about to become immutable.
  void AddSealedMemTable(const ColumnFamily& family) ASHLAR_REQUIRES(kDatabaseMutex);
  // Records that the stall of the family was in the state `before` until now.
  void AddStall(const ColumnFamily& family, StallState before) ASHLAR_REQUIRES(kDatabaseMutex);
  // A decision about jobs latched MemoryLimit.
  void AddFailedDecision() ASHLAR_REQUIRES(kDatabaseMutex);
  // Delivers everything that was added. Jobs call it at their beginning and end. Calls that decide
  // about jobs call it at their end, because there may be no later job.
  void Notify() noexcept;

  // Makes the database read-only because of this error, and notifies at once. Listeners receive the
  // reason, the LOG receives the work that failed, and then SpaceRecovery receives the error.
  void LatchError(BackgroundErrorReason reason, std::string_view during,
                  const Status& error) noexcept;
  void LatchJobError(BackgroundErrorReason reason, std::string_view job, const ColumnFamily& family,
                     const Status& error) noexcept;

 private:
  struct StallChange {
    WriteStallInfo info;
    StallCause cause = StallCause::kNone;
  };
  using Change = std::variant<MemTableInfo, StallChange>;

  // Asserts that Notify finds everything that was added.
  void CheckInvariants() const ASHLAR_REQUIRES(kDatabaseMutex);
  void NotifyOne(const Change& change);
  // `latched`: the error made the database read-only.
  void NotifyError(BackgroundErrorReason reason, std::string_view during, const Status& error,
                   bool latched) noexcept;

  DatabaseState* const state_;
  SpaceRecovery* const recovery_;
  std::vector<Change> changes_ ASHLAR_GUARDED_BY(kDatabaseMutex);
  bool decision_failed_ ASHLAR_GUARDED_BY(kDatabaseMutex) = false;
  bool notifying_ ASHLAR_GUARDED_BY(kDatabaseMutex) = false;  // I1
  // Set if something was added since the last Notify. Written under the database mutex. Relaxed,
  // because the thread that added it, or a job that it started, notifies.
  std::atomic<bool> some_{false};
};

}  // namespace ashlar
