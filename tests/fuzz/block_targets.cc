#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/compression.h"
#include "base/format.h"
#include "base/random.h"
#include "ranges/fragmented_ranges.h"
#include "table/block/block_builder.h"
#include "table/block/block_entries.h"
#include "table/block/data_block.h"
#include "table/blockbased/block_index.h"
#include "table/blockbased/index_block_builder.h"
#include "table/blockbased/range_block.h"
#include "table/filter/filter_builder.h"
#include "table/filter/filter_reader.h"
#include "table/table_properties.h"
#include "tests/fuzz/all.h"

namespace ashlar::fuzz {
namespace {

// Bytewise, but under an unknown name, so that blocks have no heads.
class CustomOrder final : public Comparator {
 public:
  const char* Name() const override { return "fuzz.CustomOrder"; }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

KeyComparator ChooseOrder(uint8_t choice) {
  static const CustomOrder custom;
  switch (choice % 3) {
    case 0: return KeyComparator(BytewiseComparator());
    case 1: return KeyComparator(ReverseBytewiseComparator());
    default: return KeyComparator(&custom);
  }
}

// Bytes in an allocation of their own, followed only by the trailer of a block, so that a read
// beyond them is detected.
class Isolated {
 public:
  explicit Isolated(const std::string& bytes, size_t after = kBlockTrailerBytes)
      : n_(bytes.size()), bytes_(new char[bytes.size() + after]()) {
    memcpy(bytes_.get(), bytes.data(), n_);
  }
  Slice slice() const { return Slice(bytes_.get(), n_); }

