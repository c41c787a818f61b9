// Behaviour other than results on which programs written for RocksDB rely: which of their functions
// are called, texts for which they search, and figures that are never 0.
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/perf_context.h"
#include "ashlar/slice_transform.h"
#include "base/assert.h"
#include "tests/engine/database_fixture.h"

namespace ashlar {
namespace {

// Orders as BytewiseComparator does, shortens nothing, and counts its comparisons.
class CountingComparator final : public Comparator {
 public:
  explicit CountingComparator(const char* name) : name_(name) {}
  const char* Name() const override { return name_; }
  int Compare(const Slice& a, const Slice& b) const override {
    ++calls;
    return a.compare(b);
  }
  void FindShortestSeparator(std::string* /*start*/, const Slice& /*limit*/) const override {
    ++calls;
  }
  void FindShortSuccessor(std::string* /*key*/) const override { ++calls; }

  mutable std::atomic<int> calls = 0;

 private:
  const char* const name_;
};

class ClientTest : public DatabaseFixture {
 protected:
  std::string Log() const {
    std::ifstream in(path() + "/LOG");
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  std::string Text(const std::string& property) {
    std::string text;
    EXPECT_TRUE(db_->GetProperty(property, &text)) << property;
    return text;
  }
};

TEST_F(ClientTest, AComparatorIsNotAskedAboutASingleKey) {
  const CountingComparator comparator("counting");
  options_.comparator = &comparator;
  Open();
  Put("only", "1");
  EXPECT_EQ(comparator.calls, 0) << "put";
  Flush();
  EXPECT_EQ(comparator.calls, 0) << "flush";
  CompactAll();
  EXPECT_EQ(comparator.calls, 0) << "compaction";
  Open();
  EXPECT_EQ(comparator.calls, 0) << "open";
  {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    it->SeekToFirst();
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->key(), "only");
    it->Next();
    EXPECT_FALSE(it->Valid());
    it->SeekToLast();
    ASSERT_TRUE(it->Valid());
  }
  EXPECT_EQ(comparator.calls, 0) << "walk";
  Close();  // before the comparator is destroyed
}

TEST_F(ClientTest, AComparatorThatShortensNothingIsOnlyAskedAboutNeighbours) {
  const CountingComparator comparator("counting");
  options_.comparator = &comparator;
  BlockBasedTableOptions table;
  table.block_size = 1;  // each key ends a block
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  Put("a", "1");
  Put("b", "2");
  comparator.calls = 0;
  Flush();
  // One call each by the flush, the check of the writer's input, the index that is read back and
  // the new version, and two for the separator of the blocks. Debug builds also check invariants.
  constexpr int kCallsMax = kDebugChecks ? 100 : 6;
  EXPECT_LE(comparator.calls, kCallsMax);
  Close();  // before the comparator is destroyed
}

TEST_F(ClientTest, KeyMayExistDecidesThatAKeyIsAbsent) {
  BlockBasedTableOptions table;
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  std::string value = "before";
  bool found = false;
  EXPECT_FALSE(db_->KeyMayExist(ReadOptions(), "absent", &value, &found)) << "empty database";
  EXPECT_TRUE(found);
  EXPECT_EQ(value, "");
  Put("a", "1");
  Delete("a");
  found = false;
  EXPECT_FALSE(db_->KeyMayExist(ReadOptions(), "a", &value, &found)) << "deleted";
  EXPECT_TRUE(found);
  Put("b", "2");
  Flush();
  found = true;
  value = "before";
  EXPECT_TRUE(db_->KeyMayExist(ReadOptions(), "b", &value, &found)) << "not in memory";
  EXPECT_FALSE(found);
  EXPECT_EQ(value, "before");
  found = false;
  EXPECT_FALSE(db_->KeyMayExist(ReadOptions(), "certainly not there", &value, &found))
      << "the filter says so";
  EXPECT_TRUE(found);
}

TEST_F(ClientTest, AFreshMemtableTakesMemory) {
  Open();
  const uint64_t fresh = Number(DB::Properties::kCurSizeActiveMemTable);
  EXPECT_GT(fresh, 0u);
  EXPECT_EQ(Number(DB::Properties::kCurSizeAllMemTables), fresh);
  EXPECT_EQ(Number(DB::Properties::kSizeAllMemTables), fresh);
  Put("a", "1");
  EXPECT_GT(Number(DB::Properties::kCurSizeActiveMemTable), fresh);
}

TEST_F(ClientTest, ReadsCountInThePerfContextByDefault) {
  BlockBasedTableOptions table;
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  Put("a", "12");
  Put("b", "3");
  Put("c", "4");
  Delete("b");
  Flush();
  EXPECT_EQ(Get("a"), "12");
  ASSERT_EQ(GetPerfLevel(), kEnableCount);
  PerfContext* const perf = get_perf_context();
  perf->Reset();
  EXPECT_EQ(Get("a"), "12");
  EXPECT_EQ(Get("bb"), "NOT_FOUND");
  EXPECT_EQ(perf->get_from_memtable_count, 2u);
  EXPECT_EQ(perf->get_read_bytes, 2u);
  EXPECT_EQ(perf->bloom_sst_hit_count, 1u);
  EXPECT_EQ(perf->bloom_sst_miss_count, 1u);
  EXPECT_EQ(perf->block_cache_hit_count, 1u);
  std::vector<std::string> values;
  for (const Status& status : db_->MultiGet(ReadOptions(), {"a", "c"}, &values))
    EXPECT_TRUE(status.ok());
  EXPECT_EQ(perf->multiget_read_bytes, 3u);
  {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    it->SeekToFirst();
    it->Next();
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->key(), "c");
    EXPECT_EQ(perf->iter_read_bytes, 5u);
    EXPECT_EQ(perf->internal_delete_skipped_count, 1u);
    it->Prev();
    EXPECT_EQ(perf->iter_read_bytes, 8u);
  }
  perf->Reset();
}

TEST_F(ClientTest, AnotherComparatorIsRefusedInRocksDbsWords) {
  const CountingComparator theirs("theirs");
  options_.comparator = &theirs;
  Open();
  Close();
  const CountingComparator ours("ours");
  options_.comparator = &ours;
  const Status refused = TryOpen();
  EXPECT_TRUE(refused.IsInvalidArgument());
  EXPECT_NE(refused.ToString().find("ours: does not match existing comparator theirs"),
            std::string::npos)
      << refused.ToString();
}

TEST_F(ClientTest, AFailedMergeIsReportedInRocksDbsWords) {
  class Refuses final : public AssociativeMergeOperator {
   public:
    const char* Name() const override { return "Refuses"; }
    bool Merge(const Slice&, const Slice*, const Slice&, std::string*, Logger*) const override {
      return false;
    }
  };
  options_.merge_operator = std::make_shared<Refuses>();
  Open();
  Merge("a", "1");
  Merge("a", "2");
  std::string value;
  const Status failed = db_->Get(ReadOptions(), "a", &value);
  EXPECT_TRUE(failed.IsCorruption());
  EXPECT_EQ(failed.subcode(), Status::kMergeOperatorFailed);
  EXPECT_NE(failed.ToString().find("Merge operator failed"), std::string::npos)
      << failed.ToString();
  EXPECT_NE(failed.ToString().find("Refuses"), std::string::npos) << failed.ToString();
}

TEST_F(ClientTest, RefusedOpensAreReportedInRocksDbsWords) {
  options_.create_if_missing = false;
  const Status missing = TryOpen();
  EXPECT_TRUE(missing.IsInvalidArgument());
  EXPECT_NE(missing.ToString().find("CURRENT: does not exist (create_if_missing is false)"),
            std::string::npos)
      << missing.ToString();
  const Status nothing_to_read = DB::OpenForReadOnly(options_, path(), &db_);
  EXPECT_TRUE(nothing_to_read.IsIOError() && nothing_to_read.IsPathNotFound())
      << nothing_to_read.ToString();
  options_.create_if_missing = true;
  Open();
  const Status no_operator = db_->Merge(WriteOptions(), "a", "1");
  EXPECT_NE(no_operator.ToString().find("Provide a merge_operator when opening DB"),
            std::string::npos)
      << no_operator.ToString();
  options_.error_if_exists = true;
  const Status exists = TryOpen();
  EXPECT_TRUE(exists.IsInvalidArgument());
  EXPECT_NE(exists.ToString().find("exists (error_if_exists is true)"), std::string::npos)
      << exists.ToString();
}

TEST_F(ClientTest, TheLogListsOptionsAsRocksDbDoes) {
  options_.write_buffer_size = 12345678;
  Open();
  Close();
  const std::string log = Log();
  for (const char* line :
       {" Options.create_if_missing: 1\n", " Options.error_if_exists: 0\n",
        " Options.write_buffer_size: 12345678\n",
        " Options.comparator: leveldb.BytewiseComparator\n", "Options for column family [default]:",
        " table_factory options:", "  block_size: 4096\n"}) {
    EXPECT_NE(log.find(line), std::string::npos) << line << log;
  }
}

TEST_F(ClientTest, TheLogListsOptionsAtAnyLevel) {
  options_.info_log_level = FATAL_LEVEL;
  options_.paranoid_memory_checks = true;
  Open();
  Close();
  const std::string log = Log();
  EXPECT_NE(log.find(" Options.create_if_missing: 1\n"), std::string::npos) << log;
  EXPECT_NE(log.find("option without effect: paranoid_memory_checks"), std::string::npos) << log;
  EXPECT_EQ(log.find("EVENT_LOG_v1"), std::string::npos) << log;
}

TEST_F(ClientTest, StatsHaveATableOfLevelsUnderRocksDbsTitles) {
  Open();
  Put("a", "1");
  Flush();
  const std::string text = Text("rocksdb.stats");
  EXPECT_NE(text.find("** DB Stats **\n"), std::string::npos) << text;
  const size_t title = text.find("** Compaction Stats [default] **\n");
  ASSERT_NE(title, std::string::npos) << text;
  std::istringstream table(text.substr(title));
  std::string line;
  std::getline(table, line);
  std::getline(table, line);
  EXPECT_EQ(line.find("Level    Files"), 0u) << line;
  std::vector<std::string> columns;
  std::istringstream header(line);
  for (std::string column; header >> column;) columns.push_back(column);
  std::getline(table, line);
  std::getline(table, line);
  std::vector<std::string> slots;
  std::istringstream row(line);
  for (std::string slot; row >> slot;) slots.push_back(slot);
  ASSERT_EQ(slots.size(), columns.size() + 1) << "a size has a unit: " << line;
  EXPECT_EQ(slots[0], "L0");
  EXPECT_EQ(slots[1], "1/0");
  EXPECT_NE(text.find("\n  Sum "), std::string::npos) << text;
  EXPECT_NE(Text("rocksdb.cfstats").find("** Compaction Stats [default] **"), std::string::npos);
}

TEST_F(ClientTest, ResetStatsSetsTheSumsOverJobsToZeroAndTheyCountOn) {
  Open();
  Put("a", "1");
  Flush();
  db_->ReportLostError("call", Status::IOError("lost"));
  std::map<std::string, std::string> stats;
  ASSERT_TRUE(db_->GetMapProperty("rocksdb.cfstats", &stats));
  ASSERT_EQ(stats["compaction.L0.CompCount"], "1");
  ASSERT_EQ(Text("rocksdb.background-errors"), "1");
  ASSERT_TRUE(db_->ResetStats().ok());
  ASSERT_TRUE(db_->GetMapProperty("rocksdb.cfstats", &stats));
  EXPECT_EQ(stats.count("compaction.L0.CompCount"), 0u);
  EXPECT_EQ(stats["compaction.L0.NumFiles"], "1");
  EXPECT_EQ(Text("rocksdb.background-errors"), "0");
  Put("b", "2");
  Flush();
  ASSERT_TRUE(db_->GetMapProperty("rocksdb.cfstats", &stats));
  EXPECT_EQ(stats["compaction.L0.CompCount"], "1");
}

TEST_F(ClientTest, PropertiesOfTheTablesInRanges) {
  options_.disable_auto_compactions = true;
  Open();
  for (const char* const key : {"b", "f", "j"}) {
    Put(key, "1");
    Put(key + std::string("9"), "1");
    Flush();
  }
  CompactRangeOptions into_one;
  into_one.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_TRUE(db_->CompactRange(into_one, nullptr, nullptr).ok());
  for (const char* const key : {"c", "k"}) {
    Put(key, "1");
    Flush();
  }
  const auto entries = [&](const std::vector<Range>& ranges) {
    TablePropertiesCollection found;
    found["left"] = nullptr;
    EXPECT_TRUE(db_->GetPropertiesOfTablesInRange(db_->DefaultColumnFamily(), ranges.data(),
                                                  ranges.size(), &found)
                    .ok());
    std::multiset<uint64_t> counts;
    for (const auto& [file, properties] : found) {
      EXPECT_EQ(file.find(path() + "/"), 0u) << file;
      counts.insert(properties->num_entries);
    }
    return counts;
  };
  using Counts = std::multiset<uint64_t>;
  EXPECT_EQ(entries({Range("", "z")}), (Counts{1, 1, 6}));
  EXPECT_EQ(entries({}), Counts());
  EXPECT_EQ(entries({Range("", "a")}), Counts());
  EXPECT_EQ(entries({Range("", "b")}), Counts{6}) << "the limit belongs to the range";
  EXPECT_EQ(entries({Range("g", "h")}), Counts{6}) << "between two keys of a table";
  EXPECT_EQ(entries({Range("k", "k")}), Counts{1});
  EXPECT_EQ(entries({Range("a", "d"), Range("c", "c")}), (Counts{1, 6})) << "each table once";
  EXPECT_EQ(entries({Range("g", "c")}), Counts()) << "the limit is before the start";
}

TEST_F(ClientTest, ANullEnvIsTheDefaultOne) {
  options_.env = nullptr;
  Open();
  EXPECT_EQ(db_->GetEnv(), Env::Default());
  EXPECT_EQ(db_->GetOptions().env, Env::Default());
  Put("a", "1");
  Flush();
  Close();
  std::vector<std::string> families;
  EXPECT_OK(DB::ListColumnFamilies(DBOptions(options_), path(), &families));
  EXPECT_EQ(families, std::vector<std::string>{kDefaultColumnFamilyName});
  EXPECT_OK(RepairDB(path(), options_));
  ASSERT_OK(DB::OpenForReadOnly(options_, path(), &db_));
  EXPECT_EQ(Contents(), "a=1 ");
  Close();
  EXPECT_OK(DestroyDB(path(), options_));
  EXPECT_FALSE(DB::OpenForReadOnly(options_, path(), &db_).ok());
}

TEST_F(ClientTest, AnObjectWithoutANameIsRefusedAtOpen) {
  class Nameless final : public SliceTransform {
   public:
    const char* Name() const override { return nullptr; }
    Slice Transform(const Slice& key) const override { return key; }
    bool InDomain(const Slice&) const override { return true; }
  };
  options_.prefix_extractor = std::make_shared<Nameless>();
  const Status refused = TryOpen();
  EXPECT_TRUE(refused.IsInvalidArgument()) << refused.ToString();
  EXPECT_NE(refused.ToString().find("prefix_extractor"), std::string::npos) << refused.ToString();
  const CountingComparator nameless(nullptr);
  options_.prefix_extractor = nullptr;
  options_.comparator = &nameless;
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
}

}  // namespace
}  // namespace ashlar
