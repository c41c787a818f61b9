// DB::PromoteToPrimary after a clean close and after the death of the primary: its refusals,
// concurrent readers, and an error at every call.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ashlar/listener.h"
#include "ashlar/wal_filter.h"
#include "filesystem/file_helpers.h"
#include "tests/secondary/secondary_fixture.h"
#include "tests/support/gate.h"

namespace ashlar {
namespace {

class PromotionTest : public SecondaryFixture {
 protected:
  void SetUp() override {
    OpenPrimary();
    for (int i = 0; i < 3; ++i) Step();
    Write();
  }
  void ClosePrimary() {
    ASSERT_OK(primary_->Close());
    primary_.reset();
  }
  Status Promote() {
    const Status promoted = secondary_->PromoteToPrimary();
    if (secondary_->IsSecondary() || promoted.ok()) CheckInvariants(secondary_.get());
    return promoted;
  }
  // Writes the next batch to the promoted secondary.
  Status WritePromoted(const WriteOptions& options = WriteOptions()) {
    Contents next = states_.back();
    WriteBatch batch;
    const std::string key = StrCat("key", states_.size() % 7);
    for (size_t family = 0; family < handles_.size(); ++family) {
      const std::string& name = handles_[family]->GetName();
      const std::string value = StrCat("promoted", states_.size());
      EXPECT_OK(batch.Put(handles_[family].get(), kNumberKey, StrCat(states_.size())));
      EXPECT_OK(batch.Put(handles_[family].get(), key, value));
      next[name][kNumberKey] = StrCat(states_.size());
      next[name][key] = value;
    }
    const Status written = secondary_->Write(options, &batch);
    if (written.ok()) states_.push_back(std::move(next));
    return written;
  }
  // Makes every kind of change to the files with the promoted secondary.
  void StepPromoted() {
    ASSERT_OK(WritePromoted());
    ASSERT_OK(secondary_->Flush(FlushOptions(), {handles_[0].get(), handles_[1].get()}));
    ASSERT_OK(secondary_->CompactRange(CompactRangeOptions(), handles_[0].get(), nullptr, nullptr));
    ASSERT_OK(WritePromoted());
    ASSERT_NO_FATAL_FAILURE(ExpectAll());
  }
  // Compares the database as another process finds it.
  void ReopenAndCompare() {
    CloseSecondary();
    primary_ = std::make_unique<OpenDatabase>(primary_files_, options_, 3);
    ASSERT_OK(primary_->Open());
    Contents contents;
    ASSERT_OK(primary_->Read(&contents));
    EXPECT_EQ(contents, states_.back());
  }
  // Returns the highest name with the prefix.
  std::string Newest(const std::string& prefix) const {
    std::vector<std::string> names;
    EXPECT_OK(disk_->GetChildren(OpenDatabase::kPath, &names));
    std::string newest;
    for (const std::string& name : names) {
      if (name.starts_with(prefix)) newest = std::max(newest, name);
    }
    return newest;
  }
  std::vector<std::string> Tables() const {
    std::vector<std::string> names;
    EXPECT_OK(disk_->GetChildren(OpenDatabase::kPath, &names));
    std::erase_if(names, [](const std::string& name) { return !name.ends_with(".sst"); });
    return names;
  }
};

TEST_F(PromotionTest, AfterACleanCloseTheSecondaryWritesOn) {
  ASSERT_OK(OpenSecondary());
  for (int i = 0; i < 3; ++i) Write();
  ClosePrimary();
  EXPECT_TRUE(secondary_->IsSecondary());
  ASSERT_OK(Promote());
  EXPECT_FALSE(secondary_->IsSecondary());
  ExpectAll();
  for (int i = 0; i < 3; ++i) StepPromoted();
  EXPECT_TRUE(secondary_->TryCatchUpWithPrimary().IsNotSupported());
  EXPECT_TRUE(secondary_->PromoteToPrimary().IsNotSupported());
  const Snapshot* const snapshot = secondary_->GetSnapshot();
  ASSERT_NE(snapshot, nullptr);
  secondary_->ReleaseSnapshot(snapshot);
  ColumnFamilyHandle* third = nullptr;
  ASSERT_OK(secondary_->CreateColumnFamily(options_, "third", &third));
  ASSERT_OK(secondary_->DropColumnFamily(third));
  delete third;
  handles_.clear();
  ASSERT_OK(secondary_->Close());
  ReopenAndCompare();
}

TEST_F(PromotionTest, AfterTheDeathOfThePrimaryEachAcknowledgedWriteIsThere) {
  for (const bool avoids_flush : {false, true}) {
    options_.avoid_flush_during_recovery = avoids_flush;
    ASSERT_OK(OpenSecondary());
    for (int i = 0; i < 5; ++i) Write();
    KillPrimary();
    ASSERT_OK(Promote());
    ExpectAll();
    for (int i = 0; i < 3; ++i) StepPromoted();
    ASSERT_NO_FATAL_FAILURE(ReopenAndCompare());
  }
}

TEST_F(PromotionTest, WithoutTheLogsOfTheDeadPrimaryIsRefused) {
  Write();
  KillPrimary();
  ASSERT_OK(disk_->CreateDir("/elsewhere"));
  options_.wal_dir = "/elsewhere";
  ASSERT_OK(OpenSecondary());
  const Status promoted = Promote();
  EXPECT_TRUE(promoted.IsInvalidArgument()) << promoted.ToString();
  EXPECT_NE(promoted.ToString().find("no log in /elsewhere"), std::string::npos)
      << promoted.ToString();
  EXPECT_TRUE(secondary_->IsSecondary());
  options_.wal_dir.clear();
  ASSERT_OK(OpenSecondary());
  ASSERT_OK(Promote());
  ExpectAll();
}

TEST_F(PromotionTest, ALivingPrimaryKeepsItsDatabase) {
  ASSERT_OK(OpenSecondary());
  Write();
  for (int i = 0; i < 2; ++i) {
    const Status promoted = Promote();
    EXPECT_TRUE(promoted.IsBusy()) << promoted.ToString();
    EXPECT_TRUE(secondary_->IsSecondary());
    Step();
    ASSERT_OK(CatchUp());
    ExpectAll();
  }
  EXPECT_TRUE(secondary_->Put(WriteOptions(), "key", "value").IsNotSupported());
  Write();
  KillPrimary();
  ASSERT_OK(Promote());
  ExpectAll();
  StepPromoted();
}

TEST_F(PromotionTest, ThePromotedIsFollowedAndKeepsOthersOut) {
  ASSERT_OK(OpenSecondary());
  KillPrimary();
  ManualEnv other_env(disk_, 4);
  Options options = options_;
  options.env = &other_env;
  std::unique_ptr<DB> other;
  std::vector<ColumnFamilyHandle*> handles;
  ASSERT_OK(DB::OpenAsSecondary(options, OpenDatabase::kPath, "/other",
                                {ColumnFamilyDescriptor(kDefaultColumnFamilyName, options),
                                 ColumnFamilyDescriptor(kSecond, options)},
                                &handles, &other));
  for (ColumnFamilyHandle* const handle : handles) delete handle;
  ASSERT_OK(Promote());
  for (int i = 0; i < 3; ++i) {
    StepPromoted();
    ASSERT_OK(other->TryCatchUpWithPrimary());
    std::string number;
    ASSERT_OK(other->Get(ReadOptions(), kNumberKey, &number));
    EXPECT_EQ(number, StrCat(written()));
  }
  EXPECT_TRUE(other->PromoteToPrimary().IsBusy());
  ASSERT_OK(other->Close());
  other.reset();
}

TEST_F(PromotionTest, IteratorsAndValuesThatAreUnderWayStay) {
  ASSERT_OK(OpenSecondary());
  const uint64_t before = written();
  const std::unique_ptr<Iterator> old(secondary_->NewIterator(ReadOptions(), handles_[0].get()));
  PinnableSlice pinned;
  ASSERT_OK(secondary_->Get(ReadOptions(), handles_[0].get(), kNumberKey, &pinned));
  // The primary deletes tables that the iterator reads.
  for (int i = 0; i < 3; ++i) Step();
  KillPrimary();
  ASSERT_OK(Promote());
  for (int i = 0; i < 3; ++i) StepPromoted();
  EXPECT_EQ(ReadAll(old.get()), states_[before].at(kDefaultColumnFamilyName));
  EXPECT_EQ(pinned.ToString(), StrCat(before));
  ASSERT_OK(old->Refresh());
  EXPECT_EQ(ReadAll(old.get()), states_.back().at(kDefaultColumnFamilyName));
}

// Tables that only a reader from before the promotion holds are deleted when the reader ends.
TEST_F(PromotionTest, TablesOfReadersGoWithThem) {
  ASSERT_OK(OpenSecondary());
  std::unique_ptr<Iterator> old(secondary_->NewIterator(ReadOptions(), handles_[0].get()));
  KillPrimary();
  ASSERT_OK(Promote());
  const FamilyContents at_promotion = states_.back().at(kDefaultColumnFamilyName);
  StepPromoted();
  StepPromoted();
  EXPECT_EQ(ReadAll(old.get()), at_promotion);
  old.reset();
  ASSERT_OK(secondary_->WaitForCompact(WaitForCompactOptions()));
  std::vector<LiveFileMetaData> live;
  secondary_->GetLiveFilesMetaData(&live);
  EXPECT_EQ(Tables().size(), live.size());
}

TEST_F(PromotionTest, AFamilyThatIsNotOpenIsNamed) {
  Options options = options_;
  options.env = &secondary_env_;
  ASSERT_OK(DB::OpenAsSecondary(options, OpenDatabase::kPath, kOwnPath, &secondary_));
  KillPrimary();
  Status promoted = Promote();
  EXPECT_TRUE(promoted.IsInvalidArgument()) << promoted.ToString();
  EXPECT_NE(promoted.ToString().find(kSecond), std::string::npos) << promoted.ToString();
  EXPECT_TRUE(secondary_->IsSecondary());
  // LOCK is free, and nothing has changed.
  ReopenAndCompare();
  ASSERT_OK(OpenSecondary());
  ASSERT_OK(primary_->CreateFamily("later"));
  Write();
  KillPrimary();
  promoted = Promote();
  EXPECT_TRUE(promoted.IsInvalidArgument()) << promoted.ToString();
  EXPECT_NE(promoted.ToString().find("later"), std::string::npos) << promoted.ToString();
  ASSERT_OK(CatchUp());
  ExpectAll();
}

TEST_F(PromotionTest, AFamilyThatThePrimaryHasDropped) {
  ASSERT_OK(OpenSecondary());
  ASSERT_OK(primary_->DropFamily(kSecond));
  KillPrimary();
  ASSERT_OK(Promote());
  EXPECT_EQ(Read(0), states_.back().at(kDefaultColumnFamilyName));
  EXPECT_TRUE(secondary_->Put(WriteOptions(), handles_[1].get(), "a", "b").IsColumnFamilyDropped());
  ASSERT_OK(secondary_->Put(WriteOptions(), handles_[0].get(), "a", "b"));
  ASSERT_OK(secondary_->Flush(FlushOptions()));
}

// Resume takes the steps that should have followed the flush of the replayed writes.
TEST_F(PromotionTest, ResumeFinishesAPromotionWhoseFlushFailed) {
  ASSERT_OK(OpenSecondary());
  for (int i = 0; i < 3; ++i) Write();
  KillPrimary();
  const std::string orphan = StrCat(OpenDatabase::kPath, "/000002.sst");
  ASSERT_OK(WriteStringToFile(disk_.get(), "left", orphan, Durability::kBuffered));
  const std::string old_log = NewestLog();
  const std::string old_options = Newest("OPTIONS-");
  FaultRule rule;
  rule.name_contains = ".sst";
  rule.operations = FaultOperation::kAppend;
  calls_->AddRule(rule);
  const Status promoted = Promote();
  calls_->ClearRules();
  ASSERT_FALSE(promoted.ok());
  ASSERT_FALSE(secondary_->IsSecondary());
  EXPECT_OK(disk_->FileExists(orphan));
  EXPECT_EQ(Newest("OPTIONS-"), old_options);
  ASSERT_OK(secondary_->Resume());
  EXPECT_TRUE(disk_->FileExists(orphan).IsNotFound());
  EXPECT_TRUE(disk_->FileExists(old_log).IsNotFound());
  EXPECT_GT(Newest("OPTIONS-"), old_options);
  StepPromoted();
  ASSERT_NO_FATAL_FAILURE(ReopenAndCompare());
}

// At the start of a resume, it lets compactions run, and waits until one has written its table and
// reads it. No version lists the table yet.
class StartsACompaction final : public EventListener {
 public:
  explicit StartsACompaction(FaultFileSystem* files) : files_(files) {}

