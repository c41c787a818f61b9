// StartingGate: where the threads of a run wait for the last of them.
//
// Thread safety: any thread.
#pragma once

#include <cstddef>

#include "platform/mutex.h"

namespace ashlar::bench {

class StartingGate {
 public:
  explicit StartingGate(size_t threads) : missing_(threads) {}

  // Called once by each thread. Returns when all have called it.
  void Pass() {
    MutexLock lock(mutex_);
    if (--missing_ == 0) opened_.SignalAll();
    while (missing_ > 0) opened_.Wait(mutex_);
  }

 private:
  Mutex mutex_;
  CondVar opened_;
  size_t missing_ ASHLAR_GUARDED_BY(mutex_);
};

}  // namespace ashlar::bench
