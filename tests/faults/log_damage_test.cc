// Logs that are truncated, damaged or missing, under each of the four recovery modes. Recovery
// returns exactly the writes that the mode promises, or the open is refused by a status that names
// the log and nothing is changed.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/format.h"
#include "filesystem/file_helpers.h"
#include "tests/faults/closed_database.h"
#include "tests/support/fault_file_system.h"
#include "wal/log_reader.h"

namespace ashlar {
namespace {

constexpr WALRecoveryMode kTolerate = WALRecoveryMode::kTolerateCorruptedTailRecords;
constexpr WALRecoveryMode kAbsolute = WALRecoveryMode::kAbsoluteConsistency;
constexpr WALRecoveryMode kPointInTime = WALRecoveryMode::kPointInTimeRecovery;
constexpr WALRecoveryMode kSkip = WALRecoveryMode::kSkipAnyCorruptedRecords;

// A database that was killed, with kBatches batches in two logs and nothing in tables.
class LogDamageTest : public ::testing::Test {
 protected:
  static constexpr int kBatches = 30;
  static constexpr int kBatchesInTheFirstLog = 18;

  LogDamageTest()
      : file_system_(std::make_shared<MemoryFileSystem>()),
        database_(file_system_, SmallDatabaseOptions(), 1) {}

  void SetUp() override {
    ASSERT_TRUE(database_.Open().ok());
    for (int i = 1; i <= kBatches; ++i) {
      ASSERT_TRUE(database_.Write(BatchNumber(i), WriteOptions()).ok());
      // Switches the memtable. Its flush waits until a test runs it.
      if (i == kBatchesInTheFirstLog) {
        ASSERT_TRUE(database_.Flush({kDefaultColumnFamilyName}, false).ok());
      }
    }
    image_ = file_system_->Snapshot();
    std::vector<std::string> names;
    ASSERT_TRUE(file_system_->GetChildren(OpenDatabase::kPath, &names).ok());
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      if (name.ends_with(".log")) logs_.push_back(name);
    }
    ASSERT_EQ(logs_.size(), 2u);
  }

  static Commit BatchNumber(int i) {
    return {{.kind = Change::Kind::kPut,
             .family = kDefaultColumnFamilyName,
             .key = StrCat("batch", i),
             .value = std::string(80, 'v')},
            {.kind = Change::Kind::kMerge,
             .family = kDefaultColumnFamilyName,
             .key = "order",
             .value = StrCat(i)}};
  }
  static Contents After(const std::vector<int>& batches) {
    Contents contents{{kDefaultColumnFamilyName, {}}};
    for (const int i : batches) Apply(BatchNumber(i), &contents);
    return contents;
  }
  // Returns first, first + 1, ..., last without `left_out`.
  static std::vector<int> Range(int first, int last, int left_out = 0) {
    std::vector<int> numbers;
    for (int i = first; i <= last; ++i) {
      if (i != left_out) numbers.push_back(i);
    }
    return numbers;
  }

  std::string LogBytes(const std::string& name) const {
    for (const MemoryImage::Entry& entry : image_.entries) {
      if ("/" + entry.path == ClosedDatabase::Path(name)) return *entry.bytes;
    }
    return "";
  }
  // Returns where the records of a log begin, and where the last one ends.
  std::vector<uint64_t> RecordOffsets(const std::string& name) const {
    std::unique_ptr<vfs::SequentialFile> file;
    EXPECT_TRUE(
        file_system_->NewSequentialFile(ClosedDatabase::Path(name), vfs::FileOptions(), &file)
            .ok());
    LogReader reader(std::move(file), name, 0, LogBytes(name).size());
    std::vector<uint64_t> offsets;
    Slice record;
    std::string scratch;
    while (reader.ReadRecord(&record, &scratch)) offsets.push_back(reader.record_offset());
    offsets.push_back(reader.last_good_offset());
    return offsets;
  }
  MemoryImage With(const std::string& name, std::optional<std::string> bytes) const {
    MemoryImage image = image_;
    std::erase_if(image.entries, [&](const MemoryImage::Entry& entry) {
      return !bytes.has_value() && "/" + entry.path == ClosedDatabase::Path(name);
    });
    for (MemoryImage::Entry& entry : image.entries) {
      if ("/" + entry.path == ClosedDatabase::Path(name))
        entry.bytes = std::make_shared<const std::string>(*bytes);
    }
    return image;
  }
  std::string Flipped(const std::string& name, uint64_t offset) const {
    std::string bytes = LogBytes(name);
    bytes[static_cast<size_t>(offset)] =
        static_cast<char>(bytes[static_cast<size_t>(offset)] ^ 0x20);
    return bytes;
  }

