#include "lsm/space_recovery.h"

#include <algorithm>
#include <utility>

#include "base/out_of_memory.h"

namespace ashlar {

namespace {
constexpr uint64_t kPauseMicros = 5000000;
}  // namespace

void SpaceRecovery::ErrorLatched(const Status& error) noexcept {
  if (!state_->space.IsManaged() || !IsLackOfSpace(error)) return;  // I1
  MutexLock lock(looks_->mutex);
  if (calls_.resume != nullptr) LookLater();
}

void SpaceRecovery::Stop() {
  MutexLock lock(looks_->mutex);
  looks_->stopped = true;
}

void SpaceRecovery::LookLater() noexcept {
  if (looks_->stopped || looks_->waiting) return;  // I4
  IgnoreBadAlloc([this] {
    looks_->mutex.AssertHeld();
    const auto look = [looks = looks_, this] {
      MutexLock looking(looks->mutex);
      looks->waiting = false;
      if (looks->stopped) return;  // I3
      looks_->mutex.AssertHeld();
      Look();
    };
    looks_->waiting = state_->executor->ScheduleAfter(kPauseMicros, Executor::Priority::kLow, look);
    if constexpr (kDebugChecks) CheckInvariants();
  });
}

void SpaceRecovery::CheckInvariants() const {
  const bool is_in_use = looks_->waiting || looks_->failed_resumes > 0;
  ASHLAR_ASSERT(!is_in_use || calls_.resume != nullptr);   // Start comes first
  ASHLAR_ASSERT(!is_in_use || state_->space.IsManaged());  // I1
}

void SpaceRecovery::Look() {
  ASHLAR_ASSERT(!looks_->stopped && !looks_->waiting);  // I3, I4
  if (!state_->error_handler.IsSet()) return;           // the program has resumed it
  if (!HasRoom()) return LookLater();
  const Status handed_over = CatchBadAlloc([this] {
    MutexLock lock(state_->mutex());
    // False: the database is being closed.
    static_cast<void>(calls_.run_job([this] { Resume(); }));
    return Status::OK();
  });
  if (!handed_over.ok()) LookLater();
}

void SpaceRecovery::Resume() {
  const Outcome outcome = calls_.resume();
  uint64_t failed_before = 0;
  {
    MutexLock lock(looks_->mutex);
    failed_before = std::exchange(looks_->failed_resumes,
                                  outcome == Outcome::kLacksSpace ? looks_->failed_resumes + 1 : 0);
    if (outcome == Outcome::kLacksSpace) LookLater();
    if constexpr (kDebugChecks) CheckInvariants();
  }
  const Recorder& recorder = state_->recorder;
  if (failed_before == 0) recorder.Tick(ERROR_HANDLER_AUTORESUME_COUNT);
  recorder.Tick(ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT);
  if (outcome != Outcome::kResumed) return;
  recorder.Tick(ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT);
  recorder.Record(ERROR_HANDLER_AUTORESUME_RETRY_COUNT, failed_before);
}

bool SpaceRecovery::HasRoom() const {
  if (state_->space.IsLimitReached()) return false;
  if (!state_->error_handler.status().IsNoSpace()) return true;
  uint64_t free_bytes = 0;
  // If the free space is not known, the resume finds out.
  if (!state_->file_system->GetFreeSpace(state_->directory, &free_bytes).ok()) return true;
  // The resume flushes what the memtables have, and the writes after it need some room, too. A
  // buffer for every family is not required, because a thousand of them may exceed the disk.
  uint64_t memtable_bytes = 0;
  uint64_t buffer_bytes_max = 0;
  MutexLock lock(state_->mutex());
  for (const std::shared_ptr<ColumnFamily>& family : state_->Families().families) {
    memtable_bytes += family->MemTableBytes();
    buffer_bytes_max = std::max<uint64_t>(buffer_bytes_max, family->options().write_buffer_size);
  }
  return free_bytes >= std::max(memtable_bytes, buffer_bytes_max);
}

}  // namespace ashlar
