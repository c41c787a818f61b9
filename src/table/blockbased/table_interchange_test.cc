// Reads tables that Debian's rocksdb-tools wrote, and lets those tools read Ashlar's tables.
// Skipped where the tools are not installed.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "ashlar/vfs.h"
#include "base/format.h"
#include "base/xxph3.h"
#include "table/block/block_entries.h"
#include "table/blockbased/table_test_kit.h"
#include "table/filter/filter_builder.h"
#include "table/filter/filter_test_kit.h"
#include "table/table_properties.h"
#include "tests/support/tool_runner.h"

namespace ashlar::test {
namespace {

class TableInterchange : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HaveRocksDbTools()) GTEST_SKIP() << "no rocksdb-tools";
  }

  std::vector<std::string> Tables() const {
    std::vector<std::string> tables;
    for (const auto& entry : std::filesystem::directory_iterator(directory_ + "/db")) {
      if (entry.path().extension() == ".sst") tables.push_back(entry.path().generic_string());
    }
    std::sort(tables.begin(), tables.end());
    return tables;
  }

  const ScratchDirectory scratch_;
  const std::string directory_ = scratch_.path();
  const std::shared_ptr<vfs::FileSystem> fs_ = vfs::FileSystem::Default();
};

std::string Hex(const Slice& bytes) { return "0x" + bytes.ToString(true); }

// "0x61 ==> 0x62" lines, as ldb prints and loads them.
std::map<std::string, std::string> ParseDump(const std::string& text) {
  std::map<std::string, std::string> contents;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t arrow = line.find(" ==> ");
    if (line.rfind("0x", 0) != 0 || arrow == std::string::npos) continue;
    std::string key;
    std::string value;
    if (!Slice(std::string_view(line).substr(2, arrow - 2)).DecodeHex(&key)) continue;
    if (!Slice(std::string_view(line).substr(arrow + 7)).DecodeHex(&value)) continue;
    contents[key] = value;
  }
  return contents;
}

// Returns everything that a table's cursor yields, without sequences and types.
std::map<std::string, std::string> ReadAll(TableReader* table) {
  std::map<std::string, std::string> contents;
  const auto cursor = table->NewCursor({});
  for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next())
    contents[ExtractUserKey(cursor->key()).ToString()] = cursor->value().ToString();
  EXPECT_OK(cursor->status());
  return contents;
}

// Returns the raw contents of the block that has this name in the metaindex.
std::string ReadMetaBlock(vfs::FileSystem* fs, const std::string& path, const std::string& name) {
  std::unique_ptr<vfs::RandomAccessFile> file;
  uint64_t bytes = 0;
  EXPECT_OK(fs->NewRandomAccessFile(path, {}, &file));
  EXPECT_OK(file->Size(&bytes));
  BlockFile blocks(std::move(file), path, bytes, false, Recorder());
  char scratch[kFooterBytes];
  const Result<Slice> tail = blocks.ReadBytes(bytes - kFooterBytes, kFooterBytes, scratch);
  EXPECT_OK(tail.status());
  const Result<Footer> footer = DecodeFooter(*tail, bytes);
  EXPECT_OK(footer.status());
  blocks.SetFormat(*footer);
  const Result<BlockContents> metaindex = blocks.ReadBlock({.handle = footer->metaindex});
  EXPECT_OK(metaindex.status());
  BlockEntries entries(metaindex->data);
  while (entries.Next()) {
    if (entries.key() != Slice(name)) continue;
    Slice value = entries.value();
    BlockHandle handle;
    EXPECT_TRUE(GetBlockHandle(&value, &handle));
    const Result<BlockContents> block = blocks.ReadBlock({.handle = handle});
    EXPECT_OK(block.status());
    return block->data.ToString();
  }
  ADD_FAILURE() << path << " has no " << name;
  return {};
}

// Counts the false positives of the filter among 1,000 absent keys that sort between the present
// ones. Requires: no block is cached.
int CountUnfiltered(TableReader* table) {
  Random random(3);
  int through = 0;
  const std::string present = [&] {
    const auto cursor = table->NewCursor({});
    cursor->SeekToFirst();
    return ExtractUserKey(cursor->key()).ToString();
  }();
  for (int i = 0; i < 1000; ++i) {
    TableReadOptions cached_only;
    cached_only.cached_only = true;
    through +=
        GetText(table, cached_only, present + random.Bytes(8), kSequenceNumberMax) != "(none)" ? 1
                                                                                               : 0;
  }
  return through;
}

constexpr char kFullFilterName[] = "fullfilter.rocksdb.BuiltinBloomFilter";

