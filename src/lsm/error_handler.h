// ErrorHandler: the first background or log error makes the database read-only. Every write returns
// that error until Resume clears it.
//
//   kClear --Set--> kLatched --BeginResume--> kResuming --FinishResume(ok)--> kClear
//                       ^                          |
//                       +------FinishResume(error)-+      (also when Set was called meanwhile)
//
// I1: once latched, the first error stays and later ones are ignored, except in two cases. During
//     a resume the newest error counts, or the first one that cannot be resumed from. A batch that
//     was cut off (I2), and the end of the database, replace an error that can be resumed from. A
//     resume must not allow writes again after the end of the database.
// I2: a latched corruption cannot be resumed from, because the files have to be examined. Nor can a
//     lack of memory that cut off the application of a logged batch, because a memtable has part of
//     it. Reopening replays the complete batch.
// I3: writers are refused unless kClear; jobs unless kClear, or kResuming without a failure since.
// I4: a refusal carries its error. WriteStatus and JobStatus decide and read the error under one
//     lock, so that the end of a resume cannot turn a refusal into OK.
// Thread safety: all methods. IsSet, BlocksJobs and, while clear, WriteStatus and JobStatus are one
// load.
#pragma once

#include <atomic>

#include "ashlar/listener.h"
#include "ashlar/status.h"
#include "platform/mutex.h"

namespace ashlar {

class ErrorHandler {
 public:
  // Returns the error with its severity as a background error with this reason (I2).
  static Status WithSeverity(const Status& error, BackgroundErrorReason reason);
  // Returns true if this error is the latched one afterwards.
  bool Set(const Status& error, BackgroundErrorReason reason);
  bool IsSet() const { return state_.load(std::memory_order_acquire) != State::kClear; }
  bool BlocksJobs() const { return state_.load(std::memory_order_acquire) == State::kLatched; }
  // OK if writers may continue, else the latched error.
  Status WriteStatus() const {
    return state_.load(std::memory_order_acquire) == State::kClear ? Status::OK()
                                                                   : RefusalOfWrites();
  }
  // OK if background work may continue, else the latched error or the one that occurred during the
  // resume.
  Status JobStatus() const {
    return state_.load(std::memory_order_acquire) == State::kClear ? Status::OK() : RefusalOfJobs();
  }
  // The latched error, for messages; OK when clear. To refuse an operation, use WriteStatus or
  // JobStatus.
  Status status() const;
  // The reason of the latched error; meaningless when clear.
  BackgroundErrorReason reason() const;
  // Returns OK if there is an error. The caller must then remove its cause and call FinishResume.
  // Returns NotFound if there is no error. Any other status is why no resume can begin.
  Status BeginResume();
  // Clears the latch if outcome is Ok and nothing failed meanwhile. Returns the error that is
  // latched afterwards.
  Status FinishResume(const Status& outcome);

 private:
  enum class State : uint8_t { kClear, kLatched, kResuming };

  // I2: a memtable holds a part of a batch.
  static bool IsHalfApplied(const Status& error, BackgroundErrorReason reason);
  // I2.
  static bool IsFinal(const Status& error, BackgroundErrorReason reason);
  // Asserts I1 and I3: there is an error exactly while writers are refused.
  void CheckInvariants() const ASHLAR_REQUIRES(mutex_);
  Status RefusalOfWrites() const;
  Status RefusalOfJobs() const;

  mutable Mutex mutex_;
  // Written under mutex_ (release); read by the commit leader and by jobs (acquire).
  std::atomic<State> state_{State::kClear};
  Status status_ ASHLAR_GUARDED_BY(mutex_);
  BackgroundErrorReason reason_ ASHLAR_GUARDED_BY(mutex_) = BackgroundErrorReason::kFlush;
  Status failure_while_resuming_ ASHLAR_GUARDED_BY(mutex_);
  BackgroundErrorReason reason_of_failure_ ASHLAR_GUARDED_BY(mutex_) =
      BackgroundErrorReason::kFlush;
};

}  // namespace ashlar
