// RocksDB's own tools (Debian's rocksdb-tools 7.8.3) check Ashlar's databases, write to them, and
// make databases for Ashlar to read.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/filter_policy.h"
#include "ashlar/merge_operator.h"
#include "ashlar/options_util.h"
#include "ashlar/slice_transform.h"
#include "ashlar/sst_file_writer.h"
#include "ashlar/statistics.h"
#include "ashlar/table.h"
#include "base/format.h"
#include "tests/interchange/counting_collector.h"
#include "tests/support/expect_ok.h"
#include "tests/support/tool_runner.h"

namespace ashlar {
namespace {

using Map = std::map<std::string, std::string>;

class InterchangeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(HaveRocksDbTools());
    options_.create_if_missing = true;
    options_.create_missing_column_families = true;
    options_.merge_operator = MergeOperators::CreateStringAppendOperator(',');
    options_.compression = kNoCompression;
  }
  void TearDown() override { Close(); }

  std::string path() const { return scratch_.File("db"); }
  void Open(const std::vector<std::string>& families = {"default"}) {
    Close();
    std::vector<ColumnFamilyDescriptor> descriptors;
    for (const std::string& name : families)
      descriptors.emplace_back(name, ColumnFamilyOptions(options_));
    ASSERT_OK(DB::Open(DBOptions(options_), path(), descriptors, &handles_, &db_));
  }
  void Close() {
    for (ColumnFamilyHandle* handle : handles_) delete handle;
    handles_.clear();
    db_.reset();
  }