  static Options InMode(WALRecoveryMode mode) {
    Options options = SmallDatabaseOptions();
    options.wal_recovery_mode = mode;
    return options;
  }
  void ExpectRefused(const MemoryImage& image, WALRecoveryMode mode, const std::string& log) {
    SCOPED_TRACE(StrCat("recovery mode ", static_cast<int>(mode)));
    const Autopsy autopsy = OpenAndReadAll(image, InMode(mode), {});
    EXPECT_FALSE(autopsy.opened);
    EXPECT_TRUE(autopsy.status.IsCorruption()) << autopsy.status.ToString();
    EXPECT_NE(autopsy.status.ToString().find(log), std::string::npos) << autopsy.status.ToString();
    EXPECT_TRUE(autopsy.untouched);
  }
  // Expects recovery of these batches and, after a write, a kill and a reopen, of these and the new
  // one. Dropped records must not reappear.
  void ExpectRecovered(const MemoryImage& image, WALRecoveryMode mode,
                       const std::vector<int>& batches) {
    SCOPED_TRACE(StrCat("recovery mode ", static_cast<int>(mode)));
    const auto file_system = std::make_shared<MemoryFileSystem>(image);
    Contents expected = After(batches);
    {
      OpenDatabase recovered(file_system, InMode(mode), 1);
      const Status opened = recovered.Open();
      ASSERT_TRUE(opened.ok()) << opened.ToString();
      ExpectContents(recovered, expected);
      ASSERT_TRUE(recovered.Write(BatchNumber(1000), WriteOptions()).ok());
      Apply(BatchNumber(1000), &expected);
      OpenDatabase killed(std::make_shared<MemoryFileSystem>(file_system->Snapshot()), InMode(mode),
                          1);
      ASSERT_TRUE(killed.Open().ok());
      ExpectContents(killed, expected);
    }
  }
  static void ExpectContents(const OpenDatabase& database, const Contents& expected) {
    Contents contents;
    ASSERT_TRUE(database.Read(&contents).ok());
    EXPECT_EQ(contents.at(kDefaultColumnFamilyName), expected.at(kDefaultColumnFamilyName));
  }

