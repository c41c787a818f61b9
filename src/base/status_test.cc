#include "ashlar/status.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace ashlar {
namespace {

TEST(StatusTest, OkIsEmptyAndPrintsOk) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), Status::kOk);
  EXPECT_STREQ(status.getState(), "");
  EXPECT_EQ(status.ToString(), "OK");
}

TEST(StatusTest, ErrorJoinsItsTwoTexts) {
  const Status status = Status::IOError("/db/000001.log", "read failed");
  EXPECT_TRUE(status.IsIOError());
  EXPECT_EQ(status.ToString(), "IO error: /db/000001.log: read failed");
  EXPECT_STREQ(status.getState(), "/db/000001.log: read failed");
  EXPECT_EQ(Status::NotFound("", "only the second").ToString(), "NotFound: only the second");
  EXPECT_EQ(Status::NotFound().ToString(), "NotFound");
}

TEST(StatusTest, SubcodeSpeaksWhenThereIsNoText) {
  EXPECT_TRUE(Status::NoSpace().IsNoSpace());
  EXPECT_TRUE(Status::NoSpace().IsIOError());
  EXPECT_EQ(Status::NoSpace().ToString(), "IO error: No space left on device");
  EXPECT_EQ(Status::NoSpace("/db").ToString(), "IO error: /db");
  EXPECT_TRUE(Status::PathNotFound("x").IsPathNotFound());
  EXPECT_FALSE(Status::IOError("x").IsPathNotFound());
  EXPECT_TRUE(Status::MemoryLimit("x").IsMemoryLimit());
  EXPECT_TRUE(Status::SpaceLimit().IsSpaceLimit());
  EXPECT_TRUE(Status::SpaceLimit().IsIOError());
  EXPECT_EQ(Status::SpaceLimit().ToString(), "IO error: Space limit reached");
  EXPECT_FALSE(Status::NoSpace().IsSpaceLimit());
  EXPECT_TRUE(Status::CompactionTooLarge().IsCompactionTooLarge());
}

TEST(StatusTest, AnErrorMayBeASubcode) {
  EXPECT_TRUE(Status::IOError(Status::kNoSpace).IsNoSpace());
  EXPECT_TRUE(Status::NotFound(Status::kPathNotFound).IsPathNotFound());
  EXPECT_TRUE(Status::Busy(Status::kDeadlock).IsDeadlock());
  EXPECT_TRUE(Status::Incomplete(Status::kManualCompactionPaused).IsManualCompactionPaused());
  const Status timeout = Status::TimedOut(Status::SubCode::kMutexTimeout);
  EXPECT_EQ(timeout.code(), Status::kTimedOut);
  EXPECT_EQ(timeout.subcode(), Status::kMutexTimeout);
  EXPECT_EQ(timeout.ToString(), "Operation timed out: Timeout Acquiring Mutex");
}

TEST(StatusTest, ErrorsOfTransactionsAreToldApart) {
  const Status limit = Status::Error(Status::kAborted, Status::kLockLimit, "");
  const Status deadlock = Status::Error(Status::kBusy, Status::kDeadlock, "");
  const Status unprepared = Status::Error(Status::kInvalidArgument, Status::kTxnNotPrepared, "");
  EXPECT_TRUE(limit.IsLockLimit());
  EXPECT_TRUE(deadlock.IsDeadlock());
  EXPECT_TRUE(unprepared.IsTxnNotPrepared());
  for (const Status& other : {Status::OK(), Status::Aborted("x"), Status::Busy("x"),
                              Status::InvalidArgument("x"), Status::MemoryLimit("x")}) {
    EXPECT_FALSE(other.IsLockLimit() || other.IsDeadlock() || other.IsTxnNotPrepared());
  }
}

TEST(StatusTest, TheSeverityStaysWithTheError) {
  const Status error = Status::NoSpace("/db");
  EXPECT_EQ(error.severity(), Status::kNoError);
  const Status graded(error, Status::Severity::kHardError);
  EXPECT_EQ(graded.severity(), Status::kHardError);
  EXPECT_TRUE(graded.IsNoSpace());
  EXPECT_EQ(graded.ToString(), error.ToString());
  Status copy = graded;
  EXPECT_EQ(copy.WithContext("a flush").severity(), Status::kHardError);
  const Status worse(copy, Status::kUnrecoverableError);
  EXPECT_EQ(worse.severity(), Status::kUnrecoverableError);
  EXPECT_EQ(Status(worse, Status::kNoError).severity(), Status::kNoError);
  copy = Status::OK();
  EXPECT_EQ(copy.severity(), Status::kNoError);
}