  std::string Ldb(const std::string& arguments, int expected_exit_code = 0) {
    const ToolRun run = RunTool("ldb --db=" + path() + " " + arguments + " 2>&1");
    EXPECT_EQ(run.exit_code, expected_exit_code) << arguments << "\n" << run.output;
    return run.output;
  }
  void ExpectEveryTableVerifies() {
    for (const auto& entry : std::filesystem::directory_iterator(path())) {
      if (entry.path().extension() != ".sst") continue;
      const ToolRun run =
          RunTool("sst_dump --command=verify --file=" + entry.path().generic_string() + " 2>&1");
      EXPECT_EQ(run.exit_code, 0) << run.output;
      EXPECT_EQ(run.output.find("orruption"), std::string::npos) << run.output;
    }
  }
  // Parses the output of `ldb scan --hex` into a map.
  static Map ParseScan(const std::string& text) {
    Map map;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const size_t middle = line.find(" : ");
      if (!line.starts_with("0x") || middle == std::string::npos) continue;
      std::string key;
      std::string value;
      EXPECT_TRUE(Slice(line).starts_with("0x") &&
                  Slice(line.data() + 2, middle - 2).DecodeHex(&key))
          << line;
      EXPECT_TRUE(Slice(line.data() + middle + 5, line.size() - middle - 5).DecodeHex(&value))
          << line;
      map[key] = value;
    }
    return map;
  }
  Map Contents(size_t family = 0) {
    Map map;
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions(), handles_[family]));
    for (it->SeekToFirst(); it->Valid(); it->Next())
      map[it->key().ToString()] = it->value().ToString();
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    return map;
  }
  // Puts, deletes and merges, some in tables on several levels and some only in the log.
  void Fill(ColumnFamilyHandle* family, Map* expected) {
    const auto key = [](int i) { return "key" + std::to_string(i * 37 % 1000); };
    for (int i = 0; i < 3000; ++i) {
      if (i % 7 == 3) {
        ASSERT_OK(db_->Delete(WriteOptions(), family, key(i)));
        expected->erase(key(i));
      } else if (i % 5 == 1) {
        ASSERT_OK(db_->Merge(WriteOptions(), family, key(i), std::to_string(i)));
        std::string& value = (*expected)[key(i)];
        value += (value.empty() ? "" : ",") + std::to_string(i);
      } else {
        const std::string value = std::to_string(i) + std::string(static_cast<size_t>(i % 50), 'x');
        ASSERT_OK(db_->Put(WriteOptions(), family, key(i), value));
        (*expected)[key(i)] = value;
      }
      if (i == 1000) {
        ASSERT_OK(db_->CompactRange(CompactRangeOptions(), family, nullptr, nullptr));
      }
      if (i == 2000) {
        ASSERT_OK(db_->Flush(FlushOptions(), family));
      }
    }
  }

  // Returns a key of 16 bytes as db_bench makes it: the number in big-endian order, and zeros.
  static std::string BenchKey(uint64_t number) {
    std::string key(16, '0');
    for (size_t b = 0; b < 8; ++b) key[b] = static_cast<char>(number >> (56 - 8 * b));
    return key;
  }
  // Writes a file by SstFileWriter with the options. sst_dump must verify it, and ldb must ingest
  // it into the database. Requires: the database is closed.
  void ExpectAWritersFileIsTaken(Map* expected) {
    const std::string file = scratch_.File("external.sst");
    Options options = options_;
    options.table_properties_collector_factories.push_back(std::make_shared<CountingFactory>());
    SstFileWriter writer(EnvOptions(), options);
    ASSERT_OK(writer.Open(file));
    for (uint64_t i = 1000; i < 2000; ++i) {
      std::string& value = (*expected)[BenchKey(i)];
      value = "ingested " + std::to_string(i);
      ASSERT_OK(writer.Put(BenchKey(i), value));
    }
    ASSERT_OK(writer.Finish());
    const ToolRun verified = RunTool("sst_dump --command=verify --file=" + file + " 2>&1");
    EXPECT_EQ(verified.exit_code, 0) << verified.output;
    EXPECT_NE(verified.output.find("The file is ok"), std::string::npos) << verified.output;
    const ToolRun dump =
        RunTool("sst_dump --command=check --show_properties --file=" + file + " 2>&1");
    EXPECT_NE(dump.output.find("# entries: 1000"), std::string::npos) << dump.output;
    EXPECT_NE(dump.output.find("program.entries: 0x" + Slice("number 1000").ToString(true)),
              std::string::npos)
        << dump.output;
    Ldb("--try_load_options ingest_extern_sst " + file);
    EXPECT_EQ(ParseScan(Ldb("scan --hex --try_load_options")), *expected);
    ExpectGets(*expected);
  }
  // The database is closed before and after.
  void ExpectGets(const Map& expected) {
    Open();
    EXPECT_EQ(Contents(), expected);
    for (const auto& [key, value] : expected) {
      std::string found;
      ASSERT_OK(db_->Get(ReadOptions(), key, &found));
      ASSERT_EQ(found, value);
    }
    Close();
  }

  // Each side must open the other's database of this style with its OPTIONS file: first Ashlar's,
  // then one that db_bench makes with the arguments.
  void ExpectStyleIsTakenBothWays(CompactionStyle style, const std::string& bench_arguments) {
    options_.compaction_style = style;
    options_.level0_file_num_compaction_trigger = 2;
    Open();
    Map expected;
    Fill(handles_[0], &expected);
    ASSERT_OK(db_->Flush(FlushOptions()));
    Close();
    EXPECT_EQ(ParseScan(Ldb("--try_load_options scan --hex")), expected);
    Ldb("--try_load_options put from_ldb value");
    Ldb("--try_load_options compact");
    expected["from_ldb"] = "value";
    Open();
    EXPECT_EQ(Contents(), expected);
    Close();

    std::filesystem::remove_all(path());
    const ToolRun bench = RunTool("db_bench --db=" + path() +
                                  " --benchmarks=fillrandom,flush --num=20000 "
                                  "--write_buffer_size=131072 --compression_type=none " +
                                  bench_arguments + " 2>&1");
    ASSERT_EQ(bench.exit_code, 0) << bench.output;
    Ldb("--try_load_options compact");
    const Map theirs = ParseScan(Ldb("--try_load_options scan --hex"));
    EXPECT_GT(theirs.size(), 1000u);
    DBOptions db_options;
    std::vector<ColumnFamilyDescriptor> families;
    ASSERT_OK(LoadLatestOptions(ConfigOptions(), path(), &db_options, &families));
    ASSERT_EQ(families.at(0).options.compaction_style, style);
    ASSERT_OK(DB::Open(db_options, path(), families, &handles_, &db_));
    EXPECT_EQ(Contents(), theirs);
    for (int i = 0; i < 2000; ++i) {
      ASSERT_OK(db_->Put(WriteOptions(), "ours" + std::to_string(i), std::string(200, 'v')));
      if (i % 100 == 99) {
        ASSERT_OK(db_->Flush(FlushOptions()));
      }
    }
    ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
    const Map after = Contents();
    EXPECT_TRUE(after.contains("ours1999"));
    Close();
    ExpectEveryTableVerifies();
    EXPECT_NE(Ldb("--try_load_options checkconsistency").find("OK"), std::string::npos);
    EXPECT_EQ(ParseScan(Ldb("--try_load_options scan --hex")), after);
  }

  ScratchDirectory scratch_;
  Options options_;
  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> handles_;
};

