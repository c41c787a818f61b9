// Prefixes in block-based tables: the contents of the filter, the properties, and the lookups and
// seeks that the filter rules out. The tables are opened without a cache and read with cached_only,
// so a lookup that would read a block fails.
#include <gtest/gtest.h>

#include "ashlar/convenience.h"
#include "ashlar/perf_context.h"
#include "ashlar/statistics.h"
#include "key/seek_prefix.h"
#include "table/blockbased/table_test_kit.h"
#include "table/table_properties.h"

namespace ashlar::test {
namespace {

using TransformPtr = std::shared_ptr<const SliceTransform>;

TransformPtr Transform(const std::string& id) {
  TransformPtr made;
  EXPECT_OK(SliceTransform::CreateFromString(ConfigOptions(), id, &made));
  return made;
}

// Equivalent to fixed:2, but with its own name.
class OfTheProgram final : public SliceTransform {
 public:
  const char* Name() const override { return "of.the.program"; }
  Slice Transform(const Slice& key) const override { return Slice(key.data(), 2); }
  bool InDomain(const Slice& key) const override { return key.size() >= 2; }
};

struct Looked {
  SeekScope scope = SeekScope::kPrefix;
  const char* upper = nullptr;
};

class TablePrefixTest : public testing::Test {
 protected:
  struct Written {
    std::string extractor = "fixed:2";
    bool whole_keys = true;
    std::vector<std::string> keys = {"a", "aa1", "aa2", "ac1", "ae1", "ae2", "b"};
  };

  void Write(const Written& written) { Write(written, Transform(written.extractor)); }
  void Write(const Written& written, const TransformPtr& extractor) {
    TableSpec spec;
    spec.config.filter_millibits_per_key = 20000;
    spec.config.whole_key_filtering = written.whole_keys;
    spec.config.block_bytes = 1;  // one entry in a block
    spec.prefix_extractor = extractor;
    Entries entries{InternalOrder{KeyComparator(BytewiseComparator())}};
    for (const std::string& key : written.keys)
      entries[MakeInternalKey(key, 5, ValueType::kValue)] = "v" + key;
    ASSERT_OK(WriteTable(&fs_, "/t.sst", spec, entries, &result_));
  }
  void Open(const TransformPtr& current) {
    Result<TableReaderPtr> opened =
        OpenTable(&fs_, "/t.sst", {.statistics = statistics_.get(), .prefix_extractor = current});
    ASSERT_OK(opened.status());
    table_ = std::make_unique<OpenedTable>(std::move(opened).value());
  }
  void WriteAndOpen(const Written& written) {
    const TransformPtr extractor = Transform(written.extractor);
    Write(written, extractor);
    Open(extractor);
  }

  // Returns "end" if the filter rules the table out, and "read" otherwise.
  std::string Seek(const TransformPtr& current, const std::string& key, bool forward = true,
                   const Looked& looked = {}) {
    const Slice upper(looked.upper == nullptr ? "" : looked.upper);
    SeekPrefix seek({.comparator = KeyComparator(BytewiseComparator()),
                     .transform = current.get(),
                     .upper_bound = looked.upper == nullptr ? nullptr : &upper,
                     .scope_max = looked.scope});
    seek.SetScope(SeekScope::kPrefix);
    seek.Begin(key, forward);
    const std::string target = forward ? MakeInternalKey(key, kSequenceNumberMax, ValueType::kMax)
                                       : MakeInternalKey(key, 0, ValueType::kDeletion);
    return table_->get()->MayMatch(&seek, target) ? "read" : "end";
  }
  std::string Get(const std::string& key) {
    TableReadOptions options;
    options.cached_only = true;
    const std::string text = GetText(table_->get(), options, key, kSequenceNumberMax);
    return text == "(none)" ? "end" : text.starts_with("Result incomplete") ? "read" : text;
  }
  std::string Property(const char* name) const {
    return TablePropertiesByName(table_->get()->properties())[name];
  }

