// StatsDumper: writes the statistics of the families to the LOG every stats_dump_period_sec, at the
// end of a job.
//
// Thread safety: all methods from any thread, without locks.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "lsm/database_state.h"

namespace ashlar {

class StatsDumper {
 public:
  using StatsText =
      std::function<std::string(std::span<const std::shared_ptr<ColumnFamily>> families)>;
  StatsDumper(DatabaseState* state, StatsText text);
  StatsDumper(const StatsDumper&) = delete;
  StatsDumper& operator=(const StatsDumper&) = delete;

  // 0: never.
  void SetPeriod(uint64_t seconds) { period_seconds_.store(seconds, std::memory_order_relaxed); }
  // If the text cannot be allocated, it is omitted.
  void DumpIfDue() noexcept;

 private:
  // True for one thread per period.
  bool IsDue();
  void Dump();

  DatabaseState* const state_;
  const StatsText text_;
  std::atomic<uint64_t> period_seconds_{0};  // relaxed: it orders nothing
  std::atomic<uint64_t> dumped_nanos_;       // relaxed: the exchange picks one thread
};

}  // namespace ashlar
