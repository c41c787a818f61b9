// Writes, reads, verifies and damages the range deletion block.
#include <gtest/gtest.h>

#include <memory>

#include "ashlar/vfs.h"
#include "base/format.h"
#include "table/block/block_builder.h"
#include "table/block/block_entries.h"
#include "table/blockbased/table_test_kit.h"
#include "table/plain/plain_table_builder.h"
#include "table/table_properties.h"
#include "tests/support/comparators.h"

namespace ashlar::test {
namespace {

constexpr char kPath[] = "db/000007.sst";

std::string Text(const FragmentedRanges& ranges) {
  std::string text;
  FragmentedRanges::Cursor cursor(&ranges);
  for (cursor.SeekToFirst(); cursor.Valid(); cursor.Next()) {
    text += "[" + cursor.begin().ToString() + "," + cursor.end().ToString() + ")@";
    for (const SequenceNumber sequence : cursor.sequences()) text += std::to_string(sequence) + " ";
  }
  return text;
}

class RangeDeletionBlock : public testing::Test {
 protected:
  void SetUp() override { ASSERT_OK(fs_.CreateDir("db")); }

  void Write(const TableSpec& spec, const Entries& entries) {
    ASSERT_OK(WriteTable(&fs_, kPath, spec, entries, &result_));
  }
  Result<TableReaderPtr> Open(const OpenSpec& spec) { return OpenTable(&fs_, kPath, spec); }

