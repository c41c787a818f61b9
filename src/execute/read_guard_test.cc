#include "execute/read_guard.h"
#include "tests/support/test_epochs.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ashlar {
namespace {

// Logs the changes of its counts.
struct Owner {
  std::string name;
  std::vector<std::string>* log;

  PinSource source() { return {&kOps, this}; }
  static const PinOps kOps;
};
const PinOps Owner::kOps = {
    .acquire =
        [](void* owner) {
          auto* const self = static_cast<Owner*>(owner);
          self->log->push_back("pin " + self->name);
        },
    .release =
        [](void* owner, void*) {
          auto* const self = static_cast<Owner*>(owner);
          self->log->push_back("release " + self->name +
                               (CurrentThreadSlot().epoch.depth == 0 ? "" : " inside"));
        },
};

class ReadGuardTest : public testing::Test {
 protected:
  ~ReadGuardTest() override { TestEpochs().Synchronize(); }

  void RetireOne() {
    TestEpochs().Retire([](void* deleted) { ++*static_cast<int*>(deleted); }, &deleted_);
    TestEpochs().Reclaim();
  }

  int deleted_ = 0;
  std::vector<std::string> log_;
  Owner root_{"root", &log_};
  Owner table_{"table", &log_};
};

TEST_F(ReadGuardTest, TakesNoCountWhereNothingWaits) {
  {
    ReadGuard guard(TestEpochs());
    guard.SetRoot(root_.source());
    EXPECT_EQ(guard.pauses(), 0u);
  }
  EXPECT_TRUE(log_.empty());
}

TEST_F(ReadGuardTest, WhatIsRetiredDuringAPauseIsFreed) {
  ReadGuard guard(TestEpochs());
  guard.SetRoot(root_.source());
  {
    const ReadGuard::Pause pause(&guard);
    RetireOne();
    EXPECT_EQ(deleted_, 1);
  }
  RetireOne();
  EXPECT_EQ(deleted_, 1);
  const ReadGuard::Pause again(&guard);
  TestEpochs().Reclaim();
  EXPECT_EQ(deleted_, 2);
}

TEST_F(ReadGuardTest, TheRootIsPinnedOnceAndReleasedLastOutsideTheGuard) {
  {
    ReadGuard guard(TestEpochs());
    guard.SetRoot(root_.source());
    for (int i = 0; i < 2; ++i) {
      const ReadGuard::Pause pause(&guard);
      if (i == 0) guard.Keep(table_.source().Acquire());
    }
    EXPECT_EQ(guard.pauses(), 2u);
    EXPECT_EQ(log_, (std::vector<std::string>{"pin root", "pin table"}));
  }
  EXPECT_EQ(log_,
            (std::vector<std::string>{"pin root", "pin table", "release table", "release root"}));
}

TEST_F(ReadGuardTest, APauseInsideAnotherGuardOfTheThreadProtectsWhatThatOneFound) {
  const EpochGuard outer(TestEpochs());
  ReadGuard guard(TestEpochs());
  guard.SetRoot(root_.source());
  const ReadGuard::Pause pause(&guard);
  RetireOne();
  EXPECT_EQ(deleted_, 0);
}

TEST_F(ReadGuardTest, APauseWithoutAGuardDoesNothing) { const ReadGuard::Pause pause(nullptr); }

}  // namespace
}  // namespace ashlar
