// Entries are read as written in any layout: forwards, backwards, by lookups and by seeks of both
// scopes. The bytes of the file are tested, too.
#include "table/plain/plain_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/format.h"
#include "key/key_prefix.h"
#include "table/plain/plain_table_test_kit.h"
#include "tests/support/comparators.h"
#include "tests/support/test_epochs.h"

namespace ashlar::test {
namespace {

constexpr char kPath[] = "db/000007.sst";

struct Layout {
  const char* name;
  PlainTableConfig config;
  const SliceTransform* (*extractor)();  // null: none
};
void PrintTo(const Layout& layout, std::ostream* out) { *out << layout.name; }

PlainTableConfig Config(PlainEncoding encoding, size_t sparseness, double ratio,
                        bool store_index = false, uint32_t bloom_bits = 10) {
  PlainTableConfig config;
  config.encoding = encoding;
  config.index_sparseness = sparseness;
  config.hash_table_ratio = ratio;
  config.store_index_in_file = store_index;
  config.bloom_bits_per_key = bloom_bits;
  return config;
}
PlainTableConfig FullScan() {
  PlainTableConfig config;
  config.full_scan_mode = true;
  return config;
}
const SliceTransform* Fixed4() { return NewFixedPrefixTransform(4); }
const SliceTransform* Fixed16() { return NewFixedPrefixTransform(16); }
const SliceTransform* Capped6() { return NewCappedPrefixTransform(6); }

const Layout kLayouts[] = {
    {"total_order", Config(PlainEncoding::kPlain, 16, 0), nullptr},
    {"total_order_every_key_indexed", Config(PlainEncoding::kPlain, 0, 0, true), nullptr},
    {"total_order_no_bloom", Config(PlainEncoding::kPlain, 3, 0, false, 0), nullptr},
    {"prefixes_unused", Config(PlainEncoding::kPlain, 16, 0, true), &Fixed4},
    {"hash_fixed_4", Config(PlainEncoding::kPlain, 16, 0.75), &Fixed4},
    {"hash_fixed_4_sparse_1", Config(PlainEncoding::kPlain, 1, 0.75, true), &Fixed4},
    {"hash_fixed_16_full", Config(PlainEncoding::kPlain, 5, 5.0), &Fixed16},
    {"hash_capped_6_roomy", Config(PlainEncoding::kPlain, 7, 0.01), &Capped6},
    {"hash_noop", Config(PlainEncoding::kPlain, 16, 0.75), &NewNoopTransform},
    {"prefix_encoding_fixed_4", Config(PlainEncoding::kPrefix, 16, 0.75, true), &Fixed4},
    {"prefix_encoding_capped_6", Config(PlainEncoding::kPrefix, 3, 0.75), &Capped6},
    {"prefix_encoding_total_order", Config(PlainEncoding::kPrefix, 4, 0), &Fixed4},
    {"prefix_encoding_without_extractor", Config(PlainEncoding::kPrefix, 4, 0), nullptr},
    {"full_scan", FullScan(), nullptr},
};

// A table in memory and its model.
struct Subject {
  Subject(const PlainSpec& spec_arg, Entries entries_arg)
      : spec(spec_arg), entries(std::move(entries_arg)) {
    EXPECT_OK(fs.CreateDir("db"));
    EXPECT_OK(WritePlainTable(&fs, kPath, spec, entries, &written));
    Result<TableReaderPtr> opened = OpenPlainTable(&fs, kPath, spec);
    EXPECT_OK(opened.status());
    if (opened.ok()) table = std::make_unique<OpenedTable>(std::move(opened).value());
  }

