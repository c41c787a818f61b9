// DBOptions::recycle_log_file_num: which logs are overwritten, and that no copy, reader or later
// open sees any record of the logs that they replaced.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/checkpoint.h"
#include "ashlar/transaction_log.h"
#include "base/format.h"
#include "filesystem/file_helpers.h"
#include "filesystem/filename.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/expect_ok.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/manual_env.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

constexpr const char* kPath = OpenDatabase::kPath;
constexpr size_t kFileBytesMax = size_t{1} << 30;

class RecycledLogsTest : public ::testing::Test {
 protected:
  RecycledLogsTest() { options_.recycle_log_file_num = 2; }

  void Open() {
    database_ = std::make_unique<OpenDatabase>(files_, options_, 1);
    ASSERT_OK(database_->Open());
  }
  void Close() {
    ASSERT_OK(database_->Close());
    database_.reset();
  }
  // Continues with another database.
  void BeginAnew() {
    disk_ = std::make_shared<MemoryFileSystem>();
    files_ = std::make_shared<FaultFileSystem>(disk_);
    expected_ = {{kDefaultColumnFamilyName, {}}};
  }
  DB* db() { return database_->db(); }
  void Put(const std::string& key, const std::string& value) {
    ASSERT_OK(db()->Put(WriteOptions(), key, value));
    expected_[kDefaultColumnFamilyName][key] = value;
  }
  void FinishJobs() {
    while (database_->env()->RunOneJob()) continue;
  }
  // Fills a log with some records and makes it obsolete.
  void FillLog() {
    for (int i = 0; i < 20; ++i) {
      ++writes_;
      Put(StrCat("key", writes_ % 50), StrCat("value", writes_));
    }
    ASSERT_OK(database_->Flush(database_->families(), /*wait=*/true));
    FinishJobs();
  }
  void ExpectContents() {
    Contents contents;
    ASSERT_OK(database_->Read(&contents));
    EXPECT_EQ(contents, expected_);
  }
  std::vector<std::string> Files(const std::string& suffix,
                                 const std::string& directory = kPath) const {
    std::vector<std::string> names;
    EXPECT_OK(disk_->GetChildren(directory, &names));
    std::erase_if(names, [&](const std::string& name) { return !name.ends_with(suffix); });
    return names;
  }
  uint64_t Reuses() const { return files_->CallCount(FaultOperation::kReuse); }
  std::string CurrentLog() {
    std::unique_ptr<WalFile> log;
    EXPECT_OK(db()->GetCurrentWalFile(&log));
    return WalFileName(kPath, log->LogNumber());
  }
  std::string Bytes(const std::string& path) {
    const Result<std::string> bytes = ReadFileToString(disk_.get(), path, kFileBytesMax);
    EXPECT_OK(bytes.status());
    return bytes.ok() ? *bytes : "";
  }

  Options options_ = SmallDatabaseOptions();
  std::shared_ptr<MemoryFileSystem> disk_ = std::make_shared<MemoryFileSystem>();
  std::shared_ptr<FaultFileSystem> files_ = std::make_shared<FaultFileSystem>(disk_);
  std::unique_ptr<OpenDatabase> database_;
  Contents expected_ = {{kDefaultColumnFamilyName, {}}};
  int writes_ = 0;
};

TEST_F(RecycledLogsTest, EachSwitchWritesAnObsoleteLogOver) {
  Open();
  FillLog();
  EXPECT_EQ(Files(".log").size(), 1u);
  EXPECT_EQ(Files(".dbtmp").size(), 1u) << "the log of the first table is kept";
  EXPECT_EQ(Reuses(), 0u);
  for (uint64_t i = 1; i <= 10; ++i) {
    FillLog();
    EXPECT_EQ(Reuses(), i);
    EXPECT_EQ(Files(".log").size(), 1u);
    EXPECT_LE(Files(".dbtmp").size(), 2u);
  }
  ExpectContents();
  Put("last", "1");
  Close();
  EXPECT_TRUE(Files(".dbtmp").empty());
  Open();
  ExpectContents();
  Close();
}

TEST_F(RecycledLogsTest, NoMoreAreKeptThanWanted) {
  options_.recycle_log_file_num = 2;
  options_.max_write_buffer_number = 8;
  Open();
  ASSERT_OK(database_->CreateFamily("cold"));
  expected_["cold"] = {{"key", "1"}};
  ASSERT_OK(
      database_->Write({{.kind = Change::Kind::kPut, .family = "cold", .key = "key", .value = "1"}},
                       WriteOptions()));
  // The other family keeps every log alive.
  for (int i = 0; i < 5; ++i) {
    Put("key", StrCat(i));
    ASSERT_OK(database_->Flush({kDefaultColumnFamilyName}, /*wait=*/true));
    FinishJobs();
  }
  ASSERT_GE(Files(".log").size(), 6u);
  ASSERT_OK(database_->Flush({"cold"}, /*wait=*/true));
  FinishJobs();
  EXPECT_EQ(Files(".dbtmp").size(), 2u);
  EXPECT_EQ(Files(".log").size(), 1u);
  ExpectContents();
  Close();
}

