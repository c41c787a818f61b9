#include "table/table_properties.h"

#include <gtest/gtest.h>

#include "base/coding.h"
#include "table/block/block_builder.h"
#include "table/block/block_entries.h"

namespace ashlar {
namespace {

TEST(TableProperties, RoundTripKeepsWhatHasNoField) {
  TableProperties properties;
  properties.num_entries = 300;
  properties.raw_key_size = uint64_t{1} << 40;
  properties.comparator_name = "leveldb.BytewiseComparator";
  properties.compression_name = "ZSTD";
  properties.user_collected_properties["my.property"] = std::string("\x00\xff", 2);
  properties.user_collected_properties["rocksdb.from.the.future"] = "x";
  const Result<TableProperties> decoded = DecodeTableProperties(EncodeTableProperties(properties));
  ASSERT_TRUE(decoded.ok()) << decoded.status().ToString();
  EXPECT_EQ(decoded->num_entries, 300u);
  EXPECT_EQ(decoded->raw_key_size, uint64_t{1} << 40);
  EXPECT_EQ(decoded->comparator_name, properties.comparator_name);
  EXPECT_EQ(decoded->compression_name, "ZSTD");
  EXPECT_EQ(decoded->user_collected_properties, properties.user_collected_properties);
  EXPECT_EQ(TablePropertiesByName(*decoded).at("rocksdb.num.entries"), "300");
}

TEST(TableProperties, SnapshotVersionsAreAbsentDamagedOrCounted) {
  TableProperties properties;
  EXPECT_EQ(SnapshotVersions(properties), 0u);
  RecordSnapshotVersions(300, &properties);
  const Result<TableProperties> decoded = DecodeTableProperties(EncodeTableProperties(properties));
  ASSERT_TRUE(decoded.ok()) << decoded.status().ToString();
  EXPECT_EQ(SnapshotVersions(*decoded), 300u);
  for (const std::string damaged : {"", "\x80", "\x01\x01"}) {
    properties.user_collected_properties["ashlar.snapshot.versions"] = damaged;
    EXPECT_EQ(SnapshotVersions(properties), 0u);
  }
}

TEST(TableProperties, ThoseOfLaterReleasesHaveMembers) {
  TableProperties properties;
  properties.key_smallest_seqno = 0;
  properties.key_largest_seqno = 7;
  properties.tail_start_offset = uint64_t{1} << 33;
  properties.user_defined_timestamps_persisted = 0;
  properties.udi_is_primary_index = 1;
  properties.seqno_to_time_mapping = std::string("\x01\0\x02", 3);
  const Result<TableProperties> decoded = DecodeTableProperties(EncodeTableProperties(properties));
  ASSERT_TRUE(decoded.ok()) << decoded.status().ToString();
  EXPECT_TRUE(decoded->HasKeySmallestSeqno());
  EXPECT_EQ(decoded->key_smallest_seqno, 0u);
  EXPECT_EQ(decoded->key_largest_seqno, 7u);
  EXPECT_EQ(decoded->tail_start_offset, uint64_t{1} << 33);
  EXPECT_EQ(decoded->user_defined_timestamps_persisted, 0u);
  EXPECT_EQ(decoded->udi_is_primary_index, 1u);
  EXPECT_EQ(decoded->seqno_to_time_mapping, properties.seqno_to_time_mapping);
  EXPECT_TRUE(decoded->user_collected_properties.empty());
}

TEST(TableProperties, UnknownOnesAreNotWritten) {
  const std::string block = EncodeTableProperties(TableProperties());
  const Result<TableProperties> decoded = DecodeTableProperties(block);
  ASSERT_TRUE(decoded.ok()) << decoded.status().ToString();
  EXPECT_FALSE(decoded->HasKeySmallestSeqno());
  EXPECT_FALSE(decoded->HasKeyLargestSeqno());
  EXPECT_EQ(decoded->user_defined_timestamps_persisted, 1u);
  for (BlockEntries entries(block); entries.Next();) {
    EXPECT_FALSE(entries.key().ends_with(".seqno")) << entries.key().ToString();
    EXPECT_FALSE(entries.key().ends_with(".persisted")) << entries.key().ToString();
  }
}

std::string Block(std::initializer_list<std::pair<const char*, std::string>> properties) {
  BlockBuilder block({.restart_interval = 1});
  for (const auto& [name, value] : properties) block.Add(name, value, 0);
  return block.Finish().ToString();
}

TEST(TableProperties, DamageIsCorruption) {
  EXPECT_TRUE(DecodeTableProperties("").status().IsCorruption());
  EXPECT_TRUE(DecodeTableProperties(Block({{"b", "1"}, {"a", "2"}})).status().IsCorruption());
  EXPECT_TRUE(DecodeTableProperties(Block({{"a", "1"}, {"a", "2"}})).status().IsCorruption());
  EXPECT_TRUE(
      DecodeTableProperties(Block({{"rocksdb.num.entries", "\x80"}})).status().IsCorruption());
  EXPECT_TRUE(
      DecodeTableProperties(Block({{"rocksdb.num.entries", "\x01\x01"}})).status().IsCorruption());
}

// If 100,000 short entries share a name of 100,000 bytes, their names would take 10 GB.
TEST(TableProperties, NamesThatExpandFarBeyondTheirBlockAreCorruption) {
  BlockBuilder block({.restart_interval = 1 << 30});
  std::string name(100'000, 'n');
  block.Add(name, "", 0);
  for (int i = 0; i < 100'000; ++i) {
    name.resize(100'000);
    name += std::to_string(100'000 + i);
    block.Add(name, "", 100'000);
  }
  const Status status = DecodeTableProperties(block.Finish()).status();
  EXPECT_TRUE(status.IsCorruption());
  EXPECT_NE(status.ToString().find("expand"), std::string::npos) << status.ToString();
}

}  // namespace
}  // namespace ashlar
