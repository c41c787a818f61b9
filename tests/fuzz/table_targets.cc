#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/coding.h"
#include "base/compression.h"
#include "base/format.h"
#include "iterate/user_iterator.h"
#include "table/block/block_entries.h"
#include "table/blockbased/meta_block_names.h"
#include "table/blockbased/table_test_kit.h"
#include "table/plain/plain_table_test_kit.h"
#include "table/table_properties.h"
#include "tests/fuzz/all.h"
#include "tests/support/golden_pack.h"
#include "tests/support/test_epochs.h"

namespace ashlar::fuzz {
namespace {

using test::OpenedTable;

constexpr char kPath[] = "000007.sst";
// The most entries of one iteration. A compressed block may hold many more entries than bytes.
constexpr size_t kEntriesMax = 1 << 20;
constexpr size_t kLookups = 24;
// The largest table of tests/golden that is used as a seed.
constexpr size_t kGoldenBytesMax = 4 << 10;

struct Walk {
  Status status;
  std::vector<std::pair<std::string, std::string>> entries;
};

Walk WalkTable(TableReader* table, bool forwards, bool cached) {
  const auto cursor = table->NewCursor({.fill_cache = cached});
  Walk walk;
  for (forwards ? cursor->SeekToFirst() : cursor->SeekToLast(); cursor->Valid();
       forwards ? cursor->Next() : cursor->Prev()) {
    walk.entries.emplace_back(cursor->key().ToString(), cursor->value().ToString());
    if (walk.entries.size() > kEntriesMax) {
      ReportWrongAnswer(__FILE__, __LINE__, "endless walk");
      break;
    }
  }
  walk.status = cursor->status();
  if (!forwards) std::reverse(walk.entries.begin(), walk.entries.end());
  return walk;
}

void LookUp(TableReader* table, const Walk& walk) {
  const auto cursor = table->NewCursor({});
  const size_t step = walk.entries.size() / kLookups + 1;
  for (size_t i = 0; i < walk.entries.size(); i += step) {
    const std::string& key = walk.entries[i].first;
    cursor->Seek(key);
    if (cursor->Valid()) cursor->Prev();
    cursor->SeekForPrev(key);
    if (cursor->Valid()) cursor->Next();
    static_cast<void>(test::GetText(table, {}, ExtractUserKey(key), kSequenceNumberMax));
    static_cast<void>(table->ApproximateOffsetOf(key));
    static_cast<void>(table->ranges().CoveringSequence(ExtractUserKey(key), kSequenceNumberMax));
  }
  static_cast<void>(test::GetText(table, {}, "absent", 5));
  static_cast<void>(table->Anchors(4));
  const EpochGuard guard(TestEpochs());
  static_cast<void>(table->CountBlocks());
}

// Reads a table in every way and compares the results. Returns false if it does not verify.
bool ReadAll(TableReader* table, bool cached) {
  const Status verified = table->Verify();
  const Walk forwards = WalkTable(table, true, cached);
  const Walk backwards = WalkTable(table, false, cached);
  LookUp(table, forwards);
  if (!verified.ok()) return false;
  EXPECT_RIGHT(forwards.status.ok(), "verified, but: " + forwards.status.ToString());
  EXPECT_RIGHT(backwards.status.ok(), "verified, but: " + backwards.status.ToString());
  EXPECT_RIGHT(forwards.entries == backwards.entries, "other entries backwards");
  // The cursor finds each entry, of which several may have the same key and tag.
  const auto cursor = table->NewCursor({});
  const size_t step = forwards.entries.size() / kLookups + 1;
  for (size_t i = 0; i < forwards.entries.size(); i += step) {
    cursor->Seek(forwards.entries[i].first);
    EXPECT_RIGHT(cursor->Valid() && cursor->key() == Slice(forwards.entries[i].first),
                 "Seek misses an entry of a table that verifies");
  }
  return true;
}

// Iterates like a program's iterator, which seeks while it iterates. A move that does not return is
// detected by the time limit.
void WalkAsProgram(TableReader* table, bool cached) {
  UserIteratorArgs args{.comparator = KeyComparator(BytewiseComparator())};
  args.max_sequential_skip = 1;
  args.source.cursor = table->NewCursor({.fill_cache = cached});
  args.source.sequence = kSequenceNumberMax;
  UserIterator iterator(std::move(args));
  for (const bool forwards : {true, false}) {
    size_t seen = 0;
    for (forwards ? iterator.SeekToFirst() : iterator.SeekToLast();
         iterator.Valid() && ++seen < kEntriesMax; forwards ? iterator.Next() : iterator.Prev()) {
    }
  }
}

std::string Entry(const std::string& bytes, MemoryFileSystem* file_system) {
  static_cast<void>(WriteStringToFile(file_system, bytes, kPath, Durability::kBuffered));
  return kPath;
}

test::Entries SeedEntries(const KeyComparator& comparator) {
  Random random(1);
  return test::MakeEntries(comparator, {.keys = 60, .versions_max = 2, .value_bytes_max = 30},
                           &random);
}

std::string WriteSeed(const test::TableSpec& spec) {
  MemoryFileSystem file_system;
  TableWriteResult result;
  const Status status =
      test::WriteTable(&file_system, kPath, spec, SeedEntries(spec.comparator), &result);
  EXPECT_RIGHT(status.ok(), status.ToString());
  return ReadFileToString(&file_system, kPath, 1 << 24).value();
}

}  // namespace

// ---- Block-based tables.

Seeds SeedTables() {
  Seeds seeds;
  const auto add = [&](test::TableSpec spec) {
    if (!spec.config.block_align) spec.config.block_bytes = 200;
    spec.config.filter_millibits_per_key = 10000;
    seeds.push_back(WriteSeed(spec));
  };
  add({});
  bool has_all_codecs = true;
  for (const CompressionType type :
       {kSnappyCompression, kZlibCompression, kLZ4Compression, kZSTD}) {
    const bool has_codec = ValidateCompressionType(type).ok();
    if (has_codec) add({.compression = type});
    has_all_codecs &= has_codec;
  }
  for (const uint32_t version : {2U, 3U, 4U}) {
    test::TableSpec spec;
    spec.config.format_version = version;
    add(spec);
  }
  for (const BlockChecksum checksum : {BlockChecksum::kNone, BlockChecksum::kCrc32c,
                                       BlockChecksum::kXxHash32, BlockChecksum::kXxHash64}) {
    test::TableSpec spec;
    spec.config.checksum = checksum;
    add(spec);
  }
  for (const test::TableLayout& layout : test::kTableLayouts) {
    test::TableSpec spec;
    if (ValidateCompressionType(kZSTD).ok()) spec.compression = kZSTD;
    layout.set(&spec);
    add(spec);
  }
  test::TableSpec ranges;
  ranges.range_deletions = {
      {.begin = "0000000000000003", .end = "0000000000000009", .sequence = 50},
      {.begin = "0000000000000007", .end = "0000000000000020", .sequence = 60}};
  add(ranges);
  // Formats that this library reads but does not write: versions 0, 6 and 7, and LevelDB's. The
  // tables have blocks of every codec.
  if (!has_all_codecs) return seeds;
  for (const char* const pack : {"rocksdb-5.18.4", "rocksdb-9.10.0-ingested", "rocksdb-11.8.1",
                                 "rocksdb-11.8.1-ingested", "leveldb-1.23"}) {
    for (const auto& [name, bytes] : FilesOfGoldenPack(pack)) {
      if ((name.ends_with(".sst") || name.ends_with(".ldb")) && bytes.size() <= kGoldenBytesMax)
        seeds.push_back(bytes);
    }
  }
  return seeds;
}

bool RunTable(const std::string& input) {
  bool accepted = true;
  for (const bool cached : {false, true}) {
    MemoryFileSystem file_system;
    test::OpenSpec spec{
        .cache = cached ? std::make_shared<BlockCache>(size_t{1} << 16) : nullptr,
        .mmap = !cached,
        .prefix_extractor = std::shared_ptr<const SliceTransform>(NewCappedPrefixTransform(3))};
    Result<TableReaderPtr> opened = test::OpenTable(&file_system, Entry(input, &file_system), spec);
    accepted &= opened.ok();
    if (!opened.ok()) continue;
    const OpenedTable table(std::move(opened).value());
    static_cast<BlockBasedTable*>(table.get())->CheckInvariants();
    accepted &= ReadAll(table.get(), cached);
    WalkAsProgram(table.get(), cached);
    static_cast<BlockBasedTable*>(table.get())->CheckInvariants();
  }
  return accepted;
}

namespace {

// Recomputes the checksums of all blocks that are reachable from the footer.
class TableRepair {
 public:
  explicit TableRepair(std::string* file) : file_(file) {}

