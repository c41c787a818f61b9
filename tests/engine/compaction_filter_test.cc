// Compaction filters of the program, from the options to the results of reads.
#include "ashlar/compaction_filter.h"

#include <atomic>
#include <stdexcept>

#include "ashlar/convenience.h"
#include "ashlar/listener.h"
#include "ashlar/statistics.h"
#include "ashlar/vfs.h"
#include "tests/engine/database_fixture.h"
#include "tests/support/manual_env.h"

namespace ashlar {
namespace {

// Removes "rm", changes "chg" to "new", and throws at "throw". Counts its calls.
class ByValue final : public CompactionFilter {
 public:
  explicit ByValue(std::atomic<int>* asked) : asked_(asked) {}
  const char* Name() const override { return "ByValue"; }
  bool Filter(int /*level*/, const Slice& /*key*/, const Slice& value, std::string* new_value,
              bool* changed) const override {
    ++*asked_;
    if (value == "throw") throw std::runtime_error("no mood");
    *changed = value == "chg";
    if (*changed) *new_value = "new";
    return value == "rm";
  }
  bool FilterMergeOperand(int /*level*/, const Slice& /*key*/,
                          const Slice& operand) const override {
    return operand == "rm";
  }

 private:
  std::atomic<int>* const asked_;
};

class Factory final : public CompactionFilterFactory {
 public:
  const char* Name() const override { return "Factory"; }
  bool ShouldFilterTableFileCreation(TableFileCreationReason reason) const override {
    return reason == TableFileCreationReason::kCompaction || filters_flushes;
  }
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) override {
    last = context;
    ++made;
    if (throws) throw std::runtime_error("no filter");
    return std::make_unique<ByValue>(&asked);
  }

  bool filters_flushes = false;
  bool throws = false;
  std::atomic<int> made = 0;
  std::atomic<int> asked = 0;
  CompactionFilter::Context last;
};

// Removes the keys from one whose value is "skip" up to, but not including, "k90".
class SkipsToK90 final : public CompactionFilter {
 public:
  const char* Name() const override { return "SkipsToK90"; }
  Decision FilterV2(int /*level*/, const Slice& /*key*/, ValueType /*type*/, const Slice& value,
                    std::string* /*new_value*/, std::string* skip_until) const override {
    *skip_until = "k90";
    return value == "skip" ? Decision::kRemoveAndSkipUntil : Decision::kKeep;
  }
};

// Skips all keys before "z", and counts how many times it must do so.
class SkipsToZ final : public CompactionFilter {
 public:
  const char* Name() const override { return "SkipsToZ"; }
  Decision FilterV2(int /*level*/, const Slice& key, ValueType /*type*/, const Slice& /*value*/,
                    std::string* /*new_value*/, std::string* skip_until) const override {
    if (key == "z") return Decision::kKeep;
    ++skips;
    *skip_until = "z";
    return Decision::kRemoveAndSkipUntil;
  }
  mutable std::atomic<int> skips = 0;
};

class SkippingFactory final : public CompactionFilterFactory {
 public:
  const char* Name() const override { return "SkippingFactory"; }
  bool ShouldFilterTableFileCreation(TableFileCreationReason) const override { return true; }
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context&) override {
    return std::make_unique<SkipsToK90>();
  }
};

// Implements FilterBlobByKey, as programs do that run on RocksDB with and without blobs.
class AsksByKey final : public CompactionFilter {
 public:
  const char* Name() const override { return "AsksByKey"; }
  bool Filter(int /*level*/, const Slice& key, const Slice& /*value*/, std::string* /*new_value*/,
              bool* /*changed*/) const override {
    return key == "a";
  }
  Decision FilterBlobByKey(int /*level*/, const Slice& /*key*/, std::string* /*new_value*/,
                           std::string* /*skip_until*/) const override {
    ++by_key;
    return Decision::kRemove;
  }
  mutable std::atomic<int> by_key = 0;
};

class CompactionFilterTest : public DatabaseFixture {
 protected:
  CompactionFilterTest() {
    options_.merge_operator = MergeOperators::CreateStringAppendOperator();
    options_.statistics = CreateDBStatistics();
  }

  // k10 to k89. Their deletions are more than a known gap requires.
  static std::string SkippedKey(int number) { return "k" + std::to_string(number); }
  void PutSkippedKeys() {
    for (int i = 10; i < 90; ++i) Put(SkippedKey(i), "1");
    Put("z", "1");
  }
  // The skip leaves the first four deletions, at the last of which an iterator looks for a gap.
  void DeleteSkippedKeys() {
    Put("k13a", "skip");
    for (int i = 10; i < 90; ++i) Delete(SkippedKey(i));
  }
  std::string FirstFrom(const Slice& key) {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    it->Seek(key);
    return it->Valid() ? it->key().ToString() : "end";
  }

