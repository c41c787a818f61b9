// The states of execute/shared_count.h under the memory model: a thread that finds and pins the
// object, and the owner that drops it. The grace period is the same as in the epoch model.
#include <gtest/gtest.h>

#include "tests/support/memory_model.h"
#include "tests/weak_memory/cited_code.h"

namespace ashlar {
namespace {

using enum ModelOrder;

constexpr int64_t kOwnerBias = 100;
constexpr int64_t kEntered = 1;       // before the grace period began
constexpr int64_t kEnteredLater = 2;  // the grace period does not wait for such a guard

enum class Bug {
  kNone,
  kFoldsWithoutGrace,
  kReleasesIntoAShardAfterKill,
  kFoldForgetsTheShards,
  kAcquiresOutsideTheGuard,
  kReleasesOutsideTheGuard,
  kKilledAfterTheGrace,
};

MemoryModel::Outcome ExploreCount(Bug bug) {
  return MemoryModel::Explore([bug](MemoryModel* setup) {
    const auto word = setup->NewPlace("word.epoch", 0);
    const auto global = setup->NewPlace("global", kEntered);
    const auto shared = setup->NewPlace("shared", 1);
    const auto killed = setup->NewPlace("killed", 0);
    const auto shard = setup->NewPlace("shard", 0);
    const auto central = setup->NewPlace("central", kOwnerBias);
    const auto freed = setup->NewPlace("freed", 0);  // how often the callback ran

    setup->Start("reader", [=](MemoryModel* m) -> ModelThread {
      int64_t epoch = co_await m->Load(global, kAcquire);
      co_await m->Store(word, epoch, kRelease);
      const bool found = co_await m->Load(shared, kAcquire) == 1;
      if (bug == Bug::kAcquiresOutsideTheGuard) co_await m->Store(word, 0, kRelease);
      if (found) {
        const bool is_killed = co_await m->Load(killed, kAcquire) == 1;
        co_await m->FetchAdd(is_killed ? central : shard, 1, kRelaxed);
      }
      if (bug != Bug::kAcquiresOutsideTheGuard) co_await m->Store(word, 0, kRelease);
      if (!found) co_return;
      m->Expect(co_await m->Now(freed) == 0);
      if (bug != Bug::kReleasesOutsideTheGuard) {
        epoch = co_await m->Load(global, kAcquire);
        co_await m->Store(word, epoch, kRelease);
      }
      const bool is_killed = co_await m->Load(killed, kAcquire) == 1;
      if (!is_killed || bug == Bug::kReleasesIntoAShardAfterKill) {
        co_await m->FetchAdd(shard, -1, kRelaxed);
        co_await m->Store(word, 0, kRelease);
        co_return;
      }
      co_await m->Store(word, 0, kRelease);
      if (co_await m->FetchAdd(central, -1, kAcqRel) == 1) co_await m->FetchAdd(freed, 1, kRelaxed);
    });
    setup->Start("owner", [=](MemoryModel* m) -> ModelThread {
      co_await m->Store(shared, 0, kRelease);
      if (bug != Bug::kKilledAfterTheGrace) co_await m->Exchange(killed, 1, kAcqRel);
      if (bug != Bug::kFoldsWithoutGrace) {
        co_await m->FetchAdd(global, 1, kAcqRel);
        co_await m->HeavyFence();
        co_await m->Await(word, [](int64_t epoch) { return epoch == 0 || epoch == kEnteredLater; });
      }
      if (bug == Bug::kKilledAfterTheGrace) co_await m->Exchange(killed, 1, kAcqRel);
      const int64_t sum = bug == Bug::kFoldForgetsTheShards ? 0 : co_await m->Load(shard, kRelaxed);
      const int64_t change = sum - kOwnerBias;
      if (co_await m->FetchAdd(central, change, kAcqRel) + change == 0)
        co_await m->FetchAdd(freed, 1, kRelaxed);
    });
    setup->AtEnd([=](MemoryModel* m) { m->Expect(m->Final(freed) == 1); });
  });
}

TEST(SharedCountModel, TheCallbackRunsOnceAndAfterEveryRelease) {
  const MemoryModel::Outcome outcome = ExploreCount(Bug::kNone);
  EXPECT_EQ(outcome.failures, 0U) << outcome.first_failure;
  EXPECT_GT(outcome.executions, 50U);
}

TEST(SharedCountModel, EverySeededBugIsFound) {
  for (const Bug bug :
       {Bug::kFoldsWithoutGrace, Bug::kReleasesIntoAShardAfterKill, Bug::kFoldForgetsTheShards,
        Bug::kAcquiresOutsideTheGuard, Bug::kReleasesOutsideTheGuard, Bug::kKilledAfterTheGrace}) {
    EXPECT_GT(ExploreCount(bug).failures, 0U) << static_cast<int>(bug);
  }
}

TEST(SharedCountModel, ItsStepsAreThoseOfTheCode) {
  const std::string path = "src/execute/shared_count.cc";
  EXPECT_TRUE(CitedCode(
      path, "void SharedCount::Acquire()",
      {"const EpochGuard guard(epochs_);", "if (killed_.load(std::memory_order_acquire)) {",
       "central_.fetch_add(1, std::memory_order_relaxed);",
       "count.fetch_add(1, std::memory_order_relaxed);"}));
  EXPECT_TRUE(CitedCode(
      path, "void SharedCount::Release()",
      {"const EpochGuard guard(epochs_);", "if (!killed_.load(std::memory_order_acquire)) {",
       "count.fetch_sub(1, std::memory_order_relaxed);", "return; } }",
       "const int64_t held = central_.fetch_sub(1, std::memory_order_acq_rel);",
       "if (held == 1) callback_(argument_);"}));
  EXPECT_TRUE(CitedCode(
      path, "void SharedCount::Kill()",
      {"killed_.exchange(true, std::memory_order_acq_rel);", "epochs_.RetireUnderLock(this, 0);"}));
  EXPECT_TRUE(CitedCode(path, "void SharedCount::Fold(",
                        {"count->SumShards() - kOwnerBias;",
                         "count->central_.fetch_add(change, std::memory_order_acq_rel) + change == "
                         "0"}));
  EXPECT_TRUE(CitedCode(path, "int64_t SharedCount::SumShards() const",
                        {"shards_.load(std::memory_order_acquire);",
                         "shards[i].count.load(std::memory_order_relaxed);"}));
}

}  // namespace
}  // namespace ashlar
