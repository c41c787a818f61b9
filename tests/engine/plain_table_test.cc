// PlainTables with the complete engine: every layout against a map, tables of both kinds in one
// database, pins, refusals, and the options of the benchmark for which the format exists.
#include <iterator>
#include <optional>

#include "ashlar/convenience.h"
#include "ashlar/slice_transform.h"
#include "ashlar/sst_file_writer.h"
#include "ashlar/table.h"
#include "base/format.h"
#include "base/random.h"
#include "tests/engine/database_fixture.h"

namespace ashlar {
namespace {

using Map = std::map<std::string, std::string>;

class PlainTableTest : public DatabaseFixture {
 protected:
  PlainTableTest() {
    options_.allow_mmap_reads = true;
    options_.merge_operator = MergeOperators::CreateStringAppendOperator(',');
    options_.write_buffer_size = 64 << 10;
    options_.target_file_size_base = 32 << 10;
    options_.max_bytes_for_level_base = 128 << 10;
  }

  void Use(const std::string& text) {
    ColumnFamilyOptions options;
    ASSERT_OK(GetColumnFamilyOptionsFromString(ColumnFamilyOptions(options_), text, &options));
    options_ = Options(DBOptions(options_), options);
  }
  // The numbers of PlainTables and of other tables, by their properties.
  std::pair<size_t, size_t> PlainAndOtherTables() {
    TablePropertiesCollection all;
    EXPECT_OK(db_->GetPropertiesOfAllTables(&all));
    size_t plain = 0;
    for (const auto& [name, properties] : all)
      plain += properties->user_collected_properties.count(PlainTablePropertyNames::kEncodingType);
    return {plain, all.size() - plain};
  }

  void ExpectSame(const Map& expected, const Snapshot* snapshot = nullptr) {
    ReadOptions options;
    options.snapshot = snapshot;
    options.total_order_seek = true;
    const std::unique_ptr<Iterator> it(db_->NewIterator(options));
    auto at = expected.begin();
    for (it->SeekToFirst(); it->Valid() && at != expected.end(); it->Next(), ++at) {
      ASSERT_EQ(it->key().ToString(), at->first);
      ASSERT_EQ(it->value().ToString(), at->second);
    }
    ASSERT_OK(it->status());
    ASSERT_TRUE(!it->Valid() && at == expected.end());
    auto back = expected.rbegin();
    for (it->SeekToLast(); it->Valid() && back != expected.rend(); it->Prev(), ++back)
      ASSERT_EQ(it->key().ToString(), back->first);
    ASSERT_TRUE(!it->Valid() && back == expected.rend());
  }
};

class PlainTableModes : public PlainTableTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(PlainTableModes, ARandomHistoryReadsAsAMap) {
  Use(GetParam());
  const uint64_t seed = 20261;
  Random random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  Open();
  Map expected;
  std::optional<Map> expected_at_snapshot;
  const Snapshot* snapshot = nullptr;
  const auto key_of = [](uint64_t i) {
    char text[17];
    snprintf(text, sizeof(text), "%06u/%09u", static_cast<unsigned>(i / 7),
             static_cast<unsigned>(i * 7919 % 1000000));
    return std::string(text);
  };
  for (int step = 0; step < 30000; ++step) {
    const std::string key = key_of(random.Uniform(3000));
    switch (random.Uniform(12)) {
      case 0:
        Delete(key);
        expected.erase(key);
        break;
      case 1: {
        Merge(key, "m");
        std::string& value = expected[key];
        value += value.empty() ? "m" : ",m";
        break;
      }
      case 2: {
        const std::string other = key_of(random.Uniform(3500));
        const auto found = expected.find(other);
        ASSERT_EQ(Get(other), found == expected.end() ? "NOT_FOUND" : found->second) << other;
        break;
      }
      default: {
        const std::string value = std::to_string(step) + std::string(random.Uniform(60), 'v');
        Put(key, value);
        expected[key] = value;
      }
    }
    if (step == 9000) {
      snapshot = db_->GetSnapshot();
      expected_at_snapshot = expected;
    }
    if (step == 12000) CompactAll();
    if (step == 20000) {
      ASSERT_NO_FATAL_FAILURE(ExpectSame(*expected_at_snapshot, snapshot));
      db_->ReleaseSnapshot(snapshot);
      ASSERT_NO_FATAL_FAILURE(Open());
    }
  }
  Flush();
  EXPECT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  ASSERT_NO_FATAL_FAILURE(ExpectSame(expected));
  EXPECT_OK(db_->VerifyChecksum());
  const auto [plain, other] = PlainAndOtherTables();
  EXPECT_GT(plain, 3u);
  EXPECT_EQ(other, 0u);

