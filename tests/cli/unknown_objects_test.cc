// Commands on databases with the program's own comparators, merge operators and table factories:
// those that read them, and those that refuse.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "ashlar/comparator.h"
#include "ashlar/db.h"
#include "ashlar/merge_operator.h"
#include "ashlar/options_util.h"
#include "tests/cli/tool.h"
#include "tests/support/expect_ok.h"

namespace ashlar {
namespace {

namespace fs = std::filesystem;

class Join final : public AssociativeMergeOperator {
 public:
  const char* Name() const override { return "test.Join"; }
  bool Merge(const Slice& /*key*/, const Slice* existing_value, const Slice& value,
             std::string* new_value, Logger* /*logger*/) const override {
    *new_value = (existing_value == nullptr ? std::string() : existing_value->ToString() + "+") +
                 value.ToString();
    return true;
  }
};

// Orders by the last byte and then by all bytes, which is not the order of bytes.
class ByLastByte final : public Comparator {
 public:
  const char* Name() const override { return "test.ByLastByte"; }
  int Compare(const Slice& a, const Slice& b) const override {
    const Slice last_a = a.empty() ? a : Slice(a.data() + a.size() - 1, 1);
    const Slice last_b = b.empty() ? b : Slice(b.data() + b.size() - 1, 1);
    const int order = last_a.compare(last_b);
    return order != 0 ? order : a.compare(b);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

class UnknownObjectsTest : public ToolTest {
 protected:
  ~UnknownObjectsTest() override { CloseDb(); }

  void OpenDb(const std::vector<std::pair<std::string, ColumnFamilyOptions>>& families) {
    DBOptions options;
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    std::vector<ColumnFamilyDescriptor> descriptors;
    for (const auto& [name, family] : families) descriptors.emplace_back(name, family);
    ASSERT_OK(DB::Open(options, database(), descriptors, &handles_, &db_));
  }
  void CloseDb() {
    if (db_ == nullptr) return;
    for (ColumnFamilyHandle* handle : handles_) EXPECT_OK(db_->DestroyColumnFamilyHandle(handle));
    handles_.clear();
    EXPECT_OK(db_->Close());
    db_.reset();
  }
  static ColumnFamilyOptions With(std::shared_ptr<MergeOperator> merge_operator,
                                  const Comparator* comparator = BytewiseComparator()) {
    ColumnFamilyOptions options;
    options.merge_operator = std::move(merge_operator);
    options.comparator = comparator;
    options.disable_auto_compactions = true;
    return options;
  }
  std::string Get(const std::string& key) {
    std::string value;
    EXPECT_OK(db_->Get(ReadOptions(), key, &value));
    return value;
  }

  // Makes a database with operands of its own merge operator, in a table and in the log.
  void MakeJoined() {
    OpenDb({{"default", With(std::make_shared<Join>())}});
    ASSERT_OK(db_->Put(WriteOptions(), "plain", "value"));
    ASSERT_OK(db_->Merge(WriteOptions(), "k", "one"));
    ASSERT_OK(db_->Flush(FlushOptions()));
    ASSERT_OK(db_->Merge(WriteOptions(), "k", "two"));
    CloseDb();
  }
  void ExpectJoined() {
    OpenDb({{"default", With(std::make_shared<Join>())}});
    EXPECT_EQ(Get("k"), "one+two");
    EXPECT_EQ(Get("plain"), "value");
    CloseDb();
  }

  std::vector<std::string> FilesWith(const std::string& part) const {
    std::vector<std::string> found;
    for (const fs::directory_entry& entry : fs::directory_iterator(database())) {
      if (entry.path().filename().string().find(part) != std::string::npos)
        found.push_back(entry.path().string());
    }
    std::sort(found.begin(), found.end());
    return found;
  }
  static std::string Read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void Write(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  std::string NewestOptions() const { return FilesWith("OPTIONS-").back(); }
  void ReplaceInOptions(const std::string& from, const std::string& to) const {
    std::string text = Read(NewestOptions());
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << text;
    Write(NewestOptions(), text.replace(at, from.size(), to));
  }
  static void FlipByte(const std::string& path, long offset) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(offset);
    const int byte = file.get();
    file.seekp(offset);
    file.put(static_cast<char>(byte ^ 0x40));
  }
  static bool Has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
  static size_t CountOf(const std::string& text, const std::string& part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
      ++count;
    return count;
  }

  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> handles_;
};

// ---- Merge operators.

TEST_F(UnknownObjectsTest, AnotherOperatorThanTheRecordedOneIsRefused) {
  MakeJoined();
  const std::string before = DirectoryFingerprint(database());
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"compact"},
                                             {"put", "a", "b"},
                                             {"delete", "a"},
                                             {"load", "-"},
                                             {"scan"},
                                             {"get", "k"},
                                             {"dump"}}) {
    std::vector<std::string> arguments = {"--merge-operator", "uint64add", "--column-family",
                                          "default"};
    arguments.insert(arguments.end(), command.begin(), command.end());
    const ToolResult result = Run(arguments, "a\tb\n");
    EXPECT_EQ(result.exit_code, 2) << command[0];
    EXPECT_EQ(result.err,
              "ashlar: column family default has the merge operator test.Join\n        leave "
              "--merge-operator out\n")
        << command[0];
  }
  EXPECT_TRUE(DirectoryFingerprint(database()) == before);
  ExpectJoined();
}

TEST_F(UnknownObjectsTest, AnotherOperatorIsNoDamageToVerify) {
  MakeJoined();
  const std::vector<std::string> verify = {"--merge-operator", "uint64add", "verify"};
  const ToolResult other = Run(verify);
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_TRUE(Has(other.err, "has the merge operator test.Join; leave --merge-operator out"))
      << other.err;
  EXPECT_FALSE(Has(other.err, "repair")) << other.err;
  FlipByte(FilesWith(".sst").front(), 3);
  ExpectExit(5, verify);
}

// A log with operands cannot be replayed without the operator, but it is not damaged.
TEST_F(UnknownObjectsTest, AMissingOperatorIsNoDamageToVerify) {
  MakeJoined();
  for (const std::string& file : FilesWith("OPTIONS-")) fs::remove(file);
  const ToolResult missing = Run({"verify"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_TRUE(Has(missing.err, "--merge-operator and --column-family")) << missing.err;
}

TEST_F(UnknownObjectsTest, ACommandThatWritesNamesTheFamilyOfTheOperator) {
  Load("a\t1\n");
  Load("b\t2\n", {"--column-family", "more"});
  const std::string before = DirectoryFingerprint(database());
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"compact"}, {"put", "a", "b"}, {"delete", "a"}, {"load", "-"}}) {
    std::vector<std::string> arguments = {"--merge-operator", "uint64add"};
    arguments.insert(arguments.end(), command.begin(), command.end());
    const ToolResult result = Run(arguments, "a\tb\n");
    EXPECT_EQ(result.exit_code, 2) << command[0];
    EXPECT_TRUE(Has(result.err, "needs --column-family with --merge-operator")) << result.err;
  }
  EXPECT_TRUE(DirectoryFingerprint(database()) == before);
  (void)Output({"--merge-operator", "max", "--column-family", "more", "put", "b", "3"});
  EXPECT_EQ(Output({"column-families", "--format", "csv"}),
            "id,name,comparator,merge_operator\r\n0,default,leveldb.BytewiseComparator,none\r\n1,"
            "more,leveldb.BytewiseComparator,MaxOperator\r\n");
}

