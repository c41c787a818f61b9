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
  // Writes a group of one record and hands it to the operating system.
  Status Write(const std::string& record) {
    const Slice piece(record);
    Status status = logs_.Append({&piece, 1});
    if (status.ok()) status = logs_.FlushCurrent();
    if (status.ok()) logs_.EndGroup();
    return status;
  }
  // The nth such call for a log, counted from now, fails.
  void Fail(FaultOperation operation, uint64_t nth = 1) {
    FaultRule rule;
    rule.operations = operation;
    rule.name_contains = ".log";
    rule.nth = nth;
    faults_.AddRule(rule);
  }
  void FailASync(uint64_t nth = 1) { Fail(FaultOperation::kSync, nth); }
  // Runs the action at the nth call of this kind for a log, counted from now.
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

// I3: the system reports lost bytes to only one of two concurrent syncs. The leader's sync ends
// before the other one reports the loss.
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

// I3: the same, but the system reports the loss to the leader.
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

// Otherwise the log would be recorded as synced, and a loss in a power cut would count as damage.
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

// A writer's append or sync fails the log before a caller of SyncWAL syncs the bytes that it has
// handed over. Those bytes may be lost, so the caller gets the log's error.
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

// The error belongs to the forgotten log. A promotion that is tried again has another log.
TEST_F(LogSetTest, AForgottenLogLeavesNoError) {
  ASSERT_OK(Write("a"));
  logs_.Fail(Status::IOError("the group failed"));
  logs_.Forget();
  ASSERT_OK(Start(2));
  EXPECT_OK(Write("b"));
  EXPECT_OK(logs_.SyncDuringAppends());
  EXPECT_OK(logs_.SyncAll());
}

// The leader has checked the log for errors already and is creating the next log.
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

// Log 2 was synced before it was closed. A release must not set the flag of unsynced logs. It may
// run while the leader syncs, which relies on being the only one that sets the flag.
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
