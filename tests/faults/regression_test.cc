// Bugs of real stores, which the comment on each test describes. Those that require a power cut are
// in tests/crash, and those about damaged logs are in log_damage_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/format.h"
#include "filesystem/filename.h"
#include "filesystem/memory_file_system.h"
#include "platform/mutex.h"
#include "tests/faults/closed_database.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

Commit Put(const std::string& key, const std::string& value) {
  return {
      {.kind = Change::Kind::kPut, .family = kDefaultColumnFamilyName, .key = key, .value = value}};
}
Commit Delete(const std::string& key) {
  return {
      {.kind = Change::Kind::kDelete, .family = kDefaultColumnFamilyName, .key = key, .value = ""}};
}

FaultRule Rule(FaultOperation operations, const std::string& name, const Status& error) {
  FaultRule rule;
  rule.operations = operations;
  rule.name_contains = name;
  rule.error = error;
  return rule;
}

// A disk on which the next flush of a log waits until the test releases it, and the flush after
// that one fails.
class GatedFileSystem final : public MemoryFileSystem {
 public:
  Status NewWritableFile(const std::string& path, const vfs::FileOptions& options,
                         std::unique_ptr<vfs::WritableFile>* result) override {
    std::unique_ptr<vfs::WritableFile> base;
    if (const Status made = MemoryFileSystem::NewWritableFile(path, options, &base); !made.ok())
      return made;
    *result = path.ends_with(".log") ? std::make_unique<GatedFile>(this, std::move(base))
                                     : std::move(base);
    return Status::OK();
  }
  void CloseGate() {
    MutexLock lock(mutex_);
    state_ = State::kClosed;
  }
  void WaitForSomebodyAtTheGate() {
    MutexLock lock(mutex_);
    while (state_ != State::kSomebodyWaits) changed_.Wait(mutex_);
  }
  void OpenGateAndFailWhatComesNext() {
    MutexLock lock(mutex_);
    state_ = State::kFailing;
    changed_.SignalAll();
  }
  uint64_t BytesOfTheFailedFlush() const {
    MutexLock lock(mutex_);
    return failed_bytes_;
  }

 private:
  enum class State { kOpen, kClosed, kSomebodyWaits, kFailing };

  class GatedFile final : public vfs::WritableFile {
   public:
    GatedFile(GatedFileSystem* owner, std::unique_ptr<vfs::WritableFile> base)
        : owner_(owner), base_(std::move(base)) {}
    Status Append(const Slice& data) override {
      unflushed_ += data.size();
      return base_->Append(data);
    }
    Status Flush() override {
      if (const Status passed = owner_->Pass(unflushed_); !passed.ok()) return passed;
      unflushed_ = 0;
      return base_->Flush();
    }
    Status Sync() override { return base_->Sync(); }
    Status Close() override { return Status::OK(); }
    uint64_t Size() const override { return base_->Size(); }

   private:
    GatedFileSystem* const owner_;
    const std::unique_ptr<vfs::WritableFile> base_;
    uint64_t unflushed_ = 0;
  };

  Status Pass(uint64_t bytes) {
    MutexLock lock(mutex_);
    if (state_ == State::kFailing) {
      failed_bytes_ = std::max(failed_bytes_, bytes);
      return Status::IOError("injected");
    }
    if (state_ == State::kOpen) return Status::OK();
    state_ = State::kSomebodyWaits;
    changed_.SignalAll();
    while (state_ != State::kFailing) changed_.Wait(mutex_);
    return Status::OK();
  }

  mutable Mutex mutex_;
  CondVar changed_;
  State state_ ASHLAR_GUARDED_BY(mutex_) = State::kOpen;
  uint64_t failed_bytes_ ASHLAR_GUARDED_BY(mutex_) = 0;
};

class RegressionTest : public ::testing::Test {
 protected:
  RegressionTest()
      : disk_(std::make_shared<MemoryFileSystem>()),
        faults_(std::make_shared<FaultFileSystem>(disk_)),
        database_(std::make_unique<OpenDatabase>(faults_, SmallDatabaseOptions(), 5)) {}