 private:
  const size_t n_;
  const std::unique_ptr<char[]> bytes_;
};

std::string SeedKey(int i) {
  return StrCat("user/", 100 + i, "/", std::string(static_cast<size_t>(i % 5), 'x'));
}

}  // namespace

// ---- Data blocks.

namespace {

// Returns a block whose second entry is the last one that stores its full key.
std::string BlockOfALongRun() {
  BlockBuilder builder({.restart_interval = 1 << 20});
  std::string previous;
  for (int i = 0; i < 300; ++i) {
    const std::string user_key = i == 0 ? "a" : std::string(20, 'b') + std::to_string(1000 + i);
    const std::string key = MakeInternalKey(user_key, 1, ValueType::kValue);
    builder.Add(key, "v", CommonPrefixBytes(previous, key));
    previous = key;
  }
  return builder.Finish().ToString();
}

}  // namespace

Seeds SeedDataBlocks() {
  Seeds seeds;
  for (const int interval : {1, 4, 16}) {
    for (const bool hash : {false, true}) {
      BlockBuilder builder(
          {.restart_interval = interval, .hash_buckets_per_entry = hash ? 1.33 : 0.0});
      std::string previous;
      for (int i = 0; i < 20; ++i) {
        const std::string key =
            MakeInternalKey(SeedKey(i), static_cast<uint64_t>(100 - i), ValueType::kValue);
        const size_t shared = static_cast<size_t>(
            std::mismatch(previous.begin(), previous.end(), key.begin(), key.end()).first -
            previous.begin());
        builder.Add(key, std::string(static_cast<size_t>(i), 'v'), shared);
        previous = key;
      }
      seeds.push_back(std::string(1, hash ? '\x02' : '\0') + builder.Finish().ToString());
    }
  }
  seeds.push_back(std::string(1, '\0') + BlockBuilder({}).Finish().ToString());
  seeds.push_back(std::string(1, '\0') + BlockOfALongRun());
  seeds.push_back(std::string(1, '\x02') + BlockOfALongRun());
  return seeds;
}

bool RunDataBlock(const std::string& input) {
  if (input.empty()) return false;
  const KeyComparator comparator = ChooseOrder(static_cast<uint8_t>(input[0]));
  const Isolated block(input.substr(1));
  for (BlockEntries entries(block.slice()); entries.Next();) {
  }
  Result<DataBlock*> plain = DataBlock::Create(
      {.contents = block.slice(), .owned = {}, .comparator = comparator, .side_index = false});
  if (!plain.ok()) return false;
  const BlockRef plain_ref(*plain);
  Result<DataBlock*> created =
      DataBlock::Create({.contents = block.slice(), .owned = {}, .comparator = comparator});
  if (!created.ok()) return false;
  const BlockRef ref(*created);
  ref->CheckInvariants(comparator);
  std::vector<std::string> keys;
  bool ascending = true;
  KeyBuffer buffer;
  KeyBuffer walked;
  DataBlock::KeyWalk walk(*ref.get(), 0, &walked);
  for (uint32_t i = 0; i < ref->entries(); ++i) {
    keys.push_back(ref->Key(comparator, i, &buffer).ToString());
    EXPECT_RIGHT(walk.Next() == Slice(keys[i]), "the key of an entry differs from a walk's");
    if (i > 0) ascending &= comparator.CompareInternal(keys[i - 1], keys[i]) < 0;
  }
  for (uint32_t i = 0; i < std::min<uint32_t>(ref->entries(), 64); ++i) {
    const Slice user_key = ExtractUserKey(keys[i]);
    const uint64_t tag = ExtractTag(keys[i]);
    const uint32_t bound = ref->LowerBound(comparator, user_key, tag);
    if (ascending) EXPECT_RIGHT(bound == i, "LowerBound misses an entry");
    uint64_t head = 0;
    uint32_t first = 0;
    const bool found = ref->FindCandidates(comparator, user_key, tag, &head, &first);
    if (ascending)
      EXPECT_RIGHT(found && first <= i && ref->head(i) == head, "FindCandidates misses an entry");
    BlockLayout layout;
    if (ParseBlockLayout(block.slice(), &layout).ok() && layout.entries != layout.entries_end)
      static_cast<void>(FindRestart(layout, comparator, user_key, tag));
  }
  return true;
}

// ---- Index blocks: byte 0 is the coding.

namespace {

IndexCoding CodingOf(uint8_t choice) {
  return {.user_keys = (choice & 1) != 0,
          .delta_values = (choice & 2) != 0,
          .first_keys = (choice & 4) != 0};
}

}  // namespace

Seeds SeedIndexBlocks() {
  Seeds seeds;
  for (uint8_t choice = 0; choice < 8; ++choice) {
    const IndexCoding coding = CodingOf(choice);
    for (const int interval : {1, 8}) {
      IndexBlockBuilder builder(interval, coding.delta_values);
      uint64_t offset = 0;
      for (int i = 0; i < 40; ++i) {
        const std::string internal =
            MakeInternalKey(SeedKey(i), static_cast<uint64_t>(i), ValueType::kValue);
        const BlockHandle handle{offset, 100 + static_cast<uint64_t>(i % 7)};
        const Slice first(internal);
        builder.Add(coding.user_keys ? ExtractUserKey(internal) : Slice(internal), handle,
                    coding.first_keys ? &first : nullptr);
        offset += handle.size + kBlockTrailerBytes;
      }
      seeds.push_back(std::string(1, static_cast<char>(choice)) + builder.Finish().ToString());
    }
  }
  return seeds;
}

bool RunIndexBlock(const std::string& input) {
  constexpr uint64_t kFileBytes = uint64_t{1} << 20;
  if (input.empty()) return false;
  const auto choice = static_cast<uint8_t>(input[0]);
  const IndexCoding coding = CodingOf(choice);
  const KeyComparator comparator = ChooseOrder(choice / 8);
  const Isolated block(input.substr(1), 0);
  BlockIndex index(comparator);
  const Status status = VisitIndexBlock(block.slice(), coding, [&](const IndexBlockEntry& entry) {
    return index.Add(entry, coding.user_keys, kFileBytes);
  });
  index.Seal(true);
  index.CheckInvariants();
  static_cast<void>(index.BlockAtOffset(kFileBytes / 2));
  if (!status.ok() || index.blocks() == 0) return status.ok();
  const uint32_t step = index.blocks() / 64 + 1;
  for (uint32_t i = 0; i < index.blocks(); i += step) {
    const Slice user_key = index.separator_user_key(i);
    const uint64_t tag = index.user_keys() ? 0 : ExtractTag(index.separator(i));
    const uint32_t found = index.Find(user_key, tag);
    EXPECT_RIGHT(found <= i, "Find passes over a separator");
    if (found < i)
      EXPECT_RIGHT(comparator.Compare(index.separator_user_key(found), user_key) >= 0,
                   "Find stops before the key");
  }
  return true;
}

// ---- Range deletion blocks: byte 0 is the order of keys and whether entries are sorted.

Seeds SeedRangeBlocks() {
  Seeds seeds;
  for (const bool ordered : {true, false}) {
    BlockBuilder builder({.restart_interval = 1});
    for (int i = 0; i < 12; ++i) {
      const int place = ordered ? i : (i * 5) % 12;
      builder.Add(MakeInternalKey(SeedKey(place), static_cast<uint64_t>(50 + place),
                                  ValueType::kRangeDeletion),
                  SeedKey(place + 1 + place % 4), 0);
    }
    // Both choices are bytewise.
    seeds.push_back(std::string(1, ordered ? '\0' : '\x42') + builder.Finish().ToString());
  }
  return seeds;
}

bool RunRangeBlock(const std::string& input) {
  if (input.empty()) return false;
  const auto choice = static_cast<uint8_t>(input[0]);
  const KeyComparator comparator = ChooseOrder(choice);
  const Isolated block(input.substr(1), 0);
  Result<RangeBlock> decoded = DecodeRangeBlock(
      block.slice(),
      {.comparator = comparator, .sequence_override = {}, .ordered = (choice & 0x40) == 0});
  if (!decoded.ok()) return false;
  const FragmentedRanges& ranges = decoded->ranges;
  ranges.CheckInvariants();
  // Compares the ranges with the tombstones one by one.
  struct Tombstone {
    std::string begin;
    std::string end;
    SequenceNumber sequence;
  };
  std::vector<Tombstone> tombstones;
  for (BlockEntries entries(block.slice()); entries.Next();)
    tombstones.push_back({ExtractUserKey(entries.key()).ToString(), entries.value().ToString(),
                          ExtractTag(entries.key()) >> 8});
  EXPECT_RIGHT(tombstones.size() == decoded->entries, "the count of entries is wrong");
  const size_t step = tombstones.size() / 32 + 1;
  for (size_t i = 0; i < tombstones.size(); i += step) {
    for (const std::string& key : {tombstones[i].begin, tombstones[i].end}) {
      for (const SequenceNumber visible : {kSequenceNumberMax, tombstones[i].sequence}) {
        SequenceNumber expected = 0;
        for (const Tombstone& each : tombstones) {
          if (each.sequence <= visible && comparator.Compare(each.begin, key) <= 0 &&
              comparator.Compare(key, each.end) < 0)
            expected = std::max(expected, each.sequence);
        }
        EXPECT_RIGHT(ranges.CoveringSequence(key, visible) == expected,
                     "CoveringSequence is not that of the tombstones");
      }
    }
  }
  const std::vector<SequenceNumber> snapshots{10, 55, 60};
  ranges.KeepForSnapshots(snapshots).CheckInvariants();
  if (!tombstones.empty()) {
    const Slice lower(tombstones.front().begin);
    const Slice upper(tombstones.back().end);
    if (comparator.Compare(lower, upper) < 0) ranges.Cut(&lower, &upper).CheckInvariants();
  }
  return true;
}

// ---- Properties.

Seeds SeedProperties() {
  TableProperties properties;
  Seeds seeds{EncodeTableProperties(properties)};
  properties.num_entries = 1000;
  properties.data_size = uint64_t{1} << 40;
  properties.comparator_name = "leveldb.BytewiseComparator";
  properties.column_family_name = "default";
  properties.prefix_extractor_name = "rocksdb.FixedPrefix.4";
  properties.user_collected_properties[kPropertyIndexType] = std::string(4, '\x01');
  properties.user_collected_properties["mine"] = std::string(100, 'p');
  seeds.push_back(EncodeTableProperties(properties));
  return seeds;
}

bool RunProperties(const std::string& input) {
  const Isolated block(input, 0);
  Result<TableProperties> decoded = DecodeTableProperties(block.slice());
  if (!decoded.ok()) return false;
  const UserCollectedProperties texts = TablePropertiesByName(*decoded);
  static_cast<void>(decoded->ToString());
  size_t bytes = 0;
  for (const auto& [name, value] : decoded->user_collected_properties)
    bytes += name.size() + value.size();
  EXPECT_RIGHT(bytes <= (size_t{1} << 20) + 64 * input.size(),
               "properties take much more memory than their block");
  Result<TableProperties> again = DecodeTableProperties(EncodeTableProperties(*decoded));
  EXPECT_RIGHT(again.ok() && TablePropertiesByName(*again) == texts,
               "properties change when they are encoded and decoded");
  return true;
}

// ---- Compressed blocks: type, dictionary bytes / 16, dictionary, stored bytes.

Seeds SeedCompression() {
  Seeds seeds;
  std::string raw;
  for (int i = 0; i < 60; ++i) raw += StrCat("a block of data ", i % 7, " and more of it ");
  const std::string dictionary = raw.substr(0, 160);
  for (const CompressionType type :
       {kSnappyCompression, kZlibCompression, kLZ4Compression, kLZ4HCCompression, kZSTD}) {
    for (const bool with_dictionary : {false, true}) {
      Result<std::unique_ptr<Compressor>> compressor =
          Compressor::Create(type, {}, with_dictionary ? Slice(dictionary) : Slice());
      std::string stored;
      if (!compressor.ok() || !(*compressor)->Compress(raw, &stored)) continue;
      seeds.push_back(
          std::string(1, static_cast<char>(type)) +
          (with_dictionary ? std::string(1, '\x0a') + dictionary : std::string(1, '\0')) + stored);
    }
  }
  seeds.push_back(std::string(1, '\x07') + '\0' + "no codec's bytes");
  return seeds;
}

bool RunCompression(const std::string& input) {
  constexpr size_t kRawBytesMax = size_t{1} << 30;
  Choices choices(input);
  const auto type = static_cast<CompressionType>(choices.Byte());
  const std::string dictionary_bytes = choices.Bytes(size_t{16} * choices.Byte());
  const Isolated stored(choices.Rest(), 0);
  const DecompressionDictionary dictionary(dictionary_bytes);
  const Result<size_t> claimed = type == kNoCompression
                                     ? Result<size_t>(Status::NotSupported(""))
                                     : DecompressedSize(type, stored.slice(), kRawBytesMax);
  if (!claimed.ok()) return false;
  // The densest codec expands four bytes to 128 KiB.
  EXPECT_RIGHT(*claimed <= (stored.slice().size() / 4 + 1) * (size_t{128} << 10),
               "a block claims more than it can hold");
  std::string out;
  if (!Decompress(type, stored.slice(), &dictionary, kRawBytesMax, &out).ok()) return false;
  EXPECT_RIGHT(out.size() == *claimed, "another size than was claimed");
  return true;
}

// ---- Filters.

Seeds SeedFilters() {
  Seeds seeds;
  for (const FilterKind kind :
       {FilterKind::kBloom, FilterKind::kRibbon, FilterKind::kLegacyBloom}) {
    FilterBuilder builder({.kind = kind, .millibits_per_key = 10000});
    for (int i = 0; i < 200; ++i) builder.AddKey(SeedKey(i));
    std::string block(builder.BlockBytesMax(), '\0');
    block.resize(builder.Finish(block.data()));
    seeds.push_back(block);
  }
  // The legacy filter has 64 bytes, 6 probes and one line.
  std::string legacy(64, '\x55');
  legacy.push_back('\x06');
  legacy += std::string("\x01\0\0\0", 4);
  seeds.push_back(legacy);
  return seeds;
}

bool RunFilter(const std::string& input) {
  const Isolated block(input, 0);
  const FilterReader filter(block.slice());
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    const std::string key = SeedKey(i);
    const uint64_t hash = i % 2 == 0 ? FilterHash(key) : random.Next();
    filter.Prefetch(hash);
    EXPECT_RIGHT(filter.MayMatch(hash, key) || !filter.MatchesAll(),
                 "a filter that matches all does not match");
  }
  return !filter.MatchesAll();
}

}  // namespace ashlar::fuzz
