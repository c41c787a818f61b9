// Allocation failure while a program hands functions to the threads of Env::Default().
#include <gtest/gtest.h>

#include <atomic>

#include "ashlar/env.h"
#include "base/out_of_memory.h"
#include "execute/executor.h"
#include "tests/out_of_memory/failing_new.h"

namespace ashlar {
namespace {

void CountRun(void* runs) { static_cast<std::atomic<int>*>(runs)->fetch_add(1); }

// Repeats the call with each allocation in turn failing, until none does. `after` ends the work
// that the call began. A call that throws has handed over nothing.
template <typename Call, typename After>
void FailEachAllocation(const Call& call, const After& after) {
  for (uint64_t number = 1;; ++number) {
    SCOPED_TRACE(number);
    std::atomic<int> runs{0};
    FailingNew::Arm(number, FailingNew::Kind::kOnce);
    const Status status = CatchBadAlloc([&] {
      const FailingNew::Scope scope;
      call(&runs);
      return Status::OK();
    });
    const bool has_failed = FailingNew::HasFailed();
    EXPECT_EQ(status.ok(), !has_failed);
    after(&runs);
    EXPECT_EQ(runs.load(), status.ok() ? 1 : 0);
    if (!has_failed) {
      EXPECT_GT(number, 1u);
      return;
    }
  }
}

TEST(SystemEnvOutOfMemory, AThreadOfTheProgramThatRunsIsJoined) {
  Env* const env = Env::Default();
  FailEachAllocation([env](std::atomic<int>* runs) { env->StartThread(&CountRun, runs); },
                     [env](std::atomic<int>*) { env->WaitForJoin(); });
}

TEST(SystemEnvOutOfMemory, AJobThatWasNotTakenIsNotKept) {
  Env* const env = Env::Default();
  FailEachAllocation(
      [env](std::atomic<int>* runs) { env->Schedule(&CountRun, runs, Env::LOW, runs); },
      [env](std::atomic<int>* runs) {
        env->executor()->WaitForIdle();
        EXPECT_EQ(env->UnSchedule(runs, Env::LOW), 0);
      });
}

}  // namespace
}  // namespace ashlar
