#include "lsm/error_handler.h"

#include <utility>

#include "base/assert.h"

namespace ashlar {

void ErrorHandler::CheckInvariants() const {
  const State state = state_.load(std::memory_order_relaxed);
  ASHLAR_ASSERT((state == State::kClear) == status_.ok());                   // I1, I3
  ASHLAR_ASSERT(state == State::kResuming || failure_while_resuming_.ok());  // I1
}

bool ErrorHandler::IsHalfApplied(const Status& error, BackgroundErrorReason reason) {
  return error.IsMemoryLimit() && reason == BackgroundErrorReason::kMemTable;
}

bool ErrorHandler::IsFinal(const Status& error, BackgroundErrorReason reason) {
  return error.IsCorruption() || error.IsShutdownInProgress() || IsHalfApplied(error, reason);
}

Status ErrorHandler::WithSeverity(const Status& error, BackgroundErrorReason reason) {
  const auto severity = [&] {
    if (error.ok() || error.IsShutdownInProgress()) return Status::kNoError;
    if (error.IsCorruption()) return Status::kUnrecoverableError;
    return IsFinal(error, reason) ? Status::kFatalError : Status::kHardError;
  };
  return Status(error, severity());
}

bool ErrorHandler::Set(const Status& error, BackgroundErrorReason reason) {
  ASHLAR_ASSERT(!error.ok());  // I4: a refusal carries its error
  MutexLock lock(mutex_);
  const State state = state_.load(std::memory_order_relaxed);
  if (state == State::kResuming && !IsFinal(failure_while_resuming_, reason_of_failure_)) {
    failure_while_resuming_ = WithSeverity(error, reason);
    reason_of_failure_ = reason;
  }
  // The group of a batch that was cut off was already under way when the first error was latched.
  const bool replaces_first = state == State::kLatched && !IsFinal(status_, reason_) &&
                              (error.IsShutdownInProgress() || IsHalfApplied(error, reason));
  if (state != State::kClear && !replaces_first) return false;
  status_ = WithSeverity(error, reason);
  reason_ = reason;
  state_.store(State::kLatched, std::memory_order_release);
  if constexpr (kDebugChecks) CheckInvariants();
  return true;
}

Status ErrorHandler::status() const {
  MutexLock lock(mutex_);
  return status_;
}

BackgroundErrorReason ErrorHandler::reason() const {
  MutexLock lock(mutex_);
  return reason_;
}

Status ErrorHandler::BeginResume() {
  MutexLock lock(mutex_);
  const State state = state_.load(std::memory_order_relaxed);
  if (state == State::kClear) return Status::NotFound("there is no error to resume from");
  if (state == State::kResuming) return Status::Busy("another thread is resuming the database");
  if (IsFinal(status_, reason_)) return status_;
  failure_while_resuming_ = Status::OK();
  state_.store(State::kResuming, std::memory_order_release);
  return Status::OK();
}

Status ErrorHandler::RefusalOfWrites() const {
  MutexLock lock(mutex_);
  return state_.load(std::memory_order_relaxed) == State::kClear ? Status::OK() : status_;
}

Status ErrorHandler::RefusalOfJobs() const {
  MutexLock lock(mutex_);
  switch (state_.load(std::memory_order_relaxed)) {
    case State::kClear: return Status::OK();
    case State::kLatched: return status_;
    case State::kResuming: return failure_while_resuming_;
  }
  return status_;
}

Status ErrorHandler::FinishResume(const Status& outcome) {
  MutexLock lock(mutex_);
  ASHLAR_ASSERT(state_.load(std::memory_order_relaxed) == State::kResuming);  // BeginResume
  const Status failure = std::exchange(failure_while_resuming_, Status::OK());
  if (!failure.ok()) reason_ = reason_of_failure_;
  status_ = failure.ok() ? WithSeverity(outcome, reason_) : failure;
  const bool is_clear = status_.ok();
  state_.store(is_clear ? State::kClear : State::kLatched, std::memory_order_release);
  if constexpr (kDebugChecks) CheckInvariants();
  return status_;
}

}  // namespace ashlar
