// Calls in progress while another thread closes the database.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/expect_ok.h"
#include "tests/support/manual_env.h"
#include "tests/support/open_database.h"
#include "tests/support/stalling_file_system.h"

namespace ashlar {
namespace {

// Forwards jobs to another executor. The thread to stall does so where it would wait for them.
class StallingExecutor final : public Executor {
 public:
  StallingExecutor(Executor* base, StallGate* gate) : base_(*base), gate_(*gate) {}

  [[nodiscard]] bool Schedule(Priority priority, std::function<void()> job) override {
    return base_.Schedule(priority, std::move(job));
  }
  [[nodiscard]] bool ScheduleAfter(uint64_t delay_us, Priority priority,
                                   std::function<void()> job) override {
    return base_.ScheduleAfter(delay_us, priority, std::move(job));
  }
  Status SetBackgroundThreads(int threads, Priority priority) override {
    return base_.SetBackgroundThreads(threads, priority);
  }
  Status RaiseBackgroundThreads(int threads, Priority priority) override {
    return base_.RaiseBackgroundThreads(threads, priority);
  }
  int GetBackgroundThreads(Priority priority) const override {
    return base_.GetBackgroundThreads(priority);
  }
  size_t QueuedJobs(Priority priority) const override { return base_.QueuedJobs(priority); }
  void WaitForIdle() override { base_.WaitForIdle(); }
  void Shutdown() override { base_.Shutdown(); }
  bool RunJobWhileWaiting() override {
    gate_.Pass();
    return base_.RunJobWhileWaiting();
  }

 private:
  Executor& base_;
  StallGate& gate_;
};

class StallingEnv final : public WorldEnv {
 public:
  StallingEnv(const std::shared_ptr<vfs::FileSystem>& file_system, StallGate* gate)
      : WorldEnv(file_system), base_(file_system, /*seed=*/1), executor_(base_.executor(), gate) {}

  void SetBackgroundThreads(int number, Priority pri) override {
    base_.SetBackgroundThreads(number, pri);
  }
  void IncBackgroundThreadsIfNeeded(int number, Priority pri) override {
    base_.IncBackgroundThreadsIfNeeded(number, pri);
  }
  int GetBackgroundThreads(Priority pri) override { return base_.GetBackgroundThreads(pri); }
  Executor* executor() override { return &executor_; }
  bool RunOneFlush() { return base_.RunOneFlush(); }
  Clock* clock() override { return base_.clock(); }

 private:
  ManualEnv base_;
  StallingExecutor executor_;
};

std::vector<std::string> Files(vfs::FileSystem* file_system, const std::string& path) {
  std::vector<std::string> names;
  EXPECT_OK(file_system->GetChildren(path, &names));
  std::sort(names.begin(), names.end());
  return names;
}

// The flush passes its check, then waits because a switch would stop the writers. Meanwhile Close
// runs and releases LOCK. The flush then continues with a memtable that is not empty.
TEST(CloseRaceTest, AFlushThatPassedItsCheckCreatesNoLogAfterLockIsReleased) {
  const auto files = std::make_shared<MemoryFileSystem>();
  StallGate gate;
  StallingEnv env(files, &gate);
  Options options = SmallDatabaseOptions();
  options.create_if_missing = true;
  options.env = &env;
  options.max_write_buffer_number = 2;
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, "/db", &db));
  ASSERT_OK(db->Put(WriteOptions(), "in the immutable memtable", "value"));
  FlushOptions no_wait;
  no_wait.wait = false;
  no_wait.allow_write_stall = true;
  ASSERT_OK(db->Flush(no_wait));
  ASSERT_OK(db->Put(WriteOptions(), "in the active memtable", "value"));

  const std::vector<std::string> open = Files(files.get(), "/db");
  Status flushed;
  StalledCall flush(&gate, [&] { flushed = db->Flush(FlushOptions()); });
  ASSERT_TRUE(flush.stalled());
  ASSERT_EQ(Files(files.get(), "/db"), open) << "the flush has not switched the memtable yet";
  ASSERT_TRUE(env.RunOneFlush()) << "a switch would not stop the writers any more";
  ASSERT_OK(db->Close());
  const std::vector<std::string> before = Files(files.get(), "/db");
  flush.Finish();
  EXPECT_TRUE(flushed.IsShutdownInProgress()) << flushed.ToString();
  EXPECT_EQ(Files(files.get(), "/db"), before);

  db.reset();
  ASSERT_OK(DB::Open(options, "/db", &db));
  std::string value;
  EXPECT_OK(db->Get(ReadOptions(), "in the active memtable", &value));
}

}  // namespace
}  // namespace ashlar
