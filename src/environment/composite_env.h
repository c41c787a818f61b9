// CompositeEnv: other files in the world of another Env. Everything but files is a call of `base`.
// NewMemEnv and NewCompositeEnv give one; tests derive from it and replace threads and time.
//
// Thread safety: as ashlar/env.h. Lifetime: `base` outlives it.
#pragma once

#include <memory>
#include <string>

#include "ashlar/vfs.h"
#include "environment/env_over_files.h"

namespace ashlar {

class CompositeEnv : public EnvOverFiles {
 public:
  // base may be null: Env::Default().
  CompositeEnv(const std::shared_ptr<FileSystem>& files, Env* base)
      : EnvOverFiles(files), base_(base == nullptr ? Env::Default() : base) {}
  CompositeEnv(const std::shared_ptr<vfs::FileSystem>& files, Env* base)
      : CompositeEnv(vfs::ToRocksFiles(files), base) {}

  const char* Name() const override { return "CompositeEnv"; }

  void Schedule(void (*function)(void* arg), void* arg, Priority pri = LOW, void* tag = nullptr,
                void (*unschedule)(void* arg) = nullptr) override {
    base_->Schedule(function, arg, pri, tag, unschedule);
  }
  int UnSchedule(void* tag, Priority pri) override { return base_->UnSchedule(tag, pri); }
  void StartThread(void (*function)(void* arg), void* arg) override {
    base_->StartThread(function, arg);
  }
  void WaitForJoin() override { base_->WaitForJoin(); }
  int ReserveThreads(int threads, Priority pri) override {
    return base_->ReserveThreads(threads, pri);
  }
  int ReleaseThreads(int threads, Priority pri) override {
    return base_->ReleaseThreads(threads, pri);
  }
  unsigned int GetThreadPoolQueueLen(Priority pri = LOW) const override {
    return base_->GetThreadPoolQueueLen(pri);
  }
  void SetBackgroundThreads(int number, Priority pri = LOW) override {
    base_->SetBackgroundThreads(number, pri);
  }
  int GetBackgroundThreads(Priority pri = LOW) override { return base_->GetBackgroundThreads(pri); }
  void IncBackgroundThreadsIfNeeded(int number, Priority pri) override {
    base_->IncBackgroundThreadsIfNeeded(number, pri);
  }
  void LowerThreadPoolIOPriority(Priority pool = LOW) override {
    base_->LowerThreadPoolIOPriority(pool);
  }
  Status LowerThreadPoolCPUPriority(Priority pool, CpuPriority pri) override {
    return base_->LowerThreadPoolCPUPriority(pool, pri);
  }
  void LowerThreadPoolCPUPriority(Priority pool = LOW) override {
    base_->LowerThreadPoolCPUPriority(pool);
  }
  uint64_t GetThreadID() const override { return base_->GetThreadID(); }

  uint64_t NowMicros() override { return base_->NowMicros(); }
  uint64_t NowNanos() override { return base_->NowNanos(); }
  uint64_t NowCPUNanos() override { return base_->NowCPUNanos(); }
  void SleepForMicroseconds(int micros) override { base_->SleepForMicroseconds(micros); }
  Status GetCurrentTime(int64_t* unix_time) override { return base_->GetCurrentTime(unix_time); }
  std::string TimeToString(uint64_t unix_seconds) override {
    return base_->TimeToString(unix_seconds);
  }
  Status GetHostName(char* name, uint64_t bytes) override {
    return base_->GetHostName(name, bytes);
  }
  std::string GenerateUniqueId() override { return base_->GenerateUniqueId(); }

  Executor* executor() override { return base_->executor(); }
  Clock* clock() override { return base_->clock(); }

 private:
  Env* const base_;
};

}  // namespace ashlar