// Keys of every length up to 512 bytes, some of each.
std::map<std::string, std::string> KeysOfAllLengths(uint64_t seed) {
  Random random(seed);
  std::map<std::string, std::string> contents;
  for (size_t n = 1; n <= 512; ++n) {
    contents[random.Bytes(n)] = random.Bytes(random.Uniform(30));
    contents[std::string(n, static_cast<char>('a' + n % 26))] = random.Bytes(random.Uniform(30));
  }
  return contents;
}

TEST_F(TableInterchange, ReadsWhatLdbWroteAndItsFilterIsOursBitForBit) {
  const std::map<std::string, std::string> contents = KeysOfAllLengths(1);
  {
    std::ofstream in(directory_ + "/in", std::ios::binary);
    for (const auto& [key, value] : contents) in << Hex(key) << " ==> " << Hex(value) << "\n";
  }
  const std::string ldb = "ldb --db=" + directory_ + "/db --hex ";
  const ToolRun load =
      RunTool(ldb + "--create_if_missing --bloom_bits=10 load --compact < " + directory_ + "/in");
  ASSERT_EQ(load.exit_code, 0) << load.output;
  const std::vector<std::string> tables = Tables();
  ASSERT_EQ(tables.size(), 1u);

  const auto cache = std::make_shared<BlockCache>(1 << 20);
  Result<TableReaderPtr> opened = OpenTable(fs_.get(), tables[0], {.cache = cache});
  ASSERT_OK(opened.status());
  const OpenedTable table(std::move(opened).value());
  ASSERT_OK(table->Verify());
  EXPECT_EQ(ReadAll(table.get()), contents);
  for (const auto& [key, value] : contents)
    ASSERT_EQ(GetText(table.get(), {}, key, kSequenceNumberMax), value);

  FilterBuilder filter({.millibits_per_key = 10000});
  for (const auto& entry : contents) filter.AddHash(Xxph3Hash64(entry.first));
  EXPECT_EQ(Slice(test::FinishFilter(&filter)).ToString(true),
            Slice(ReadMetaBlock(fs_.get(), tables[0], kFullFilterName)).ToString(true));
  // The filter is used and not only present. Absent keys read no block.
  cache->EraseUnRefEntries();
  EXPECT_LT(CountUnfiltered(table.get()), 50);
}

TEST_F(TableInterchange, LegacyFiltersAreOursBitForBit) {
  const ToolRun bench =
      RunTool("db_bench --db=" + directory_ +
              "/db --benchmarks=fillrandom,compact --num=3000 --value_size=20 --key_size=16 "
              "--bloom_bits=10 --format_version=4");
  ASSERT_EQ(bench.exit_code, 0) << bench.output;
  const std::vector<std::string> tables = Tables();
  ASSERT_EQ(tables.size(), 1u);
  Result<TableReaderPtr> opened = OpenTable(fs_.get(), tables[0], {.mmap = false});
  ASSERT_OK(opened.status());
  const OpenedTable theirs(std::move(opened).value());
  TableSpec spec;
  spec.config.filter_millibits_per_key = 10000;
  spec.config.format_version = 4;
  Entries entries{InternalOrder{KeyComparator(BytewiseComparator())}};
  const auto cursor = theirs->NewCursor({});
  for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next())
    entries[cursor->key().ToString()] = cursor->value().ToString();
  const std::string ours = directory_ + "/ours.sst";
  TableWriteResult result;
  ASSERT_OK(WriteTable(fs_.get(), ours, spec, entries, &result));
  EXPECT_EQ(Slice(ReadMetaBlock(fs_.get(), ours, kFullFilterName)).ToString(true),
            Slice(ReadMetaBlock(fs_.get(), tables[0], kFullFilterName)).ToString(true));
}

struct BenchCase {
  const char* name;
  const char* flags;
  bool filtered = false;
};
void PrintTo(const BenchCase& c, std::ostream* out) { *out << c.name; }

class TableInterchangeBench : public TableInterchange,
                              public ::testing::WithParamInterface<BenchCase> {
 protected:
  void SetUp() override { TableInterchange::SetUp(); }
};