  PlainSpec spec;
  Entries entries;
  MemoryFileSystem fs;
  TableWriteResult written;
  std::unique_ptr<OpenedTable> table;
};

// Checks that the cursor is at the position of the model.
::testing::AssertionResult Agrees(const InternalCursor& cursor, const Entries& entries,
                                  Entries::const_iterator at) {
  if (!cursor.status().ok()) return ::testing::AssertionFailure() << cursor.status().ToString();
  if (!cursor.Valid() || at == entries.end()) {
    if (!cursor.Valid() && at == entries.end()) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure()
           << (cursor.Valid() ? "stands behind the end" : "ended early");
  }
  if (cursor.key() == Slice(at->first) && cursor.value() == Slice(at->second))
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << cursor.key().ToString(true) << " instead of " << Slice(at->first).ToString(true);
}

// Returns a key that exists, a similar key or a random one.
std::string RandomTarget(const Entries& entries, Random* random) {
  std::string user_key = random->Bytes(random->Uniform(20));
  if (!entries.empty() && !random->OneIn(5)) {
    user_key =
        ExtractUserKey(
            std::next(entries.begin(), static_cast<std::ptrdiff_t>(random->Uniform(entries.size())))
                ->first)
            .ToString();
    if (random->OneIn(3) && !user_key.empty())
      user_key[random->Uniform(user_key.size())] = static_cast<char>(random->Next());
    if (random->OneIn(6)) user_key.resize(random->Uniform(user_key.size() + 1));
    if (random->OneIn(6)) user_key += random->Bytes(random->Uniform(4));
  }
  return MakeInternalKey(user_key, random->OneIn(2) ? kSequenceNumberMax : random->Uniform(200),
                         ValueType::kMax);
}

void CheckLookups(const Subject& subject, Random* random) {
  for (int i = 0; i < 300; ++i) {
    const std::string target = RandomTarget(subject.entries, random);
    const SequenceNumber snapshot = TagSequence(ExtractTag(target));
    ASSERT_EQ(GetText(subject.table->get(), {}, ExtractUserKey(target), snapshot),
              ModelText(subject.entries, subject.spec.comparator, ExtractUserKey(target), snapshot))
        << Slice(target).ToString(true);
  }
  for (const auto& entry : subject.entries) {
    const Slice user_key = ExtractUserKey(entry.first);
    ASSERT_EQ(GetText(subject.table->get(), {}, user_key, kSequenceNumberMax),
              ModelText(subject.entries, subject.spec.comparator, user_key, kSequenceNumberMax));
  }
}

void CheckWalks(const Subject& subject, Random* random) {
  const Entries& entries = subject.entries;
  for (const size_t readahead_bytes : {size_t{0}, size_t{1} << 20}) {
    const auto cursor = subject.table->get()->NewCursor({.readahead_bytes = readahead_bytes});
    auto at = entries.begin();
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next(), ++at)
      ASSERT_TRUE(Agrees(*cursor, entries, at));
    ASSERT_TRUE(Agrees(*cursor, entries, at));
    cursor->SeekToLast();
    for (auto back = entries.rbegin(); back != entries.rend(); ++back, cursor->Prev())
      ASSERT_TRUE(Agrees(*cursor, entries, std::prev(back.base())));
    ASSERT_TRUE(Agrees(*cursor, entries, entries.end()));

    for (int i = 0; i < 200; ++i) {
      const std::string target = RandomTarget(entries, random);
      if (random->OneIn(2)) {
        cursor->Seek(target);
        at = entries.lower_bound(target);
      } else {
        cursor->SeekForPrev(target);
        at = entries.upper_bound(target);
        at = at == entries.begin() ? entries.end() : std::prev(at);
      }
      ASSERT_TRUE(Agrees(*cursor, entries, at)) << Slice(target).ToString(true);
      for (uint64_t steps = random->Uniform(40); steps > 0 && at != entries.end(); --steps) {
        if (random->OneIn(3)) {
          cursor->Next();
          ++at;
        } else {
          cursor->Prev();
          at = at == entries.begin() ? entries.end() : std::prev(at);
        }
        ASSERT_TRUE(Agrees(*cursor, entries, at));
      }
    }
  }
}

// Within the target's prefix, a cursor with that prefix returns the same entries as the model.
// After the prefix, the cursor has reached its end or continues in order.
void CheckPrefixSeeks(const Subject& subject, Random* random) {
  const SliceTransform* const extractor = subject.spec.prefix_extractor.get();
  const Entries& entries = subject.entries;
  SeekPrefix seek({.comparator = subject.spec.comparator, .transform = extractor});
  seek.SetScope(SeekScope::kPrefix);
  const auto cursor = subject.table->get()->NewCursor({.seek_prefix = &seek});
  for (int i = 0; i < 300; ++i) {
    const std::string target = RandomTarget(entries, random);
    const std::optional<Slice> prefix = KeyPrefix(extractor, ExtractUserKey(target));
    if (extractor != nullptr && !prefix) continue;
    const bool forwards = random->OneIn(2);
    auto at = forwards ? entries.lower_bound(target) : entries.upper_bound(target);
    if (!forwards) at = at == entries.begin() ? entries.end() : std::prev(at);
    seek.Begin(ExtractUserKey(target), forwards);
    const bool there =
        at != entries.end() && KeyPrefix(extractor, ExtractUserKey(at->first)) == prefix;
    ASSERT_TRUE(!there || subject.table->get()->MayMatch(&seek, target))
        << Slice(target).ToString(true);
    forwards ? cursor->Seek(target) : cursor->SeekForPrev(target);
    while (at != entries.end() && KeyPrefix(extractor, ExtractUserKey(at->first)) == prefix) {
      ASSERT_TRUE(Agrees(*cursor, entries, at)) << Slice(target).ToString(true);
      if (forwards) {
        cursor->Next();
        ++at;
      } else {
        cursor->Prev();
        at = at == entries.begin() ? entries.end() : std::prev(at);
      }
    }
    ASSERT_OK(cursor->status());
    if (!cursor->Valid()) continue;
    const int order = subject.spec.comparator.CompareInternal(cursor->key(), target);
    ASSERT_TRUE(forwards ? order >= 0 : order <= 0) << Slice(target).ToString(true);
  }
}

void CheckEstimates(const Subject& subject) {
  static_cast<const PlainTable*>(subject.table->get())->CheckInvariants();
  TableReader* const table = subject.table->get();
  uint64_t last = 0;
  for (const auto& entry : subject.entries) {
    const uint64_t offset = table->ApproximateOffsetOf(entry.first);
    ASSERT_LE(last, offset);
    ASSERT_LE(offset, subject.written.file_bytes);
    last = offset;
  }
  std::string previous;
  for (const std::string& anchor : table->Anchors(7)) {
    ASSERT_TRUE(previous.empty() || subject.spec.comparator.CompareInternal(previous, anchor) < 0);
    previous = anchor;
  }
  EXPECT_LE(table->Anchors(7).size(), 6u);
  if (subject.entries.size() > 2000) {
    EXPECT_GE(table->Anchors(4).size(), 2u);
  }
}

void CheckAll(const Subject& subject, Random* random) {
  ASSERT_NE(subject.table, nullptr);
  EXPECT_OK(subject.table->get()->Verify());
  const TableProperties& properties = subject.table->get()->properties();
  EXPECT_EQ(properties.num_entries, subject.entries.size());
  EXPECT_EQ(properties.orig_file_number, 7u);
  CheckLookups(subject, random);
  CheckWalks(subject, random);
  CheckEstimates(subject);
}

class PlainTableLayouts : public ::testing::TestWithParam<Layout> {
 protected:
  PlainSpec Spec(const Comparator* comparator) const {
    PlainSpec spec{.comparator = KeyComparator(comparator), .config = GetParam().config};
    if (GetParam().extractor != nullptr) spec.prefix_extractor.reset(GetParam().extractor());
    return spec;
  }
};

TEST_P(PlainTableLayouts, ReadsWhatWasWritten) {
  uint64_t seed = 1;
  for (const NamedComparator& named : TestComparators()) {
    for (const KeyKind kind : kKeyKinds) {
      for (const size_t keys : {size_t{0}, size_t{1}, size_t{60}, size_t{700}}) {
        SCOPED_TRACE(std::string(named.name) + " kind " + std::to_string(static_cast<int>(kind)) +
                     " keys " + std::to_string(keys) + " seed " + std::to_string(seed));
        Random random(seed++);
        const PlainSpec spec = Spec(named.comparator);
        const Subject subject(
            spec, MakeEntries(spec.comparator,
                              {.kind = kind, .keys = keys, .versions_max = keys == 60 ? 30u : 2u},
                              &random));
        ASSERT_NO_FATAL_FAILURE(CheckAll(subject, &random));
        // The third order does not keep the keys of a prefix together.
        if (named.comparator == TestComparators()[2].comparator) continue;
        ASSERT_NO_FATAL_FAILURE(CheckPrefixSeeks(subject, &random));
      }
    }
  }
}

TEST_P(PlainTableLayouts, KeysOfOneLengthAreStoredWithoutIt) {
  for (const KeyKind kind : {KeyKind::kDecimal, KeyKind::kHashLike}) {
    Random random(99);
    PlainSpec spec = Spec(BytewiseComparator());
    Entries entries = MakeEntries(spec.comparator, {.kind = kind, .keys = 3000}, &random);
    // Compaction writes sequence 0.
    Entries zeroed(entries.key_comp());
    for (const auto& [key, value] : entries)
      zeroed[MakeInternalKey(ExtractUserKey(key), 0, ValueType::kValue)] = value;
    const Subject variable(spec, zeroed);
    spec.config.user_key_bytes = 16;
    const Subject fixed(spec, std::move(zeroed));
    ASSERT_NO_FATAL_FAILURE(CheckAll(fixed, &random));
    ASSERT_NO_FATAL_FAILURE(CheckPrefixSeeks(fixed, &random));
    const bool plain = spec.config.encoding == PlainEncoding::kPlain;
    EXPECT_EQ(variable.written.properties.data_size - fixed.written.properties.data_size,
              plain ? fixed.entries.size() : 0);
  }
}

// The family's extractor may have changed since the table was written.
TEST_P(PlainTableLayouts, OpensWithAnotherExtractor) {
  Random random(5);
  const PlainSpec spec = Spec(BytewiseComparator());
  Subject subject(
      spec, MakeEntries(spec.comparator,
                        {.kind = KeyKind::kDecimal, .keys = 500, .versions_max = 3}, &random));
  for (const size_t bytes : {size_t{0}, size_t{2}, size_t{13}, size_t{15}}) {
    subject.spec.prefix_extractor.reset(bytes == 0 ? nullptr : NewFixedPrefixTransform(bytes));
    subject.spec.config.hash_table_ratio = bytes == 0 ? 0 : 0.75;
    Result<TableReaderPtr> opened = OpenPlainTable(&subject.fs, kPath, subject.spec);
    ASSERT_OK(opened.status());
    subject.table = std::make_unique<OpenedTable>(std::move(opened).value());
    ASSERT_NO_FATAL_FAILURE(CheckAll(subject, &random));
    ASSERT_NO_FATAL_FAILURE(CheckPrefixSeeks(subject, &random));
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, PlainTableLayouts, ::testing::ValuesIn(kLayouts),
                         [](const auto& layout) { return std::string(layout.param.name); });

// ---- The bytes

Entries EntriesOf(std::initializer_list<std::pair<std::string, std::string>> list,
                  SequenceNumber sequence = 0) {
  Entries entries{InternalOrder{KeyComparator(BytewiseComparator())}};
  for (const auto& [key, value] : list)
    entries[MakeInternalKey(key, sequence, ValueType::kValue)] = value;
  return entries;
}

std::string FileOf(const PlainSpec& spec, const Entries& entries, TableWriteResult* written) {
  MemoryFileSystem fs;
  EXPECT_OK(fs.CreateDir("db"));
  EXPECT_OK(WritePlainTable(&fs, kPath, spec, entries, written));
  Result<std::string> file = ReadFileToString(&fs, kPath, 1 << 20);
  EXPECT_OK(file.status());
  return *file;
}

std::string DataOf(const PlainSpec& spec, const Entries& entries) {
  TableWriteResult written;
  const std::string file = FileOf(spec, entries, &written);
  return file.substr(0, written.properties.data_size);
}

// NOLINTNEXTLINE(google-build-using-namespace): bytes with zeros in them
using namespace std::string_literals;

TEST(PlainTableBytes, PlainKeys) {
  PlainSpec spec;
  EXPECT_EQ(DataOf(spec, EntriesOf({{"a", "1"}, {"bcd", ""}})),
            "\x01"s
            "a\xff\x01"s
            "1\x03"
            "bcd\xff\0"s);
  EXPECT_EQ(DataOf(spec, EntriesOf({{"a", "1"}}, 5)),
            "\x01"s
            "a\x01\x05\0\0\0\0\0\0\x01"s
            "1");
  spec.config.user_key_bytes = 2;
  EXPECT_EQ(DataOf(spec, EntriesOf({{"aa", std::string(200, 'v')}})),
            "aa\xff\xc8\x01" + std::string(200, 'v'));
}

TEST(PlainTableBytes, PrefixKeys) {
  PlainSpec spec{.config = Config(PlainEncoding::kPrefix, 3, 0.75)};
  spec.prefix_extractor.reset(Fixed4());
  const Entries entries = EntriesOf({{"00000001", "a"},
                                     {"0000002", "b"},
                                     {"000000", "c"},
                                     {"000004", "d"},
                                     {"00050001", "e"},
                                     {"0005000200", "f"}});
  EXPECT_EQ(DataOf(spec, entries),
            "\x06"s
            "000000\xff\x01"
            "c"  // full
            "\x44\x84"
            "0001\xff\x01"
            "a"  // shares 4
            "\x83"
            "002\xff\x01"
            "b"  // shares 4, too
            "\x06"
            "000004\xff\x01"
            "d"  // the fourth of its prefix, so full
            "\x08"
            "00050001\xff\x01"
            "e"  // another prefix
            "\x44\x86"
            "000200\xff\x01"
            "f");
  spec.prefix_extractor.reset(NewFixedPrefixTransform(70));
  const std::string prefix(70, 'p');
  EXPECT_EQ(DataOf(spec, EntriesOf({{prefix, ""}, {prefix + "q", ""}})),
            "\x3f\x07" + prefix +
                "\xff\0"s
                "\x7f\x07\x81q\xff\0"s);
}

TEST(PlainTableBytes, FooterAndProperties) {
  PlainSpec spec{.config = Config(PlainEncoding::kPrefix, 16, 0.75, true)};
  spec.prefix_extractor.reset(Fixed4());
  TableWriteResult written;
  const std::string file = FileOf(spec, EntriesOf({{"aaaa1", "1"}, {"bbbb", "2"}}), &written);
  ASSERT_EQ(file.size(), written.file_bytes);
  EXPECT_EQ(Slice(Slice(file).data() + file.size() - 8, 8).ToString(true), "B8138F7AEB18344F");
  const TableProperties& p = written.properties;
  EXPECT_EQ(p.prefix_extractor_name, "rocksdb.FixedPrefix.4");
  EXPECT_EQ(p.format_version, 1u);
  EXPECT_EQ(p.num_data_blocks, 1u);
  EXPECT_EQ(p.user_collected_properties.at("rocksdb.plain.table.encoding.type"), "\x01\0\0\0"s);
  EXPECT_EQ(p.user_collected_properties.at("rocksdb.plain.table.bloom.version"), "1");
  EXPECT_EQ(p.user_collected_properties.at("rocksdb.plain.table.bloom.numblocks"), "\0"s);
  EXPECT_EQ(p.filter_size, 3u);  // 20 bits
  EXPECT_EQ(p.index_size,
            2u + 3 * 4u + 1 +
                // two counts, three buckets, and a sub-index because both prefixes share a bucket
                2 * 4u);
  EXPECT_NE(file.find("kBloomBlock"), std::string::npos);
}

// Reads the index block as its description says: from a prefix to the places that may begin it.
std::vector<uint32_t> PlacesOf(const std::string& block, uint32_t hash) {
  Slice rest(block);
  uint32_t buckets = 0;
  uint32_t prefixes = 0;
  EXPECT_TRUE(GetVarint32(&rest, &buckets) && GetVarint32(&rest, &prefixes));
  const uint32_t bucket = DecodeFixed32(rest.data() + hash % buckets * 4);
  if (bucket == 0x7fffffff) return {};
  if (bucket < 0x80000000) return {bucket};
  Slice sub(rest.data() + buckets * 4, rest.size() - buckets * 4);
  sub.remove_prefix(bucket & 0x7fffffff);
  uint32_t places = 0;
  EXPECT_TRUE(GetVarint32(&sub, &places));
  std::vector<uint32_t> out(places);
  for (uint32_t& offset : out) EXPECT_TRUE(GetFixed32(&sub, &offset));
  return out;
}

TEST(PlainTableBytes, IndexBlockLeadsToEveryPlace) {
  Random random(8);
  PlainIndexBlockBuilder builder(0.5, 3);
  std::map<uint32_t, std::vector<uint32_t>> places;  // by prefix
  uint32_t offset = 0;
  for (uint32_t prefix = 0; prefix < 500; ++prefix) {
    const uint32_t hash = PlainTableHash(std::to_string(prefix));
    for (uint64_t i = 0, entries = 1 + random.Uniform(8); i < entries; ++i, offset += 10) {
      builder.Add(i == 0, hash, offset);
      if (i % 3 == 0) places[prefix].push_back(offset);
    }
  }
  const std::string block = builder.Finish();
  for (const auto& [prefix, expected] : places) {
    const std::vector<uint32_t> found = PlacesOf(block, PlainTableHash(std::to_string(prefix)));
    EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
    EXPECT_TRUE(std::includes(found.begin(), found.end(), expected.begin(), expected.end()))
        << prefix;
  }
}

TEST(PlainTableBytes, IndexAndBloomBlocksStayWithinTheirBounds) {
  for (const double ratio : {0.0, 0.001, 0.75, 5.0}) {
    for (const bool same_hash : {false, true}) {
      SCOPED_TRACE(StrCat(ratio, " ", same_hash));
      PlainIndexBlockBuilder builder(ratio, 2);
      std::vector<uint32_t> hashes;
      for (uint32_t i = 0; i < 1000; ++i) {
        const uint64_t bytes_max = builder.BytesMax(1);
        hashes.push_back(same_hash ? 7u : PlainTableHash(std::to_string(i)));
        builder.Add(i % 3 != 1, hashes.back(), i * 10);
        ASSERT_LE(builder.BytesMax(0), bytes_max);
        if (i % 100 == 0) {
          ASSERT_LE(builder.Finish().size(), builder.BytesMax(0));
        }
      }
      EXPECT_LE(builder.Finish().size(), builder.BytesMax(0));
      for (const bool local : {false, true}) {
        EXPECT_LE(BuildPlainBloom(hashes, 13, local).bytes.size(),
                  PlainBloomBytesMax(hashes.size(), 13));
      }
    }
  }
  EXPECT_LE(PlainBloomBytesMax(kPlainFileBytesMax, UINT32_MAX), uint64_t{1} << 29);
}

TEST(PlainTableBytes, BloomBlocksFilter) {
  std::vector<uint32_t> hashes;
  for (int i = 0; i < 2000; ++i) hashes.push_back(PlainTableHash(std::to_string(i)));
  const PlainBloomBlock local = BuildPlainBloom(hashes, 10, true);
  EXPECT_EQ(local.lines, 41u);
  EXPECT_EQ(local.bytes.size(), 41u * 64);
  const PlainBloomBlock anywhere = BuildPlainBloom(hashes, 10, false);
  EXPECT_EQ(anywhere.lines, 0u);
  EXPECT_EQ(anywhere.bytes.size(), 2500u);
  const auto bit = [](const std::string& bytes, size_t from, uint32_t i) {
    return (static_cast<uint8_t>(bytes[from + i / 8]) >> (i % 8) & 1) != 0;
  };
  const auto in_local = [&](uint32_t h) {
    const size_t line = ((h >> 11 | h << 21) % local.lines) * size_t{64};
    const uint32_t delta = h >> 17 | h << 15;
    bool all = true;
    for (int i = 0; i < 6; ++i, h = (h >> 9 | h << 23) + delta)
      all &= bit(local.bytes, line, h & 511);
    return all;
  };
  const auto in_anywhere = [&](uint32_t h) {
    const uint32_t delta = h >> 17 | h << 15;
    bool all = true;
    for (int i = 0; i < 6; ++i, h += delta) all &= bit(anywhere.bytes, 0, h % 20000);
    return all;
  };
  int false_local = 0;
  int false_anywhere = 0;
  for (const uint32_t hash : hashes) EXPECT_TRUE(in_local(hash) && in_anywhere(hash));
  for (int i = 2000; i < 12000; ++i) {
    false_local += in_local(PlainTableHash(std::to_string(i))) ? 1 : 0;
    false_anywhere += in_anywhere(PlainTableHash(std::to_string(i))) ? 1 : 0;
  }
  EXPECT_LT(false_local, 400);
  EXPECT_LT(false_anywhere, 300);
}

// ---- Limits

TEST(PlainTableBuilder, RefusesKeysOfAnotherLength) {
  PlainSpec spec;
  spec.config.user_key_bytes = 3;
  MemoryFileSystem fs;
  ASSERT_OK(fs.CreateDir("db"));
  TableWriteResult written;
  const Status status =
      WritePlainTable(&fs, kPath, spec, EntriesOf({{"abc", ""}, {"bc", ""}}), &written);
  EXPECT_EQ(
      status.ToString(),
      "Invalid argument: db/000007.sst: a key of 2 bytes in a PlainTable whose user_key_len is 3");
}

// Accepts bytes and keeps none.
class Sink final : public vfs::WritableFile {
 public:
  Status Append(const Slice& data) override {
    bytes_ += data.size();
    return Status::OK();
  }
  Status Flush() override { return Status::OK(); }
  Status Sync() override { return Status::OK(); }
  Status Close() override { return Status::OK(); }
  uint64_t Size() const override { return bytes_; }

 private:
  uint64_t bytes_ = 0;
};

TEST(PlainTableBuilder, RefusesWhatOffsetsCannotReach) {
  for (const bool store_index : {false, true}) {
    Sink sink;
    PlainTableConfig config;
    config.store_index_in_file = store_index;
    Result<std::unique_ptr<PlainTableBuilder>> writer = PlainTableBuilder::Create(
        {.file = &sink, .file_name = "t", .comparator = KeyComparator(BytewiseComparator())},
        config);
    ASSERT_OK(writer.status());
    const std::string value(size_t{64} << 20, 'v');
    int added = 0;
    for (; (*writer)->status().ok(); ++added)
      (*writer)->Add(MakeInternalKey(std::to_string(100 + added), 1, ValueType::kValue), value);
    EXPECT_EQ(added, 32);
    EXPECT_EQ((*writer)->status().ToString(),
              "Invalid argument: t: a PlainTable cannot grow beyond 2 GiB: set a smaller "
              "write_buffer_size or target_file_size_base");
    TableWriteResult result;
    EXPECT_FALSE((*writer)->Finish(&result).ok());
    EXPECT_LT(sink.Size(), kPlainFileBytesMax);
  }
}

// If the table is full, a flush or compaction continues in another file.
TEST(PlainTableBuilder, IsFullWhileItsIndexStillHasRoom) {
  Sink sink;
  // Each prefix takes 400,000 bytes of the index.
  Result<std::unique_ptr<PlainTableBuilder>> writer = PlainTableBuilder::Create(
      {.file = &sink,
       .file_name = "t",
       .comparator = KeyComparator(BytewiseComparator()),
       .prefix_extractor = std::shared_ptr<const SliceTransform>(NewNoopTransform())},
      Config(PlainEncoding::kPlain, 16, 1e-5, true));
  ASSERT_OK(writer.status());
  const auto add = [&](int i) {
    (*writer)->Add(MakeInternalKey(std::to_string(10000 + i), 1, ValueType::kValue), "v");
  };
  int added = 0;
  for (; added < 10000 && (*writer)->EstimatedFileBytes() < kPlainOutputBytesMax; ++added)
    add(added);
  EXPECT_GT(added, 4000);
  EXPECT_LT(added, 4050);
  add(added);  // like another version of the user key
  EXPECT_OK((*writer)->status());
}

// ---- Pins

TEST(PlainTablePins, ValuesStayWhenTheTableIsDropped) {
  Random random(1);
  PlainSpec spec;
  spec.config.hash_table_ratio = 0;
  MemoryFileSystem fs;
  ASSERT_OK(fs.CreateDir("db"));
  TableWriteResult written;
  ASSERT_OK(
      WritePlainTable(&fs, kPath, spec, EntriesOf({{"a", "apple"}, {"b", "banana"}}), &written));
  std::atomic<int64_t> live_blocks{0};
  PinnableSlice value;
  {
    std::unique_ptr<vfs::RandomAccessFile> file;
    ASSERT_OK(fs.NewRandomAccessFile(kPath, {.use_mmap_reads = true}, &file));
    Result<TableReaderPtr> opened = PlainTable::Open({.file = std::move(file),
                                                      .file_name = kPath,
                                                      .file_bytes = written.file_bytes,
                                                      .epochs = &TestEpochs(),
                                                      .comparator = spec.comparator,
                                                      .live_blocks = &live_blocks});
    ASSERT_OK(opened.status());
    const OpenedTable table(std::move(opened).value());
    EXPECT_FALSE(table->CountBlocks().any_pinned);
    const EpochGuard guard(TestEpochs());
    Lookup lookup({.user_key = "b"});
    table->Get({}, &lookup);
    ASSERT_OK(lookup.Finish(&value));
    EXPECT_TRUE(value.IsPinned());
    EXPECT_TRUE(table->CountBlocks().any_pinned);
  }
  EXPECT_EQ(live_blocks.load(), 1) << "unlinked, and still pinned";
  EXPECT_EQ(value.ToString(), "banana");
  value.Reset();
  SettleEpochs();
  EXPECT_EQ(live_blocks.load(), 0);
}

// ---- Files that are not mapped

// Each read returns only a few bytes, as it may in a file that a program implements.
class ShortReads final : public vfs::RandomAccessFile {
 public:
  struct Bytes {
    std::string contents;
    uint64_t readable = 0;  // where reads end, whatever the size is
    Status failure{};       // returned by reads from there on
    size_t reads = 0;
  };
  explicit ShortReads(Bytes* bytes) : bytes_(bytes) {}
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    constexpr size_t kBytesMax = 100;
    ++bytes_->reads;
    *result = Slice();
    if (offset >= bytes_->readable) return bytes_->failure;
    n = std::min({n, kBytesMax, static_cast<size_t>(bytes_->readable - offset)});
    const char* const from = bytes_->contents.data() + offset;
    const bool in_place = bytes_->reads % 2 == 0;  // memory that lives as long as the file
    if (!in_place) memcpy(scratch, from, n);
    *result = Slice(in_place ? from : scratch, n);
    return Status::OK();
  }
  Status Size(uint64_t* bytes) const override {
    *bytes = bytes_->contents.size();
    return Status::OK();
  }

 private:
  Bytes* const bytes_;
};

class PlainTableReads : public ::testing::Test {
 protected:
  PlainTableReads() : subject_({.config = Config(PlainEncoding::kPlain, 16, 0)}, Many()) {
    EXPECT_OK(ReadWhole(&bytes_.contents));
    bytes_.readable = bytes_.contents.size();
  }
  static Entries Many() {
    Entries entries = EntriesOf({});
    for (int i = 100; i < 400; ++i)
      entries[MakeInternalKey(StrCat("key", i), 5, ValueType::kValue)] = StrCat("value ", i);
    return entries;
  }
  Status ReadWhole(std::string* contents) {
    std::unique_ptr<vfs::RandomAccessFile> file;
    ASHLAR_RETURN_IF_ERROR(subject_.fs.NewRandomAccessFile(kPath, {}, &file));
    contents->resize(subject_.written.file_bytes);
    Slice result;
    ASHLAR_RETURN_IF_ERROR(file->Read(0, contents->size(), &result, contents->data()));
    *contents = result.ToString();
    return Status::OK();
  }
  Result<TableReaderPtr> Open() {
    return PlainTable::Open({.file = std::make_unique<ShortReads>(&bytes_),
                             .file_name = kPath,
                             .file_bytes = subject_.written.file_bytes,
                             .epochs = &TestEpochs(),
                             .comparator = subject_.spec.comparator,
                             .config = subject_.spec.config});
  }

