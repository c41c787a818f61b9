// Databases with an SstFileManager: the limit on their tables, the pace of deletions, and the
// effect of both on the next open. src/space/trash_bin_test.cc tests the rate itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ashlar/checkpoint.h"
#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/listener.h"
#include "ashlar/sst_file_manager.h"
#include "ashlar/sst_file_writer.h"
#include "ashlar/statistics.h"
#include "ashlar/transaction_log.h"
#include "base/format.h"
#include "filesystem/file_helpers.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/check_invariants.h"
#include "tests/support/expect_ok.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/manual_env.h"

namespace ashlar {
namespace {

constexpr const char* kPath = "/db";
constexpr double kAnyRatio = 1e9;
constexpr uint64_t kNoLimit = 0;
// So slow that only the first file of the trash is deleted.
constexpr int64_t kSlow = 1;
constexpr int64_t kFast = int64_t{1} << 40;
constexpr int kKeysPerTable = 20;

class SpaceTest : public ::testing::Test {
 protected:
  SpaceTest() {
    options_.env = &env_;
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    options_.write_buffer_size = 64 << 10;
    options_.info_log = std::make_shared<SilentLogger>();
    options_.statistics = CreateDBStatistics();
    MakeManager(0, 0);
  }
  ~SpaceTest() override { Close(); }

  void MakeManager(int64_t delete_rate, uint64_t chunk_bytes) {
    options_.sst_file_manager.reset(
        NewSstFileManager(&env_, nullptr, "", delete_rate, true, nullptr, kAnyRatio, chunk_bytes));
  }
  SstFileManager* manager() const { return options_.sst_file_manager.get(); }

  void Open() {
    ASSERT_OK(DB::Open(options_, kPath, &db_));
    CheckInvariants(db_.get());
  }
  void Close() {
    if (db_ == nullptr) return;
    EXPECT_OK(db_->Close());
    db_.reset();
  }
  void Reopen() {
    Close();
    Open();
  }
  void RunJobs() {
    while (env_.RunOneJob()) continue;
  }
  // Lets time pass until the condition holds, for a limited number of steps.
  bool ComesTrue(const std::function<bool()>& holds) {
    constexpr int kStepsMax = 20;
    for (int step = 0; step < kStepsMax && !holds(); ++step) {
      env_.manual_executor()->RunDelayed();
      RunJobs();
    }
    return holds();
  }
  // Each round frees bytes, so this ends. It fails if the bin does not get smaller.
  void EmptyBin() {
    manager()->SetDeleteRateBytesPerSecond(kFast);
    while (const uint64_t before = manager()->GetTotalTrashSize()) {
      ASSERT_TRUE(ComesTrue([&] { return manager()->GetTotalTrashSize() < before; }))
          << before << " bytes of trash stay";
    }
  }

  Status Put(const std::string& key, const std::string& value) {
    const Status written = db_->Put(WriteOptions(), key, value);
    if (written.ok()) acknowledged_[key] = value;
    return written;
  }
  bool IsWritable() { return Put("probe", "value").ok(); }
  // Writes the same keys each time, so that a compaction leaves about one table.
  void PutTable() {
    ++writes_;
    for (int i = 0; i < kKeysPerTable; ++i)
      ASSERT_OK(Put(StrCat("key", 100 + i), StrCat(1000 + writes_, std::string(100, 'v'))));
  }
  void MakeTable() {
    PutTable();
    ASSERT_OK(db_->Flush(FlushOptions()));
    RunJobs();
  }
  Status CompactAll() {
    CompactRangeOptions force;
    force.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    return db_->CompactRange(force, nullptr, nullptr);
  }
  uint64_t FilesAtLevel0() {
    std::string files;
    EXPECT_TRUE(db_->GetProperty("rocksdb.num-files-at-level0", &files));
    return std::stoull(files);
  }
  static std::map<std::string, std::string> ContentsOf(DB* db) {
    std::map<std::string, std::string> contents;
    const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next())
      contents[it->key().ToString()] = it->value().ToString();
    EXPECT_OK(it->status());
    return contents;
  }
  void ExpectAcknowledged() { EXPECT_TRUE(ContentsOf(db_.get()) == acknowledged_); }

