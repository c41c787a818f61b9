// Records of the program that wrote a database survive a program that lacks the same objects.
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/options_util.h"
#include "base/format.h"
#include "tests/engine/database_fixture.h"
#include "tests/support/fault_file_system.h"

namespace ashlar {
namespace {

// An operator that no release registers by name.
class Join final : public AssociativeMergeOperator {
 public:
  static constexpr const char* kName = "test.Join";
  const char* Name() const override { return kName; }
  bool Merge(const Slice& /*key*/, const Slice* existing_value, const Slice& value,
             std::string* new_value, Logger* /*logger*/) const override {
    *new_value = (existing_value == nullptr ? std::string() : existing_value->ToString() + "+") +
                 value.ToString();
    return true;
  }
};

class RecordedOptionsTest : public DatabaseFixture {
 protected:
  std::string NewestOptionsFile() const {
    std::string name;
    EXPECT_OK(GetLatestOptionsFileName(path(), Env::Default(), &name));
    return path() + "/" + name;
  }
  static std::string Read(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void Write(const std::string& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
  }
  std::string ReadNewest() const { return Read(NewestOptionsFile()); }
  void ReplaceInNewest(const std::string& from, const std::string& to) const {
    const std::string file = NewestOptionsFile();
    std::string text = Read(file);
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << text;
    Write(file, text.replace(at, from.size(), to));
  }
  static bool Has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
  static size_t Count(const std::string& text, const std::string& part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
      ++count;
    return count;
  }
};

TEST_F(RecordedOptionsTest, OperandsOfAnUnknownOperatorAreKeptThroughReplayFlushAndCompaction) {
  options_.merge_operator = std::make_shared<Join>();
  Open();
  Put("a", "1");
  Put("plain", "value");
  Flush();
  Merge("a", "2");
  Flush();
  Merge("a", "3");
  Merge("b", "x");
  Merge("b", "y");
  const std::string expected = Contents();
  EXPECT_EQ(expected, "a=1+2+3 b=x+y plain=value ");

  options_.merge_operator = nullptr;
  for (int round = 0; round < 2; ++round) {
    Open();  // The first open replays operands from the log.
    EXPECT_EQ(Get("plain"), "value");
    const Status read = db_->Get(ReadOptions(), "a", std::make_unique<std::string>().get());
    EXPECT_TRUE(read.IsNotSupported()) << read.ToString();
    EXPECT_TRUE(Has(read.ToString(), Join::kName)) << read.ToString();
    const std::unique_ptr<Iterator> iterator(db_->NewIterator(ReadOptions()));
    iterator->SeekToFirst();
    EXPECT_FALSE(iterator->Valid());
    EXPECT_TRUE(iterator->status().IsNotSupported()) << iterator->status().ToString();
    const Status merged = db_->Merge(WriteOptions(), "a", "4");
    EXPECT_TRUE(merged.IsNotSupported()) << merged.ToString();
    EXPECT_TRUE(Has(merged.ToString(), Join::kName)) << merged.ToString();
    Put("other", "value");
    Flush();
    CompactAll();
  }

  options_.merge_operator = std::make_shared<Join>();
  Open();
  Delete("other");
  EXPECT_EQ(Contents(), expected);
  CompactAll();
  EXPECT_EQ(Contents(), expected);
}

TEST_F(RecordedOptionsTest, TheNameOfAnUnknownOperatorSurvivesEveryRewrite) {
  const std::string recorded = std::string("merge_operator=") + Join::kName + "\n";
  options_.merge_operator = std::make_shared<Join>();
  Open();
  EXPECT_TRUE(Has(ReadNewest(), recorded));

  options_.merge_operator = nullptr;
  Open();
  EXPECT_TRUE(Has(ReadNewest(), recorded)) << "opened without an operator";
  EXPECT_STREQ(db_->GetOptions().merge_operator->Name(), Join::kName);
  EXPECT_OK(db_->SetOptions({{"write_buffer_size", "1000000"}}));
  EXPECT_TRUE(Has(ReadNewest(), recorded)) << "SetOptions";
  EXPECT_OK(db_->SetDBOptions({{"max_background_jobs", "3"}}));
  EXPECT_TRUE(Has(ReadNewest(), recorded)) << "SetDBOptions";
  ColumnFamilyHandle* family = nullptr;
  EXPECT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(), "more", &family));
  EXPECT_EQ(Count(ReadNewest(), recorded), 1u) << "CreateColumnFamily";
  EXPECT_OK(db_->DropColumnFamily(family));
  EXPECT_OK(db_->DestroyColumnFamilyHandle(family));