TEST(StatusTest, TheFirstErrorOfSeveralIsKept) {
  Status all;
  all.UpdateIfOk(Status::OK()).UpdateIfOk(Status::NoSpace("first")).UpdateIfOk(Status::Busy());
  EXPECT_TRUE(all.IsNoSpace());
  const Status late = Status::Expired("late");
  Status other;
  EXPECT_TRUE(other.UpdateIfOk(late).IsExpired());
  EXPECT_EQ(late.ToString(), "Operation expired: late");
}

TEST(StatusTest, AMessageIsAppended) {
  const Status error(Status::NoSpace("/db"), Status::kHardError);
  const Status longer = Status::CopyAppendMessage(error, ", ", "during a flush");
  EXPECT_EQ(longer.ToString(), "IO error: /db, during a flush");
  EXPECT_TRUE(longer.IsNoSpace());
  EXPECT_EQ(longer.severity(), Status::kHardError);
  EXPECT_TRUE(Status::CopyAppendMessage(Status::OK(), ", ", "x").ok());
}

// Language bindings distinguish codes by the beginning of the text.
TEST(StatusTest, CodesAndSubcodesHaveRocksDbsTexts) {
  EXPECT_EQ(Status::TryAgain("x").ToString(), "Operation failed. Try again.: x");
  EXPECT_EQ(Status::NotSupported("x").ToString(), "Not implemented: x");
  EXPECT_EQ(Status::Error(Status::kExpired, Status::kNone, "x").ToString(), "Operation expired: x");
  EXPECT_EQ(Status::Error(Status::kBusy, Status::kDeadlock, "").ToString(),
            "Resource busy: Deadlock");
  EXPECT_EQ(Status::Error(Status::kTimedOut, Status::kLockTimeout, "").ToString(),
            "Operation timed out: Timeout waiting to lock key");
  EXPECT_EQ(Status::Error(Status::kCorruption, Status::kMergeOperatorFailed, "").ToString(),
            "Corruption: Merge operator failed");
}

TEST(StatusTest, CopyIsIndependentAndMoveTakesTheText) {
  Status original = Status::Corruption("bad block");
  Status copy = original;
  original = Status::OK();
  EXPECT_EQ(copy.ToString(), "Corruption: bad block");
  const Status moved = std::move(copy);
  EXPECT_EQ(moved.ToString(), "Corruption: bad block");
  Status assigned;
  assigned = moved;
  EXPECT_EQ(assigned.ToString(), moved.ToString());
  const Status& same = assigned;
  assigned = same;
  EXPECT_EQ(assigned.ToString(), "Corruption: bad block");
}

TEST(StatusTest, ContextComesBeforeTheTextAndKeepsCodes) {
  const Status status =
      Status::Error(Status::kIOError, Status::kStaleFile, "read").WithContext("000007.sst at 4096");
  EXPECT_EQ(status.ToString(), "IO error: 000007.sst at 4096: read");
  EXPECT_EQ(status.subcode(), Status::kStaleFile);
  EXPECT_TRUE(Status::OK().WithContext("context").ok());
  EXPECT_EQ(Status::Busy().WithContext("lock").ToString(), "Resource busy: lock");
}

TEST(StatusTest, EveryCodeHasItsName) {
  for (int code = 1; code <= Status::kColumnFamilyDropped; ++code) {
    const Status status = Status::Error(static_cast<Status::Code>(code), Status::kNone, "text");
    EXPECT_EQ(status.code(), code);
    EXPECT_EQ(status.ToString().find("Unknown"), std::string::npos) << code;
  }
}

TEST(StatusDeathTest, AnErrorThatIsOkIsABug) {
  EXPECT_DEATH(static_cast<void>(Status::Error(Status::kOk, Status::kNone, "x")),
               "assertion failed");
}

}  // namespace
}  // namespace ashlar