TEST_F(RecycledLogsTest, OldLogsThatAreArchivedAreNotWrittenOver) {
  options_.WAL_ttl_seconds = 1000;
  Open();
  for (int i = 0; i < 4; ++i) FillLog();
  EXPECT_EQ(Reuses(), 0u);
  EXPECT_TRUE(Files(".dbtmp").empty());
  EXPECT_GE(Files(".log", ArchiveDirectory(kPath)).size(), 4u);
  Close();
}

TEST_F(RecycledLogsTest, RecoveryModesThatCannotTellTheEndKeepNone) {
  for (const WALRecoveryMode mode :
       {WALRecoveryMode::kTolerateCorruptedTailRecords, WALRecoveryMode::kAbsoluteConsistency}) {
    options_.wal_recovery_mode = mode;
    Open();
    for (int i = 0; i < 4; ++i) FillLog();
    EXPECT_EQ(Reuses(), 0u);
    ExpectContents();
    Close();
  }
}

TEST_F(RecycledLogsTest, ALogOfAnEarlierRunIsNotWrittenOver) {
  options_.recycle_log_file_num = 0;  // so that its fragments have no log number
  Open();
  Put("a", "1");
  Close();
  options_.recycle_log_file_num = 2;
  Open();
  EXPECT_TRUE(Files(".dbtmp").empty());
  ExpectContents();
  FillLog();
  EXPECT_EQ(Reuses(), 0u);
  Close();
}

TEST_F(RecycledLogsTest, ACrashLeavesWhatTheNextOpenDeletes) {
  for (const char* const logs : {"", "/logs"}) {
    options_.wal_dir = logs;
    const std::string folder = options_.wal_dir.empty() ? kPath : options_.wal_dir;
    BeginAnew();
    Open();
    for (int i = 0; i < 3; ++i) FillLog();
    Put("last", "1");
    ASSERT_FALSE(Files(".dbtmp", folder).empty());
    const auto destroyed = std::make_shared<MemoryFileSystem>(disk_->Snapshot());
    disk_ = std::make_shared<MemoryFileSystem>(disk_->Snapshot());
    Close();
    OpenDatabase after(disk_, options_, 2);
    ASSERT_OK(after.Open());
    Contents contents;
    ASSERT_OK(after.Read(&contents));
    EXPECT_EQ(contents, expected_);
    EXPECT_TRUE(Files(".dbtmp", folder).empty());
    ASSERT_OK(after.Close());

    ManualEnv env(destroyed, 3);
    Options options = options_;
    options.env = &env;
    ASSERT_OK(DestroyDB(kPath, options));
    std::vector<std::string> names;
    const Status listed = destroyed->GetChildren(folder, &names);
    EXPECT_TRUE(listed.ok() || listed.IsPathNotFound()) << listed.ToString();
    EXPECT_TRUE(names.empty()) << names.front();
  }
}

// The rest of the older log is not counted as lost, copied or replayed.
TEST_F(RecycledLogsTest, TheRestOfAnOlderLogIsNoLoss) {
  Open();
  for (int i = 0; i < 200; ++i) Put(StrCat("long", i), std::string(100, 'v'));
  FillLog();
  FillLog();
  ASSERT_EQ(Reuses(), 1u);
  Put("after", "1");
  const std::string log = CurrentLog();
  uint64_t bytes = 0;
  ASSERT_OK(disk_->GetFileSize(log, &bytes));
  ASSERT_GT(bytes, 20000u) << "it is as long as the log that it was";
  for (const bool stays : {false, true}) {
    const auto image = std::make_shared<MemoryFileSystem>(disk_->Snapshot());
    Options options = options_;
    options.info_log = nullptr;  // the file LOG
    options.avoid_flush_during_recovery = stays;
    OpenDatabase after(image, options, 2);
    ASSERT_OK(after.Open());
    Contents contents;
    ASSERT_OK(after.Read(&contents));
    EXPECT_EQ(contents, expected_);
    EXPECT_TRUE(image->FileExists(StrCat(kPath, "/lost")).IsNotFound());
    ASSERT_OK(after.Close());
    const Result<std::string> messages =
        ReadFileToString(image.get(), StrCat(kPath, "/LOG"), kFileBytesMax);
    ASSERT_OK(messages.status());
    EXPECT_NE(messages->find("\"bytes_not_replayed\": 0,"), std::string::npos) << *messages;
  }
  Close();
}