TEST_F(InterchangeTest, LdbReadsOurFamiliesWithDeletesMergesFiltersAndAnUnflushedLog) {
  BlockBasedTableOptions table;
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open({"default", "second", "third"});
  Map expected[3];
  for (size_t i = 0; i < 3; ++i) Fill(handles_[i], &expected[i]);
  Close();
  EXPECT_NE(Ldb("checkconsistency").find("OK"), std::string::npos);
  ExpectEveryTableVerifies();
  EXPECT_EQ(ParseScan(Ldb("scan --hex")), expected[0]);
  EXPECT_EQ(ParseScan(Ldb("scan --hex --column_family=second")), expected[1]);
  EXPECT_EQ(ParseScan(Ldb("scan --hex --column_family=third")), expected[2]);
  for (const auto& [key, value] : expected[0]) {
    EXPECT_EQ(Ldb("get " + key), value + "\n");
    if (key > "key11") break;
  }
  // ldb opened the database for writing, and wrote a MANIFEST and tables of its own. Ashlar still
  // finds every entry.
  Open({"default", "second", "third"});
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(Contents(i), expected[i]);
}

TEST_F(InterchangeTest, LdbDumpsTheSameEntries) {
  Open();
  Map expected;
  Fill(handles_[0], &expected);
  Close();
  std::string lines;
  for (const auto& [key, value] : expected) lines += key + " ==> " + value + "\n";
  const std::string dump = Ldb("dump");
  EXPECT_NE(dump.find(lines), std::string::npos);
  EXPECT_NE(dump.find("Keys in range: " + std::to_string(expected.size())), std::string::npos);
}

TEST_F(InterchangeTest, EveryCodecAndFormatVersionIsReadByTheTools) {
  for (const CompressionType codec : {kNoCompression, kSnappyCompression, kZlibCompression,
                                      kLZ4Compression, kLZ4HCCompression, kZSTD}) {
    for (const uint32_t version : {2u, 3u, 4u, 5u}) {
      SCOPED_TRACE("codec " + std::to_string(codec) + " format_version " + std::to_string(version));
      Close();
      std::filesystem::remove_all(path());
      BlockBasedTableOptions table;
      table.format_version = version;
      table.filter_policy.reset(NewBloomFilterPolicy(9.5));
      table.checksum = version == 2   ? kCRC32c
                       : version == 3 ? kxxHash
                       : version == 4 ? kxxHash64
                                      : kXXH3;
      options_.table_factory.reset(NewBlockBasedTableFactory(table));
      options_.compression = codec;
      Open();
      Map expected;
      Fill(handles_[0], &expected);
      ASSERT_OK(db_->Flush(FlushOptions()));
      Close();
      ExpectEveryTableVerifies();
      EXPECT_EQ(ParseScan(Ldb("scan --hex")), expected);
    }
  }
}