TEST_P(TableInterchangeBench, ReadsEveryLayoutOfDbBench) {
  const ToolRun bench =
      RunTool("db_bench --db=" + directory_ +
              "/db --benchmarks=fillseq,compact --num=3000 --value_size=60 --key_size=20 " +
              GetParam().flags);
  ASSERT_EQ(bench.exit_code, 0) << bench.output;
  const ToolRun scan = RunTool("ldb --db=" + directory_ + "/db --hex dump");
  ASSERT_EQ(scan.exit_code, 0) << scan.output;
  const std::map<std::string, std::string> expected = ParseDump(scan.output);
  ASSERT_EQ(expected.size(), 3000u);
  const std::vector<std::string> tables = Tables();
  ASSERT_FALSE(tables.empty());
  for (const bool mmap : {false, true}) {
    std::map<std::string, std::string> contents;
    size_t found = 0;
    for (const std::string& path : tables) {
      Result<TableReaderPtr> opened = OpenTable(fs_.get(), path, {.mmap = mmap});
      ASSERT_OK(opened.status());
      const OpenedTable table(std::move(opened).value());
      ASSERT_OK(table->Verify());
      contents.merge(ReadAll(table.get()));
      if (GetParam().filtered) {
        EXPECT_LT(CountUnfiltered(table.get()), 100) << path;
      }
      for (const auto& [key, value] : expected)
        found += GetText(table.get(), {}, key, kSequenceNumberMax) == value ? 1u : 0u;
    }
    EXPECT_EQ(contents, expected);
    EXPECT_EQ(found, expected.size());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, TableInterchangeBench,
    ::testing::Values(
        BenchCase{"defaults", ""}, BenchCase{"bloom", "--bloom_bits=10", true},
        BenchCase{"ribbon", "--bloom_bits=10 --use_ribbon_filter=true", true},
        BenchCase{"legacy_bloom", "--bloom_bits=10 --format_version=3", true},
        BenchCase{"two_level_index",
                  "--bloom_bits=10 --partition_index=true --metadata_block_size=256"},
        BenchCase{"partitioned_filters",
                  "--bloom_bits=10 --partition_index_and_filters=true --metadata_block_size=256",
                  true},
        BenchCase{"first_key_index", "--index_with_first_key=true"},
        BenchCase{"data_block_hash_index", "--use_data_block_hash_index=true"},
        BenchCase{"long_index_restarts", "--index_block_restart_interval=16 --block_size=512"},
        BenchCase{"zstd_dictionary",
                  "--compression_type=zstd --compression_max_dict_bytes=4096 "
                  "--compression_zstd_max_train_bytes=65536"},
        BenchCase{"lz4", "--compression_type=lz4"}, BenchCase{"lz4hc", "--compression_type=lz4hc"},
        BenchCase{"zlib", "--compression_type=zlib"},
        BenchCase{"snappy", "--compression_type=snappy"},
        BenchCase{"format_2", "--format_version=2"},
        BenchCase{"format_4", "--format_version=4 --index_block_restart_interval=4"}),
    [](const auto& bench) { return std::string(bench.param.name); });

// Both writers get the same entries. The filters and their properties have the same bytes, with one
// exception. RocksDB 7.8.3 adds the empty string before the second key to a filter without whole
// keys, so the first prefix may count twice.
TEST_F(TableInterchange, FiltersWithPrefixesAreOursBitForBit) {
  const std::string bench =
      "db_bench --db=" + directory_ +
      "/db --benchmarks=fillrandom,compact --num=3000 --value_size=20 --key_size=16 " +
      "--prefix_size=6 --keys_per_prefix=7 --bloom_bits=10 ";
  const std::shared_ptr<const SliceTransform> extractor(NewFixedPrefixTransform(6));
  for (const bool whole_keys : {false, true}) {
    std::filesystem::remove_all(directory_ + "/db");
    const ToolRun run = RunTool(
        bench + (whole_keys ? "--whole_key_filtering=true" : "--whole_key_filtering=false"));
    ASSERT_EQ(run.exit_code, 0) << run.output;
    const std::vector<std::string> tables = Tables();
    ASSERT_EQ(tables.size(), 1u);
    Result<TableReaderPtr> opened =
        OpenTable(fs_.get(), tables[0], {.prefix_extractor = extractor});
    ASSERT_OK(opened.status());
    const OpenedTable theirs(std::move(opened).value());
    TableSpec spec;
    spec.config.filter_millibits_per_key = 10000;
    spec.config.whole_key_filtering = whole_keys;
    spec.prefix_extractor = extractor;
    Entries entries{InternalOrder{KeyComparator(BytewiseComparator())}};
    FilterBuilder prefixes({.millibits_per_key = 10000});
    const auto cursor = theirs->NewCursor({});
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
      if (entries.size() == 1) prefixes.AddHash(Xxph3Hash64(""));
      prefixes.AddHash(Xxph3Hash64(extractor->Transform(ExtractUserKey(cursor->key()))));
      entries[cursor->key().ToString()] = cursor->value().ToString();
    }
    const std::string ours = directory_ + "/ours.sst";
    TableWriteResult result;
    ASSERT_OK(WriteTable(fs_.get(), ours, spec, entries, &result));
    const std::string filter = ReadMetaBlock(fs_.get(), tables[0], kFullFilterName);
    EXPECT_EQ(whole_keys ? ReadMetaBlock(fs_.get(), ours, kFullFilterName)
                         : test::FinishFilter(&prefixes),
              filter);
    UserCollectedProperties ours_by_name = TablePropertiesByName(result.properties);
    UserCollectedProperties theirs_by_name = TablePropertiesByName(theirs->properties());
    if (whole_keys) {
      EXPECT_EQ(ours_by_name["rocksdb.num.filter_entries"],
                theirs_by_name["rocksdb.num.filter_entries"]);
    }
    for (const char* const name :
         {"rocksdb.prefix.extractor.name", "rocksdb.filter.size", "rocksdb.filter.policy",
          kPropertyPrefixFiltering, kPropertyWholeKeyFiltering}) {
      EXPECT_EQ(ours_by_name[name], theirs_by_name[name]) << name;
    }
  }
}

