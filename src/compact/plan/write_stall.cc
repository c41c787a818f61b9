#include "compact/plan/write_stall.h"

#include <algorithm>

#include "base/assert.h"
#include "compact/plan/level_targets.h"

namespace ashlar {

namespace {

constexpr uint64_t kDelayedRateMin = 16 * 1024;
constexpr double kSlower = 0.8;
constexpr double kMuchSlower = 0.6;
constexpr double kRecovered = 1.4;

struct Verdict {
  StallState state = StallState::kNone;
  StallCause cause = StallCause::kNone;
};

Verdict Judge(const StallInputs& in, const LeveledConfig& config) {
  const bool compacting = !config.disable_auto_compactions;
  const uint64_t soft = config.soft_pending_compaction_bytes_limit;
  const uint64_t hard = config.hard_pending_compaction_bytes_limit;

  if (in.immutable_memtables >= config.max_write_buffer_number)
    return {StallState::kStopped, StallCause::kMemtables};
  if (compacting && in.level0_files >= config.level0_stop_writes_trigger)
    return {StallState::kStopped, StallCause::kLevel0Files};
  if (compacting && hard > 0 && in.pending_bytes >= hard)
    return {StallState::kStopped, StallCause::kPendingBytes};

  const bool one_memtable_left = config.max_write_buffer_number > 3 &&
                                 in.immutable_memtables >= config.max_write_buffer_number - 1;
  if (one_memtable_left && in.immutable_memtables - 1 >= config.min_write_buffer_number_to_merge)
    return {StallState::kDelayed, StallCause::kMemtables};
  const bool many_files = config.level0_slowdown_writes_trigger >= 0 &&
                          in.level0_files >= config.level0_slowdown_writes_trigger;
  if (compacting && many_files) return {StallState::kDelayed, StallCause::kLevel0Files};
  if (compacting && soft > 0 && in.pending_bytes >= soft)
    return {StallState::kDelayed, StallCause::kPendingBytes};
  return {};
}

bool NearStop(const StallInputs& in, StallCause cause, const LeveledConfig& config) {
  if (cause == StallCause::kLevel0Files)
    return in.level0_files >= config.level0_stop_writes_trigger - 2;
  const uint64_t soft = config.soft_pending_compaction_bytes_limit;
  const uint64_t hard = config.hard_pending_compaction_bytes_limit;
  if (cause == StallCause::kPendingBytes)
    return hard > soft && in.pending_bytes - soft > (hard - soft) / 4 * 3;
  return false;
}

uint64_t Times(uint64_t rate, double factor) { return ToBytes(static_cast<double>(rate) * factor); }

uint64_t DelayedRate(const StallInputs& in, StallCause cause, const LeveledConfig& config,
                     const WriteStall& previous) {
  const uint64_t rate_max = config.delayed_write_rate;
  if (config.disable_auto_compactions || rate_max <= kDelayedRateMin) return rate_max;
  const uint64_t last =
      previous.bytes_per_second == 0 ? rate_max : std::min(previous.bytes_per_second, rate_max);
  // Equal inputs mean that nothing was written and nothing compacted.
  if (previous.state == StallState::kNone || in == previous.inputs)
    return std::max(last, kDelayedRateMin);
  uint64_t rate = last;
  if (previous.state == StallState::kStopped || NearStop(in, cause, config)) {
    rate = Times(last, kMuchSlower);
  } else if (in.pending_bytes < previous.inputs.pending_bytes) {
    rate = Times(last, 1 / kSlower);
  } else if (previous.inputs.pending_bytes > 0) {
    // Unchanged debt counts as too fast, because this call then followed another full memtable.
    rate = Times(last, kSlower);
  }
  return std::clamp(rate, kDelayedRateMin, rate_max);
}

}  // namespace

const char* StallStateName(StallState state) {
  switch (state) {
    case StallState::kNone: return "none";
    case StallState::kDelayed: return "delayed";
    case StallState::kStopped: return "stopped";
  }
  return "unknown";
}

const char* StallCauseName(StallCause cause) {
  switch (cause) {
    case StallCause::kNone: return "none";
    case StallCause::kMemtables: return "memtables waiting for their flush";
    case StallCause::kLevel0Files: return "level-0 files";
    case StallCause::kPendingBytes: return "pending compaction bytes";
  }
  return "unknown";
}

WriteStall ComputeStall(const StallInputs& inputs, const LeveledConfig& config,
                        const WriteStall& previous) {
  const Verdict verdict = Judge(inputs, config);
  WriteStall stall{.state = verdict.state,
                   .cause = verdict.cause,
                   .bytes_per_second = previous.bytes_per_second,
                   .inputs = inputs};
  if (verdict.state == StallState::kDelayed) {
    stall.bytes_per_second = DelayedRate(inputs, verdict.cause, config, previous);
  } else if (verdict.state == StallState::kNone && previous.state == StallState::kDelayed) {
    stall.bytes_per_second =
        std::min(Times(previous.bytes_per_second, kRecovered), config.delayed_write_rate);
  }
  // A stall has a cause. A delay has a rate, unless the option is 0.
  ASHLAR_ASSERT((stall.state == StallState::kNone) == (stall.cause == StallCause::kNone));
  ASHLAR_ASSERT(stall.state != StallState::kDelayed || stall.bytes_per_second > 0 ||
                config.delayed_write_rate == 0);
  return stall;
}

bool WantsMoreCompactions(const StallInputs& inputs, const LeveledConfig& config) {
  // Wider than the options, because a bulk load sets triggers of 2^30.
  const int64_t trigger = config.level0_file_num_compaction_trigger;
  const int64_t quarter_way = trigger + (config.level0_slowdown_writes_trigger - trigger) / 4;
  const int64_t many =
      std::max(std::min(2 * trigger, quarter_way), int64_t{config.level0_files_at_rest_max} + 1);
  if (trigger >= 0 && inputs.level0_files >= many) return true;
  const uint64_t limit = config.soft_pending_compaction_bytes_limit > 0
                             ? config.soft_pending_compaction_bytes_limit
                             : config.hard_pending_compaction_bytes_limit;
  return limit > 0 && inputs.pending_bytes >= limit / 4;
}

}  // namespace ashlar