TEST_F(UnknownObjectsTest, AFamilyThatADumpMakesGetsNoOperatorButItsOwn) {
  Load("a\t1\n");
  Load("b\t2\n", {"--column-family", "more"});
  Load("c\t3\n", {"--column-family", "third"});
  const std::string dump = Output({"dump"});
  const std::string copy = File("copy");
  EXPECT_EQ(
      RunBare({"--db", copy, "--merge-operator", "max", "--column-family", "more", "load", "-"},
              dump)
          .exit_code,
      0);
  EXPECT_EQ(RunBare({"--db", copy, "column-families", "--format", "csv"}).out,
            "id,name,comparator,merge_operator\r\n0,default,leveldb.BytewiseComparator,none\r\n1,"
            "more,leveldb.BytewiseComparator,MaxOperator\r\n"
            "2,third,leveldb.BytewiseComparator,none\r\n");
}

TEST_F(UnknownObjectsTest, WritingKeepsOperandsAndTheNameOfTheirOperator) {
  MakeJoined();
  for (int round = 0; round < 2; ++round) {
    (void)Output({"put", "other", "value"});
    (void)Output({"compact", "--rewrite"});
    (void)Output({"delete", "other"});
    (void)Output({"load", "-", "--input-format", "tsv"}, "third\t3\n");
    EXPECT_TRUE(Has(Read(NewestOptions()), "merge_operator=test.Join\n"));
    EXPECT_TRUE(Has(Output({"column-families"}), "test.Join"));
  }
  ExpectJoined();
}