  std::vector<std::string> keys;
  for (uint64_t i = 0; i < 3500; i += 3) keys.push_back(key_of(i));
  const std::vector<Slice> slices(keys.begin(), keys.end());
  std::vector<std::string> values;
  const std::vector<Status> statuses = db_->MultiGet(ReadOptions(), slices, &values);
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto found = expected.find(keys[i]);
    ASSERT_EQ(statuses[i].IsNotFound() ? "NOT_FOUND" : values[i],
              found == expected.end() ? "NOT_FOUND" : found->second);
  }
  const Range half(keys[0], keys[keys.size() / 2]);
  uint64_t half_bytes = 0;
  EXPECT_OK(db_->GetApproximateSizes(SizeApproximationOptions(), db_->DefaultColumnFamily(), &half,
                                     1, &half_bytes));
  EXPECT_GT(half_bytes, Number("rocksdb.total-sst-files-size") / 5);

  // Seeks to arbitrary targets in both directions.
  ReadOptions total_order;
  total_order.total_order_seek = true;
  const std::unique_ptr<Iterator> it(db_->NewIterator(total_order));
  for (int i = 0; i < 500; ++i) {
    const std::string target = key_of(random.Uniform(3500)).substr(0, 1 + random.Uniform(16));
    it->Seek(target);
    const auto at = expected.lower_bound(target);
    ASSERT_EQ(it->Valid() ? it->key().ToString() : "", at == expected.end() ? "" : at->first);
    it->SeekForPrev(target);
    const auto behind = expected.upper_bound(target);
    ASSERT_EQ(it->Valid() ? it->key().ToString() : "",
              behind == expected.begin() ? "" : std::prev(behind)->first);
  }
  ASSERT_OK(it->status());
}

INSTANTIATE_TEST_SUITE_P(
    Modes, PlainTableModes,
    ::testing::Values(
        "plain_table_factory={hash_table_ratio=0}",
        "plain_table_factory={hash_table_ratio=0;user_key_len=16;bloom_bits_per_key=0;index_"
        "sparseness=1}",
        "prefix_extractor=fixed:6;plain_table_factory={}",
        "prefix_extractor=fixed:16;plain_table_factory={user_key_len=16;store_index_in_file=true};"
        "bloom_locality=1",
        "prefix_extractor=capped:8;plain_table_factory={encoding_type=kPrefix;index_sparseness=4}",
        "prefix_extractor=fixed:6;plain_table_factory={encoding_type=kPrefix;full_scan_mode="
        "true}"));

// The options of the benchmark that reads from RAM, as it writes them.
TEST_F(PlainTableTest, TheOptionsOfTheReadPathForRam) {
  Use("num_levels=6;write_buffer_size=1m;max_write_buffer_number=2;level0_file_num_compaction_"
      "trigger=8;target_file_size_base=2097152;"
      "max_bytes_for_level_base=4m;compression=kNoCompression;level0_slowdown_writes_trigger=16;"
      "level0_stop_writes_trigger=24;"
      "prefix_extractor=fixed:20;bloom_locality=1;memtable_factory=prefix_hash:65536;"
      "plain_table_factory={user_key_len=20;bloom_bits_per_key=10;hash_table_ratio=0.75}");
  options_.max_background_jobs = 4;
  options_.max_open_files = -1;
  Open();
  const auto key_of = [](uint64_t i) {
    std::string key(20, '0');
    for (int byte = 0; byte < 8; ++byte)
      key[static_cast<size_t>(byte)] = static_cast<char>(i >> (56 - 8 * byte));
    return key;
  };
  constexpr uint64_t kKeys = 50000;
  for (uint64_t i = 0; i < kKeys; ++i)
    Put(key_of(i), std::string(100, static_cast<char>('a' + i % 26)));
  Random random(3);
  for (int i = 0; i < 20000; ++i) {
    const uint64_t n = random.Uniform(kKeys + kKeys / 10);
    ASSERT_EQ(Get(key_of(n)),
              n < kKeys ? std::string(100, static_cast<char>('a' + n % 26)) : "NOT_FOUND");
  }
  EXPECT_GT(PlainAndOtherTables().first, 2u);
}

TEST_F(PlainTableTest, BothKindsOfTablesInOneDatabase) {
  Map expected;
  const auto fill = [&](const std::string& tag) {
    for (int i = 0; i < 300; ++i) {
      const std::string key = "key" + std::to_string(i * 13 % 500);
      Put(key, tag + std::to_string(i));
      expected[key] = tag + std::to_string(i);
    }
    Flush();
  };
  options_.disable_auto_compactions = true;
  Open();
  fill("block-based ");
  EXPECT_EQ(PlainAndOtherTables(), (std::pair<size_t, size_t>{0, 1}));
  Use("plain_table_factory={hash_table_ratio=0}");
  Open();
  ASSERT_NO_FATAL_FAILURE(ExpectSame(expected));
  fill("plain ");
  EXPECT_EQ(PlainAndOtherTables(), (std::pair<size_t, size_t>{1, 1}));
  ASSERT_NO_FATAL_FAILURE(ExpectSame(expected));
  EXPECT_OK(db_->VerifyChecksum());
  Use("table_factory=BlockBasedTable");
  Open();
  fill("and back ");
  EXPECT_EQ(PlainAndOtherTables(), (std::pair<size_t, size_t>{1, 2}));
  ASSERT_NO_FATAL_FAILURE(ExpectSame(expected));
  for (const char* const factory :
       {"plain_table_factory={hash_table_ratio=0}", "table_factory=BlockBasedTable"}) {
    Use(factory);
    Open();
    CompactRangeOptions force;
    force.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    EXPECT_OK(db_->CompactRange(force, nullptr, nullptr));
    const auto [plain, other] = PlainAndOtherTables();
    EXPECT_EQ(plain > 0, options_.table_factory->Name() == std::string("PlainTable"));
    EXPECT_NE(plain > 0, other > 0);
    ASSERT_NO_FATAL_FAILURE(ExpectSame(expected));
  }
}

// Range deletions of block-based tables. A compaction keeps them if there are older data below.
TEST_F(PlainTableTest, RangeDeletionsStayInBlockBasedTables) {
  options_.disable_auto_compactions = true;
  Open();
  for (const char* const key : {"a", "b", "c"}) Put(key, "old");
  Flush();
  CompactAll();
  ASSERT_EQ(FilesAtLevel(0), 0u);
  ASSERT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), "b", "d"));
  Put("c", "new");
  Flush();
  const std::string expected = "a=old c=new ";
  Use("plain_table_factory={hash_table_ratio=0}");
  Open();
  EXPECT_TRUE(
      db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), "b", "c").IsNotSupported());
  ASSERT_OK(db_->CompactFiles(CompactionOptions(), FileNames(0), 0));
  EXPECT_EQ(FilesAtLevel(0), 1u);
  EXPECT_EQ(PlainAndOtherTables(), (std::pair<size_t, size_t>{0, 2}));
  EXPECT_EQ(Contents(), expected);
  Open();
  EXPECT_EQ(Contents(), expected);
  CompactRangeOptions force;
  force.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_OK(db_->CompactRange(force, nullptr, nullptr));
  EXPECT_EQ(PlainAndOtherTables(), (std::pair<size_t, size_t>{1, 0}));
  EXPECT_EQ(Contents(), expected);
}

