// Helpers for the tests of tables: they write entries to a table in memory, and compute with a
// model what the table should return.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "cache/block_cache.h"
#include "execute/epoch.h"
#include "filesystem/file_helpers.h"
#include "filesystem/memory_file_system.h"
#include "key/lookup.h"
#include "table/blockbased/block_based_table.h"
#include "table/blockbased/table_builder.h"
#include "tests/support/expect_ok.h"
#include "tests/support/test_epochs.h"

namespace ashlar::test {

struct InternalOrder {
  KeyComparator comparator;
  bool operator()(const std::string& a, const std::string& b) const {
    return comparator.CompareInternal(a, b) < 0;
  }
};
using Entries = std::map<std::string, std::string, InternalOrder>;  // internal key -> value

struct TableSpec {
  KeyComparator comparator{BytewiseComparator()};
  BlockBasedTableConfig config{};
  CompressionType compression = kNoCompression;
  DictionaryParameters dictionary{};
  std::shared_ptr<const SliceTransform> prefix_extractor{};
  std::vector<RangeTombstone> range_deletions{};
};

inline Status WriteTable(vfs::FileSystem* fs, const std::string& path, const TableSpec& spec,
                         const Entries& entries, TableWriteResult* result) {
  std::unique_ptr<vfs::WritableFile> file;
  ASHLAR_RETURN_IF_ERROR(fs->NewWritableFile(path, {}, &file));
  ASHLAR_ASSIGN_OR_RETURN(const std::unique_ptr<TableBuilder> writer,
                          TableBuilder::Create({.file = file.get(),
                                                .file_name = path,
                                                .comparator = spec.comparator,
                                                .config = spec.config,
                                                .prefix_extractor = spec.prefix_extractor,
                                                .compression = spec.compression,
                                                .dictionary = spec.dictionary,
                                                .column_family_name = "default",
                                                .file_number = 7}));
  for (const auto& [key, value] : entries) writer->Add(key, value);
  for (const RangeTombstone& tombstone : spec.range_deletions) writer->AddRangeDeletion(tombstone);
  ASHLAR_RETURN_IF_ERROR(writer->Finish(result));
  return file->Close();
}

struct OpenSpec {
  KeyComparator comparator{BytewiseComparator()};
  BlockBasedTableConfig config{};
  std::shared_ptr<BlockCache> cache{};
  bool mmap = false;
  Statistics* statistics = nullptr;
  std::shared_ptr<const SliceTransform> prefix_extractor{};
  SequenceNumber largest_sequence = kSequenceNumberMax;
  std::string smallest{};  // bounds of the file, internal keys; empty: not known
  std::string largest{};
};

inline Result<TableReaderPtr> OpenTable(vfs::FileSystem* fs, const std::string& path,
                                        const OpenSpec& spec) {
  std::unique_ptr<vfs::RandomAccessFile> file;
  uint64_t bytes = 0;
  ASHLAR_RETURN_IF_ERROR(fs->NewRandomAccessFile(path, {.use_mmap_reads = spec.mmap}, &file));
  ASHLAR_RETURN_IF_ERROR(file->Size(&bytes));
  return BlockBasedTable::Open(
      {.file = std::move(file),
       .file_name = path,
       .file_bytes = bytes,
       .epochs = &TestEpochs(),
       .comparator = spec.comparator,
       .config = spec.config,
       .block_cache = spec.cache,
       .mmap_reads = spec.mmap,
       .recorder = Recorder(spec.statistics),
       .largest_sequence = spec.largest_sequence,
       .smallest = spec.smallest,
       .largest = spec.largest,
       .prefix_extractors = std::make_shared<PrefixExtractors>(spec.prefix_extractor)});
}

// Waits until dropped objects are deleted, and then the objects that these drop in turn: count,
// table, blocks.
inline void SettleEpochs() {
  for (int i = 0; i < 3; ++i) TestEpochs().Synchronize();
}

// An open table whose reader is dropped at the end.
class OpenedTable {
 public:
  explicit OpenedTable(TableReaderPtr reader) : reader_(reader.release()) {}
  ~OpenedTable() {
    if (reader_ == nullptr) return;
    reader_->Drop();
    SettleEpochs();
  }
  OpenedTable(const OpenedTable&) = delete;
  OpenedTable& operator=(const OpenedTable&) = delete;
  TableReader* operator->() const { return reader_; }
  TableReader* get() const { return reader_; }