// Partitions, hash indexes, first keys, Ribbon filters, dictionaries and aligned blocks. db_bench
// reads them with the filters and indexes that Ashlar's OPTIONS file names. If a filter missed a
// key, db_bench would count fewer keys as found.
TEST_F(InterchangeTest, EveryTableLayoutIsReadByTheTools) {
  struct Layout {
    const char* name;
    const char* family;  // option text
    const char* table;
    const char* bench;  // further flags for db_bench
  };
  const Layout layouts[] = {
      {"partitions", "",
       "index_type=kTwoLevelIndexSearch;partition_filters=true;metadata_block_size=512;"
       "filter_policy=bloomfilter:10:false",
       "--bloom_bits=10 --partition_index_and_filters=true"},
      {"partitioned_ribbon", "",
       "index_type=kTwoLevelIndexSearch;partition_filters=true;metadata_block_size=1024;"
       "filter_policy=ribbonfilter:10:-1",
       "--bloom_bits=10 --use_ribbon_filter=true --partition_index_and_filters=true"},
      {"ribbon", "", "filter_policy=ribbonfilter:10:-1",
       "--bloom_bits=10 --use_ribbon_filter=true"},
      {"hash_in_blocks", "", "data_block_index_type=kDataBlockBinaryAndHash",
       "--use_data_block_hash_index=true"},
      {"hash_index", "prefix_extractor=fixed:8", "index_type=kHashSearch",
       "--prefix_size=8 --use_hash_search=true"},
      {"first_keys", "", "index_type=kBinarySearchWithFirstKey", "--index_with_first_key=true"},
      {"zstd_dictionary",
       "compression=kZSTD;compression_opts={max_dict_bytes=4096;zstd_max_train_bytes=65536}", "",
       ""},
      {"zlib_dictionary", "compression=kZlibCompression;compression_opts={max_dict_bytes=4096}", "",
       ""},
      {"lz4_dictionary", "compression=kLZ4Compression;compression_opts={max_dict_bytes=4096}", "",
       ""},
      {"aligned", "", "block_align=true", "--compression_type=none --block_align=true"}};
  for (const Layout& layout : layouts) {
    SCOPED_TRACE(layout.name);
    Close();
    std::filesystem::remove_all(path());
    Options options = options_;
    const auto joined = [](const std::string& first, const std::string& second) {
      return second.empty() ? first : first + ";" + second;
    };
    ASSERT_OK(GetOptionsFromString(
        options_,
        joined("block_based_table_factory={" + joined("block_size=1024", layout.table) + "}",
               layout.family),
        &options));
    const Options saved = std::exchange(options_, options);
    Open();
    Map expected;
    for (uint64_t i = 0; i < 3000; ++i) {
      const std::string key = BenchKey(i);
      expected[key] = "value of " + std::to_string(i) + std::string(i % 60, 'x');
      ASSERT_OK(db_->Put(WriteOptions(), key, expected[key]));
    }
    ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    EXPECT_EQ(Contents(), expected);
    Close();
    ExpectEveryTableVerifies();
    EXPECT_EQ(ParseScan(Ldb("scan --hex --try_load_options")), expected);
    const ToolRun bench = RunTool(
        "db_bench --db=" + path() +
        " --use_existing_db=1 --benchmarks=readrandom --num=3000 --reads=6000 --key_size=16 "
        "--merge_operator=stringappend " +
        layout.bench + " 2>&1");
    EXPECT_EQ(bench.exit_code, 0) << bench.output;
    EXPECT_NE(bench.output.find("(6000 of 6000 found)"), std::string::npos) << bench.output;
    // ldb writes another table with the options of Ashlar's OPTIONS file, and Ashlar reads it.
    Ldb("--try_load_options put from_ldb value");
    Ldb("--try_load_options compact");
    expected["from_ldb"] = "value";
    ExpectGets(expected);
    ExpectAWritersFileIsTaken(&expected);
    options_ = saved;
  }
}

TEST_F(InterchangeTest, WhatLdbWritesToOurDatabaseWeRead) {
  Open();
  Map expected;
  Fill(handles_[0], &expected);
  Close();
  Ldb("put from_ldb value");
  Ldb("delete key37");
  Ldb("batchput b1 v1 b2 v2");
  Ldb("compact");
  Ldb("put after_compaction x");
  expected["from_ldb"] = "value";
  expected.erase("key37");
  expected["b1"] = "v1";
  expected["b2"] = "v2";
  expected["after_compaction"] = "x";
  Open();
  EXPECT_EQ(Contents(), expected);
  ASSERT_OK(db_->VerifyChecksum());
  ASSERT_OK(db_->Put(WriteOptions(), "and_back", "1"));
  Close();
  EXPECT_EQ(Ldb("get and_back"), "1\n");
}