  void OnErrorRecoveryBegin(BackgroundErrorReason, Status, bool*) override {
    FaultRule rule;
    rule.operations = FaultOperation::kRead;
    rule.name_contains = ".sst";
    rule.sticky = true;
    rule.effect = FaultEffect::kRunAction;
    rule.action = [this] {
      if (std::this_thread::get_id() != has_written_.load()) return;
      looks_.Open();
      may_go_on_.Wait();
    };
    files_->AddRule(rule);
    EXPECT_OK(db->SetOptions({{"disable_auto_compactions", "false"}}));
    looks_.Wait();
  }
  void OnTableFileCreated(const TableFileCreationInfo& info) override {
    if (info.reason == TableFileCreationReason::kCompaction)
      has_written_.store(std::this_thread::get_id());
  }
  void LetItGoOn() { may_go_on_.Open(); }

  DB* db = nullptr;

 private:
  FaultFileSystem* const files_;
  std::atomic<std::thread::id> has_written_;
  Gate looks_;
  Gate may_go_on_;
};

// Its table must not be deleted as an orphan of the old primary, or the next open lacks it.
TEST(PromotionWithJobsTest, ACompactionDuringTheResumeKeepsItsTable) {
  const auto files = std::make_shared<FaultFileSystem>(std::make_shared<MemoryFileSystem>());
  const std::unique_ptr<Env> env = NewCompositeEnv(files);
  const auto listener = std::make_shared<StartsACompaction>(files.get());
  Options options;
  options.env = env.get();
  options.create_if_missing = true;
  options.disable_auto_compactions = true;
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, OpenDatabase::kPath, &db));
  for (int i = 0; i < options.level0_file_num_compaction_trigger; ++i) {
    ASSERT_OK(db->Put(WriteOptions(), "key", StrCat(i)));
    ASSERT_OK(db->Flush(FlushOptions()));
  }
  ASSERT_OK(db->Put(WriteOptions(), "in the log", "value"));
  options.listeners.push_back(listener);
  std::unique_ptr<DB> secondary;
  ASSERT_OK(DB::OpenAsSecondary(options, OpenDatabase::kPath, "/secondary", &secondary));
  listener->db = secondary.get();
  ASSERT_OK(db->Close());
  db.reset();
  FaultRule rule;
  rule.name_contains = ".sst";
  rule.operations = FaultOperation::kAppend;
  files->AddRule(rule);
  EXPECT_FALSE(secondary->PromoteToPrimary().ok());
  files->ClearRules();
  ASSERT_FALSE(secondary->IsSecondary());
  ASSERT_OK(secondary->Resume());
  listener->LetItGoOn();
  ASSERT_OK(secondary->WaitForCompact(WaitForCompactOptions()));
  files->ClearRules();
  ASSERT_OK(secondary->Close());
  secondary.reset();
  options.listeners.clear();
  ASSERT_OK(DB::Open(options, OpenDatabase::kPath, &db));
  for (const char* const key : {"key", "in the log"}) {
    std::string value;
    EXPECT_OK(db->Get(ReadOptions(), key, &value)) << key;
  }
  ASSERT_OK(db->Close());
}

