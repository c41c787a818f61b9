// The options of logs: wal_compression, wal_filter, wal_bytes_per_sync.
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/env.h"
#include "ashlar/options_util.h"
#include "ashlar/wal_filter.h"
#include "ashlar/write_batch.h"
#include "base/format.h"
#include "base/random.h"
#include "filesystem/memory_file_system.h"
#include "tests/engine/database_fixture.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/file_damage.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

using Decision = WalFilter::WalProcessingOption;

// The first memtable of the replay holds a part of the log and is flushed. A compaction with the
// table below combines its operands into a value with sequence 0. If the operands were replayed
// again, they would be merged into that value.
TEST(RecoveredMemTableTest, AFullOneDoesNotLeaveItsLogToBeReplayedOverIt) {
  const auto disk = std::make_shared<MemoryFileSystem>();
  Options options = SmallDatabaseOptions();
  options.avoid_flush_during_recovery = true;
  options.write_buffer_size = 16 << 20;
  options.level0_file_num_compaction_trigger = 1;
  Contents expected;
  {
    OpenDatabase database(disk, options, 1);
    ASSERT_OK(database.Open());
    for (const char* const key : {"a", "z"}) {
      const Commit commit = {{.kind = Change::Kind::kPut,
                              .family = kDefaultColumnFamilyName,
                              .key = key,
                              .value = "below"}};
      ASSERT_OK(database.Write(commit, WriteOptions()));
      Apply(commit, &expected);
    }
    ASSERT_OK(database.Flush(database.families(), true));
    while (database.env()->RunOneJob()) continue;
    for (int i = 0; i < 300; ++i) {
      const Commit commit = {{.kind = Change::Kind::kMerge,
                              .family = kDefaultColumnFamilyName,
                              .key = i % 100 == 0 ? "list" : StrCat("key", i),
                              .value = StrCat(i, std::string(i % 100 == 0 ? 0 : 1000, '.'))}};
      ASSERT_OK(database.Write(commit, WriteOptions()));
      Apply(commit, &expected);
    }
    ASSERT_OK(database.Close());
  }
  options.write_buffer_size = 64 << 10;
  for (int open = 0; open < 2; ++open) {
    OpenDatabase database(disk, options, 1);
    ASSERT_OK(database.Open());
    while (database.env()->RunOneJob()) continue;
    Contents found;
    ASSERT_OK(database.Read(&found));
    EXPECT_TRUE(found == expected)
        << "open " << open << ": " << found[kDefaultColumnFamilyName]["list"];
    ASSERT_OK(database.Close());
  }
}

class LogOptionsTest : public DatabaseFixture {
 protected:
  uint64_t LogBytes() const {
    uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path()))
      if (entry.path().extension() == ".log") bytes += entry.file_size();
    return bytes;
  }
};

TEST_F(LogOptionsTest, ACompressedLogIsShorterAndReadByEveryOpen) {
  options_.wal_compression = kZSTD;
  options_.allow_fallocate = false;  // a file is as long as its records
  options_.avoid_flush_during_shutdown = true;
  Open();
  std::string expected;
  for (int i = 10; i < 60; ++i) {
    Put(StrCat("key", i), StrCat(std::string(10000, 'v'), i));
    expected += StrCat("key", i, "=", std::string(10000, 'v'), i, " ");
  }
  EXPECT_EQ(Contents(), expected);
  EXPECT_LT(LogBytes(), 50000u);
  options_.wal_compression = kNoCompression;  // for new logs; existing logs record their codec
  options_.avoid_flush_during_recovery = true;
  Open();
  EXPECT_EQ(Contents(), expected);
  Put("after", "1");
  options_.wal_compression = kZSTD;
  Open();
  EXPECT_EQ(Contents(), "after=1 " + expected);
}