  Close();
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  ASSERT_OK(LoadLatestOptions(ConfigOptions(), path(), &db_options, &families));
  EXPECT_EQ(families[0].options.merge_operator, nullptr) << "the program has to set it";
  ASSERT_OK(DB::Open(db_options, path(), families, &handles_, &db_));
  EXPECT_TRUE(Has(ReadNewest(), recorded)) << "opened with the loaded options";

  options_.merge_operator = MergeOperators::CreateMaxOperator();
  Open();
  EXPECT_TRUE(Has(ReadNewest(), "merge_operator=MaxOperator\n"))
      << "the operator of the program is recorded";
}

// Otherwise such a file would lose the names of all objects.
TEST_F(RecordedOptionsTest, AValueOfANewerReleaseHidesNoName) {
  options_.merge_operator = std::make_shared<Join>();
  Open();
  Close();
  ASSERT_NO_FATAL_FAILURE(ReplaceInNewest("rocksdb_version=7.8.3", "rocksdb_version=11.9.0"));
  ASSERT_NO_FATAL_FAILURE(
      ReplaceInNewest("compaction_style=kCompactionStyleLevel", "compaction_style=kNew"));
  options_.merge_operator = nullptr;
  Open();
  ASSERT_NE(db_->GetOptions().merge_operator, nullptr);
  EXPECT_STREQ(db_->GetOptions().merge_operator->Name(), Join::kName);
}

// Wraps an operator under another name.
class Named final : public AssociativeMergeOperator {
 public:
  explicit Named(std::string name) : name_(std::move(name)) {}
  const char* Name() const override { return name_.c_str(); }
  bool Merge(const Slice& key, const Slice* existing_value, const Slice& value,
             std::string* new_value, Logger* logger) const override {
    return join_.Merge(key, existing_value, value, new_value, logger);
  }