  std::atomic<int> asked_ = 0;
  const ByValue filter_{&asked_};
  const std::shared_ptr<Factory> factory_ = std::make_shared<Factory>();
};

TEST_F(CompactionFilterTest, RemovesAndChangesValues) {
  options_.compaction_filter = &filter_;
  Open();
  Put("a", "rm");
  Put("b", "chg");
  Put("c", "x");
  for (const char* const operand : {"1", "rm", "2"}) {
    Merge("d", operand);
    Flush();
  }
  EXPECT_EQ(Contents(), "a=rm b=chg c=x d=1,rm,2 ") << "a flush asks no filter but a factory's";
  CompactAll();
  EXPECT_EQ(Contents(), "b=new c=x d=1,2 ");
  EXPECT_EQ(options_.statistics->getTickerCount(COMPACTION_KEY_DROP_USER), 2u);
  Open();
  EXPECT_EQ(Contents(), "b=new c=x d=1,2 ");
}

TEST_F(CompactionFilterTest, TheFormByKeyIsForBlobsAndNotCalled) {
  const AsksByKey filter;
  options_.compaction_filter = &filter;
  Open();
  Put("a", "1");
  Put("b", "2");
  Flush();
  CompactAll();
  EXPECT_EQ(Contents(), "b=2 ");
  EXPECT_EQ(filter.by_key, 0);
  std::string unused;
  EXPECT_EQ(filter_.FilterBlobByKey(0, "a", &unused, &unused),
            CompactionFilter::Decision::kUndetermined)
      << "as by default";
}

TEST_F(CompactionFilterTest, ManualCompactionsRewriteTheLastLevelOnce) {
  options_.compaction_filter = &filter_;
  Open();
  Put("a", "x");
  Flush();
  CompactAll();
  EXPECT_EQ(asked_, 1) << "moved, or asked twice";
  CompactAll();
  EXPECT_EQ(asked_, 2);
  CompactRangeOptions skip;
  skip.bottommost_level_compaction = BottommostLevelCompaction::kSkip;
  ASSERT_OK(db_->CompactRange(skip, nullptr, nullptr));
  EXPECT_EQ(asked_, 2);
}

TEST_F(CompactionFilterTest, ASkipEndsWithThePartOfItsThread) {
  const SkipsToZ filter;
  options_.compaction_filter = &filter;
  options_.max_subcompactions = 4;
  options_.target_file_size_base = 16 << 10;
  Open();
  for (int table = 0; table < 2; ++table) {
    for (int i = 100; i < 300; ++i) Put("k" + std::to_string(i), std::string(1000, 'v'));
    Put("z", "1");
    Flush();
  }
  CompactAll();
  EXPECT_EQ(Contents(), "z=1 ");
  HistogramData parts;
  options_.statistics->histogramData(NUM_SUBCOMPACTIONS_SCHEDULED, &parts);
  EXPECT_GT(parts.max, 1.0) << "no compaction was shared";
  EXPECT_GT(filter.skips.load(), 1);
  EXPECT_LE(filter.skips.load(), static_cast<int>(parts.max));
}

TEST_F(CompactionFilterTest, SnapshotsReadWhatTheySaw) {
  options_.compaction_filter = &filter_;
  Open();
  Put("a", "rm");
  Put("b", "chg");
  const Snapshot* const old = db_->GetSnapshot();
  Put("b", "rm");
  Put("c", "rm");
  CompactAll();
  EXPECT_EQ(Contents(nullptr, old), "a=rm b=chg ");
  EXPECT_EQ(Contents(), "a=rm ");
  db_->ReleaseSnapshot(old);
  CompactAll();
  EXPECT_EQ(Contents(), "");
}

TEST_F(CompactionFilterTest, AFactoryHearsOfTheJob) {
  options_.compaction_filter_factory = factory_;
  Open();
  Put("a", "rm");
  Put("b", "x");
  Flush();
  EXPECT_EQ(factory_->made, 0);
  CompactAll();
  EXPECT_GE(factory_->made, 1);
  EXPECT_TRUE(factory_->last.is_manual_compaction);
  EXPECT_TRUE(factory_->last.is_full_compaction);
  EXPECT_EQ(factory_->last.reason, TableFileCreationReason::kCompaction);
  EXPECT_EQ(factory_->last.column_family_id, 0u);
  const TablePropertiesCollection& inputs = factory_->last.input_table_properties;
  ASSERT_FALSE(inputs.empty());
  for (const auto& [file, properties] : inputs) {
    EXPECT_TRUE(file.starts_with(path())) << file;
    EXPECT_GT(properties->num_entries, 0u) << file;
  }
  EXPECT_EQ(Contents(), "b=x ");
}