TEST_F(InterchangeTest, ADatabaseMadeByLdbOpensHereWithItsOptions) {
  Ldb("--create_if_missing --bloom_bits=10 --compression_type=zstd put a 1");
  Ldb("create_column_family meta");
  Ldb("--column_family=meta put m 2");
  Ldb("put b 2");
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  ASSERT_OK(LoadLatestOptions(ConfigOptions(), path(), &db_options, &families));
  ASSERT_EQ(families.size(), 2u);
  ASSERT_OK(DB::Open(db_options, path(), families, &handles_, &db_));
  EXPECT_EQ(Contents(0), (Map{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(Contents(1), (Map{{"m", "2"}}));
}

// RocksDB records the temperature of tables that it writes to the last level.
TEST_F(InterchangeTest, TemperaturesOfTheirTablesStay) {
  options_.last_level_temperature = Temperature::kWarm;
  Open();
  for (const char* const value : {"1", "2"}) {
    ASSERT_OK(db_->Put(WriteOptions(), "a", value));
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  Close();
  Ldb("--try_load_options compact");
  const auto warm_tables = [](const auto& files) {
    return std::count_if(files.begin(), files.end(), [](const FileStorageInfo& file) {
      return file.temperature == Temperature::kWarm;
    });
  };
  for (int i = 0; i < 2; ++i) {
    EXPECT_NE(Ldb("manifest_dump --verbose").find("temperature: 8"), std::string::npos);
    Open();
    EXPECT_EQ(Contents().at("a"), "2");
    ASSERT_OK(db_->Put(WriteOptions(), "b", "1"));
    ASSERT_OK(db_->Flush(FlushOptions()));  // into a MANIFEST of Ashlar's
    std::vector<LiveFileMetaData> tables;
    db_->GetLiveFilesMetaData(&tables);
    EXPECT_EQ(warm_tables(tables), 1);
    std::vector<LiveFileStorageInfo> files;
    ASSERT_OK(db_->GetLiveFilesStorageInfo(LiveFilesStorageInfoOptions(), &files));
    EXPECT_EQ(warm_tables(files), 1);
    Close();
  }
}

TEST_F(InterchangeTest, UniversalDatabasesAreTakenBothWays) {
  ExpectStyleIsTakenBothWays(kCompactionStyleUniversal, "--compaction_style=1");
}

TEST_F(InterchangeTest, FifoDatabasesAreTakenBothWays) {
  ExpectStyleIsTakenBothWays(kCompactionStyleFIFO,
                             "--compaction_style=2 --fifo_compaction_max_table_files_size_mb=1 "
                             "--fifo_compaction_allow_compaction=false");
  uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path()))
    bytes += entry.path().extension() == ".sst" ? entry.file_size() : 0;
  EXPECT_LE(bytes, uint64_t{1} << 20);
  EXPECT_EQ(ParseScan(Ldb("--try_load_options scan --hex --max_keys=1")).size(), 1u);
}

TEST_F(InterchangeTest, EveryKindOfMemTableIsTakenBothWaysThroughTheOptionsFile) {
  // RocksDB requires this for writes to a database whose kind is not skip_list.
  options_.allow_concurrent_memtable_write = false;
  for (const char* kind : {"skip_list", "prefix_hash", "hash_linkedlist", "vector"}) {
    SCOPED_TRACE(kind);
    Close();
    std::filesystem::remove_all(path());
    ASSERT_OK(GetOptionsFromString(
        options_, StrCat("prefix_extractor=fixed:4;memtable_factory=", kind), &options_));
    Open();
    Map expected;
    Fill(handles_[0], &expected);
    const std::string id = options_.memtable_factory->GetId();
    Close();
    EXPECT_EQ(ParseScan(Ldb("--try_load_options scan --hex")), expected);
    // This put makes ldb write an OPTIONS file of its own.
    Ldb("--try_load_options put from_ldb value");
    expected["from_ldb"] = "value";
    DBOptions db_options;
    std::vector<ColumnFamilyDescriptor> families;
    ASSERT_OK(LoadLatestOptions(ConfigOptions(), path(), &db_options, &families));
    EXPECT_EQ(families[0].options.memtable_factory->GetId(), id);
    Open();
    EXPECT_EQ(Contents(), expected);
    Close();
    std::filesystem::remove_all(path());
    const ToolRun made = RunTool(
        "db_bench --db=" + path() +
        " --benchmarks=fillseq --num=100 --allow_concurrent_memtable_write=false --prefix_size=4" +
        " --compression_type=none --memtablerep=" + kind + " 2>&1");
    ASSERT_EQ(made.exit_code, 0) << made.output;
    ASSERT_OK(LoadLatestOptions(ConfigOptions(), path(), &db_options, &families));
    EXPECT_STREQ(families[0].options.memtable_factory->Name(), options_.memtable_factory->Name());
    std::unique_ptr<DB> db;
    ASSERT_OK(DB::Open(db_options, path(), families, &handles_, &db));
    db_ = std::move(db);
    EXPECT_EQ(Contents().size(), 100u);
  }
}

// db_bench fills about half of 800 prefixes, and then seeks and gets in all of them, with filters
// of prefixes only. The numbers found, checked and ruled out are the same before and after Ashlar's
// compaction rewrites every table.
TEST_F(InterchangeTest, DbBenchFindsTheSameByPrefixInOurTables) {
  const std::string shape = "db_bench --db=" + path() +
                            " --key_size=16 --value_size=50 --prefix_size=8 --keys_per_prefix=10 "
                            "--bloom_bits=10 --whole_key_filtering=false --seed=1 ";
  const auto read = [&] {
    const ToolRun run =
        RunTool(shape +
                "--use_existing_db --disable_auto_compactions --benchmarks=seekrandom,readrandom "
                "--num=8000 --reads=4000 --statistics 2>&1");
    EXPECT_EQ(run.exit_code, 0) << run.output;
    std::string told;
    std::istringstream lines(run.output);
    for (std::string line; std::getline(lines, line);) {
      if (const size_t found = line.find(" found)"); found != std::string::npos)
        told += line.substr(line.find('(')) + "\n";
      if (line.find("bloom.filter.prefix.") != std::string::npos ||
          line.find("bloom.filter.useful") != std::string::npos)
        told += line + "\n";
    }
    return told;
  };
  const ToolRun made =
      RunTool(shape + "--benchmarks=fillrandom,compact --num=8000 --writes=500 2>&1");
  ASSERT_EQ(made.exit_code, 0) << made.output;
  const std::string before = read();
  EXPECT_EQ(before.find("rocksdb.bloom.filter.prefix.useful COUNT : 0\n"), std::string::npos)
      << before;

  options_.prefix_extractor.reset(NewFixedPrefixTransform(8));
  options_.statistics = CreateDBStatistics();
  BlockBasedTableOptions table;
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  table.whole_key_filtering = false;
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  // Reads RocksDB's table by prefixes. Present prefixes are complete, and no block is read for
  // absent ones.
  const Map all = Contents();
  const auto prefix_of = [](uint64_t i) {
    std::string prefix(8, '\0');
    for (size_t byte = 0; byte < 8; ++byte) prefix[byte] = static_cast<char>(i >> (8 * (7 - byte)));
    return prefix;
  };
  const auto ticks = [&](Tickers ticker) { return options_.statistics->getTickerCount(ticker); };
  std::vector<std::string> there;
  std::vector<std::string> absent;
  for (uint64_t i = 0; i < 800; ++i) {
    const auto first = all.lower_bound(prefix_of(i));
    if (first == all.end()) continue;
    if (Slice(first->first).starts_with(prefix_of(i))) {
      there.push_back(prefix_of(i));
    } else if (first != all.begin()) {
      absent.push_back(prefix_of(i));
    }
  }
  EXPECT_GT(absent.size(), 300u);
  size_t keys_found = 0;
  const auto seek_in = [&](const std::vector<std::string>& prefixes) {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    for (const std::string& prefix : prefixes) {
      for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix); it->Next())
        keys_found += all.at(it->key().ToString()) == it->value() ? 1u : 0u;
      ASSERT_OK(it->status());
    }
  };
  const auto seek_everywhere = [&] {
    keys_found = 0;
    seek_in(there);
    EXPECT_EQ(keys_found, all.size());
    const uint64_t useful = ticks(BLOOM_FILTER_PREFIX_USEFUL);
    const uint64_t blocks = ticks(BLOCK_CACHE_DATA_MISS) + ticks(BLOCK_CACHE_DATA_HIT);
    seek_in(absent);
    const uint64_t ruled_out = ticks(BLOOM_FILTER_PREFIX_USEFUL) - useful;
    EXPECT_EQ(keys_found, all.size());
    EXPECT_GT(ruled_out, absent.size() * 95 / 100);
    EXPECT_LE(ticks(BLOCK_CACHE_DATA_MISS) + ticks(BLOCK_CACHE_DATA_HIT) - blocks,
              absent.size() - ruled_out);
  };
  seek_everywhere();
  CompactRangeOptions rewrite;
  rewrite.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_OK(db_->CompactRange(rewrite, nullptr, nullptr));
  seek_everywhere();
  Close();
  EXPECT_EQ(read(), before);
  ExpectEveryTableVerifies();
}