  // The live tables of the database, by path, with their sizes in bytes.
  std::unordered_map<std::string, uint64_t> LiveTables() const {
    std::vector<LiveFileMetaData> live;
    db_->GetLiveFilesMetaData(&live);
    std::unordered_map<std::string, uint64_t> tables;
    for (const LiveFileMetaData& table : live) tables[table.db_path + table.name] = table.size;
    return tables;
  }
  // Expects the manager to count exactly the existing files.
  void ExpectCounted() {
    const std::unordered_map<std::string, uint64_t> tables = LiveTables();
    uint64_t bytes = 0;
    for (const auto& [path, table_bytes] : tables) bytes += table_bytes;
    EXPECT_EQ(manager()->GetTrackedFiles(), tables);
    EXPECT_EQ(manager()->GetTotalSize(), bytes);
  }
  int Files(const std::string& suffix, const std::string& folder = kPath) const {
    std::vector<std::string> names;
    EXPECT_OK(disk_->GetChildren(folder, &names));
    return static_cast<int>(std::count_if(names.begin(), names.end(), [&](const std::string& name) {
      return name.ends_with(suffix);
    }));
  }
  uint64_t Ticker(Tickers ticker) const { return options_.statistics->getTickerCount(ticker); }
  void MakeFile(const std::string& path) {
    ASSERT_OK(WriteStringToFile(disk_.get(), "trash", path, Durability::kBuffered));
  }
  // Makes four tables and their logs obsolete. All of them are trash except the first file.
  void FillBin() {
    manager()->SetDeleteRateBytesPerSecond(kSlow);
    for (int i = 0; i < 4; ++i) MakeTable();
    ASSERT_OK(CompactAll());
    ASSERT_GE(Files(".sst.trash"), 3);
    ASSERT_GE(Files(".log.trash"), 1);
  }

  const std::shared_ptr<MemoryFileSystem> disk_ = std::make_shared<MemoryFileSystem>();
  const std::shared_ptr<FaultFileSystem> faults_ = std::make_shared<FaultFileSystem>(disk_);
  ManualEnv env_{faults_, 1};
  Options options_;
  std::unique_ptr<DB> db_;
  std::map<std::string, std::string> acknowledged_;
  int writes_ = 0;
};

// ---- Counting.

TEST_F(SpaceTest, TablesAreCountedFromTheirInstallToTheirDeletion) {
  Open();
  ExpectCounted();
  MakeTable();
  MakeTable();
  ExpectCounted();
  ASSERT_OK(CompactAll());
  ExpectCounted();
  ASSERT_EQ(LiveTables().size(), 1u);

  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "second", &family));
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_OK(writer.Open("/external.sst"));
  ASSERT_OK(writer.Put("key", "ingested"));
  ASSERT_OK(writer.Finish());
  ASSERT_OK(db_->IngestExternalFile(family, {"/external.sst"}, IngestExternalFileOptions()));
  ASSERT_EQ(LiveTables().size(), 2u);
  ExpectCounted();
  ASSERT_OK(db_->DropColumnFamily(family));
  delete family;
  RunJobs();
  ASSERT_EQ(LiveTables().size(), 1u);
  ExpectCounted();

  Reopen();
  ExpectCounted();
  Close();
  EXPECT_EQ(manager()->GetTotalSize(), 0u);
}

TEST_F(SpaceTest, AnObsoleteTableCountsWhileAnIteratorReadsIt) {
  Open();
  MakeTable();
  MakeTable();
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  it->SeekToFirst();
  ASSERT_OK(CompactAll());
  EXPECT_EQ(manager()->GetTrackedFiles().size(), 3u);
  it.reset();
  ExpectCounted();
}

TEST_F(SpaceTest, ADatabaseThatIsOpenedReadOnlyIsNotCounted) {
  Open();
  MakeTable();
  Close();
  std::unique_ptr<DB> reader;
  ASSERT_OK(DB::OpenForReadOnly(options_, kPath, &reader));
  EXPECT_EQ(manager()->GetTotalSize(), 0u);
  EXPECT_TRUE(ContentsOf(reader.get()) == acknowledged_);
}

// ---- The limit.

