// An error at every call that a secondary makes. A failed open leaves nothing behind. After a
// failed catch-up the secondary shows one moment of the primary that is not older than before, and
// the next catch-up without an error shows everything.
#include <gtest/gtest.h>

#include <string>

#include "tests/secondary/secondary_fixture.h"
#include "tests/support/fault_sweep.h"

namespace ashlar {
namespace {

class SecondaryFaultTest : public SecondaryFixture {
 protected:
  void SetUp() override {
    OpenPrimary();
    for (int i = 0; i < 3; ++i) Step();
    Write();
  }
};

TEST_F(SecondaryFaultTest, AnErrorAtEveryCallOfTheOpen) {
  for (const bool sticky : {false, true}) {
    FaultRule rule;
    rule.sticky = sticky;
    Status opened;
    SweepFaults(
        calls_.get(), rule, [&] { opened = OpenSecondary(); },
        [&] {
          if (opened.ok()) {
            ASSERT_OK(CatchUp());
          } else {
            EXPECT_EQ(secondary_, nullptr);
            ASSERT_OK(OpenSecondary());
          }
          ExpectAll();
        });
  }
}

TEST_F(SecondaryFaultTest, AnErrorAtEveryCallOfACatchUp) {
  ASSERT_OK(OpenSecondary());
  for (const FaultEffect effect :
       {FaultEffect::kFailBefore, FaultEffect::kFailAfter, FaultEffect::kBitFlip,
        FaultEffect::kShortRead, FaultEffect::kThrowBadAlloc}) {
    for (const bool sticky : {false, true}) {
      FaultRule rule;
      rule.effect = effect;
      rule.sticky = sticky;
      Status caught_up;
      SweepFaults(
          calls_.get(), rule,
          [&] {
            Write();
            if (steps_ % 3 != 2) {
              Step();
            } else {
              ++steps_;
            }
            Write();
            caught_up = CatchUp();
          },
          [&] {
            ASSERT_NO_FATAL_FAILURE(ExpectOneMoment(0));
            ASSERT_OK(CatchUp());
            ASSERT_NO_FATAL_FAILURE(ExpectAll());
          });
    }
  }
}

// A catch-up that rebuilds the memtables, with an error at each of its calls.
TEST_F(SecondaryFaultTest, AnErrorAtEveryCallOfACatchUpAfterAFailedOne) {
  ASSERT_OK(OpenSecondary());
  FaultRule rule;
  SweepFaults(
      calls_.get(), rule,
      [&] {
        calls_->ClearRules();
        Write();
        FaultRule memory;
        memory.operations = FaultOperation::kRead;
        memory.name_contains = ".log";
        memory.effect = FaultEffect::kThrowBadAlloc;
        calls_->AddRule(memory);
        EXPECT_TRUE(CatchUp().IsMemoryLimit());
        calls_->ClearRules();
        Write();
        if (steps_ % 2 == 0) Step();
        calls_->ResetCounts();
        calls_->AddRule(rule);
        static_cast<void>(CatchUp().ok());
        ++rule.nth;
      },
      [&] {
        ASSERT_NO_FATAL_FAILURE(ExpectOneMoment(0));
        ASSERT_OK(CatchUp());
        ASSERT_NO_FATAL_FAILURE(ExpectAll());
      });
}

}  // namespace
}  // namespace ashlar
