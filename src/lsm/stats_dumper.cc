#include "lsm/stats_dumper.h"

#include <utility>
#include <vector>

#include "ashlar/statistics.h"
#include "base/out_of_memory.h"
#include "observe/info_log.h"

namespace ashlar {

StatsDumper::StatsDumper(DatabaseState* state, StatsText text)
    : state_(state), text_(std::move(text)), dumped_nanos_(state->clock->NowNanos()) {}

void StatsDumper::DumpIfDue() noexcept {
  if (state_->logger == nullptr || !IsDue()) return;
  IgnoreBadAlloc([this] { Dump(); });
}

bool StatsDumper::IsDue() {
  constexpr uint64_t kNanosPerSecond = 1'000'000'000;
  const uint64_t period_seconds = period_seconds_.load(std::memory_order_relaxed);
  if (period_seconds == 0) return false;
  uint64_t dumped_nanos = dumped_nanos_.load(std::memory_order_relaxed);
  const uint64_t now_nanos = state_->clock->NowNanos();
  if (now_nanos < dumped_nanos || (now_nanos - dumped_nanos) / kNanosPerSecond < period_seconds)
    return false;
  return dumped_nanos_.compare_exchange_strong(dumped_nanos, now_nanos, std::memory_order_relaxed);
}

void StatsDumper::Dump() {
  std::vector<std::shared_ptr<ColumnFamily>> families;
  {
    MutexLock lock(state_->mutex());
    families = state_->LiveFamilies();
  }
  std::string text = text_(families);
  if (state_->options.statistics != nullptr)
    text += "STATISTICS:\n" + state_->options.statistics->ToString();
  LogInfo(*state_, "------- DUMPING STATS -------");
  LogLines(state_->logger.get(), INFO_LEVEL, text);
}

}  // namespace ashlar