TEST_F(SpaceTest, WritesAreRefusedAtTheLimitAndResumeBelowIt) {
  Open();
  MakeTable();
  manager()->SetMaxAllowedSpaceUsage(manager()->GetTotalSize() + 1);
  MakeTable();
  EXPECT_TRUE(Put("key", "refused").IsSpaceLimit());
  ExpectAcknowledged();
  EXPECT_TRUE(db_->Resume().IsSpaceLimit()) << "the limit is still reached";
  EXPECT_FALSE(ComesTrue([&] { return IsWritable(); }));
  ExpectAcknowledged();

  manager()->SetMaxAllowedSpaceUsage(kNoLimit);
  EXPECT_FALSE(IsWritable()) << "no look has passed";
  EXPECT_TRUE(ComesTrue([&] { return IsWritable(); }));
  MakeTable();
  ExpectAcknowledged();
  Reopen();
  ExpectAcknowledged();
  ExpectCounted();
}

TEST_F(SpaceTest, UnflushedWritesSurviveTheLimit) {
  Open();
  manager()->SetMaxAllowedSpaceUsage(1);
  PutTable();
  FlushOptions no_wait;
  no_wait.wait = false;
  ASSERT_OK(db_->Flush(no_wait));
  ASSERT_OK(Put("later", "in the next memtable"));
  RunJobs();
  ASSERT_TRUE(Put("key", "refused").IsSpaceLimit());
  ExpectAcknowledged();
  static_cast<void>(db_->Close());
  db_.reset();
  manager()->SetMaxAllowedSpaceUsage(kNoLimit);
  Open();
  ExpectAcknowledged();
  EXPECT_TRUE(IsWritable());
}

TEST_F(SpaceTest, AProgramMayResumeItself) {
  Open();
  manager()->SetMaxAllowedSpaceUsage(1);
  MakeTable();
  ASSERT_FALSE(IsWritable());
  manager()->SetMaxAllowedSpaceUsage(kNoLimit);
  EXPECT_OK(db_->Resume());
  EXPECT_TRUE(IsWritable());
  EXPECT_TRUE(ComesTrue([&] { return IsWritable(); })) << "the look that is left does nothing";
  ExpectAcknowledged();
}

TEST_F(SpaceTest, ResumesByItselfAreCounted) {
  Open();
  for (const bool by_itself : {true, false}) {
    SCOPED_TRACE(by_itself);
    manager()->SetMaxAllowedSpaceUsage(1);
    MakeTable();
    ASSERT_FALSE(IsWritable());
    manager()->SetMaxAllowedSpaceUsage(kNoLimit);
    if (!by_itself) {
      ASSERT_OK(db_->Resume());
    }
    EXPECT_TRUE(ComesTrue([&] { return IsWritable(); }));
    EXPECT_EQ(Ticker(ERROR_HANDLER_AUTORESUME_COUNT), 1u);
    EXPECT_EQ(Ticker(ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT), 1u);
    EXPECT_EQ(Ticker(ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT), 1u);
  }
  HistogramData failed_before;
  options_.statistics->histogramData(ERROR_HANDLER_AUTORESUME_RETRY_COUNT, &failed_before);
  EXPECT_EQ(failed_before.count, 1u);
  EXPECT_EQ(failed_before.max, 0.0);
}

class Decliner final : public EventListener {
 public:
  void OnErrorRecoveryBegin(BackgroundErrorReason, Status, bool* auto_recovery) override {
    was_automatic.push_back(*auto_recovery);
    *auto_recovery = false;
  }
  std::vector<bool> was_automatic;
};

TEST_F(SpaceTest, AListenerMayDeclineTheResume) {
  const auto decliner = std::make_shared<Decliner>();
  options_.listeners.push_back(decliner);
  Open();
  manager()->SetMaxAllowedSpaceUsage(1);
  MakeTable();
  manager()->SetMaxAllowedSpaceUsage(kNoLimit);
  EXPECT_FALSE(ComesTrue([&] { return IsWritable(); }));
  EXPECT_EQ(decliner->was_automatic, std::vector<bool>{true}) << "it is asked once";
  EXPECT_EQ(Ticker(ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT), 1u);
  EXPECT_EQ(Ticker(ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT), 0u);
  EXPECT_OK(db_->Resume());
  EXPECT_TRUE(IsWritable());
}

