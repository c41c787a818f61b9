// Damaged and hostile tables. Every outcome is a Status or the right data, and no read is outside
// the memory of the table.
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "ashlar/vfs.h"
#include "base/coding.h"
#include "base/format.h"
#include "table/block/block_builder.h"
#include "table/block/block_entries.h"
#include "table/blockbased/table_test_kit.h"
#include "tests/support/test_epochs.h"

namespace ashlar::test {
namespace {

constexpr char kPath[] = "db/000007.sst";

struct Sample {
  TableSpec spec;
  Entries entries;
  std::string file;
};

Sample MakeSample(TableSpec spec, size_t keys, uint64_t seed) {
  Random random(seed);
  Sample sample{spec,
                MakeEntries(spec.comparator,
                            {.keys = keys, .versions_max = 2, .value_bytes_max = 40}, &random),
                {}};
  MemoryFileSystem fs;
  TableWriteResult result;
  EXPECT_OK(fs.CreateDir("db"));
  EXPECT_OK(WriteTable(&fs, kPath, spec, sample.entries, &result));
  Result<std::string> file = ReadFileToString(&fs, kPath, 1 << 24);
  EXPECT_OK(file.status());
  sample.file = *file;
  return sample;
}

enum class Outcome { kSame, kRefused, kWrong };

// Opens these bytes as a table and reads everything in every way.
Outcome Read(const std::string& bytes, const Sample& sample, bool mmap, std::string* text) {
  MemoryFileSystem fs;
  EXPECT_OK(fs.CreateDir("db"));
  EXPECT_OK(WriteStringToFile(&fs, bytes, kPath, Durability::kBuffered));
  const auto cache = std::make_shared<BlockCache>(1 << 16);
  Result<TableReaderPtr> opened =
      OpenTable(&fs, kPath, {.comparator = sample.spec.comparator, .cache = cache, .mmap = mmap});
  if (!opened.ok()) {
    *text = opened.status().ToString();
    return Outcome::kRefused;
  }
  const OpenedTable table(std::move(opened).value());
  Outcome outcome = Outcome::kSame;
  const auto refuse = [&](const Status& status) {
    *text = status.ToString();
    if (outcome == Outcome::kSame) outcome = Outcome::kRefused;
  };
  const Status verified = table->Verify();
  if (!verified.ok()) refuse(verified);

  for (const auto& entry : sample.entries) {
    const Slice user_key = ExtractUserKey(entry.first);
    const EpochGuard guard(TestEpochs());
    Lookup lookup({.user_key = user_key});
    table->Get({}, &lookup);
    PinnableSlice value;
    const Status status = lookup.Finish(&value);
    if (!status.ok() && !status.IsNotFound()) {
      refuse(status);
    } else if ((status.ok() ? value.ToString() : "(none)") !=
               ModelText(sample.entries, sample.spec.comparator, user_key, kSequenceNumberMax)) {
      *text = "wrong value";
      outcome = Outcome::kWrong;
    }
  }
  for (const bool forwards : {true, false}) {
    const auto cursor = table->NewCursor(
        {.fill_cache = forwards, .readahead_bytes = forwards ? size_t{0} : size_t{300}});
    size_t seen = 0;
    forwards ? cursor->SeekToFirst() : cursor->SeekToLast();
    for (; cursor->Valid(); forwards ? cursor->Next() : cursor->Prev(), ++seen) {
      // Damage must not make an iteration endless.
      if (seen > 100 * sample.entries.size() + 1000) {
        *text = "endless walk";
        return Outcome::kWrong;
      }
      const auto found = sample.entries.find(cursor->key().ToString());
      if (found == sample.entries.end() || found->second != cursor->value().ToString())
        outcome = Outcome::kWrong;
    }
    if (!cursor->status().ok()) {
      refuse(cursor->status());
    } else if (seen != sample.entries.size()) {
      *text = "wrong number of entries";
      outcome = Outcome::kWrong;
    }
    for (const auto& entry : sample.entries) {
      cursor->Seek(entry.first);
      if (cursor->Valid()) cursor->Prev();
    }
  }
  return outcome;
}

TEST(TableDamage, EveryFlippedByteIsRefusedOrHarmless) {
  for (const BlockChecksum checksum :
       {BlockChecksum::kCrc32c, BlockChecksum::kXxHash64, BlockChecksum::kXxh3}) {
    TableSpec spec;
    spec.config.checksum = checksum;
    spec.config.block_bytes = 200;
    spec.config.filter_millibits_per_key = 10000;
    spec.compression = checksum == BlockChecksum::kCrc32c ? kSnappyCompression : kNoCompression;
    const Sample sample = MakeSample(spec, 25, 1);
    Random random(static_cast<uint64_t>(checksum));
    std::string text;
    ASSERT_EQ(Read(sample.file, sample, false, &text), Outcome::kSame) << text;
    size_t refused = 0;
    for (size_t i = 0; i < sample.file.size(); ++i) {
      std::string damaged = sample.file;
      damaged[i] = static_cast<char>(damaged[i] ^ static_cast<char>(1 + random.Uniform(255)));
      const Outcome outcome = Read(damaged, sample, i % 4 == 0, &text);
      ASSERT_NE(outcome, Outcome::kWrong) << "byte " << i << ": " << text;
      if (outcome == Outcome::kRefused) {
        ++refused;
        ASSERT_NE(text.find(kPath), std::string::npos)
            << "the text does not name the file: " << text;
      }
    }
    // Only the padding of the footer, or a footer whose checksum type is "none", may be harmless.
    EXPECT_GE(refused + 45, sample.file.size());
  }
}

TEST(TableDamage, EveryFlippedByteOfEveryLayoutIsRefusedOrHarmless) {
  for (const TableLayout& layout : kTableLayouts) {
    SCOPED_TRACE(layout.name);
    TableSpec spec;
    spec.config.block_bytes = 150;
    spec.config.filter_millibits_per_key = 10000;
    spec.compression = kZSTD;
    layout.set(&spec);
    if (spec.config.block_align) spec.config.block_bytes = 128;
    const Sample sample = MakeSample(spec, 25, 1);
    Random random(7);
    std::string text;
    ASSERT_EQ(Read(sample.file, sample, false, &text), Outcome::kSame) << text;
    size_t harmless = 0;
    for (size_t i = 0; i < sample.file.size(); ++i) {
      std::string damaged = sample.file;
      damaged[i] = static_cast<char>(damaged[i] ^ static_cast<char>(1 + random.Uniform(255)));
      const Outcome outcome = Read(damaged, sample, i % 4 == 0, &text);
      ASSERT_NE(outcome, Outcome::kWrong) << "byte " << i << ": " << text;
      harmless += outcome == Outcome::kSame ? 1u : 0u;
    }
    // The padding after aligned blocks is harmless, like that of the footer.
    if (!spec.config.block_align) {
      EXPECT_LE(harmless, 45u);
    }
  }
}

TEST(TableDamage, EveryTruncationIsRefused) {
  TableSpec spec;
  spec.config.filter_millibits_per_key = 10000;
  const Sample sample = MakeSample(spec, 20, 2);
  for (size_t n = 0; n < sample.file.size(); ++n) {
    std::string text;
    ASSERT_EQ(Read(sample.file.substr(0, n), sample, n % 2 == 0, &text), Outcome::kRefused) << n;
    ASSERT_NE(text.find(kPath), std::string::npos) << text;
  }
}

constexpr IndexCoding kUsualCoding{.user_keys = true, .delta_values = true};

// Returns the handles of all blocks. They come from the table's own index, because a search that
// verifies a trailer at every offset would be slow. Partitions count as data blocks.
std::vector<BlockHandle> AllBlocks(const std::string& file, const IndexCoding& coding) {
  std::vector<BlockHandle> blocks;
  const Result<Footer> footer = DecodeFooter(file, file.size());
  EXPECT_OK(footer.status());
  blocks.push_back(footer->metaindex);
  blocks.push_back(footer->index);
  BlockEntries meta(Slice(file.data() + footer->metaindex.offset, footer->metaindex.size));
  while (meta.Next()) {
    Slice value = meta.value();
    BlockHandle handle;
    EXPECT_TRUE(GetBlockHandle(&value, &handle));
    blocks.push_back(handle);
  }
  EXPECT_OK(VisitIndexBlock(Slice(file.data() + footer->index.offset, footer->index.size), coding,
                            [&](const IndexBlockEntry& entry) {
                              blocks.push_back(entry.handle);
                              return Status::OK();
                            }));
  return blocks;
}

void RepairChecksum(std::string* file, const BlockHandle& handle, BlockChecksum type,
                    uint32_t base_context) {
  char* const block = file->data() + handle.offset;
  const auto n = static_cast<size_t>(handle.size);
  EncodeFixed32(block + n + 1, ComputeBlockChecksum(type, block, n) +
                                   ChecksumContext(base_context, handle.offset));
}

void ExpectNoHarmFromHostileBytes(TableSpec spec, uint64_t seeds) {
  spec.config.block_bytes = spec.config.block_align ? 256 : 300;
  spec.config.restart_interval = 4;
  spec.config.index_restart_interval = 3;
  spec.config.filter_millibits_per_key = 10000;
  Random setup(77);
  Sample sample{
      spec, MakeEntries(spec.comparator, {.keys = 60, .value_bytes_max = 40}, &setup), {}};
  MemoryFileSystem fs;
  ASSERT_OK(fs.CreateDir("db"));
  TableWriteResult result;
  ASSERT_OK(WriteTable(&fs, kPath, spec, sample.entries, &result));
  sample.file = *ReadFileToString(&fs, kPath, 1 << 24);
  const std::vector<BlockHandle> blocks = AllBlocks(
      sample.file, {.user_keys = true,
                    .delta_values = !spec.config.block_align,
                    .first_keys = spec.config.index_kind == IndexKind::kBinaryWithFirstKey});
  ASSERT_GT(blocks.size(), 4u);
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    std::string hostile = sample.file;
    const BlockHandle& block = blocks[random.Uniform(blocks.size())];
    for (uint64_t changes = 1 + random.Uniform(3); changes > 0; --changes) {
      constexpr char kNasty[] = {'\x00', '\x01', '\x7f', '\x80', '\xff'};
      // The type byte of the trailer may change, too.
      hostile[block.offset + random.Uniform(block.size + 1)] =
          random.OneIn(2) ? kNasty[random.Uniform(5)] : static_cast<char>(random.Next());
    }
    RepairChecksum(&hostile, block, spec.config.checksum, 0);
    std::string text;
    static_cast<void>(Read(hostile, sample, random.OneIn(2),
                           &text));  // must not crash or hang; wrong data cannot be detected
  }
}

TEST(TableDamage, HostileBytesWithRightChecksumsDoNoHarm) {
  ExpectNoHarmFromHostileBytes({}, 3000);
  for (const TableLayout& layout : kTableLayouts) {
    SCOPED_TRACE(layout.name);
    TableSpec spec;
    spec.compression = kLZ4Compression;
    spec.config.enable_index_compression = false;
    layout.set(&spec);
    ASSERT_NO_FATAL_FAILURE(ExpectNoHarmFromHostileBytes(spec, 300));
  }
}

TEST(TableDamage, ImpossibleHandlesAreRefusedBeforeMemoryIsAllocated) {
  const Sample sample = MakeSample({}, 20, 4);
  const size_t footer_at = sample.file.size() - kFooterBytes;
  for (const uint64_t size :
       {uint64_t{1} << 40, ~uint64_t{0}, ~uint64_t{0} - 4, uint64_t{sample.file.size()}}) {
    for (const uint64_t offset :
         {uint64_t{0}, ~uint64_t{0}, ~uint64_t{0} - size, uint64_t{sample.file.size()} - 1}) {
      Footer footer = *DecodeFooter(sample.file, sample.file.size());
      footer.index = {offset, size};
      std::string hostile = sample.file.substr(0, footer_at);
      PutFooter(&hostile, footer);
      std::string text;
      ASSERT_EQ(Read(hostile, sample, false, &text), Outcome::kRefused);
    }
  }
}

// A separator that is larger than keys of the next block directs searches for those keys to the
// block before, which does not contain them.
TEST(TableDamage, ASeparatorOfAnotherBlockIsCorruption) {
  TableSpec spec;
  spec.config.block_bytes = 200;
  spec.config.index_shortening = IndexShortening::kNone;
  spec.config.enable_index_compression = false;
  Sample sample = MakeSample(spec, 40, 9);
  const BlockHandle index = DecodeFooter(sample.file, sample.file.size())->index;
  std::vector<std::string> separators;
  ASSERT_OK(VisitIndexBlock(Slice(sample.file.data() + index.offset, index.size), kUsualCoding,
                            [&](const IndexBlockEntry& entry) {
                              separators.push_back(entry.separator.ToString());
                              return Status::OK();
                            }));
  ASSERT_GT(separators.size(), 3U);
  sample.file.replace(sample.file.find(separators[1], index.offset), separators[1].size(),
                      separators[2]);
  RepairChecksum(&sample.file, index, spec.config.checksum, 0);
  MemoryFileSystem fs;
  ASSERT_OK(fs.CreateDir("db"));
  ASSERT_OK(WriteStringToFile(&fs, sample.file, kPath, Durability::kBuffered));
  Result<TableReaderPtr> opened = OpenTable(&fs, kPath, {});
  ASSERT_OK(opened.status());
  const OpenedTable table(std::move(opened).value());
  const Status status = table->Verify();
  EXPECT_TRUE(status.IsCorruption());
  EXPECT_NE(status.ToString().find("separator of the block before"), std::string::npos)
      << status.ToString();
}

// A search in a block that is not kept begins at a restart.
TEST(TableDamage, ARestartThatIsAtNoEntryIsCorruption) {
  TableSpec spec;
  spec.config.block_bytes = 1000;
  spec.config.restart_interval = 4;
  spec.config.enable_index_compression = false;
  const Sample sample = MakeSample(spec, 40, 9);
  const BlockHandle index = DecodeFooter(sample.file, sample.file.size())->index;
  BlockHandle block;
  ASSERT_OK(VisitIndexBlock(Slice(sample.file.data() + index.offset, index.size), kUsualCoding,
                            [&](const IndexBlockEntry& entry) {
                              if (block.size == 0) block = entry.handle;
                              return Status::OK();
                            }));
  const size_t count_at = block.offset + block.size - sizeof(uint32_t);
  const uint32_t restarts = DecodeFixed32(sample.file.data() + count_at);
  ASSERT_GT(restarts, 2U);
  const size_t restarts_at = count_at - restarts * sizeof(uint32_t);
  const uint32_t second = DecodeFixed32(sample.file.data() + restarts_at + sizeof(uint32_t));
  struct Damage {
    uint32_t restart;
    uint32_t offset;
    const char* text;
  };
  for (const Damage& damage :
       {Damage{0, 1, "first block restart"}, Damage{0, second, "first block restart"},
        Damage{1, second + 1, "where an entry begins"},
        Damage{1, UINT32_MAX, "where an entry begins"}, Damage{1, 0, "where an entry begins"}}) {
    SCOPED_TRACE(testing::Message() << damage.restart << " at " << damage.offset);
    std::string file = sample.file;
    EncodeFixed32(file.data() + restarts_at + damage.restart * sizeof(uint32_t), damage.offset);
    RepairChecksum(&file, block, spec.config.checksum, 0);
    MemoryFileSystem fs;
    ASSERT_OK(fs.CreateDir("db"));
    ASSERT_OK(WriteStringToFile(&fs, file, kPath, Durability::kBuffered));
    Result<TableReaderPtr> opened = OpenTable(&fs, kPath, {});
    ASSERT_OK(opened.status());
    const OpenedTable table(std::move(opened).value());
    const Status status = table->Verify();
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    EXPECT_NE(status.ToString().find(damage.text), std::string::npos) << status.ToString();
    EXPECT_NE(status.ToString().find("offset 0"), std::string::npos) << status.ToString();
  }
}

// The same table with the footer, the metaindex and the block checksums of version 6 or 7.
std::string AsVersion6(const std::string& file, uint32_t version, BlockChecksum checksum,
                       uint32_t base_context) {
  const Footer old = *DecodeFooter(file, file.size());
  std::string out = file.substr(0, old.metaindex.offset);
  for (const BlockHandle& block : AllBlocks(file, kUsualCoding)) {
    if (block != old.metaindex) RepairChecksum(&out, block, checksum, base_context);
  }
  std::map<std::string, std::string> meta;
  BlockEntries entries(Slice(file.data() + old.metaindex.offset, old.metaindex.size));
  while (entries.Next()) meta[entries.key().ToString()] = entries.value().ToString();
  PutBlockHandle(&meta["rocksdb.index"], old.index);
  BlockBuilder builder({.restart_interval = 1});
  for (const auto& [name, handle] : meta) builder.Add(name, handle, 0);
  const Slice metaindex = builder.Finish();
  const BlockHandle handle{out.size(), metaindex.size()};
  out.append(metaindex.data(), metaindex.size());
  out.append(kBlockTrailerBytes, '\0');
  RepairChecksum(&out, handle, checksum, base_context);

  const uint64_t footer_offset = out.size();
  std::string footer(1, static_cast<char>(checksum));
  footer.append("\x3e\x00\x7a\x00", 4);
  PutFixed32(&footer, 0);
  PutFixed32(&footer, base_context);
  PutFixed32(&footer, static_cast<uint32_t>(metaindex.size()));
  footer.append(24, '\0');
  PutFixed32(&footer, version);
  PutFixed64(&footer, kBlockBasedTableMagic);
  // The checksum covers the complete footer with its own field set to zero.
  const uint32_t sum = ComputeBlockChecksum(checksum, footer.data(), footer.size() - 1) +
                       ChecksumContext(base_context, footer_offset);
  EncodeFixed32(footer.data() + 5, sum);
  return out + footer;
}

std::pair<BlockHandle, BlockHandle> TwoBlocksOfOneSize(const std::string& file) {
  const std::vector<BlockHandle> blocks = AllBlocks(file, kUsualCoding);
  for (size_t i = 0; i < blocks.size(); ++i) {
    for (size_t j = i + 1; j < blocks.size(); ++j) {
      if (blocks[i] != blocks[j] && blocks[i].size == blocks[j].size) return {blocks[i], blocks[j]};
    }
  }
  ADD_FAILURE() << "no two blocks have the same size";
  return {};
}

TEST(TableFormat, ReadsVersions6And7WithContextChecksums) {
  for (const BlockChecksum checksum : {BlockChecksum::kCrc32c, BlockChecksum::kXxHash32,
                                       BlockChecksum::kXxHash64, BlockChecksum::kXxh3}) {
    for (const uint32_t version : {6u, 7u}) {
      TableSpec spec;
      spec.config.checksum = checksum;
      spec.config.filter_millibits_per_key = 10000;
      Random random(5);
      Sample sample{spec, Entries{InternalOrder{spec.comparator}}, {}};
      for (uint64_t i = 0; i < 500; ++i)
        sample.entries[MakeInternalKey(MakeKey(KeyKind::kDecimal, i, &random), 1,
                                       ValueType::kValue)] = random.Bytes(100);
      MemoryFileSystem fs;
      ASSERT_OK(fs.CreateDir("db"));
      TableWriteResult result;
      ASSERT_OK(WriteTable(&fs, kPath, spec, sample.entries, &result));
      sample.file = *ReadFileToString(&fs, kPath, 1 << 24);
      const std::string file = AsVersion6(sample.file, version, checksum, 0x12345678);
      std::string text;
      EXPECT_EQ(Read(file, sample, false, &text), Outcome::kSame) << text;
      // Two blocks that were exchanged have the right bytes and the right trailers, but at the
      // wrong offsets.
      std::string swapped = file;
      const auto at = [&swapped](uint64_t offset) {
        return swapped.begin() + static_cast<std::ptrdiff_t>(offset);
      };
      const auto [one, other] = TwoBlocksOfOneSize(sample.file);
      std::swap_ranges(at(one.offset), at(one.offset + one.size + kBlockTrailerBytes),
                       at(other.offset));
      EXPECT_EQ(Read(swapped, sample, false, &text), Outcome::kRefused);
      EXPECT_NE(text.find("checksum"), std::string::npos) << text;
      std::string other_footer = file;
      // Padding, which the footer's checksum covers.
      other_footer[file.size() - kFooterBytes + 20] = 1;
      EXPECT_EQ(Read(other_footer, sample, false, &text), Outcome::kRefused);
    }
  }
}

// Opens a table with properties that the writer does not write. `aliases` is the number of
// additional names of the properties block in the metaindex.
Result<TableReaderPtr> OpenWithProperties(const std::map<std::string, std::string>& extra,
                                          MemoryFileSystem* fs, SequenceNumber largest_sequence,
                                          int aliases) {
  TableSpec spec;
  Entries entries{InternalOrder{spec.comparator}};
  for (int i = 0; i < 100; ++i)
    entries[MakeInternalKey("k" + std::to_string(i), 0,
                            i % 10 == 3 ? ValueType::kDeletion : ValueType::kValue)] =
        "v" + std::to_string(i);
  static_cast<void>(fs->CreateDir("db"));
  TableWriteResult result;
  EXPECT_OK(WriteTable(fs, kPath, spec, entries, &result));
  std::string file = *ReadFileToString(fs, kPath, 1 << 24);
  const Footer old = *DecodeFooter(file, file.size());
  BlockEntries meta(Slice(file.data() + old.metaindex.offset, old.metaindex.size));
  BlockHandle properties_handle;
  while (meta.Next()) {
    Slice value = meta.value();
    EXPECT_TRUE(meta.key() != Slice("rocksdb.properties") ||
                GetBlockHandle(&value, &properties_handle));
  }
  std::map<std::string, std::string> properties(extra);
  BlockEntries old_properties(
      Slice(file.data() + properties_handle.offset, properties_handle.size));
  while (old_properties.Next())
    properties.emplace(old_properties.key().ToString(), old_properties.value().ToString());

  file.resize(properties_handle.offset);
  const auto append = [&file](const std::map<std::string, std::string>& contents) {
    BlockBuilder builder({.restart_interval = 1});
    for (const auto& [name, value] : contents) builder.Add(name, value, 0);
    const Slice block = builder.Finish();
    const BlockHandle handle{file.size(), block.size()};
    file.append(block.data(), block.size());
    file.append(kBlockTrailerBytes, '\0');
    RepairChecksum(&file, handle, BlockChecksum::kXxh3, 0);
    return handle;
  };
  std::map<std::string, std::string> metaindex;
  PutBlockHandle(&metaindex["rocksdb.properties"], append(properties));
  for (int i = 0; i < aliases; ++i)
    metaindex["alias" + std::to_string(i)] = metaindex["rocksdb.properties"];
  Footer footer = old;
  footer.metaindex = append(metaindex);
  PutFooter(&file, footer);
  EXPECT_OK(WriteStringToFile(fs, file, kPath, Durability::kBuffered));
  std::unique_ptr<vfs::RandomAccessFile> opened;
  EXPECT_OK(fs->NewRandomAccessFile(kPath, {}, &opened));
  return BlockBasedTable::Open({.file = std::move(opened),
                                .file_name = kPath,
                                .file_bytes = file.size(),
                                .epochs = &TestEpochs(),
                                .comparator = KeyComparator(BytewiseComparator()),
                                .largest_sequence = largest_sequence});
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

TEST(TableFormat, GlobalSequenceReplacesStoredSequences) {
  for (const bool in_file : {true, false}) {
    MemoryFileSystem fs;
    std::map<std::string, std::string> extra = {
        {"rocksdb.external_sst_file.version", Fixed32(2)},
        {"rocksdb.external_sst_file.global_seqno", Fixed64(in_file ? 50 : 0)}};
    Result<TableReaderPtr> opened = OpenWithProperties(extra, &fs, 50, 0);
    ASSERT_OK(opened.status());
    const OpenedTable table(std::move(opened).value());
    EXPECT_EQ(GetText(table.get(), {}, "k7", 49), "(none)");
    EXPECT_EQ(GetText(table.get(), {}, "k7", 50), "v7");
    EXPECT_EQ(GetText(table.get(), {}, "k3", 50), "(none)");
    const auto cursor = table->NewCursor({});
    size_t n = 0;
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next(), ++n)
      EXPECT_EQ(TagSequence(ExtractTag(cursor->key())), 50u);
    EXPECT_EQ(n, 100u);
    cursor->Seek(MakeInternalKey("k7", 60, ValueType::kMax));
    ASSERT_TRUE(cursor->Valid());
    EXPECT_EQ(ExtractUserKey(cursor->key()).ToString(), "k7");
    cursor->Seek(MakeInternalKey("k7", 49, ValueType::kMax));
    ASSERT_TRUE(cursor->Valid());
    EXPECT_EQ(ExtractUserKey(cursor->key()).ToString(), "k70");
    cursor->SeekForPrev(MakeInternalKey("k7", 60, ValueType::kMax));
    ASSERT_TRUE(cursor->Valid());
    EXPECT_EQ(ExtractUserKey(cursor->key()).ToString(), "k69");
    cursor->Prev();
    EXPECT_EQ(ExtractUserKey(cursor->key()).ToString(), "k68");
    EXPECT_EQ(TagSequence(ExtractTag(cursor->key())), 50u);
  }
  MemoryFileSystem fs;
  EXPECT_TRUE(OpenWithProperties({{"rocksdb.external_sst_file.version", Fixed32(2)},
                                  {"rocksdb.external_sst_file.global_seqno", Fixed64(51)}},
                                 &fs, 50, 0)
                  .status()
                  .IsCorruption());
}

TEST(TableFormat, UnsupportedFeaturesAreRefusedByName) {
  struct Case {
    std::map<std::string, std::string> properties;
    const char* says;
  };
  for (const Case& c :
       {Case{{{"rocksdb.block.based.table.index.type", Fixed32(9)}}, "index type"},
        Case{{{"rocksdb.udi.is.primary.index", "\x01"}}, "user-defined index"},
        Case{{{"rocksdb.external_sst_file.version", Fixed32(3)}}, "external table"}}) {
    MemoryFileSystem fs;
    const Status status = OpenWithProperties(c.properties, &fs, kSequenceNumberMax, 0).status();
    EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
    EXPECT_NE(status.ToString().find(c.says), std::string::npos) << status.ToString();
    EXPECT_NE(status.ToString().find(kPath), std::string::npos) << status.ToString();
  }
}

// Verification reads each named block, so a megabyte of names for a large block would take hours.
TEST(TableFormat, AMetaindexThatNamesOneBlockManyTimesIsCorruption) {
  MemoryFileSystem fs;
  {
    Result<TableReaderPtr> opened = OpenWithProperties({}, &fs, kSequenceNumberMax, 1);
    ASSERT_OK(opened.status());
    const OpenedTable table(std::move(opened).value());
  }
  const Status status = OpenWithProperties({}, &fs, kSequenceNumberMax, 500).status();
  EXPECT_TRUE(status.IsCorruption());
  EXPECT_NE(status.ToString().find("more bytes than the file has"), std::string::npos)
      << status.ToString();
}

TEST(TableFormat, EntriesOfUnsupportedTypesFailWhoMeetsThem) {
  Sample sample = MakeSample({}, 1, 6);
  // The type byte of the only entry is the first byte of its tag.
  const std::string& key = sample.entries.begin()->first;
  const size_t at = sample.file.find(key) + key.size() - kTagBytes;
  sample.file[at] = static_cast<char>(ValueType::kBlobIndex);
  RepairChecksum(&sample.file, {0, AllBlocks(sample.file, kUsualCoding).back().size},
                 BlockChecksum::kXxh3, 0);
  MemoryFileSystem fs;
  ASSERT_OK(fs.CreateDir("db"));
  ASSERT_OK(WriteStringToFile(&fs, sample.file, kPath, Durability::kBuffered));
  Result<TableReaderPtr> opened = OpenTable(&fs, kPath, {});
  ASSERT_OK(opened.status());
  const OpenedTable table(std::move(opened).value());
  const auto cursor = table->NewCursor({});
  cursor->SeekToFirst();
  EXPECT_FALSE(cursor->Valid());
  EXPECT_TRUE(cursor->status().IsNotSupported()) << cursor->status().ToString();
  const EpochGuard guard(TestEpochs());
  Lookup lookup({.user_key = ExtractUserKey(key)});
  table->Get({}, &lookup);
  EXPECT_EQ(lookup.state(), Lookup::State::kFailed);
}

TEST(TableFormat, GoldenFooter) {
  std::string bytes;
  Footer footer;
  footer.format_version = 5;
  footer.checksum = BlockChecksum::kXxh3;
  footer.metaindex = {923, 32};
  footer.index = {35, 14};
  PutFooter(&bytes, footer);
  EXPECT_EQ(Slice(bytes).ToString(true),
            "049B0720230E" + std::string(70, '0') + "05000000" + "F7CFF485B741E288");
  const Result<Footer> decoded = DecodeFooter(bytes, 2000);
  ASSERT_OK(decoded.status());
  EXPECT_EQ(decoded->metaindex, footer.metaindex);
  EXPECT_EQ(decoded->index, footer.index);
}

TEST(TableFormat, GoldenDataBlock) {
  BlockBuilder builder({.restart_interval = 2});
  builder.Add("apple", "1", 0);
  builder.Add("apply", "22", 4);
  builder.Add("bat", "", 0);
  const std::string expected(
      "\x00\x05\x01"
      "apple1"
      "\x04\x01\x02"
      "y22"
      "\x00\x03\x00"
      "bat"
      "\x00\x00\x00\x00"
      "\x0f\x00\x00\x00"
      "\x02\x00\x00\x00",
      33);
  EXPECT_EQ(builder.Finish().ToString(true), Slice(expected).ToString(true));
}

}  // namespace
}  // namespace ashlar::test
