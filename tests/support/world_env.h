// WorldEnv: the base of test Envs. It uses any files, and a test replaces its threads and time.
//
// Thread safety: that of its parts. Lifetime: must outlive every database that uses it.
#pragma once

#include <memory>

#include "ashlar/env.h"
#include "ashlar/vfs.h"
#include "environment/composite_env.h"
#include "execute/clock.h"
#include "execute/executor.h"

namespace ashlar {

class WorldEnv : public CompositeEnv {
 public:
  explicit WorldEnv(const std::shared_ptr<vfs::FileSystem>& files) : CompositeEnv(files, nullptr) {}

  Executor* executor() override = 0;
  Clock* clock() override = 0;
  uint64_t NowMicros() override { return clock()->NowUnixMicros(); }
  uint64_t NowNanos() override { return clock()->NowNanos(); }
  void SleepForMicroseconds(int micros) override {
    clock()->SleepForMicros(static_cast<uint64_t>(micros));
  }
  Status GetCurrentTime(int64_t* unix_time) override {
    *unix_time = static_cast<int64_t>(NowMicros() / 1000000);
    return Status::OK();
  }
};

}  // namespace ashlar