TEST_F(SpaceTest, ADatabaseThatIsClosedIsNotResumed) {
  Open();
  manager()->SetMaxAllowedSpaceUsage(1);
  MakeTable();
  ASSERT_FALSE(IsWritable());
  static_cast<void>(db_->Close());
  db_.reset();
  manager()->SetMaxAllowedSpaceUsage(kNoLimit);
  EXPECT_FALSE(ComesTrue([] { return false; }));  // I3 of space_recovery.h
  Open();
  ExpectAcknowledged();
}

TEST_F(SpaceTest, ADiskThatHasSpaceAgainResumesADatabaseWithAManager) {
  for (const bool managed : {true, false}) {
    SCOPED_TRACE(managed);
    if (!managed) options_.sst_file_manager = nullptr;
    Open();
    MakeTable();
    uint64_t free_bytes = 0;
    disk_->SetCapacityBytes(1);
    EXPECT_TRUE(Put("key", std::string(1000, 'v')).IsNoSpace());
    EXPECT_FALSE(ComesTrue([&] { return IsWritable(); }));
    disk_->SetCapacityBytes(uint64_t{1} << 30);
    ASSERT_OK(disk_->GetFreeSpace(kPath, &free_bytes));
    ASSERT_GT(free_bytes, options_.write_buffer_size);
    EXPECT_EQ(ComesTrue([&] { return IsWritable(); }), managed);
    ExpectAcknowledged();
    static_cast<void>(db_->Close());
    db_.reset();
  }
}

TEST_F(SpaceTest, APromotionThatLacksSpaceIsFinishedByItself) {
  Open();
  MakeTable();
  PutTable();
  std::unique_ptr<DB> secondary;
  ASSERT_OK(DB::OpenAsSecondary(options_, kPath, "/secondary", &secondary));
  Close();
  FaultRule full;
  full.operations = FaultOperation::kAppend;
  full.name_contains = ".sst";
  full.error = Status::NoSpace();
  faults_->AddRule(full);
  const Status promoted = secondary->PromoteToPrimary();
  EXPECT_TRUE(promoted.IsNoSpace()) << promoted.ToString();
  faults_->ClearRules();
  ASSERT_FALSE(secondary->IsSecondary());
  db_ = std::move(secondary);
  EXPECT_FALSE(IsWritable());
  EXPECT_TRUE(ComesTrue([&] { return IsWritable(); }));
  ExpectAcknowledged();
  ExpectCounted();
}

// The database must not wait for room for a write buffer of each family.
TEST_F(SpaceTest, ADatabaseWithManyFamiliesResumesWithoutRoomForAllTheirBuffers) {
  Open();
  MakeTable();
  std::vector<std::unique_ptr<ColumnFamilyHandle>> families;
  for (int i = 0; i < 10; ++i) {
    ColumnFamilyHandle* family = nullptr;
    ASSERT_OK(db_->CreateColumnFamily(options_, StrCat("family", i), &family));
    families.emplace_back(family);
  }
  disk_->SetCapacityBytes(1);
  EXPECT_TRUE(Put("key", std::string(1000, 'v')).IsNoSpace());
  constexpr uint64_t kLarge = uint64_t{1} << 40;
  disk_->SetCapacityBytes(kLarge);
  uint64_t free_bytes = 0;
  ASSERT_OK(disk_->GetFreeSpace(kPath, &free_bytes));
  const uint64_t used_bytes = kLarge - free_bytes;
  disk_->SetCapacityBytes(used_bytes + options_.write_buffer_size / 2);
  EXPECT_FALSE(ComesTrue([&] { return IsWritable(); }));
  disk_->SetCapacityBytes(used_bytes + 3 * options_.write_buffer_size);
  EXPECT_TRUE(ComesTrue([&] { return IsWritable(); }));
  ExpectAcknowledged();
  families.clear();
  Close();
}

TEST_F(SpaceTest, AResumeOfTheProgramThatLacksSpaceIsTriedAgain) {
  Open();
  MakeTable();
  FaultRule rule;
  rule.operations = FaultOperation::kAppend | FaultOperation::kFlush;
  rule.name_contains = ".log";
  faults_->AddRule(rule);
  const Status failed = Put("key", "value");
  ASSERT_TRUE(failed.IsIOError() && !failed.IsNoSpace()) << failed.ToString();
  EXPECT_FALSE(ComesTrue([&] { return IsWritable(); })) << "space is not what it lacks";
  disk_->SetCapacityBytes(1);
  EXPECT_TRUE(db_->Resume().IsNoSpace());
  EXPECT_FALSE(ComesTrue([&] { return IsWritable(); }));
  disk_->SetCapacityBytes(uint64_t{1} << 30);
  EXPECT_TRUE(ComesTrue([&] { return IsWritable(); }));
  ExpectAcknowledged();
}

