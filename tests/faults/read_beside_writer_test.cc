// A read-only open takes no lock. At every call that it makes, another process takes a step: it
// writes, flushes, compacts, deletes tables and logs, or replaces the MANIFEST. The open succeeds,
// and shows the database at one moment that is not before the begin of the open.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/merge_operator.h"
#include "base/format.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/fault_sweep.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

class ReadBesideWriterTest : public ::testing::Test {
 protected:
  static constexpr const char* kSecond = "second";

  ReadBesideWriterTest() { options_.max_manifest_file_size = 600; }

  void SetUp() override {
    ASSERT_TRUE(writer_.Open().ok());
    ASSERT_TRUE(writer_.CreateFamily(kSecond).ok());
    for (int i = 0; i < 6; ++i) Step();
    Write();
  }

  // Writes one batch: the same entry in both families.
  void Write() {
    ++written_;
    Commit commit;
    for (const char* family : {kDefaultColumnFamilyName.c_str(), kSecond}) {
      commit.push_back({.kind = Change::Kind::kPut,
                        .family = family,
                        .key = StrCat("key", written_ % 7),
                        .value = StrCat(written_)});
    }
    ASSERT_TRUE(writer_.Write(commit, WriteOptions()).ok());
  }
  // The work of the other process between two calls. It includes every kind of change to files.
  void Step() {
    Write();
    ASSERT_TRUE(writer_.Flush(writer_.families(), true).ok());
    if (++steps_ % 2 == 0) {
      for (const std::string& family : writer_.families()) {
        ASSERT_TRUE(
            writer_.db()
                ->CompactRange(CompactRangeOptions(), writer_.family(family), nullptr, nullptr)
                .ok());
      }
    }
    Write();
  }
  void StepAtCall(uint64_t nth, bool sticky, int steps_max) {
    RunAtCall(calls_.get(), nth, sticky, steps_max, [this] { Step(); });
  }

  Status OpenReader() {
    std::vector<ColumnFamilyHandle*> handles;
    Options options = options_;
    options.env = &reader_env_;
    const Status opened =
        DB::OpenForReadOnly(options, OpenDatabase::kPath,
                            {ColumnFamilyDescriptor(kDefaultColumnFamilyName, options),
                             ColumnFamilyDescriptor(kSecond, options)},
                            &handles, &reader_);
    handles_.clear();
    for (ColumnFamilyHandle* handle : handles) handles_.emplace_back(handle);
    return opened;
  }
  void CloseReader() {
    handles_.clear();
    reader_.reset();
  }
  FamilyContents Read(ColumnFamilyHandle* family) {
    FamilyContents contents;
    const std::unique_ptr<Iterator> it(reader_->NewIterator(ReadOptions(), family));
    for (it->SeekToFirst(); it->Valid(); it->Next())
      contents[it->key().ToString()] = it->value().ToString();
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    return contents;
  }
  // Expects all keys to have the values that they had after one batch, which is `at_least` or a
  // later one.
  void ExpectOneMoment(int at_least) {
    const FamilyContents contents = Read(handles_[0].get());
    EXPECT_EQ(contents, Read(handles_[1].get()));
    int newest = 0;
    for (const auto& [key, value] : contents) newest = std::max(newest, std::stoi(value));
    EXPECT_GE(newest, at_least);
    EXPECT_LE(newest, written_);
    FamilyContents expected;
    for (int i = 1; i <= newest; ++i) expected[StrCat("key", i % 7)] = StrCat(i);
    EXPECT_EQ(contents, expected);
  }

  Options options_ = SmallDatabaseOptions();
  const std::shared_ptr<MemoryFileSystem> disk_ = std::make_shared<MemoryFileSystem>();
  const std::shared_ptr<FaultFileSystem> calls_ = std::make_shared<FaultFileSystem>(disk_);
  OpenDatabase writer_{disk_, options_, 1};
  ManualEnv reader_env_{calls_, 2};
  std::unique_ptr<DB> reader_;
  std::vector<std::unique_ptr<ColumnFamilyHandle>> handles_;
  int written_ = 0;
  int steps_ = 0;
};

// The modes treat a missing log differently. One of them continues.
TEST_F(ReadBesideWriterTest, AStepAtAnyCallOfTheOpen) {
  for (const WALRecoveryMode mode :
       {WALRecoveryMode::kTolerateCorruptedTailRecords, WALRecoveryMode::kAbsoluteConsistency,
        WALRecoveryMode::kPointInTimeRecovery, WALRecoveryMode::kSkipAnyCorruptedRecords}) {
    options_.wal_recovery_mode = mode;
    for (uint64_t nth = 1;; ++nth) {
      SCOPED_TRACE(StrCat("mode ", static_cast<int>(mode), ", a step at call ", nth));
      calls_->ClearRules();
      StepAtCall(nth, false, 1);
      const int written_before = written_;
      const int steps_before = steps_;
      const Status opened = OpenReader();
      ASSERT_TRUE(opened.ok()) << opened.ToString();
      if (steps_ == steps_before) break;
      ExpectOneMoment(written_before);
      CloseReader();
    }
  }
}

TEST_F(ReadBesideWriterTest, StepsAtEveryCallForAWhile) {
  for (uint64_t nth = 1; nth < 60; nth += 7) {
    SCOPED_TRACE(StrCat("steps from call ", nth, " on"));
    calls_->ClearRules();
    StepAtCall(nth, true, 150);
    const int written_before = written_;
    const Status opened = OpenReader();
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    ExpectOneMoment(written_before);
    CloseReader();
  }
}

