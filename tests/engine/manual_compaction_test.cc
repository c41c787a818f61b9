// CompactRange: its flushes, and its progress while automatic compactions move the base level.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/listener.h"
#include "base/random.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/expect_ok.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

constexpr uint64_t kKeys = 400;

std::string Key(uint64_t i) {
  const std::string digits = std::to_string(i);
  return "key" + std::string(6 - digits.size(), '0') + digits;
}

// Levels so small that the base level moves during the test.
Options TinyLevels() {
  Options options = SmallDatabaseOptions();
  options.write_buffer_size = 64 << 10;
  options.max_bytes_for_level_base = 128 << 10;
  options.max_bytes_for_level_multiplier = 4;
  options.target_file_size_base = 32 << 10;
  options.level0_file_num_compaction_trigger = 2;
  options.max_background_jobs = 4;
  return options;
}

// A seed determines the order of writes, manual compactions and background jobs.
void RunHistory(uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  OpenDatabase database(std::make_shared<MemoryFileSystem>(), TinyLevels(), seed);
  ASSERT_OK(database.Open());
  Random random(seed);
  Contents expected{{kDefaultColumnFamilyName, {}}};
  FamilyContents& model = expected[kDefaultColumnFamilyName];
  for (int round = 0; round < 12; ++round) {
    for (int i = 0; i < 150; ++i) {
      const std::string key = Key(random.Uniform(kKeys));
      const std::string value = std::to_string(random.Next()) + std::string(900, 'v');
      ASSERT_OK(database.db()->Put(WriteOptions(), key, value));
      model[key] = value;
      while (random.OneIn(30) && database.env()->RunOneJob()) {
      }
    }
    const uint64_t first = random.Uniform(kKeys);
    const std::string begin = Key(first);
    const std::string end = Key(std::min(kKeys, first + random.Uniform(40)));
    const Slice begin_slice(begin);
    const Slice end_slice(end);
    CompactRangeOptions options;
    options.allow_write_stall = true;
    if (random.OneIn(4)) options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_OK(database.db()->CompactRange(options, &begin_slice, &end_slice));
  }
  Contents found;
  ASSERT_OK(database.Read(&found));
  EXPECT_TRUE(found == expected) << "the contents differ from what was written";
  ASSERT_OK(database.Close());
  ASSERT_OK(database.Open());
  ASSERT_OK(database.Read(&found));
  EXPECT_TRUE(found == expected) << "after reopening";
}

TEST(ManualCompactionTest, KeepsTheNewestValuesWhileAutomaticOnesRun) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    RunHistory(seed);
    if (HasFatalFailure()) return;
  }
}

// Records the reasons of compactions in the order in which they ended.
class EndedCompactions final : public EventListener {
 public:
  void OnCompactionCompleted(DB* /*db*/, const CompactionJobInfo& info) override {
    reasons_.push_back(info.compaction_reason);
  }
  const std::vector<CompactionReason>& reasons() const { return reasons_; }

 private:
  std::vector<CompactionReason> reasons_;
};

// If the end of each compaction of level 0 scheduled the next one, a CompactRange would wait for
// level 0 for as long as writers fill it.
TEST(ManualCompactionTest, IsTheNextOneAfterThoseThatItWaitsFor) {
  const auto ended = std::make_shared<EndedCompactions>();
  Options options = SmallDatabaseOptions();
  options.level0_file_num_compaction_trigger = 2;
  options.max_background_jobs = 4;  // several compactions at once
  options.disable_auto_compactions = true;
  options.listeners.push_back(ended);
  OpenDatabase database(std::make_shared<MemoryFileSystem>(), options, 1);
  ASSERT_OK(database.Open());
  const auto add_table = [&] {
    ASSERT_OK(database.db()->Put(WriteOptions(), "a", "value"));
    ASSERT_OK(database.db()->Put(WriteOptions(), "z", "value"));
    FlushOptions flush;
    flush.wait = false;
    ASSERT_OK(database.db()->Flush(flush));
    ASSERT_TRUE(database.env()->RunOneFlush());
  };
  for (int i = 0; i < 2; ++i) add_table();
  ASSERT_OK(database.db()->SetOptions({{"disable_auto_compactions", "false"}}));
  EXPECT_EQ(database.env()->manual_executor()->QueuedJobs(Executor::Priority::kLow), 1u);
  for (int i = 0; i < 3; ++i) add_table();  // enough for another compaction of level 0
  EXPECT_EQ(database.env()->manual_executor()->QueuedJobs(Executor::Priority::kLow), 1u);
  ASSERT_OK(database.db()->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  ASSERT_EQ(ended->reasons().size(), 2u);
  EXPECT_EQ(ended->reasons()[0], CompactionReason::kLevelL0FilesNum);
  EXPECT_EQ(ended->reasons()[1], CompactionReason::kManualCompaction);
  ASSERT_OK(database.Close());
}

class CompactRangeFlushTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_OK(database_.Open()); }

  // True if a call for these keys flushes the active memtable.
  bool Flushes(const std::string& begin, const std::string& end) {
    const Slice begin_slice(begin);
    const Slice end_slice(end);
    EXPECT_OK(database_.db()->CompactRange(CompactRangeOptions(), &begin_slice, &end_slice));
    return Unflushed() == 0;
  }
  uint64_t Unflushed() {
    uint64_t entries = 0;
    EXPECT_TRUE(
        database_.db()->GetIntProperty(DB::Properties::kNumEntriesActiveMemTable, &entries));
    return entries;
  }

  OpenDatabase database_{std::make_shared<MemoryFileSystem>(), SmallDatabaseOptions(), 1};
};

TEST_F(CompactRangeFlushTest, IsOfMemtablesThatHaveAKeyOfTheRange) {
  ASSERT_OK(database_.db()->Put(WriteOptions(), "m", "value"));
  EXPECT_FALSE(Flushes("a", "l"));
  EXPECT_FALSE(Flushes("n", "z"));
  EXPECT_FALSE(Flushes("z", "a"));
  EXPECT_TRUE(Flushes("m", "m"));
  ASSERT_OK(database_.db()->Delete(WriteOptions(), "m"));
  EXPECT_TRUE(Flushes("a", "z"));
}

TEST_F(CompactRangeFlushTest, IsOfMemtablesThatDeleteAPartOfTheRange) {
  ASSERT_OK(
      database_.db()->DeleteRange(WriteOptions(), database_.db()->DefaultColumnFamily(), "d", "m"));
  EXPECT_FALSE(Flushes("m", "z"));
  EXPECT_FALSE(Flushes("a", "c"));
  EXPECT_TRUE(Flushes("e", "f"));
}

TEST_F(CompactRangeFlushTest, IsOfEveryMemtableIfTheRangeHasAnOpenEnd) {
  ASSERT_OK(database_.db()->Put(WriteOptions(), "m", "value"));
  const Slice begin("z");
  ASSERT_OK(database_.db()->CompactRange(CompactRangeOptions(), &begin, nullptr));
  EXPECT_EQ(Unflushed(), 0u);
}

}  // namespace
}  // namespace ashlar