TEST_F(LogOptionsTest, LdbReadsADatabaseWhoseLogIsCompressed) {
  ASSERT_TRUE(HaveRocksDbTools());
  options_.wal_compression = kZSTD;
  options_.avoid_flush_during_shutdown = true;
  Open();
  Random random(7);
  std::map<std::string, std::string> written;
  for (int i = 0; i < 200; ++i) {
    const std::string key = StrCat("key", random.Uniform(100));
    written[key] = Slice(random.Bytes(random.Uniform(40000))).ToString(true);
    Put(key, written[key]);
  }
  Close();
  const ToolRun scan = RunTool(StrCat("ldb --db=", path(), " scan"));
  ASSERT_EQ(scan.exit_code, 0) << scan.output;
  std::string expected;
  for (const auto& [key, value] : written) expected += StrCat(key, " : ", value, "\n");
  EXPECT_TRUE(scan.output == expected) << scan.output.size() << " bytes";
}

TEST_F(LogOptionsTest, ACodecThatCompressesNoLogsHasNoEffect) {
  options_.wal_compression = kLZ4Compression;
  Open();
  Put("a", std::string(10000, 'a'));
  EXPECT_GT(LogBytes(), 10000u);
  Open();
  EXPECT_EQ(Get("a").size(), 10000u);
}

TEST(LogWriteBackTest, BeginsAfterSoManyBytes) {
  const auto files = std::make_shared<FaultFileSystem>(std::make_shared<MemoryFileSystem>());
  // Nothing is flushed, so that only the log is written.
  const auto begun = [&files] { return files->CallCount(FaultOperation::kRangeSync); };
  Options options = SmallDatabaseOptions();
  options.write_buffer_size = 1 << 20;
  options.wal_bytes_per_sync = 10000;
  OpenDatabase database(files, options, 1);
  ASSERT_OK(database.Open());
  const auto put = [&](int times) {
    for (int i = 0; i < times; ++i)
      ASSERT_OK(database.db()->Put(WriteOptions(), "key", std::string(1000, 'v')));
  };
  put(100);
  EXPECT_EQ(begun(), 10u);
  ASSERT_OK(database.db()->SetDBOptions({{"wal_bytes_per_sync", "0"}}));
  put(100);
  EXPECT_EQ(begun(), 10u);
  ASSERT_OK(database.db()->SetDBOptions({{"wal_bytes_per_sync", "50000"}}));
  put(100);
  EXPECT_EQ(begun(), 13u);  // one at once, and two later
  ASSERT_OK(database.Close());
}

// Decides about the batch that has a certain entry, and records its arguments.
class TestFilter final : public WalFilter {
 public:
  using Decide = std::function<Decision(const WriteBatch&, WriteBatch*, bool*)>;
  explicit TestFilter(Decide decide) : decide_(std::move(decide)) {}
  const char* Name() const override { return "TestFilter"; }
  void ColumnFamilyLogNumberMap(const std::map<uint32_t, uint64_t>& log_numbers,
                                const std::map<std::string, uint32_t>& ids) override {
    log_numbers_ = log_numbers;
    ids_ = ids;
  }
  Decision LogRecordFound(unsigned long long log_number, const std::string& name,
                          const WriteBatch& batch, WriteBatch* new_batch,
                          bool* batch_changed) override {
    EXPECT_NE(name.find(StrCat(log_number, ".log")), std::string::npos) << name;
    ++batches_;
    return decide_(batch, new_batch, batch_changed);
  }

  int batches_ = 0;
  std::map<uint32_t, uint64_t> log_numbers_;
  std::map<std::string, uint32_t> ids_;

 private:
  const Decide decide_;
};

// True if the batch puts this key.
bool Puts(const WriteBatch& batch, const std::string& key) {
  struct Finder : WriteBatch::Handler {
    Status PutCF(uint32_t, const Slice& put, const Slice&) override {
      found |= put == Slice(wanted);
      return Status::OK();
    }
    std::string wanted;
    bool found = false;
  } finder;
  finder.wanted = key;
  EXPECT_OK(batch.Iterate(&finder));
  return finder.found;
}

class WalFilterTest : public LogOptionsTest {
 protected:
  // Writes four batches to one log: a=1, b=2 c=3, d=4, a=5.
  void WriteBatches() {
    options_.avoid_flush_during_shutdown = true;
    Open();
    Put("a", "1");
    WriteBatch batch;
    EXPECT_OK(batch.Put("b", "2"));
    EXPECT_OK(batch.Put("c", "3"));
    EXPECT_OK(db_->Write(WriteOptions(), &batch));
    Put("d", "4");
    Put("a", "5");
  }
  Status TryOpenWith(TestFilter* filter) {
    options_.wal_filter = filter;
    const Status opened = TryOpen();
    options_.wal_filter = nullptr;
    return opened;
  }
};

