// Collectors of table properties: the entries that they receive, the properties that they add, and
// their failures. Also CompactOnDeletionCollector.
#include "ashlar/table_properties_collectors.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "ashlar/listener.h"
#include "ashlar/slice_transform.h"
#include "base/format.h"
#include "tests/engine/database_fixture.h"

namespace ashlar {
namespace {

// Records its calls, and adds the number of entries to the table's properties.
class Recorder final : public TablePropertiesCollector {
 public:
  enum class Failure { kNone, kAdd, kFinish, kThrow, kThrowNumber };
  Recorder(std::string* seen, Failure failure) : seen_(seen), failure_(failure) {}

  Status AddUserKey(const Slice& key, const Slice& value, EntryType type, SequenceNumber seq,
                    uint64_t /*file_size*/) override {
    if (failure_ == Failure::kThrow) throw std::runtime_error("thrown");
    if (failure_ == Failure::kThrowNumber) throw 7;
    if (failure_ == Failure::kAdd) return Status::Corruption("no key is good enough");
    StrAppend(seen_, key.ToString(), "=", value.ToString(), ":", static_cast<int>(type), "@", seq,
              " ");
    ++entries_;
    return Status::OK();
  }
  void BlockAdd(uint64_t bytes, uint64_t /*fast*/, uint64_t /*slow*/) override { block_ = bytes; }
  Status Finish(UserCollectedProperties* properties) override {
    (*properties)["test.entries"] = std::to_string(entries_);
    (*properties)["rocksdb.num.entries"] = "not mine";
    return failure_ == Failure::kFinish ? Status::Aborted("no") : Status::OK();
  }
  UserCollectedProperties GetReadableProperties() const override {
    return {{"entries", std::to_string(entries_)}};
  }
  const char* Name() const override { return "Recorder"; }

 private:
  std::string* const seen_;
  const Failure failure_;
  int entries_ = 0;
  uint64_t block_ = 0;
};

class RecorderFactory final : public TablePropertiesCollectorFactory {
 public:
  TablePropertiesCollector* CreateTablePropertiesCollector(Context context) override {
    StrAppend(&contexts, context.column_family_id, ":", context.level_at_creation, "/",
              context.num_levels, " ");
    return makes_none ? nullptr : new Recorder(&seen, failure);
  }
  const char* Name() const override { return "RecorderFactory"; }

  std::string contexts;
  std::string seen;
  Recorder::Failure failure = Recorder::Failure::kNone;
  bool makes_none = false;
};

class PropertiesCollectorTest : public DatabaseFixture {
 protected:
  PropertiesCollectorTest() {
    options_.table_properties_collector_factories.push_back(factory_);
    options_.disable_auto_compactions = true;
    options_.level_compaction_dynamic_level_bytes = false;
  }
  // The properties of the only table.
  TableProperties Properties() {
    TablePropertiesCollection all;
    EXPECT_OK(db_->GetPropertiesOfAllTables(&all));
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? TableProperties() : *all.begin()->second;
  }
  std::string LogText() const {
    std::ifstream file(path() + "/LOG");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  const std::shared_ptr<RecorderFactory> factory_ = std::make_shared<RecorderFactory>();
};

TEST_F(PropertiesCollectorTest, SeesEveryEntryOfATable) {
  options_.merge_operator = MergeOperators::CreateStringAppendOperator();
  Open();
  Put("a", "1");
  Delete("b");
  Merge("c", "2");
  ASSERT_OK(db_->SingleDelete(WriteOptions(), "d"));
  ASSERT_OK(db_->DeleteRange(WriteOptions(), "x", "z"));
  Flush();
  EXPECT_EQ(factory_->seen, "a=1:0@1 b=:1@2 c=2:3@3 d=:2@4 x=z:4@5 ");
  EXPECT_EQ(factory_->contexts, "0:0/7 ");
  const TableProperties properties = Properties();
  EXPECT_EQ(properties.user_collected_properties.at("test.entries"), "5");
  EXPECT_EQ(properties.num_entries, 5u) << "names that begin with rocksdb. are the library's";
  EXPECT_EQ(properties.property_collectors_names, "[Recorder]");
  CompactRangeOptions rewrite;
  rewrite.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_OK(db_->CompactRange(rewrite, nullptr, nullptr));
  EXPECT_EQ(factory_->contexts, "0:0/7 0:1/7 ");
  EXPECT_EQ(Properties().user_collected_properties.at("test.entries"), "2");
}

// Keeps the properties of the last new table.
class TableListener final : public EventListener {
 public:
  void OnFlushCompleted(DB* /*db*/, const FlushJobInfo& info) override {
    properties = info.table_properties;
  }