// The second look at the archive must not end the process by an assertion.
TEST(PromotionWithAnArchiveTest, ResumeLooksAtTheArchiveAgain) {
  const auto files = std::make_shared<FaultFileSystem>(std::make_shared<MemoryFileSystem>());
  const std::unique_ptr<Env> env = NewCompositeEnv(files);
  Options options;
  options.env = env.get();
  options.create_if_missing = true;
  options.WAL_ttl_seconds = 1000;
  options.fail_if_options_file_error = true;
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, OpenDatabase::kPath, &db));
  for (const char* const key : {"a", "b"}) {
    ASSERT_OK(db->Put(WriteOptions(), key, "value"));
    ASSERT_OK(db->Flush(FlushOptions()));
  }
  std::unique_ptr<DB> secondary;
  ASSERT_OK(DB::OpenAsSecondary(options, OpenDatabase::kPath, "/secondary", &secondary));
  ASSERT_OK(db->Close());
  db.reset();
  FaultRule rule;
  rule.name_contains = "OPTIONS";
  rule.operations = FaultOperation::kAnyWrite;
  files->AddRule(rule);
  EXPECT_FALSE(secondary->PromoteToPrimary().ok());
  files->ClearRules();
  ASSERT_FALSE(secondary->IsSecondary());
  ASSERT_OK(secondary->Resume());
  VectorWalPtr logs;
  ASSERT_OK(secondary->GetSortedWalFiles(logs));
  EXPECT_GE(logs.size(), 2u);
  EXPECT_OK(secondary->Put(WriteOptions(), "c", "value"));
  ASSERT_OK(secondary->Close());
}