 private:
  const std::string name_;
  const Join join_;
};

// Otherwise such names would break the OPTIONS file or be read back as another name, so that an
// open without the operator would not find it.
TEST_F(RecordedOptionsTest, AnOperatorWithAnyNameIsFoundAgain) {
  for (const std::string name : {"a=b", "{id=uint64add}", "uint64add ", " ", "a\nb#;{"}) {
    SCOPED_TRACE(name);
    options_.merge_operator = std::make_shared<Named>(name);
    Open();
    Merge("a", "1");
    Flush();
    Merge("a", "2");
    options_.merge_operator = nullptr;
    for (int round = 0; round < 2; ++round) {
      Open();
      EXPECT_EQ(db_->GetOptions().merge_operator->Name(), name);
      EXPECT_TRUE(
          db_->Get(ReadOptions(), "a", std::make_unique<std::string>().get()).IsNotSupported());
    }
    Close();
    DBOptions db_options;
    std::vector<ColumnFamilyDescriptor> families;
    ASSERT_OK(LoadLatestOptions(ConfigOptions(), path(), &db_options, &families));
    EXPECT_EQ(families[0].options.merge_operator, nullptr);
    options_.merge_operator = std::make_shared<Named>(name);
    Open();
    EXPECT_EQ(Contents(), "a=1+2 ");
    Close();
    ASSERT_OK(DestroyDB(path(), options_));
  }
}

class NamedOrder final : public Comparator {
 public:
  explicit NamedOrder(std::string name) : name_(std::move(name)) {}
  const char* Name() const override { return name_.c_str(); }
  int Compare(const Slice& a, const Slice& b) const override { return b.compare(a); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

 private:
  const std::string name_;
};

// The MANIFEST also has the name, which may be any text there.
TEST_F(RecordedOptionsTest, AnOrderWithAnyNameOpensAgain) {
  options_.merge_operator = std::make_shared<Join>();
  for (const std::string name : {"a=b", "id=leveldb.BytewiseComparator", " a\n#;{ "}) {
    SCOPED_TRACE(name);
    const NamedOrder order(name);
    options_.comparator = &order;
    for (int round = 0; round < 2; ++round) {
      Open();
      Put(StrCat("key", round), "value");
      Flush();
      Close();
    }
    DBOptions db_options;
    std::vector<ColumnFamilyDescriptor> families;
    std::vector<UnsupportedOption> unsupported;
    ASSERT_OK(LoadOptionsFromFile(ConfigOptions(), NewestOptionsFile(), &db_options, &families,
                                  nullptr, &unsupported));
    ASSERT_EQ(unsupported.size(), 1u);
    EXPECT_EQ(unsupported[0].ObjectName(), Join::kName);
    Open();
    EXPECT_EQ(Contents(), "key1=value key0=value ");
    Close();
    ASSERT_OK(DestroyDB(path(), options_));
  }
  options_.comparator = BytewiseComparator();
}

TEST_F(RecordedOptionsTest, ADroppedFamilyTakesItsNamesWithIt) {
  options_.merge_operator = std::make_shared<Join>();
  Open();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "more", &family));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
  EXPECT_EQ(Count(ReadNewest(), Join::kName), 2u);
  options_.merge_operator = nullptr;
  OpenFamilies({"default", "more"});
  EXPECT_EQ(Count(ReadNewest(), Join::kName), 2u);
  ASSERT_OK(db_->DropColumnFamily(handles_[1]));
  EXPECT_EQ(Count(ReadNewest(), Join::kName), 1u);
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(), "more", &family));
  EXPECT_EQ(Count(ReadNewest(), Join::kName), 1u);
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
}

TEST_F(RecordedOptionsTest, NamesOfOtherObjectsSurviveToo) {
  Open();
  Put("a", "1");
  Close();
  const std::vector<std::pair<std::string, std::string>> objects = {
      {"  file_checksum_gen_factory=nullptr\n", "  file_checksum_gen_factory=MyChecksums\n"},
      {"  compaction_filter=nullptr\n", "  compaction_filter=MyFilter\n"},
      {"  compaction_filter_factory=nullptr\n", "  compaction_filter_factory=MyFilters\n"},
      {"  prefix_extractor=nullptr\n", "  prefix_extractor={id=MyPrefix;width=3;}\n"},
      {"  sst_partitioner_factory=nullptr\n", "  sst_partitioner_factory=MyPartitions\n"},
      {"  memtable_factory=SkipListFactory\n", "  memtable_factory=MyMemTable\n"},
      {"  filter_policy=nullptr\n", "  filter_policy=MyBloom\n"},
  };
  for (const auto& [before, after] : objects) ReplaceInNewest(before, after);
  for (int round = 0; round < 2; ++round) {
    Open();
    EXPECT_EQ(Get("a"), "1");
    for (const auto& [before, after] : objects) EXPECT_TRUE(Has(ReadNewest(), after)) << after;
  }
  options_.prefix_extractor.reset(NewFixedPrefixTransform(1));
  Open();
  ASSERT_OK(db_->SetOptions({{"prefix_extractor", "nullptr"}}));
  EXPECT_FALSE(Has(ReadNewest(), "MyPrefix")) << "a program has set it since";
}