  TableProperties properties;
};

TEST_F(PropertiesCollectorTest, ListenersGetWhatTheTableDoesNotRecord) {
  const auto listener = std::make_shared<TableListener>();
  options_.listeners.push_back(listener);
  options_.compression = kSnappyCompression;
  Open();
  Put("a", std::string(10'000, 'a'));
  Put("b", std::string(10'000, 'b'));
  Flush();
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));  // the event follows the flush
  const TableProperties& fresh = listener->properties;
  EXPECT_EQ(fresh.readable_properties, (UserCollectedProperties{{"entries", "2"}}));
  EXPECT_GT(fresh.uncompressed_data_size, 20'000u);
  EXPECT_LT(fresh.uncompressed_data_size, 21'000u);
  EXPECT_LT(fresh.data_size, 10'000u);
  Close();
  Open();
  EXPECT_EQ(Properties().user_collected_properties.at("test.entries"), "2");
  EXPECT_TRUE(Properties().readable_properties.empty());
  EXPECT_EQ(Properties().uncompressed_data_size, 0u);
}

TEST_F(PropertiesCollectorTest, AFailureIsLoggedAndTheTableWritten) {
  using enum Recorder::Failure;
  for (const auto failure : {kAdd, kFinish, kThrow, kThrowNumber}) {
    factory_->failure = failure;
    Open();
    Put("a", "1");
    Put("b", "2");
    Flush();
    CompactAll();
    EXPECT_EQ(Contents(), "a=1 b=2 ");
    // A collector that refuses entries still gets the call for its properties.
    EXPECT_EQ(Properties().user_collected_properties.count("test.entries"),
              failure == kAdd ? 1u : 0u);
    EXPECT_NE(LogText().find("the table properties collector Recorder failed in "),
              std::string::npos);
  }
}

TEST_F(PropertiesCollectorTest, AFactoryMayMakeNone) {
  factory_->makes_none = true;
  Open();
  Put("a", "1");
  Flush();
  EXPECT_EQ(Properties().property_collectors_names, "[]");
}

TEST_F(PropertiesCollectorTest, PlainTablesHaveThemToo) {
  options_.table_factory.reset(NewPlainTableFactory());
  options_.prefix_extractor.reset(NewFixedPrefixTransform(1));
  options_.allow_mmap_reads = true;
  Open();
  Put("a", "1");
  Put("b", "2");
  Flush();
  EXPECT_EQ(factory_->seen, "a=1:0@1 b=2:0@2 ");
  EXPECT_EQ(Properties().user_collected_properties.at("test.entries"), "2");
}

// ---- CompactOnDeletionCollector.

bool WantsCompaction(TablePropertiesCollectorFactory* factory, const std::string& entries,
                     uint64_t file_size = 1000) {
  const std::unique_ptr<TablePropertiesCollector> collector(
      factory->CreateTablePropertiesCollector({}));
  for (const char type : entries) {
    EXPECT_OK(
        collector->AddUserKey("k", "v", type == 'd' ? kEntryDelete : kEntryPut, 1, file_size));
  }
  UserCollectedProperties properties;
  EXPECT_OK(collector->Finish(&properties));
  EXPECT_TRUE(properties.empty());
  return collector->NeedCompact();
}
std::string Times(int times, const std::string& text) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(CompactOnDeletionCollectorTest, AWindowWithManyDeletionsWantsACompaction) {
  const auto factory = NewCompactOnDeletionCollectorFactory(128, 50);
  EXPECT_FALSE(WantsCompaction(factory.get(), ""));
  EXPECT_FALSE(WantsCompaction(factory.get(), Times(49, "d") + Times(500, "p")));
  EXPECT_TRUE(WantsCompaction(factory.get(), Times(500, "p") + Times(50, "d") + Times(500, "p")));
  EXPECT_TRUE(WantsCompaction(factory.get(), Times(64, "dp")));
  // 50 in total, but never 50 among 128 entries.
  EXPECT_FALSE(WantsCompaction(factory.get(), Times(50, "dppppp")));
}

TEST(CompactOnDeletionCollectorTest, AShareOfDeletionsWantsACompaction) {
  const auto factory = NewCompactOnDeletionCollectorFactory(0, 0, 0.5);
  EXPECT_TRUE(WantsCompaction(factory.get(), Times(500, "dp")));
  EXPECT_FALSE(WantsCompaction(factory.get(), Times(500, "dp") + "p"));
  EXPECT_FALSE(WantsCompaction(factory.get(), ""));
  factory->SetDeletionRatio(1.5);
  EXPECT_FALSE(WantsCompaction(factory.get(), Times(500, "d")));
}

TEST(CompactOnDeletionCollectorTest, SmallTablesAreNotWorthIt) {
  const auto factory = NewCompactOnDeletionCollectorFactory(128, 50, 0, 2000);
  EXPECT_FALSE(WantsCompaction(factory.get(), Times(50, "d"), 1999));
  EXPECT_TRUE(WantsCompaction(factory.get(), Times(50, "d"), 2000));
  EXPECT_EQ(factory->GetWindowSize(), 128u);
  EXPECT_EQ(factory->GetDeletionTrigger(), 50u);
  EXPECT_EQ(factory->GetMinFileSize(), 2000u);
}

TEST_F(PropertiesCollectorTest, TablesOfDeletionsAreCompacted) {
  options_.table_properties_collector_factories = {NewCompactOnDeletionCollectorFactory(128, 100)};
  options_.disable_auto_compactions = false;
  options_.compact_dense_deletions = false;
  Open();
  for (int i = 0; i < 1000; ++i) Put(StrCat("k", 1000 + i), "1");
  Flush();
  CompactAll();
  for (int i = 0; i < 1000; ++i) Delete(StrCat("k", 1000 + i));
  Flush();
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(FilesAtLevel(0), 0u);
  EXPECT_EQ(Number("rocksdb.live-sst-files-size"), 0u);
}

// The deletions stay for the snapshot. At the bottom no table is marked repeatedly.
TEST_F(PropertiesCollectorTest, DeletionsAtTheBottomAreCompactedOnce) {
  options_.table_properties_collector_factories = {NewCompactOnDeletionCollectorFactory(128, 100)};
  options_.disable_auto_compactions = false;
  options_.compact_dense_deletions = false;
  Open();
  for (int i = 0; i < 1000; ++i) Put(StrCat("k", 1000 + i), "1");
  Flush();
  const Snapshot* const snapshot = db_->GetSnapshot();
  for (int i = 0; i < 1000; ++i) Delete(StrCat("k", 1000 + i));
  Flush();
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(Get("k1005", snapshot), "1");
  db_->ReleaseSnapshot(snapshot);
}

}  // namespace
}  // namespace ashlar
