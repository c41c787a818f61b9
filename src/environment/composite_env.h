// CompositeEnv: an Env with its own files and, if given, its own clock. All else is forwarded to
// `base`. NewMemEnv, NewCompositeEnv and NewTimedEnv return one. Tests derive from it to replace
// threads and time.
//
// Thread safety: as in ashlar/env.h. Lifetime: `base` outlives it.
#pragma once

#include <memory>
#include <string>

#include "ashlar/system_clock.h"
#include "ashlar/vfs.h"
#include "environment/env_over_files.h"

namespace ashlar {

class CompositeEnv : public EnvOverFiles {
 public:
  // A null `base` means Env::Default(). A null `clock` means the clock of `base`.
  CompositeEnv(const std::shared_ptr<FileSystem>& files, const std::shared_ptr<SystemClock>& clock,
               Env* base)
      : EnvOverFiles(files, clock != nullptr ? clock : OrDefault(base)->GetSystemClock()),
        base_(OrDefault(base)),
        has_own_clock_(clock != nullptr) {}
  CompositeEnv(const std::shared_ptr<FileSystem>& files, Env* base)
      : CompositeEnv(files, nullptr, base) {}
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

  Status GetHostName(char* name, uint64_t bytes) override {
    return base_->GetHostName(name, bytes);
  }
  std::string GenerateUniqueId() override { return base_->GenerateUniqueId(); }

  Executor* executor() override { return base_->executor(); }
  Clock* clock() override { return has_own_clock_ ? Env::clock() : base_->clock(); }

 private:
  static Env* OrDefault(Env* base) { return base == nullptr ? Env::Default() : base; }

  Env* const base_;
  const bool has_own_clock_;
};

}  // namespace ashlar