Decision Continue(const WriteBatch&, WriteBatch*, bool*) { return Decision::kContinueProcessing; }

TestFilter::Decide At(const std::string& key, Decision decision) {
  return [=](const WriteBatch& batch, WriteBatch*, bool*) {
    return Puts(batch, key) ? decision : Decision::kContinueProcessing;
  };
}

TEST_F(WalFilterTest, SeesEachBatchOnceAndTheFamilies) {
  OpenFamilies({"default"});
  WriteBatches();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(), "other", &family));
  EXPECT_OK(db_->Put(WriteOptions(), family, "x", "y"));
  delete family;
  Close();
  TestFilter filter(&Continue);
  options_.wal_filter = &filter;
  OpenFamilies({"default", "other"});
  EXPECT_EQ(filter.batches_, 5);
  EXPECT_EQ(filter.ids_, (std::map<std::string, uint32_t>{{"default", 0}, {"other", 1}}));
  EXPECT_EQ(filter.log_numbers_.size(), 2u);
  EXPECT_EQ(Contents(), "a=5 b=2 c=3 d=4 ");
  // The entries are in tables now.
  OpenFamilies({"default", "other"});
  EXPECT_EQ(filter.batches_, 5);
  Close();
  options_.wal_filter = nullptr;
}

TEST_F(WalFilterTest, ABatchIsLeftOut) {
  WriteBatches();
  TestFilter filter(At("c", Decision::kIgnoreCurrentRecord));
  ASSERT_OK(TryOpenWith(&filter));
  EXPECT_EQ(Contents(), "a=5 d=4 ");
  Open();  // the batch stays dropped
  EXPECT_EQ(Contents(), "a=5 d=4 ");
}

TEST_F(WalFilterTest, AReadOnlyOpenAsksToo) {
  WriteBatches();
  Close();
  TestFilter filter(At("c", Decision::kIgnoreCurrentRecord));
  options_.wal_filter = &filter;
  ASSERT_OK(DB::OpenForReadOnly(options_, path(), &db_));
  options_.wal_filter = nullptr;
  EXPECT_EQ(Contents(), "a=5 d=4 ");
  Open();  // nothing was changed
  EXPECT_EQ(Contents(), "a=5 b=2 c=3 d=4 ");
}

TEST_F(WalFilterTest, ABatchIsReplacedUnderItsSequences) {
  WriteBatches();
  const SequenceNumber last = db_->GetLatestSequenceNumber();
  TestFilter filter([](const WriteBatch& batch, WriteBatch* replacement, bool* changed) {
    if (!Puts(batch, "c")) return Decision::kContinueProcessing;
    *changed = true;
    EXPECT_OK(replacement->Put("e", "6"));
    return Decision::kContinueProcessing;
  });
  ASSERT_OK(TryOpenWith(&filter));
  EXPECT_EQ(Contents(), "a=5 d=4 e=6 ");
  EXPECT_EQ(db_->GetLatestSequenceNumber(), last);
}

TEST_F(WalFilterTest, AReplacementWithMoreEntriesIsRefusedAndNothingIsLost) {
  WriteBatches();
  TestFilter filter([](const WriteBatch&, WriteBatch* replacement, bool* changed) {
    *changed = true;
    for (const char* key : {"x", "y", "z"}) EXPECT_OK(replacement->Put(key, "1"));
    return Decision::kContinueProcessing;
  });
  const Status opened = TryOpenWith(&filter);
  EXPECT_TRUE(opened.IsNotSupported()) << opened.ToString();
  EXPECT_NE(opened.ToString().find("TestFilter made a batch of 3 entries of one of 1"),
            std::string::npos)
      << opened.ToString();
  Open();
  EXPECT_EQ(Contents(), "a=5 b=2 c=3 d=4 ");
}