TEST_F(TableInterchange, SstDumpVerifiesAndReadsOurs) {
  std::filesystem::create_directories(directory_ + "/db");
  const std::map<std::string, std::string> contents = KeysOfAllLengths(2);
  const KeyComparator comparator(BytewiseComparator());
  Entries entries{InternalOrder{comparator}};
  SequenceNumber sequence = 1;
  for (const auto& [key, value] : contents)
    entries[MakeInternalKey(key, sequence++, ValueType::kValue)] = value;
  Random random(9);
  for (const uint32_t version : {2u, 3u, 4u, 5u}) {
    for (const CompressionType compression : {kNoCompression, kSnappyCompression, kZlibCompression,
                                              kLZ4Compression, kLZ4HCCompression, kZSTD}) {
      TableSpec spec;
      spec.compression = compression;
      spec.config.format_version = version;
      spec.config.checksum = static_cast<BlockChecksum>(random.Uniform(5));
      spec.config.index_restart_interval = static_cast<int>(1 + random.Uniform(8));
      spec.config.block_bytes = 500 + random.Uniform(8000);
      spec.config.filter_millibits_per_key = 10000;
      const std::string path = directory_ + "/db/000007.sst";
      TableWriteResult result;
      ASSERT_OK(WriteTable(fs_.get(), path, spec, entries, &result));
      const std::string dump = "sst_dump --file=" + path + " ";
      const ToolRun verify = RunTool(dump + "--command=verify");
      EXPECT_EQ(verify.exit_code, 0) << verify.output;
      EXPECT_NE(verify.output.find("The file is ok"), std::string::npos) << verify.output;
      EXPECT_EQ(verify.output.find("orruption"), std::string::npos) << verify.output;
    }
  }
  for (const TableLayout& layout : kTableLayouts) {
    SCOPED_TRACE(layout.name);
    TableSpec spec;
    spec.compression = kZSTD;
    spec.config.filter_millibits_per_key = 10000;
    layout.set(&spec);
    const std::string path = directory_ + "/db/000008.sst";
    TableWriteResult result;
    ASSERT_OK(WriteTable(fs_.get(), path, spec, entries, &result));
    const ToolRun verify = RunTool("sst_dump --file=" + path + " --command=verify 2>&1");
    EXPECT_EQ(verify.exit_code, 0) << verify.output;
    EXPECT_NE(verify.output.find("The file is ok"), std::string::npos) << verify.output;
    const ToolRun check = RunTool("sst_dump --file=" + path + " --command=check 2>&1");
    EXPECT_EQ(check.exit_code, 0) << check.output;
    EXPECT_EQ(check.output.find("orruption"), std::string::npos) << check.output;
  }
  const ToolRun scan =
      RunTool("sst_dump --file=" + directory_ + "/db/000007.sst --command=scan --output_hex");
  size_t rows = 0;
  for (size_t at = scan.output.find(" => "); at != std::string::npos;
       at = scan.output.find(" => ", at + 1))
    ++rows;
  EXPECT_EQ(rows, entries.size());
  const std::string first = "'" + ExtractUserKey(entries.begin()->first).ToString(true) + "'";
  EXPECT_NE(scan.output.find(first), std::string::npos) << scan.output.substr(0, 1000);
  const ToolRun raw = RunTool("cd " + directory_ + " && sst_dump --file=" + directory_ +
                              "/db/000007.sst --command=raw");
  EXPECT_EQ(raw.exit_code, 0) << raw.output;

  const ToolRun properties =
      RunTool("sst_dump --file=" + directory_ + "/db/000007.sst --show_properties --command=none");
  for (const char* const line :
       {"# entries: 1024", "# entries for filter: 1024", "filter policy name: bloomfilter",
        "comparator name: leveldb.BytewiseComparator", "SST file compression algo: ZSTD",
        "column family name: default", "original file number: 7", "user-key? 1, delta-value? 1"}) {
    EXPECT_NE(properties.output.find(line), std::string::npos) << line << "\n" << properties.output;
  }
}

}  // namespace
}  // namespace ashlar::test
