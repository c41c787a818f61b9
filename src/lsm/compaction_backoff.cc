#include "lsm/compaction_backoff.h"

#include <algorithm>

#include "base/assert.h"
#include "base/format.h"
#include "base/out_of_memory.h"

namespace ashlar {

namespace {
// How often the pause doubles. It is 1 s at first and 32 s at most.
constexpr uint32_t kPauseDoublings = 5;
}  // namespace

void CompactionBackoff::HandleFailure(const std::shared_ptr<ColumnFamily>& family,
                                      const Status& error, bool may_be_recorded) {
  ASHLAR_ASSERT(!error.ok());  // the callers checked
  const bool passes = error.IsNoSpace() || error.IsCompactionTooLarge() || error.IsMemoryLimit() ||
                      error.subcode() == Status::kOpenFilesLimit;
  if (may_be_recorded || !passes)
    return outbox_->LatchJobError(BackgroundErrorReason::kCompaction, "a compaction", *family,
                                  error);
  uint64_t pause_seconds = 0;
  {
    MutexLock lock(state_->mutex());
    pause_seconds = Pause(family, error);
  }
  IgnoreBadAlloc([&] {
    LogWarning(*state_, StrCat("a compaction of column family ", NameForDisplay(family->name()),
                               " failed, nothing is lost, and it is tried again in ", pause_seconds,
                               " s: ", error.ToString()));
  });
}

uint64_t CompactionBackoff::Pause(const std::shared_ptr<ColumnFamily>& family,
                                  const Status& error) noexcept {
  ASHLAR_ASSERT(!error.ok());  // I3
  family->compaction_failure = error;
  const uint64_t seconds = uint64_t{1} << std::min(family->compaction_failures, kPauseDoublings);
  if (family->compaction_failures < kPauseDoublings) ++family->compaction_failures;
  // If allocating the timer fails, the next change of the family's view is the retry.
  if (!family->compaction_paused) {
    IgnoreBadAlloc([&] {
      kDatabaseMutex.AssertHeld();
      family->compaction_paused = RetryAfter(seconds, family);
    });
  }
  if constexpr (kDebugChecks) CheckInvariants(*family);
  state_->NotifyChange();
  return seconds;
}

void CompactionBackoff::CheckInvariants(const ColumnFamily& family) {
  ASHLAR_ASSERT(family.compaction_failures <= kPauseDoublings);                       // I3
  ASHLAR_ASSERT(!family.compaction_paused || !family.compaction_failure.ok());        // I3
  ASHLAR_ASSERT(family.compaction_failures == 0 || !family.compaction_failure.ok());  // I3
}

bool CompactionBackoff::RetryAfter(uint64_t seconds, const std::shared_ptr<ColumnFamily>& family) {
  // A family must not outlive the database, so the job has only a weak reference.
  const auto retry = [timers = timers_, this, waiting = std::weak_ptr<ColumnFamily>(family)] {
    MutexLock running(timers->mutex);
    if (timers->stopped) return;  // I2
    const std::shared_ptr<ColumnFamily> found = waiting.lock();
    if (found == nullptr) return;
    MutexLock lock(state_->mutex());
    found->compaction_paused = false;
    observer_->ViewChanged(found);
  };
  return state_->executor->ScheduleAfter(seconds * 1000000, Executor::Priority::kLow, retry);
}

void CompactionBackoff::Stop() {
  MutexLock lock(timers_->mutex);
  timers_->stopped = true;
}

}  // namespace ashlar