TEST_F(WalFilterTest, TheReplayStopsInLaterLogsToo) {
  WriteBatches();
  options_.avoid_flush_during_recovery = true;
  Open();  // continues in another log
  Put("f", "7");
  TestFilter filter(At("d", Decision::kStopReplay));
  ASSERT_OK(TryOpenWith(&filter));
  EXPECT_EQ(filter.batches_, 3);
  EXPECT_EQ(Contents(), "a=1 b=2 c=3 ");
  Open();
  EXPECT_EQ(Contents(), "a=1 b=2 c=3 ");
}

TEST_F(WalFilterTest, ARefusedRecordIsDamageToTheRecoveryMode) {
  for (const auto& [mode, expected] :
       {std::pair(WALRecoveryMode::kPointInTimeRecovery, "a=1 b=2 c=3 "),
        std::pair(WALRecoveryMode::kSkipAnyCorruptedRecords, "a=5 b=2 c=3 "),
        std::pair(WALRecoveryMode::kAbsoluteConsistency, ""),
        std::pair(WALRecoveryMode::kTolerateCorruptedTailRecords, "")}) {
    Close();
    std::filesystem::remove_all(path());
    WriteBatches();
    TestFilter filter(At("d", Decision::kCorruptedRecord));
    options_.wal_recovery_mode = mode;
    const Status opened = TryOpenWith(&filter);
    EXPECT_EQ(opened.ok(), expected[0] != '\0') << opened.ToString();
    if (opened.ok()) {
      EXPECT_EQ(Contents(), expected);
    } else {
      EXPECT_TRUE(opened.IsCorruption()) << opened.ToString();
      EXPECT_NE(opened.ToString().find("WalFilter TestFilter takes the record"), std::string::npos);
      Open();
      EXPECT_EQ(Contents(), "a=5 b=2 c=3 d=4 ");
    }
    options_.wal_recovery_mode = WALRecoveryMode::kPointInTimeRecovery;
  }
}

// A copy of an open database is like one whose process has died.
class WalDirTest : public DatabaseFixture {
 protected:
  WalDirTest() : logs_(scratch_.File("logs")), copy_(scratch_.File("copy")) {}

  void CopyOpenDatabase() { CopyDirectory(files_, path(), copy_); }
  // Returns the status, or the value of "key".
  std::string OpenCopy(const std::string& wal_dir, bool read_only = false) const {
    Options options = options_;
    options.wal_dir = wal_dir;
    std::unique_ptr<DB> db;
    const Status opened =
        read_only ? DB::OpenForReadOnly(options, copy_, &db) : DB::Open(options, copy_, &db);
    if (!opened.ok()) return opened.ToString();
    std::string value;
    const Status got = db->Get(ReadOptions(), "key", &value);
    return got.ok() ? value : got.ToString();
  }
  void ExpectRefused(const std::string& wal_dir, const std::string& folder_of_logs) const {
    const std::vector<std::string> before = FilesIn(files_, copy_, IsManifest);
    const std::string refused = OpenCopy(wal_dir);
    EXPECT_TRUE(refused.starts_with("Invalid argument: " + folder_of_logs)) << refused;
    EXPECT_NE(refused.find("Set wal_dir to " + folder_of_logs), std::string::npos) << refused;
    EXPECT_EQ(FilesIn(files_, copy_, IsManifest), before);
    EXPECT_EQ(OpenCopy(wal_dir, true).substr(0, 8), "NotFound") << "a reader has a warning";
  }

  vfs::FileSystem* const files_ = options_.env->EngineFiles().get();
  const std::string logs_;
  const std::string copy_;
};

TEST_F(WalDirTest, TheDirectoryItselfIsNotRecordedSoItMayMove) {
  for (const char* const end : {"", "/"}) {
    SCOPED_TRACE(end);
    options_.wal_dir = path() + end;
    Open();
    Put("key", "1");
    EXPECT_EQ(db_->GetDBOptions().wal_dir, "");
    Close();
    std::filesystem::rename(path(), copy_);
    DBOptions recorded;
    std::vector<ColumnFamilyDescriptor> families;
    ASSERT_OK(LoadLatestOptions(ConfigOptions(), copy_, &recorded, &families));
    EXPECT_EQ(recorded.wal_dir, "");
    EXPECT_EQ(OpenCopy(recorded.wal_dir), "1");
    std::filesystem::remove_all(copy_);
  }
}

