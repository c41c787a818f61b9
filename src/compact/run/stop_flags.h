// StopFlags: requests that a running job ends early.
//
// Thread safety: any thread sets a flag; the job loads the flags at intervals of some entries. The
// flags publish nothing else, so relaxed loads suffice.
#pragma once

#include <atomic>

#include "ashlar/status.h"

namespace ashlar {

struct StopFlags {
  // The error of a job that ends because no job may run.
  static constexpr char kStopped[] = "background work is paused, canceled, or being closed";

  const std::atomic<bool>* shutting_down = nullptr;   // null: never, here and below
  const std::atomic<bool>* aborted = nullptr;         // all compactions were aborted
  const std::atomic<bool>* canceled = nullptr;        // the user canceled a manual compaction
  const std::atomic<bool>* disabled = nullptr;        // manual compactions were disabled
  const std::atomic<bool>* sibling_failed = nullptr;  // another part of the same job has failed

  static Status CompactionAborted() {
    return Status::Error(Status::kIncomplete, Status::kCompactionAborted,
                         "compactions are aborted");
  }

  // Returns OK if the job continues.
  Status Check() const {
    if (IsSet(shutting_down)) return Status::ShutdownInProgress(kStopped);
    if (IsSet(aborted)) return CompactionAborted();
    if (IsSet(canceled))
      return Status::Error(Status::kIncomplete, Status::kManualCompactionPaused,
                           "the compaction was canceled");
    if (IsSet(disabled))
      return Status::Error(Status::kIncomplete, Status::kManualCompactionPaused,
                           "manual compactions are disabled");
    if (IsSet(sibling_failed)) return Status::Aborted("another part of the compaction failed");
    return Status::OK();
  }

 private:
  static bool IsSet(const std::atomic<bool>* flag) {
    return flag != nullptr && flag->load(std::memory_order_relaxed);
  }
};

}  // namespace ashlar
