// PlainTables exchanged both ways. RocksDB's tools open Ashlar's database by its OPTIONS file, read
// its tables and write more. Ashlar reads those and the tables of db_bench.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/options_util.h"
#include "ashlar/slice_transform.h"
#include "ashlar/table.h"
#include "tests/support/expect_ok.h"
#include "tests/support/tool_runner.h"

namespace ashlar {
namespace {

using Map = std::map<std::string, std::string>;

class PlainTableInterchange : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(HaveRocksDbTools());
    options_.create_if_missing = true;
    options_.allow_mmap_reads = true;
  }

  std::string path() const { return scratch_.File("db"); }
  void Open(const std::string& text) {
    db_.reset();
    ColumnFamilyOptions family;
    ASSERT_OK(GetColumnFamilyOptionsFromString(ColumnFamilyOptions(options_), text, &family));
    ASSERT_OK(DB::Open(Options(DBOptions(options_), family), path(), &db_));
  }
  // Opens the database with the newest OPTIONS file.
  void OpenAsRecorded() {
    db_.reset();
    DBOptions db_options;
    std::vector<ColumnFamilyDescriptor> families;
    ASSERT_OK(LoadLatestOptions(ConfigOptions(), path(), &db_options, &families));
    ASSERT_EQ(families.size(), 1u);
    db_options.error_if_exists = false;
    ASSERT_OK(DB::Open(Options(db_options, families[0].options), path(), &db_));
  }
  std::string Tool(const std::string& command, int expected_exit_code = 0) {
    const ToolRun run = RunTool(command + " 2>&1");
    EXPECT_EQ(run.exit_code, expected_exit_code) << command << "\n" << run.output;
    return run.output;
  }
  std::string Ldb(const std::string& arguments, int expected_exit_code = 0) {
    return Tool("ldb --db=" + path() + " --try_load_options " + arguments, expected_exit_code);
  }
  static Map ParseScan(const std::string& text) {
    Map map;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const size_t middle = line.find(" : ");
      if (!line.starts_with("0x") || middle == std::string::npos) continue;
      std::string key;
      std::string value;
      EXPECT_TRUE(Slice(line.data() + 2, middle - 2).DecodeHex(&key)) << line;
      EXPECT_TRUE(Slice(line.data() + middle + 5, line.size() - middle - 5).DecodeHex(&value))
          << line;
      map[key] = value;
    }
    return map;
  }
  void ExpectContents(const Map& expected) {
    Map contents;
    ReadOptions total_order;
    total_order.total_order_seek = true;
    const std::unique_ptr<Iterator> it(db_->NewIterator(total_order));
    for (it->SeekToFirst(); it->Valid(); it->Next())
      contents[it->key().ToString()] = it->value().ToString();
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    EXPECT_EQ(contents, expected);
    for (const auto& [key, value] : expected) {
      std::string found;
      ASSERT_OK(db_->Get(ReadOptions(), key, &found));
      ASSERT_EQ(found, value);
    }
    std::string missing;
    EXPECT_TRUE(db_->Get(ReadOptions(), "0000missing0000key00", &missing).IsNotFound());
  }
  void ExpectOnlyPlainTables() {
    TablePropertiesCollection all;
    ASSERT_OK(db_->GetPropertiesOfAllTables(&all));
    EXPECT_FALSE(all.empty());
    for (const auto& [name, properties] : all) {
      EXPECT_TRUE(
          properties->user_collected_properties.contains(PlainTablePropertyNames::kEncodingType))
          << name;
    }
  }

  ScratchDirectory scratch_;
  Options options_;
  std::unique_ptr<DB> db_;
};

std::string Key(int i) {
  std::string digits = std::to_string(i * 7919 % 100000);
  return std::string(5 - digits.size(), '0') + digits + "/" +
         std::string(static_cast<size_t>(14 - 5), static_cast<char>('a' + i % 26)) +
         std::to_string(i % 90000 + 10000);
}

class PlainTableInterchangeModes : public PlainTableInterchange,
                                   public ::testing::WithParamInterface<const char*> {};

