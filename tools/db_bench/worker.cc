#include "tools/db_bench/worker.h"

#include <algorithm>
#include <limits>

#include "tools/db_bench/options_from_flags.h"

namespace ashlar::bench {

Loop::Loop(const Flags& flags, uint64_t ops, int seconds, const std::atomic<bool>* failed)
    : ops_between_looks_(static_cast<uint64_t>(flags.ops_between_duration_checks)),
      timed_(seconds > 0),
      end_(Clock::now() + std::chrono::seconds(seconds)),
      failed_(failed),
      ops_left_(timed_ ? std::numeric_limits<uint64_t>::max() : ops) {}

uint64_t Loop::Look(uint64_t wanted) {
  ops_left_ += until_look_;
  until_look_ = 0;
  if (failed_->load(std::memory_order_relaxed) || (timed_ && Clock::now() >= end_)) return 0;
  const uint64_t taken = std::min(wanted, ops_left_);
  ops_left_ -= taken;
  until_look_ = std::min(ops_left_, ops_between_looks_);
  ops_left_ -= until_look_;
  return taken;
}

uint64_t ReadsOf(const Flags& flags) {
  return static_cast<uint64_t>(flags.reads < 0 ? flags.num : flags.reads);
}
uint64_t WritesOf(const Flags& flags) {
  return static_cast<uint64_t>(flags.writes < 0 ? flags.num : flags.writes);
}
uint64_t ReadsAndWritesOf(const Flags& flags) {
  return static_cast<uint64_t>(
      flags.reads < 0 && flags.writes < 0 ? flags.num : std::max(flags.reads, flags.writes));
}

Worker::Worker(const Flags& flags_in, Database* database_in, SharedRun* shared_in,
               const std::vector<std::string>* existing_keys, int id_in, uint64_t seed,
               const ThreadStats::Settings& stats_settings)
    : flags(flags_in),
      database(*database_in),
      shared(*shared_in),
      id(id_in),
      num(static_cast<uint64_t>(flags.num)),
      read_options(ReadOptionsFromFlags(flags)),
      write_options(WriteOptionsFromFlags(flags)),
      random(seed),
      keys(flags, num, existing_keys),
      picker(flags, num),
      values(flags, random.Next()),
      stats(stats_settings) {}

Loop Worker::RandomLoop(uint64_t ops) {
  stats.PlanOps(flags.duration > 0 ? 0 : ops);
  return Loop(flags, ops, flags.duration, &shared.failed);
}

Loop Worker::CountedLoop(uint64_t ops) {
  stats.PlanOps(ops);
  return Loop(flags, ops, /*seconds=*/0, &shared.failed);
}

void Worker::LimitWrites(uint64_t bytes) {
  if (shared.write_limiter == nullptr) return;
  shared.write_limiter->Request(static_cast<int64_t>(bytes), IO_HIGH);
  stats.Skip();
}

void Worker::LimitReads(uint64_t reads) {
  if (shared.read_limiter == nullptr) return;
  reads_unasked_ += reads;
  if (reads_unasked_ < kReadsPerRequest) return;
  shared.read_limiter->Request(static_cast<int64_t>(reads_unasked_), IO_HIGH);
  reads_unasked_ = 0;
  stats.Skip();
}

}  // namespace ashlar::bench
