#include "lsm/log_set.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "filesystem/memory_file_system.h"
#include "tests/support/expect_ok.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/gate.h"

namespace ashlar {
namespace {

class LogSetTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK(files_.CreateDirIfMissing("/db"));
    directory_ = SyncedDirectory::Open(&files_, "/db").value();
    ASSERT_OK(Start(1));
  }
  Status Start(uint64_t number) {
    return logs_.StartNewLog({.number = number, .directory_handle = directory_.get()});
  }
  // A group of one record, in the operating system.
  Status Write(const std::string& record) {
    const Slice piece(record);
    Status status = logs_.Append({&piece, 1});
    if (status.ok()) status = logs_.FlushCurrent();
    if (status.ok()) logs_.EndGroup();
    return status;
  }
  // One such call for a log fails, the nth from now.
  void Fail(FaultOperation operation, uint64_t nth = 1) {
    FaultRule rule;
    rule.operations = operation;
    rule.name_contains = ".log";
    rule.nth = nth;
    faults_.AddRule(rule);
  }
  void FailASync(uint64_t nth = 1) { Fail(FaultOperation::kSync, nth); }
  // At the nth call of this kind for a log from now.
  void At(FaultOperation operation, std::function<void()> action, uint64_t nth = 1) {
    FaultRule rule;
    rule.operations = operation;
    rule.name_contains = ".log";
    rule.nth = nth;
    rule.effect = FaultEffect::kRunAction;
    rule.action = std::move(action);
    faults_.AddRule(rule);
  }

  MemoryFileSystem files_;
  FaultFileSystem faults_{std::shared_ptr<vfs::FileSystem>(&files_, [](vfs::FileSystem*) {})};
  std::shared_ptr<SyncedDirectory> directory_;
  LogSet logs_{{.file_system = &faults_, .directory = "/db", .file_options = {}}};
};

TEST_F(LogSetTest, TheLeaderAppendsWhileItsLogIsSynced) {
  ASSERT_OK(Write("before"));
  Status beside = Status::IOError("the log was not synced");
  At(FaultOperation::kSync, [&] { beside = Write("beside"); });
  EXPECT_OK(logs_.SyncDuringAppends());
  EXPECT_OK(beside);
  EXPECT_OK(Write("after"));
  EXPECT_OK(logs_.SyncAll());
}

TEST_F(LogSetTest, ASyncDuringAppendsReachesClosedLogs) {
  ASSERT_OK(Write("a"));
  ASSERT_OK(Start(2));
  ASSERT_TRUE(logs_.SyncedClosedLogs().empty());
  ASSERT_OK(logs_.SyncDuringAppends());
  ASSERT_EQ(logs_.SyncedClosedLogs().size(), 1u);
  EXPECT_EQ(logs_.SyncedClosedLogs()[0].number, 1u);
}

TEST_F(LogSetTest, AClosedLogWithoutWritesIsEmptyAlthoughItHasAHead) {
  ASSERT_OK(Write("a"));
  ASSERT_OK(Start(2));
  ASSERT_OK(Start(3));
  ASSERT_OK(Write("b"));
  ASSERT_OK(logs_.Close());
  const std::vector<LogSet::LiveLog> logs = logs_.LiveLogs();
  ASSERT_EQ(logs.size(), 3u);
  EXPECT_FALSE(logs[0].is_empty);
  EXPECT_TRUE(logs[1].is_empty);
  EXPECT_GT(logs[1].bytes, 0u);
  EXPECT_FALSE(logs[2].is_empty);
}

// I3: the next sync of the medium would report success, although the bytes may be lost.
TEST_F(LogSetTest, AnErrorDuringAppendsFailsTheNextSync) {
  ASSERT_OK(Write("a"));
  FailASync();
  const Status first = logs_.SyncDuringAppends();
  EXPECT_TRUE(first.IsIOError()) << first.ToString();
  EXPECT_EQ(logs_.SyncDuringAppends().ToString(), first.ToString());
  EXPECT_EQ(logs_.SyncAll().ToString(), first.ToString());
  EXPECT_EQ(Write("b").ToString(), first.ToString());
  EXPECT_EQ(faults_.FaultsInjected(), 1u);
}

// I3: of two concurrent syncs the system tells one that bytes were lost. The leader's sync has
// ended before the other one reports it.
TEST_F(LogSetTest, AnErrorDuringAppendsFailsTheSyncAtTheSameTime) {
  ASSERT_OK(Write("a"));
  Gate leader_syncs;
  Status of_leader;
  std::thread leader;
  At(FaultOperation::kSync, [&] {
    leader = std::thread([&] { of_leader = logs_.SyncAll(); });
    leader_syncs.Wait();
  });
  FailASync();
  At(FaultOperation::kSync, [&] { leader_syncs.Open(); }, 2);
  const Status beside = logs_.SyncDuringAppends();
  leader.join();
  EXPECT_TRUE(beside.IsIOError()) << beside.ToString();
  EXPECT_EQ(of_leader.ToString(), beside.ToString());
  EXPECT_EQ(faults_.FaultsInjected(), 1u);
}