// Without a mapping, a table is read as a whole, regardless of the family's table factory.
TEST_F(PlainTableTest, WithoutAMappingTablesAreReadWhole) {
  constexpr uint64_t kValues = 20;
  options_.allow_mmap_reads = false;
  Use("plain_table_factory={hash_table_ratio=0}");
  Open();
  Map expected;
  Random random(1);
  for (uint64_t i = 0; i < kValues; ++i) {
    const std::string key = StrCat("key", i);
    Put(key, expected[key] = random.Bytes(1000));
  }
  Flush();
  for (const char* const factory : {"", "table_factory=BlockBasedTable"}) {
    SCOPED_TRACE(factory);
    Use(factory);
    Open();
    ASSERT_NO_FATAL_FAILURE(ExpectSame(expected));
    EXPECT_OK(db_->VerifyChecksum());
    EXPECT_GE(Number("rocksdb.estimate-table-readers-mem"), kValues * 1000);
    PinnableSlice value;
    ASSERT_OK(db_->Get(ReadOptions(), db_->DefaultColumnFamily(), "key7", &value));
    EXPECT_TRUE(value.IsPinned());
    CompactRangeOptions force;
    force.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_OK(db_->CompactRange(force, nullptr, nullptr));
    EXPECT_EQ(value, Slice(expected["key7"])) << "the table is replaced";
    ASSERT_NO_FATAL_FAILURE(ExpectSame(expected));
  }
}

TEST_F(PlainTableTest, DirectReadsReadThemWhole) {
  options_.allow_mmap_reads = false;
  options_.use_direct_reads = true;
  Use("plain_table_factory={hash_table_ratio=0}");
  const Status opened = TryOpen();
  if (opened.IsInvalidArgument()) GTEST_SKIP() << opened.ToString();
  ASSERT_OK(opened);
  Map expected;
  Random random(1);
  for (int i = 0; i < 20; ++i) {
    const std::string key = StrCat("key", i);
    Put(key, expected[key] = random.Bytes(1001));
  }
  Flush();
  ASSERT_NO_FATAL_FAILURE(ExpectSame(expected));
  EXPECT_OK(db_->VerifyChecksum());
}

