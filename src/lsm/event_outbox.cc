#include "lsm/event_outbox.h"

#include <utility>

#include "base/assert.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "observe/event_line.h"
#include "observe/listeners.h"

namespace ashlar {

namespace {

WriteStallCondition ToCondition(StallState state) {
  switch (state) {
    case StallState::kNone: return WriteStallCondition::kNormal;
    case StallState::kDelayed: return WriteStallCondition::kDelayed;
    case StallState::kStopped: return WriteStallCondition::kStopped;
  }
  return WriteStallCondition::kNormal;
}
const char* ConditionName(WriteStallCondition condition) {
  switch (condition) {
    case WriteStallCondition::kNormal: return "normal";
    case WriteStallCondition::kDelayed: return "delayed";
    case WriteStallCondition::kStopped: return "stopped";
  }
  return "normal";
}

}  // namespace

void EventOutbox::CheckInvariants() const {
  const bool has_changes = !changes_.empty() || decision_failed_;
  ASHLAR_ASSERT(!has_changes || some_.load(std::memory_order_relaxed));  // Notify finds them
}

void EventOutbox::AddStall(const ColumnFamily& family, StallState before) {
  ASHLAR_ASSERT(family.stall.state != before);  // Requires
  StallChange change;
  change.info.cf_name = family.name();
  change.info.condition.prev = ToCondition(before);
  change.info.condition.cur = ToCondition(family.stall.state);
  change.cause = family.stall.cause;
  changes_.emplace_back(std::move(change));
  some_.store(true, std::memory_order_relaxed);
  if constexpr (kDebugChecks) CheckInvariants();
}

void EventOutbox::AddSealedMemTable(const ColumnFamily& family) {
  if (state_->options.listeners.empty()) return;
  const MemTable& table = *family.ActiveLocked();
  MemTableInfo info;
  info.cf_name = family.name();
  info.first_seqno = table.first_sequence();
  info.earliest_seqno = table.first_sequence();
  info.num_entries = table.entries();
  info.num_deletes = table.deletions();
  changes_.emplace_back(std::move(info));
  some_.store(true, std::memory_order_relaxed);
  if constexpr (kDebugChecks) CheckInvariants();
}

void EventOutbox::AddFailedDecision() {
  decision_failed_ = true;
  some_.store(true, std::memory_order_relaxed);
  if constexpr (kDebugChecks) CheckInvariants();
}

void EventOutbox::NotifyOne(const Change& change) {
  if (const auto* const sealed = std::get_if<MemTableInfo>(&change)) {
    NotifyAll(state_->options.listeners, &EventListener::OnMemTableSealed, *sealed);
    return;
  }
  const auto& stall = std::get<StallChange>(change);
  EventLine(state_->logger.get(), state_->clock->NowUnixMicros(), 0, "stall_conditions_changed")
      .Add("cf_name", stall.info.cf_name)
      .Add("previous", ConditionName(stall.info.condition.prev))
      .Add("current", ConditionName(stall.info.condition.cur))
      .Add("cause", StallCauseName(stall.cause));
  NotifyAll(state_->options.listeners, &EventListener::OnStallConditionsChanged, stall.info);
}

void EventOutbox::Notify() noexcept {
  if (!some_.load(std::memory_order_relaxed)) return;
  for (bool first = true;; first = false) {
    std::vector<Change> changes;
    bool decision_failed = false;
    {
      MutexLock lock(state_->mutex());
      if (first && notifying_) return;
      some_.store(false, std::memory_order_relaxed);
      changes = std::exchange(changes_, {});
      decision_failed = std::exchange(decision_failed_, false);
      ASHLAR_ASSERT(notifying_ != first);  // I1
      notifying_ = !changes.empty() || decision_failed;
    }
    if (decision_failed)
      NotifyError(BackgroundErrorReason::kFlush, "a choice of background work",
                  Status::MemoryLimit(), /*latched=*/true);
    if (changes.empty() && !decision_failed) return;
    for (const Change& change : changes) IgnoreBadAlloc([&] { NotifyOne(change); });
  }
}

void EventOutbox::LatchError(BackgroundErrorReason reason, std::string_view during,
                             const Status& error) noexcept {
  const bool latched = state_->error_handler.Set(error, reason);
  NotifyError(reason, during, error, latched);
  {
    MutexLock lock(state_->mutex());
    state_->NotifyChange();
  }
  if (latched) recovery_->ErrorLatched(error);
}

void EventOutbox::LatchJobError(BackgroundErrorReason reason, std::string_view job,
                                const ColumnFamily& family, const Status& error) noexcept {
  std::string during;
  IgnoreBadAlloc(
      [&] { during = StrCat(job, " of column family ", NameForDisplay(family.name())); });
  LatchError(reason, during.empty() ? job : during, error);
}

void EventOutbox::NotifyError(BackgroundErrorReason reason, std::string_view during,
                              const Status& error, bool latched) noexcept {
  IgnoreBadAlloc([&] {
    state_->recorder.Tick(ERROR_HANDLER_BG_ERROR_COUNT);
    if (error.IsIOError()) state_->recorder.Tick(ERROR_HANDLER_BG_IO_ERROR_COUNT);
    Status told = ErrorHandler::WithSeverity(error, reason);
    NotifyAll(state_->options.listeners, &EventListener::OnBackgroundError, reason, &told);
  });
  if (!latched) return;
  IgnoreBadAlloc([&] {
    LogWarning(*state_, StrCat("the database is read-only after an error during ", during, ": ",
                               error.ToString()));
  });
}

}  // namespace ashlar