// Calls each of the three methods from a flush of the promotion.
class AsksAgain final : public EventListener {
 public:
  void OnFlushCompleted(DB*, const FlushJobInfo&) override {
    if (db == nullptr) return;
    for (const Status& status :
         {db->TryCatchUpWithPrimary(), db->PromoteToPrimary(), db->Close()}) {
      EXPECT_TRUE(status.IsBusy()) << status.ToString();
      ++calls;
    }
  }

  DB* db = nullptr;  // null: no call is made
  int calls = 0;
};

TEST_F(PromotionTest, AListenerOfThePromotionIsTurnedAway) {
  const auto listener = std::make_shared<AsksAgain>();
  options_.listeners.push_back(listener);
  ASSERT_OK(OpenSecondary());
  Write();
  KillPrimary();
  listener->db = secondary_.get();
  ASSERT_OK(Promote());
  listener->db = nullptr;
  EXPECT_GT(listener->calls, 0);
  ExpectAll();
  StepPromoted();
  options_.listeners.clear();
  ASSERT_NO_FATAL_FAILURE(ReopenAndCompare());
}

class KeepsRecords final : public WalFilter {
 public:
  WalProcessingOption LogRecordFound(unsigned long long, const std::string&, const WriteBatch&,
                                     WriteBatch*, bool*) override {
    return WalProcessingOption::kContinueProcessing;
  }
  const char* Name() const override { return "KeepsRecords"; }
};

