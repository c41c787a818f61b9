// Env: joins a file system, a clock and an executor.
//
// The default Env is never destroyed: databases may be closed, and their last jobs run, after
// static destructors have begun. Its threads are started when a database first asks for the
// executor, so that merely making DBOptions starts none.
#include "ashlar/env.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "ashlar/options.h"
#include "base/assert.h"
#include "execute/clock.h"
#include "execute/thread_pool_executor.h"
#include "filesystem/memory_file_system.h"
#include "platform/mutex.h"

namespace ashlar {
namespace {

class SystemEnv final : public Env {
 public:
  SystemEnv() : file_system_(vfs::FileSystem::Default()), clock_(SystemClock()) {}

  const std::shared_ptr<vfs::FileSystem>& EngineFiles() const override { return file_system_; }
  uint64_t NowMicros() override { return clock_->NowUnixMicros(); }
  uint64_t NowNanos() override { return clock_->NowNanos(); }
  Clock* clock() override { return clock_.get(); }

  Executor* executor() override {
    Executor* started = executor_.load(std::memory_order_acquire);  // pairs with the release below
    return started != nullptr ? started : Start();
  }

  void SetBackgroundThreads(int number, Priority pri) override {
    const Executor::Priority* lane = LaneOf(pri);
    if (lane != nullptr) {
      // If the system refuses new threads, work continues more slowly on the existing ones.
      static_cast<void>(executor()->SetBackgroundThreads(std::max(number, 0), *lane).ok());
    } else if (pri < TOTAL) {
      numbers_without_lane_[pri].store(std::max(number, 0), std::memory_order_relaxed);
    }
  }
  void IncBackgroundThreadsIfNeeded(int number, Priority pri) override {
    const MutexLock lock(raise_mutex_);
    if (GetBackgroundThreads(pri) < number) SetBackgroundThreads(number, pri);
  }
  int GetBackgroundThreads(Priority pri) override {
    const Executor::Priority* lane = LaneOf(pri);
    if (lane != nullptr) return executor()->GetBackgroundThreads(*lane);
    return pri < TOTAL ? numbers_without_lane_[pri].load(std::memory_order_relaxed) : 0;
  }

 private:
  // Null for the priorities that the engine has no queue for.
  static const Executor::Priority* LaneOf(Priority pri) {
    static constexpr Executor::Priority kHigh = Executor::Priority::kHigh;
    static constexpr Executor::Priority kLow = Executor::Priority::kLow;
    return pri == HIGH ? &kHigh : (pri == LOW ? &kLow : nullptr);
  }

  Executor* Start() {
    const MutexLock lock(start_mutex_);
    Executor* started = executor_.load(std::memory_order_relaxed);
    if (started != nullptr) return started;
    Result<std::unique_ptr<ThreadPoolExecutor>> pool = ThreadPoolExecutor::Start({});
    // Without any thread a pool still queues; the threads come with the next SetBackgroundThreads.
    if (!pool.ok()) pool = ThreadPoolExecutor::Start({.high_threads = 0, .low_threads = 0});
    ASHLAR_ASSERT(pool.ok());
    started = pool->release();
    executor_.store(started, std::memory_order_release);
    return started;
  }

  const std::shared_ptr<vfs::FileSystem> file_system_;
  const std::shared_ptr<Clock> clock_;
  Mutex start_mutex_;
  Mutex
      // held from reading the number of threads to raising it; taken before start_mutex_
      raise_mutex_;
  std::atomic<Executor*> executor_{nullptr};  // written once, by Start
  // The program's settings for priorities without a queue; relaxed: the numbers are only reported.
  std::array<std::atomic<int>, TOTAL> numbers_without_lane_{};
};

// Another file system in the world of `base`.
class CompositeEnv final : public Env {
 public:
  CompositeEnv(std::shared_ptr<vfs::FileSystem> file_system, Env* base)
      : file_system_(std::move(file_system)), base_(base) {}

  const std::shared_ptr<vfs::FileSystem>& EngineFiles() const override { return file_system_; }
  uint64_t NowMicros() override { return base_->NowMicros(); }
  uint64_t NowNanos() override { return base_->NowNanos(); }
  Clock* clock() override { return base_->clock(); }
  Executor* executor() override { return base_->executor(); }
  void SetBackgroundThreads(int number, Priority pri) override {
    base_->SetBackgroundThreads(number, pri);
  }
  void IncBackgroundThreadsIfNeeded(int number, Priority pri) override {
    base_->IncBackgroundThreadsIfNeeded(number, pri);
  }
  int GetBackgroundThreads(Priority pri) override { return base_->GetBackgroundThreads(pri); }

 private:
  const std::shared_ptr<vfs::FileSystem> file_system_;
  Env* const base_;
};

}  // namespace

EnvOptions::EnvOptions(const DBOptions& options)
    : use_mmap_reads(options.allow_mmap_reads),
      use_mmap_writes(options.allow_mmap_writes),
      use_direct_reads(options.use_direct_reads),
      use_direct_writes(options.use_direct_io_for_flush_and_compaction),
      bytes_per_sync(options.bytes_per_sync),
      compaction_readahead_size(options.compaction_readahead_size),
      rate_limiter(options.rate_limiter.get()) {}

Env* Env::Default() {
  static Env* const env = new SystemEnv;
  return env;
}

Status Env::GetCurrentTime(int64_t* unix_time) {
  *unix_time = static_cast<int64_t>(NowMicros() / 1000000);
  return Status::OK();
}

Env* NewMemEnv(Env* base_env) {
  return new CompositeEnv(std::make_shared<MemoryFileSystem>(),
                          base_env == nullptr ? Env::Default() : base_env);
}

std::unique_ptr<Env> NewCompositeEnv(const std::shared_ptr<vfs::FileSystem>& file_system,
                                     Env* base_env) {
  return std::make_unique<CompositeEnv>(file_system,
                                        base_env == nullptr ? Env::Default() : base_env);
}

}  // namespace ashlar
