// ManualEnv: an environment that a test controls. Its clock advances only during sleeps. Its
// background jobs run only while a call waits for them or when the test runs them, in an order
// drawn from a seed. With one writing thread, the seed determines the history.
//
// Thread safety: that of its parts. Lifetime: must outlive every database that uses it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "ashlar/env.h"
#include "ashlar/vfs.h"
#include "base/assert.h"
#include "execute/clock.h"
#include "execute/manual_executor.h"
#include "tests/support/world_env.h"

namespace ashlar {

class ManualEnv final : public WorldEnv {
 public:
  ManualEnv(const std::shared_ptr<vfs::FileSystem>& file_system, uint64_t seed)
      : WorldEnv(file_system), executor_(seed), clock_(kStartUnixMicros) {}

  // Runs one background job; RunOneFlush runs the oldest flush. Returns false if there is none.
  bool RunOneJob() { return executor_.RunOne(); }
  ManualExecutor* manual_executor() { return &executor_; }
  bool RunOneFlush() { return executor_.RunOldest(Executor::Priority::kHigh); }

  void SetBackgroundThreads(int number, Priority pri) override {
    if (pri == HIGH || pri == LOW)
      ASHLAR_ASSERT(executor_.SetBackgroundThreads(std::max(number, 1), LaneOf(pri)).ok());
  }
  void IncBackgroundThreadsIfNeeded(int number, Priority pri) override {
    if (GetBackgroundThreads(pri) < number) SetBackgroundThreads(number, pri);
  }
  int GetBackgroundThreads(Priority pri) override {
    return executor_.GetBackgroundThreads(LaneOf(pri));
  }
  Executor* executor() override { return &executor_; }
  Clock* clock() override { return &clock_; }

 private:
  static constexpr uint64_t kStartUnixMicros = 1'700'000'000'000'000;

  static Executor::Priority LaneOf(Priority pri) {
    return pri == HIGH ? Executor::Priority::kHigh : Executor::Priority::kLow;
  }

  ManualExecutor executor_;
  ManualClock clock_;
};

// A logger that discards everything. Without it a database writes a LOG file, whose many small
// writes would obscure the calls that matter.
class SilentLogger final : public Logger {
 public:
  void Log(InfoLogLevel, std::string_view) override {}
};

}  // namespace ashlar