TEST_F(PromotionTest, OptionsThatAPrimaryCannotHave) {
  KeepsRecords filter;
  options_.wal_filter = &filter;
  ASSERT_OK(OpenSecondary());
  options_.wal_filter = nullptr;
  KillPrimary();
  const Status promoted = Promote();
  EXPECT_TRUE(promoted.IsNotSupported()) << promoted.ToString();
  EXPECT_NE(promoted.ToString().find("wal_filter"), std::string::npos) << promoted.ToString();
}

TEST_F(PromotionTest, OnlyASecondaryIsPromoted) {
  EXPECT_FALSE(primary_->db()->IsSecondary());
  EXPECT_TRUE(primary_->db()->PromoteToPrimary().IsNotSupported());
  Options options = options_;
  options.env = &secondary_env_;
  ASSERT_OK(DB::OpenForReadOnly(options, OpenDatabase::kPath, &secondary_));
  EXPECT_TRUE(secondary_->PromoteToPrimary().IsNotSupported());
  CloseSecondary();
  ASSERT_OK(OpenSecondary());
  handles_.clear();
  ASSERT_OK(secondary_->Close());
  EXPECT_TRUE(secondary_->PromoteToPrimary().IsShutdownInProgress());
}

// The recovery mode decides what happens to a log whose last record is torn.
TEST_F(PromotionTest, ATornLogIsWhatTheRecoveryModeSays) {
  for (const WALRecoveryMode mode :
       {WALRecoveryMode::kTolerateCorruptedTailRecords, WALRecoveryMode::kAbsoluteConsistency,
        WALRecoveryMode::kPointInTimeRecovery, WALRecoveryMode::kSkipAnyCorruptedRecords}) {
    SCOPED_TRACE(StrCat("mode ", static_cast<int>(mode)));
    options_.wal_recovery_mode = mode;
    ASSERT_OK(OpenSecondary());
    const std::string log = NewestLog();
    Write();
    uint64_t bytes = 0;
    ASSERT_OK(disk_->GetFileSize(log, &bytes));
    Write();
    KillPrimary();
    ASSERT_OK(disk_->Truncate(log, bytes + 20));
    const Status promoted = Promote();
    if (mode == WALRecoveryMode::kAbsoluteConsistency) {
      EXPECT_TRUE(promoted.IsCorruption()) << promoted.ToString();
      EXPECT_TRUE(secondary_->IsSecondary());
      ExpectOneMoment(0);
      ASSERT_OK(disk_->Truncate(log, bytes));
      ASSERT_OK(Promote());
    } else {
      ASSERT_OK(promoted);
    }
    states_.pop_back();
    ExpectAll();
    StepPromoted();
    ASSERT_NO_FATAL_FAILURE(ReopenAndCompare());
  }
}