TEST_F(WalDirTest, AnotherOneThanThatOfTheLostWritesIsRefused) {
  WriteOptions synced;
  synced.sync = true;
  Open();
  ASSERT_OK(db_->Put(synced, "key", "value"));
  CopyOpenDatabase();
  ExpectRefused(logs_, copy_);
  EXPECT_EQ(OpenCopy(""), "value");

  Close();
  std::filesystem::remove_all(path());
  std::filesystem::remove_all(copy_);
  options_.wal_dir = logs_;
  Open();
  ASSERT_OK(db_->Put(synced, "key", "value"));
  CopyOpenDatabase();
  EXPECT_TRUE(OpenCopy("").starts_with("NotFound")) << "the logs are those of an open database";
  std::filesystem::remove_all(copy_);
  CopyOpenDatabase();
  Close();
  ExpectRefused("", logs_);
  CopyDirectory(files_, logs_, copy_);
  EXPECT_EQ(OpenCopy(""), "value");
}

// RocksDB's checkpoints contain the OPTIONS file of the original.
TEST_F(WalDirTest, TheOneThatRocksDBRecordedIsNotSearched) {
  options_.wal_dir = logs_;
  Open();
  Put("key", "value");
  CopyOpenDatabase();
  for (const std::string& name : FilesIn(
           files_, copy_, [](const std::string& file) { return file.starts_with("OPTIONS-"); })) {
    std::string text = ContentsOf(files_, copy_ + "/" + name);
    const size_t end = text.find('\n');
    ASSERT_NE(end, std::string::npos);
    ReplaceFile(files_, copy_ + "/" + name, "# Of RocksDB" + text.substr(end));
  }
  Close();
  EXPECT_EQ(OpenCopy("").substr(0, 8), "NotFound");
}

// Such files can be copied while the database is open, because it continues with its logs.
TEST_F(WalDirTest, FilesWithoutUnflushedWritesNeedNoLogs) {
  options_.wal_dir = logs_;
  Open();
  Put("key", "value");
  Flush();
  CopyOpenDatabase();
  Put("key", "newer");
  EXPECT_EQ(OpenCopy(""), "value");
  EXPECT_EQ(Get("key"), "newer");
}

// Nor do those of a closed database that has flushed, because its last log has no write.
TEST_F(WalDirTest, FilesOfAClosedDatabaseWithoutUnflushedWritesNeedNoLogs) {
  options_.wal_dir = logs_;
  Open();
  Put("key", "value");
  Flush();
  Close();
  CopyDirectory(files_, path(), copy_);
  EXPECT_EQ(OpenCopy("", true), "value");
  EXPECT_EQ(OpenCopy(""), "value");
  Open();
  Put("key", "newer");
  Close();
  std::filesystem::remove_all(copy_);
  CopyDirectory(files_, path(), copy_);
  EXPECT_TRUE(OpenCopy("").starts_with("Corruption: ")) << "a write is lost";
}

// The reader may lack permission to read the logs.
TEST_F(WalDirTest, AReaderOpensWithoutLogsThatItCannotRead) {
  const auto faults = std::make_shared<FaultFileSystem>(Env::Default()->EngineFiles());
  const std::unique_ptr<Env> env = NewCompositeEnv(faults);
  Open();
  Put("key", "value");
  CopyOpenDatabase();
  FaultRule rule;
  rule.operations = FaultOperation::kOpenForReading;
  rule.name_contains = ".log";
  rule.sticky = true;
  faults->AddRule(rule);
  std::filesystem::create_directory(logs_);
  Options options = options_;
  options.env = env.get();
  options.wal_dir = logs_;
  std::unique_ptr<DB> reader;
  EXPECT_OK(DB::OpenForReadOnly(options, copy_, &reader));
  EXPECT_GT(faults->FaultsInjected(), 0u);
}

TEST_F(WalDirTest, LogsWithoutWritesDoNotMatter) {
  Open();
  CopyOpenDatabase();
  EXPECT_EQ(OpenCopy(logs_).substr(0, 8), "NotFound");
}

}  // namespace
}  // namespace ashlar