 private:
  TableReader* reader_;
};

// One of the layouts of index, filter and blocks that a table may have.
struct TableLayout {
  const char* name;
  void (*set)(TableSpec* spec);
};
inline constexpr TableLayout kTableLayouts[] = {
    {"partitions",
     [](TableSpec* spec) {
       spec->config.index_kind = IndexKind::kTwoLevel;
       spec->config.partition_filters = true;
       spec->config.partition_bytes = 200;
     }},
    {"partitioned_index",
     [](TableSpec* spec) {
       spec->config.index_kind = IndexKind::kTwoLevel;
       spec->config.partition_bytes = 100;
     }},
    {"hash_index",
     [](TableSpec* spec) {
       spec->config.index_kind = IndexKind::kHash;
       spec->prefix_extractor.reset(NewCappedPrefixTransform(3));
     }},
    {"first_keys",
     [](TableSpec* spec) { spec->config.index_kind = IndexKind::kBinaryWithFirstKey; }},
    {"hash_in_blocks", [](TableSpec* spec) { spec->config.hash_buckets_per_entry = 1 / 0.75; }},
    {"ribbon",
     [](TableSpec* spec) {
       spec->config.filter_kind = FilterKind::kRibbon;
       spec->config.filter_policy_property = kRibbonPolicyPropertyValue;
     }},
    {"ribbon_partitions",
     [](TableSpec* spec) {
       spec->config.filter_kind = FilterKind::kRibbon;
       spec->config.index_kind = IndexKind::kTwoLevel;
       spec->config.partition_filters = true;
       spec->config.partition_bytes = 700;
     }},
    {"dictionary", [](TableSpec* spec) { spec->dictionary = {.bytes_max = 2000}; }},
    {"dictionary_of_the_first_blocks",
     [](TableSpec* spec) { spec->dictionary = {.bytes_max = 500, .buffer_bytes_max = 3000}; }},
    {"trained_dictionary",
     [](TableSpec* spec) { spec->dictionary = {.bytes_max = 2000, .train_bytes_max = 100000}; }},
    {"finalized_dictionary",
     [](TableSpec* spec) {
       spec->dictionary = {.bytes_max = 2000, .train_bytes_max = 50000, .use_trainer = false};
     }},
    {"aligned",
     [](TableSpec* spec) {
       spec->config.block_align = true;
       spec->config.block_bytes = 1024;
       spec->compression = kNoCompression;
     }},
};

// The result of a lookup, as text.
inline std::string GetText(TableReader* table, const TableReadOptions& options,
                           const Slice& user_key, SequenceNumber snapshot) {
  const EpochGuard guard(TestEpochs());
  Lookup lookup({.user_key = user_key, .snapshot = snapshot});
  table->Get(options, &lookup);
  PinnableSlice value;
  const Status status = lookup.Finish(&value);
  if (status.IsNotFound()) return "(none)";
  if (!status.ok()) return status.ToString();
  return value.ToString();
}

// The same result according to the model.
inline std::string ModelText(const Entries& entries, const KeyComparator& comparator,
                             const Slice& user_key, SequenceNumber snapshot) {
  const auto found = entries.lower_bound(MakeInternalKey(user_key, snapshot, ValueType::kMax));
  if (found == entries.end() || !comparator.Equal(ExtractUserKey(found->first), user_key))
    return "(none)";
  return ExtractType(found->first) == ValueType::kValue ? found->second : "(none)";
}

// The kinds of keys that tables have.
enum class KeyKind { kDecimal, kBinary, kLongCommonPrefix, kPrefixesOfEachOther, kHashLike };
inline constexpr KeyKind kKeyKinds[] = {KeyKind::kDecimal, KeyKind::kBinary,
                                        KeyKind::kLongCommonPrefix, KeyKind::kPrefixesOfEachOther,
                                        KeyKind::kHashLike};

inline std::string MakeKey(KeyKind kind, uint64_t i, Random* random) {
  switch (kind) {
    case KeyKind::kDecimal: {
      std::string digits = std::to_string(i);
      return std::string(16 - std::min<size_t>(16, digits.size()), '0') + digits;
    }
    case KeyKind::kBinary: return random->Bytes(random->Uniform(12));
    case KeyKind::kLongCommonPrefix:
      return "a/very/long/prefix/that/all/keys/share/" + std::string(i % 3, 'x') +
             std::string(i % 40, 'y') + std::to_string(i);
    case KeyKind::kPrefixesOfEachOther:
      return std::string(i % 200, static_cast<char>('a' + i % 2)) + std::string(i % 5, '\0');
    case KeyKind::kHashLike: return random->Bytes(16);
  }
  return {};
}

struct EntriesSpec {
  KeyKind kind = KeyKind::kDecimal;
  size_t keys = 1000;
  uint64_t versions_max = 1;
  uint64_t value_bytes_max = 100;
};

inline Entries MakeEntries(const KeyComparator& comparator, const EntriesSpec& spec,
                           Random* random) {
  Entries entries{InternalOrder{comparator}};
  SequenceNumber sequence = 1;
  for (size_t i = 0; i < spec.keys; ++i) {
    const std::string key = MakeKey(spec.kind, i, random);
    const uint64_t versions = 1 + random->Uniform(spec.versions_max);
    for (uint64_t v = 0; v < versions; ++v) {
      const uint64_t kind = random->Uniform(10);
      const ValueType type = kind == 0
                                 ? ValueType::kDeletion
                                 : (kind == 1 ? ValueType::kSingleDeletion : ValueType::kValue);
      std::string value;
      if (type == ValueType::kValue)
        value = std::string(random->Uniform(spec.value_bytes_max + 1),
                            static_cast<char>('a' + sequence % 26));
      entries[MakeInternalKey(key, sequence++, type)] = value;
    }
  }
  return entries;
}

}  // namespace ashlar::test
