#include "lsm/error_handler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace ashlar {
namespace {

constexpr auto kReason = BackgroundErrorReason::kFlush;

TEST(ErrorHandler, RefusesWritesUntilTheResumeHasEnded) {
  ErrorHandler latch;
  EXPECT_TRUE(latch.WriteStatus().ok());
  EXPECT_TRUE(latch.Set(Status::IOError("first"), kReason));
  EXPECT_FALSE(latch.Set(Status::IOError("second"), kReason));
  EXPECT_EQ(latch.WriteStatus().ToString(), Status::IOError("first").ToString());
  EXPECT_EQ(latch.JobStatus().ToString(), Status::IOError("first").ToString());
  ASSERT_TRUE(latch.BeginResume().ok());
  EXPECT_FALSE(latch.WriteStatus().ok());
  EXPECT_TRUE(latch.JobStatus().ok());
  ASSERT_TRUE(latch.FinishResume(Status::OK()).ok());
  EXPECT_TRUE(latch.WriteStatus().ok());
  EXPECT_TRUE(latch.JobStatus().ok());
}

TEST(ErrorHandler, StaysLatchedWhenAJobFailsDuringTheResume) {
  ErrorHandler latch;
  latch.Set(Status::IOError("first"), kReason);
  ASSERT_TRUE(latch.BeginResume().ok());
  latch.Set(Status::IOError("during"), kReason);
  EXPECT_EQ(latch.JobStatus().ToString(), Status::IOError("during").ToString());
  EXPECT_EQ(latch.FinishResume(Status::OK()).ToString(), Status::IOError("during").ToString());
  EXPECT_EQ(latch.WriteStatus().ToString(), Status::IOError("during").ToString());
}

TEST(ErrorHandler, SomeErrorsAreNotResumedFrom) {
  struct Case {
    Status error;
    BackgroundErrorReason reason;
  };
  for (const Case& c :
       {Case{Status::Corruption("table"), kReason}, Case{Status::ShutdownInProgress(), kReason},
        Case{Status::MemoryLimit(), BackgroundErrorReason::kMemTable}}) {
    ErrorHandler latch;
    latch.Set(c.error, c.reason);
    EXPECT_EQ(latch.BeginResume().ToString(), c.error.ToString());
    EXPECT_EQ(latch.WriteStatus().ToString(), c.error.ToString());
  }
}

// A refusal must never turn into OK because a resume ends between the question and the answer:
// callers take OK for "you may continue".
TEST(ErrorHandler, AnswersAreOkOnlyWhileClear) {
  ErrorHandler latch;
  std::atomic<bool> done{false};
  std::atomic<uint64_t> clear_periods{0};  // odd while the latch may be clear
  clear_periods = 1;
  std::thread resumer([&] {
    for (int i = 0; i < 20000; ++i) {
      latch.Set(Status::IOError("again"), kReason);
      ++clear_periods;  // even: latched for certain
      if (!latch.BeginResume().ok()) break;
      ++clear_periods;
      if (!latch.FinishResume(Status::OK()).ok()) break;
    }
    done = true;
  });
  uint64_t wrong = 0;
  while (!done) {
    const uint64_t before = clear_periods;
    const Status answer = latch.WriteStatus();
    if (before % 2 == 0 && clear_periods == before && answer.ok()) ++wrong;
  }
  resumer.join();
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace ashlar