  void Open() {
    const Status opened = database_->Open();
    ASSERT_TRUE(opened.ok()) << opened.ToString();
  }
  void Write(const Commit& commit) {
    const Status written = database_->Write(commit, WriteOptions());
    ASSERT_TRUE(written.ok()) << written.ToString();
  }
  void Flush() {
    const Status flushed = database_->Flush(database_->families(), true);
    ASSERT_TRUE(flushed.ok()) << flushed.ToString();
  }
  std::string Get(const std::string& key) {
    std::string value;
    const Status status = database_->db()->Get(ReadOptions(), key, &value);
    return status.ok() ? value : (status.IsNotFound() ? "NOT_FOUND" : status.ToString());
  }
  // The state that an open would find if the process were killed now.
  std::unique_ptr<OpenDatabase> AfterKill() const {
    auto recovered = std::make_unique<OpenDatabase>(
        std::make_shared<MemoryFileSystem>(disk_->Snapshot()), SmallDatabaseOptions(), 6);
    const Status opened = recovered->Open();
    EXPECT_TRUE(opened.ok()) << opened.ToString();
    return recovered;
  }
  static FamilyContents Read(const OpenDatabase& database) {
    Contents contents;
    EXPECT_TRUE(database.Read(&contents).ok());
    return contents[kDefaultColumnFamilyName];
  }
  // Makes three tables of twenty keys each.
  void SetUpTables() {
    Open();
    for (int i = 0; i < 60; ++i) {
      Write(Put(StrCat("key", i), std::string(100, 'v')));
      if (i % 20 == 19) Flush();
    }
  }
  std::vector<std::string> Tables() const {
    std::vector<std::string> names;
    EXPECT_TRUE(disk_->GetChildren(OpenDatabase::kPath, &names).ok());
    std::erase_if(names, [](const std::string& name) { return !name.ends_with(".sst"); });
    return names;
  }

  const std::shared_ptr<MemoryFileSystem> disk_;
  const std::shared_ptr<FaultFileSystem> faults_;
  std::unique_ptr<OpenDatabase> database_;
};

// The leader of a group failed to write the log, but its followers were notified that their writes
// had succeeded.
TEST_F(RegressionTest, FollowersHearOfTheLeadersFailedLogWrite) {
  constexpr int kFollowers = 4;
  bool group_formed = false;
  // The scheduler decides whether the waiting writers form one group. In most rounds they do.
  for (int round = 0; round < 100 && !group_formed; ++round) {
    const auto disk = std::make_shared<GatedFileSystem>();
    const std::unique_ptr<Env> env = NewCompositeEnv(disk);
    Options options = SmallDatabaseOptions();
    options.env = env.get();
    std::unique_ptr<DB> db;
    ASSERT_TRUE(DB::Open(options, OpenDatabase::kPath, &db).ok());
    disk->CloseGate();
    std::thread first([&] { EXPECT_TRUE(db->Put(WriteOptions(), "first", "value").ok()); });
    disk->WaitForSomebodyAtTheGate();
    std::atomic<int> started{0};
    std::vector<Status> statuses(kFollowers);
    std::vector<std::thread> writers;
    for (int i = 0; i < kFollowers; ++i) {
      writers.emplace_back([&, i] {
        started.fetch_add(1);
        statuses[static_cast<size_t>(i)] = db->Put(WriteOptions(), StrCat("follower", i), "value");
      });
    }
    while (started.load() < kFollowers) std::this_thread::yield();
    for (int i = 0; i < 300; ++i) std::this_thread::yield();
    disk->OpenGateAndFailWhatComesNext();
    first.join();
    for (std::thread& writer : writers) writer.join();
    group_formed = disk->BytesOfTheFailedFlush() > kFollowers * 20;
    OpenDatabase recovered(std::make_shared<MemoryFileSystem>(disk->Snapshot()),
                           SmallDatabaseOptions(), 1);
    ASSERT_TRUE(recovered.Open().ok());
    const FamilyContents found = Read(recovered);
    EXPECT_TRUE(found.contains("first"));
    for (int i = 0; i < kFollowers; ++i) {
      const Status& status = statuses[static_cast<size_t>(i)];
      EXPECT_EQ(status.ok(), found.contains(StrCat("follower", i))) << status.ToString();
      EXPECT_TRUE(status.IsIOError()) << status.ToString();
    }
  }
  EXPECT_TRUE(group_formed);
}