TEST_F(CompactionFilterTest, AFactoryMayFilterFlushes) {
  factory_->filters_flushes = true;
  options_.compaction_filter_factory = factory_;
  Open();
  Put("a", "x");
  Flush();
  Put("a", "rm");
  Put("b", "chg");
  Flush();
  EXPECT_EQ(factory_->last.reason, TableFileCreationReason::kFlush);
  EXPECT_EQ(factory_->last.input_start_level, CompactionFilter::Context::kUnknownStartLevel);
  EXPECT_TRUE(factory_->last.input_table_properties.empty());
  EXPECT_EQ(Contents(), "b=new ") << "the older value of a stays hidden";
}

TEST_F(CompactionFilterTest, AFlushThatKeepsNothingEndsItsMemTables) {
  factory_->filters_flushes = true;
  options_.compaction_filter_factory = factory_;
  Open();
  Merge("a", "rm");  // a removed value would leave a deletion
  EXPECT_EQ(Contents(), "a=rm ");
  Flush();
  EXPECT_EQ(Tables(), 0);
  EXPECT_EQ(Number("rocksdb.num-immutable-mem-table"), 0u);
  EXPECT_EQ(Contents(), "");
  Put("b", "x");
  ASSERT_OK(db_->SingleDelete(WriteOptions(), "b"));
  Flush();
  EXPECT_EQ(Tables(), 0);
  EXPECT_EQ(Contents(), "");
  Open();
  EXPECT_EQ(Contents(), "");
}

// The snapshot is taken while the job waits in the executor's queue.
TEST_F(CompactionFilterTest, ASnapshotBeforeTheJobRunsReadsWhatItSaw) {
  factory_->filters_flushes = true;
  options_.compaction_filter_factory = factory_;
  options_.level0_file_num_compaction_trigger = 2;
  options_.max_background_jobs = 1;
  ManualEnv env(vfs::FileSystem::Default(), 1);
  options_.env = &env;
  Open();
  FlushOptions later;
  later.wait = false;
  later.allow_write_stall = true;
  Put("a", "rm");
  ASSERT_OK(db_->Flush(later));
  const Snapshot* const in_the_flush = db_->GetSnapshot();
  ASSERT_TRUE(env.RunOneJob());
  EXPECT_EQ(FilesAtLevel(0), 1u);
  EXPECT_EQ(Contents(nullptr, in_the_flush), "a=rm ");

  db_->ReleaseSnapshot(in_the_flush);
  Put("b", "x");
  ASSERT_OK(db_->Flush(later));
  ASSERT_TRUE(env.RunOneJob());
  EXPECT_EQ(FilesAtLevel(0), 2u);
  const Snapshot* const in_the_compaction = db_->GetSnapshot();
  ASSERT_TRUE(env.RunOneJob());
  EXPECT_EQ(FilesAtLevel(0), 0u);
  EXPECT_EQ(Contents(nullptr, in_the_compaction), "a=rm b=x ");
  db_->ReleaseSnapshot(in_the_compaction);
  CompactAll();
  EXPECT_EQ(Contents(), "b=x ");
  Close();
}

// A filter that skips deletions makes older versions outside the job visible again. Iterators that
// know the gap which the deletions had left must see these versions too.
TEST_F(CompactionFilterTest, SkippedDeletionsEndKnownGaps) {
  const SkipsToK90 filter;
  options_.compaction_filter = &filter;
  options_.disable_auto_compactions = true;
  options_.level_compaction_dynamic_level_bytes = false;
  for (const bool with_snapshot : {false, true}) {
    SCOPED_TRACE(with_snapshot ? "with a snapshot" : "without a snapshot");
    Close();
    ASSERT_OK(DestroyDB(path(), options_));
    Open();
    PutSkippedKeys();
    CompactRangeOptions down;
    down.change_level = true;
    down.target_level = 6;
    ASSERT_OK(db_->CompactRange(down, nullptr, nullptr));
    const Snapshot* const snapshot = with_snapshot ? db_->GetSnapshot() : nullptr;
    DeleteSkippedKeys();
    Flush();
    Delete("k13a");
    EXPECT_EQ(FirstFrom("k10"), "z");
    std::vector<LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    std::vector<std::string> newest;
    for (const LiveFileMetaData& file : files) {
      if (file.level == 0) newest.push_back(file.name);
    }
    ASSERT_EQ(newest.size(), 1u);
    ASSERT_OK(db_->CompactFiles(CompactionOptions(), newest, 1));
    EXPECT_EQ(Get("k20"), "1") << "the filter has dropped its deletion";
    EXPECT_EQ(FirstFrom("k10"), "k14");
    if (snapshot != nullptr) db_->ReleaseSnapshot(snapshot);
  }
}