// ---- Compactions.

class CompactionWatcher final : public EventListener {
 public:
  explicit CompactionWatcher(SstFileManager* manager) : manager_(manager) {}
  void OnCompactionBegin(DB*, const CompactionJobInfo&) override {
    if (++begun > 1) return;
    would_reach = manager_->IsMaxAllowedSpaceReachedIncludingCompactions();
    has_reached = manager_->IsMaxAllowedSpaceReached();
  }
  int begun = 0;
  // For the first compaction.
  bool would_reach = false;
  bool has_reached = false;

 private:
  SstFileManager* const manager_;
};

TEST_F(SpaceTest, ACompactionThatDoesNotFitWaits) {
  const auto watcher = std::make_shared<CompactionWatcher>(manager());
  options_.listeners.push_back(watcher);
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 2;
  Open();
  MakeTable();
  const uint64_t table_bytes = manager()->GetTotalSize();
  manager()->SetMaxAllowedSpaceUsage(3 * table_bytes);
  MakeTable();
  EXPECT_EQ(FilesAtLevel0(), 2u);
  EXPECT_EQ(watcher->begun, 0);
  EXPECT_GE(Ticker(COMPACTION_CANCELLED), 1u);
  EXPECT_TRUE(IsWritable());
  EXPECT_TRUE(CompactAll().IsCompactionTooLarge());
  EXPECT_TRUE(IsWritable());

  manager()->SetMaxAllowedSpaceUsage(2 * manager()->GetTotalSize());
  manager()->SetCompactionBufferSize(1);
  EXPECT_TRUE(CompactAll().IsCompactionTooLarge()) << "the buffer stays free";
  manager()->SetCompactionBufferSize(0);
  EXPECT_TRUE(ComesTrue([&] { return FilesAtLevel0() < 2; }));
  EXPECT_GE(watcher->begun, 1);
  EXPECT_TRUE(watcher->would_reach);
  EXPECT_FALSE(watcher->has_reached);
  EXPECT_FALSE(manager()->IsMaxAllowedSpaceReachedIncludingCompactions()) << "the room is free";
  ExpectAcknowledged();
}

// ---- Trash.

TEST_F(SpaceTest, WithoutARateNothingBecomesTrash) {
  Open();
  for (int i = 0; i < 4; ++i) MakeTable();
  ASSERT_OK(CompactAll());
  EXPECT_EQ(Files(".trash"), 0);
  EXPECT_EQ(Files(".sst"), 1);
  EXPECT_EQ(Ticker(FILES_MARKED_TRASH), 0u);
  EXPECT_GE(Ticker(FILES_DELETED_IMMEDIATELY), 4u);
}

TEST_F(SpaceTest, ObsoleteTablesAndLogsBecomeTrash) {
  Open();
  FillBin();
  EXPECT_EQ(Files(".sst"), 1);
  EXPECT_EQ(Files(".log"), 1);
  EXPECT_GT(manager()->GetTotalTrashSize(), 0u);
  EXPECT_GT(Ticker(FILES_MARKED_TRASH), 4u);
  EXPECT_EQ(Ticker(FILES_DELETED_FROM_TRASH_QUEUE), 1u);
  EmptyBin();
  EXPECT_EQ(Files(".trash"), 0);
  EXPECT_EQ(Ticker(FILES_DELETED_FROM_TRASH_QUEUE), Ticker(FILES_MARKED_TRASH));
  ExpectCounted();
  ExpectAcknowledged();
}

TEST_F(SpaceTest, LogsInAnotherFolderAreDeletedAtOnce) {
  options_.wal_dir = "/logs";
  MakeManager(kSlow, 0);
  Open();
  MakeTable();
  MakeTable();
  ASSERT_OK(CompactAll());
  EXPECT_EQ(Files(".log", "/logs"), 1);
  EXPECT_EQ(Files(".trash", "/logs"), 0);
  EXPECT_GE(Files(".sst.trash"), 1);
}

