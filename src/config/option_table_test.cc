#include "config/option_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/convenience.h"
#include "ashlar/filter_policy.h"
#include "ashlar/listener.h"
#include "ashlar/merge_operator.h"
#include "ashlar/write_buffer_manager.h"
#include "base/format.h"
#include "config/options_file.h"
#include "config/validate.h"
#include "tests/support/expect_ok.h"

namespace ashlar {
namespace {

template <typename Struct>
std::string ValueOf(const Struct& options, std::string_view name) {
  for (const OptionEntry<Struct>& entry : OptionTableOf<Struct>()) {
    if (name == entry.name) return entry.print(options);
  }
  return "no such option";
}

template <typename Struct>
class OptionTable : public testing::Test {};
using Structs =
    testing::Types<DBOptions, ColumnFamilyOptions, BlockBasedTableOptions, PlainTableOptions>;
TYPED_TEST_SUITE(OptionTable, Structs);

TYPED_TEST(OptionTable, NamesAreUnique) {
  std::set<std::string> names;
  for (const auto& entry : OptionTableOf<TypeParam>())
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
}

TYPED_TEST(OptionTable, DefaultsReadBackAsTheyPrint) {
  const TypeParam defaults;
  TypeParam read;
  for (const auto& [name, value] : PrintOptions(defaults)) {
    const Status s = SetOption(ParseRules{.ignore_unsupported = false}, name, value, &read);
    EXPECT_TRUE(s.ok()) << s.ToString();
  }
  EXPECT_EQ(PrintOptions(read), PrintOptions(defaults));
}

// Sets each flag and number to another value and reads it back. This finds two entries for one
// member, and an entry without effect.
TYPED_TEST(OptionTable, EveryFlagAndNumberIsAMemberOfItsOwn) {
  const TypeParam defaults;
  for (const auto& entry : OptionTableOf<TypeParam>()) {
    const std::string before = entry.print(defaults);
    std::string other;
    if (before == "true" || before == "false")
      other = before == "true" ? "false" : "true";
    else if (!before.empty() && before.find_first_not_of("0123456789") == std::string::npos)
      other = before == "17" ? "18" : "17";
    else
      continue;
    TypeParam changed;
    ASSERT_TRUE(SetOption(ParseRules{}, entry.name, other, &changed).ok()) << entry.name;
    for (const auto& check : OptionTableOf<TypeParam>()) {
      const bool same_entry = std::string_view(check.name) == entry.name;
      EXPECT_EQ(check.print(changed), same_entry ? other : check.print(defaults))
          << entry.name << " changed " << check.name;
    }
  }
}

TEST(OptionValues, NumbersTakeUnitsAndCheckTheirRange) {
  ColumnFamilyOptions options;
  EXPECT_TRUE(SetOption(ParseRules{}, "write_buffer_size", "64k", &options).ok());
  EXPECT_EQ(options.write_buffer_size, 65536u);
  EXPECT_TRUE(SetOption(ParseRules{}, "blob_file_starting_level", "-1", &options).ok());
  EXPECT_EQ(options.blob_file_starting_level, -1);
  EXPECT_TRUE(SetOption(ParseRules{}, "max_bytes_for_level_multiplier", "7.5", &options).ok());
  EXPECT_EQ(options.max_bytes_for_level_multiplier, 7.5);
  for (const auto& [name, value] :
       {std::pair("write_buffer_size", "-1"), std::pair("num_levels", "2147483648"),
        std::pair("num_levels", "7x"), std::pair("num_levels", ""),
        std::pair("bloom_locality", "4294967296"), std::pair("num_levels", "-2147483649"),
        std::pair("disable_auto_compactions", "yes"),
        std::pair("max_bytes_for_level_multiplier", "ten")}) {
    const Status s = SetOption(ParseRules{}, name, value, &options);
    EXPECT_TRUE(s.IsInvalidArgument()) << name << "=" << value;
    EXPECT_NE(s.ToString().find(StrCat("option ", name, "=", value)), std::string::npos)
        << s.ToString();
  }
  EXPECT_TRUE(SetOption(ParseRules{}, "num_levels", "-2147483648", &options).ok());
  EXPECT_EQ(options.num_levels, -2147483647 - 1);
}

TEST(OptionValues, EnumsGoByName) {
  ColumnFamilyOptions options;
  EXPECT_TRUE(SetOption(ParseRules{}, "compression", "kZSTD", &options).ok());
  EXPECT_EQ(options.compression, kZSTD);
  EXPECT_TRUE(SetOption(ParseRules{}, "compression", "kZSTDNotFinalCompression", &options).ok());
  EXPECT_EQ(ValueOf(options, "compression"), "kZSTD");
  EXPECT_TRUE(
      SetOption(ParseRules{}, "compression_per_level", "kNoCompression:kLZ4Compression", &options)
          .ok());
  EXPECT_EQ(options.compression_per_level,
            (std::vector<CompressionType>{kNoCompression, kLZ4Compression}));
  EXPECT_EQ(ValueOf(options, "compression_per_level"), "kNoCompression:kLZ4Compression");
  const Status s = SetOption(ParseRules{}, "compression", "zstd", &options);
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_NE(s.ToString().find("kZSTD"), std::string::npos) << s.ToString();
}

TEST(OptionValues, StructsTakeTheFieldsThatAreGiven) {
  ColumnFamilyOptions options;
  EXPECT_TRUE(SetOption(ParseRules{}, "compression_opts", "{level=3;strategy=1}", &options).ok());
  EXPECT_EQ(options.compression_opts.level, 3);
  EXPECT_EQ(options.compression_opts.strategy, 1);
  EXPECT_EQ(options.compression_opts.window_bits, -14);
  EXPECT_TRUE(SetOption(ParseRules{}, "compression_opts",
                        "checksum=false;max_compressed_bytes_per_kb=896", &options)
                  .ok())
      << "fields of newer releases";
  EXPECT_TRUE(
      SetOption(ParseRules{}, "compression_opts", "{nonsense=3}", &options).IsInvalidArgument());
  EXPECT_TRUE(SetOption(ParseRules{}, "compression_opts", "{level=9;strategy=x}", &options)
                  .IsInvalidArgument());
  EXPECT_EQ(options.compression_opts.level, 3) << "a failure changes nothing";
}

// The name "option.field" sets one field of a struct and leaves the others as they are.
TEST(OptionValues, OneFieldOfAStructHasAName) {
  ColumnFamilyOptions options;
  options.compression_opts.level = 3;
  const auto set = [&options](const char* name, const char* value) {
    return SetOption(ParseRules{.only_mutable = true}, name, value, &options);
  };
  ASSERT_TRUE(set("compression_opts.max_dict_bytes", "4096").ok());
  EXPECT_EQ(options.compression_opts.max_dict_bytes, 4096u);
  EXPECT_EQ(options.compression_opts.level, 3);
  ASSERT_TRUE(set("compaction_options_universal.size_ratio", "7").ok());
  EXPECT_EQ(options.compaction_options_universal.size_ratio, 7u);
  ASSERT_TRUE(set("block_based_table_factory.block_size", "8k").ok());
  EXPECT_EQ(options.table_factory->GetOptions<BlockBasedTableOptions>()->block_size, 8192u);
  for (const auto& [name, value] :
       {std::pair("compression_opts.nonsense", "1"), std::pair("compression_opts.level", "x"),
        std::pair("compression_opts.", "1"), std::pair("write_buffer_size.level", "1"),
        std::pair(".level", "1"), std::pair("block_based_table_factory.block_cache", "1m")}) {
    const Status refused = set(name, value);
    EXPECT_TRUE(refused.IsInvalidArgument()) << name << ": " << refused.ToString();
  }
}

// Older releases write these forms.
TEST(OptionValues, StructsMayComeWithoutTheNamesOfTheirFields) {
  ColumnFamilyOptions options;
  const auto set = [&options](const char* name, const char* value) {
    return SetOption(ParseRules{}, name, value, &options);
  };
  const CompressionOptions& compression = options.compression_opts;
  ASSERT_TRUE(set("compression_opts", "4:5:6").ok());
  EXPECT_EQ(compression.window_bits, 4);
  EXPECT_EQ(compression.level, 5);
  EXPECT_EQ(compression.strategy, 6);
  ASSERT_TRUE(set("compression_opts", "-14:1:0:100:200:true").ok());
  EXPECT_EQ(compression.window_bits, -14);
  EXPECT_EQ(compression.max_dict_bytes, 100u);
  EXPECT_EQ(compression.zstd_max_train_bytes, 200u);
  EXPECT_TRUE(compression.enabled);
  EXPECT_EQ(compression.parallel_threads, CompressionOptions().parallel_threads);
  ASSERT_TRUE(set("compression_opts", "1:2:3:4:5:6:false:8:false").ok());
  EXPECT_EQ(compression.parallel_threads, 6u);
  EXPECT_FALSE(compression.enabled);
  EXPECT_EQ(compression.max_dict_buffer_bytes, 8u);
  EXPECT_FALSE(compression.use_zstd_dict_trainer);
  ASSERT_TRUE(set("bottommost_compression_opts", "7:8:9:10").ok());
  EXPECT_EQ(options.bottommost_compression_opts.max_dict_bytes, 10u);
  for (const char* const text :
       {"4", "4:5", "4:5:x", "4:5:6:7:8:9", "1:2:3:4:5:6:true:8:true:10", "4:5:6:", ":::"}) {
    EXPECT_TRUE(set("compression_opts", text).IsInvalidArgument()) << text;
  }
  EXPECT_EQ(compression.window_bits, 1) << "a failure changes nothing";
  ASSERT_TRUE(set("compaction_options_fifo", "23").ok());
  EXPECT_EQ(options.compaction_options_fifo.max_table_files_size, 23u);
}

TEST(OptionObjects, SpacesOfADelimiterArePartOfIt) {
  for (const char* const delimiter : {" ", ", ", "\n", "\r\n", "\t", " ; ", " = ", " {} ", ""}) {
    SCOPED_TRACE(delimiter);
    ColumnFamilyOptions options;
    options.merge_operator = MergeOperators::CreateStringAppendOperator(delimiter);
    const std::string id = options.merge_operator->GetId();
    std::string text;
    ASSERT_TRUE(GetStringFromColumnFamilyOptions(ConfigOptions(), options, &text).ok());
    ColumnFamilyOptions read;
    const Status s =
        GetColumnFamilyOptionsFromString(ConfigOptions(), ColumnFamilyOptions(), text, &read);
    ASSERT_TRUE(s.ok()) << s.ToString();
    ASSERT_NE(read.merge_operator, nullptr);
    EXPECT_EQ(read.merge_operator->GetId(), id);
    const std::string file =
        PrintOptionsFile(DBOptions(), {ColumnFamilyDescriptor("default", read)});
    const Result<ParsedOptionsFile> parsed = ParseOptionsFile(file, "file", {});
    ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
    ASSERT_NE(parsed->families[0].options.merge_operator, nullptr);
    EXPECT_EQ(parsed->families[0].options.merge_operator->GetId(), id);
  }
  // RocksDB writes a line end this way.
  ColumnFamilyOptions options;
  const Status s = SetOption(ParseRules{.values_are_escaped = true}, "merge_operator",
                             "{id=StringAppendOperator;delimiter=\\n;}", &options);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(options.merge_operator->GetId(),
            MergeOperators::CreateStringAppendOperator("\n")->GetId());
}

TEST(OptionObjects, BuiltInOnesAreMadeAgainFromTheirIds) {
  ColumnFamilyOptions options;
  const auto round_trip = [&options](const char* name, const char* text, const char* printed) {
    const Status s = SetOption(ParseRules{.ignore_unsupported = false}, name, text, &options);
    EXPECT_TRUE(s.ok()) << s.ToString();
    EXPECT_EQ(ValueOf(options, name), printed);
  };
  round_trip("comparator", "rocksdb.ReverseBytewiseComparator",
             "rocksdb.ReverseBytewiseComparator");
  EXPECT_EQ(options.comparator, ReverseBytewiseComparator());
  round_trip("merge_operator", "{id=StringAppendOperator;delimiter=:;}",
             "{id=StringAppendOperator;delimiter=:;}");
  round_trip("merge_operator", "{id=StringAppendOperator;delimiter={;};}",
             "{id=StringAppendOperator;delimiter={;};}");
  round_trip("merge_operator", "{id = StringAppendOperator ; delimiter = , }",
             "{id=StringAppendOperator;delimiter=,;}");
  round_trip("merge_operator", "stringappend", "{id=StringAppendOperator;delimiter=,;}");
  round_trip("merge_operator", "uint64add", "UInt64AddOperator");
  round_trip("merge_operator", "put", "PutOperator");
  round_trip("merge_operator", "max", "MaxOperator");
  round_trip("merge_operator", "nullptr", "nullptr");
  round_trip("prefix_extractor", "fixed:8", "rocksdb.FixedPrefix.8");
  round_trip("prefix_extractor", "rocksdb.CappedPrefix.9", "rocksdb.CappedPrefix.9");
  round_trip("prefix_extractor", "rocksdb.Noop", "rocksdb.Noop");
  round_trip("memtable_factory", "{id=SkipListFactory;lookahead=3}", "SkipListFactory:3");
  round_trip("memtable_factory", "skip_list:16", "SkipListFactory:16");
  round_trip("memtable_factory", "skip_list", "SkipListFactory");
  const char* const buckets =
      "{id=HashSkipListRepFactory;branching_factor=4;skiplist_height=4;bucket_count=1000;}";
  round_trip("memtable_factory", "prefix_hash:1000", buckets);
  round_trip("memtable_factory", buckets, buckets);
  round_trip(
      "memtable_factory", "HashSkipListRepFactory",
      "{id=HashSkipListRepFactory;branching_factor=4;skiplist_height=4;bucket_count=1000000;}");
  round_trip("memtable_factory",
             "id=prefix_hash; bucket_count=32; skiplist_height=64; branching_factor=16",
             "{id=HashSkipListRepFactory;branching_factor=16;skiplist_height=64;bucket_count=32;}");
  const char* const lists =
      "{id=HashLinkListRepFactory;log_when_flash=false;logging_threshold=12;huge_page_size=16;"
      "threshold=64;bucket_count=32;}";
  round_trip("memtable_factory",
             "id=hash_linkedlist; bucket_count=32; threshold=64; huge_page_size=16; "
             "logging_threshold=12; log_when_flash=false",
             lists);
  round_trip("memtable_factory", lists, lists);
  round_trip("memtable_factory", "hash_linkedlist",
             "{id=HashLinkListRepFactory;log_when_flash=true;logging_threshold=4096;huge_page_size="
             "0;threshold=256;bucket_count=50000;}");
  round_trip("memtable_factory", "vector", "{id=VectorRepFactory;count=0;}");
  round_trip("memtable_factory", "vector:1024", "{id=VectorRepFactory;count=1024;}");
  round_trip("memtable", "{id=vector;count=42}", "");
  EXPECT_EQ(options.memtable_factory->GetId(), "{id=VectorRepFactory;count=42;}");
  round_trip("table_factory",
             "{id=BlockBasedTable;block_size=8k;filter_policy=bloomfilter:9.5:false}",
             "BlockBasedTable");
  EXPECT_EQ(options.table_factory->GetOptions<BlockBasedTableOptions>()->block_size, 8192u);
  EXPECT_EQ(
      options.table_factory->GetOptions<BlockBasedTableOptions>()->filter_policy->MillibitsPerKey(),
      9500);
  round_trip("block_based_table_factory",
             "block_restart_interval=4;block_cache={capacity=1m;strict_capacity_limit=true}", "");
  const BlockBasedTableOptions& table =
      *options.table_factory->GetOptions<BlockBasedTableOptions>();
  EXPECT_EQ(table.block_restart_interval, 4);
  EXPECT_EQ(table.block_size, 8192u) << "what is not given keeps its value";
  ASSERT_NE(table.block_cache, nullptr);
  EXPECT_EQ(table.block_cache->GetCapacity(), 1u << 20);
  EXPECT_TRUE(table.block_cache->HasStrictCapacityLimit());
  round_trip("table_factory", "PlainTable", "PlainTable");
  EXPECT_EQ(options.table_factory->GetOptions<PlainTableOptions>()->hash_table_ratio, 0.75);
  round_trip("table_factory", "{id=PlainTable;user_key_len=20;encoding_type=kPrefix}",
             "PlainTable");
  round_trip("plain_table_factory",
             "bloom_bits_per_key=11;hash_table_ratio=0;store_index_in_file=true", "");
  const PlainTableOptions& plain = *options.table_factory->GetOptions<PlainTableOptions>();
  EXPECT_EQ(plain.user_key_len, 20u) << "what is not given keeps its value";
  EXPECT_EQ(plain.encoding_type, kPrefix);
  EXPECT_EQ(plain.bloom_bits_per_key, 11);
  EXPECT_EQ(plain.hash_table_ratio, 0);
  EXPECT_TRUE(plain.store_index_in_file);
  round_trip("table_factory", "BlockBasedTable", "BlockBasedTable");
}

TEST(OptionObjects, MemTablesWithWrongParametersAreRefused) {
  ColumnFamilyOptions options;
  for (const char* text :
       {"skip_list:16:more", "prefix_hash:1000:more", "prefix_hash:", "prefix_hash:x",
        "hash_linkedlist:-1", "vector:1:2", "id=vector;invalid=unknown",
        "id=prefix_hash;bucket_count=32;threshold=1", "lookahead=3"}) {
    EXPECT_TRUE(SetOption(ParseRules{}, "memtable_factory", text, &options).IsInvalidArgument())
        << text;
  }
  EXPECT_EQ(options.memtable_factory->GetId(), "SkipListFactory") << "a failure changes nothing";
}

TEST(OptionObjects, AFieldThatAnObjectLacksIsRefused) {
  ColumnFamilyOptions options;
  for (const auto& [name, text] :
       {std::pair("merge_operator", "{id=StringAppendOperator;delimitr=|}"),
        std::pair("merge_operator", "{id=UInt64AddOperator;delimiter=|}"),
        std::pair("sst_partitioner_factory", "{id=SstPartitionerFixedPrefixFactory;lenght=3}"),
        std::pair("block_based_table_factory", "block_cache={capactiy=64m}"),
        std::pair("block_based_table_factory", "block_cache={capacity=64m;num_shard_bit=4}")}) {
    const Status s = SetOption(ParseRules{}, name, text, &options);
    EXPECT_TRUE(s.IsInvalidArgument()) << text << ": " << s.ToString();
    EXPECT_NE(s.ToString().find("has no field called"), std::string::npos) << s.ToString();
  }
  EXPECT_EQ(options.merge_operator, nullptr) << "a failure changes nothing";
  EXPECT_EQ(options.sst_partitioner_factory, nullptr);
  const Status known =
      SetOption(ParseRules{}, "block_based_table_factory",
                "block_cache={capacity=64m;strict_capacity_limit=true;num_shard_bits=4;"
                "high_pri_pool_ratio=0.5;low_pri_pool_ratio=0.2}",
                &options);
  EXPECT_TRUE(known.ok()) << known.ToString();
}

TEST(OptionObjects, FactoriesOfTheProgramPrintWhatTextMakesAgain) {
  const std::unique_ptr<MemTableRepFactory> made[] = {
      std::make_unique<SkipListFactory>(7), std::make_unique<VectorRepFactory>(9),
      std::unique_ptr<MemTableRepFactory>(NewHashSkipListRepFactory(5, 6, 7)),
      std::unique_ptr<MemTableRepFactory>(NewHashLinkListRepFactory(1, 2, 3, false, 4))};
  for (const auto& factory : made) {
    ColumnFamilyOptions options;
    EXPECT_TRUE(SetOption(ParseRules{.ignore_unsupported = false}, "memtable_factory",
                          factory->GetId(), &options)
                    .ok())
        << factory->GetId();
    EXPECT_EQ(options.memtable_factory->GetId(), factory->GetId());
  }
}

TEST(OptionObjects, OthersAreNotSupportedOrSteppedOverAsTheRulesSay) {
  ColumnFamilyOptions options;
  for (const auto& [name, value] :
       {std::pair("comparator", "my.Comparator"), std::pair("merge_operator", "MyOperator"),
        std::pair("table_factory", "CuckooTable"), std::pair("compaction_filter", "MyFilter"),
        std::pair("memtable_factory", "cuckoo:1024")}) {
    const Status s = SetOption(ParseRules{.ignore_unsupported = false}, name, value, &options);
    EXPECT_TRUE(s.IsNotSupported()) << name;
    std::vector<std::string> ignored;
    EXPECT_TRUE(SetOption(ParseRules{.ignore_unsupported = true, .ignored = &ignored}, name, value,
                          &options)
                    .ok());
    ASSERT_EQ(ignored.size(), 1u);
    EXPECT_EQ(ignored[0].find(StrCat(name, "=", value, ": ")), 0u) << ignored[0];
  }
  EXPECT_EQ(options.comparator, BytewiseComparator());
}

// The rules of a call also apply to the list of a table's options.
TEST(OptionObjects, OptionsInsideATableFactoryGoByTheRulesOfTheCall) {
  ConfigOptions unknown_ignored;
  unknown_ignored.ignore_unknown_options = true;
  ConfigOptions strict;
  strict.ignore_unsupported_options = false;
  for (const char* const text :
       {"block_based_table_factory={block_size=8k;nonsense=1;filter_policy=Mine}",
        "table_factory={id=BlockBasedTable;block_size=8k;nonsense=1;filter_policy=Mine}"}) {
    SCOPED_TRACE(text);
    const ColumnFamilyOptions base;
    ColumnFamilyOptions read;
    EXPECT_TRUE(
        GetColumnFamilyOptionsFromString(ConfigOptions(), base, text, &read).IsInvalidArgument());
    ASSERT_OK(GetColumnFamilyOptionsFromString(unknown_ignored, base, text, &read));
    EXPECT_EQ(read.table_factory->GetOptions<BlockBasedTableOptions>()->block_size, 8192u);
  }
  for (const char* const text : {"block_based_table_factory={filter_policy=Mine}",
                                 "table_factory={id=BlockBasedTable;filter_policy=Mine}"}) {
    SCOPED_TRACE(text);
    ColumnFamilyOptions read;
    EXPECT_OK(GetColumnFamilyOptionsFromString(ColumnFamilyOptions(), text, &read));
    EXPECT_TRUE(GetColumnFamilyOptionsFromString(strict, ColumnFamilyOptions(), text, &read)
                    .IsInvalidArgument());
  }
  // The rules for changes to an open database.
  ConfigOptions changes;
  changes.mutable_options_only = true;
  ColumnFamilyOptions read;
  ASSERT_OK(GetColumnFamilyOptionsFromString(
      changes, ColumnFamilyOptions(),
      "block_based_table_factory={block_size=8k;filter_policy=Mine}", &read));
  EXPECT_EQ(read.table_factory->GetOptions<BlockBasedTableOptions>()->block_size, 8192u);
}

TEST(OptionNames, ThoseOfOtherReleasesAreSteppedOverAndUnknownOnesRefused) {
  DBOptions options;
  std::vector<std::string> ignored;
  const ParseRules rules{.ignored = &ignored};
  EXPECT_TRUE(SetOption(rules, "seq_per_batch", "false", &options).ok());
  EXPECT_TRUE(SetOption(rules, "skip_log_error_on_recovery", "false", &options).ok());
  EXPECT_EQ(ignored.size(), 2u);
  EXPECT_EQ(SetOption(rules, "max_open_fiels", "1", &options).ToString(),
            "Invalid argument: option max_open_fiels: there is no such option");
  EXPECT_EQ(
      SetOption(rules, "write_buffer_size", "1", &options).ToString(),
      "Invalid argument: option write_buffer_size: it is an option of a column family, not of "
      "the database (DB::SetOptions)");
  ColumnFamilyOptions family;
  EXPECT_EQ(
      SetOption(rules, "max_background_jobs", "1", &family).ToString(),
      "Invalid argument: option max_background_jobs: it is an option of the database, not of a "
      "column family (DB::SetDBOptions)");
}

TEST(FilterPolicy, BitsAreRoundedAsTheFormatDoes) {
  const auto millibits = [](double bits) {
    return std::unique_ptr<const FilterPolicy>(NewBloomFilterPolicy(bits))->MillibitsPerKey();
  };
  EXPECT_EQ(millibits(10), 10000);
  EXPECT_EQ(millibits(0.4), 0);
  EXPECT_EQ(millibits(-1), 0);
  EXPECT_EQ(millibits(0.6), 1000);
  EXPECT_EQ(millibits(9.9), 9900);
  EXPECT_EQ(millibits(1000), 100000);
  EXPECT_EQ(std::unique_ptr<const FilterPolicy>(NewBloomFilterPolicy(10))->GetId(),
            "bloomfilter:10:false");
}

TEST(FilterPolicy, RibbonIsReadAsItPrints) {
  for (const int level : {-1, 0, 3}) {
    BlockBasedTableOptions table;
    const std::string id = "ribbonfilter:9.5:" + std::to_string(level);
    ASSERT_TRUE(SetOption(ParseRules{}, "filter_policy", id, &table).ok());
    EXPECT_EQ(table.filter_policy->GetId(), id);
    EXPECT_EQ(table.filter_policy->BloomBeforeLevel(), level);
    EXPECT_EQ(table.filter_policy->MillibitsPerKey(), 9500);
  }
  BlockBasedTableOptions table;
  EXPECT_FALSE(SetOption(ParseRules{}, "filter_policy", "ribbonfilter:9:x", &table).ok());
  // RocksDB prints it this way since 8.7.
  ASSERT_TRUE(SetOption(ParseRules{}, "filter_policy",
                        "{id=ribbonfilter:9:0;bloom_before_level=-1;}", &table)
                  .ok());
  EXPECT_EQ(table.filter_policy->BloomBeforeLevel(), -1);
  EXPECT_FALSE(
      SetOption(ParseRules{}, "filter_policy", "{id=ribbonfilter:9;bloom_before_level=x}", &table)
          .ok());
}

// ---- ashlar/convenience.h

TEST(Convenience, OptionsFromStrings) {
  DBOptions db_options;
  ASSERT_TRUE(GetDBOptionsFromString(
                  DBOptions(), "max_open_files=100;wal_dir=/a\\:b;rate_limiter_bytes_per_sec=1m",
                  &db_options)
                  .ok());
  EXPECT_EQ(db_options.max_open_files, 100);
  EXPECT_EQ(db_options.wal_dir, "/a:b");
  EXPECT_NE(db_options.rate_limiter, nullptr);

  Options options;
  ASSERT_TRUE(
      GetOptionsFromString(
          Options(), "max_open_files=7; write_buffer_size=1m; compression=kNoCompression", &options)
          .ok());
  EXPECT_EQ(options.max_open_files, 7);
  EXPECT_EQ(options.write_buffer_size, 1u << 20);
  EXPECT_EQ(options.compression, kNoCompression);

  BlockBasedTableOptions table;
  ASSERT_TRUE(
      GetBlockBasedTableOptionsFromString(
          BlockBasedTableOptions(), "filter_policy=bloomfilter:10:false;block_size=16k", &table)
          .ok());
  EXPECT_EQ(table.block_size, 16384u);
}

TEST(Convenience, AFailureLeavesTheResultAlone) {
  Options options;
  options.max_open_files = 3;
  EXPECT_TRUE(GetOptionsFromString(Options(), "max_open_files=7;write_buffer_size=big", &options)
                  .IsInvalidArgument());
  EXPECT_TRUE(
      GetOptionsFromString(Options(), "max_open_files=7;nonsense=1", &options).IsInvalidArgument());
  EXPECT_EQ(options.max_open_files, 3);
}

TEST(Convenience, PrintedOptionsReadBack) {
  ColumnFamilyOptions options;
  options.merge_operator = MergeOperators::CreateStringAppendOperator(';');
  options.compression_opts.level = 5;
  BlockBasedTableOptions table;
  table.filter_policy.reset(NewBloomFilterPolicy(12));
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  std::string text;
  ASSERT_TRUE(GetStringFromColumnFamilyOptions(&text, options).ok());
  ColumnFamilyOptions read;
  const Status s = GetColumnFamilyOptionsFromString(ColumnFamilyOptions(), text, &read);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(PrintOptions(read), PrintOptions(options));
  EXPECT_EQ(
      read.table_factory->GetOptions<BlockBasedTableOptions>()->filter_policy->MillibitsPerKey(),
      12000);

  PlainTableOptions plain;
  plain.index_sparseness = 5;
  options.table_factory.reset(NewPlainTableFactory(plain));
  ASSERT_TRUE(GetStringFromColumnFamilyOptions(&text, options).ok());
  ASSERT_TRUE(GetColumnFamilyOptionsFromString(ColumnFamilyOptions(), text, &read).ok());
  ASSERT_NE(read.table_factory->GetOptions<PlainTableOptions>(), nullptr);
  EXPECT_EQ(read.table_factory->GetOptions<PlainTableOptions>()->index_sparseness, 5u);
  ASSERT_TRUE(
      GetPlainTableOptionsFromString(plain, "user_key_len=3;full_scan_mode=1", &plain).ok());
  EXPECT_EQ(plain.user_key_len, 3u);
  EXPECT_TRUE(plain.full_scan_mode);
  EXPECT_EQ(plain.index_sparseness, 5u);

  for (const char* const directory : {"/a;b:c", "{a}", "{a;b}", "{a}{b}", "a{b}"}) {
    DBOptions db_options;
    db_options.wal_dir = directory;
    ASSERT_TRUE(GetStringFromDBOptions(&text, db_options).ok());
    DBOptions db_read;
    const Status parsed = GetDBOptionsFromString(DBOptions(), text, &db_read);
    ASSERT_TRUE(parsed.ok()) << text << ": " << parsed.ToString();
    EXPECT_EQ(db_read.wal_dir, directory);
  }
}

// Includes the options that OPTIONS files do not have.
TYPED_TEST(OptionTable, AnotherValueReadsBackFromText) {
  for (const auto& entry : OptionTableOf<TypeParam>()) {
    const std::string before = entry.print(TypeParam());
    if (entry.place == Place::kTextOnly && before == "nullptr") continue;  // an object
    const std::string number = before == "17" ? "18" : "17";
    const std::string other = before == "true" ? "false" : (before == "false" ? "true" : number);
    TypeParam changed;
    if (before.empty() || !entry.parse(other, &changed).ok()) continue;
    TypeParam read;
    for (const auto& [name, value] : PrintOptions(changed, Place::kTextOnly))
      EXPECT_OK(SetOption(ParseRules{.ignore_unsupported = false}, name, value, &read));
    EXPECT_EQ(entry.print(read), entry.print(changed)) << entry.name;
  }
}

// As in RocksDB, families that share a cache still share it after a round trip through text.
TEST(Convenience, TextLeavesTheObjectsOfTheProgramAlone) {
  DBOptions db_base;
  db_base.write_buffer_manager = std::make_shared<WriteBufferManager>(1 << 20);
  ColumnFamilyOptions base;
  BlockBasedTableOptions table;
  table.block_cache = NewLRUCache(1 << 20);
  base.table_factory.reset(NewBlockBasedTableFactory(table));
  base.blob_cache = table.block_cache;
  for (const bool has_objects : {false, true}) {
    std::string text;
    ASSERT_OK(GetStringFromDBOptions(&text, has_objects ? db_base : DBOptions()));
    DBOptions db_read;
    ASSERT_OK(GetDBOptionsFromString(db_base, text, &db_read));
    EXPECT_EQ(db_read.write_buffer_manager, db_base.write_buffer_manager);
    ASSERT_OK(GetStringFromColumnFamilyOptions(&text, has_objects ? base : ColumnFamilyOptions()));
    ColumnFamilyOptions read;
    ASSERT_OK(GetColumnFamilyOptionsFromString(base, text, &read));
    EXPECT_EQ(read.blob_cache, base.blob_cache);
    EXPECT_EQ(read.table_factory->GetOptions<BlockBasedTableOptions>()->block_cache,
              table.block_cache);
  }
}

TEST(Convenience, TextHasOptionsAndFieldsOfLaterReleases) {
  ColumnFamilyOptions options;
  options.strict_max_successive_merges = true;
  options.iterators_remember_gaps = !options.iterators_remember_gaps;
  options.compaction_options_universal.max_read_amp = 9;
  options.compaction_options_fifo.max_data_files_size = 12345;
  options.compaction_options_fifo.file_temperature_age_thresholds = {
      {.temperature = Temperature::kCold, .age = 7}};
  BlockBasedTableOptions table;
  table.use_delta_encoding = false;
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  std::string text;
  ASSERT_OK(GetStringFromColumnFamilyOptions(&text, options));
  ColumnFamilyOptions read;
  ASSERT_OK(GetColumnFamilyOptionsFromString(ColumnFamilyOptions(), text, &read));
  EXPECT_TRUE(read.strict_max_successive_merges);
  EXPECT_EQ(read.iterators_remember_gaps, options.iterators_remember_gaps);
  EXPECT_EQ(read.compaction_options_universal.max_read_amp, 9);
  EXPECT_EQ(read.compaction_options_fifo.max_data_files_size, 12345u);
  ASSERT_EQ(read.compaction_options_fifo.file_temperature_age_thresholds.size(), 1u);
  EXPECT_EQ(read.compaction_options_fifo.file_temperature_age_thresholds[0].age, 7u);
  EXPECT_FALSE(read.table_factory->GetOptions<BlockBasedTableOptions>()->use_delta_encoding);

  // An object of the program has no text.
  DBOptions db_options;
  db_options.prefix_seek_opt_in_only = true;
  db_options.write_buffer_manager = std::make_shared<WriteBufferManager>(1 << 20);
  ASSERT_OK(GetStringFromDBOptions(&text, db_options));
  EXPECT_EQ(text.find(" write_buffer_manager="), std::string::npos);
  ConfigOptions strict;
  strict.ignore_unsupported_options = false;
  DBOptions db_read;
  ASSERT_OK(GetDBOptionsFromString(strict, DBOptions(), text, &db_read));
  EXPECT_TRUE(db_read.prefix_seek_opt_in_only);
}

// The text must leave out options that are fixed at open, because the same rules refuse them.
TEST(Convenience, MutableOptionsPrintWhatTheSameRulesRead) {
  ConfigOptions changes;
  changes.mutable_options_only = true;
  DBOptions db_options;
  db_options.max_background_jobs = 7;
  db_options.max_open_files = 9;
  db_options.create_if_missing = true;
  std::string text;
  ASSERT_OK(GetStringFromDBOptions(changes, db_options, &text));
  DBOptions db_read;
  ASSERT_OK(GetDBOptionsFromString(changes, DBOptions(), text, &db_read));
  EXPECT_EQ(db_read.max_background_jobs, 7);
  EXPECT_FALSE(db_read.create_if_missing);

  ColumnFamilyOptions options;
  options.write_buffer_size = 12345;
  options.num_levels = 3;
  BlockBasedTableOptions table;
  table.block_size = 999;
  table.no_block_cache = true;
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  ASSERT_OK(GetStringFromColumnFamilyOptions(changes, options, &text));
  ColumnFamilyOptions read;
  ASSERT_OK(GetColumnFamilyOptionsFromString(changes, ColumnFamilyOptions(), text, &read));
  EXPECT_EQ(read.write_buffer_size, 12345u);
  EXPECT_EQ(read.num_levels, 7);
  EXPECT_EQ(read.table_factory->GetOptions<BlockBasedTableOptions>()->block_size, 999u);
  EXPECT_FALSE(read.table_factory->GetOptions<BlockBasedTableOptions>()->no_block_cache);

  options.table_factory.reset(NewPlainTableFactory());
  ASSERT_OK(GetStringFromColumnFamilyOptions(changes, options, &text));
  EXPECT_OK(GetColumnFamilyOptionsFromString(changes, ColumnFamilyOptions(), text, &read));
}

TEST(Convenience, ErrorsAreInvalidArgumentAndNameTheOption) {
  ConfigOptions strict;
  strict.ignore_unsupported_options = false;
  BlockBasedTableOptions table;
  const Status of_a_list = GetBlockBasedTableOptionsFromString(
      strict, BlockBasedTableOptions(), "filter_policy=no_such_filter:4", &table);
  EXPECT_TRUE(of_a_list.IsInvalidArgument()) << of_a_list.ToString();
  EXPECT_NE(of_a_list.ToString().find("option filter_policy"), std::string::npos);
  ColumnFamilyOptions options;
  EXPECT_TRUE(GetColumnFamilyOptionsFromMap(strict, ColumnFamilyOptions(),
                                            {{"merge_operator", "Mine"}}, &options)
                  .IsInvalidArgument());
}

TEST(Convenience, ValuesThatCannotBeReadAreIgnoredWithUnknownNames) {
  ConfigOptions lenient;
  lenient.ignore_unknown_options = true;
  const std::string text =
      "max_open_files=many;max_background_jobs=6;write_buffer_size=large;num_levels=4;"
      "compression_opts={no_such_field=1;};compression_opts.no_such_field=1;"
      "block_based_table_factory={block_size=small;block_restart_interval=5;};";
  const Options base;
  Options read;
  EXPECT_TRUE(GetOptionsFromString(ConfigOptions(), base, text, &read).IsInvalidArgument());
  ASSERT_OK(GetOptionsFromString(lenient, base, text, &read));
  EXPECT_EQ(read.max_open_files, base.max_open_files);
  EXPECT_EQ(read.max_background_jobs, 6);
  EXPECT_EQ(read.write_buffer_size, base.write_buffer_size);
  EXPECT_EQ(read.num_levels, 4);
  const auto& table = *read.table_factory->GetOptions<BlockBasedTableOptions>();
  EXPECT_EQ(table.block_size, BlockBasedTableOptions().block_size);
  EXPECT_EQ(table.block_restart_interval, 5);
  // Text that is not a list of options is still an error.
  EXPECT_TRUE(GetOptionsFromString(lenient, base, "num_levels", &read).IsInvalidArgument());
}

TEST(Convenience, StringsToMaps) {
  std::unordered_map<std::string, std::string> map;
  ASSERT_TRUE(StringToMap("a=1;b={c=2;d=3}", &map).ok());
  EXPECT_EQ(map, (std::unordered_map<std::string, std::string>{{"a", "1"}, {"b", "c=2;d=3"}}));
  EXPECT_TRUE(StringToMap("a", &map).IsInvalidArgument());
}

TEST(Convenience, CodecsOfThisBuild) {
  std::string name;
  for (const CompressionType type : GetSupportedCompressions())
    EXPECT_TRUE(GetStringFromCompressionType(&name, type).ok());
  EXPECT_TRUE(
      GetStringFromCompressionType(&name, static_cast<CompressionType>(99)).IsInvalidArgument());
}

// ---- Validation

Status Validate(const DBOptions& db_options,
                const ColumnFamilyOptions& options = ColumnFamilyOptions(),
                OpenFor purpose = OpenFor::kWriting) {
  return ValidateOptions(db_options, {ColumnFamilyDescriptor("default", options)}, purpose);
}

bool IsRefused(Support support, OpenFor purpose) {
  return support == Support::kRefused ||
         (support == Support::kRefusedWriting && purpose == OpenFor::kWriting);
}

TEST(Validate, DefaultsAndPresetsPass) {
  EXPECT_TRUE(Validate(DBOptions()).ok());
  Options options;
  options.OptimizeForSmallDb()->PrepareForBulkLoad();
  options.OptimizeForPointLookup(8);
  options.OptimizeLevelStyleCompaction();
  EXPECT_TRUE(Validate(options, options).ok()) << Validate(options, options).ToString();
}

// The preset replaces the default block cache, which is twice as large and has no other charges.
TEST(Presets, ASmallDatabaseHasOneCacheForBlocksIndexesAndMemtables) {
  Options options;
  EXPECT_EQ(options.OptimizeForSmallDb(), &options);
  const auto* const table = options.table_factory->GetOptions<BlockBasedTableOptions>();
  ASSERT_NE(table->block_cache, nullptr);
  EXPECT_EQ(table->block_cache->GetCapacity(), size_t{16} << 20);
  EXPECT_TRUE(table->cache_index_and_filter_blocks);
  ASSERT_NE(options.write_buffer_manager, nullptr);
  EXPECT_FALSE(options.write_buffer_manager->enabled());
  options.write_buffer_manager->ReserveMem(1 << 20);
  EXPECT_EQ(table->block_cache->GetUsage(), size_t{1} << 20);
  options.write_buffer_manager->ScheduleFreeMem(1 << 20);
  options.write_buffer_manager->FreeMem(1 << 20);
  EXPECT_TRUE(Validate(options, options).ok()) << Validate(options, options).ToString();

  EXPECT_EQ(DBOptions().OptimizeForSmallDb()->write_buffer_manager, nullptr);
}

TEST(Presets, LeveledStyleCompressesWithLz4FromTheThirdLevelOn) {
  ColumnFamilyOptions options;
  EXPECT_EQ(options.OptimizeLevelStyleCompaction(400 << 20), &options);
  const std::vector<CompressionType> supported = GetSupportedCompressions();
  const bool has_lz4 =
      std::find(supported.begin(), supported.end(), kLZ4Compression) != supported.end();
  ASSERT_EQ(options.compression_per_level.size(), 7u);
  EXPECT_EQ(options.compression_per_level[1], kNoCompression);
  EXPECT_EQ(options.compression_per_level[2], has_lz4 ? kLZ4Compression : options.compression);
  EXPECT_TRUE(Validate(DBOptions(), options).ok());
}

TEST(Presets, UniversalStyle) {
  ColumnFamilyOptions options;
  EXPECT_EQ(options.OptimizeUniversalStyleCompaction(400 << 20), &options);
  EXPECT_EQ(options.compaction_style, kCompactionStyleUniversal);
  EXPECT_EQ(options.write_buffer_size, size_t{100} << 20);
  EXPECT_EQ(options.compaction_options_universal.compression_size_percent, 80);
  EXPECT_EQ(options.OptimizeUniversalStyleCompaction(0)->write_buffer_size, size_t{128} << 20);
  EXPECT_TRUE(Validate(DBOptions(), options).ok());
}

TEST(Presets, DisabledExtraChecksAreAnAcceptedOption) {
  Options options;
  EXPECT_EQ(options.DisableExtraChecks(), &options);
  EXPECT_FALSE(options.force_consistency_checks);
  options.force_consistency_checks = true;
  EXPECT_EQ(PrintOptions<ColumnFamilyOptions>(options),
            PrintOptions<ColumnFamilyOptions>(Options()));
}

TEST(Presets, OldDefaultsAreThoseOfTheRelease) {
  Options now;
  Options options;
  EXPECT_EQ(options.OldDefaults(), &options);  // 4.6
  EXPECT_EQ(options.max_open_files, 5000);
  EXPECT_EQ(options.wal_recovery_mode, WALRecoveryMode::kTolerateCorruptedTailRecords);
  EXPECT_EQ(options.delayed_write_rate, 2u << 20);
  EXPECT_EQ(options.max_file_opening_threads, 1);
  EXPECT_EQ(options.table_cache_numshardbits, 4);
  EXPECT_EQ(options.compaction_pri, kByCompensatedSize);
  EXPECT_EQ(options.level0_stop_writes_trigger, 24);
  EXPECT_EQ(options.write_buffer_size, 4u << 20);
  EXPECT_EQ(options.target_file_size_base, 2u << 20);
  EXPECT_EQ(options.max_bytes_for_level_base, 10u << 20);
  EXPECT_EQ(options.soft_pending_compaction_bytes_limit, 0u);
  EXPECT_EQ(options.hard_pending_compaction_bytes_limit, 0u);
  EXPECT_TRUE(Validate(options, options).ok()) << Validate(options, options).ToString();

  options = Options();
  options.OldDefaults(4, 7);
  EXPECT_EQ(options.write_buffer_size, now.write_buffer_size);
  EXPECT_EQ(options.table_cache_numshardbits, now.table_cache_numshardbits);
  EXPECT_EQ(options.level0_stop_writes_trigger, 24);
  EXPECT_EQ(Options().OldDefaults(5, 0)->level0_stop_writes_trigger, 30);
  EXPECT_EQ(Options().OldDefaults(5, 1)->delayed_write_rate, 2u << 20);
  EXPECT_EQ(Options().OldDefaults(5, 2)->delayed_write_rate, 16u << 20);
  EXPECT_EQ(Options().OldDefaults(5, 2)->level0_stop_writes_trigger,
            now.level0_stop_writes_trigger);
  EXPECT_EQ(Options().OldDefaults(5, 6)->delayed_write_rate, now.delayed_write_rate);
  EXPECT_EQ(Options().OldDefaults(5, 18)->compaction_pri, kByCompensatedSize);
  EXPECT_EQ(Options().OldDefaults(6, 0)->compaction_pri, now.compaction_pri);
  EXPECT_EQ(Options().OldDefaults(6, 0)->max_open_files, 5000);
}

TEST(Validate, RefusedOptionsAreNamedWithTheirRemedy) {
  DBOptions db_options;
  db_options.unordered_write = true;
  EXPECT_EQ(Validate(db_options).ToString(),
            "Not implemented: option unordered_write=true is not implemented; leave it at false");
  ColumnFamilyOptions options;
  options.inplace_update_support = true;
  const Status s = Validate(DBOptions(), options);
  EXPECT_TRUE(s.IsNotSupported());
  EXPECT_NE(s.ToString().find("column family default: option inplace_update_support=true"),
            std::string::npos)
      << s.ToString();
}

TEST(Validate, WhatOnlyMattersToWritersMayBeAnythingForReading) {
  DBOptions db_options;
  db_options.atomic_flush = true;
  ColumnFamilyOptions options;
  BlockBasedTableOptions table;
  table.index_type = BlockBasedTableOptions::kHashSearch;
  table.block_align = true;
  table.format_version = 7;
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  EXPECT_TRUE(Validate(db_options, options).IsNotSupported());
  EXPECT_TRUE(Validate(db_options, options, OpenFor::kReading).ok());
  DBOptions elsewhere;
  elsewhere.db_paths.emplace_back("/elsewhere", 1);
  EXPECT_TRUE(Validate(elsewhere, options, OpenFor::kReading).IsNotSupported());
}

TEST(Validate, CuckooTablesAreRefusedByName) {
  ColumnFamilyOptions options;
  options.table_factory.reset(NewCuckooTableFactory());
  for (const OpenFor purpose : {OpenFor::kWriting, OpenFor::kReading}) {
    const Status status = Validate(DBOptions(), options, purpose);
    EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
    EXPECT_NE(status.ToString().find("table_factory=CuckooTable"), std::string::npos)
        << status.ToString();
  }
}

// Every option that the table refuses is refused, and every one that it does not refuse passes with
// another flag value.
TEST(Validate, FlagsAreRefusedExactlyWhereTheTableSaysSo) {
  for (const auto& entry : DbOptionTable()) {
    DBOptions options;
    const std::string before = entry.print(options);
    if (before != "true" && before != "false") continue;
    ASSERT_TRUE(entry.parse(before == "true" ? "false" : "true", &options).ok());
    EXPECT_EQ(Validate(options).IsNotSupported(), IsRefused(entry.support, OpenFor::kWriting))
        << entry.name;
    EXPECT_EQ(Validate(options, {}, OpenFor::kReading).IsNotSupported(),
              IsRefused(entry.support, OpenFor::kReading))
        << entry.name;
  }
  for (const auto& entry : ColumnFamilyOptionTable()) {
    ColumnFamilyOptions options;
    const std::string before = entry.print(options);
    if (before != "true" && before != "false") continue;
    ASSERT_TRUE(entry.parse(before == "true" ? "false" : "true", &options).ok());
    EXPECT_EQ(Validate(DBOptions(), options).IsNotSupported(),
              IsRefused(entry.support, OpenFor::kWriting))
        << entry.name;
    EXPECT_EQ(Validate(DBOptions(), options, OpenFor::kReading).IsNotSupported(),
              IsRefused(entry.support, OpenFor::kReading))
        << entry.name;
  }
}

TEST(Validate, WhatCannotWorkIsInvalid) {
  const auto family = [](auto change) {
    ColumnFamilyOptions options;
    change(&options);
    return Validate(DBOptions(), options);
  };
  const auto table = [&family](auto change) {
    BlockBasedTableOptions options;
    change(&options);
    return family([&options](ColumnFamilyOptions* o) {
      o->table_factory.reset(NewBlockBasedTableFactory(options));
    });
  };
  const auto db = [](auto change) {
    DBOptions options;
    change(&options);
    return Validate(options);
  };
  EXPECT_TRUE(family([](auto* o) { o->compaction_style = kCompactionStyleUniversal; }).ok());
  EXPECT_TRUE(family([](auto* o) { o->compaction_style = kCompactionStyleFIFO; }).ok());
  EXPECT_TRUE(family([](auto* o) {
                o->compaction_style = kCompactionStyleUniversal;
                o->compaction_options_universal.compression_size_percent = 101;
              }).IsInvalidArgument());
  const auto read_amp = [&family](int runs, CompactionStyle style = kCompactionStyleUniversal) {
    return family([&](auto* o) {
      o->compaction_style = style;
      o->level0_file_num_compaction_trigger = 4;
      o->compaction_options_universal.max_read_amp = runs;
    });
  };
  for (const int runs : {-1, 0, 4, 100}) EXPECT_TRUE(read_amp(runs).ok()) << runs;
  for (const int runs : {-2, 1, 3}) EXPECT_TRUE(read_amp(runs).IsNotSupported()) << runs;
  EXPECT_TRUE(read_amp(3, kCompactionStyleLevel).ok());
  EXPECT_TRUE(family([](auto* o) { o->compaction_style = kCompactionStyleNone; }).ok());
  EXPECT_TRUE(family([](auto* o) { o->compression = kBZip2Compression; }).IsNotSupported());
  EXPECT_TRUE(
      family([](auto* o) { o->compression = kDisableCompressionOption; }).IsInvalidArgument());
  EXPECT_TRUE(family([](auto* o) {
                o->compression_per_level = {kNoCompression, kDisableCompressionOption};
              }).IsInvalidArgument());
  EXPECT_TRUE(family([](auto* o) { o->bottommost_compression = kDisableCompressionOption; }).ok());
  const auto level = [&family](CompressionType type, int number, auto change) {
    return family([&](auto* o) {
      o->compression = type;
      o->compression_opts.level = number;
      change(o);
    });
  };
  const auto no_more = [](auto* /*options*/) {};
  EXPECT_TRUE(level(kZlibCompression, 9, no_more).ok());
  EXPECT_TRUE(level(kZlibCompression, 10, no_more).IsInvalidArgument());
  const std::vector<CompressionType> supported = GetSupportedCompressions();
  const bool has_zstd = std::ranges::find(supported, kZSTD) != supported.end();
  EXPECT_EQ(level(kZSTD, 10, no_more).ok(), has_zstd);
  EXPECT_EQ(level(kZSTD, 1000, no_more).IsInvalidArgument(), has_zstd);
  EXPECT_TRUE(level(kNoCompression, 1000, no_more).ok()) << "nothing uses it";
  const auto per_level = [](CompressionType last) {
    return [last](auto* o) { o->compression_per_level = {kNoCompression, last}; };
  };
  EXPECT_TRUE(level(kZlibCompression, 10, per_level(kNoCompression)).ok())
      << "the list goes before";
  EXPECT_TRUE(level(kNoCompression, 10, per_level(kZlibCompression)).IsInvalidArgument());
  const auto last = [](auto* o) { o->bottommost_compression = kZlibCompression; };
  EXPECT_TRUE(level(kNoCompression, 10, last).IsInvalidArgument());
  EXPECT_TRUE(level(kNoCompression, 10, [&](auto* o) {
                last(o);
                o->bottommost_compression_opts.enabled = true;
              }).ok());
  const auto last_level = [](auto* o) {
    o->bottommost_compression_opts.level = 10;
    o->bottommost_compression_opts.enabled = true;
  };
  EXPECT_TRUE(level(kZlibCompression, 9, last_level).IsInvalidArgument())
      << "they count without bottommost_compression, too";
  EXPECT_TRUE(level(kNoCompression, 9, last_level).ok());
  EXPECT_TRUE(
      family([](auto* o) { o->compression_per_level = {kXpressCompression}; }).IsNotSupported());
  EXPECT_TRUE(family([](auto* o) { o->compression_opts.max_dict_bytes = 1; }).ok());
  EXPECT_TRUE(
      family([](auto* o) { o->compression_opts.zstd_max_train_bytes = 1; }).IsInvalidArgument());
  EXPECT_TRUE(
      family([](auto* o) { o->compression_opts.max_dict_bytes = UINT32_MAX; }).IsInvalidArgument());
  const Status too_many_samples = family([](auto* o) {
    o->compression_opts.max_dict_bytes = 1;
    o->compression_opts.zstd_max_train_bytes = UINT32_MAX;
  });
  EXPECT_TRUE(too_many_samples.IsInvalidArgument());
  EXPECT_NE(too_many_samples.ToString().find("zstd_max_train_bytes=4294967295"), std::string::npos)
      << too_many_samples.ToString();
  EXPECT_TRUE(family([](auto* o) { o->comparator = nullptr; }).IsInvalidArgument());
  EXPECT_TRUE(family([](auto* o) { o->num_levels = 65; }).IsInvalidArgument());
  EXPECT_TRUE(family([](auto* o) { o->level0_file_num_compaction_trigger = -1; }).ok());
  EXPECT_TRUE(db([](auto* o) { o->max_background_jobs = -5; }).IsInvalidArgument());
  EXPECT_TRUE(db([](auto* o) { o->max_background_flushes = -2; }).IsInvalidArgument());
  EXPECT_TRUE(db([](auto* o) { o->max_background_flushes = -1; }).ok());
  EXPECT_TRUE(db([](auto* o) { o->max_background_jobs = 4096; }).ok());
  EXPECT_TRUE(db([](auto* o) { o->max_background_jobs = 2000000000; }).IsInvalidArgument());
  EXPECT_TRUE(db([](auto* o) { o->max_background_compactions = 4097; }).IsInvalidArgument());
  EXPECT_TRUE(family([](auto* o) {
                o->memtable_factory.reset(NewHashSkipListRepFactory(size_t{1} << 30));
              }).ok());
  EXPECT_TRUE(family([](auto* o) {
                o->memtable_factory.reset(NewHashSkipListRepFactory(SIZE_MAX));
              }).IsInvalidArgument());
  EXPECT_TRUE(family([](auto* o) {
                o->memtable_factory.reset(NewHashLinkListRepFactory(size_t{1} << 40));
              }).IsInvalidArgument());
  EXPECT_TRUE(family([](auto* o) { o->max_bytes_for_level_multiplier = 0.5; }).IsInvalidArgument());
  EXPECT_TRUE(family([](auto* o) { o->target_file_size_base = 0; }).IsInvalidArgument());
  EXPECT_TRUE(family([](auto* o) { o->cf_paths.emplace_back("/x", 1); }).IsNotSupported());
  EXPECT_TRUE(table([](auto* o) { o->format_version = 6; }).IsNotSupported());
  EXPECT_TRUE(table([](auto* o) { o->format_version = 1; }).IsNotSupported());
  EXPECT_TRUE(
      table([](auto* o) { o->index_type = BlockBasedTableOptions::kTwoLevelIndexSearch; }).ok());
  EXPECT_TRUE(table([](auto* o) {
                o->index_type = static_cast<BlockBasedTableOptions::IndexType>(4);
              }).IsInvalidArgument());
  EXPECT_TRUE(table([](auto* o) { o->partition_filters = true; }).ok());
  const Status hash_without_prefixes =
      table([](auto* o) { o->index_type = BlockBasedTableOptions::kHashSearch; });
  EXPECT_TRUE(hash_without_prefixes.IsInvalidArgument());
  EXPECT_NE(hash_without_prefixes.ToString().find("there is no prefix_extractor; set one"),
            std::string::npos);
  const auto aligned = [&family](CompressionType compression, uint64_t block_size) {
    BlockBasedTableOptions options;
    options.block_align = true;
    options.block_size = block_size;
    return family([&](ColumnFamilyOptions* o) {
      o->compression = compression;
      o->table_factory.reset(NewBlockBasedTableFactory(options));
    });
  };
  EXPECT_TRUE(aligned(kNoCompression, 4096).ok());
  EXPECT_TRUE(aligned(kZlibCompression, 4096).IsInvalidArgument());
  EXPECT_TRUE(aligned(kNoCompression, 5000).IsInvalidArgument());
  const auto aligned_with = [&family](auto change) {
    BlockBasedTableOptions options;
    options.block_align = true;
    return family([&](ColumnFamilyOptions* o) {
      o->compression = kNoCompression;
      o->table_factory.reset(NewBlockBasedTableFactory(options));
      change(o);
    });
  };
  EXPECT_TRUE(aligned_with([](auto* o) {
                o->compression_per_level = {kNoCompression, kZlibCompression};
              }).IsInvalidArgument());
  EXPECT_TRUE(aligned_with([](auto* o) {
                o->bottommost_compression = kZlibCompression;
              }).IsInvalidArgument());
  EXPECT_OK(aligned_with([](auto* o) {
    o->compression_per_level = {kNoCompression};
    o->bottommost_compression = kNoCompression;
  }));
  const auto hashed_blocks = [&table](double ratio) {
    return table([ratio](auto* o) {
      o->data_block_index_type = BlockBasedTableOptions::kDataBlockBinaryAndHash;
      o->data_block_hash_table_util_ratio = ratio;
    });
  };
  EXPECT_TRUE(hashed_blocks(0.75).ok());
  EXPECT_TRUE(hashed_blocks(0).IsInvalidArgument());
  EXPECT_TRUE(hashed_blocks(-1).IsInvalidArgument());
  EXPECT_TRUE(table([](auto* o) {
                o->no_block_cache = o->cache_index_and_filter_blocks = true;
              }).IsInvalidArgument());
  EXPECT_TRUE(table([](auto* o) {
                o->no_block_cache = o->pin_l0_filter_and_index_blocks_in_cache = true;
              }).IsInvalidArgument());
  EXPECT_OK(table([](auto* o) {
    o->no_block_cache = true;
    o->block_cache = NewLRUCache(1000);
  })) << "the cache is not used";
  const Status row_cache = db([](auto* o) { o->row_cache = NewLRUCache(1000); });
  EXPECT_TRUE(row_cache.IsNotSupported());
  EXPECT_NE(row_cache.ToString().find("option row_cache"), std::string::npos);
  EXPECT_TRUE(table([](auto* o) { o->block_size = 0; }).IsInvalidArgument());
  EXPECT_TRUE(
      table([](auto* o) { o->checksum = static_cast<ChecksumType>(9); }).IsInvalidArgument());
  EXPECT_TRUE(db([](auto* o) { o->env = nullptr; }).IsInvalidArgument());
  EXPECT_TRUE(db([](auto* o) { o->keep_log_file_num = 0; }).IsInvalidArgument());
  EXPECT_TRUE(db([](auto* o) { o->max_open_files = -2; }).IsInvalidArgument());
  EXPECT_TRUE(
      db([](auto* o) { o->allow_mmap_reads = o->use_direct_reads = true; }).IsInvalidArgument());
  EXPECT_TRUE(db([](auto* o) { o->db_paths.emplace_back("/x", 1); }).IsNotSupported());
}

// A C program passes numbers. An OPTIONS file with a number instead of an enumerator would be
// refused entirely, and the names of the program's objects in it would be lost.
TEST(Validate, AValueThatThereIsNotIsInvalidIfItHasAnEffect) {
  const auto invalid = [](const DBOptions& db, const ColumnFamilyOptions& family,
                          const std::string& name) {
    const Status s = Validate(db, family);
    EXPECT_TRUE(s.IsInvalidArgument()) << name << ": " << s.ToString();
    EXPECT_NE(s.ToString().find(StrCat("option ", name, "=")), std::string::npos) << s.ToString();
  };
  DBOptions db;
  db.wal_recovery_mode = static_cast<WALRecoveryMode>(55);
  invalid(db, ColumnFamilyOptions(), "wal_recovery_mode");
  db = DBOptions();
  db.info_log_level = NUM_INFO_LOG_LEVELS;
  invalid(db, ColumnFamilyOptions(), "info_log_level");
  ColumnFamilyOptions family;
  family.compaction_style = static_cast<CompactionStyle>(9);
  invalid(DBOptions(), family, "compaction_style");
  family = ColumnFamilyOptions();
  family.max_bytes_for_level_multiplier = std::numeric_limits<double>::infinity();
  invalid(DBOptions(), family, "max_bytes_for_level_multiplier");
  family = ColumnFamilyOptions();
  family.memtable_prefix_bloom_size_ratio = std::numeric_limits<double>::quiet_NaN();
  invalid(DBOptions(), family, "memtable_prefix_bloom_size_ratio");
  BlockBasedTableOptions table;
  table.index_shortening = static_cast<BlockBasedTableOptions::IndexShorteningMode>(9);
  family = ColumnFamilyOptions();
  family.table_factory.reset(NewBlockBasedTableFactory(table));
  invalid(DBOptions(), family, "index_shortening");
  EXPECT_TRUE(
      ValidateOptions(DBOptions(), {{kDefaultColumnFamilyName, family}}, OpenFor::kReading).ok());
}

TEST(OptionValues, ThoseWithoutATextAndWithoutAnEffectAreNotWritten) {
  DBOptions db;
  db.lowest_used_cache_tier = static_cast<CacheTier>(1);  // a tier of another release
  ColumnFamilyOptions family;
  family.last_level_temperature = static_cast<Temperature>(77);
  family.experimental_mempurge_threshold = std::numeric_limits<double>::quiet_NaN();
  BlockBasedTableOptions table;
  table.metadata_cache_options.partition_pinning = static_cast<PinningTier>(77);
  family.table_factory.reset(NewBlockBasedTableFactory(table));
  EXPECT_TRUE(Validate(db, family).ok());
  const std::string text = PrintOptionsFile(db, {{kDefaultColumnFamilyName, family}}, {});
  for (const char* const name : {"lowest_used_cache_tier", "last_level_temperature",
                                 "experimental_mempurge_threshold", "metadata_cache_options"})
    EXPECT_EQ(text.find(name), std::string::npos) << name;
  const auto read = ParseOptionsFile(text, "OPTIONS", OptionsFileRules());
  EXPECT_TRUE(read.ok()) << read.status().ToString();
  std::string printed;
  ASSERT_TRUE(GetStringFromColumnFamilyOptions(&printed, family).ok());
  EXPECT_TRUE(GetColumnFamilyOptionsFromString(ColumnFamilyOptions(), printed, &family).ok());
}

TEST(Validate, ANullListenerIsInvalid) {
  DBOptions db_options;
  db_options.listeners.push_back(std::make_shared<EventListener>());
  EXPECT_TRUE(Validate(db_options).ok());
  db_options.listeners.push_back(nullptr);
  for (const OpenFor purpose : {OpenFor::kWriting, OpenFor::kReading}) {
    const Status refused = Validate(db_options, ColumnFamilyOptions(), purpose);
    EXPECT_TRUE(refused.IsInvalidArgument()) << refused.ToString();
  }
}

TEST(Validate, PlainTablesNeedPrefixesForTheirHash) {
  const auto plain = [](auto change) {
    ColumnFamilyOptions options;
    options.prefix_extractor.reset(NewFixedPrefixTransform(4));
    PlainTableOptions table;
    change(&options, &table);
    options.table_factory.reset(NewPlainTableFactory(table));
    return Validate(DBOptions(), options);
  };
  EXPECT_TRUE(plain([](auto*, auto*) {}).ok());
  EXPECT_EQ(plain([](auto* o, auto*) { o->prefix_extractor = nullptr; }).ToString(),
            "Not implemented: column family default: option hash_table_ratio=0.750000: the hash "
            "table is of prefixes, and there is no prefix_extractor; set one, or 0 for total "
            "order");
  EXPECT_TRUE(
      plain([](auto* o, auto* t) { o->prefix_extractor = nullptr, t->hash_table_ratio = 0; }).ok());
  EXPECT_TRUE(plain([](auto* o, auto* t) {
                o->prefix_extractor = nullptr, t->full_scan_mode = true;
              }).ok());
  EXPECT_TRUE(plain([](auto*, auto* t) { t->hash_table_ratio = -1; }).IsInvalidArgument());
  EXPECT_TRUE(plain([](auto*, auto* t) { t->hash_table_ratio = 1e-9; }).IsInvalidArgument());
  EXPECT_TRUE(plain([](auto*, auto* t) { t->bloom_bits_per_key = -1; }).IsInvalidArgument());
  EXPECT_TRUE(plain([](auto*, auto* t) {
                t->encoding_type = static_cast<EncodingType>(2);
              }).IsInvalidArgument());
}

TEST(Validate, OneRoleCanBeChargedToTheBlockCache) {
  using Decision = CacheEntryRoleOptions::Decision;
  const auto with = [](const CacheUsageOptions& usage, bool no_block_cache = false) {
    BlockBasedTableOptions table;
    table.cache_usage_options = usage;
    table.no_block_cache = no_block_cache;
    ColumnFamilyOptions options;
    options.table_factory.reset(NewBlockBasedTableFactory(table));
    return Validate(DBOptions(), options);
  };
  for (uint32_t i = 0; i < kNumCacheEntryRoles; ++i) {
    const auto role = static_cast<CacheEntryRole>(i);
    SCOPED_TRACE(GetCacheEntryRoleName(role));
    for (const Decision decision : {Decision::kDisabled, Decision::kFallback}) {
      EXPECT_TRUE(with({.options_overrides = {{role, {decision}}}}).ok());
      EXPECT_TRUE(with({.options_overrides = {{role, {decision}}}}, true).ok());
      EXPECT_TRUE(with({.options = {decision}}).ok());
    }
    const Status enabled = with({.options_overrides = {{role, {Decision::kEnabled}}}});
    if (role == CacheEntryRole::kBlockBasedTableReader) {
      EXPECT_TRUE(enabled.ok()) << enabled.ToString();
    } else {
      EXPECT_TRUE(enabled.IsNotSupported()) << enabled.ToString();
      EXPECT_NE(enabled.ToString().find(GetCacheEntryRoleName(role)), std::string::npos);
    }
  }
  EXPECT_TRUE(with({.options = {Decision::kEnabled}}).IsNotSupported());
  EXPECT_EQ(
      with({.options_overrides = {{CacheEntryRole::kBlockBasedTableReader, {Decision::kEnabled}}}},
           true)
          .ToString(),
      "Invalid argument: column family default: option cache_usage_options=BlockBasedTableReader "
      "charged: there is no block cache to charge; set no_block_cache=false");
}

TEST(Validate, OffPeakTimesAreTwoTimesOfADay) {
  DBOptions options;
  for (const char* const good :
       {"", "01:00-02:00", "23:59-00:00", "09:30-09:29", "0:00-23:59", "4:30-7:5"}) {
    options.daily_offpeak_time_utc = good;
    EXPECT_TRUE(Validate(options).ok()) << good;
  }
  for (const char* const bad :
       {"01:00", "24:00-01:00", "01:60-02:00", "01:00-01:00", "1:00-01:0", "01:00 02:00",
        "0a:00-02:00", "01:00-02:00-", "-", ":-1:00", "01:-02:00"}) {
    options.daily_offpeak_time_utc = bad;
    EXPECT_TRUE(Validate(options).IsInvalidArgument()) << bad;
  }
}

TEST(OptionNames, ThoseAfterTheReferenceReleaseAreReadAndNotWritten) {
  Options options;
  EXPECT_TRUE(SetOption<DBOptions>(ParseRules{}, "open_files_async", "true", &options).ok());
  EXPECT_TRUE(options.open_files_async);
  EXPECT_TRUE(SetOption<DBOptions>(ParseRules{}, "checksum_handoff_file_types",
                                   "kTableFile:kWalFile", &options)
                  .ok());
  EXPECT_TRUE(options.checksum_handoff_file_types.Contains(kWalFile));
  EXPECT_EQ(options.checksum_handoff_file_types.count(), 2U);
  EXPECT_TRUE(SetOption<ColumnFamilyOptions>(ParseRules{}, "compaction_options_universal",
                                             "{max_read_amp=7;size_ratio=3;}", &options)
                  .ok());
  EXPECT_EQ(options.compaction_options_universal.max_read_amp, 7);
  const auto set_ages = [&options](const std::string& ages) {
    return SetOption<ColumnFamilyOptions>(
        ParseRules{}, "compaction_options_fifo",
        "{allow_compaction=true;file_temperature_age_thresholds=" + ages + ";}", &options);
  };
  const std::vector<FileTemperatureAge>& ages =
      options.compaction_options_fifo.file_temperature_age_thresholds;
  EXPECT_TRUE(set_ages("{{temperature=kWarm;age=10}:{age=20;temperature=kIce;}}").ok());
  ASSERT_EQ(ages.size(), 2u);
  EXPECT_EQ(ages[0].temperature, Temperature::kWarm);
  EXPECT_EQ(ages[0].age, 10u);
  EXPECT_EQ(ages[1].temperature, Temperature::kIce);
  EXPECT_EQ(ages[1].age, 20u);
  EXPECT_TRUE(set_ages("{{age=10;years=1}}").IsInvalidArgument());
  EXPECT_EQ(ages.size(), 2u) << "a bad one changes nothing";
  EXPECT_TRUE(set_ages("").ok());
  EXPECT_TRUE(ages.empty());
  for (const auto& [name, value] : PrintOptions<DBOptions>(options))
    EXPECT_NE(name, "open_files_async");
  for (const auto& [name, value] : PrintOptions<ColumnFamilyOptions>(options))
    EXPECT_EQ(value.find("max_read_amp"), std::string::npos);
}

TEST(Validate, OptionsWithoutEffectAreListed) {
  DBOptions db_options;
  ColumnFamilyOptions options;
  EXPECT_TRUE(
      ListOptionsWithoutEffect(db_options, {ColumnFamilyDescriptor("default", options)}).empty());
  db_options.enable_pipelined_write = true;
  options.inplace_update_num_locks = 1;
  EXPECT_EQ(ListOptionsWithoutEffect(db_options, {ColumnFamilyDescriptor("a\n", options)}),
            (std::vector<std::string>{"enable_pipelined_write=true",
                                      "inplace_update_num_locks=1 of column family a\\x0a"}));
  db_options = {};
  db_options.wal_compression = kLZ4Compression;
  EXPECT_EQ(ListOptionsWithoutEffect(db_options, {}),
            std::vector<std::string>{"wal_compression=kLZ4Compression because only kZSTD "
                                     "compresses logs, if the build has it"});
  db_options = {};
  db_options.recycle_log_file_num = 3;
  EXPECT_TRUE(ListOptionsWithoutEffect(db_options, {}).empty());
  db_options.wal_recovery_mode = WALRecoveryMode::kAbsoluteConsistency;
  EXPECT_EQ(ListOptionsWithoutEffect(db_options, {}),
            std::vector<std::string>{
                "recycle_log_file_num=3 because wal_recovery_mode=kAbsoluteConsistency cannot "
                "tell the rest of an older log from damage"});
  db_options.wal_recovery_mode = WALRecoveryMode::kSkipAnyCorruptedRecords;
  EXPECT_TRUE(ListOptionsWithoutEffect(db_options, {}).empty());
  db_options.WAL_size_limit_MB = 1;
  EXPECT_EQ(ListOptionsWithoutEffect(db_options, {}),
            std::vector<std::string>{"recycle_log_file_num=3 because old logs are archived "
                                     "(WAL_ttl_seconds, WAL_size_limit_MB)"});
}

// Each is listed with the name of the option and that of the field.
TEST(Validate, FieldsOfStructsWithoutEffectAreListed) {
  const auto listed = [](auto change) {
    ColumnFamilyOptions options;
    change(&options);
    return ListOptionsWithoutEffect({}, {ColumnFamilyDescriptor("a", options)});
  };
  using Lines = std::vector<std::string>;
  EXPECT_EQ(listed([](auto* o) {
              o->compaction_options_universal.size_ratio = 3;
              o->compaction_options_universal.max_read_amp = 9;
              o->compaction_options_universal.reduce_file_locking = true;
            }),
            Lines{"compaction_options_universal.reduce_file_locking=true of column family a"});
  EXPECT_EQ(
      listed([](auto* o) {
        o->compaction_options_fifo.max_data_files_size = 1000;
        o->compaction_options_fifo.age_for_warm = 5;
        o->compaction_options_fifo.file_temperature_age_thresholds = {{Temperature::kCold, 7}};
        o->compaction_options_fifo.allow_trivial_copy_when_change_temperature = true;
        o->compaction_options_fifo.trivial_copy_buffer_size = 8192;
        o->compaction_options_fifo.use_kv_ratio_compaction = true;
      }),
      (Lines{
          "compaction_options_fifo.age_for_warm=5 of column family a",
          ("compaction_options_fifo.file_temperature_age_thresholds={{temperature=kCold;age=7;}} "
           "of column family a"),
          ("compaction_options_fifo.allow_trivial_copy_when_change_temperature=true of column "
           "family a"),
          "compaction_options_fifo.trivial_copy_buffer_size=8192 of column family a",
          "compaction_options_fifo.use_kv_ratio_compaction=true of column family a"}));
  EXPECT_EQ(listed([](auto* o) {
              o->compression_opts.parallel_threads = 4;
              o->bottommost_compression_opts.parallel_threads = 2;
              o->compression_opts.level = 3;
            }),
            (Lines{"compression_opts.parallel_threads=4 of column family a",
                   "bottommost_compression_opts.parallel_threads=2 of column family a"}));
}

TEST(ChangeMutableOptions, OptionsOfBlockBasedTables) {
  ColumnFamilyOptions options;
  BlockBasedTableOptions table;
  table.block_restart_interval = 7;
  table.block_cache = NewLRUCache(1 << 20);
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  const std::shared_ptr<TableFactory> before = options.table_factory;
  const auto current = [&options] {
    return options.table_factory->GetOptions<BlockBasedTableOptions>();
  };
  const auto change = [&options](const char* name, const char* text) {
    return ChangeMutableOptions({{name, text}}, &options);
  };
  for (const char* const text : {"{block_size=8k;}", "block_size=8k", "{block_size=8k}"}) {
    options.table_factory = before;
    ASSERT_TRUE(change("block_based_table_factory", text).ok()) << text;
    EXPECT_EQ(current()->block_size, 8192u);
    EXPECT_EQ(current()->block_restart_interval, 7) << "what is not given keeps its value";
    EXPECT_EQ(current()->block_cache, table.block_cache);
    EXPECT_EQ(before->GetOptions<BlockBasedTableOptions>()->block_size, 4096u)
        << "others may have the factory, too";
  }
  for (const char* const text : {"{block_cache=2m}", "{no_block_cache=true}", "{nonsense=1}"}) {
    const Status refused = change("block_based_table_factory", text);
    EXPECT_TRUE(refused.IsInvalidArgument()) << refused.ToString();
  }
  EXPECT_TRUE(change("block_based_table_factory", "{filter_policy=Mine}").IsNotSupported());
  EXPECT_TRUE(change("plain_table_factory", "{index_sparseness=1}").IsInvalidArgument());
  EXPECT_EQ(current()->block_cache, table.block_cache);
  options.table_factory.reset(NewPlainTableFactory());
  EXPECT_TRUE(change("block_based_table_factory", "{block_size=8k}").IsInvalidArgument());
  // Text that is not for an open database makes any kind, with or without braces.
  ASSERT_TRUE(
      SetOption(ParseRules{}, "block_based_table_factory", "{block_size=2k;}", &options).ok());
  EXPECT_EQ(current()->block_size, 2048u);
}

TEST(ChangeMutableOptions, FieldsOfTheTableFactoryGoByTheKindOfTable) {
  ColumnFamilyOptions options;
  const auto current = [&options] {
    return options.table_factory->GetOptions<BlockBasedTableOptions>();
  };
  ASSERT_OK(ChangeMutableOptions({{"table_factory.block_size", "8k"},
                                  {"table_factory.filter_policy", "bloomfilter:9:false"},
                                  {"table_factory.block_restart_interval", "7"}},
                                 &options));
  EXPECT_EQ(current()->block_size, 8192u);
  EXPECT_EQ(current()->block_restart_interval, 7);
  EXPECT_EQ(current()->filter_policy->GetId(), "bloomfilter:9:false");
  for (const char* const name :
       {"table_factory.no_block_cache", "table_factory.nonsense", "table_factory.",
        "table_factory.filter_policy.bloom_before_level"}) {
    const Status refused =
        ChangeMutableOptions({{"table_factory.block_size", "2k"}, {name, "1"}}, &options);
    EXPECT_TRUE(refused.IsInvalidArgument()) << name << ": " << refused.ToString();
  }
  EXPECT_EQ(current()->block_size, 8192u);

  options.table_factory.reset(NewPlainTableFactory());
  for (const char* const name : {"table_factory.block_size", "table_factory.user_key_len"})
    EXPECT_TRUE(ChangeMutableOptions({{name, "8"}}, &options).IsInvalidArgument()) << name;
  // In text that is not for an open database, the fields of a PlainTable may be set.
  ASSERT_OK(SetOption(ParseRules{}, "table_factory.user_key_len", "8", &options));
  EXPECT_EQ(options.table_factory->GetOptions<PlainTableOptions>()->user_key_len, 8u);
}

TEST(ChangeMutableOptions, AllOrNothing) {
  ColumnFamilyOptions options;
  EXPECT_TRUE(ChangeMutableOptions(
                  {{"write_buffer_size", "1m"}, {"disable_auto_compactions", "true"}}, &options)
                  .ok());
  EXPECT_EQ(options.write_buffer_size, 1u << 20);
  EXPECT_TRUE(options.disable_auto_compactions);
  EXPECT_TRUE(ChangeMutableOptions({{"write_buffer_size", "2m"}, {"num_levels", "3"}}, &options)
                  .IsInvalidArgument())
      << "fixed at open";
  EXPECT_TRUE(ChangeMutableOptions({{"write_buffer_size", "2m"}, {"nonsense", "3"}}, &options)
                  .IsInvalidArgument());
  EXPECT_TRUE(ChangeMutableOptions({{"write_buffer_size", "2m"}, {"ttl", "x"}}, &options)
                  .IsInvalidArgument());
  EXPECT_TRUE(ChangeMutableOptions({}, &options).IsInvalidArgument());
  EXPECT_EQ(options.write_buffer_size, 1u << 20);
  DBOptions db_options;
  EXPECT_TRUE(ChangeMutableOptions({{"max_background_jobs", "4"}}, &db_options).ok());
  EXPECT_EQ(db_options.max_background_jobs, 4);
  EXPECT_TRUE(ChangeMutableOptions({{"wal_dir", "/x"}}, &db_options).IsInvalidArgument());
}

}  // namespace
}  // namespace ashlar