// I3: the same, and the system tells the leader.
TEST_F(LogSetTest, AnErrorOfTheLeaderFailsTheSyncBesideAtTheSameTime) {
  for (const bool fails : {false, true}) {
    SCOPED_TRACE(fails);
    faults_.ClearRules();
    ASSERT_OK(Write("a"));
    Gate beside_syncs;
    Status beside;
    std::thread syncer;
    At(FaultOperation::kSync, [&] {
      syncer = std::thread([&] { beside = logs_.SyncDuringAppends(); });
      beside_syncs.Wait();
    });
    if (fails) FailASync();
    At(FaultOperation::kSync, [&] { beside_syncs.Open(); }, 2);
    const Status of_leader = logs_.SyncAll();
    syncer.join();
    EXPECT_EQ(of_leader.IsIOError(), fails) << of_leader.ToString();
    EXPECT_EQ(beside.ToString(), of_leader.ToString());
  }
  EXPECT_EQ(faults_.FaultsInjected(), 1u);
}

// The log would be recorded as synced, and a loss in a power cut would then count as damage.
TEST_F(LogSetTest, AnErrorDuringAppendsFailsTheClose) {
  ASSERT_OK(Write("a"));
  Status beside;
  At(FaultOperation::kSync, [&] { beside = logs_.SyncDuringAppends(); });
  FailASync(2);
  const Status closed = logs_.Close();
  EXPECT_TRUE(beside.IsIOError()) << beside.ToString();
  EXPECT_EQ(closed.ToString(), beside.ToString());
  EXPECT_TRUE(logs_.SyncedClosedLogs().empty());
}

// I3, I4: the new log needs no sync of the failed one, and continues its committed records.
TEST_F(LogSetTest, ANewLogReplacesOneThatFailedDuringAppends) {
  ASSERT_OK(Write("a"));
  FailASync();
  const Status first = logs_.SyncDuringAppends();
  ASSERT_OK(Start(2));
  EXPECT_OK(Write("b"));
  EXPECT_EQ(logs_.SyncClosed().ToString(), first.ToString()) << "log 1 is never synced";
  EXPECT_EQ(logs_.ReleaseUpTo(2), std::vector<uint64_t>{1});
  EXPECT_OK(logs_.SyncAll());
  EXPECT_OK(logs_.SyncDuringAppends());
}

// A caller of SyncWAL has handed its bytes over; a writer's append or sync fails the log before the
// caller syncs it. Those bytes may be lost, so the answer is the log's error.
TEST_F(LogSetTest, ALogThatFailedInAnAppendIsNotTakenForSynced) {
  ASSERT_OK(Write("a"));
  Fail(FaultOperation::kAppend);
  const Status failed = Write("b");
  EXPECT_TRUE(failed.IsIOError()) << failed.ToString();
  EXPECT_EQ(logs_.SyncDuringAppends().ToString(), failed.ToString());
  ASSERT_OK(Start(2));
  EXPECT_EQ(logs_.SyncDuringAppends().ToString(), failed.ToString()) << "log 1 is never synced";
  EXPECT_EQ(logs_.ReleaseUpTo(2), std::vector<uint64_t>{1});
  EXPECT_OK(logs_.SyncDuringAppends());
}

TEST_F(LogSetTest, ALogThatFailedInASyncIsNotTakenForSynced) {
  ASSERT_OK(Write("a"));
  FailASync();
  const Status failed = logs_.SyncAll();
  EXPECT_TRUE(failed.IsIOError()) << failed.ToString();
  EXPECT_EQ(logs_.SyncDuringAppends().ToString(), failed.ToString());
  EXPECT_EQ(faults_.FaultsInjected(), 1u);
}

// The error is that of the log that was forgotten: a promotion that is tried again has another one.
TEST_F(LogSetTest, AForgottenLogLeavesNoError) {
  ASSERT_OK(Write("a"));
  logs_.Fail(Status::IOError("the group failed"));
  logs_.Forget();
  ASSERT_OK(Start(2));
  EXPECT_OK(Write("b"));
  EXPECT_OK(logs_.SyncDuringAppends());
  EXPECT_OK(logs_.SyncAll());
}

// The leader has looked for errors of the log already, and is making the next one.
TEST_F(LogSetTest, AnErrorDuringASwitchIsNotLost) {
  ASSERT_OK(Write("a"));
  Status beside;
  At(FaultOperation::kOpenForWriting, [&] {
    FailASync();
    beside = logs_.SyncDuringAppends();
  });
  ASSERT_OK(Start(2));
  EXPECT_TRUE(beside.IsIOError()) << beside.ToString();
  EXPECT_EQ(logs_.SyncClosed().ToString(), beside.ToString());
  EXPECT_EQ(logs_.SyncAll().ToString(), beside.ToString());
}

// Log 2 was synced before it was closed. A flag that a release sets may be set while the leader
// syncs, which relies on its being the only one that sets it.
TEST_F(LogSetTest, AReleaseLeavesNothingToSync) {
  ASSERT_OK(Write("a"));
  ASSERT_OK(logs_.SyncAll());
  ASSERT_OK(Start(2));
  ASSERT_OK(Write("b"));
  ASSERT_OK(logs_.SyncAll());
  ASSERT_OK(Start(3));
  EXPECT_EQ(logs_.ReleaseUpTo(2), std::vector<uint64_t>{1});
  ASSERT_OK(Write("c"));
  FailASync(2);
  EXPECT_OK(logs_.SyncAll());  // of log 3
  EXPECT_EQ(faults_.FaultsInjected(), 0u);
}

TEST_F(LogSetTest, AClosedSetHasNothingToSync) {
  ASSERT_OK(Write("a"));
  ASSERT_OK(logs_.Close());
  EXPECT_OK(logs_.SyncDuringAppends());
}

}  // namespace
}  // namespace ashlar