TEST_F(UnknownObjectsTest, ReadingNeedsTheOperatorForMergesAlone) {
  MakeJoined();
  EXPECT_EQ(Output({"get", "plain"}), "value\n");
  EXPECT_EQ(Output({"scan", "--from", "plain"}), "plain  value\n");
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"get", "k"}, {"scan"}, {"dump"}, {"verify"}}) {
    const ToolResult result = Run(command);
    EXPECT_EQ(result.exit_code, 6) << command[0];
    EXPECT_TRUE(Has(result.err, "test.Join")) << result.err;
  }
  EXPECT_TRUE(Has(Run({"get", "k"}).err, "else use the program that made it"));
  EXPECT_TRUE(Has(Output({"stats", "--format", "csv"}), "default,total,1,3,0,"));
  EXPECT_NE(Output({"properties"}), "");
}

TEST_F(UnknownObjectsTest, WithoutAnOptionsFileTheTablesNameTheOperator) {
  MakeJoined();
  for (const std::string& file : FilesWith("OPTIONS-")) fs::remove(file);
  const std::string before = DirectoryFingerprint(database());
  const ToolResult result =
      Run({"--merge-operator", "uint64add", "--column-family", "default", "compact"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(Has(result.err, "was written with the merge operator test.Join")) << result.err;
  EXPECT_TRUE(DirectoryFingerprint(database()) == before);
  ExpectJoined();
}

// It would be recorded and would merge the other operator's operands at the next compaction.
TEST_F(UnknownObjectsTest, ARepairTakesNoOtherOperatorThanTheRecordedOne) {
  MakeJoined();
  fs::remove(database() + "/CURRENT");
  const std::string before = DirectoryFingerprint(database());
  const ToolResult all = Run({"--merge-operator", "uint64add", "repair", "--force"});
  EXPECT_EQ(all.exit_code, 2);
  EXPECT_TRUE(Has(all.err, "needs --column-family with --merge-operator")) << all.err;
  const std::vector<std::string> repair = {"--merge-operator", "uint64add", "--column-family",
                                           "default",          "repair",    "--force"};
  const ToolResult other = Run(repair);
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_TRUE(Has(other.err, "column family default has the merge operator test.Join"))
      << other.err;
  const std::vector<std::string> options = FilesWith("OPTIONS-");
  std::vector<std::string> texts;
  for (const std::string& file : options) texts.push_back(Read(file));
  EXPECT_TRUE(DirectoryFingerprint(database()) == before);
  for (const std::string& file : options) fs::remove(file);
  const ToolResult by_table = Run(repair);
  EXPECT_EQ(by_table.exit_code, 2);
  EXPECT_TRUE(Has(by_table.err, "was written with the merge operator test.Join")) << by_table.err;
  for (size_t i = 0; i < options.size(); ++i) Write(options[i], texts[i]);
  ExpectExit(0, {"repair", "--force"});
  ExpectJoined();
}

TEST_F(UnknownObjectsTest, AnUnknownTableFactoryIsNotWrittenTo) {
  Load("a\t1\n");
  ReplaceInOptions("table_factory=BlockBasedTable\n", "table_factory=test.Tables\n");
  ReplaceInOptions("[TableOptions/BlockBasedTable", "[TableOptions/test.Tables");
  const std::string before = DirectoryFingerprint(database());
  EXPECT_EQ(Output({"scan"}), "a  1\n");
  const ToolResult result = Run({"put", "a", "2"});
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_TRUE(Has(result.err, "column family default has the table factory test.Tables"))
      << result.err;
  EXPECT_TRUE(DirectoryFingerprint(database()) == before);
}

// ---- Comparators.

class UnknownOrderTest : public UnknownObjectsTest {
 protected:
  // "default" is in byte order, "odd" is not.
  void MakeOdd() {
    OpenDb({{"default", With(nullptr)}, {"odd", With(nullptr, &order_)}});
    ASSERT_OK(db_->Put(WriteOptions(), "a", "1"));
    for (const char* const key : {"z1", "a2", "m3"})
      ASSERT_OK(db_->Put(WriteOptions(), handles_[1], key, "odd"));
    ASSERT_OK(db_->Flush(FlushOptions(), handles_));
    ASSERT_OK(db_->Put(WriteOptions(), "b", "2"));
    ASSERT_OK(db_->Put(WriteOptions(), handles_[1], "b1", "odd"));
    CloseDb();
  }
  const ByLastByte order_;
};

TEST_F(UnknownOrderTest, AFamilyInAnUnknownOrderBlocksItsOwnKeysAlone) {
  MakeOdd();
  const std::string before = DirectoryFingerprint(database());
  EXPECT_EQ(Output({"scan"}), "a  1\nb  2\n");
  EXPECT_EQ(Output({"get", "b"}), "2\n");
  EXPECT_EQ(CountOf(Output({"dump", "--column-family", "default"}), "\"key\":"), 2u);
  EXPECT_EQ(Output({"column-families", "--format", "csv"}),
            "id,name,comparator,merge_operator\r\n0,default,leveldb.BytewiseComparator,none\r\n1,"
            "odd,test.ByLastByte,none\r\n");
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"--column-family", "odd", "scan"}, {"dump"}, {"put", "a", "b"}, {"compact"}}) {
    const ToolResult result = Run(command);
    EXPECT_EQ(result.exit_code, 6) << command[0];
    EXPECT_EQ(result.err,
              "ashlar: column family odd is ordered by the comparator test.ByLastByte, which only "
              "its program has\n"
              "        column-families, stats and verify work without it\n");
  }
  EXPECT_TRUE(DirectoryFingerprint(database()) == before);
}