  Subject subject_;
  ShortReads::Bytes bytes_;
};

TEST_F(PlainTableReads, AShortReadIsNotTheWholeFile) {
  Result<TableReaderPtr> opened = Open();
  ASSERT_OK(opened.status());
  EXPECT_GE(bytes_.reads, bytes_.contents.size() / 100);
  subject_.table = std::make_unique<OpenedTable>(std::move(opened).value());
  Random random(1);
  CheckLookups(subject_, &random);
  CheckWalks(subject_, &random);
  EXPECT_OK(subject_.table->get()->Verify());
}

TEST_F(PlainTableReads, AFileThatEndsBeforeItsSizeIsDamaged) {
  const std::string size = StrCat(bytes_.contents.size());
  for (const uint64_t readable : {uint64_t{0}, uint64_t{1}, bytes_.readable - 1}) {
    bytes_.readable = readable;
    EXPECT_EQ(Open().status().ToString(), StrCat("Corruption: ", kPath, ": the file has ", readable,
                                                 " bytes, expected ", size));
  }
}

TEST_F(PlainTableReads, AFileOfAnotherSizeIsNotRead) {
  for (const size_t bytes : {bytes_.contents.size() + 1, bytes_.contents.size() - 1}) {
    bytes_.contents.resize(bytes);
    bytes_.readable = bytes;
    EXPECT_TRUE(Open().status().IsCorruption());
    EXPECT_EQ(bytes_.reads, 0u);
  }
}

TEST_F(PlainTableReads, AnErrorOfTheFileIsTheError) {
  bytes_.readable /= 2;
  bytes_.failure = Status::IOError("the disk");
  EXPECT_EQ(Open().status().ToString(), "IO error: the disk");
}

// Verify reads the file again and not the bytes that Open has read.
TEST_F(PlainTableReads, VerifySeesADamageAfterTheOpen) {
  Result<TableReaderPtr> opened = Open();
  ASSERT_OK(opened.status());
  const OpenedTable table(std::move(opened).value());
  EXPECT_OK(table->Verify());
  bytes_.contents[bytes_.contents.size() / 2] ^= 1;
  EXPECT_TRUE(table->Verify().IsCorruption());
}

TEST_F(PlainTableReads, ItsBytesAreCharged) {
  const size_t mapped = subject_.table->get()->MemoryBytes();
  Result<TableReaderPtr> opened = Open();
  ASSERT_OK(opened.status());
  const OpenedTable table(std::move(opened).value());
  EXPECT_EQ(table->MemoryBytes(), mapped + subject_.written.file_bytes);
}

}  // namespace
}  // namespace ashlar::test
