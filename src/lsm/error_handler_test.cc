#include "lsm/error_handler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace ashlar {
namespace {

constexpr auto kReason = BackgroundErrorReason::kFlush;

TEST(ErrorHandler, RefusesWritesUntilTheResumeHasEnded) {
  ErrorHandler handler;
  EXPECT_TRUE(handler.WriteStatus().ok());
  EXPECT_TRUE(handler.Set(Status::IOError("first"), kReason));
  EXPECT_FALSE(handler.Set(Status::IOError("second"), kReason));
  EXPECT_EQ(handler.WriteStatus().ToString(), Status::IOError("first").ToString());
  EXPECT_EQ(handler.JobStatus().ToString(), Status::IOError("first").ToString());
  ASSERT_TRUE(handler.BeginResume().ok());
  EXPECT_FALSE(handler.WriteStatus().ok());
  EXPECT_TRUE(handler.JobStatus().ok());
  ASSERT_TRUE(handler.FinishResume(Status::OK()).ok());
  EXPECT_TRUE(handler.WriteStatus().ok());
  EXPECT_TRUE(handler.JobStatus().ok());
}

TEST(ErrorHandler, StaysLatchedWhenAJobFailsDuringTheResume) {
  ErrorHandler handler;
  handler.Set(Status::IOError("first"), kReason);
  ASSERT_TRUE(handler.BeginResume().ok());
  handler.Set(Status::IOError("during"), kReason);
  EXPECT_EQ(handler.JobStatus().ToString(), Status::IOError("during").ToString());
  EXPECT_EQ(handler.FinishResume(Status::OK()).ToString(), Status::IOError("during").ToString());
  EXPECT_EQ(handler.WriteStatus().ToString(), Status::IOError("during").ToString());
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

TEST(ErrorHandler, TheSeveritySaysWhatHelps) {
  struct Case {
    Status error;
    BackgroundErrorReason reason;
    Status::Severity severity;
  };
  for (const Case& c :
       {Case{Status::IOError("disk"), kReason, Status::kHardError},
        Case{Status::MemoryLimit(), kReason, Status::kHardError},
        Case{Status::MemoryLimit(), BackgroundErrorReason::kMemTable, Status::kFatalError},
        Case{Status::Corruption("table"), kReason, Status::kUnrecoverableError},
        Case{Status::ShutdownInProgress(), kReason, Status::kNoError}}) {
    ErrorHandler latch;
    latch.Set(c.error, c.reason);
    EXPECT_EQ(latch.WriteStatus().severity(), c.severity) << c.error.ToString();
    EXPECT_EQ(latch.status().severity(), c.severity) << c.error.ToString();
  }
  ErrorHandler handler;
  handler.Set(Status::Corruption("table"), kReason);
  EXPECT_EQ(handler.BeginResume().severity(), Status::kUnrecoverableError);
}

TEST(ErrorHandler, AFailedResumeHasASeverity) {
  for (const bool by_job : {false, true}) {
    ErrorHandler handler;
    handler.Set(Status::IOError("first"), kReason);
    ASSERT_TRUE(handler.BeginResume().ok());
    if (by_job) handler.Set(Status::Corruption("during"), kReason);
    const Status failed = handler.FinishResume(Status::NoSpace("outcome"));
    EXPECT_EQ(failed.severity(), by_job ? Status::kUnrecoverableError : Status::kHardError);
    EXPECT_EQ(handler.WriteStatus().severity(), failed.severity());
  }
}

// A batch that was in progress when the resume began is cut off. A later error does not hide that.
TEST(ErrorHandler, AFinalErrorDuringTheResumeIsNotResumedFrom) {
  ErrorHandler handler;
  handler.Set(Status::IOError("first"), kReason);
  ASSERT_TRUE(handler.BeginResume().ok());
  handler.Set(Status::MemoryLimit(), BackgroundErrorReason::kMemTable);
  handler.Set(Status::IOError("later"), kReason);
  EXPECT_TRUE(handler.JobStatus().IsMemoryLimit());
  EXPECT_TRUE(handler.FinishResume(Status::OK()).IsMemoryLimit());
  EXPECT_EQ(handler.reason(), BackgroundErrorReason::kMemTable);
  EXPECT_TRUE(handler.BeginResume().IsMemoryLimit());
  EXPECT_FALSE(handler.WriteStatus().ok());
}

// A batch may be cut off after a job has failed, because its group was in progress. A resume would
// flush the part that a memtable holds.
TEST(ErrorHandler, ABatchThatIsCutOffAfterAnErrorIsNotResumedFrom) {
  ErrorHandler handler;
  EXPECT_TRUE(handler.Set(Status::NoSpace(), kReason));
  EXPECT_TRUE(handler.Set(Status::MemoryLimit(), BackgroundErrorReason::kMemTable));
  EXPECT_FALSE(handler.Set(Status::IOError("later"), kReason));
  EXPECT_EQ(handler.reason(), BackgroundErrorReason::kMemTable);
  EXPECT_TRUE(handler.WriteStatus().IsMemoryLimit());
  EXPECT_TRUE(handler.BeginResume().IsMemoryLimit());
  EXPECT_FALSE(handler.WriteStatus().ok());
}

// A close may begin while an error is latched. A resume after that would allow writes that the
// close neither flushes nor logs.
TEST(ErrorHandler, TheEndAfterAnErrorIsNotResumedFrom) {
  ErrorHandler handler;
  EXPECT_TRUE(handler.Set(Status::NoSpace(), kReason));
  EXPECT_TRUE(handler.Set(Status::ShutdownInProgress("closed"), kReason));
  EXPECT_FALSE(handler.Set(Status::IOError("later"), kReason));
  EXPECT_TRUE(handler.BeginResume().IsShutdownInProgress());
  EXPECT_TRUE(handler.WriteStatus().IsShutdownInProgress());
}

// A refusal must never turn into OK because a resume ends during the call. Callers take OK as the
// permission to continue.
TEST(ErrorHandler, AnswersAreOkOnlyWhileClear) {
  ErrorHandler handler;
  std::atomic<bool> done{false};
  std::atomic<uint64_t> clear_periods{0};  // odd while the handler may be clear
  clear_periods = 1;
  std::thread resumer([&] {
    for (int i = 0; i < 20000; ++i) {
      handler.Set(Status::IOError("again"), kReason);
      ++clear_periods;  // even: latched for certain
      if (!handler.BeginResume().ok()) break;
      ++clear_periods;
      if (!handler.FinishResume(Status::OK()).ok()) break;
    }
    done = true;
  });
  uint64_t wrong = 0;
  while (!done) {
    const uint64_t before = clear_periods;
    const Status answer = handler.WriteStatus();
    if (before % 2 == 0 && clear_periods == before && answer.ok()) ++wrong;
  }
  resumer.join();
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace ashlar