TEST_F(ReadBesideWriterTest, TablesThatAreDeletedAfterTheOpenAreStillRead) {
  ASSERT_TRUE(OpenReader().ok());
  const int written_at_open = written_;
  for (int i = 0; i < 6; ++i) Step();
  ExpectOneMoment(written_at_open);
  EXPECT_TRUE(reader_->VerifyChecksum(ReadOptions()).ok());
  const FamilyContents contents = Read(handles_[0].get());
  for (const auto& [key, value] : contents) EXPECT_LE(std::stoi(value), written_at_open) << key;
}

TEST_F(ReadBesideWriterTest, NamesOfFamiliesAtAnyCall) {
  for (uint64_t nth = 1;; ++nth) {
    calls_->ClearRules();
    StepAtCall(nth, false, 1);
    const int steps_before = steps_;
    DBOptions options(options_);
    options.env = &reader_env_;
    std::vector<std::string> names;
    const Status listed = DB::ListColumnFamilies(options, OpenDatabase::kPath, &names);
    ASSERT_TRUE(listed.ok()) << listed.ToString();
    EXPECT_EQ(names, (std::vector<std::string>{kDefaultColumnFamilyName, kSecond}));
    if (steps_ == steps_before) break;
  }
}

// Bytes that are read while they are written look damaged. Read again, they are complete.
TEST_F(ReadBesideWriterTest, ALogThatLooksDamagedOnceIsReadAgain) {
  for (int i = 0; i < 5; ++i) Write();
  FaultRule flip;
  flip.operations = FaultOperation::kRead;
  flip.name_contains = ".log";
  flip.effect = FaultEffect::kBitFlip;
  for (uint64_t seed = 1; seed < 30; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    flip.seed = seed;
    calls_->ClearRules();
    calls_->AddRule(flip);
    ASSERT_TRUE(OpenReader().ok());
    std::string damage;
    EXPECT_TRUE(reader_->GetProperty(DB::Properties::kLogDamage, &damage));
    EXPECT_EQ(damage, "");
    CloseReader();
  }
}

// Without a writer nothing changes between two attempts, so the second one reports damage.
TEST_F(ReadBesideWriterTest, ATableThatIsMissingIsReported) {
  std::vector<std::string> names;
  ASSERT_TRUE(disk_->GetChildren(OpenDatabase::kPath, &names).ok());
  const auto table = std::find_if(names.begin(), names.end(),
                                  [](const std::string& name) { return name.ends_with(".sst"); });
  ASSERT_NE(table, names.end());
  ASSERT_TRUE(OpenReader().ok());
  CloseReader();
  const uint64_t calls_of_an_open = calls_->CallCount(FaultOperation::kAny);
  calls_->ResetCounts();
  ASSERT_TRUE(disk_->DeleteFile(StrCat(OpenDatabase::kPath, "/", *table)).ok());
  const Status opened = OpenReader();
  EXPECT_TRUE(opened.IsCorruption()) << opened.ToString();
  EXPECT_NE(opened.ToString().find(*table), std::string::npos) << opened.ToString();
  EXPECT_LE(calls_->CallCount(FaultOperation::kAny), 2 * calls_of_an_open);
}

class Last final : public AssociativeMergeOperator {
 public:
  static constexpr char kName[] = "test.Last";
  const char* Name() const override { return kName; }
  bool Merge(const Slice& /*key*/, const Slice* /*existing_value*/, const Slice& value,
             std::string* new_value, Logger* /*logger*/) const override {
    *new_value = value.ToString();
    return true;
  }
};

// The reader gets no merge operator, but finds the recorded one in an OPTIONS file.
TEST(ReadBesideOptionsTest, NewOptionsFilesAtAnyCallOfTheOpen) {
  const auto disk = std::make_shared<MemoryFileSystem>();
  const auto calls = std::make_shared<FaultFileSystem>(disk);
  ManualEnv reader_env(calls, 2);
  Options options = SmallDatabaseOptions();
  options.merge_operator = std::make_shared<Last>();
  OpenDatabase writer(disk, options, 1);
  ASSERT_TRUE(writer.Open().ok());
  options.merge_operator = nullptr;
  options.env = &reader_env;
  int changes = 0;
  const auto change = [&] {
    for (int i = 0; i < 3; ++i) {
      const std::string bytes = StrCat((64 << 10) + ++changes);
      ASSERT_TRUE(writer.db()->SetOptions({{"write_buffer_size", bytes}}).ok());
    }
  };
  bool changed = true;
  for (FaultRule rule; changed; ++rule.nth) {
    SCOPED_TRACE(rule.nth);
    std::unique_ptr<DB> reader;
    changed = RunDuring(calls.get(), rule, change, [&] {
      const Status opened = DB::OpenForReadOnly(options, OpenDatabase::kPath, &reader);
      EXPECT_TRUE(opened.ok()) << opened.ToString();
    });
    ASSERT_NE(reader, nullptr);
    ASSERT_NE(reader->GetOptions().merge_operator, nullptr);
    EXPECT_STREQ(reader->GetOptions().merge_operator->Name(), Last::kName);
  }
  EXPECT_GT(changes, 3);
}

}  // namespace
}  // namespace ashlar