  const std::shared_ptr<MemoryFileSystem> file_system_;
  OpenDatabase database_;
  MemoryImage image_;
  std::vector<std::string> logs_;
};

TEST_F(LogDamageTest, UndamagedEveryModeRecoversEverything) {
  for (const WALRecoveryMode mode : {kTolerate, kAbsolute, kPointInTime, kSkip})
    ExpectRecovered(image_, mode, Range(1, kBatches));
}

TEST_F(LogDamageTest, ATornTail) {
  const std::string bytes = LogBytes(logs_[1]);
  const MemoryImage torn = With(logs_[1], bytes.substr(0, bytes.size() - 9));
  ExpectRecovered(torn, kTolerate, Range(1, kBatches - 1));
  ExpectRefused(torn, kAbsolute, logs_[1]);
  ExpectRecovered(torn, kPointInTime, Range(1, kBatches - 1));
  ExpectRecovered(torn, kSkip, Range(1, kBatches - 1));
}

TEST_F(LogDamageTest, DamageInTheMiddleOfTheLastLog) {
  // The second log starts with its head. Record 3 after it is batch kBatchesInTheFirstLog + 3.
  const int damaged_batch = kBatchesInTheFirstLog + 3;
  const MemoryImage damaged = With(logs_[1], Flipped(logs_[1], RecordOffsets(logs_[1])[3] + 30));
  ExpectRefused(damaged, kTolerate, logs_[1]);
  ExpectRefused(damaged, kAbsolute, logs_[1]);
  ExpectRecovered(damaged, kPointInTime, Range(1, damaged_batch - 1));
  ExpectRecovered(damaged, kSkip, Range(1, kBatches, damaged_batch));
}

TEST_F(LogDamageTest, DamageInTheMiddleOfAnOlderLog) {
  const std::vector<uint64_t> offsets = RecordOffsets(logs_[0]);
  // Skips the head, if there is one.
  const size_t first_batch = offsets.size() - 1 - kBatchesInTheFirstLog;
  const MemoryImage damaged = With(logs_[0], Flipped(logs_[0], offsets[first_batch + 4] + 30));
  ExpectRefused(damaged, kTolerate, logs_[0]);
  ExpectRefused(damaged, kAbsolute, logs_[0]);
  ExpectRecovered(damaged, kPointInTime, Range(1, 4));
  ExpectRecovered(damaged, kSkip, Range(1, kBatches, 5));
}

// RocksDB once continued with the next log when a log in the middle was truncated at the end of a
// record.
TEST_F(LogDamageTest, AnOlderLogCutAtTheEndOfARecordIsNoEnd) {
  const std::vector<uint64_t> offsets = RecordOffsets(logs_[0]);
  const size_t first_batch = offsets.size() - 1 - kBatchesInTheFirstLog;
  for (size_t batches = 0; batches < kBatchesInTheFirstLog; ++batches) {
    SCOPED_TRACE(StrCat(batches, " batches left"));
    const MemoryImage cut =
        With(logs_[0],
             LogBytes(logs_[0]).substr(0, static_cast<size_t>(offsets[first_batch + batches])));
    ExpectRefused(cut, kTolerate, logs_[0]);
    ExpectRefused(cut, kAbsolute, logs_[0]);
    ExpectRecovered(cut, kPointInTime, Range(1, static_cast<int>(batches)));
  }
}

// The second family has all of the first log in a table, while the first family needs that log. If
// the rest of the log is lost, no point in time includes both families.
TEST(FamiliesAfterDamageTest, AFamilyAheadOfTheDamageIsRefused) {
  const auto file_system = std::make_shared<MemoryFileSystem>();
  Options options = SmallDatabaseOptions();
  options.wal_recovery_mode = kPointInTime;
  OpenDatabase database(file_system, options, 1);
  ASSERT_TRUE(database.Open().ok());
  ASSERT_TRUE(database.CreateFamily("ahead").ok());
  const auto write = [&](int i) {
    Commit both;
    for (const char* const family : {kDefaultColumnFamilyName.c_str(), "ahead"}) {
      both.push_back({.kind = Change::Kind::kPut,
                      .family = family,
                      .key = StrCat("key", i),
                      .value = std::string(80, 'v')});
    }
    ASSERT_TRUE(database.Write(both, WriteOptions()).ok());
  };
  for (int i = 0; i < 8; ++i) write(i);
  ASSERT_TRUE(database.Flush({"ahead"}, true).ok());
  write(8);
  std::vector<std::string> logs;
  ASSERT_TRUE(file_system->GetChildren(OpenDatabase::kPath, &logs).ok());
  std::erase_if(logs, [](const std::string& name) { return !name.ends_with(".log"); });
  std::sort(logs.begin(), logs.end());
  ASSERT_GE(logs.size(), 2U);
  const std::string damaged = ClosedDatabase::Path(logs[logs.size() - 2]);
  const std::string later = ClosedDatabase::Path(logs.back());
  MemoryImage image = file_system->Snapshot();
  for (MemoryImage::Entry& entry : image.entries) {
    if ("/" + entry.path != damaged) continue;
    std::string bytes = *entry.bytes;
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x20);
    entry.bytes = std::make_shared<const std::string>(std::move(bytes));
  }
  // With and without the later log, whose head records the length of the damaged one.
  for (const bool has_later : {true, false}) {
    SCOPED_TRACE(has_later);
    if (!has_later) {
      std::erase_if(image.entries,
                    [&](const MemoryImage::Entry& entry) { return "/" + entry.path == later; });
    }
    const Autopsy autopsy = OpenAndReadAll(image, options, {});
    EXPECT_FALSE(autopsy.opened);
    EXPECT_TRUE(autopsy.status.IsCorruption()) << autopsy.status.ToString();
    EXPECT_NE(autopsy.status.ToString().find("newer than the damage"), std::string::npos)
        << autopsy.status.ToString();
  }
}

