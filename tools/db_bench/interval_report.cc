#include "tools/db_bench/interval_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include "tools/db_bench/machine.h"

namespace ashlar::bench {

void IntervalReport::Write(const ThreadStats& stats) {
  const ThreadStats::Clock::time_point now = ThreadStats::Clock::now();
  const auto seconds = [](ThreadStats::Clock::duration d) {
    return std::chrono::duration<double>(d).count();
  };
  const double since_last = seconds(now - std::max(last_, stats.begin()));
  if (since_last < static_cast<double>(flags_.stats_interval_seconds)) return;

  const double since_begin = seconds(now - stats.begin());
  const uint64_t ops = stats.done() - last_done_;
  std::string text = fmt::format(
      "{} ... thread {}: ({},{}) ops and ({:.1f},{:.1f}) ops/second in ({:.6f},{:.6f}) seconds\n",
      TimeNow(), thread_id_, ops, stats.done(), static_cast<double>(ops) / since_last,
      static_cast<double>(stats.done()) / since_begin, since_last, since_begin);
  if (thread_id_ == 0 && flags_.stats_per_interval > 0) {
    std::string property;
    if (database_.db().GetProperty(DB::Properties::kStats, &property)) text += property;
  }
  (void)fputs(text.c_str(), stderr);
  last_ = now;
  last_done_ = stats.done();
}

uint64_t OpsBetweenIntervalReports(const Flags& flags) {
  if (flags.stats_interval > 0) return static_cast<uint64_t>(flags.stats_interval);
  return flags.stats_interval_seconds > 0 ? 1000 : 0;
}

}  // namespace ashlar::bench