TEST_F(CompactionFilterTest, SkippedRecordsAreNotCounted) {
  const SkipsToK90 filter;
  options_.compaction_filter = &filter;
  options_.disable_auto_compactions = true;
  for (const bool skips : {false, true}) {
    SCOPED_TRACE(skips ? "skips" : "keeps all");
    Close();
    ASSERT_OK(DestroyDB(path(), options_));
    Open();
    PutSkippedKeys();
    Put("k13a", skips ? "skip" : "1");
    Flush();
    CompactionJobInfo info;
    ASSERT_OK(db_->CompactFiles(CompactionOptions(), FileNames(0), 1, -1, nullptr, &info));
    EXPECT_EQ(info.stats.has_accurate_num_input_records, !skips);
    EXPECT_EQ(info.stats.num_output_records, skips ? 5u : 82u);
  }
}

TEST_F(CompactionFilterTest, DeletionsSkippedByAFlushEndKnownGaps) {
  options_.compaction_filter_factory = std::make_shared<SkippingFactory>();
  options_.disable_auto_compactions = true;
  options_.max_background_jobs = 1;
  ManualEnv env(vfs::FileSystem::Default(), 1);
  options_.env = &env;
  Open();
  FlushOptions later;
  later.wait = false;
  later.allow_write_stall = true;
  PutSkippedKeys();
  ASSERT_OK(db_->Flush(later));
  ASSERT_TRUE(env.RunOneJob());
  DeleteSkippedKeys();
  ASSERT_OK(db_->Flush(later));
  Delete("k13a");
  EXPECT_EQ(FirstFrom("k10"), "z") << "the deletions wait for their flush; the gap is known";
  ASSERT_TRUE(env.RunOneJob());
  EXPECT_EQ(Get("k20"), "1") << "the filter has dropped its deletion";
  EXPECT_EQ(FirstFrom("k10"), "k14");
  Close();
}

TEST_F(CompactionFilterTest, AFilterThatThrowsEndsTheCompactionAndLosesNothing) {
  options_.compaction_filter = &filter_;
  Open();
  Put("a", "x");
  Put("b", "throw");
  const Status failed = db_->CompactRange(CompactRangeOptions(), nullptr, nullptr);
  EXPECT_TRUE(failed.IsInvalidArgument()) << failed.ToString();
  EXPECT_NE(failed.ToString().find("compaction filter ByValue threw: no mood"), std::string::npos)
      << failed.ToString();
  EXPECT_FALSE(db_->Put(WriteOptions(), "c", "y").ok()) << "the error is in the background";
  EXPECT_EQ(Contents(), "a=x b=throw ");
  options_.compaction_filter = nullptr;
  Open();
  CompactAll();
  EXPECT_EQ(Contents(), "a=x b=throw ");
}

TEST_F(CompactionFilterTest, AFactoryThatThrowsDoesTheSame) {
  options_.compaction_filter_factory = factory_;
  Open();
  Put("a", "x");
  factory_->throws = true;
  const Status failed = db_->CompactRange(CompactRangeOptions(), nullptr, nullptr);
  EXPECT_NE(failed.ToString().find("compaction filter factory Factory threw: no filter"),
            std::string::npos)
      << failed.ToString();
  EXPECT_EQ(Contents(), "a=x ");
}

TEST_F(CompactionFilterTest, TheOptionsFileNamesIt) {
  options_.compaction_filter = &filter_;
  options_.compaction_filter_factory = factory_;
  Open();
  std::string text;
  ASSERT_OK(GetStringFromColumnFamilyOptions(&text, db_->GetOptions()));
  EXPECT_NE(text.find("compaction_filter=ByValue;"), std::string::npos) << text;
  EXPECT_NE(text.find("compaction_filter_factory=Factory;"), std::string::npos) << text;
}

}  // namespace
}  // namespace ashlar