TEST_F(LogDamageTest, AnOlderLogThatIsMissing) {
  const MemoryImage missing = With(logs_[0], std::nullopt);
  for (const WALRecoveryMode mode : {kTolerate, kAbsolute, kPointInTime})
    ExpectRefused(missing, mode, logs_[0]);
  ExpectRecovered(missing, kSkip, Range(kBatchesInTheFirstLog + 1, kBatches));
}

// A closed log is recorded with its length, so that nothing in it can be a torn tail.
TEST_F(LogDamageTest, ATailThatIsMissingFromAClosedDatabase) {
  ASSERT_TRUE(database_.Close().ok());
  image_ = file_system_->Snapshot();
  std::vector<std::string> names;
  ASSERT_TRUE(file_system_->GetChildren(OpenDatabase::kPath, &names).ok());
  for (const std::string& log : logs_) {
    if (LogBytes(log).empty()) continue;
    SCOPED_TRACE(log);
    const std::string bytes = LogBytes(log);
    for (const WALRecoveryMode mode : {kTolerate, kAbsolute, kPointInTime}) {
      ExpectRefused(With(log, bytes.substr(0, bytes.size() - 9)), mode, log);
      ExpectRefused(With(log, bytes.substr(0, static_cast<size_t>(RecordOffsets(log)[2]))), mode,
                    log);
      ExpectRefused(With(log, std::nullopt), mode, log);
    }
  }
}

// Bytes that are not replayed are counted, reported and kept.
class LostLogTest : public LogDamageTest {
 protected:
  // Opens the image with a LOG, and closes it.
  void OpenWithLog(const MemoryImage& image, WALRecoveryMode mode) {
    disk_ = std::make_shared<MemoryFileSystem>(image);
    Options options = InMode(mode);
    options.info_log = nullptr;
    OpenDatabase database(disk_, options, 1);
    opened_ = database.Open();
    if (opened_.ok()) {
      ASSERT_TRUE(database.Close().ok());
    }
    log_text_ = Bytes("LOG");
  }
  std::string Bytes(const std::string& name) const {
    const Result<std::string> bytes =
        ReadFileToString(disk_.get(), ClosedDatabase::Path(name), size_t{1} << 20);
    EXPECT_TRUE(bytes.ok()) << bytes.status().ToString();
    return bytes.ok() ? *bytes : "";
  }
  std::vector<std::string> Kept() const {
    std::vector<std::string> names;
    if (!disk_->GetChildren(ClosedDatabase::Path("lost"), &names).ok()) return {};
    std::sort(names.begin(), names.end());
    return names;
  }
  void ExpectInLog(const std::string& text) const {
    EXPECT_NE(log_text_.find(text), std::string::npos) << text << "\n" << log_text_;
  }
  uint64_t DamagedOffset() const { return RecordOffsets(logs_[1])[3]; }
  MemoryImage Damaged() const { return With(logs_[1], Flipped(logs_[1], DamagedOffset() + 30)); }

  std::shared_ptr<MemoryFileSystem> disk_;
  Status opened_;
  std::string log_text_;
};

