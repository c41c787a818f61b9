#include "config/options_file.h"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/compaction_filter.h"
#include "ashlar/comparator.h"
#include "ashlar/file_checksum.h"
#include "ashlar/filter_policy.h"
#include "ashlar/merge_operator.h"
#include "ashlar/options_util.h"
#include "ashlar/slice_transform.h"
#include "ashlar/sst_partitioner.h"
#include "base/format.h"
#include "config/option_table.h"
#include "config/option_text.h"
#include "config/validate.h"
#include "filesystem/file_helpers.h"
#include "filesystem/filename.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/fault_sweep.h"
#include "tests/support/places.h"
#include "tests/support/tool_runner.h"

namespace ashlar {
namespace {

// Returns the value of each option by "[section]name".
std::map<std::string, std::string> Fields(std::string_view text) {
  std::map<std::string, std::string> fields;
  std::string section;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = StripComment(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t equals = line.find('=');
    if (line.starts_with('['))
      section = line;
    else if (equals != std::string_view::npos)
      fields[StrCat(section, line.substr(0, equals))] = UnescapeOptionText(line.substr(equals + 1));
  }
  return fields;
}

// Returns the value with its fields sorted, because the fields of a struct have no order.
std::string SortedFields(const std::string& value) {
  const Result<OptionPairs> pairs = ParseOptionPairs(value);
  if (!value.starts_with('{') || !pairs.ok()) return value;
  OptionPairs sorted = *pairs;
  std::sort(sorted.begin(), sorted.end());
  std::string out;
  for (const auto& [name, field] : sorted) StrAppend(&out, name, "=", field, ";");
  return out;
}

std::string LdbFile() {
  Result<std::string> text =
      ReadFileToString(vfs::FileSystem::Default().get(),
                       StrCat(kSourceDir, "/src/config/testdata/OPTIONS-ldb-7.8.3"), 1 << 20);
  EXPECT_TRUE(text.ok()) << text.status().ToString();
  return text.ok() ? *text : "";
}

constexpr OptionsFileRules kStrict{.ignore_unknown = false, .ignore_unsupported = false};

TEST(OptionsFile, AFileOfLdbReadsBackFieldByField) {
  const std::string text = LdbFile();
  const Result<ParsedOptionsFile> parsed = ParseOptionsFile(text, "file", kStrict);
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  EXPECT_EQ(parsed->rocksdb_version, "7.8.3");
  ASSERT_EQ(parsed->families.size(), 1u);
  const ColumnFamilyOptions& family = parsed->families[0].options;
  EXPECT_EQ(family.merge_operator->GetId(), "{id=StringAppendOperator;delimiter=:;}");
  EXPECT_EQ(family.max_compaction_bytes, 1677721600u);
  EXPECT_FALSE(family.level_compaction_dynamic_level_bytes);
  EXPECT_EQ(family.table_factory->GetOptions<BlockBasedTableOptions>()->filter_policy->GetId(),
            "bloomfilter:10:false");
  EXPECT_EQ(parsed->ignored,
            std::vector<std::string>{
                "flush_block_policy_factory=FlushBlockBySizePolicyFactory: not needed"});

  std::map<std::string, std::string> theirs = Fields(text);
  const std::map<std::string, std::string> ours =
      Fields(PrintOptionsFile(parsed->db_options, parsed->families));
  EXPECT_EQ(theirs.erase("[TableOptions/BlockBasedTable \"default\"]flush_block_policy_factory"),
            1u);
  for (const auto& [name, value] : theirs) {
    const auto own = ours.find(name);
    ASSERT_NE(own, ours.end()) << name;
    EXPECT_EQ(SortedFields(own->second), SortedFields(value)) << name;
  }
  for (const auto& [name, value] : ours)
    EXPECT_TRUE(theirs.contains(name))
        << name << ": a name that the reference release does not write";
}

std::vector<ColumnFamilyDescriptor> TwoFamilies() {
  ColumnFamilyOptions options;
  options.merge_operator = MergeOperators::CreateUInt64AddOperator();
  options.compression_per_level = {kNoCompression, kZSTD};
  options.compression_opts.level = 4;
  options.max_bytes_for_level_multiplier = 0.1;
  BlockBasedTableOptions table;
  table.block_size = 16 << 10;
  table.filter_policy.reset(NewBloomFilterPolicy(9.9));
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  return {ColumnFamilyDescriptor("odd #1: \"a\"\\\n", options),
          ColumnFamilyDescriptor("default", ColumnFamilyOptions())};
}

TEST(OptionsFile, WhatIsPrintedReadsBackWithDefaultFirst) {
  DBOptions db_options;
  db_options.create_if_missing = true;
  db_options.wal_dir = "/some where/#1:2";
  const std::vector<ColumnFamilyDescriptor> families = TwoFamilies();
  const std::string text = PrintOptionsFile(db_options, families);
  const Result<ParsedOptionsFile> parsed = ParseOptionsFile(text, "file", kStrict);
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  EXPECT_TRUE(parsed->ignored.empty());
  EXPECT_EQ(parsed->db_options.wal_dir, db_options.wal_dir);
  ASSERT_EQ(parsed->families.size(), 2u);
  EXPECT_EQ(parsed->families[0].name, "default");
  EXPECT_EQ(parsed->families[1].name, families[0].name);
  EXPECT_EQ(PrintOptions(parsed->families[1].options), PrintOptions(families[0].options));
  EXPECT_EQ(PrintOptionsFile(parsed->db_options, parsed->families), text);
}

TEST(OptionsFile, TheLogGetsOneLinePerOption) {
  DBOptions db_options;
  db_options.create_if_missing = true;
  db_options.wal_dir = "/two\nlines";
  const std::string text = PrintOptionsForLog(db_options, TwoFamilies());
  for (const char* line :
       {" Options.create_if_missing: 1\n", " Options.error_if_exists: 0\n",
        " Options.max_open_files: -1\n", "\n--------------- Options for column family [default]:\n",
        " Options.merge_operator: UInt64AddOperator\n", "\n  block_size: 16384\n",
        "\n  block_size: 4096\n", "\n  filter_policy: bloomfilter:9.9:false\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
  EXPECT_EQ(text.find("lines\nlines"), std::string::npos);
  EXPECT_EQ(text.find("/two\n"), std::string::npos) << "an option is one line";
}

class LineLogger final : public Logger {
 public:
  LineLogger() : Logger(ERROR_LEVEL) {}
  using Logger::Logv;
  void Logv(const char* format, va_list ap) override { lines += FormatMessage(format, ap) + "\n"; }
  std::string lines;
};

TEST(OptionsFile, ADumpHasTheLinesOfTheLog) {
  Options options;
  options.wal_dir = "/100%s\nof it";
  options.write_buffer_size = 7 << 20;
  LineLogger all;
  options.Dump(&all);
  LineLogger database;
  static_cast<const DBOptions&>(options).Dump(&database);
  LineLogger family;
  static_cast<const ColumnFamilyOptions&>(options).Dump(&family);
  LineLogger family_too;
  options.DumpCFOptions(&family_too);
  EXPECT_EQ(
      database.lines + "--------------- Options for column family [default]:\n" + family.lines,
      PrintOptionsForLog(options, {ColumnFamilyDescriptor("default", options)}));
  EXPECT_EQ(all.lines, database.lines + family.lines);
  EXPECT_EQ(family_too.lines, family.lines);
  EXPECT_NE(database.lines.find(" Options.wal_dir: /100%s"), std::string::npos) << database.lines;
  EXPECT_NE(family.lines.find(" Options.write_buffer_size: 7340032\n"), std::string::npos);
  EXPECT_NE(family.lines.find("\n  block_size: 4096\n"), std::string::npos) << family.lines;
  options.Dump(nullptr);
}

// RocksDB 6.10 to 6.14 write 8 bytes from the address of this 4-byte member. The next member is
// format_version.
TEST(OptionsFile, FilesOfReleasesThatWroteReadAmpBytesWithItsNeighbourAreRead) {
  for (const auto& [written, read] :
       {std::pair("17179869184", 0u), std::pair("21474836512", 32u), std::pair("16", 16u)}) {
    const std::string text =
        std::string(
            "[Version]\nrocksdb_version=6.14.6\noptions_file_version=1.1\n[DBOptions]\n[CFOptions "
            "\"default\"]\n") +
        "[TableOptions/BlockBasedTable \"default\"]\n  read_amp_bytes_per_bit=" + written +
        "\n  format_version=4\n";
    const Result<ParsedOptionsFile> parsed = ParseOptionsFile(text, "file", kStrict);
    ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
    const auto* const table =
        parsed->families[0].options.table_factory->GetOptions<BlockBasedTableOptions>();
    EXPECT_EQ(table->read_amp_bytes_per_bit, read) << written;
    EXPECT_EQ(table->format_version, 4u);
    EXPECT_TRUE(ValidateOptions(parsed->db_options, parsed->families, OpenFor::kWriting).ok());
  }
}

TEST(OptionsFile, AVersionMayComeWithoutItsMinorPart) {
  for (const char* const version : {"1", "1.0", "1.7"}) {
    const Result<ParsedOptionsFile> parsed =
        ParseOptionsFile(StrCat("[Version]\nrocksdb_version=7.8.3\noptions_file_version=", version,
                                "\n[DBOptions]\n  max_open_files=5\n[CFOptions \"default\"]\n"),
                         "file", {});
    ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
    EXPECT_EQ(parsed->db_options.max_open_files, 5);
  }
  for (const char* const version : {"", "10", "2"}) {
    const std::string head = StrCat("[Version]\noptions_file_version=", version, "\n");
    EXPECT_FALSE(ParseOptionsFile(head, "file", {}).ok()) << version;
  }
}

// RocksDB 4.3 to 5.1 write disable_data_sync, and 5.7 to 5.9 write concurrent_prepare. 6.26 and
// later write table_properties_collectors if the program has set some.
TEST(OptionsFile, NamesThatOlderReleasesWroteAreRead) {
  const std::string text =
      "[Version]\nrocksdb_version=5.8.8\noptions_file_version=1.1\n"
      "[DBOptions]\n  concurrent_prepare=false\n  disableDataSync=false\n"
      "  disable_data_sync=false\n"
      "[CFOptions \"default\"]\n"
      "  table_properties_collectors={id=CompactOnDeletionCollector;window_size=128;}\n"
      "  num_levels=5\n";
  const Result<ParsedOptionsFile> parsed = ParseOptionsFile(text, "file", {});
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  EXPECT_EQ(parsed->families[0].options.num_levels, 5);
  const std::vector<UnsupportedOption> expected = {
      {"default", "table_properties_collectors",
       "{id=CompactOnDeletionCollector;window_size=128;}"}};
  EXPECT_EQ(parsed->unsupported, expected);
  const std::string printed =
      PrintOptionsFile(parsed->db_options, parsed->families, parsed->unsupported);
  const Result<ParsedOptionsFile> again = ParseOptionsFile(printed, "file", {});
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(again->unsupported, expected);
  EXPECT_TRUE(
      ParseOptionsFile(text, "file", {.ignore_unsupported = false}).status().IsNotSupported());
}

TEST(OptionsFile, NewerReleasesMayHaveNewNamesAndOlderMayNot) {
  const std::string body =
      "options_file_version=1.1\n[DBOptions]\n brand_new=1\n max_open_files=5\n[CFOptions "
      "\"default\"]\n last_level_temperature=kTepid\n";
  const Result<ParsedOptionsFile> newer =
      ParseOptionsFile("[Version]\nrocksdb_version=11.9.0\n" + body, "file", {});
  ASSERT_TRUE(newer.ok()) << newer.status().ToString();
  EXPECT_EQ(newer->db_options.max_open_files, 5);
  ASSERT_EQ(newer->ignored.size(), 2u);
  EXPECT_EQ(newer->ignored[0], "brand_new=1: unknown");
  const Result<ParsedOptionsFile> older =
      ParseOptionsFile("[Version]\nrocksdb_version=7.8.3\n" + body, "file", {});
  EXPECT_EQ(older.status().ToString(),
            "Invalid argument: file: line 5: option brand_new: there is no such option");
}

TEST(OptionsFile, NewerReleasesMayHaveNewValuesForReadersThatNeedAPart) {
  const std::string body =
      "options_file_version=1.1\n[DBOptions]\n[CFOptions \"default\"]\n compaction_style=kNew\n "
      "merge_operator=Mine\n";
  const std::string newer = "[Version]\nrocksdb_version=11.9.0\n" + body;
  const OptionsFileRules rules{.ignore_unknown = true, .ignore_newer_values = true};
  const Result<ParsedOptionsFile> parsed = ParseOptionsFile(newer, "file", rules);
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  EXPECT_EQ(parsed->families[0].options.compaction_style, kCompactionStyleLevel);
  ASSERT_EQ(parsed->unsupported.size(), 1u);
  EXPECT_EQ(parsed->unsupported[0].name, "merge_operator");
  ASSERT_EQ(parsed->ignored.size(), 2u);
  EXPECT_TRUE(parsed->ignored[0].starts_with("compaction_style=kNew: ")) << parsed->ignored[0];
  const std::string error =
      "Invalid argument: file: line 6: option compaction_style=kNew: none of ";
  for (const auto& [text, used] : std::vector<std::pair<std::string, OptionsFileRules>>{
           {newer, {.ignore_unknown = true}},
           {"[Version]\nrocksdb_version=7.8.3\n" + body, rules}}) {
    const std::string refused = ParseOptionsFile(text, "file", used).status().ToString();
    EXPECT_TRUE(refused.starts_with(error)) << refused;
  }
  const std::string other_format = "[Version]\nrocksdb_version=11.9.0\noptions_file_version=2.0\n";
  EXPECT_TRUE(ParseOptionsFile(other_format, "file", rules).status().IsInvalidArgument());
}

TEST(OptionsFile, DamageIsReportedWithItsLine) {
  const std::string head = "[Version]\nrocksdb_version=7.8.3\noptions_file_version=1.1\n";
  const std::string db = "[DBOptions]\nmax_open_files=5\n";
  const std::string family = "[CFOptions \"default\"]\nnum_levels=7\n";
  for (const auto& [text, error] : std::vector<std::pair<std::string, std::string>>{
           {"", "Corruption: f: there is no section [Version]"},
           {head, "Corruption: f: there is no section [DBOptions]"},
           {head + db, "Corruption: f: there is no section [CFOptions]"},
           {"a=1\n", "Invalid argument: f: line 1: an option before the first section"},
           {db, "Invalid argument: f: line 1: the first section is not [Version]"},
           {head + family, "Invalid argument: f: line 4: the second section is not [DBOptions]"},
           {head + head, "Invalid argument: f: line 4: a section that was there before"},
           {head + db + family + family,
            "Invalid argument: f: line 8: column family default was there before"},
           {head + db + "[CFOptions \"x\"]\n",
            "Invalid argument: f: the first column family is not \"default\""},
           {head + db + "[TableOptions/BlockBasedTable \"default\"]\n",
            "Invalid argument: f: line 6: table options without their column family before them"},
           {head + db + "nonsense\n",
            "Invalid argument: f: line 6: neither a section nor name=value"},
           {head + db + "[What]\n", "Invalid argument: f: line 6: unknown section What"},
           {head + db + "[CFOptions \"default]\n",
            "Invalid argument: f: line 6: a section with one quotation mark"},
           {head + db + "[CFOptions\n", "Invalid argument: f: line 6: a section without ']'"},
           {"[Version]\noptions_file_version=2.0\n",
            "Invalid argument: f: line 2: options_file_version 2.0 is unknown; 1.x can be read"},
           {head + "[DBOptions]\nmax_open_files=many\n",
            "Invalid argument: f: line 5: option max_open_files=many: not a whole number "
            "below 2^64, or with another unit than k, m, g or t"},
       }) {
    EXPECT_EQ(ParseOptionsFile(text, "f", {}).status().ToString(), error) << text;
  }
}

TEST(OptionsFile, CutAndFlippedFilesNeverCrash) {
  const std::string text = LdbFile();
  for (size_t bytes = 0; bytes < text.size(); bytes += 7)
    static_cast<void>(ParseOptionsFile(text.substr(0, bytes), "f", {}).ok());
  std::string damaged = text;
  for (size_t i = 0; i < text.size(); i += 3) {
    for (const char c : {'\0', '{', '}', '\\', '"', '=', '\n', '\xff'}) {
      damaged[i] = c;
      static_cast<void>(ParseOptionsFile(damaged, "f", {}).ok());
    }
    damaged[i] = text[i];
  }
}

TEST(OptionsFile, OtherTableFactoriesAreSteppedOver) {
  const Result<ParsedOptionsFile> parsed = ParseOptionsFile(
      "[Version]\nrocksdb_version=7.8.3\noptions_file_version=1.1\n[DBOptions]\n[CFOptions "
      "\"default\"]\ntable_factory=CuckooTable\n"
      "[TableOptions/CuckooTable \"default\"]\nmax_search_depth=20\n",
      "f", {});
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  EXPECT_EQ(parsed->ignored.size(), 2u);
}

constexpr const char* kWithObjectsOfTheProgram =
    "[Version]\nrocksdb_version=7.8.3\noptions_file_version=1.1\n"
    "[DBOptions]\n  file_checksum_gen_factory=MyChecksums\n"
    "[CFOptions \"default\"]\n  merge_operator={id=MyOperator;separator=\\:;}\n  "
    "comparator=MyOrder\n  compaction_filter=MyFilter\n"
    "[TableOptions/BlockBasedTable \"default\"]\n  filter_policy=MyBloom\\:10\n  "
    "flush_block_policy_factory=MyPolicy\n  block_size=8192\n"
    "[CFOptions \"odd\\#\"]\n  memtable_factory=MyMemTable\n  table_factory=CuckooTable\n  "
    "prefix_extractor=MyPrefix\n"
    "[TableOptions/CuckooTable \"odd\\#\"]\n  max_search_depth=20\n";

TEST(OptionsFile, ObjectsOfTheProgramAreListed) {
  const Result<ParsedOptionsFile> parsed = ParseOptionsFile(kWithObjectsOfTheProgram, "f", {});
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  const std::vector<UnsupportedOption> expected = {
      {"", "file_checksum_gen_factory", "MyChecksums"},
      {"default", "merge_operator", "{id=MyOperator;separator=:;}"},
      {"default", "compaction_filter", "MyFilter"},
      {"default", "filter_policy", "MyBloom:10"},
      {"default", "flush_block_policy_factory", "MyPolicy"},
      {"odd#", "memtable_factory", "MyMemTable"},
      {"odd#", "table_factory", "CuckooTable", {{"max_search_depth", "20"}}},
      {"odd#", "prefix_extractor", "MyPrefix"},
  };
  EXPECT_EQ(parsed->unsupported, expected);
  EXPECT_EQ(parsed->unsupported[1].ObjectName(), "MyOperator");
  EXPECT_EQ(parsed->unsupported[2].ObjectName(), "MyFilter");
}

TEST(OptionsFile, ObjectsOfTheProgramAreWrittenAgainWhereNothingElseIsSet) {
  const Result<ParsedOptionsFile> parsed = ParseOptionsFile(kWithObjectsOfTheProgram, "f", {});
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  const std::string text =
      PrintOptionsFile(parsed->db_options, parsed->families, parsed->unsupported);
  const Result<ParsedOptionsFile> again = ParseOptionsFile(text, "f", {});
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(again->unsupported, parsed->unsupported) << text;
  EXPECT_EQ(
      again->families[0].options.table_factory->GetOptions<BlockBasedTableOptions>()->block_size,
      8192u);
  EXPECT_NE(text.find("[TableOptions/CuckooTable \"odd\\#\"]\n  max_search_depth=20\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("MyOrder"), std::string::npos) << "the MANIFEST records the comparator";
}

TEST(OptionsFile, WhatTheProgramHasEmptiedReadsBackEmpty) {
  DBOptions db_options;
  db_options.db_host_id.clear();
  ColumnFamilyOptions options;
  options.max_bytes_for_level_multiplier_additional.clear();
  const Result<ParsedOptionsFile> parsed = ParseOptionsFile(
      PrintOptionsFile(db_options, {ColumnFamilyDescriptor("default", options)}), "f", kStrict);
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  EXPECT_EQ(parsed->db_options.db_host_id, "");
  EXPECT_TRUE(parsed->families[0].options.max_bytes_for_level_multiplier_additional.empty());
}

// ---- Names that look like something else

// Parsing a file or a list could mistake parts of these names for its own syntax.
constexpr const char* kOddNames[] = {
    "a=b",
    "=",
    "id=other",
    "a=1;id=uint64add",
    "{id=uint64add}",
    "{a=b}",
    "a=b;c",
    "a;b",
    "{a",
    "a}",
    "#a",
    "a#b",
    "a\nb",
    "\na\n",
    "a\rb",
    "a\\",
    "\\",
    " a",
    "a ",
    " ",
    "\ta",
    "uint64add ",
    "fixed:a",
    "capped:",
    "rocksdb.FixedPrefix.",
    "bloomfilter:a",
    "[a]",
    "a=\nb=c",
};
// Braces that do not match end a list in the middle of the name.
constexpr const char* kNamesWithOddBraces[] = {
    "a={", "{a=b", "a=}", "}=", "a=b}c", "}a={", "id={", "id=}", "{id=a", "a={;id=b",
};

class OddMergeOperator final : public AssociativeMergeOperator {
 public:
  explicit OddMergeOperator(std::string name) : name_(std::move(name)) {}
  const char* Name() const override { return name_.c_str(); }
  bool Merge(const Slice&, const Slice*, const Slice&, std::string*, Logger*) const override {
    return false;
  }

 private:
  const std::string name_;
};
class OddPrefix final : public SliceTransform {
 public:
  explicit OddPrefix(std::string name) : name_(std::move(name)) {}
  const char* Name() const override { return name_.c_str(); }
  Slice Transform(const Slice& key) const override { return key; }
  bool InDomain(const Slice&) const override { return true; }

 private:
  const std::string name_;
};
class OddFilterFactory final : public CompactionFilterFactory {
 public:
  explicit OddFilterFactory(std::string name) : name_(std::move(name)) {}
  const char* Name() const override { return name_.c_str(); }
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context&) override {
    return nullptr;
  }

 private:
  const std::string name_;
};
class OddPartitions final : public SstPartitionerFactory {
 public:
  explicit OddPartitions(std::string name) : name_(std::move(name)) {}
  const char* Name() const override { return name_.c_str(); }
  std::unique_ptr<SstPartitioner> CreatePartitioner(const SstPartitioner::Context&) const override {
    return nullptr;
  }

 private:
  const std::string name_;
};
class OddChecksums final : public FileChecksumGenFactory {
 public:
  explicit OddChecksums(std::string name) : name_(std::move(name)) {}
  const char* Name() const override { return name_.c_str(); }
  std::unique_ptr<FileChecksumGenerator> CreateFileChecksumGenerator(
      const FileChecksumGenContext&) override {
    return nullptr;
  }

 private:
  const std::string name_;
};
class OddOrder final : public Comparator {
 public:
  explicit OddOrder(std::string name) : name_(std::move(name)) {}
  const char* Name() const override { return name_.c_str(); }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

 private:
  const std::string name_;
};

// Every object of the program has this name. `order` is the comparator and outlives the options.
std::string PrintFileWithName(const std::string& name, const Comparator* order) {
  DBOptions db_options;
  db_options.file_checksum_gen_factory = std::make_shared<OddChecksums>(name);
  ColumnFamilyOptions options;
  options.comparator = order;
  options.merge_operator = std::make_shared<OddMergeOperator>(name);
  options.prefix_extractor = std::make_shared<OddPrefix>(name);
  options.compaction_filter_factory = std::make_shared<OddFilterFactory>(name);
  options.sst_partitioner_factory = std::make_shared<OddPartitions>(name);
  options.max_bytes_for_level_multiplier = 7;
  return PrintOptionsFile(db_options, {ColumnFamilyDescriptor("default", options)});
}

TEST(OptionsFile, AnyNameOfAnObjectReadsBack) {
  std::vector<const char*> all(std::begin(kOddNames), std::end(kOddNames));
  all.insert(all.end(), std::begin(kNamesWithOddBraces), std::end(kNamesWithOddBraces));
  for (const char* const name : all) {
    SCOPED_TRACE(name);
    const OddOrder order(name);
    const std::string text = PrintFileWithName(name, &order);
    const Result<ParsedOptionsFile> parsed = ParseOptionsFile(text, "f", {});
    ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
    std::map<std::string, std::string> names;
    for (const UnsupportedOption& option : parsed->unsupported)
      names[option.name] = option.ObjectName();
    const std::map<std::string, std::string> expected = {{"file_checksum_gen_factory", name},
                                                         {"merge_operator", name},
                                                         {"prefix_extractor", name},
                                                         {"compaction_filter_factory", name},
                                                         {"sst_partitioner_factory", name}};
    EXPECT_EQ(names, expected) << text;
    EXPECT_EQ(parsed->families[0].options.comparator, BytewiseComparator());
    EXPECT_EQ(parsed->families[0].options.max_bytes_for_level_multiplier, 7);
    // Recorded names are recorded again.
    const Result<ParsedOptionsFile> again = ParseOptionsFile(
        PrintOptionsFile(parsed->db_options, parsed->families, parsed->unsupported), "f", {});
    ASSERT_TRUE(again.ok()) << again.status().ToString();
    EXPECT_EQ(again->unsupported, parsed->unsupported);
  }
}

TEST(OptionsFile, RocksDbToolsReadAFileWithAnyNameOfAnObject) {
  ASSERT_TRUE(HaveRocksDbTools());
  const ScratchDirectory directory;
  const std::string db = directory.File("db");
  ASSERT_EQ(RunTool("ldb --db='" + db + "' --create_if_missing put a 1").exit_code, 0);
  vfs::FileSystem* const file_system = vfs::FileSystem::Default().get();
  const Result<uint64_t> number = FindNewestOptionsFile(file_system, db);
  ASSERT_TRUE(number.ok()) << number.status().ToString();
  uint64_t next = *number + 100;
  for (const char* const name : kOddNames) {
    SCOPED_TRACE(name);
    const std::string text = PrintFileWithName(name, BytewiseComparator());
    ASSERT_TRUE(WriteOptionsFile(file_system, db, next++, text).ok());
    const ToolRun scan = RunTool("ldb --db='" + db + "' --try_load_options scan");
    EXPECT_EQ(scan.exit_code, 0);
    EXPECT_EQ(scan.output, "a : 1\n");
  }
}

// RocksDB writes a name with a '=' in braces there.
TEST(OptionsFile, NamesAreReadAsRocksDbWritesThem) {
  std::string text = kWithObjectsOfTheProgram;
  const std::string before = "merge_operator={id=MyOperator;separator=\\:;}";
  ASSERT_NE(text.find(before), std::string::npos);
  text.replace(text.find(before), before.size(), "merge_operator={a=b}");
  const Result<ParsedOptionsFile> parsed = ParseOptionsFile(text, "f", {});
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  EXPECT_EQ(parsed->unsupported[1].value, "{a=b}");
  EXPECT_EQ(parsed->unsupported[1].ObjectName(), "a=b");
}

TEST(OptionsFile, WhatTheProgramSetsReplacesWhatIsRecorded) {
  Result<ParsedOptionsFile> parsed = ParseOptionsFile(kWithObjectsOfTheProgram, "f", {});
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  parsed->families[0].options.merge_operator = MergeOperators::CreateMaxOperator();
  parsed->families[1].options.prefix_extractor.reset(NewFixedPrefixTransform(4));
  BlockBasedTableOptions table;
  table.block_size = 16384;
  parsed->families[1].options.table_factory.reset(NewBlockBasedTableFactory(table));
  const std::map<std::string, std::string> fields =
      Fields(PrintOptionsFile(parsed->db_options, parsed->families, parsed->unsupported));
  EXPECT_EQ(fields.at("[CFOptions \"default\"]merge_operator"), "MaxOperator");
  EXPECT_EQ(fields.at("[CFOptions \"default\"]compaction_filter"), "MyFilter");
  EXPECT_EQ(fields.at("[CFOptions \"odd\\#\"]prefix_extractor"), "rocksdb.FixedPrefix.4");
  EXPECT_EQ(fields.at("[CFOptions \"odd\\#\"]table_factory"), "BlockBasedTable");
  EXPECT_EQ(fields.at("[TableOptions/BlockBasedTable \"odd\\#\"]block_size"), "16384");
}

// RocksDB 7.8.3 writes the section like this.
TEST(OptionsFile, PlainTablesAreReadAsRocksDbWritesThem) {
  const std::string section =
      "[TableOptions/PlainTable \"default\"]\n  store_index_in_file=true\n  "
      "encoding_type=kPrefix\n  huge_page_tlb_size=7\n"
      "  hash_table_ratio=0.500000\n  full_scan_mode=true\n  bloom_bits_per_key=9\n  "
      "index_sparseness=8\n  user_key_len=20\n  \n";
  const std::string text =
      "[Version]\nrocksdb_version=7.8.3\noptions_file_version=1.1\n[DBOptions]\n[CFOptions "
      "\"default\"]\ntable_factory=PlainTable\n" +
      section + "[CFOptions \"b\"]\n[TableOptions/BlockBasedTable \"b\"]\nblock_size=5\n";
  const Result<ParsedOptionsFile> parsed = ParseOptionsFile(text, "f", kStrict);
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  EXPECT_TRUE(parsed->ignored.empty());
  const auto* const plain =
      parsed->families[0].options.table_factory->GetOptions<PlainTableOptions>();
  ASSERT_NE(plain, nullptr);
  EXPECT_TRUE(plain->store_index_in_file);
  EXPECT_EQ(plain->encoding_type, kPrefix);
  EXPECT_EQ(plain->huge_page_tlb_size, 7u);
  EXPECT_EQ(plain->hash_table_ratio, 0.5);
  EXPECT_TRUE(plain->full_scan_mode);
  EXPECT_EQ(plain->bloom_bits_per_key, 9);
  EXPECT_EQ(plain->index_sparseness, 8u);
  EXPECT_EQ(plain->user_key_len, 20u);
  EXPECT_EQ(
      parsed->families[1].options.table_factory->GetOptions<BlockBasedTableOptions>()->block_size,
      5u);

  const std::string printed = PrintOptionsFile(parsed->db_options, parsed->families);
  EXPECT_NE(printed.find("  table_factory=PlainTable\n"), std::string::npos);
  EXPECT_NE(printed.find("[TableOptions/PlainTable \"default\"]\n  user_key_len=20\n  "
                         "bloom_bits_per_key=9\n  hash_table_ratio=0.500000\n"),
            std::string::npos)
      << printed;
  const Result<ParsedOptionsFile> again = ParseOptionsFile(printed, "f", kStrict);
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(PrintOptionsFile(again->db_options, again->families), printed);
}

// Programs create the database after NotFound, so a missing directory must not be an IOError.
TEST(OptionsFile, ADirectoryWithoutAFileOrNoneIsNotFound) {
  auto file_system = std::make_shared<MemoryFileSystem>();
  const std::unique_ptr<Env> env = NewCompositeEnv(file_system);
  ASSERT_TRUE(file_system->CreateDir("/db").ok());
  ConfigOptions config_options;
  config_options.env = env.get();
  for (const char* const directory : {"/db", "/none"}) {
    DBOptions db_options;
    std::vector<ColumnFamilyDescriptor> families;
    const Status loaded = LoadLatestOptions(config_options, directory, &db_options, &families);
    EXPECT_TRUE(loaded.IsNotFound()) << loaded.ToString();
    std::string name;
    const Status found = GetLatestOptionsFileName(directory, env.get(), &name);
    EXPECT_TRUE(found.IsNotFound()) << found.ToString();
    EXPECT_EQ(found.IsPathNotFound(), directory == std::string_view("/none"));
  }
}

// A writer keeps only the newest two files.
TEST(OptionsFile, FilesThatAWriterReplacesAfterTheyAreListedAreReadAnew) {
  const auto files = std::make_shared<MemoryFileSystem>();
  const auto calls = std::make_shared<FaultFileSystem>(files);
  const std::unique_ptr<Env> env = NewCompositeEnv(calls);
  ASSERT_TRUE(files->CreateDir("/db").ok());
  const auto write = [&files](uint64_t number) {
    DBOptions options;
    options.max_open_files = static_cast<int>(number);
    ASSERT_TRUE(
        WriteOptionsFile(files.get(), "/db", number, PrintOptionsFile(options, TwoFamilies()))
            .ok());
  };
  write(11);
  FaultRule rule;
  rule.operations = FaultOperation::kOpenForReading;
  const auto replace = [&] {
    write(12);
    write(13);
    ASSERT_TRUE(files->DeleteFile(OptionsFileName("/db", 11)).ok());
  };
  ConfigOptions config_options;
  config_options.env = env.get();
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  EXPECT_TRUE(RunDuring(calls.get(), rule, replace, [&] {
    const Status loaded = LoadLatestOptions(config_options, "/db", &db_options, &families);
    EXPECT_TRUE(loaded.ok()) << loaded.ToString();
  }));
  EXPECT_EQ(db_options.max_open_files, 13);
}

TEST(OptionsFile, TheNewestFileIsLoaded) {
  auto file_system = std::make_shared<MemoryFileSystem>();
  const std::unique_ptr<Env> env = NewCompositeEnv(file_system);
  ASSERT_TRUE(file_system->CreateDir("/db").ok());
  ConfigOptions config_options;
  config_options.env = env.get();
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  for (const int number : {9, 11, 10}) {
    DBOptions written;
    written.max_open_files = number;
    ASSERT_TRUE(WriteOptionsFile(file_system.get(), "/db", static_cast<uint64_t>(number),
                                 PrintOptionsFile(written, TwoFamilies()))
                    .ok());
  }
  std::string name;
  ASSERT_TRUE(GetLatestOptionsFileName("/db", env.get(), &name).ok());
  EXPECT_EQ(name, "OPTIONS-000011");
  std::shared_ptr<Cache> cache = NewLRUCache(1 << 20);
  ASSERT_TRUE(LoadLatestOptions(config_options, "/db", &db_options, &families, &cache).ok());
  EXPECT_EQ(db_options.max_open_files, 11);
  EXPECT_EQ(db_options.env, env.get());
  ASSERT_EQ(families.size(), 2u);
  for (const ColumnFamilyDescriptor& family : families) {
    EXPECT_EQ(family.options.table_factory->GetOptions<BlockBasedTableOptions>()->block_cache,
              cache);
  }
  std::vector<std::string> children;
  ASSERT_TRUE(file_system->GetChildren("/db", &children).ok());
  EXPECT_EQ(children.size(), 3u) << "no temporary file is left";
}

// A database with ten thousand families has a file of this size.
TEST(OptionsFile, ALargeFileIsRead) {
  std::string text = PrintOptionsFile(DBOptions(), {ColumnFamilyDescriptor("default", {})});
  const std::string comment = StrCat("#", std::string(1 << 20, '-'), "\n");
  for (int i = 0; i < 66; ++i) text += comment;
  const auto file_system = std::make_shared<MemoryFileSystem>();
  ASSERT_TRUE(WriteStringToFile(file_system.get(), text, "/OPTIONS", Durability::kSynced).ok());
  const Result<ParsedOptionsFile> parsed = ReadOptionsFile(file_system.get(), "/OPTIONS", kStrict);
  EXPECT_TRUE(parsed.ok()) << parsed.status().ToString();
}

TEST(OptionsFile, RocksDbToolsTakeNamesOfObjectsThatTheyDoNotKnow) {
  ASSERT_TRUE(HaveRocksDbTools());
  const ScratchDirectory directory;
  const std::string db = directory.File("db");
  ASSERT_EQ(RunTool("ldb --db='" + db + "' --create_if_missing put a 1").exit_code, 0);
  vfs::FileSystem* const file_system = vfs::FileSystem::Default().get();
  const Result<uint64_t> number = FindNewestOptionsFile(file_system, db);
  ASSERT_TRUE(number.ok()) << number.status().ToString();
  const std::vector<UnsupportedOption> recorded = {
      {"", "file_checksum_gen_factory", "MyChecksums"},
      {"default", "merge_operator", "{id=MyOperator;separator=:;}"},
      {"default", "compaction_filter_factory", "MyFilters"},
      {"default", "memtable_factory", "MyMemTable"},
      {"default", "sst_partitioner_factory", "MyPartitions"},
      {"default", "prefix_extractor", "MyPrefix"},
      {"default", "filter_policy", "MyBloom"},
  };
  const std::string text = PrintOptionsFile(
      DBOptions(), {ColumnFamilyDescriptor("default", ColumnFamilyOptions())}, recorded);
  for (const UnsupportedOption& option : recorded) {
    EXPECT_NE(text.find(StrCat("  ", option.name, "=", EscapeOptionText(option.value), "\n")),
              std::string::npos)
        << option.name;
  }
  ASSERT_TRUE(WriteOptionsFile(file_system, db, *number + 100, text).ok());
  const ToolRun scan = RunTool("ldb --db='" + db + "' --try_load_options scan");
  EXPECT_EQ(scan.exit_code, 0);
  EXPECT_EQ(scan.output, "a : 1\n");
}

TEST(OptionsFile, RocksDbToolsTakeWhatIsPrinted) {
  ASSERT_TRUE(HaveRocksDbTools());
  const ScratchDirectory directory;
  const std::string db = directory.File("db");
  ASSERT_EQ(RunTool("ldb --db='" + db + "' --create_if_missing put a 1").exit_code, 0);
  vfs::FileSystem* const file_system = vfs::FileSystem::Default().get();
  const Result<uint64_t> number = FindNewestOptionsFile(file_system, db);
  ASSERT_TRUE(number.ok()) << number.status().ToString();

  ColumnFamilyOptions options = TwoFamilies()[0].options;
  options.max_bytes_for_level_multiplier = 8.25;
  options.merge_operator = MergeOperators::CreateStringAppendOperator('#');
  ASSERT_TRUE(
      WriteOptionsFile(file_system, db, *number + 100,
                       PrintOptionsFile(DBOptions(), {ColumnFamilyDescriptor("default", options)}))
          .ok());
  const ToolRun scan = RunTool("ldb --db='" + db + "' --try_load_options scan");
  EXPECT_EQ(scan.exit_code, 0);
  EXPECT_EQ(scan.output, "a : 1\n");

  // The tool opens with the options it read and writes them back. No option may be lost.
  ASSERT_EQ(RunTool("ldb --db='" + db + "' --try_load_options put b 2").exit_code, 0);
  const Result<uint64_t> rewritten = FindNewestOptionsFile(file_system, db);
  ASSERT_TRUE(rewritten.ok());
  ASSERT_GT(*rewritten, *number + 100);
  const Result<ParsedOptionsFile> back =
      ReadOptionsFile(file_system, OptionsFileName(db, *rewritten), kStrict);
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  const ColumnFamilyOptions& read = back->families[0].options;
  EXPECT_EQ(read.max_bytes_for_level_multiplier, 8.25);
  EXPECT_EQ(read.compression_per_level, options.compression_per_level);
  EXPECT_EQ(read.compression_opts.level, 4);
  EXPECT_EQ(read.table_factory->GetOptions<BlockBasedTableOptions>()->block_size, 16u << 10);
  EXPECT_EQ(
      read.table_factory->GetOptions<BlockBasedTableOptions>()->filter_policy->MillibitsPerKey(),
      9900);
}

}  // namespace
}  // namespace ashlar