// As RocksDB leaves an overwritten log: with the rest of the older log, starting within a record of
// it. The next log shows that nothing is missing.
TEST_F(RecycledLogsTest, ALogThatIsNotCutDoesNotKeepFamiliesApart) {
  Open();
  ASSERT_OK(database_->CreateFamily("other"));
  const auto put_other = [&](const std::string& key) {
    ASSERT_OK(db()->Put(WriteOptions(), database_->family("other"), key, "1"));
    expected_["other"][key] = "1";
  };
  Put("a", "1");
  put_other("b");
  const std::string log = CurrentLog();
  ASSERT_OK(database_->Flush({kDefaultColumnFamilyName}, /*wait=*/true));
  FinishJobs();
  ASSERT_NE(CurrentLog(), log);
  put_other("c");
  const auto image = std::make_shared<MemoryFileSystem>(disk_->Snapshot());
  std::unique_ptr<vfs::WritableFile> file;
  ASSERT_OK(image->ReopenWritableFile(log, vfs::FileOptions(), &file));
  ASSERT_OK(file->Append(std::string(500, 'x')));
  ASSERT_OK(file->Close());
  OpenDatabase after(image, options_, 2);
  ASSERT_OK(after.Open());
  Contents contents;
  ASSERT_OK(after.Read(&contents));
  EXPECT_EQ(contents, expected_);
  ASSERT_OK(after.Close());
  Close();
}

TEST_F(RecycledLogsTest, CopiesEndWhereTheLogEnds) {
  Open();
  for (int i = 0; i < 200; ++i) Put(StrCat("long", i), std::string(100, 'v'));
  FillLog();
  FillLog();
  Put("after", "1");
  std::unique_ptr<WalFile> current;
  ASSERT_OK(db()->GetCurrentWalFile(&current));
  VectorWalPtr sorted;
  ASSERT_OK(db()->GetSortedWalFiles(sorted));
  ASSERT_EQ(sorted.size(), 1u) << "a log that is kept is none of them";
  EXPECT_EQ(sorted[0]->SizeFileBytes(), current->SizeFileBytes());
  Checkpoint* made = nullptr;
  ASSERT_OK(Checkpoint::Create(db(), &made));
  const std::unique_ptr<Checkpoint> checkpoint(made);
  ASSERT_OK(checkpoint->CreateCheckpoint("/copy", /*log_size_for_flush=*/1 << 30));
  const Contents then = expected_;
  const std::string copied = StrCat("/copy/", BaseName(CurrentLog()));
  EXPECT_EQ(Bytes(copied).size(), current->SizeFileBytes());
  EXPECT_EQ(Bytes(copied), Bytes(CurrentLog()).substr(0, current->SizeFileBytes()));
  for (int i = 0; i < 3; ++i) FillLog();  // the copied log is overwritten
  ASSERT_GE(Reuses(), 4u);
  std::unique_ptr<DB> copy;
  Options options = options_;
  options.env = database_->env();
  ASSERT_OK(DB::OpenForReadOnly(options, "/copy", &copy));
  FamilyContents contents;
  {
    const std::unique_ptr<Iterator> it(copy->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next())
      contents[it->key().ToString()] = it->value().ToString();
  }
  EXPECT_EQ(contents, then.at(kDefaultColumnFamilyName));
  copy.reset();
  Close();
}

TEST_F(RecycledLogsTest, ARepairReadsTheLogsThatAreNeeded) {
  Open();
  for (int i = 0; i < 200; ++i) Put(StrCat("long", i), std::string(100, 'v'));
  FillLog();
  FillLog();
  Put("after", "1");
  ASSERT_FALSE(Files(".dbtmp").empty());
  const auto image = std::make_shared<MemoryFileSystem>(disk_->Snapshot());
  Close();
  ManualEnv env(image, 3);
  Options options = options_;
  options.env = &env;
  ASSERT_OK(RepairDB(kPath, options));
  OpenDatabase after(image, options_, 2);
  ASSERT_OK(after.Open());
  Contents contents;
  ASSERT_OK(after.Read(&contents));
  EXPECT_EQ(contents, expected_);
  ASSERT_OK(after.Close());
}

TEST_F(RecycledLogsTest, NoneIsKeptWhileDeletionsAreDisabled) {
  Open();
  FillLog();
  Put("a", "1");
  const std::string log = CurrentLog();
  const std::string bytes = Bytes(log);
  ASSERT_OK(db()->DisableFileDeletions());
  FillLog();
  FillLog();
  EXPECT_OK(disk_->FileExists(log));
  EXPECT_EQ(Bytes(log).substr(0, bytes.size()), bytes);
  const uint64_t reuses = Reuses();
  ASSERT_OK(db()->EnableFileDeletions());
  FinishJobs();
  EXPECT_TRUE(disk_->FileExists(log).IsNotFound());
  FillLog();
  EXPECT_EQ(Reuses(), reuses + 1);
  ExpectContents();
  Close();
}