TEST_F(RecordedOptionsTest, WhatSetOptionsReplacesDoesNotComeBack) {
  Open();
  Close();
  ReplaceInNewest("  prefix_extractor=nullptr\n", "  prefix_extractor=MyPrefix\n");
  ReplaceInNewest("  filter_policy=nullptr\n", "  filter_policy=MyBloom\n");
  Open();
  ASSERT_OK(db_->SetOptions({{"prefix_extractor", "fixed:1"}}));
  EXPECT_FALSE(Has(ReadNewest(), "MyPrefix"));
  EXPECT_TRUE(Has(ReadNewest(), "MyBloom"));
  ASSERT_OK(db_->SetOptions({{"prefix_extractor", "nullptr"},
                             {"block_based_table_factory", "{filter_policy=bloomfilter:10}"}}));
  EXPECT_FALSE(Has(ReadNewest(), "MyPrefix"));
  EXPECT_FALSE(Has(ReadNewest(), "MyBloom"));
  ASSERT_OK(db_->SetOptions({{"block_based_table_factory", "{filter_policy=nullptr}"}}));
  EXPECT_FALSE(Has(ReadNewest(), "MyBloom"));
}

TEST_F(RecordedOptionsTest, NamesAreThoseOfTheNewestFileThatCanBeRead) {
  options_.merge_operator = std::make_shared<Join>();
  Open();
  Open();
  Merge("a", "1");
  Merge("a", "2");
  Close();
  Write(NewestOptionsFile(), "garbage\n");
  options_.merge_operator = nullptr;
  Open();
  EXPECT_TRUE(Has(ReadNewest(), Join::kName));
  CompactAll();
  options_.merge_operator = std::make_shared<Join>();
  Open();
  EXPECT_EQ(Contents(), "a=1+2 ");
}

TEST_F(RecordedOptionsTest, AnOpenThatCannotReadTheNamesDoesNotReplaceThem) {
  options_.merge_operator = std::make_shared<Join>();
  Open();
  Close();
  const auto faults = std::make_shared<FaultFileSystem>(vfs::FileSystem::Default());
  const std::unique_ptr<Env> env = NewCompositeEnv(faults);
  options_.env = env.get();
  options_.merge_operator = nullptr;
  FaultRule rule;
  rule.operations = FaultOperation::kAnyRead;
  rule.name_contains = "OPTIONS-";
  faults->AddRule(rule);
  const Status opened = TryOpen();
  EXPECT_TRUE(opened.IsIOError()) << opened.ToString();
  EXPECT_TRUE(Has(ReadNewest(), Join::kName));
  faults->ClearRules();
  Open();
  EXPECT_TRUE(Has(ReadNewest(), Join::kName));
  Close();
}

// ---- The identity.

TEST_F(RecordedOptionsTest, ALostIdentityFileIsWrittenAgainFromTheManifest) {
  Open();
  Put("a", "1");
  std::string identity;
  ASSERT_OK(db_->GetDbIdentity(identity));
  EXPECT_EQ(identity.size(), 36u);
  Close();
  const std::string file = path() + "/IDENTITY";
  EXPECT_EQ(Read(file), identity);
  ASSERT_TRUE(std::filesystem::remove(file));

  std::string again;
  ASSERT_OK(DB::OpenForReadOnly(options_, path(), &db_));
  ASSERT_OK(db_->GetDbIdentity(again));
  EXPECT_EQ(again, identity);
  EXPECT_FALSE(std::filesystem::exists(file)) << "opened for reading";
  Open();
  ASSERT_OK(db_->GetDbIdentity(again));
  EXPECT_EQ(again, identity);
  EXPECT_EQ(Read(file), identity);
}

TEST_F(RecordedOptionsTest, AnEmptyIdentityFileIsNone) {
  Open();
  std::string identity;
  ASSERT_OK(db_->GetDbIdentity(identity));
  Close();
  Write(path() + "/IDENTITY", "");
  Open();
  std::string again;
  ASSERT_OK(db_->GetDbIdentity(again));
  EXPECT_EQ(again, identity);
  EXPECT_EQ(Read(path() + "/IDENTITY"), identity);
}

}  // namespace
}  // namespace ashlar
