// SpaceRecovery: resumes a database once there is space again, after a NoSpace error or a
// SpaceLimit error of its SstFileManager.
//
//   error latched --> look after a pause: is there room? --no--> look after a pause ...
//       ^                            \--yes--> resume (a job) --failed for space--> look ...
//       +-- also by a resume of the program that failed for space
//
// I1: only a database with an SstFileManager is resumed by itself.
// I2: no lock is held while the database is resumed. The resume is a job of BackgroundWork, so Stop
//     and Pause wait for it. It is in the lane of compactions, because it waits for flushes.
// I3: after Stop, no look accesses the database, which may be destroyed before the executor.
// I4: at most one look waits.
//
// ErrorLatched is called without the database mutex, after its caller has notified the listeners.
// Thread safety: Start once, before the database takes writes; the rest from any thread without
// locks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/assert.h"
#include "lsm/database_state.h"

namespace ashlar {

class SpaceRecovery {
 public:
  enum class Outcome : uint8_t {
    kResumed,
    kLacksSpace,  // and may be tried again
    kEnded,       // by another error, or by a listener
  };
  struct Calls {
    // Resumes the database.
    std::function<Outcome()> resume;
    // Runs a job of the database, under the database mutex; false if the database is being closed.
    std::function<bool(std::function<void()> job)> run_job;
  };

  explicit SpaceRecovery(DatabaseState* state) : state_(state) {}
  SpaceRecovery(const SpaceRecovery&) = delete;
  SpaceRecovery& operator=(const SpaceRecovery&) = delete;

  void Start(Calls calls) {
    MutexLock lock(looks_->mutex);            // jobs of a promotion may latch errors meanwhile
    ASHLAR_ASSERT(calls_.resume == nullptr);  // once
    calls_ = std::move(calls);
  }
  void ErrorLatched(const Status& error) noexcept;
  void Stop();

 private:
  // The state of looks that wait in the executor and may outlive the database there. Its mutex is
  // taken before the database mutex.
  struct Looks {
    Mutex mutex;
    bool stopped ASHLAR_GUARDED_BY(mutex) = false;
    bool waiting ASHLAR_GUARDED_BY(mutex) = false;         // I4
    uint64_t failed_resumes ASHLAR_GUARDED_BY(mutex) = 0;  // for lack of space, consecutively
  };

  // If the look cannot be allocated, the database stays read-only until the program resumes it.
  void LookLater() noexcept ASHLAR_REQUIRES(looks_->mutex);
  // Schedules the resume if there is room; otherwise looks later.
  void Look() ASHLAR_REQUIRES(looks_->mutex);
  void Resume();
  bool HasRoom() const;
  // Asserts I1.
  void CheckInvariants() const ASHLAR_REQUIRES(looks_->mutex);

  DatabaseState* const state_;
  Calls calls_;  // empty until Start
  const std::shared_ptr<Looks> looks_ = std::make_shared<Looks>();
};

// True for the errors that free space resolves.
inline bool IsLackOfSpace(const Status& error) { return error.IsNoSpace() || error.IsSpaceLimit(); }

}  // namespace ashlar