  MemoryFileSystem fs_;
  const std::shared_ptr<Statistics> statistics_ = CreateDBStatistics();
  TableWriteResult result_;
  std::unique_ptr<OpenedTable> table_;
};

TEST_F(TablePrefixTest, PropertiesNameTheTransform) {
  WriteAndOpen({});
  EXPECT_EQ(Property("rocksdb.prefix.extractor.name"), "rocksdb.FixedPrefix.2");
  EXPECT_EQ(Property(kPropertyPrefixFiltering), "1");
  EXPECT_EQ(Property(kPropertyWholeKeyFiltering), "1");
  EXPECT_EQ(Property("rocksdb.num.filter_entries"), "10");
  WriteAndOpen({.whole_keys = false});
  EXPECT_EQ(Property(kPropertyWholeKeyFiltering), "0");
  EXPECT_EQ(Property("rocksdb.num.filter_entries"), "3");
  WriteAndOpen({.extractor = "nullptr"});
  EXPECT_EQ(Property("rocksdb.prefix.extractor.name"), "nullptr");
  EXPECT_EQ(Property(kPropertyPrefixFiltering), "0");
  // A filter without entries is not written, because the table has keys without a prefix.
  WriteAndOpen({.whole_keys = false, .keys = {"a", "b"}});
  EXPECT_EQ(Property("rocksdb.filter.size"), "0");
  EXPECT_EQ(Get("a"), "read");
}

TEST_F(TablePrefixTest, SeeksForAbsentPrefixesReadNothing) {
  for (const bool whole_keys : {true, false}) {
    WriteAndOpen({.whole_keys = whole_keys});
    const TransformPtr current = Transform("fixed:2");
    Open(current);
    for (const bool forward : {true, false}) {
      SCOPED_TRACE(forward);
      EXPECT_EQ(Seek(current, "ac", forward), "read");
      EXPECT_EQ(Seek(current, "ac9", forward), "read");
      EXPECT_EQ(Seek(current, "ab", forward), "end");
      EXPECT_EQ(Seek(current, "adzz", forward), "end");
      // The key has no prefix, so the filter cannot rule it out.
      EXPECT_EQ(Seek(current, "a", forward), "read");
      EXPECT_EQ(Seek(current, "", forward), "read");
    }
  }
}

TEST_F(TablePrefixTest, ChecksAreCounted) {
  const TransformPtr current = Transform("fixed:2");
  Write({}, current);
  Open(current);
  get_perf_context()->Reset();
  Seek(current, "ac");
  Seek(current, "ab");
  Seek(current, "a");
  EXPECT_EQ(get_perf_context()->bloom_sst_hit_count, 1u);
  EXPECT_EQ(get_perf_context()->bloom_sst_miss_count, 1u);
  EXPECT_EQ(statistics_->getTickerCount(BLOOM_FILTER_PREFIX_CHECKED), 2u);
  EXPECT_EQ(statistics_->getTickerCount(BLOOM_FILTER_PREFIX_USEFUL), 1u);
  EXPECT_EQ(statistics_->getTickerCount(BLOCK_CACHE_DATA_MISS), 0u);
  Write({.whole_keys = false}, current);
  Open(current);
  EXPECT_EQ(Get("ab1"), "end");
  EXPECT_EQ(Get("ac7"), "read");
  EXPECT_EQ(statistics_->getTickerCount(BLOOM_FILTER_PREFIX_CHECKED), 4u);
  EXPECT_EQ(statistics_->getTickerCount(BLOOM_FILTER_PREFIX_USEFUL), 2u);
}

TEST_F(TablePrefixTest, GetUsesThePrefixWhereThereAreNoWholeKeys) {
  WriteAndOpen({.whole_keys = false});
  EXPECT_EQ(Get("aa1"), "read");
  EXPECT_EQ(Get("aa9"), "read");
  EXPECT_EQ(Get("ab"), "end");
  EXPECT_EQ(Get("a"), "read");
  EXPECT_EQ(Get("0"), "read");
  WriteAndOpen({.whole_keys = true});
  EXPECT_EQ(Get("aa1"), "read");
  EXPECT_EQ(Get("aa9"), "end");
  EXPECT_EQ(Get("0"), "end");
}

TEST_F(TablePrefixTest, ATableKeepsTheTransformItWasWrittenWith) {
  Write({.extractor = "fixed:2", .whole_keys = false});
  const TransformPtr current = Transform("fixed:1");
  Open(current);
  // A prefix of the family's transform is not a prefix of the filter's.
  EXPECT_EQ(Seek(current, "ab"), "read");
  EXPECT_EQ(Seek(current, "c"), "read");
  // The filter is used if the bound leaves only keys with a single prefix of the filter.
  EXPECT_EQ(Seek(current, "ab", true, {.upper = "ac"}), "end");
  EXPECT_EQ(Seek(current, "ab", true, {.upper = "ab7"}), "end");
  EXPECT_EQ(Seek(current, "ab", true, {.upper = "ad"}), "read");
  EXPECT_EQ(Seek(current, "ab", false, {.upper = "ac"}), "read");
  // Only the table's own transform counts for a lookup.
  EXPECT_EQ(Get("ab1"), "end");
  EXPECT_EQ(Get("ac7"), "read");
}

TEST_F(TablePrefixTest, ATransformOfTheProgramIsUsedOnlyWhereItIsAtHand) {
  const TransformPtr own = std::make_shared<OfTheProgram>();
  Write({.whole_keys = false}, own);
  Open(own);
  EXPECT_EQ(Property("rocksdb.prefix.extractor.name"), "of.the.program");
  EXPECT_EQ(Seek(own, "ab"), "end");
  EXPECT_EQ(Get("ab"), "end");
  const TransformPtr other = Transform("fixed:2");
  for (const TransformPtr& current : {other, TransformPtr()}) {
    Open(current);
    EXPECT_EQ(Seek(other, "ab", true, {.upper = "ac"}), "read");
    EXPECT_EQ(Get("ab"), "read");
  }
}

TEST_F(TablePrefixTest, TotalOrderTrustsTheFilterOnlyBelowABound) {
  const TransformPtr current = Transform("fixed:2");
  Write({}, current);
  Open(current);
  EXPECT_EQ(Seek(current, "ab", true, {.scope = SeekScope::kTotalOrder}), "read");
  EXPECT_EQ(Seek(current, "ab", true, {.scope = SeekScope::kTotalOrder, .upper = "ad"}), "read");
  EXPECT_EQ(Seek(current, "ab", true, {.scope = SeekScope::kTotalOrder, .upper = "ac"}), "end");
  EXPECT_EQ(Seek(current, "ab", true, {.scope = SeekScope::kTotalOrder, .upper = "abx"}), "end");
  EXPECT_EQ(Seek(current, "ab", false, {.scope = SeekScope::kTotalOrder, .upper = "ac"}), "read");
}

// A seek for the prefix of a key finds it, for prefixes of every shape.
TEST_F(TablePrefixTest, EveryPrefixThatIsThereIsFound) {
  for (const char* const id : {"fixed:0", "fixed:1", "fixed:4", "capped:3", "capped:40", "noop"}) {
    for (const bool whole_keys : {false, true}) {
      for (const KeyKind kind : kKeyKinds) {
        Random random(7);
        Written written{.extractor = id, .whole_keys = whole_keys, .keys = {}};
        for (uint64_t i = 0; i < 300; ++i) written.keys.push_back(MakeKey(kind, i, &random));
        WriteAndOpen(written);
        const TransformPtr current = Transform(id);
        Open(current);
        for (const std::string& key : written.keys) {
          const std::optional<Slice> prefix = KeyPrefix(current.get(), key);
          if (!prefix) continue;
          for (const bool forward : {true, false})
            ASSERT_EQ(Seek(current, prefix->ToString(), forward), "read")
                << id << Slice(key).ToString(true);
          ASSERT_EQ(Get(key), "read");
        }
      }
    }
  }
}

}  // namespace
}  // namespace ashlar::test