TEST_F(SpaceTest, TooMuchTrashIsDeletedAtOnce) {
  Open();
  manager()->SetDeleteRateBytesPerSecond(kSlow);
  manager()->SetMaxTrashDBRatio(0.25);
  for (int i = 0; i < 8; ++i) MakeTable();
  const uint64_t table_bytes = LiveTables().begin()->second;
  // When the last table becomes obsolete, the first is deleted and the new one exists.
  const uint64_t total_bytes_max = manager()->GetTotalSize() + table_bytes;
  ASSERT_OK(CompactAll());
  EXPECT_GE(Ticker(FILES_DELETED_IMMEDIATELY), 1u);
  EXPECT_LE(manager()->GetTotalTrashSize(), total_bytes_max / 4 + table_bytes);
  ExpectAcknowledged();
}

TEST_F(SpaceTest, TrashCountsAgainstTheLimit) {
  Open();
  FillBin();
  manager()->SetMaxAllowedSpaceUsage(manager()->GetTotalSize());
  MakeTable();
  EXPECT_FALSE(IsWritable());
  EmptyBin();
  EXPECT_TRUE(ComesTrue([&] { return IsWritable(); })) << "the deleted trash has made room";
  ExpectAcknowledged();
}

TEST_F(SpaceTest, ACheckpointKeepsWhatBecomesTrash) {
  constexpr uint64_t kChunkBytes = 100;
  MakeManager(kFast, kChunkBytes);
  Open();
  MakeTable();
  MakeTable();
  Checkpoint* made = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &made));
  const std::unique_ptr<Checkpoint> checkpoint(made);
  ASSERT_OK(checkpoint->CreateCheckpoint("/checkpoint"));
  const std::map<std::string, std::string> contents = acknowledged_;
  MakeTable();
  ASSERT_OK(CompactAll());
  EmptyBin();
  EXPECT_EQ(Files(".trash"), 0);
  EXPECT_EQ(Files(".sst", "/checkpoint"), 2);
  std::unique_ptr<DB> copy;
  ASSERT_OK(DB::OpenForReadOnly(options_, "/checkpoint", &copy));
  EXPECT_OK(copy->VerifyChecksum());
  EXPECT_TRUE(ContentsOf(copy.get()) == contents);
}

TEST_F(SpaceTest, ALogThatBecomesTrashIsReadToItsEnd) {
  constexpr uint64_t kChunkBytes = 1000;
  constexpr int kBatches = 4;  // in two blocks of the log
  MakeManager(kFast, kChunkBytes);
  Open();
  for (int i = 0; i < kBatches; ++i) ASSERT_OK(Put(StrCat("key", i), std::string(10000, 'v')));
  std::unique_ptr<TransactionLogIterator> it;
  ASSERT_OK(db_->GetUpdatesSince(1, &it));
  ASSERT_TRUE(it->Valid());
  ASSERT_OK(db_->Flush(FlushOptions()));
  RunJobs();
  EmptyBin();
  EXPECT_EQ(Files(".log"), 1);
  EXPECT_GT(Ticker(FILES_MARKED_TRASH), 0u);
  EXPECT_EQ(Files(".trash"), 0);
  for (int i = 1; i < kBatches; ++i) {
    it->Next();
    ASSERT_TRUE(it->Valid()) << "batch " << i << ": " << it->status().ToString();
  }
}

TEST_F(SpaceTest, TheNextOpenDeletesTrash) {
  Open();
  FillBin();
  Close();
  options_.sst_file_manager = nullptr;
  ASSERT_GE(Files(".trash"), 4) << "the end of the manager leaves it";
  // Names of trash in RocksDB.
  MakeFile("/db/000901.sst.trash");
  MakeFile("/db/000901.sst0.trash");
  MakeFile("/db/000902.log.trash");
  MakeFile("/db/000903.blob.trash");
  MakeFile("/db/notes.trash");
  Open();
  EXPECT_EQ(Files(".trash"), 1) << "what no database names is not deleted";
  ExpectAcknowledged();
}

TEST_F(SpaceTest, TheNextOpenWithARateAdoptsTrash) {
  Open();
  FillBin();
  Close();
  const int left = Files(".trash");
  MakeManager(kSlow, 0);
  Open();
  EXPECT_GT(manager()->GetTotalTrashSize(), 0u);
  EXPECT_GE(Files(".trash"), left - 1) << "one file has gone, and one log has come";
  EmptyBin();
  EXPECT_EQ(Files(".trash"), 0);
  ExpectAcknowledged();
}

