// IntervalReport: writes the lines of --stats_interval for one thread to standard error.
//
// Thread safety: one thread, the one that is reported on.
#pragma once

#include <cstdint>

#include "tools/db_bench/database.h"
#include "tools/db_bench/flags.h"
#include "tools/db_bench/thread_stats.h"

namespace ashlar::bench {

class IntervalReport {
 public:
  IntervalReport(const Flags& flags, const Database& database, int thread_id)
      : flags_(flags), database_(database), thread_id_(thread_id) {}

  // Writes a line unless stats_interval_seconds have not passed since the last one.
  void Write(const ThreadStats& stats);

 private:
  const Flags& flags_;
  const Database& database_;
  const int thread_id_;
  uint64_t last_done_ = 0;
  ThreadStats::Clock::time_point last_;  // the clock's epoch if there was none yet
};

// The operations between two calls of IntervalReport::Write, by the flags. 0 means never.
uint64_t OpsBetweenIntervalReports(const Flags& flags);

}  // namespace ashlar::bench