// The extractor is passed both ways in the OPTIONS file, and ldb writes and reads tables with it.
TEST_F(InterchangeTest, LdbWritesAndReadsWithTheExtractorOfOurOptionsFile) {
  struct Case {
    std::shared_ptr<const SliceTransform> extractor;
    const char* name;
  };
  const Case cases[] = {
      {std::shared_ptr<const SliceTransform>(NewFixedPrefixTransform(3)), "rocksdb.FixedPrefix.3"},
      {std::shared_ptr<const SliceTransform>(NewCappedPrefixTransform(4)),
       "rocksdb.CappedPrefix.4"},
      {std::shared_ptr<const SliceTransform>(NewNoopTransform()), "rocksdb.Noop"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Close();
    std::filesystem::remove_all(path());
    options_.prefix_extractor = c.extractor;
    options_.disable_auto_compactions = true;
    BlockBasedTableOptions table;
    table.filter_policy.reset(NewBloomFilterPolicy(10));
    table.whole_key_filtering = false;
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    Open();
    Map expected;
    for (int i = 0; i < 200; ++i) {
      const std::string key = std::to_string(i * 7919 % 1000);
      ASSERT_OK(db_->Put(WriteOptions(), key, "v" + std::to_string(i)));
      expected[key] = "v" + std::to_string(i);
    }
    ASSERT_OK(db_->Flush(FlushOptions()));
    Close();
    // Reads through Ashlar's filter, and through one that ldb writes with the extractor.
    EXPECT_EQ(Ldb("--try_load_options get 0"), "v0\n");
    EXPECT_EQ(Ldb("--try_load_options get 919"), "v1\n");
    Ldb("--try_load_options batchput 12345 a 12 b 1 c");
    expected["12345"] = "a";
    expected["12"] = "b";
    expected["1"] = "c";
    EXPECT_EQ(ParseScan(Ldb("--try_load_options scan --hex")), expected);
    Ldb("--try_load_options compact");
    size_t named = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path())) {
      if (entry.path().extension() != ".sst") continue;
      const ToolRun run = RunTool("sst_dump --show_properties --command=none --file=" +
                                  entry.path().generic_string() + " 2>&1");
      named += run.output.find(std::string("prefix extractor name: ") + c.name) != std::string::npos
                   ? 1u
                   : 0u;
    }
    EXPECT_EQ(named, 1u);
    DBOptions db_options;
    std::vector<ColumnFamilyDescriptor> families;
    ASSERT_OK(LoadLatestOptions(ConfigOptions(), path(), &db_options, &families));
    ASSERT_NE(families[0].options.prefix_extractor, nullptr);
    EXPECT_EQ(families[0].options.prefix_extractor->GetId(), c.name);
    Open();
    EXPECT_EQ(Contents(), expected);
    for (const auto& [key, value] : expected) {
      std::string found;
      ASSERT_OK(db_->Get(ReadOptions(), key, &found));
      EXPECT_EQ(found, value);
      const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
      it->Seek(key);
      ASSERT_TRUE(it->Valid());
      EXPECT_EQ(it->key().ToString(), key);
    }
  }
}

