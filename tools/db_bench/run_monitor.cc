#include "tools/db_bench/run_monitor.h"

#include <fmt/format.h>

#include <optional>
#include <string>

namespace ashlar::bench {
namespace {

constexpr uint64_t kLookMicros = 100'000;

}  // namespace

RunMonitor::RunMonitor(const Flags& flags, std::string_view workload,
                       const std::vector<std::unique_ptr<Worker>>& workers, FILE* interval_file,
                       std::chrono::steady_clock::time_point start)
    : flags_(flags),
      workers_(workers),
      interval_file_(interval_file),
      start_(start),
      line_(std::string(workload)) {}

void RunMonitor::Ended() {
  MutexLock lock(mutex_);
  ++ended_;
  one_ended_.Signal();
}

void RunMonitor::WatchUntilAllEnded() {
  MutexLock lock(mutex_);
  while (ended_ < workers_.size()) {
    if (one_ended_.TimedWait(mutex_, kLookMicros)) continue;
    lock.Unlock();
    if (flags_.progress_reports) Show();
    WriteInterval();
    lock.Lock();
  }
}

uint64_t RunMonitor::OpsDone() const {
  uint64_t ops = 0;
  for (const auto& worker : workers_) ops += worker->stats.published_ops();
  return ops;
}

void RunMonitor::Show() {
  if (!line_.Due()) return;
  const uint64_t done = OpsDone();
  uint64_t planned = 0;
  for (const auto& worker : workers_) planned += worker->stats.planned_ops();
  const double seconds = line_.Seconds();
  std::optional<double> part;
  if (planned > 0) {
    part = static_cast<double>(done) / static_cast<double>(planned);
  } else if (flags_.duration > 0) {
    part = seconds / flags_.duration;
  }
  line_.Show(part, fmt::format("{} ops  {:.1f} k ops/s", done,
                               static_cast<double>(done) / seconds / 1000));
}

void RunMonitor::WriteInterval() {
  const Clock::time_point now = Clock::now();
  if (interval_file_ == nullptr ||
      now - interval_begin_ < std::chrono::seconds(flags_.report_interval_seconds))
    return;
  const uint64_t ops = OpsDone();
  const double seconds = std::chrono::duration<double>(now - interval_begin_).count();
  fmt::print(interval_file_, "{:.0f},{:.0f}\n", std::chrono::duration<double>(now - start_).count(),
             static_cast<double>(ops - interval_ops_) / seconds);
  (void)fflush(interval_file_);
  interval_begin_ = now;
  interval_ops_ = ops;
}

}  // namespace ashlar::bench