TEST_F(LostLogTest, ADamagedLogIsReportedAndKept) {
  OpenWithLog(Damaged(), kPointInTime);
  ASSERT_TRUE(opened_.ok()) << opened_.ToString();
  const uint64_t lost_bytes = RecordOffsets(logs_[1]).back() - DamagedOffset();
  ExpectInLog(StrCat(logs_[1], ": checksum mismatch at offset ", DamagedOffset(), ": ", lost_bytes,
                     " bytes from offset ", DamagedOffset()));
  ExpectInLog(StrCat("kept as /db/lost/", logs_[1]));
  ExpectInLog(StrCat("\"bytes_not_replayed\": ", lost_bytes, ","));
  EXPECT_EQ(Kept(), std::vector<std::string>{logs_[1]});
  EXPECT_EQ(Bytes("lost/" + logs_[1]), Flipped(logs_[1], DamagedOffset() + 30));
  EXPECT_FALSE(disk_->FileExists(ClosedDatabase::Path(logs_[1])).ok())
      << "what was recovered from it is in tables";
  // The copy does not belong to the database. Later opens do not touch it and report nothing.
  OpenWithLog(disk_->Snapshot(), kPointInTime);
  ASSERT_TRUE(opened_.ok());
  EXPECT_EQ(log_text_.find("not replayed"), std::string::npos) << log_text_;
  ExpectInLog("\"bytes_not_replayed\": 0,");
  EXPECT_EQ(Kept(), std::vector<std::string>{logs_[1]});
}

TEST_F(LostLogTest, DamageThatIsSkippedIsReportedAndKept) {
  OpenWithLog(Damaged(), kSkip);
  ASSERT_TRUE(opened_.ok()) << opened_.ToString();
  const uint64_t lost_bytes = RecordOffsets(logs_[1])[4] - DamagedOffset();
  ExpectInLog(StrCat("\"bytes_not_replayed\": ", lost_bytes, ","));
  EXPECT_EQ(Kept(), std::vector<std::string>{logs_[1]});
}

// The records after the damage are intact, but are dropped too.
TEST_F(LostLogTest, LogsAfterADamagedOneAreReportedAndKept) {
  const std::vector<uint64_t> offsets = RecordOffsets(logs_[0]);
  const uint64_t damaged = offsets[offsets.size() - 1 - kBatchesInTheFirstLog + 4];
  OpenWithLog(With(logs_[0], Flipped(logs_[0], damaged + 30)), kPointInTime);
  ASSERT_TRUE(opened_.ok()) << opened_.ToString();
  const std::vector<uint64_t> later = RecordOffsets(logs_[1]);
  ExpectInLog(
      StrCat("\"bytes_not_replayed\": ", offsets.back() - damaged + later.back() - later[1], ","));
  EXPECT_EQ(Kept(), logs_);
  EXPECT_EQ(Bytes("lost/" + logs_[1]), LogBytes(logs_[1]));
}

TEST_F(LostLogTest, ATornTailIsReportedAndNotKept) {
  const std::string bytes = LogBytes(logs_[1]);
  const std::vector<uint64_t> offsets = RecordOffsets(logs_[1]);
  OpenWithLog(With(logs_[1], bytes.substr(0, offsets.back() - 9)), kPointInTime);
  ASSERT_TRUE(opened_.ok()) << opened_.ToString();
  ExpectInLog(
      StrCat("\"bytes_not_replayed\": ", offsets.back() - 9 - offsets[offsets.size() - 2], ","));
  EXPECT_EQ(Kept(), std::vector<std::string>{});
  OpenWithLog(With(logs_[1], bytes.substr(0, offsets.back()) + std::string(10000, '\0')),
              kPointInTime);
  ASSERT_TRUE(opened_.ok()) << opened_.ToString();
  ExpectInLog("\"bytes_not_replayed\": 0,");
  EXPECT_EQ(log_text_.find("WARN"), std::string::npos) << log_text_;
}

