// Litmus tests of a memory model, with the outcomes that it must allow and forbid.
#include "tests/support/memory_model.h"

#include <gtest/gtest.h>

namespace ashlar {
namespace {

using enum ModelOrder;

// Message passing: is the data visible when the flag is?
MemoryModel::Outcome PassMessage(ModelOrder store, ModelOrder load) {
  return MemoryModel::Explore([=](MemoryModel* setup) {
    const auto data = setup->NewPlace("data", 0);
    const auto flag = setup->NewPlace("flag", 0);
    setup->Start("writer", [=](MemoryModel* m) -> ModelThread {
      co_await m->Store(data, 1, kRelaxed);
      co_await m->Store(flag, 1, store);
    });
    setup->Start("reader", [=](MemoryModel* m) -> ModelThread {
      const int64_t seen = co_await m->Load(flag, load);
      if (seen == 1) m->Expect(co_await m->Load(data, kRelaxed) == 1);
    });
  });
}

TEST(MemoryModel, MessagesNeedReleaseAndAcquire) {
  EXPECT_EQ(PassMessage(kRelease, kAcquire).failures, 0U);
  EXPECT_GT(PassMessage(kRelaxed, kAcquire).failures, 0U);
  EXPECT_GT(PassMessage(kRelease, kRelaxed).failures, 0U);
}

TEST(MemoryModel, FencesPassMessagesOfRelaxedSteps) {
  for (const bool has_fences : {true, false}) {
    const MemoryModel::Outcome outcome = MemoryModel::Explore([=](MemoryModel* setup) {
      const auto data = setup->NewPlace("data", 0);
      const auto flag = setup->NewPlace("flag", 0);
      setup->Start("writer", [=](MemoryModel* m) -> ModelThread {
        co_await m->Store(data, 1, kRelaxed);
        co_await m->Fence(kRelease);
        co_await m->Store(flag, 1, kRelaxed);
      });
      setup->Start("reader", [=](MemoryModel* m) -> ModelThread {
        const int64_t seen = co_await m->Load(flag, kRelaxed);
        if (has_fences) co_await m->Fence(kAcquire);
        if (seen == 1) m->Expect(co_await m->Load(data, kRelaxed) == 1);
      });
    });
    EXPECT_EQ(outcome.failures == 0, has_fences) << outcome.first_failure;
  }
}

// Store buffering: each of two threads stores and then misses the other's store, unless one has a
// heavy fence between its two steps.
TEST(MemoryModel, StoreBuffersNeedAHeavyFence) {
  for (const bool has_fence : {true, false}) {
    const MemoryModel::Outcome outcome = MemoryModel::Explore([=](MemoryModel* setup) {
      const auto x = setup->NewPlace("x", 0);
      const auto y = setup->NewPlace("y", 0);
      const auto seen = setup->NewPlace("seen", 0);
      setup->Start("light", [=](MemoryModel* m) -> ModelThread {
        co_await m->Store(x, 1, kRelease);
        const int64_t there = co_await m->Load(y, kAcquire);
        co_await m->FetchAdd(seen, there, kRelaxed);
      });
      setup->Start("heavy", [=](MemoryModel* m) -> ModelThread {
        co_await m->Store(y, 1, kRelease);
        if (has_fence) co_await m->HeavyFence();
        const int64_t there = co_await m->Load(x, kAcquire);
        co_await m->FetchAdd(seen, there, kRelaxed);
      });
      setup->AtEnd([=](MemoryModel* m) { m->Expect(m->Final(seen) > 0); });
    });
    EXPECT_EQ(outcome.failures == 0, has_fence) << outcome.first_failure;
  }
}

// Two loads of one place by one thread never return to an older value.
TEST(MemoryModel, APlaceNeverGoesBack) {
  const MemoryModel::Outcome outcome = MemoryModel::Explore([](MemoryModel* setup) {
    const auto x = setup->NewPlace("x", 0);
    setup->Start("writer", [=](MemoryModel* m) -> ModelThread {
      co_await m->Store(x, 1, kRelaxed);
      co_await m->Store(x, 2, kRelaxed);
    });
    setup->Start("reader", [=](MemoryModel* m) -> ModelThread {
      const int64_t first = co_await m->Load(x, kRelaxed);
      const int64_t second = co_await m->Load(x, kRelaxed);
      m->Expect(first <= second);
    });
  });
  EXPECT_EQ(outcome.failures, 0U) << outcome.first_failure;
}

// An atomic change continues the release of the value that it replaces, and loses no update.
TEST(MemoryModel, AtomicChangesAreOfTheLastValue) {
  const MemoryModel::Outcome outcome = MemoryModel::Explore([](MemoryModel* setup) {
    const auto data = setup->NewPlace("data", 0);
    const auto count = setup->NewPlace("count", 0);
    setup->Start("first", [=](MemoryModel* m) -> ModelThread {
      co_await m->Store(data, 1, kRelaxed);
      co_await m->FetchAdd(count, 1, kRelease);
    });
    setup->Start("second",
                 [=](MemoryModel* m) -> ModelThread { co_await m->FetchAdd(count, 10, kRelaxed); });
    setup->Start("reader", [=](MemoryModel* m) -> ModelThread {
      const int64_t seen = co_await m->Load(count, kAcquire);
      if (seen == 1 || seen == 11) m->Expect(co_await m->Load(data, kRelaxed) == 1);
    });
    setup->AtEnd([=](MemoryModel* m) { m->Expect(m->Final(count) == 11); });
  });
  EXPECT_EQ(outcome.failures, 0U) << outcome.first_failure;
}

TEST(MemoryModel, AllThreadsWaitingIsAFailure) {
  const MemoryModel::Outcome outcome = MemoryModel::Explore([](MemoryModel* setup) {
    const auto x = setup->NewPlace("x", 0);
    setup->Start("waiter", [=](MemoryModel* m) -> ModelThread {
      co_await m->Await(x, [](int64_t value) { return value == 1; });
    });
  });
  EXPECT_EQ(outcome.failures, 1U);
}

}  // namespace
}  // namespace ashlar