TEST_P(PlainTableInterchangeModes, RocksDbReadsOursAndWritesMoreAndWeReadThat) {
  Open(GetParam());
  Map expected;
  for (int i = 0; i < 2000; ++i) {
    ASSERT_OK(db_->Put(WriteOptions(), Key(i),
                       std::to_string(i) + std::string(static_cast<size_t>(i % 150), 'x')));
    expected[Key(i)] = std::to_string(i) + std::string(static_cast<size_t>(i % 150), 'x');
    if (i % 5 == 0) {
      ASSERT_OK(db_->Delete(WriteOptions(), Key(i / 2)));
      expected.erase(Key(i / 2));
    }
    if (i == 900) {
      ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    }
    if (i == 1400) {
      ASSERT_OK(db_->Flush(FlushOptions()));
    }
  }
  ASSERT_OK(db_->Flush(FlushOptions()));
  ExpectOnlyPlainTables();
  ASSERT_OK(db_->Close());
  db_.reset();

  EXPECT_EQ(ParseScan(Ldb("--hex scan")), expected);
  // Lookups use the index and the filter, from the file if they are stored there.
  for (const int i : {0, 1, 500, 1001, 1402, 1999}) {
    const auto found = expected.find(Key(i));
    EXPECT_EQ(Ldb("get " + Key(i), found == expected.end() ? 1 : 0),
              found == expected.end() ? "Failed: Get failed: NotFound: \n" : found->second + "\n");
  }
  EXPECT_EQ(Ldb("get 0000missing0000key00", 1), "Failed: Get failed: NotFound: \n");

  {
    std::ofstream more(scratch_.File("more"), std::ios::binary);
    for (int i = 2000; i < 4000; ++i) {
      more << Key(i) << " ==> " << i << "\n";
      expected[Key(i)] = std::to_string(i);
    }
  }
  Ldb("load < " + scratch_.File("more"));
  Ldb("delete " + Key(3000));
  expected.erase(Key(3000));
  Ldb("compact");
  EXPECT_EQ(ParseScan(Ldb("--hex scan")), expected);
  ASSERT_NO_FATAL_FAILURE(OpenAsRecorded());
  ExpectOnlyPlainTables();
  ExpectContents(expected);
  ASSERT_OK(db_->VerifyChecksum());
}

INSTANTIATE_TEST_SUITE_P(
    Modes, PlainTableInterchangeModes,
    ::testing::Values(
        "plain_table_factory={hash_table_ratio=0}",
        "plain_table_factory={hash_table_ratio=0;store_index_in_file=true;user_key_len=20}",
        "plain_table_factory={hash_table_ratio=0;store_index_in_file=true;bloom_bits_per_key=0};"
        "bloom_locality=1",
        "prefix_extractor=fixed:6;plain_table_factory={}",
        "prefix_extractor=fixed:3;plain_table_factory={store_index_in_file=true}",
        "prefix_extractor=fixed:20;plain_table_factory={user_key_len=20;store_index_in_file=true};"
        "bloom_locality=1",
        "prefix_extractor=capped:5;plain_table_factory={encoding_type=kPrefix;store_index_in_file="
        "true;index_sparseness=3}",
        "prefix_extractor=fixed:2;plain_table_factory={encoding_type=kPrefix;store_index_in_file="
        "true;bloom_bits_per_key=0}",
        "prefix_extractor=fixed:2;plain_table_factory={encoding_type=kPrefix;hash_table_ratio=0}"));

constexpr char kBenchFlags[] =
    " --num=3000 --key_size=20 --value_size=50 --prefix_size=20 --keys_per_prefix=0 "
    "--use_plain_table=1 --mmap_read=1 --memtablerep=prefix_hash"
    " --allow_concurrent_memtable_write=0 --bloom_bits=10 --bloom_locality=1 "
    "--compression_type=none";

TEST_F(PlainTableInterchange, WeReadWhatDbBenchWrites) {
  Tool("db_bench --db=" + path() + " --benchmarks=fillrandom,overwrite" + kBenchFlags);
  Tool("db_bench --db=" + path() + " --benchmarks=compact --use_existing_db=1" + kBenchFlags);
  const Map expected = ParseScan(Ldb("--hex scan"));
  ASSERT_GT(expected.size(), 1000u);
  ASSERT_NO_FATAL_FAILURE(OpenAsRecorded());
  ExpectOnlyPlainTables();
  ExpectContents(expected);
  ASSERT_OK(db_->VerifyChecksum());
}

// Every key that Ashlar wrote is found by hash and filter: by Ashlar's in the file, or by those
// that RocksDB builds from the entries.
TEST_F(PlainTableInterchange, DbBenchFindsEveryKeyThatWeWrote) {
  for (const char* const mode : {"", "store_index_in_file=true"}) {
    SCOPED_TRACE(mode);
    std::filesystem::remove_all(path());
    Open(
        "prefix_extractor=fixed:20;bloom_locality=1;compression=kNoCompression;plain_table_factory="
        "{user_key_len=20;" +
        std::string(mode) + "}");
    for (uint64_t i = 0; i < 3000; ++i) {
      std::string key(20, '0');
      for (int byte = 0; byte < 8; ++byte)
        key[static_cast<size_t>(byte)] = static_cast<char>(i >> (56 - 8 * byte));
      ASSERT_OK(db_->Put(WriteOptions(), key, std::string(50, 'v')));
    }
    ASSERT_OK(db_->Flush(FlushOptions()));
    ASSERT_OK(db_->Close());
    db_.reset();
    const std::string output =
        Tool("db_bench --db=" + path() +
             " --benchmarks=readrandom --reads=20000 --use_existing_db=1" + kBenchFlags);
    EXPECT_NE(output.find("(20000 of 20000 found)"), std::string::npos) << output;
  }
}

}  // namespace
}  // namespace ashlar