  const KeyComparator bytewise_{BytewiseComparator()};
  MemoryFileSystem fs_;
  TableWriteResult result_;
};

TEST_F(RangeDeletionBlock, IsReadAsItWasWritten) {
  Entries entries{InternalOrder{bytewise_}};
  entries[MakeInternalKey("c", 5, ValueType::kValue)] = "v";
  entries[MakeInternalKey("e", 9, ValueType::kDeletion)] = "";
  TableSpec spec;
  spec.config.filter_millibits_per_key = 10000;
  spec.compression = kZSTD;
  spec.range_deletions = {{"b", "d", 8}, {"b", "d", 3}, {"d", "f", 8}, {"m", "z", 7}};
  Write(spec, entries);
  const TableProperties& p = result_.properties;
  EXPECT_EQ(p.num_entries, 6u);
  EXPECT_EQ(p.num_deletions, 5u);
  EXPECT_EQ(p.num_range_deletions, 4u);
  EXPECT_EQ(p.raw_key_size, 6u * 9);
  EXPECT_EQ(p.raw_value_size, 1u + 4);
  EXPECT_EQ(p.num_filter_entries, 2u);
  EXPECT_EQ(result_.smallest_sequence, 3u);
  EXPECT_EQ(result_.largest_sequence, 9u);
  EXPECT_EQ(result_.smallest, MakeInternalKey("b", 8, ValueType::kRangeDeletion));
  EXPECT_EQ(result_.largest, MakeInternalKey("z", kSequenceNumberMax, ValueType::kRangeDeletion));

  for (const bool mmap : {false, true}) {
    Result<TableReaderPtr> opened = Open({.mmap = mmap});
    ASSERT_OK(opened.status());
    const OpenedTable table(std::move(opened).value());
    EXPECT_OK(table->Verify());
    EXPECT_EQ(Text(table->ranges()), "[b,d)@8 3 [d,f)@8 [m,z)@7 ");
    EXPECT_EQ(GetText(table.get(), {}, "c", 20), "v");  // the caller applies range deletions
    EXPECT_GE(table->MemoryBytes(), table->ranges().MemoryBytes() + sizeof(BlockBasedTable));
  }
}

TEST_F(RangeDeletionBlock, BoundsAreThoseOfEntriesAndRangesTogether) {
  struct Case {
    std::vector<RangeTombstone> ranges;
    std::string smallest;
    std::string largest;
  };
  const auto point = [](const char* key) { return MakeInternalKey(key, 5, ValueType::kValue); };
  const auto begin = [](const char* key, SequenceNumber sequence) {
    return MakeInternalKey(key, sequence, ValueType::kRangeDeletion);
  };
  const auto end = [](const char* key) {
    return MakeInternalKey(key, kSequenceNumberMax, ValueType::kRangeDeletion);
  };
  Entries entries{InternalOrder{bytewise_}};
  entries[point("c")] = "v";
  entries[point("k")] = "v";
  for (const Case& c :
       {Case{{}, point("c"), point("k")}, Case{{{"d", "e", 7}}, point("c"), point("k")},
        Case{{{"a", "z", 7}}, begin("a", 7), end("z")},
        Case{{{"a", "y", 7}, {"b", "d", 7}}, begin("a", 7), end("y")},
        Case{{{"c", "k", 7}}, begin("c", 7), point("k")},
        Case{{{"c", "k", 3}}, point("c"), point("k")}}) {
    TableSpec spec;
    spec.range_deletions = c.ranges;
    Write(spec, entries);
    EXPECT_EQ(Slice(result_.smallest).ToString(true), Slice(c.smallest).ToString(true));
    EXPECT_EQ(Slice(result_.largest).ToString(true), Slice(c.largest).ToString(true));
  }
}

TEST_F(RangeDeletionBlock, ATableOfRangeDeletionsAloneIsATable) {
  for (const bool filtered : {false, true}) {
    TableSpec spec;
    spec.config.filter_millibits_per_key = filtered ? 10000 : 0;
    spec.range_deletions = {{"b", "d", 8}};
    Write(spec, Entries{InternalOrder{bytewise_}});
    EXPECT_EQ(result_.properties.num_data_blocks, 0u);
    EXPECT_EQ(result_.smallest_sequence, 8u);
    EXPECT_EQ(result_.smallest, MakeInternalKey("b", 8, ValueType::kRangeDeletion));
    const auto cache = std::make_shared<BlockCache>(1 << 16);
    Result<TableReaderPtr> opened = Open({.cache = cache});
    ASSERT_OK(opened.status());
    const OpenedTable table(std::move(opened).value());
    EXPECT_OK(table->Verify());
    EXPECT_EQ(Text(table->ranges()), "[b,d)@8 ");
    EXPECT_EQ(GetText(table.get(), {}, "c", 20), "(none)");
    const auto cursor = table->NewCursor({});
    cursor->SeekToFirst();
    EXPECT_FALSE(cursor->Valid());
    cursor->Seek(MakeInternalKey("b", 9, ValueType::kMax));
    EXPECT_FALSE(cursor->Valid());
    EXPECT_OK(cursor->status());
    EXPECT_TRUE(table->Anchors(4).empty());
    static_cast<void>(table->ApproximateOffsetOf(MakeInternalKey("c", 9, ValueType::kMax)));
  }
}

// Compares the block with the fragments that were written, in every order.
TEST_F(RangeDeletionBlock, RandomFragmentsRoundTripInEveryOrder) {
  for (const NamedComparator& order : TestComparators()) {
    const KeyComparator comparator(order.comparator);
    for (uint64_t seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(StrCat(order.name, ", seed ", seed));
      Random random(seed);
      std::vector<std::string> keys;
      for (int i = 0; i < 60; ++i) keys.push_back(random.Bytes(random.Uniform(6)));
      std::vector<RangeTombstone> tombstones;
      for (size_t i = 0; i < 25; ++i) {
        const std::string& a = keys[random.Uniform(keys.size())];
        const std::string& b = keys[random.Uniform(keys.size())];
        const int r = comparator.Compare(a, b);
        if (r == 0) continue;
        tombstones.push_back(
            {.begin = r < 0 ? a : b, .end = r < 0 ? b : a, .sequence = 1 + random.Uniform(50)});
      }
      const FragmentedRanges ranges = FragmentedRanges::Make(comparator, tombstones);
      TableSpec spec{.comparator = comparator};
      FragmentedRanges::Cursor cursor(&ranges);
      for (cursor.SeekToFirst(); cursor.Valid(); cursor.Next()) {
        for (const SequenceNumber sequence : cursor.sequences())
          spec.range_deletions.push_back({cursor.begin(), cursor.end(), sequence});
      }
      Write(spec, MakeEntries(comparator, {.keys = 30}, &random));
      EXPECT_EQ(result_.properties.num_range_deletions, ranges.tombstones());
      Result<TableReaderPtr> opened = Open({.comparator = comparator});
      ASSERT_OK(opened.status());
      const OpenedTable table(std::move(opened).value());
      EXPECT_OK(table->Verify());
      EXPECT_EQ(Text(table->ranges()), Text(ranges));
    }
  }
}

TEST_F(RangeDeletionBlock, TooLargeATombstoneIsRefused) {
  const std::string large(kEntryBytesMax / 2 + 1, 'y');
  TableSpec spec;
  const std::string end = large + "z";
  spec.range_deletions = {{large, end, 4}};
  const Status status = WriteTable(&fs_, kPath, spec, Entries{InternalOrder{bytewise_}}, &result_);
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
}

TEST_F(RangeDeletionBlock, APlainTableRefusesByTheNameOfTheOption) {
  std::unique_ptr<vfs::WritableFile> file;
  ASSERT_OK(fs_.NewWritableFile(kPath, {}, &file));
  Result<std::unique_ptr<PlainTableBuilder>> builder = PlainTableBuilder::Create(
      {.file = file.get(), .file_name = kPath, .comparator = bytewise_}, PlainTableConfig());
  ASSERT_OK(builder.status());
  (*builder)->AddRangeDeletion({.begin = "a", .end = "b", .sequence = 3});
  EXPECT_TRUE((*builder)->status().IsNotSupported());
  const Status finished = (*builder)->Finish(&result_);
  EXPECT_TRUE(finished.IsNotSupported());
  EXPECT_NE(finished.ToString().find("table_factory"), std::string::npos) << finished.ToString();
}

// --- Blocks that Ashlar never writes ---

struct RawEntry {
  std::string key;
  std::string value;
};
RawEntry Raw(const char* begin, SequenceNumber sequence, const char* end) {
  return {MakeInternalKey(begin, sequence, ValueType::kRangeDeletion), end};
}

std::string RawBlock(const std::vector<RawEntry>& entries) {
  BlockBuilder builder({.restart_interval = 1});
  for (const RawEntry& entry : entries) builder.Add(entry.key, entry.value, 0);
  return builder.Finish().ToString();
}

// Returns a table of ten entries whose meta blocks are replaced by these.
std::string TableWith(const std::map<std::string, std::string>& properties,
                      const std::string& range_block) {
  MemoryFileSystem fs;
  Entries entries{InternalOrder{KeyComparator(BytewiseComparator())}};
  for (int i = 0; i < 10; ++i)
    entries[MakeInternalKey("k" + std::to_string(i), 0, ValueType::kValue)] = "v";
  TableWriteResult result;
  EXPECT_OK(fs.CreateDir("db"));
  EXPECT_OK(WriteTable(&fs, kPath, {}, entries, &result));
  std::string file = *ReadFileToString(&fs, kPath, 1 << 20);
  Footer footer = *DecodeFooter(file, file.size());
  file.resize(footer.index.offset + footer.index.size + kBlockTrailerBytes);
  const auto append = [&file](const std::string& block) {
    const BlockHandle handle{file.size(), block.size()};
    file += block;
    file += '\0';
    PutFixed32(&file, ComputeBlockChecksum(BlockChecksum::kXxh3, file.data() + handle.offset,
                                           block.size()));
    return handle;
  };
  TableProperties all = result.properties;
  for (const auto& [name, value] : properties) all.user_collected_properties[name] = value;
  if (const auto found = properties.find("rocksdb.num.range-deletions");
      found != properties.end()) {
    all.user_collected_properties.erase(found->first);
    all.num_range_deletions = static_cast<uint8_t>(found->second[0]);
  }
  std::string handles[2];
  PutBlockHandle(&handles[0], append(EncodeTableProperties(all)));
  PutBlockHandle(&handles[1], append(range_block));
  footer.metaindex =
      append(RawBlock({{"rocksdb.properties", handles[0]}, {"rocksdb.range_del", handles[1]}}));
  PutFooter(&file, footer);
  return file;
}

Result<TableReaderPtr> OpenBytes(MemoryFileSystem* fs, const std::string& bytes,
                                 SequenceNumber largest_sequence = kSequenceNumberMax) {
  static_cast<void>(fs->CreateDir("db"));
  EXPECT_OK(WriteStringToFile(fs, bytes, kPath, Durability::kBuffered));
  return OpenTable(fs, kPath, {.largest_sequence = largest_sequence});
}

std::string Fixed32(uint32_t v) {
  std::string out;
  PutFixed32(&out, v);
  return out;
}
std::string Fixed64(uint64_t v) {
  std::string out;
  PutFixed64(&out, v);
  return out;
}

TEST(RangeDeletionDamage, WrongEntriesAreCorruption) {
  struct Case {
    std::vector<RawEntry> entries;
    const char* says;
  };
  for (const Case& c :
       {Case{{Raw("c", 5, "b")}, "ends before its begin"},
        Case{{{MakeInternalKey("a", 5, ValueType::kValue), "b"}}, "another type"},
        Case{{{MakeInternalKey("a", 5, ValueType::kDeletion), "b"}}, "another type"},
        Case{{{"short", "b"}}, "damaged"}, Case{{{"", "b"}}, "damaged"},
        Case{{Raw("d", 5, "e"), Raw("b", 5, "c")}, "out of order"}}) {
    MemoryFileSystem fs;
    const Status status = OpenBytes(&fs, TableWith({}, RawBlock(c.entries))).status();
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    EXPECT_NE(status.ToString().find(c.says), std::string::npos) << status.ToString();
    EXPECT_NE(status.ToString().find(kPath), std::string::npos) << status.ToString();
  }
}

// RocksDB's SstFileWriter wrote empty ranges. Its readers skip them.
TEST(RangeDeletionDamage, EmptyRangesAreLeftOut) {
  struct Case {
    std::vector<RawEntry> entries;
    const char* recorded;
    const char* ranges;
  };
  for (const Case& c :
       {Case{{Raw("b", 5, "c"), Raw("d", 6, "d"), Raw("f", 5, "g")}, "\x03", "[b,c)@5 [f,g)@5 "},
        Case{{Raw("d", 5, "d")}, "\x01", ""}}) {
    MemoryFileSystem fs;
    Result<TableReaderPtr> opened = OpenBytes(
        &fs, TableWith({{"rocksdb.num.range-deletions", c.recorded}}, RawBlock(c.entries)));
    ASSERT_OK(opened.status());
    const OpenedTable table(std::move(opened).value());
    EXPECT_EQ(Text(table->ranges()), c.ranges);
    EXPECT_EQ(table->HasRanges(), *c.ranges != '\0');
    EXPECT_OK(table->Verify());
  }
}

// RocksDB before version 8 writes the complete tombstone into each table that it spans.
TEST(RangeDeletionBounds, TombstonesAreCutToTheBoundsOfTheFile) {
  MemoryFileSystem fs;
  static_cast<void>(fs.CreateDir("db"));
  EXPECT_OK(WriteStringToFile(&fs, TableWith({}, RawBlock({Raw("b", 5, "x")})), kPath,
                              Durability::kBuffered));
  const auto covered = [&](const std::string& largest, const KeyComparator& comparator) {
    const Result<TableReaderPtr> opened =
        OpenTable(&fs, kPath,
                  {.comparator = comparator,
                   .smallest = MakeInternalKey("d", 9, ValueType::kValue),
                   .largest = largest});
    if (!opened.ok()) return opened.status().ToString();
    std::string keys;
    for (const char* key : {"b", "c", "d", "e", "k", "k0", "l", "x"}) {
      if ((*opened)->ranges().CoveringSequence(key, kSequenceNumberMax) != 0)
        keys += StrCat(key, " ");
    }
    return keys;
  };
  const KeyComparator bytewise(BytewiseComparator());
  // The file ends before k, with an entry of k, or after the end of the tombstone.
  EXPECT_EQ(covered(MakeInternalKey("k", kSequenceNumberMax, ValueType::kRangeDeletion), bytewise),
            "d e ");
  EXPECT_EQ(covered(MakeInternalKey("k", 3, ValueType::kValue), bytewise), "d e k ");
  EXPECT_EQ(covered(MakeInternalKey("y", 3, ValueType::kValue), bytewise), "d e k k0 l ");
}

TEST(RangeDeletionDamage, TheCountOfThePropertiesIsChecked) {
  const std::string block = RawBlock({Raw("b", 5, "c"), Raw("d", 5, "e")});
  for (const auto& [recorded, accepted] :
       {std::pair("\x02", true), {"\x01", false}, {"\x03", false}}) {
    MemoryFileSystem fs;
    const Result<TableReaderPtr> opened =
        OpenBytes(&fs, TableWith({{"rocksdb.num.range-deletions", recorded}}, block));
    EXPECT_EQ(opened.ok(), accepted) << opened.status().ToString();
    EXPECT_TRUE(opened.ok() || opened.status().IsCorruption()) << opened.status().ToString();
  }
  MemoryFileSystem fs;
  EXPECT_OK(OpenBytes(&fs, TableWith({}, block)).status());  // from a release without the count
}

TEST(RangeDeletionDamage, ATableThatLostItsBlockIsCorrupt) {
  MemoryFileSystem fs;
  std::string bytes =
      TableWith({{"rocksdb.num.range-deletions", "\x01"}}, RawBlock({Raw("b", 5, "c")}));
  const Footer footer = *DecodeFooter(bytes, bytes.size());
  const size_t name = bytes.find("rocksdb.range_del", footer.metaindex.offset);
  bytes[name + 16] = 'x';
  const size_t end = footer.metaindex.offset + footer.metaindex.size;
  EncodeFixed32(bytes.data() + end + 1,
                ComputeBlockChecksum(BlockChecksum::kXxh3, bytes.data() + footer.metaindex.offset,
                                     footer.metaindex.size));
  const Status status = OpenBytes(&fs, bytes).status();
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  EXPECT_NE(status.ToString().find("0 range deletions"), std::string::npos) << status.ToString();
}

TEST(RangeDeletionFormat, OverlapsAndDuplicatesOfOldTablesAreCut) {
  MemoryFileSystem fs;
  Result<TableReaderPtr> opened = OpenBytes(
      &fs, TableWith({}, RawBlock({Raw("a", 9, "m"), Raw("a", 9, "c"), Raw("b", 4, "z")})));
  ASSERT_OK(opened.status());
  const OpenedTable table(std::move(opened).value());
  EXPECT_EQ(Text(table->ranges()), "[a,b)@9 [b,m)@9 4 [m,z)@4 ");
  EXPECT_OK(table->Verify());
}

// A table made for ingestion has one sequence. Its range deletions may be in any order.
TEST(RangeDeletionFormat, AnIngestedTableHasOneSequence) {
  const std::string bytes =
      TableWith({{"rocksdb.external_sst_file.version", Fixed32(2)},
                 {"rocksdb.external_sst_file.global_seqno", Fixed64(0)}},
                RawBlock({Raw("d", 0, "g"), Raw("a", 0, "c"), Raw("b", 0, "e")}));
  MemoryFileSystem fs;
  Result<TableReaderPtr> opened = OpenBytes(&fs, bytes, 50);
  ASSERT_OK(opened.status());
  const OpenedTable table(std::move(opened).value());
  EXPECT_EQ(Text(table->ranges()), "[a,g)@50 ");
  EXPECT_EQ(table->ranges().CoveringSequence("k5", 60), 0u);
  EXPECT_OK(table->Verify());
}

// Returns a block of entries, each nested in the one before it.
std::string NestedBlock(size_t count, size_t end_bytes) {
  std::vector<RawEntry> entries;
  for (size_t i = 0; i < count; ++i) {
    const std::string end = std::string(end_bytes, 'y') + std::to_string(200000 - i);
    entries.push_back(Raw(("b" + std::to_string(100000 + i)).c_str(), i + 1, end.c_str()));
  }
  return RawBlock(entries);
}

// The fragments of n nested tombstones have n * n sequences in total.
TEST(RangeDeletionDamage, ASmallBlockDoesNotTakeAllMemory) {
  MemoryFileSystem fs;
  Result<TableReaderPtr> modest = OpenBytes(&fs, TableWith({}, NestedBlock(1000, 1)));
  ASSERT_OK(modest.status());
  const OpenedTable table(std::move(modest).value());
  EXPECT_EQ(table->ranges().tombstones(), 1000u * 1000);

  // The long keys take as many steps as 9,000 short ones would.
  const Status status = OpenBytes(&fs, TableWith({}, NestedBlock(800, 16384))).status();
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  EXPECT_NE(status.ToString().find("overlap"), std::string::npos) << status.ToString();
}

TEST(RangeDeletionDamage, HostileBytesWithRightChecksumsDoNoHarm) {
  const std::string block =
      RawBlock({Raw("b", 9, "m"), Raw("b", 4, "m"), Raw("longer/begin", 4, "longer/end")});
  constexpr char kNasty[] = {'\x00', '\x01', '\x0f', '\x7f', '\x80', '\xff'};
  size_t refused = 0;
  for (size_t at = 0; at < block.size(); ++at) {
    for (const char nasty : kNasty) {
      std::string hostile = block;
      hostile[at] = nasty;
      MemoryFileSystem fs;
      Result<TableReaderPtr> opened =
          OpenBytes(&fs, TableWith({{"rocksdb.num.range-deletions", "\x03"}}, hostile));
      if (!opened.ok()) {
        ++refused;
        EXPECT_TRUE(opened.status().IsCorruption() || opened.status().IsNotSupported())
            << opened.status().ToString();
        continue;
      }
      const OpenedTable table(std::move(opened).value());
      EXPECT_OK(table->Verify());
      table->ranges().CheckInvariants();
    }
  }
  EXPECT_GT(refused, block.size());
}

}  // namespace
}  // namespace ashlar::test