TEST_F(RecycledLogsTest, ALogWithASecondNameIsNotWrittenOver) {
  Open();
  Put("a", "1");
  ASSERT_OK(disk_->LinkFile(CurrentLog(), "/copy.log"));
  for (int i = 0; i < 5; ++i) FillLog();
  const std::string copy = Bytes("/copy.log");
  EXPECT_NE(copy.find("value20"), std::string::npos) << "all of the log that it was";
  EXPECT_EQ(copy.find("value21"), std::string::npos);
  Close();
}

TEST_F(RecycledLogsTest, WhereAFileCannotBeReusedANewOneIsMade) {
  for (const FaultEffect effect : {FaultEffect::kFailBefore, FaultEffect::kFailAfter}) {
    for (const bool supported : {true, false}) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(effect) << ", supported " << supported);
      BeginAnew();
      FaultRule rule;
      rule.operations = FaultOperation::kReuse;
      rule.sticky = true;
      rule.effect = effect;
      if (!supported) {
        if (effect == FaultEffect::kFailAfter) continue;  // it changes nothing
        rule.error = Status::NotSupported("no file is written over");
      }
      files_->AddRule(rule);
      Open();
      for (int i = 0; i < 4; ++i) FillLog();
      EXPECT_EQ(Files(".log").size(), 1u);
      EXPECT_LE(Files(".dbtmp").size(), 1u);
      ExpectContents();
      files_->ClearRules();
      FillLog();
      Close();
      Open();
      ExpectContents();
      Close();
    }
  }
}

TEST_F(RecycledLogsTest, ALogThatFailedIsNotWrittenOver) {
  Open();
  FillLog();
  FaultRule rule;
  rule.operations = FaultOperation::kAppend;
  rule.name_contains = ".log";
  files_->AddRule(rule);
  EXPECT_FALSE(db()->Put(WriteOptions(), "lost", "1").ok());
  files_->ClearRules();
  const uint64_t reuses = Reuses();
  ASSERT_OK(db()->Resume());  // creates a log, and releases the failed one
  FinishJobs();
  EXPECT_EQ(Reuses(), reuses + 1) << "of the log before the failure";
  EXPECT_TRUE(Files(".dbtmp").empty());
  FillLog();
  EXPECT_EQ(Files(".dbtmp").size(), 1u) << "the log after the failure";
  ExpectContents();
  Close();
}

TEST_F(RecycledLogsTest, UpdatesEndAtALogThatIsWrittenOver) {
  Open();
  Put("a", "1");
  Put("b", "2");
  std::unique_ptr<TransactionLogIterator> updates;
  ASSERT_OK(db()->GetUpdatesSince(1, &updates));
  ASSERT_TRUE(updates->Valid());
  EXPECT_EQ(updates->GetBatch().sequence, 1u);
  for (int i = 0; i < 3; ++i) FillLog();
  ASSERT_GE(Reuses(), 2u);
  Put("c", "3");
  SequenceNumber last = 1;
  for (updates->Next(); updates->Valid(); updates->Next()) {
    const BatchResult batch = updates->GetBatch();
    ASSERT_EQ(batch.sequence, last + 1) << "no record of another log";
    last = batch.sequence;
  }
  EXPECT_TRUE(updates->status().IsNotFound()) << updates->status().ToString();
  // A new iterator starts in the log that is being written.
  ASSERT_OK(db()->GetUpdatesSince(db()->GetLatestSequenceNumber(), &updates));
  ASSERT_TRUE(updates->Valid());
  EXPECT_EQ(updates->GetBatch().sequence, db()->GetLatestSequenceNumber());
  Put("d", "4");
  updates->Next();
  ASSERT_TRUE(updates->Valid());
  updates.reset();
  Close();
}

TEST_F(RecycledLogsTest, CompressedLogsAreWrittenOver) {
  options_.wal_compression = kZSTD;
  Open();
  for (int i = 0; i < 5; ++i) FillLog();
  ASSERT_GE(Reuses(), 3u);
  Put("last", std::string(100000, 'x'));
  Put("very last", "1");
  const auto image = std::make_shared<MemoryFileSystem>(disk_->Snapshot());
  Close();
  OpenDatabase after(image, options_, 2);
  ASSERT_OK(after.Open());
  Contents contents;
  ASSERT_OK(after.Read(&contents));
  EXPECT_EQ(contents, expected_);
  ASSERT_OK(after.Close());
}

}  // namespace
}  // namespace ashlar