TEST_F(SpaceTest, TheSameManagerKnowsItsTrash) {
  Open();
  FillBin();
  Close();
  const uint64_t trash_bytes = manager()->GetTotalSize();
  ASSERT_GT(trash_bytes, 0u);
  ASSERT_EQ(trash_bytes, manager()->GetTotalTrashSize());
  Open();
  uint64_t live_bytes = 0;
  for (const auto& [path, bytes] : LiveTables()) live_bytes += bytes;
  EXPECT_EQ(manager()->GetTotalSize(), live_bytes + manager()->GetTotalTrashSize());
  EmptyBin();
  EXPECT_EQ(Files(".trash"), 0);
  ExpectCounted();
}

TEST_F(SpaceTest, OtherOpensLeaveTrashAlone) {
  Open();
  FillBin();
  Close();
  options_.sst_file_manager = nullptr;
  const int trash = Files(".trash");
  std::unique_ptr<DB> reader;
  ASSERT_OK(DB::OpenForReadOnly(options_, kPath, &reader));
  EXPECT_TRUE(ContentsOf(reader.get()) == acknowledged_);
  ASSERT_OK(DB::OpenAsSecondary(options_, kPath, "/secondary", &reader));
  EXPECT_TRUE(ContentsOf(reader.get()) == acknowledged_);
  reader.reset();
  EXPECT_EQ(Files(".trash"), trash);
  ASSERT_OK(RepairDB(kPath, options_));
  Open();
  ExpectAcknowledged();
}

TEST_F(SpaceTest, DestroyDBDeletesTrash) {
  Open();
  FillBin();
  Close();
  ASSERT_OK(DestroyDB(kPath, options_));
  EXPECT_FALSE(disk_->FileExists(kPath).ok());
  EmptyBin();
}

// ---- Two databases.

TEST_F(SpaceTest, TwoDatabasesShareTheLimit) {
  std::unique_ptr<DB> other;
  ASSERT_OK(DB::Open(options_, "/other", &other));
  ASSERT_OK(other->Put(WriteOptions(), "other", std::string(5000, 'v')));
  ASSERT_OK(other->Flush(FlushOptions()));
  Open();
  MakeTable();
  const uint64_t total = manager()->GetTotalSize();
  manager()->SetMaxAllowedSpaceUsage(total + 1);
  MakeTable();
  EXPECT_FALSE(IsWritable());
  // A database detects this in its own flushes.
  ASSERT_OK(other->Put(WriteOptions(), "other", "new"));
  ASSERT_OK(other->Flush(FlushOptions()));
  EXPECT_TRUE(other->Put(WriteOptions(), "other", "refused").IsSpaceLimit());

  static_cast<void>(other->Close());
  other.reset();
  ExpectCounted();  // only the first database's tables are still counted
  EXPECT_TRUE(ComesTrue([&] { return IsWritable(); })) << "the other's tables made room";
  ExpectAcknowledged();
  manager()->SetMaxAllowedSpaceUsage(kNoLimit);
  ASSERT_OK(DB::Open(options_, "/other", &other));
  std::string value;
  ASSERT_OK(other->Get(ReadOptions(), "other", &value));
  EXPECT_EQ(value, "new");
}

TEST_F(SpaceTest, TwoDatabasesShareTheBin) {
  std::unique_ptr<DB> other;
  ASSERT_OK(DB::Open(options_, "/other", &other));
  Open();
  FillBin();
  const uint64_t trash_bytes = manager()->GetTotalTrashSize();
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(other->Put(WriteOptions(), "other", std::string(5000, 'v')));
    ASSERT_OK(other->Flush(FlushOptions()));
  }
  ASSERT_OK(other->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_GT(manager()->GetTotalTrashSize(), trash_bytes);
  EXPECT_GE(Files(".sst.trash", "/other"), 1);
  ASSERT_OK(other->Close());
  other.reset();
  EmptyBin();
  EXPECT_EQ(Files(".trash"), 0);
  EXPECT_EQ(Files(".trash", "/other"), 0) << "also after the close";
  ExpectCounted();
}

}  // namespace
}  // namespace ashlar
