// StopFlags: how a running job learns that it shall end early.
//
// Thread safety: set by any thread, looked at by the job every so many entries; nothing else is
// published through the flags, so relaxed loads do.
#pragma once

#include <atomic>

#include "ashlar/status.h"

namespace ashlar {

struct StopFlags {
  const std::atomic<bool>* shutting_down = nullptr;   // null: never, here and below
  const std::atomic<bool>* canceled = nullptr;        // the user took a manual compaction back
  const std::atomic<bool>* sibling_failed = nullptr;  // another part of the same job has failed

  // Ok: go on.
  Status Check() const {
    if (IsSet(shutting_down)) return Status::ShutdownInProgress("the database is being closed");
    if (IsSet(canceled))
      return Status::Error(Status::kIncomplete, Status::kManualCompactionPaused,
                           "the compaction was canceled");
    if (IsSet(sibling_failed)) return Status::Aborted("another part of the compaction failed");
    return Status::OK();
  }

 private:
  static bool IsSet(const std::atomic<bool>* flag) {
    return flag != nullptr && flag->load(std::memory_order_relaxed);
  }
};

}  // namespace ashlar