TEST_F(UnknownOrderTest, StatsCountsTheTablesOfAnUnknownOrder) {
  MakeOdd();
  const ToolResult result = Run({"stats", "--format", "csv"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(Has(result.out, "default,memory,0,1,0,")) << result.out;
  EXPECT_TRUE(Has(result.out, "odd,total,1,3,0,")) << result.out;
  EXPECT_TRUE(Has(result.err, "the log is not counted for column family odd")) << result.err;
}

TEST_F(UnknownOrderTest, VerifyReadsTheTablesOfAnUnknownOrder) {
  MakeOdd();
  const ToolResult sound = Run({"verify", "--format", "csv"});
  EXPECT_EQ(sound.exit_code, 6);
  EXPECT_TRUE(Has(sound.out, "default,2,2,2,1,")) << sound.out;
  EXPECT_EQ(sound.err,
            "ashlar: column family odd is ordered by the comparator test.ByLastByte, which only "
            "its program has; not checked: the order of its keys, its "
            "entries\n"
            "ashlar: verify: 1 of 2 column families was not read to the end\n");
  FlipByte(FilesWith(".sst").back(), 3);
  const ToolResult damaged = Run({"verify"});
  EXPECT_EQ(damaged.exit_code, 5);
  EXPECT_TRUE(Has(damaged.err, "of column family odd, level 0, keys \"z1\" to \"m3\""))
      << damaged.err;
}

TEST_F(UnknownOrderTest, TheDefaultFamilyMayBeTheOne) {
  OpenDb({{"default", With(nullptr, &order_)}});
  for (const char* const key : {"z1", "a2", "m3"}) ASSERT_OK(db_->Put(WriteOptions(), key, "odd"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  CloseDb();
  for (const std::string& file : FilesWith("OPTIONS-")) fs::remove(file);
  EXPECT_TRUE(Has(Output({"column-families"}), "test.ByLastByte"));
  const ToolResult stats = Run({"stats", "--format", "csv"});
  EXPECT_EQ(stats.exit_code, 0) << stats.err;
  EXPECT_TRUE(Has(stats.out, "default,total,1,3,0,")) << stats.out;
  const ToolResult verified = Run({"verify"});
  EXPECT_EQ(verified.exit_code, 6);
  EXPECT_TRUE(Has(verified.err, "not checked: the order of its keys, its entries")) << verified.err;
  ExpectExit(6, {"scan"});
  FlipByte(FilesWith(".sst").front(), 3);
  ExpectExit(5, {"verify"});
}

// ---- OPTIONS files.

TEST_F(UnknownObjectsTest, ADamagedOptionsFileIsReplacedByTheOlderOne) {
  OpenDb({{"default", With(MergeOperators::CreateStringAppendOperator(';'))}});
  ASSERT_OK(db_->Merge(WriteOptions(), "k", "one"));
  ASSERT_OK(db_->Merge(WriteOptions(), "k", "two"));
  ASSERT_OK(db_->SetOptions({{"write_buffer_size", "1000000"}}));
  CloseDb();
  const std::vector<std::string> files = FilesWith("OPTIONS-");
  ASSERT_EQ(files.size(), 2u);
  Write(files[1], "garbage\n");
  const std::string before = DirectoryFingerprint(database());
  const ToolResult read = Run({"get", "k"});
  EXPECT_EQ(read.exit_code, 0);
  EXPECT_EQ(read.out, "one;two\n");
  EXPECT_TRUE(Has(read.err, fs::path(files[1]).filename().string() + ": line 1")) << read.err;
  EXPECT_TRUE(Has(read.err, "; used instead: " + fs::path(files[0]).filename().string() + "\n"))
      << read.err;
  ExpectExit(0, {"column-families"});
  ExpectExit(0, {"stats"});
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"put", "a", "b"}, {"compact"}, {"delete", "k"}}) {
    const ToolResult write = Run(command);
    EXPECT_EQ(write.exit_code, 5) << command[0];
    EXPECT_TRUE(Has(write.err, "--ignore-damaged-options")) << write.err;
  }
  const ToolResult verified = Run({"verify"});
  EXPECT_EQ(verified.exit_code, 5);
  EXPECT_TRUE(Has(verified.err, fs::path(files[1]).filename().string())) << verified.err;
  EXPECT_TRUE(Has(verified.out, "default")) << "the entries are read all the same";
  EXPECT_TRUE(DirectoryFingerprint(database()) == before);

  ExpectExit(0, {"--ignore-damaged-options", "put", "a", "b"});
  EXPECT_EQ(Output({"get", "k"}), "one;two\n");
}

TEST_F(UnknownObjectsTest, WithoutAnyOptionsFileThatCanBeReadTheDefaultsAreUsed) {
  Load("a\t1\n");
  for (const std::string& file : FilesWith("OPTIONS-")) Write(file, "[Version]\n");
  const ToolResult read = Run({"scan"});
  EXPECT_EQ(read.exit_code, 0);
  EXPECT_EQ(read.out, "a  1\n");
  EXPECT_TRUE(Has(read.err, "; used instead: the defaults\n")) << read.err;
  ExpectExit(5, {"put", "a", "2"});
  ExpectExit(0, {"--ignore-damaged-options", "put", "a", "2"});
  EXPECT_EQ(Output({"scan"}), "a  2\n");
}

// ---- Verify continues.

TEST_F(UnknownObjectsTest, VerifyNamesEveryDamagedTable) {
  OpenDb({{"default", With(nullptr)}, {"more", With(nullptr)}});
  for (const char* const key : {"a", "b", "c"}) {
    ASSERT_OK(db_->Put(WriteOptions(), key, "value"));
    ASSERT_OK(db_->Put(WriteOptions(), handles_[1], key, "value"));
    ASSERT_OK(db_->Flush(FlushOptions(), handles_));
  }
  std::vector<ColumnFamilyMetaData> metadata;
  db_->GetAllColumnFamilyMetaData(&metadata);
  CloseDb();
  // Damages the newest and the oldest of the default family's tables. The other family is sound.
  std::vector<std::string> damaged = {metadata[0].levels[0].files.front().relative_filename,
                                      metadata[0].levels[0].files.back().relative_filename};
  for (const std::string& name : damaged) FlipByte(database() + "/" + name, 3);
  const ToolResult result = Run({"verify", "--format", "csv"});
  EXPECT_EQ(result.exit_code, 5);
  for (const std::string& name : damaged) {
    EXPECT_EQ(
        CountOf(result.err, "ashlar: table " + name + " of column family default, level 0, keys "),
        1u)
        << result.err;
    EXPECT_TRUE(Has(result.err, database() + "/" + name)) << result.err;
  }
  EXPECT_TRUE(Has(result.err, "offset 0")) << result.err;
  EXPECT_TRUE(Has(result.err,
                  "ashlar: verify: 2 of 6 tables have errors; 1 of 2 column families was not read "
                  "to the end\n"))
      << result.err;
  EXPECT_TRUE(Has(result.out, "\r\nmore,3,3,15,3,")) << result.out;
  EXPECT_FALSE(Has(result.out, "default")) << "its entries were not all read";

  fs::remove(database() + "/" + damaged[0]);
  const ToolResult missing = Run({"verify"});
  EXPECT_EQ(missing.exit_code, 5);
  EXPECT_TRUE(Has(missing.err, damaged[0] + ": the table is missing")) << missing.err;
  EXPECT_TRUE(
      Has(missing.err,
          "verify: 2 of 6 tables have errors; 2 of 2 column families were not read to the end"))
      << missing.err;
  const ToolResult other = Run({"verify", "--column-family", "more"});
  EXPECT_EQ(other.exit_code, 5) << "the database does not open";
  EXPECT_FALSE(Has(other.err, "tables")) << other.err;
}

}  // namespace
}  // namespace ashlar
