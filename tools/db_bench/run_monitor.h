// RunMonitor: shows the progress line of a run while its threads work, and writes the operations
// per second of --report_interval_seconds.
//
// It reads the counters that threads publish, ten times a second, and costs the threads nothing
// else. Thread safety: Ended by any thread, the rest by one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string_view>
#include <vector>

#include "platform/mutex.h"
#include "tools/common/progress_line.h"
#include "tools/db_bench/flags.h"
#include "tools/db_bench/worker.h"

namespace ashlar::bench {

class RunMonitor {
 public:
  // interval_file receives the operations per second, unless it is null. Its seconds count from
  // `start`.
  RunMonitor(const Flags& flags, std::string_view workload,
             const std::vector<std::unique_ptr<Worker>>& workers, FILE* interval_file,
             std::chrono::steady_clock::time_point start);

  // Called when a worker has ended.
  void Ended();
  // Returns when all workers have ended.
  void WatchUntilAllEnded();

 private:
  using Clock = std::chrono::steady_clock;

  uint64_t OpsDone() const;
  void Show();
  void WriteInterval();

  const Flags& flags_;
  const std::vector<std::unique_ptr<Worker>>& workers_;
  FILE* const interval_file_;
  const Clock::time_point start_;
  Mutex mutex_;
  CondVar one_ended_;
  size_t ended_ ASHLAR_GUARDED_BY(mutex_) = 0;
  cli::ProgressLine line_;
  Clock::time_point interval_begin_ = Clock::now();
  uint64_t interval_ops_ = 0;
};

}  // namespace ashlar::bench
