// The bin for trash under the scheduler: its end, and the steps that run on several threads.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "execute/clock.h"
#include "execute/thread_pool_executor.h"
#include "filesystem/file_helpers.h"
#include "filesystem/memory_file_system.h"
#include "platform/clock.h"
#include "space/trash_bin.h"
#include "tests/schedule/schedules.h"
#include "tests/support/expect_ok.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/gate.h"
#include "tests/support/world_env.h"

namespace ashlar::test {
namespace {

class TwoThreadsEnv final : public WorldEnv {
 public:
  explicit TwoThreadsEnv(const std::shared_ptr<vfs::FileSystem>& files)
      : WorldEnv(files),
        clock_(MachineClock()),
        pool_(ThreadPoolExecutor::Start({.high_threads = 2, .low_threads = 0}).value()) {}

  Executor* executor() override { return pool_.get(); }
  Clock* clock() override { return clock_.get(); }

 private:
  const std::shared_ptr<Clock> clock_;
  const std::unique_ptr<ThreadPoolExecutor> pool_;
};

// A step lets the next one begin before it has ended.
TEST(TrashScheduleTest, EndWaitsForTheStepThatRunsAfterAnotherHasEnded) {
  ForEachSchedule(500, [](uint64_t /*seed*/) {
    const auto files = std::make_shared<MemoryFileSystem>();
    const auto faults = std::make_shared<FaultFileSystem>(files);
    Gate deletes;
    Gate may_go_on;
    FaultRule second_deletion;
    second_deletion.operations = FaultOperation::kDelete;
    second_deletion.nth = 2;
    second_deletion.effect = FaultEffect::kRunAction;
    second_deletion.action = [&] {
      deletes.Open();
      may_go_on.Wait();
    };
    faults->AddRule(second_deletion);

    TwoThreadsEnv env(files);
    const std::shared_ptr<TrashBin> bin = TrashBin::Create({.env = &env,
                                                            .file_system = faults,
                                                            .logger = nullptr,
                                                            .bytes_per_second = 1 << 20,
                                                            .ratio_max = 1});
    for (const char* const path : {"/000001.log", "/000002.log"}) {
      EXPECT_OK(WriteStringToFile(files.get(), "", path, Durability::kBuffered));
      EXPECT_OK(bin->Delete({.path = path}, /*total_bytes=*/1));
    }
    deletes.Wait();
    std::atomic<bool> has_ended{false};
    std::thread end([&] {
      bin->End();
      has_ended.store(true);
    });
    SleepForMicros(10);
    EXPECT_FALSE(has_ended.load());
    may_go_on.Open();
    end.join();
  });
}

}  // namespace
}  // namespace ashlar::test