// A full disk left half of a record in the middle of the MANIFEST, and later records were appended
// after it.
TEST_F(RegressionTest, NoSpaceInTheMiddleOfTheManifest) {
  Open();
  Write(Put("a", "1"));
  FaultRule rule = Rule(FaultOperation::kAppend, "MANIFEST", Status::NoSpace("injected"));
  rule.effect = FaultEffect::kPartialAppend;
  faults_->AddRule(rule);
  EXPECT_TRUE(database_->Flush(database_->families(), true).IsNoSpace());
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Read(*AfterKill()), (FamilyContents{{"a", "1"}}));
  ASSERT_TRUE(database_->db()->Resume().ok());
  Write(Put("b", "2"));
  Flush();
  EXPECT_EQ(Read(*AfterKill()), (FamilyContents{{"a", "1"}, {"b", "2"}}));
}

// An error during the replay of a log was treated as the end of the log.
TEST_F(RegressionTest, AReadErrorDuringReplayIsNoLoss) {
  Open();
  for (int i = 0; i < 200; ++i) Write(Put(StrCat("key", i), std::string(300, 'v')));
  const auto disk = std::make_shared<MemoryFileSystem>(disk_->Snapshot());
  const auto faults = std::make_shared<FaultFileSystem>(disk);
  for (const WALRecoveryMode mode :
       {WALRecoveryMode::kPointInTimeRecovery, WALRecoveryMode::kSkipAnyCorruptedRecords}) {
    Options options = SmallDatabaseOptions();
    options.wal_recovery_mode = mode;
    for (uint64_t nth = 1; nth <= 2; ++nth) {
      OpenDatabase recovered(faults, options, 1);
      FaultRule rule = Rule(FaultOperation::kRead, ".log", Status::IOError("injected"));
      rule.nth = nth;
      faults->AddRule(rule);
      const uint64_t before = disk->Snapshot().Fingerprint();
      const Status opened = recovered.Open();
      EXPECT_TRUE(opened.IsIOError()) << opened.ToString();
      EXPECT_NE(opened.ToString().find(".log"), std::string::npos) << opened.ToString();
      EXPECT_EQ(disk->Snapshot().Fingerprint(), before);
      faults->ClearRules();
    }
  }
  OpenDatabase recovered(faults, SmallDatabaseOptions(), 1);
  ASSERT_TRUE(recovered.Open().ok());
  EXPECT_EQ(Read(recovered).size(), 200u);
}

