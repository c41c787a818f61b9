// Compares tables that are written and read back with a map.
#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "ashlar/vfs.h"
#include "table/blockbased/table_cursor.h"
#include "table/blockbased/table_test_kit.h"
#include "table/table_properties.h"
#include "tests/support/comparators.h"
#include "tests/support/test_epochs.h"

namespace ashlar::test {
namespace {

struct Walk {
  std::vector<std::pair<std::string, std::string>> entries;
  Status status;
};

Walk WalkForwards(InternalCursor* cursor) {
  Walk walk;
  for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next())
    walk.entries.emplace_back(cursor->key().ToString(), cursor->value().ToString());
  walk.status = cursor->status();
  return walk;
}
Walk WalkBackwards(InternalCursor* cursor) {
  Walk walk;
  for (cursor->SeekToLast(); cursor->Valid(); cursor->Prev())
    walk.entries.emplace_back(cursor->key().ToString(), cursor->value().ToString());
  walk.status = cursor->status();
  std::reverse(walk.entries.begin(), walk.entries.end());
  return walk;
}

std::vector<std::pair<std::string, std::string>> AsVector(const Entries& entries) {
  return {entries.begin(), entries.end()};
}

void ExpectAt(InternalCursor* cursor, const Entries& entries, Entries::const_iterator expected,
              const char* what) {
  ASSERT_OK(cursor->status());
  ASSERT_EQ(cursor->Valid(), expected != entries.end()) << what;
  if (!cursor->Valid()) return;
  ASSERT_EQ(cursor->key().ToString(true), Slice(expected->first).ToString(true)) << what;
  ASSERT_EQ(cursor->value().ToString(), expected->second) << what;
  // The decoded neighbours of the entry.
  if (const CursorEntry* const before = cursor->before(); before != nullptr) {
    ASSERT_NE(expected, entries.begin());
    ASSERT_EQ(before->key, Slice(std::prev(expected)->first)) << what;
    ASSERT_EQ(before->value, Slice(std::prev(expected)->second)) << what;
  }
  if (const CursorEntry* const after = cursor->after(); after != nullptr) {
    ASSERT_NE(std::next(expected), entries.end());
    ASSERT_EQ(after->key, Slice(std::next(expected)->first)) << what;
    ASSERT_EQ(after->value, Slice(std::next(expected)->second)) << what;
  }
}

// Compares random moves of one cursor with an iterator of the map.
void ExpectSameMoves(InternalCursor* cursor, const Entries& entries, Random* random, int moves) {
  auto at = entries.end();
  std::vector<std::string> keys;
  for (const auto& entry : entries) keys.push_back(entry.first);
  uint64_t repeat = 0;
  uint64_t move = 0;
  for (int i = 0; i < moves; ++i) {
    // A run of equal steps may be as long as several batches.
    move = repeat > 0 ? move : random->Uniform(8);
    repeat = repeat > 0 ? repeat - 1 : (move < 3 ? 0 : random->Skewed(6));
    std::string target = random->OneIn(5)
                             ? MakeInternalKey(random->Bytes(random->Uniform(6)),
                                               random->Uniform(1000), ValueType::kValue)
                             : keys[random->Uniform(keys.size())];
    if (random->OneIn(3))
      target = MakeInternalKey(ExtractUserKey(target), random->Uniform(5000), ValueType::kMax);
    switch (move) {
      case 0:
        cursor->Seek(target);
        at = entries.lower_bound(target);
        break;
      case 1: {
        cursor->SeekForPrev(target);
        at = entries.upper_bound(target);
        at = at == entries.begin() ? entries.end() : std::prev(at);
        break;
      }
      case 2:
        random->OneIn(2) ? cursor->SeekToFirst() : cursor->SeekToLast();
        if (cursor->Valid()) at = entries.find(cursor->key().ToString());
        ASSERT_TRUE(at == entries.begin() || at == std::prev(entries.end()));
        break;
      case 3:
      case 4:
      case 5:
        if (at == entries.end()) continue;
        cursor->Next();
        ++at;
        break;
      default:
        if (at == entries.end()) continue;
        cursor->Prev();
        at = at == entries.begin() ? entries.end() : std::prev(at);
        break;
    }
    ASSERT_NO_FATAL_FAILURE(ExpectAt(cursor, entries, at, "move"));
    if (cursor->Valid()) static_cast<const TableCursor*>(cursor)->CheckInvariants();
  }
}

void ExpectSameGets(TableReader* table, const TableReadOptions& options, const Entries& entries,
                    const KeyComparator& comparator, Random* random) {
  std::set<std::string> user_keys;
  for (const auto& entry : entries) user_keys.insert(ExtractUserKey(entry.first).ToString());
  for (const std::string& key : user_keys) {
    const SequenceNumber snapshot =
        random->OneIn(2) ? kSequenceNumberMax : random->Uniform(entries.size() * 2);
    ASSERT_EQ(GetText(table, options, key, snapshot), ModelText(entries, comparator, key, snapshot))
        << Slice(key).ToString(true) << " at " << snapshot;
  }
  for (int i = 0; i < 200; ++i) {
    std::string key = random->OneIn(2) ? random->Bytes(random->Uniform(20))
                                       : *std::next(user_keys.begin(),
                                                    static_cast<long>(random->Uniform(
                                                        std::min<size_t>(user_keys.size(), 50))));
    if (random->OneIn(2)) key.append(random->Bytes(1 + random->Uniform(3)));
    ASSERT_EQ(GetText(table, options, key, kSequenceNumberMax),
              ModelText(entries, comparator, key, kSequenceNumberMax))
        << Slice(key).ToString(true);
  }
}

TableSpec RandomSpec(const KeyComparator& comparator, Random* random) {
  TableSpec spec;
  spec.comparator = comparator;
  constexpr CompressionType kTypes[] = {
      kNoCompression,    kNoCompression, kSnappyCompression, kZlibCompression, kLZ4Compression,
      kLZ4HCCompression, kZSTD};
  spec.compression = kTypes[random->Uniform(std::size(kTypes))];
  BlockBasedTableConfig& config = spec.config;
  config.block_bytes = 1 + random->Skewed(14);
  config.restart_interval = static_cast<int>(1 + random->Uniform(20));
  config.index_restart_interval = static_cast<int>(1 + random->Uniform(5));
  config.format_version = static_cast<uint32_t>(2 + random->Uniform(4));
  config.checksum = static_cast<BlockChecksum>(random->Uniform(5));
  config.key_delta_encoding = !random->OneIn(5);
  config.index_shortening = static_cast<IndexShortening>(random->Uniform(3));
  config.filter_millibits_per_key =
      random->OneIn(3) ? 0 : static_cast<int>(1000 + random->Uniform(20000));
  if (random->OneIn(3)) return spec;
  // A prefix extractor requires keys with one prefix to be adjacent, which not every order ensures.
  const TableLayout& layout = kTableLayouts[random->Uniform(std::size(kTableLayouts))];
  TableSpec with_layout = spec;
  layout.set(&with_layout);
  return with_layout.prefix_extractor == nullptr ||
                 comparator.kind() == KeyComparator::Kind::kBytewise
             ? with_layout
             : spec;
}

TEST(TableRoundTrip, AnyOptionsAnyKeysAnyOrder) {
  for (uint64_t seed = 1; seed <= 90; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    for (const NamedComparator& named : TestComparators()) {
      SCOPED_TRACE(named.name);
      const KeyComparator comparator(named.comparator);
      const TableSpec spec = RandomSpec(comparator, &random);
      const EntriesSpec entries_spec{.kind = kKeyKinds[random.Uniform(std::size(kKeyKinds))],
                                     .keys = 1 + random.Skewed(10),
                                     .versions_max = 1 + random.Skewed(5),
                                     .value_bytes_max = 1 + random.Skewed(8)};
      const Entries entries = MakeEntries(comparator, entries_spec, &random);
      MemoryFileSystem fs;
      TableWriteResult result;
      ASSERT_OK(WriteTable(&fs, "t.sst", spec, entries, &result));
      EXPECT_EQ(result.smallest, entries.begin()->first);
      EXPECT_EQ(result.largest, entries.rbegin()->first);
      EXPECT_EQ(result.properties.num_entries, entries.size());

      const auto cache = std::make_shared<BlockCache>(random.OneIn(2) ? 1 << 20 : 2000);
      const bool mmap = random.OneIn(3);
      Result<TableReaderPtr> opened = OpenTable(&fs, "t.sst",
                                                {.comparator = comparator,
                                                 .config = spec.config,
                                                 .cache = random.OneIn(4) ? nullptr : cache,
                                                 .mmap = mmap});
      ASSERT_OK(opened.status());
      {
        const OpenedTable table(std::move(opened).value());
        ASSERT_OK(table->Verify());
        TableReadOptions options;
        options.fill_cache = !random.OneIn(4);
        if (random.OneIn(3)) options.readahead_bytes = 1 + random.Skewed(16);
        ASSERT_NO_FATAL_FAILURE(ExpectSameGets(table.get(), options, entries, comparator, &random));
        const std::unique_ptr<InternalCursor> cursor = table->NewCursor(options);
        const Walk forwards = WalkForwards(cursor.get());
        ASSERT_OK(forwards.status);
        ASSERT_EQ(forwards.entries, AsVector(entries));
        const Walk backwards = WalkBackwards(cursor.get());
        ASSERT_OK(backwards.status);
        ASSERT_EQ(backwards.entries, AsVector(entries));
        ASSERT_NO_FATAL_FAILURE(ExpectSameMoves(cursor.get(), entries, &random, 500));
        cache->CheckInvariants();
        static_cast<const BlockBasedTable*>(table.get())->CheckInvariants();
      }
      EXPECT_EQ(cache->GetUsage(), 0u);
    }
  }
}

// Each layout must also serve its purpose and not only be readable.
TEST(TableRoundTrip, LayoutsAreWritten) {
  const KeyComparator comparator(BytewiseComparator());
  Random random(5);
  Entries entries{InternalOrder{comparator}};
  for (uint64_t i = 0; i < 3000; ++i)
    entries[MakeInternalKey(MakeKey(KeyKind::kDecimal, i * 7, &random), i + 1, ValueType::kValue)] =
        "{name: 'entry', colour: 'blue', serial: " + std::to_string(random.Next()) + "}";
  std::map<std::string, TableWriteResult> results;
  const auto write = [&](const std::string& name, TableSpec spec) {
    MemoryFileSystem fs;
    ASSERT_OK(WriteTable(&fs, "t.sst", spec, entries, &results[name]));
    const auto cache = std::make_shared<BlockCache>(1 << 20);
    Result<TableReaderPtr> opened =
        OpenTable(&fs, "t.sst", {.cache = cache, .prefix_extractor = spec.prefix_extractor});
    ASSERT_OK(opened.status());
    const OpenedTable table(std::move(opened).value());
    ASSERT_OK(table->Verify());
    ASSERT_NO_FATAL_FAILURE(ExpectSameGets(table.get(), {}, entries, comparator, &random));
    const auto cursor = table->NewCursor({});
    ASSERT_EQ(WalkForwards(cursor.get()).entries, AsVector(entries));
  };
  TableSpec plain;
  plain.config.filter_millibits_per_key = 10000;
  plain.config.block_bytes = 1024;
  plain.config.enable_index_compression = false;
  plain.compression = kZSTD;
  write("plain", plain);
  for (const TableLayout& layout : kTableLayouts) {
    SCOPED_TRACE(layout.name);
    TableSpec spec = plain;
    layout.set(&spec);
    ASSERT_NO_FATAL_FAILURE(write(layout.name, spec));
  }
  const TableProperties& whole = results["plain"].properties;
  const TableProperties& partitions = results["partitions"].properties;
  EXPECT_EQ(whole.index_partitions, 0u);
  EXPECT_GT(partitions.index_partitions, 3u);
  EXPECT_GT(partitions.top_level_index_size, 0u);
  EXPECT_LT(partitions.top_level_index_size, partitions.index_size / 2);
  EXPECT_GT(partitions.filter_size, whole.filter_size);
  EXPECT_EQ(partitions.num_filter_entries, whole.num_filter_entries);
  EXPECT_GT(results["first_keys"].properties.index_size, whole.index_size * 3 / 2);
  EXPECT_EQ(results["hash_index"].properties.user_collected_properties[kPropertyIndexType],
            std::string("\1\0\0\0", 4));
  EXPECT_GT(results["hash_in_blocks"].properties.data_size, whole.data_size);
  // About the same false-positive rate with about two thirds of the bytes.
  EXPECT_LT(results["ribbon"].properties.filter_size * 4, whole.filter_size * 3);
  EXPECT_EQ(results["ribbon"].properties.filter_policy_name, "ribbonfilter");
  for (const char* const name : {"dictionary", "trained_dictionary", "finalized_dictionary"})
    EXPECT_LT(results[name].properties.data_size, whole.data_size * 9 / 10) << name;
  EXPECT_EQ(results["aligned"].properties.data_size % 1024, 0u);
  EXPECT_EQ(results["aligned"].properties.data_size,
            results["aligned"].properties.num_data_blocks * 1024);
}

TEST(TableRoundTrip, PartitionedFiltersFindEveryPrefixFromEverySeek) {
  const KeyComparator comparator(BytewiseComparator());
  for (const bool whole_keys : {false, true}) {
    TableSpec spec;
    spec.prefix_extractor.reset(NewFixedPrefixTransform(5));
    spec.config.whole_key_filtering = whole_keys;
    spec.config.filter_millibits_per_key = 20000;
    spec.config.index_kind = IndexKind::kTwoLevel;
    spec.config.partition_filters = true;
    spec.config.partition_bytes = 20;
    spec.config.block_bytes = 100;
    Entries entries{InternalOrder{comparator}};
    for (int i = 0; i < 3000; ++i)
      entries[MakeInternalKey(std::to_string(10000 + i / 7 * 2) + std::to_string(i % 7), 5,
                              ValueType::kValue)] = "v";
    MemoryFileSystem fs;
    TableWriteResult result;
    ASSERT_OK(WriteTable(&fs, "t.sst", spec, entries, &result));
    Result<TableReaderPtr> opened =
        OpenTable(&fs, "t.sst", {.prefix_extractor = spec.prefix_extractor});
    ASSERT_OK(opened.status());
    const OpenedTable table(std::move(opened).value());
    size_t absent_that_match = 0;
    for (int prefix = 10000; prefix < 10000 + 3000 / 7 * 2; ++prefix) {
      for (const char* const rest : {"", "3", "9"}) {
        for (const bool forward : {true, false}) {
          const std::string user_key = std::to_string(prefix) + rest;
          const std::string target = MakeInternalKey(user_key, kSequenceNumberMax, ValueType::kMax);
          SeekPrefix seek({.comparator = comparator, .transform = spec.prefix_extractor.get()});
          seek.SetScope(SeekScope::kPrefix);
          seek.Begin(user_key, forward);
          const bool may_match = table->MayMatch(&seek, target);
          if (prefix % 2 == 0) {
            ASSERT_TRUE(may_match) << user_key;
          } else {
            absent_that_match += may_match ? 1u : 0u;
          }
        }
      }
    }
    EXPECT_LT(absent_that_match, 100u);
    for (const auto& entry : entries)
      ASSERT_EQ(GetText(table.get(), {}, ExtractUserKey(entry.first), 9), "v");
  }
}

TEST(TableRoundTrip, AnIndexTooLargeForABlockIsPartitionedAndSuchAFilterLeftOut) {
  for (const IndexKind kind :
       {IndexKind::kBinary, IndexKind::kHash, IndexKind::kBinaryWithFirstKey}) {
    SCOPED_TRACE(static_cast<int>(kind));
    TableSpec spec;
    spec.prefix_extractor.reset(NewFixedPrefixTransform(3));
    spec.config.filter_millibits_per_key = 20000;
    spec.config.index_kind = kind;
    spec.config.block_bytes = 100;
    Entries entries{InternalOrder{spec.comparator}};
    for (int i = 0; i < 100000; ++i)
      entries[MakeInternalKey(std::to_string(100000 + i), 5, ValueType::kValue)] = "v";
    MemoryFileSystem fs;
    TableWriteResult whole;
    ASSERT_OK(WriteTable(&fs, "whole.sst", spec, entries, &whole));
    spec.config.meta_block_bytes_max = 128 << 10;
    TableWriteResult result;
    ASSERT_OK(WriteTable(&fs, "t.sst", spec, entries, &result));
    ASSERT_GT(whole.properties.index_size, spec.config.meta_block_bytes_max);
    ASSERT_GT(whole.properties.filter_size, spec.config.meta_block_bytes_max);
    EXPECT_EQ(result.properties.user_collected_properties[kPropertyIndexType],
              std::string("\2\0\0\0", 4));
    EXPECT_GT(result.properties.index_partitions, 100u);
    EXPECT_LT(result.properties.top_level_index_size, spec.config.meta_block_bytes_max);
    EXPECT_EQ(result.properties.num_filter_entries, 0u);
    EXPECT_EQ(result.properties.filter_size, 0u);
    Result<TableReaderPtr> opened =
        OpenTable(&fs, "t.sst", {.prefix_extractor = spec.prefix_extractor});
    ASSERT_OK(opened.status());
    const OpenedTable table(std::move(opened).value());
    ASSERT_OK(table->Verify());
    for (const auto& entry : entries)
      ASSERT_EQ(GetText(table.get(), {}, ExtractUserKey(entry.first), 9), "v");
  }
}

TEST(TableRoundTrip, TheBlockOverTheSmallestPartitionsFitsABlock) {
  TableSpec spec;
  spec.config.index_kind = IndexKind::kTwoLevel;
  spec.config.partition_bytes = 1;
  spec.config.block_bytes = 100;
  Entries entries{InternalOrder{spec.comparator}};
  for (int i = 0; i < 100000; ++i)
    entries[MakeInternalKey(std::to_string(100000 + i), 5, ValueType::kValue)] = "v";
  MemoryFileSystem fs;
  TableWriteResult whole;
  ASSERT_OK(WriteTable(&fs, "whole.sst", spec, entries, &whole));
  spec.config.meta_block_bytes_max = 128 << 10;
  TableWriteResult result;
  ASSERT_OK(WriteTable(&fs, "t.sst", spec, entries, &result));
  ASSERT_GT(whole.properties.top_level_index_size, spec.config.meta_block_bytes_max);
  EXPECT_LT(result.properties.top_level_index_size, spec.config.meta_block_bytes_max);
  EXPECT_LT(result.properties.index_partitions, whole.properties.index_partitions);
  Result<TableReaderPtr> opened = OpenTable(&fs, "t.sst", {});
  ASSERT_OK(opened.status());
  const OpenedTable table(std::move(opened).value());
  ASSERT_OK(table->Verify());
  for (const auto& entry : entries)
    ASSERT_EQ(GetText(table.get(), {}, ExtractUserKey(entry.first), 9), "v");
}

TEST(TableRoundTrip, EmptyTable) {
  MemoryFileSystem fs;
  const KeyComparator comparator(BytewiseComparator());
  TableWriteResult result;
  for (const TableLayout& layout : kTableLayouts) {
    TableSpec spec;
    spec.compression = kZSTD;
    layout.set(&spec);
    ASSERT_OK(WriteTable(&fs, "e.sst", spec, Entries{InternalOrder{comparator}}, &result));
    Result<TableReaderPtr> empty = OpenTable(&fs, "e.sst", {});
    ASSERT_OK(empty.status()) << layout.name;
    const OpenedTable table(std::move(empty).value());
    ASSERT_OK(table->Verify());
  }
  ASSERT_OK(WriteTable(&fs, "t.sst", {}, Entries{InternalOrder{comparator}}, &result));
  EXPECT_TRUE(result.smallest.empty());
  Result<TableReaderPtr> opened = OpenTable(&fs, "t.sst", {});
  ASSERT_OK(opened.status());
  const OpenedTable table(std::move(opened).value());
  ASSERT_OK(table->Verify());
  EXPECT_EQ(GetText(table.get(), {}, "a", 10), "(none)");
  const auto cursor = table->NewCursor({});
  for (int i = 0; i < 4; ++i) {
    if (i == 0) cursor->SeekToFirst();
    if (i == 1) cursor->SeekToLast();
    if (i == 2) cursor->Seek(MakeInternalKey("a", 1, ValueType::kValue));
    if (i == 3) cursor->SeekForPrev(MakeInternalKey("a", 1, ValueType::kValue));
    EXPECT_FALSE(cursor->Valid());
    EXPECT_OK(cursor->status());
  }
}

TEST(TableRoundTrip, ManyVersionsOfOneKeySpanBlocks) {
  const KeyComparator comparator(BytewiseComparator());
  Entries entries{InternalOrder{comparator}};
  for (SequenceNumber s = 1; s <= 2000; ++s)
    entries[MakeInternalKey("hot", s, ValueType::kValue)] = "v" + std::to_string(s);
  entries[MakeInternalKey("cold", 5, ValueType::kValue)] = "c";
  entries[MakeInternalKey("hor", 5, ValueType::kValue)] = "h";
  entries[MakeInternalKey("warm", 6, ValueType::kValue)] = "w";
  for (const uint32_t version : {2u, 5u}) {
    TableSpec spec;
    spec.config.block_bytes = 256;
    spec.config.format_version = version;
    MemoryFileSystem fs;
    TableWriteResult result;
    ASSERT_OK(WriteTable(&fs, "t.sst", spec, entries, &result));
    EXPECT_EQ(result.properties.index_key_is_user_key, 0u);
    const auto cache = std::make_shared<BlockCache>(1 << 20);
    for (const auto& used : {cache, std::shared_ptr<BlockCache>()}) {
      SCOPED_TRACE(used == nullptr ? "without a cache" : "with a cache");
      Result<TableReaderPtr> opened = OpenTable(&fs, "t.sst", {.cache = used});
      ASSERT_OK(opened.status());
      const OpenedTable table(std::move(opened).value());
      for (SequenceNumber s = 0; s <= 2001; ++s) {
        ASSERT_EQ(GetText(table.get(), {}, "hot", s), ModelText(entries, comparator, "hot", s))
            << s;
      }
      for (const char* const key : {"warm", "hor", "cold", "hos", "hou"}) {
        EXPECT_EQ(GetText(table.get(), {}, key, 10), ModelText(entries, comparator, key, 10))
            << key;
      }
    }
  }
}

// RocksDB before 6.6 reads versions 2 to 4. It would take a newer kind of filter with these 24
// lines for a legacy filter of 1,536 lines of one byte, which contains none of the keys.
TEST(TableRoundTrip, FiltersOfOldVersionsAreLegacyOnes) {
  const KeyComparator comparator(BytewiseComparator());
  Entries entries{InternalOrder{comparator}};
  for (int i = 0; i < 1200; ++i)
    entries[MakeInternalKey("k" + std::to_string(1000 + i), 1, ValueType::kValue)] = "v";
  for (const uint32_t version : {2u, 3u, 4u, 5u}) {
    SCOPED_TRACE(version);
    TableSpec spec;
    spec.config.format_version = version;
    spec.config.filter_millibits_per_key = 10000;
    MemoryFileSystem fs;
    TableWriteResult result;
    ASSERT_OK(WriteTable(&fs, "t.sst", spec, entries, &result));
    const Result<std::string> file = ReadFileToString(&fs, "t.sst", 1 << 24);
    ASSERT_OK(file.status());
    const size_t end =
        static_cast<size_t>(result.properties.data_size + result.properties.filter_size);
    ASSERT_LT(end, file->size());
    const std::string tail = file->substr(end - 5, 5);
    EXPECT_EQ(Slice(tail).ToString(true), version < 5 ? "0619000000" : "FF00060000");
    Result<TableReaderPtr> opened = OpenTable(&fs, "t.sst", {.mmap = false});
    ASSERT_OK(opened.status());
    const OpenedTable table(std::move(opened).value());
    for (int i = 0; i < 1200; ++i)
      ASSERT_EQ(GetText(table.get(), {}, "k" + std::to_string(1000 + i), 1), "v") << i;
  }
}

TEST(TableRoundTrip, MergeOperandsAreOfferedOldestLast) {
  const KeyComparator comparator(BytewiseComparator());
  Entries entries{InternalOrder{comparator}};
  for (SequenceNumber s = 1; s <= 50; ++s)
    entries[MakeInternalKey("k", s, s == 1 ? ValueType::kValue : ValueType::kMerge)] =
        std::to_string(s);
  TableSpec spec;
  spec.config.block_bytes = 64;
  MemoryFileSystem fs;
  TableWriteResult result;
  ASSERT_OK(WriteTable(&fs, "t.sst", spec, entries, &result));
  EXPECT_EQ(result.properties.num_merge_operands, 49u);
  Result<TableReaderPtr> opened = OpenTable(&fs, "t.sst", {});
  ASSERT_OK(opened.status());
  const OpenedTable table(std::move(opened).value());
  const EpochGuard guard(TestEpochs());
  Lookup lookup({.user_key = "k"});
  table->Get({}, &lookup);
  EXPECT_EQ(lookup.state(),
            Lookup::State::kFound);  // every operand was taken before the value below them
}

TEST(TableRoundTrip, ValuesArePinnedInPlace) {
  const KeyComparator comparator(BytewiseComparator());
  Random random(1);
  const Entries entries = MakeEntries(comparator, {.keys = 500, .value_bytes_max = 200}, &random);
  MemoryFileSystem fs;
  TableWriteResult result;
  ASSERT_OK(WriteTable(&fs, "t.sst", {}, entries, &result));
  for (const bool mmap : {false, true}) {
    const auto cache = std::make_shared<BlockCache>(1 << 20);
    std::vector<PinnableSlice> pinned;
    std::vector<std::string> expected;
    {
      Result<TableReaderPtr> opened = OpenTable(&fs, "t.sst", {.cache = cache, .mmap = mmap});
      ASSERT_OK(opened.status());
      const OpenedTable table(std::move(opened).value());
      for (const auto& [key, value] : entries) {
        if (ExtractType(key) != ValueType::kValue) continue;
        const EpochGuard guard(TestEpochs());
        Lookup lookup({.user_key = ExtractUserKey(key)});
        table->Get({}, &lookup);
        PinnableSlice slice;
        ASSERT_OK(lookup.Finish(&slice));
        EXPECT_TRUE(slice.IsPinned());
        pinned.push_back(std::move(slice));
        expected.push_back(value);
      }
      EXPECT_GT(mmap ? table->Refs() : static_cast<int64_t>(cache->GetPinnedUsage()), 0);
    }
    // The table is closed, but its values are still valid.
    cache->EraseUnRefEntries();
    for (size_t i = 0; i < pinned.size(); ++i) ASSERT_EQ(pinned[i].ToString(), expected[i]);
    pinned.clear();
    SettleEpochs();
    EXPECT_EQ(cache->GetUsage(), 0u);
  }
}

TEST(TableRoundTrip, CachedOnlyReadsNothing) {
  const KeyComparator comparator(BytewiseComparator());
  Random random(2);
  const Entries entries = MakeEntries(comparator, {.keys = 200}, &random);
  MemoryFileSystem fs;
  TableWriteResult result;
  ASSERT_OK(WriteTable(&fs, "t.sst", {}, entries, &result));
  const auto cache = std::make_shared<BlockCache>(1 << 20);
  Result<TableReaderPtr> opened = OpenTable(&fs, "t.sst", {.cache = cache});
  ASSERT_OK(opened.status());
  const OpenedTable table(std::move(opened).value());
  TableReadOptions cached_only;
  cached_only.cached_only = true;
  const std::string key = ExtractUserKey(entries.begin()->first).ToString();
  EXPECT_NE(GetText(table.get(), cached_only, key, kSequenceNumberMax).find("not in the cache"),
            std::string::npos);
  const auto cursor = table->NewCursor(cached_only);
  cursor->SeekToFirst();
  EXPECT_FALSE(cursor->Valid());
  EXPECT_TRUE(cursor->status().IsIncomplete());
  const std::string there = GetText(table.get(), {}, key, kSequenceNumberMax);
  EXPECT_EQ(GetText(table.get(), cached_only, key, kSequenceNumberMax), there);
  cursor->SeekToFirst();
  EXPECT_TRUE(cursor->Valid());
}

// A closing table empties its cache slots, perhaps when no family uses the cache any more.
TEST(TableRoundTrip, ATableKeepsItsCache) {
  const KeyComparator comparator(BytewiseComparator());
  Random random(4);
  MemoryFileSystem fs;
  TableWriteResult result;
  ASSERT_OK(WriteTable(&fs, "t.sst", {}, MakeEntries(comparator, {.keys = 20}, &random), &result));
  auto cache = std::make_shared<BlockCache>(1 << 20);
  const std::weak_ptr<BlockCache> kept = cache;
  {
    Result<TableReaderPtr> opened = OpenTable(&fs, "t.sst", {.cache = std::move(cache)});
    ASSERT_OK(opened.status());
    const OpenedTable table(std::move(opened).value());
    EXPECT_FALSE(kept.expired());
  }
  EXPECT_TRUE(kept.expired());
}

// The memory of an open table is charged to the cache exactly once, as long as the table is open.
TEST(TableRoundTrip, OpenTablesAreChargedToTheCache) {
  Random random(4);
  MemoryFileSystem fs;
  TableSpec spec;
  TableWriteResult written;
  ASSERT_OK(WriteTable(&fs, "t.sst", spec, MakeEntries(spec.comparator, {.keys = 500}, &random),
                       &written));
  for (const bool readers : {false, true}) {
    for (const bool blocks : {false, true}) {
      SCOPED_TRACE(std::string(readers ? "readers " : "") + (blocks ? "blocks" : ""));
      OpenSpec open{.config = spec.config, .cache = std::make_shared<BlockCache>(1 << 20)};
      open.config.charge_table_readers = readers;
      open.config.cache_index_and_filter_blocks = blocks;
      const size_t before = open.cache->GetUsage();
      {
        Result<TableReaderPtr> opened = OpenTable(&fs, "t.sst", open);
        ASSERT_OK(opened.status());
        const OpenedTable table(std::move(opened).value());
        EXPECT_GT(table->MemoryBytes(), 0u);
        EXPECT_EQ(open.cache->GetUsage() - before, readers || blocks ? table->MemoryBytes() : 0);
      }
      EXPECT_EQ(open.cache->GetUsage(), before);
    }
  }
}

TEST(TableRoundTrip, AStrictCacheWithoutRoomOpensNoChargedTable) {
  Random random(5);
  MemoryFileSystem fs;
  TableSpec spec;
  TableWriteResult written;
  ASSERT_OK(WriteTable(&fs, "t.sst", spec, MakeEntries(spec.comparator, {.keys = 500}, &random),
                       &written));
  for (const bool strict : {false, true}) {
    for (const bool readers : {false, true}) {
      OpenSpec open{.config = spec.config, .cache = std::make_shared<BlockCache>(100)};
      open.cache->SetStrictCapacityLimit(strict);
      const size_t before = open.cache->GetUsage();
      open.config.charge_table_readers = readers;
      open.config.cache_index_and_filter_blocks = !readers;
      Result<TableReaderPtr> opened = OpenTable(&fs, "t.sst", open);
      EXPECT_EQ(opened.ok(), !strict || !readers) << opened.status().ToString();
      if (opened.ok()) {
        const OpenedTable table(std::move(opened).value());
        EXPECT_EQ(open.cache->GetUsage(), before);
      } else {
        EXPECT_TRUE(opened.status().IsMemoryLimit());
        EXPECT_NE(opened.status().ToString().find("t.sst"), std::string::npos);
      }
    }
  }
}

TEST(TableRoundTrip, OffsetsAndAnchorsAreMonotone) {
  for (const NamedComparator& named : TestComparators()) {
    const KeyComparator comparator(named.comparator);
    Random random(3);
    const Entries entries =
        MakeEntries(comparator, {.kind = KeyKind::kHashLike, .keys = 3000}, &random);
    TableSpec spec;
    spec.comparator = comparator;
    MemoryFileSystem fs;
    TableWriteResult result;
    ASSERT_OK(WriteTable(&fs, "t.sst", spec, entries, &result));
    Result<TableReaderPtr> opened = OpenTable(&fs, "t.sst", {.comparator = comparator});
    ASSERT_OK(opened.status());
    const OpenedTable table(std::move(opened).value());
    uint64_t previous = 0;
    for (const auto& entry : entries) {
      const uint64_t offset = table->ApproximateOffsetOf(entry.first);
      ASSERT_GE(offset, previous);
      ASSERT_LT(offset, result.file_bytes);
      previous = offset;
    }
    const std::vector<std::string> anchors = table->Anchors(4);
    ASSERT_EQ(anchors.size(), 3u);
    for (size_t i = 0; i < anchors.size(); ++i) {
      const double share = static_cast<double>(table->ApproximateOffsetOf(anchors[i])) /
                           static_cast<double>(result.file_bytes);
      EXPECT_NEAR(share, 0.25 * static_cast<double>(i + 1), 0.1);
      if (i > 0) {
        EXPECT_LT(comparator.CompareInternal(anchors[i - 1], anchors[i]), 0);
      }
    }
  }
}

TEST(TableRoundTrip, AnotherComparatorIsRefused) {
  MemoryFileSystem fs;
  const KeyComparator comparator(BytewiseComparator());
  Random random(4);
  TableWriteResult result;
  ASSERT_OK(WriteTable(&fs, "t.sst", {}, MakeEntries(comparator, {.keys = 10}, &random), &result));
  const Result<TableReaderPtr> opened =
      OpenTable(&fs, "t.sst", {.comparator = KeyComparator(ReverseBytewiseComparator())});
  EXPECT_TRUE(opened.status().IsInvalidArgument());
  EXPECT_NE(opened.status().ToString().find("leveldb.BytewiseComparator"), std::string::npos);
}

TEST(TableBuilder, ReportsWhatItWrote) {
  const KeyComparator comparator(BytewiseComparator());
  Entries entries{InternalOrder{comparator}};
  entries[MakeInternalKey("a", 9, ValueType::kValue)] = "12345";
  entries[MakeInternalKey("b", 3, ValueType::kDeletion)] = "";
  entries[MakeInternalKey("c", 4, ValueType::kSingleDeletion)] = "";
  entries[MakeInternalKey("d", 7, ValueType::kMerge)] = "x";
  MemoryFileSystem fs;
  TableSpec spec;
  spec.config.filter_millibits_per_key = 10000;
  TableWriteResult result;
  ASSERT_OK(WriteTable(&fs, "t.sst", spec, entries, &result));
  EXPECT_EQ(result.smallest_sequence, 3u);
  EXPECT_EQ(result.largest_sequence, 9u);
  EXPECT_EQ(result.properties.num_deletions, 2u);
  EXPECT_EQ(result.properties.num_filter_entries, 4u);
  EXPECT_EQ(result.properties.raw_key_size, 36u);
  EXPECT_EQ(result.properties.raw_value_size, 6u);
  uint64_t bytes = 0;
  ASSERT_OK(fs.GetFileSize("t.sst", &bytes));
  EXPECT_EQ(result.file_bytes, bytes);

  Result<TableReaderPtr> opened = OpenTable(&fs, "t.sst", {});
  ASSERT_OK(opened.status());
  const OpenedTable table(std::move(opened).value());
  EXPECT_EQ(table->properties().num_entries, 4u);
  EXPECT_EQ(table->properties().comparator_name, "leveldb.BytewiseComparator");
  EXPECT_EQ(table->properties().column_family_name, "default");
  EXPECT_EQ(table->properties().orig_file_number, 7u);
}

TEST(TableBuilder, CountsTheBlocksThatAreDenseInDeletions) {
  struct Group {
    int deletions;
    size_t key_bytes;
    size_t value_bytes;  // of a put after each deletion, 0 if there is none
  };
  const auto dense_blocks = [](const Group& group) {
    const TableSpec spec;
    Entries entries(InternalOrder{spec.comparator});
    for (int i = 0; i < group.deletions; ++i) {
      std::string key = std::to_string(1000000 + i);
      key.resize(group.key_bytes, 'k');
      entries[MakeInternalKey(key, 5, ValueType::kDeletion)] = "";
      if (group.value_bytes > 0)
        entries[MakeInternalKey(key + "p", 5, ValueType::kValue)] =
            std::string(group.value_bytes, 'v');
    }
    MemoryFileSystem fs;
    TableWriteResult result;
    EXPECT_OK(WriteTable(&fs, "t.sst", spec, entries, &result));
    EXPECT_EQ(result.IsDense(), result.dense_blocks >= 8);
    return std::pair(result.dense_blocks, result.properties.num_data_blocks);
  };
  using Counts = std::pair<uint64_t, uint64_t>;
  EXPECT_EQ(dense_blocks({99, 16, 0}), Counts(0, 1));  // bytes do not make the last block dense
  EXPECT_EQ(dense_blocks({100, 16, 0}), Counts(1, 1));
  const Counts short_keys = dense_blocks({10000, 16, 0});
  EXPECT_GT(short_keys.second, 20u);
  EXPECT_GE(short_keys.first + 1, short_keys.second);
  const Counts long_keys = dense_blocks({500, 400, 0});  // ten per block
  EXPECT_GT(long_keys.second, 20u);
  EXPECT_EQ(long_keys.first + 1, long_keys.second);
  EXPECT_EQ(dense_blocks({1000, 16, 200}).first, 0u);
}

TEST(TableBuilder, RefusesSettingsThatCannotBeWritten) {
  MemoryFileSystem fs;
  std::unique_ptr<vfs::WritableFile> file;
  ASSERT_OK(fs.NewWritableFile("t.sst", {}, &file));
  TableWriteArgs good{
      .file = file.get(), .file_name = "t.sst", .comparator = KeyComparator(BytewiseComparator())};
  ASSERT_OK(TableBuilder::Create(good).status());
  TableWriteArgs bad = good;
  bad.config.format_version = 6;
  EXPECT_TRUE(TableBuilder::Create(bad).status().IsNotSupported());
  bad = good;
  bad.config.restart_interval = 0;
  EXPECT_TRUE(TableBuilder::Create(bad).status().IsInvalidArgument());
  bad = good;
  bad.compression = kBZip2Compression;
  EXPECT_TRUE(TableBuilder::Create(bad).status().IsNotSupported());
  bad = good;
  bad.config.block_align = true;
  bad.config.block_bytes = 5000;
  EXPECT_TRUE(TableBuilder::Create(bad).status().IsInvalidArgument());
  bad = good;
  bad.config.index_kind = IndexKind::kHash;
  EXPECT_TRUE(TableBuilder::Create(bad).status().IsInvalidArgument());
}

// Otherwise a reader would reject the block as hostile.
TEST(TableBuilder, ABlockEndsBeforeItsKeysShareTooMuch) {
  MemoryFileSystem fs;
  std::unique_ptr<vfs::WritableFile> file;
  ASSERT_OK(fs.NewWritableFile("t.sst", {}, &file));
  BlockBasedTableConfig config;
  config.block_bytes = 16 << 20;
  config.restart_interval = 1 << 20;
  auto writer = TableBuilder::Create({.file = file.get(),
                                      .file_name = "t.sst",
                                      .comparator = KeyComparator(BytewiseComparator()),
                                      .config = config});
  ASSERT_OK(writer.status());
  constexpr int kKeys = 1100;
  std::string user_key(1 << 20, 'k');
  for (int i = 0; i < kKeys; ++i) {
    user_key.replace(user_key.size() - 4, 4, std::to_string(1000 + i));
    (*writer)->Add(MakeInternalKey(user_key, 1, ValueType::kValue), "");
  }
  TableWriteResult result;
  ASSERT_OK((*writer)->Finish(&result));
  ASSERT_OK(file->Close());
  EXPECT_EQ(result.properties.num_data_blocks, 2u);
  Result<TableReaderPtr> opened = OpenTable(&fs, "t.sst", {.config = config});
  ASSERT_OK(opened.status());
  const OpenedTable table(std::move(opened).value());
  const std::unique_ptr<InternalCursor> cursor = table->NewCursor({});
  int keys = 0;
  for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) ++keys;
  EXPECT_OK(cursor->status());
  EXPECT_EQ(keys, kKeys);
}

TEST(TableBuilderDeathTest, KeysMustAscend) {
  MemoryFileSystem fs;
  std::unique_ptr<vfs::WritableFile> file;
  ASSERT_OK(fs.NewWritableFile("t.sst", {}, &file));
  auto writer = TableBuilder::Create({.file = file.get(),
                                      .file_name = "t.sst",
                                      .comparator = KeyComparator(BytewiseComparator())});
  ASSERT_OK(writer.status());
  (*writer)->Add(MakeInternalKey("b", 1, ValueType::kValue), "");
  EXPECT_DEATH((*writer)->Add(MakeInternalKey("a", 2, ValueType::kValue), ""), "Ascends");
  EXPECT_DEATH((*writer)->Add(MakeInternalKey("b", 2, ValueType::kValue), ""), "Ascends");
}

}  // namespace
}  // namespace ashlar::test