  void Run() {
    if (file_->size() < kFooterBytes) return;
    RepairFooter();
    const Slice tail(file_->data() + file_->size() - kFooterBytes, kFooterBytes);
    const Result<Footer> footer = DecodeFooter(tail, file_->size());
    if (!footer.ok()) return;
    footer_ = *footer;
    RepairMetaIndex();
  }

 private:
  static constexpr size_t kBlocksMax = 10'000;

  // From version 6 on, the footer has a checksum of itself with zeros in place of the checksum.
  void RepairFooter() {
    char* const footer = file_->data() + file_->size() - kFooterBytes;
    const auto type = static_cast<uint8_t>(footer[0]);
    if (DecodeFixed32(footer + 41) < 6 || type > static_cast<uint8_t>(BlockChecksum::kXxh3)) return;
    EncodeFixed32(footer + 5, 0);
    const uint32_t context =
        ChecksumContext(DecodeFixed32(footer + 9), file_->size() - kFooterBytes);
    EncodeFixed32(
        footer + 5,
        ComputeBlockChecksum(static_cast<BlockChecksum>(type), footer, kFooterBytes - 1) + context);
  }

  // Repairs the trailer and returns the uncompressed bytes, or an empty string if there are none.
  std::string Repair(const BlockHandle& handle) {
    if (++blocks_ > kBlocksMax || handle.size > file_->size() ||
        handle.offset > file_->size() - handle.size ||
        file_->size() - handle.size - handle.offset < kBlockTrailerBytes)
      return {};
    char* const block = file_->data() + handle.offset;
    const auto n = static_cast<size_t>(handle.size);
    if (footer_.checksum != BlockChecksum::kNone)
      EncodeFixed32(block + n + 1, ComputeBlockChecksum(footer_.checksum, block, n) +
                                       ChecksumContext(footer_.base_context, handle.offset));
    const auto type = static_cast<CompressionType>(static_cast<uint8_t>(block[n]));
    const Slice stored(block, n);
    if (type == kNoCompression) return stored.ToString();
    std::string raw;
    return Decompress(type, stored, nullptr, size_t{1} << 20, &raw).ok() ? raw : std::string();
  }