// An iterator skipped a table that it could not read, so that the deletions in it had no effect.
TEST_F(RegressionTest, AnIteratorThatMeetsAnErrorRevivesNoDeletes) {
  Open();
  for (int i = 0; i < 50; ++i) Write(Put(StrCat("key", i), std::string(200, 'v')));
  Flush();
  ASSERT_TRUE(database_->db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  for (int i = 0; i < 50; ++i) Write(Delete(StrCat("key", i)));
  Write(Put("left", "over"));
  Flush();
  ASSERT_TRUE(database_->Close().ok());
  uint64_t errors = 0;
  for (uint64_t nth = 1; nth <= 40; ++nth) {
    Open();
    FaultRule rule = Rule(FaultOperation::kRead | FaultOperation::kOpenForReading, ".sst",
                          Status::IOError("injected"));
    rule.nth = nth;
    faults_->AddRule(rule);
    for (const bool forward : {true, false}) {
      const std::unique_ptr<Iterator> it(database_->db()->NewIterator(ReadOptions()));
      size_t entries = 0;
      for (forward ? it->SeekToFirst() : it->SeekToLast(); it->Valid();
           forward ? it->Next() : it->Prev()) {
        EXPECT_EQ(it->key().ToString(), "left");
        ++entries;
      }
      EXPECT_TRUE(!it->status().ok() || entries == 1);
      errors += it->status().ok() ? 0u : 1u;
    }
    for (int i = 0; i < 50; i += 7) {
      const std::string found = Get(StrCat("key", i));
      EXPECT_TRUE(found == "NOT_FOUND" || found.starts_with("IO error")) << found;
    }
    faults_->ClearRules();
    ASSERT_TRUE(database_->Close().ok());
  }
  EXPECT_GT(errors, 2u);
}

// A compaction treated a read error at the start of a table as its end, and dropped the table.
TEST_F(RegressionTest, AReadErrorInACompactionDropsNothing) {
  for (uint64_t nth = 1; nth <= 12; ++nth) {
    SetUpTables();
    FaultRule rule = Rule(FaultOperation::kRead, ".sst", Status::IOError("injected"));
    rule.nth = nth;
    faults_->AddRule(rule);
    const Status compacted = database_->db()->CompactRange(CompactRangeOptions(), nullptr, nullptr);
    EXPECT_EQ(compacted.ok(), faults_->FaultsInjected() == 0) << compacted.ToString();
    faults_->ClearRules();
    faults_->ResetCounts();
    ASSERT_TRUE(database_->db()->Resume().ok());
    EXPECT_EQ(Read(*database_).size(), 60u);
    ASSERT_TRUE(database_->db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
    EXPECT_EQ(Read(*database_).size(), 60u);
    ASSERT_TRUE(database_->Close().ok());
  }
}

// A compaction failed to sync its directory, and its tables stayed until the next open.
TEST_F(RegressionTest, ACompactionWithoutASyncedDirectoryLeavesNoTables) {
  SetUpTables();
  const std::vector<std::string> tables = Tables();
  CompactRangeOptions rewrite;
  rewrite.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  faults_->AddRule(Rule(FaultOperation::kSyncDirectory, "", Status::IOError("injected")));
  const Status compacted = database_->db()->CompactRange(rewrite, nullptr, nullptr);
  EXPECT_TRUE(compacted.IsIOError()) << compacted.ToString();
  EXPECT_EQ(faults_->FaultsInjected(), 1u);
  faults_->ClearRules();
  EXPECT_EQ(Tables(), tables);
  ASSERT_TRUE(database_->db()->Resume().ok());
  EXPECT_EQ(Read(*database_).size(), 60u);
}

// After a failed sync the bytes may be lost even if the next sync succeeds. Nothing may be
// acknowledged on that log any more.
TEST_F(RegressionTest, AFailedSyncIsNotTriedAgain) {
  Open();
  faults_->AddRule(Rule(FaultOperation::kSync, ".log", Status::IOError("injected")));
  WriteOptions synced;
  synced.sync = true;
  const Status first = database_->Write(Put("a", "1"), synced);
  EXPECT_TRUE(first.IsIOError()) << first.ToString();
  EXPECT_EQ(database_->Write(Put("b", "2"), synced).ToString(), first.ToString());
  EXPECT_EQ(database_->db()->SyncWAL().ToString(), first.ToString());
  EXPECT_EQ(Get("a"), "NOT_FOUND");
  ASSERT_TRUE(database_->db()->Resume().ok());
  Write(Put("c", "3"));
  EXPECT_EQ(Read(*AfterKill()), (FamilyContents{{"c", "3"}}));
}

// The same if SyncWAL syncs the log concurrently with writers. The first Resume succeeds.
TEST_F(RegressionTest, AFailedSyncDuringWritesIsNotTriedAgain) {
  Open();
  Write(Put("a", "1"));
  faults_->AddRule(Rule(FaultOperation::kSync, ".log", Status::IOError("injected")));
  const Status first = database_->db()->SyncWAL();
  EXPECT_TRUE(first.IsIOError()) << first.ToString();
  EXPECT_EQ(database_->Write(Put("b", "2"), WriteOptions()).ToString(), first.ToString());
  EXPECT_EQ(database_->db()->SyncWAL().ToString(), first.ToString());
  ASSERT_TRUE(database_->db()->Resume().ok());
  Write(Put("c", "3"));
  ASSERT_TRUE(database_->db()->SyncWAL().ok());
  EXPECT_EQ(Read(*AfterKill()), (FamilyContents{{"a", "1"}, {"c", "3"}}));
}

// A writer waited for the medium while SyncWAL was waiting for it.
TEST_F(RegressionTest, WritersGoOnDuringSyncWAL) {
  Open();
  Write(Put("a", "1"));
  FaultRule rule = Rule(FaultOperation::kSync, ".log", Status::IOError("not injected"));
  rule.effect = FaultEffect::kRunAction;
  rule.action = [this] { Write(Put("b", "2")); };
  faults_->AddRule(rule);
  ASSERT_TRUE(database_->db()->SyncWAL().ok());
  EXPECT_EQ(Get("b"), "2") << "written before SyncWAL returned";
  EXPECT_EQ(Read(*AfterKill()), (FamilyContents{{"a", "1"}, {"b", "2"}}));
}

// With several families, a flush syncs the older logs first. If one of them has failed for good, a
// resume must not wait for that sync.
TEST_F(RegressionTest, ResumeAfterAFailedLogWithSeveralFamilies) {
  Open();
  ASSERT_TRUE(database_->CreateFamily("second").ok());
  Write({{.kind = Change::Kind::kPut, .family = "second", .key = "a", .value = "1"}});
  Write(Put("a", "1"));
  FaultRule rule = Rule(FaultOperation::kAppend | FaultOperation::kFlush | FaultOperation::kSync,
                        ".log", Status::IOError("injected"));
  rule.sticky = true;
  faults_->AddRule(rule);
  EXPECT_FALSE(database_->Write(Put("b", "2"), WriteOptions()).ok());
  EXPECT_FALSE(database_->db()->Resume().ok());
  faults_->ClearRules();
  const Status resumed = database_->db()->Resume();
  ASSERT_TRUE(resumed.ok()) << resumed.ToString();
  Write(Put("c", "3"));
  EXPECT_EQ(Read(*AfterKill()), (FamilyContents{{"a", "1"}, {"c", "3"}}));
}

// The failed log contained a refused write, and the next log gave its sequence number to another
// write.
TEST_F(RegressionTest, ARefusedWriteDoesNotComeBackAfterAResume) {
  Open();
  ASSERT_TRUE(database_->CreateFamily("second").ok());
  FaultRule rule = Rule(FaultOperation::kFlush, ".log", Status::IOError("injected"));
  rule.effect = FaultEffect::kFailAfter;
  faults_->AddRule(rule);
  EXPECT_FALSE(database_->Write(Put("refused", "1"), WriteOptions()).ok());
  ASSERT_TRUE(database_->db()->Resume().ok());
  // This holds even if the old log stays because it could not be deleted.
  Write(Put("accepted", "2"));
  EXPECT_EQ(Read(*AfterKill()), (FamilyContents{{"accepted", "2"}}));
}

TEST_F(RegressionTest, ARefusedWriteDoesNotComeBackFromALogThatCannotBeDeleted) {
  Open();
  ASSERT_TRUE(database_->CreateFamily("second").ok());
  FaultRule flush = Rule(FaultOperation::kFlush, ".log", Status::IOError("injected"));
  flush.effect = FaultEffect::kFailAfter;
  faults_->AddRule(flush);
  FaultRule deletion = Rule(FaultOperation::kDelete, ".log", Status::IOError("injected"));
  deletion.sticky = true;
  faults_->AddRule(deletion);
  EXPECT_FALSE(database_->Write(Put("refused", "1"), WriteOptions()).ok());
  ASSERT_TRUE(database_->db()->Resume().ok());
  Write(Put("accepted", "2"));
  EXPECT_EQ(Read(*AfterKill()), (FamilyContents{{"accepted", "2"}}));
}

// A memtable that became full with the last record of a replayed log left an empty memtable that
// seemed to need that log. The next open replayed the log again over its own tables, and applied
// merges twice.
TEST_F(RegressionTest, ALogThatEndsWithAFullMemTableIsReplayedOnce) {
  Open();
  std::string operands;
  for (int i = 0; i < 75; ++i) {
    const std::string operand = StrCat(i, std::string(900, 'x'));
    Write({{.kind = Change::Kind::kMerge,
            .family = kDefaultColumnFamilyName,
            .key = "list",
            .value = operand}});
    StrAppend(&operands, i == 0 ? "" : ",", operand);
    if (i < 45) continue;
    const auto killed_twice = std::make_shared<MemoryFileSystem>(disk_->Snapshot());
    for (int open = 0; open < 3; ++open) {
      OpenDatabase recovered(std::make_shared<MemoryFileSystem>(killed_twice->Snapshot()),
                             SmallDatabaseOptions(), 6);
      ASSERT_TRUE(recovered.Open().ok());
      ASSERT_TRUE(Read(recovered) == (FamilyContents{{"list", operands}}))
          << i + 1 << " operands, open " << open;
      OpenDatabase in_place(killed_twice, SmallDatabaseOptions(), 6);
      ASSERT_TRUE(in_place.Open().ok());
    }
  }
}

// If only CURRENT was missing, a new database was created in place of the old one.
TEST_F(RegressionTest, ALostCurrentIsNotAnInvitationToStartAnew) {
  const ClosedDatabase closed;
  for (const bool create_if_missing : {true, false}) {
    Options options = closed.options();
    options.create_if_missing = create_if_missing;
    const Autopsy autopsy = OpenAndReadAll(closed.Without("CURRENT"), options, closed.contents());
    EXPECT_FALSE(autopsy.opened);
    EXPECT_TRUE(autopsy.untouched);
    EXPECT_NE(autopsy.status.ToString().find("CURRENT"), std::string::npos)
        << autopsy.status.ToString();
    // The text names a remedy if create_if_missing, which the other text suggests, does not help.
    EXPECT_EQ(create_if_missing,
              autopsy.status.ToString().find("best_efforts_recovery") != std::string::npos)
        << autopsy.status.ToString();
  }
}

// Close mistook the tables and blocks that background jobs held for values that the program still
// pinned.
TEST_F(RegressionTest, CloseDoesNotTakeJobsForPins) {
  Open();
  ASSERT_TRUE(database_->CreateFamily("second").ok());
  for (int i = 0; i < 300; ++i) {
    Write({{.kind = Change::Kind::kPut,
            .family = i % 2 == 0 ? "second" : "default",
            .key = StrCat(i),
            .value = std::string(100, 'v')}});
    if (i % 40 != 39) continue;
    ASSERT_TRUE(database_->Flush(database_->families(), false).ok());
    while (i > 100 && database_->env()->RunOneFlush()) {
    }
  }
  // Flushes and a compaction of each family are waiting, also those of the dropped family.
  ASSERT_TRUE(database_->DropFamily("second").ok());
  const Status closed = database_->Close();
  EXPECT_TRUE(closed.ok()) << closed.ToString();
}

// An error while a dropped family's tables are deleted is not returned to any caller.
TEST_F(RegressionTest, ErrorsOfDeletionsAreNotErrorsOfTheDatabase) {
  SetUpTables();
  FaultRule rule = Rule(FaultOperation::kDelete, "", Status::IOError("injected"));
  rule.sticky = true;
  faults_->AddRule(rule);
  ASSERT_TRUE(database_->db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  Write(Put("writable", "still"));
  const size_t tables = Tables().size();
  faults_->ClearRules();
  ASSERT_TRUE(database_->Close().ok());
  Open();
  EXPECT_LT(Tables().size(), tables) << "what could not be deleted goes at the next open";
  EXPECT_EQ(Get("writable"), "still");
}

}  // namespace
}  // namespace ashlar