TEST_F(InterchangeTest, ADatabaseMadeByDbBenchIsReadThroughItsFilters) {
  const ToolRun made = RunTool("db_bench --db=" + path() +
                               " --benchmarks=fillrandom,compact,overwrite --num=100000 "
                               "--key_size=16 --value_size=50 --bloom_bits=10" +
                               " --compression_type=lz4 --write_buffer_size=1048576 "
                               "--target_file_size_base=1048576 --seed=1 2>&1");
  ASSERT_EQ(made.exit_code, 0) << made.output;
  options_.statistics = CreateDBStatistics();
  BlockBasedTableOptions table;
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  const Map ours = Contents();
  EXPECT_GT(ours.size(), 60000u);
  for (const auto& [key, value] : ours) {
    std::string found;
    ASSERT_OK(db_->Get(ReadOptions(), key, &found));
    ASSERT_EQ(found, value);
  }
  // The filters of RocksDB's tables rule out absent keys.
  const auto useful = [&] { return options_.statistics->getTickerCount(BLOOM_FILTER_USEFUL); };
  const uint64_t before = useful();
  for (int i = 0; i < 1000; ++i) {
    std::string key(16, '\0');
    key.replace(8, 8, "missing" + std::to_string(i % 10));
    std::string found;
    ASSERT_TRUE(db_->Get(ReadOptions(), key + std::to_string(i), &found).IsNotFound());
  }
  EXPECT_GT(useful() - before, 900u);
  ASSERT_OK(db_->VerifyChecksum());
  Close();
  EXPECT_EQ(ParseScan(Ldb("scan --hex")), ours);
}