TEST_F(LostLogTest, AnOpenThatIsRefusedIsInTheLog) {
  OpenWithLog(Damaged(), kAbsolute);
  EXPECT_TRUE(opened_.IsCorruption());
  ExpectInLog(StrCat("the open failed: ", opened_.ToString()));
  EXPECT_EQ(Kept(), std::vector<std::string>{});
}

TEST_F(LostLogTest, ACopyOfAnotherLogOfThisNumberStays) {
  MemoryFileSystem disk(Damaged());
  ASSERT_TRUE(disk.CreateDir(ClosedDatabase::Path("lost")).ok());
  for (const std::string& name : {logs_[1], logs_[1] + ".1"}) {
    ASSERT_TRUE(
        WriteStringToFile(&disk, name, ClosedDatabase::Path("lost/" + name), Durability::kSynced)
            .ok());
  }
  OpenWithLog(disk.Snapshot(), kPointInTime);
  ASSERT_TRUE(opened_.ok()) << opened_.ToString();
  EXPECT_EQ(Kept(), (std::vector<std::string>{logs_[1], logs_[1] + ".1", logs_[1] + ".2"}));
  EXPECT_EQ(Bytes("lost/" + logs_[1] + ".1"), logs_[1] + ".1");
  EXPECT_EQ(Bytes("lost/" + logs_[1] + ".2"), Flipped(logs_[1], DamagedOffset() + 30));
}

// A log that cannot be kept must not be deleted.
TEST_F(LostLogTest, WithoutSpaceForTheCopyTheOpenIsRefused) {
  const auto disk = std::make_shared<MemoryFileSystem>(Damaged());
  const auto faults = std::make_shared<FaultFileSystem>(disk);
  FaultRule full;
  full.operations = FaultOperation::kAppend | FaultOperation::kFlush | FaultOperation::kSync;
  full.name_contains = "/lost/";
  full.error = Status::NoSpace("injected fault");
  full.sticky = true;
  faults->AddRule(full);
  {
    OpenDatabase database(faults, InMode(kPointInTime), 1);
    const Status opened = database.Open();
    EXPECT_TRUE(opened.IsNoSpace()) << opened.ToString();
  }
  EXPECT_TRUE(disk->FileExists(ClosedDatabase::Path(logs_[1])).ok());
  faults->ClearRules();
  OpenWithLog(disk->Snapshot(), kPointInTime);
  ASSERT_TRUE(opened_.ok()) << opened_.ToString();
  EXPECT_EQ(Kept(), std::vector<std::string>{logs_[1]});
}

TEST_F(LostLogTest, AReadOnlyOpenReportsDamageAndChangesNothing) {
  disk_ = std::make_shared<MemoryFileSystem>(Damaged());
  ManualEnv env(disk_, 1);
  Options options = InMode(kPointInTime);
  options.env = &env;
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::OpenForReadOnly(options, OpenDatabase::kPath, &db).ok());
  std::string damage;
  ASSERT_TRUE(db->GetProperty(DB::Properties::kLogDamage, &damage));
  EXPECT_EQ(damage, StrCat("/db/", logs_[1], ": checksum mismatch at offset ", DamagedOffset(),
                           ": ", RecordOffsets(logs_[1]).back() - DamagedOffset(),
                           " bytes from offset ", DamagedOffset(), " are not replayed\n"));
  db.reset();
  EXPECT_EQ(disk_->Snapshot().Fingerprint(), Damaged().Fingerprint());
}

TEST_F(LostLogTest, DestroyingTheDatabaseRemovesTheCopies) {
  OpenWithLog(Damaged(), kPointInTime);
  ASSERT_TRUE(opened_.ok());
  ASSERT_EQ(Kept().size(), 1u);
  ManualEnv env(disk_, 1);
  Options options = InMode(kPointInTime);
  options.env = &env;
  ASSERT_TRUE(DestroyDB(OpenDatabase::kPath, options).ok());
  EXPECT_FALSE(disk_->FileExists(OpenDatabase::kPath).ok());
}

}  // namespace
}  // namespace ashlar