TEST_F(PromotionTest, FilesThatLackWhatWasShownAreRefused) {
  ASSERT_OK(OpenSecondary());
  const std::string log = NewestLog();
  uint64_t bytes = 0;
  ASSERT_OK(disk_->GetFileSize(log, &bytes));
  Write();
  ASSERT_OK(CatchUp());
  KillPrimary();
  ASSERT_OK(disk_->Truncate(log, bytes));
  const Status promoted = Promote();
  EXPECT_TRUE(promoted.IsCorruption()) << promoted.ToString();
  EXPECT_TRUE(secondary_->IsSecondary());
  ExpectAll();
}

// An edit after the missing writes has recorded their sequences in the MANIFEST.
TEST_F(PromotionTest, FilesThatLackWhatWasShownAreRefusedWhereTheManifestIsNewer) {
  ASSERT_OK(OpenSecondary());
  const std::string log = NewestLog();
  uint64_t bytes = 0;
  ASSERT_OK(disk_->GetFileSize(log, &bytes));
  Write();
  ColumnFamilyMetaData tables;
  primary_->db()->GetColumnFamilyMetaData(primary_->family(kSecond), &tables);
  std::vector<std::string> names;
  for (const LevelMetaData& level : tables.levels) {
    for (const SstFileMetaData& file : level.files) names.push_back(file.name);
  }
  constexpr int kLastLevel = 6;
  ASSERT_OK(primary_->db()->CompactFiles(CompactionOptions(), primary_->family(kSecond), names,
                                         kLastLevel));
  ASSERT_EQ(NewestLog(), log);
  ASSERT_OK(CatchUp());
  ExpectAll();
  KillPrimary();
  const Result<std::string> whole = ReadFileToString(disk_.get(), log, size_t{1} << 20);
  ASSERT_OK(whole.status());
  ASSERT_OK(disk_->Truncate(log, bytes));
  const Status promoted = Promote();
  EXPECT_TRUE(promoted.IsCorruption()) << promoted.ToString();
  EXPECT_TRUE(secondary_->IsSecondary());
  ExpectAll();
  ASSERT_OK(WriteStringToFile(disk_.get(), *whole, log, Durability::kBuffered));
  ASSERT_OK(Promote());
  ExpectAll();
  StepPromoted();
}

// After a failure it is a secondary that can be promoted again, or a primary that can be resumed.
TEST_F(PromotionTest, AnErrorAtEveryCall) {
  int stayed = 0;
  int latched = 0;
  for (const FaultEffect effect : {FaultEffect::kFailBefore, FaultEffect::kFailAfter,
                                   FaultEffect::kPartialAppend, FaultEffect::kThrowBadAlloc}) {
    for (const bool sticky : {false, true}) {
      FaultRule rule;
      rule.effect = effect;
      rule.sticky = sticky;
      bool fired = true;
      for (rule.nth = 1; fired; ++rule.nth) {
        SCOPED_TRACE(StrCat("call ", rule.nth, ", effect ", static_cast<int>(effect),
                            sticky ? ", and all after it" : ""));
        ASSERT_LT(rule.nth, 500U);
        const bool asks_again = rule.nth % 2 == 0;
        ASSERT_OK(OpenSecondary());
        Write();
        KillPrimary();
        calls_->ResetCounts();
        calls_->AddRule(rule);
        const Status promoted = Promote();
        fired = calls_->FaultsInjected() > 0;
        calls_->ClearRules();
        if (promoted.ok()) {
          ASSERT_NO_FATAL_FAILURE(StepPromoted());
        } else if (secondary_->IsSecondary()) {
          ++stayed;
          ASSERT_NO_FATAL_FAILURE(ExpectOneMoment(0));
          ASSERT_OK(asks_again ? Promote() : CatchUp());
          ASSERT_NO_FATAL_FAILURE(ExpectAll());
        } else {
          ++latched;
          EXPECT_FALSE(WritePromoted().ok());
          ASSERT_NO_FATAL_FAILURE(ExpectAll());
          if (asks_again) {
            ASSERT_OK(secondary_->Resume());
            ASSERT_NO_FATAL_FAILURE(StepPromoted());
          }
        }
        ASSERT_NO_FATAL_FAILURE(ReopenAndCompare());
      }
    }
  }
  EXPECT_GT(stayed, 100);
  EXPECT_GT(latched, 100);
}

}  // namespace
}  // namespace ashlar