constexpr size_t kPrefixBytes = 6;

// Requires: the iterator has prefix_same_as_start.
void ExpectSeeksInPrefix(const Map& map, const std::string& target, Iterator* it) {
  const std::string prefix = target.substr(0, kPrefixBytes);
  const auto expected = [&](Map::const_iterator at, bool exists) {
    return exists && at->first.starts_with(prefix) ? at->first : "none";
  };
  const auto found = [&] { return it->Valid() ? it->key().ToString() : "none"; };
  const auto from = map.lower_bound(target);
  it->Seek(target);
  EXPECT_EQ(found(), expected(from, from != map.end())) << "from " << Slice(target).ToString(true);
  const auto after = map.upper_bound(target);
  it->SeekForPrev(target);
  EXPECT_EQ(found(), after == map.begin() ? "none" : expected(std::prev(after), true))
      << "back from " << Slice(target).ToString(true);
  EXPECT_OK(it->status());
}

// Partitions end between two prefixes as well as within one. The separators are either the last
// keys of the partitions (0) or keys in the gaps (2).
TEST_F(InterchangeTest, SeeksInAPrefixFindTheKeysOfPartitionedFiltersOfDbBench) {
  for (const int shortening : {0, 2}) {
    SCOPED_TRACE(StrCat("--index_shortening_mode=", shortening));
    Close();
    std::filesystem::remove_all(path());
    const ToolRun made = RunTool(StrCat(
        "db_bench --db=", path(), " --benchmarks=fillrandom,compact --seed=7",
        " --num=3000 --key_size=16 --value_size=20 --prefix_size=", kPrefixBytes,
        " --keys_per_prefix=2 --bloom_bits=10 --whole_key_filtering=false",
        " --partition_index_and_filters=true --metadata_block_size=128",
        " --block_size=512 --compression_type=none --index_shortening_mode=", shortening, " 2>&1"));
    ASSERT_EQ(made.exit_code, 0) << made.output;
    const Map map = ParseScan(Ldb("scan --hex"));
    ASSERT_GT(map.size(), 1500u);
    options_.prefix_extractor.reset(NewFixedPrefixTransform(kPrefixBytes));
    options_.statistics = CreateDBStatistics();
    Open();
    ReadOptions in_prefix;
    in_prefix.prefix_same_as_start = true;
    const std::unique_ptr<Iterator> it(db_->NewIterator(in_prefix));
    for (const auto& [key, value] : map) {
      std::string absent_prefix = key;
      absent_prefix[kPrefixBytes - 1] = '\x7f';
      for (const std::string& target :
           {key, key + '\0', key + '\xff', key.substr(0, kPrefixBytes),
            key.substr(0, kPrefixBytes) + std::string(kPrefixBytes, '\xff'), absent_prefix})
        ExpectSeeksInPrefix(map, target, it.get());
    }
    EXPECT_GT(options_.statistics->getTickerCount(BLOOM_FILTER_PREFIX_USEFUL), 0u);
  }
}

}  // namespace
}  // namespace ashlar