  void RepairMetaIndex() {
    const std::string metaindex = Repair(footer_.metaindex);
    BlockHandle index = footer_.index;
    BlockHandle filter;
    TableProperties properties;
    for (BlockEntries entries(metaindex); entries.Next();) {
      Slice value = entries.value();
      BlockHandle handle;
      if (!GetBlockHandle(&value, &handle)) continue;
      const std::string contents = Repair(handle);
      if (entries.key() == Slice(kMetaProperties)) {
        Result<TableProperties> decoded = DecodeTableProperties(contents);
        if (decoded.ok()) properties = std::move(decoded).value();
      }
      if (entries.key() == Slice("rocksdb.index")) index = handle;
      if (entries.key().starts_with(kPartitionedFilterPrefix)) filter = handle;
    }
    const auto found = properties.user_collected_properties.find(kPropertyIndexType);
    const uint32_t kind =
        found == properties.user_collected_properties.end() || found->second.size() < 4
            ? 0
            : DecodeFixed32(found->second.data());
    IndexCoding coding{.user_keys = properties.index_key_is_user_key != 0,
                       .delta_values = properties.index_value_is_delta_encoded != 0,
                       .first_keys = kind == static_cast<uint32_t>(IndexKind::kBinaryWithFirstKey)};
    RepairIndex(index, coding, kind == static_cast<uint32_t>(IndexKind::kTwoLevel) ? 1 : 0);
    coding.first_keys = false;
    if (filter.size > 0) RepairIndex(filter, coding, 0);
  }

  void RepairIndex(const BlockHandle& handle, const IndexCoding& coding, int levels) {
    const std::string contents = Repair(handle);
    static_cast<void>(VisitIndexBlock(contents, coding, [&](const IndexBlockEntry& entry) {
      if (levels > 0) {
        RepairIndex(entry.handle, coding, levels - 1);
      } else {
        static_cast<void>(Repair(entry.handle));
      }
      return blocks_ > kBlocksMax ? Status::Aborted("too many blocks") : Status::OK();
    }));
  }

  std::string* const file_;
  Footer footer_;
  size_t blocks_ = 0;
};

}  // namespace

void RepairTable(std::string* input) { TableRepair(input).Run(); }

// ---- PlainTables. Byte 0 chooses how the table is opened and is not part of the file.

namespace {

test::PlainSpec PlainSpecOf(uint8_t choice) {
  test::PlainSpec spec;
  if ((choice & 1) != 0) spec.prefix_extractor.reset(NewFixedPrefixTransform(4));
  spec.config.full_scan_mode = (choice & 2) != 0;
  spec.config.bloom_bits_per_key = (choice & 4) != 0 ? 0 : 10;
  return spec;
}

}  // namespace

Seeds SeedPlainTables() {
  Seeds seeds;
  for (uint8_t choice = 0; choice < 8; ++choice) {
    for (const bool prefix_encoding : {false, true}) {
      test::PlainSpec spec = PlainSpecOf(choice);
      if (prefix_encoding && spec.prefix_extractor == nullptr) continue;
      spec.config.encoding = prefix_encoding ? PlainEncoding::kPrefix : PlainEncoding::kPlain;
      spec.config.store_index_in_file = (choice & 4) != 0 && spec.prefix_extractor != nullptr;
      if (!prefix_encoding) spec.config.user_key_bytes = 16;
      MemoryFileSystem file_system;
      TableWriteResult result;
      const Status status =
          test::WritePlainTable(&file_system, kPath, spec, SeedEntries(spec.comparator), &result);
      EXPECT_RIGHT(status.ok(), status.ToString());
      seeds.push_back(std::string(1, static_cast<char>(choice)) +
                      ReadFileToString(&file_system, kPath, 1 << 24).value());
    }
  }
  return seeds;
}

bool RunPlainTable(const std::string& input) {
  if (input.empty()) return false;
  MemoryFileSystem file_system;
  Result<TableReaderPtr> opened =
      test::OpenPlainTable(&file_system, Entry(input.substr(1), &file_system),
                           PlainSpecOf(static_cast<uint8_t>(input[0])));
  if (!opened.ok()) return false;
  const OpenedTable table(std::move(opened).value());
  static_cast<PlainTable*>(table.get())->CheckInvariants();
  return ReadAll(table.get(), true);
}

}  // namespace ashlar::fuzz