TEST_F(PlainTableTest, ValuesArePinnedInTheMapping) {
  Use("prefix_extractor=fixed:1;plain_table_factory={}");
  Open();
  Put("a", "apple");
  Put("b", "banana");
  Flush();
  PinnableSlice value;
  ASSERT_OK(db_->Get(ReadOptions(), db_->DefaultColumnFamily(), "a", &value));
  EXPECT_TRUE(value.IsPinned());
  // The table is closed, but its bytes stay while they are pinned.
  Delete("a");
  Flush();
  CompactAll();
  EXPECT_EQ(Get("a"), "NOT_FOUND");
  EXPECT_TRUE(db_->Close().IsAborted());
  EXPECT_EQ(value.ToString(), "apple");
  value.Reset();
  EXPECT_OK(db_->Close());
}

TEST_F(PlainTableTest, AFileWithAKeyOfAnotherLengthIsNotIngested) {
  Use("plain_table_factory={hash_table_ratio=0;user_key_len=4}");
  Open();
  Options usual = options_;
  usual.table_factory.reset(NewBlockBasedTableFactory());
  SstFileWriter writer(EnvOptions(), usual);
  const std::string file = scratch_.File("external.sst");
  ASSERT_OK(writer.Open(file));
  for (const char* key : {"four", "longer", "zzzz"}) ASSERT_OK(writer.Put(key, "1"));
  ASSERT_OK(writer.Finish());
  const Status refused = db_->IngestExternalFile({file}, IngestExternalFileOptions());
  EXPECT_TRUE(refused.IsInvalidArgument()) << refused.ToString();
  EXPECT_NE(refused.ToString().find("a key of 6 bytes"), std::string::npos) << refused.ToString();
  EXPECT_EQ(Contents(), "");
}

TEST_F(PlainTableTest, AKeyOfAnotherLengthIsRefusedBeforeItIsWritten) {
  Use("plain_table_factory={hash_table_ratio=0;user_key_len=4}");
  Open();
  Put("four", "1");
  const auto expect_refused = [](const Status& status) {
    EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
    EXPECT_NE(
        status.ToString().find("a key of 5 bytes in a column family whose tables hold keys of 4"),
        std::string::npos)
        << status.ToString();
  };
  expect_refused(db_->Put(WriteOptions(), "three", "2"));
  expect_refused(db_->Delete(WriteOptions(), "three"));
  WriteBatch batch;
  ASSERT_OK(batch.Put("five", "5"));
  ASSERT_OK(batch.Put("three", "2"));
  expect_refused(db_->Write(WriteOptions(), &batch));
  Flush();
  EXPECT_EQ(Contents(), "four=1 ");

  // If prefixes are encoded, every key is stored with its length.
  Use("prefix_extractor=fixed:3;plain_table_factory={encoding_type=kPrefix;user_key_len=4}");
  Open();
  Put("three", "2");
  Flush();
  EXPECT_EQ(Get("three"), "2");
}

// SetOptions may remove the extractor.
TEST_F(PlainTableTest, KeysOfAnyLengthStayFlushableWithoutTheirPrefixes) {
  Use("prefix_extractor=fixed:3;plain_table_factory={hash_table_ratio=0;encoding_type=kPrefix;"
      "user_key_len=4}");
  Open();
  Put("three", "1");
  Put("four", "2");
  ASSERT_OK(db_->SetOptions({{"prefix_extractor", "nullptr"}}));
  Flush();
  Put("longer", "3");
  Flush();
  CompactAll();
  EXPECT_EQ(Contents(), "four=2 longer=3 three=1 ");
  Open();
  EXPECT_EQ(Get("longer"), "3");
}

// A log that was written under other options may contain such keys. The flush reports them, and
// loses none of them.
TEST_F(PlainTableTest, AKeyOfAnotherLengthInTheLogFailsTheFlush) {
  Use("plain_table_factory={hash_table_ratio=0}");
  Open();
  Put("three", "2");
  Use("plain_table_factory={hash_table_ratio=0;user_key_len=4}");
  options_.avoid_flush_during_recovery = true;
  Open();
  const Status status = db_->Flush(FlushOptions());
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_NE(status.ToString().find("a key of 5 bytes in a PlainTable whose user_key_len is 4"),
            std::string::npos)
      << status.ToString();
  Use("plain_table_factory={user_key_len=0}");
  Open();
  Flush();
  EXPECT_EQ(Contents(), "three=2 ");
}

}  // namespace
}  // namespace ashlar
