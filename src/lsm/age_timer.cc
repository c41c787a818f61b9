#include "lsm/age_timer.h"

#include <algorithm>

#include "base/out_of_memory.h"

namespace ashlar {

namespace {

constexpr uint64_t kTickSecondsMax = 60;
constexpr uint64_t kLooksPerAge = 5;
constexpr uint64_t kNanosPerSecond = 1000000000;

// Returns 0 if nothing depends on the age of the family's tables.
uint64_t ShortestAge(const CompactionPolicy& policy) {
  const LeveledConfig& config = policy.config().common;
  if (config.disable_auto_compactions) return 0;
  const uint64_t ttl = config.ttl_seconds;
  const uint64_t periodic = config.periodic_compaction_seconds;
  return ttl == 0 || periodic == 0 ? std::max(ttl, periodic) : std::min(ttl, periodic);
}

}  // namespace

void AgeTimer::Start() {
  uint64_t period = 0;
  {
    MutexLock lock(state_->mutex());
    looked_nanos_ = state_->clock->NowNanos();
    period = PeriodSeconds();
  }
  TickAfter(period);
}

void AgeTimer::Stop() {
  MutexLock lock(ticks_->mutex);
  ticks_->stopped = true;
}

// If allocating the next tick fails, only the ends of jobs trigger these compactions from then on.
void AgeTimer::TickAfter(uint64_t seconds) {
  const uint64_t delay = seconds == 0 ? kTickSecondsMax : std::min(seconds, kTickSecondsMax);
  IgnoreBadAlloc([&] {
    static_cast<void>(state_->executor->ScheduleAfter(delay * 1000000, Executor::Priority::kLow,
                                                      [ticks = ticks_, this] {
                                                        MutexLock running(ticks->mutex);
                                                        if (!ticks->stopped) Tick();  // I1
                                                      }));
  });
}

void AgeTimer::Tick() {
  uint64_t period = 0;
  {
    MutexLock lock(state_->mutex());
    period = PeriodSeconds();
    const uint64_t now = state_->clock->NowNanos();
    if (period != 0 && now - looked_nanos_ >= period * kNanosPerSecond) {
      looked_nanos_ = now;
      Look();
    }
  }
  TickAfter(period);
}

uint64_t AgeTimer::PeriodSeconds() const {
  uint64_t shortest = 0;
  for (const std::shared_ptr<ColumnFamily>& family : state_->Families().families) {
    const uint64_t age = ShortestAge(family->policy());
    if (age != 0) shortest = shortest == 0 ? age : std::min(shortest, age);
  }
  if (shortest == 0) return 0;
  const uint64_t longest = state_->current_options.max_compaction_trigger_wakeup_seconds;
  return std::max<uint64_t>(1, std::min(longest, shortest / kLooksPerAge));
}

void AgeTimer::Look() {
  // ViewChanged does not replace the family table, so iterating over it is safe.
  for (const std::shared_ptr<ColumnFamily>& family : state_->Families().families) {
    if (ShortestAge(family->policy()) != 0) observer_->ViewChanged(family);
  }
}

}  // namespace ashlar
