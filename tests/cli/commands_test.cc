// Every command, in every output format.
#include <filesystem>
#include <memory>
#include <regex>

#include "ashlar/db.h"
#include "ashlar/merge_operator.h"
#include "ashlar/vfs.h"
#include "tests/cli/tool.h"

namespace ashlar {
namespace {

using CommandsTest = ToolTest;

// Times are not golden.
std::string WithoutTimes(const std::string& text) {
  return std::regex_replace(text, std::regex("[0-9]+\\.[0-9]{3}"), "T");
}

TEST_F(CommandsTest, PutGetDelete) {
  EXPECT_EQ(Output({"put", "--create", "key", "value"}), "");
  EXPECT_EQ(Output({"get", "key"}), "value\n");
  EXPECT_EQ(Output({"put", "key", "other"}), "");
  EXPECT_EQ(Output({"get", "key"}), "other\n");
  EXPECT_EQ(Output({"delete", "key", "absent"}), "deletions  2\n");
  const ToolResult result = Run({"get", "key"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "ashlar: not found\n");
}

// Every open flushes the log of the previous one to level 0, so from the fourth open on a
// compaction is running when the tool closes.
TEST_F(CommandsTest, ClosingWhileACompactionRunsIsNoError) {
  for (int i = 0; i < 12; ++i)
    (void)Output({"put", "--create", "key" + std::to_string(i), "value"});
  EXPECT_EQ(Output({"scan", "--count"}), "entries  12\n");
}

TEST_F(CommandsTest, PutMakesNothingUnlessAsked) {
  const ToolResult result = Run({"put", "key", "value"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_FALSE(std::filesystem::exists(database()));
}

TEST_F(CommandsTest, GetOfSeveralKeysShowsThoseThatExist) {
  Load("a\t1\nb\t2\n");
  const ToolResult result = Run({"get", "b", "x", "a"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "b  2\na  1\n");
  EXPECT_EQ(result.err, "ashlar: 1 of 3 keys not found\n");
}

TEST_F(CommandsTest, GetInEveryFormat) {
  Load("k\tv\"1\n");
  EXPECT_EQ(Output({"--format", "json", "get", "k"}),
            "[\n{\"key\":\"k\",\"value\":\"v\\\"1\"}\n]\n");
  EXPECT_EQ(Output({"--format", "ndjson", "get", "k"}), "{\"key\":\"k\",\"value\":\"v\\\"1\"}\n");
  EXPECT_EQ(Output({"--format", "csv", "get", "k"}), "key,value\r\nk,\"v\"\"1\"\r\n");
  EXPECT_EQ(Output({"--value-format", "raw", "get", "k"}), "v\"1");
  EXPECT_EQ(Output({"--value-format", "hex", "get", "k"}), "762231\n");
}

TEST_F(CommandsTest, KeysThatLookLikeSomethingElseAreKeys) {
  for (const std::string key :
       {"[a,b]", "\x01[a,b]", "{}", "scan", "--db", "--x=[y]", "a b", "'\"", ""}) {
    (void)Output({"put", "--create", "--", key, "v"});
    EXPECT_EQ(Output({"get", "--", key}), "v\n") << key;
  }
  EXPECT_EQ(Output({"scan", "--from", "[a,b]", "--limit", "1", "--keys-only"}), "[a,b]\n");
  EXPECT_EQ(Output({"scan", "--prefix=[a", "--keys-only"}), "[a,b]\n");
  EXPECT_EQ(Output({"delete", "--", "[a,b]", "\x01[a,b]", "--db", "scan", "--x=[y]"}),
            "deletions  5\n");
  EXPECT_EQ(Output({"scan", "--keys-only"}), "\n'\"\na b\n{}\n");
}

TEST_F(CommandsTest, KeyFormats) {
  (void)Output({"--key-format", "u64be", "put", "--create", "258", "number"});
  (void)Output({"--key-format", "hex", "put", "00ff", "hex"});
  (void)Output({"put", "\\x01\\n", "escape"});
  (void)Output({"--key-format", "utf8", "put", "zoë", "utf8"});
  EXPECT_EQ(Output({"scan", "--keys-only"}),
            "\\x00\\x00\\x00\\x00\\x00\\x00\\x01\\x02\n\\x00\\xff\n\\x01\\n\nzo\\xc3\\xab\n");
  EXPECT_EQ(Output({"--key-format", "hex", "scan", "--keys-only"}),
            "0000000000000102\n00ff\n010a\n7a6fc3ab\n");
  EXPECT_EQ(Output({"--key-format", "u64be", "scan", "--keys-only"}),
            "258\n0x00ff\n0x010a\n0x7a6fc3ab\n");
  EXPECT_EQ(Output({"--key-format", "utf8", "scan", "--keys-only", "--from", "z"}), "zoë\n");
  EXPECT_EQ(Output({"--key-format", "u64be", "get", "258"}), "number\n");
}

TEST_F(CommandsTest, ScanRangesInBothDirections) {
  Load("a\t1\nab\t2\nabc\t3\nb\t4\nc\t5\n");
  EXPECT_EQ(Output({"scan"}), "a    1\nab   2\nabc  3\nb    4\nc    5\n");
  EXPECT_EQ(Output({"scan", "--reverse", "--keys-only"}), "c\nb\nabc\nab\na\n");
  EXPECT_EQ(Output({"scan", "--from", "ab", "--to", "c", "--keys-only"}), "ab\nabc\nb\n");
  EXPECT_EQ(Output({"scan", "--from", "ab", "--to", "c", "--keys-only", "--reverse"}),
            "b\nabc\nab\n");
  EXPECT_EQ(Output({"scan", "--prefix", "ab"}), "ab   2\nabc  3\n");
  EXPECT_EQ(Output({"scan", "--prefix", "ab", "--from", "abb", "--values-only"}), "3\n");
  EXPECT_EQ(Output({"scan", "--prefix", "ab", "--to", "abb", "--values-only"}), "2\n");
  EXPECT_EQ(Output({"scan", "--limit", "2", "--keys-only"}), "a\nab\n");
  EXPECT_EQ(Output({"scan", "--limit", "2", "--reverse", "--keys-only"}), "c\nb\n");
  EXPECT_EQ(Output({"scan", "--count"}), "entries  5\n");
  EXPECT_EQ(Output({"scan", "--count", "--prefix", "x", "--format", "json"}), "{\"entries\":0}\n");
  EXPECT_EQ(Output({"--value-format", "raw", "scan", "--values-only"}), "12345");
}

TEST_F(CommandsTest, ScanOfAPrefixThatHasNoKeyAfterIt) {
  Load("fe\t1\nff\t2\nffff\t3\n", {"--key-format", "hex", "--value-format", "escape"});
  EXPECT_EQ(Output({"--key-format", "hex", "scan", "--prefix", "ff"}), "ff    2\nffff  3\n");
  EXPECT_EQ(Output({"--key-format", "hex", "scan", "--prefix", "", "--count"}), "entries  3\n");
}

TEST_F(CommandsTest, ScanInEveryFormat) {
  Load("a\t1\nb,\t2\n");
  EXPECT_EQ(Output({"scan", "--format", "json"}),
            "[\n{\"key\":\"a\",\"value\":\"1\"},\n{\"key\":\"b,\",\"value\":\"2\"}\n]\n");
  EXPECT_EQ(Output({"scan", "--format", "ndjson"}),
            "{\"key\":\"a\",\"value\":\"1\"}\n{\"key\":\"b,\",\"value\":\"2\"}\n");
  EXPECT_EQ(Output({"scan", "--format", "csv"}), "key,value\r\na,1\r\n\"b,\",2\r\n");
  EXPECT_EQ(Output({"scan", "--format", "csv", "--keys-only"}), "key\r\na\r\n\"b,\"\r\n");
}

TEST_F(CommandsTest, DeleteOfTheKeysOfAFile) {
  Load("a\t1\nb\\\t2\nc\t3\n");
  EXPECT_EQ(Output({"delete", "--keys", "-"}, Output({"scan", "--keys-only", "--to", "c"})),
            "deletions  2\n");
  EXPECT_EQ(Output({"scan", "--keys-only"}), "c\n");
  EXPECT_EQ(Output({"--key-format", "hex", "delete", "--sync", "--keys", MakeFile("keys", "63\n")}),
            "deletions  1\n");
  EXPECT_EQ(Output({"scan", "--count"}), "entries  0\n");
}

TEST_F(CommandsTest, DeleteOfARangeOfKeys) {
  Load("a\t1\nb\t2\nc\t3\nd\t4\n");
  const std::string before = DirectoryFingerprint(database());
  const ToolResult refused = Run({"delete", "--from", "b", "--to", "d"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.err,
            "ashlar: delete --from --to deletes every key of the range; --force does it\n"
            "        'ashlar scan --count' with the same --from and --to counts them\n");
  EXPECT_EQ(DirectoryFingerprint(database()), before);
  EXPECT_EQ(Output({"delete", "--from", "b", "--to", "d", "--force"}), "range_deletions  1\n");
  EXPECT_EQ(Output({"scan", "--keys-only"}), "a\nd\n");
  const ToolResult inverted = Run({"delete", "--from", "z", "--to", "a", "--force"});
  EXPECT_NE(inverted.exit_code, 0);
  EXPECT_NE(inverted.err.find("before its begin"), std::string::npos) << inverted.err;
  EXPECT_EQ(Output({"scan", "--keys-only"}), "a\nd\n");
}

TEST_F(CommandsTest, DeleteReadsTheWholeFileBeforeItDeletes) {
  Load("a\t1\n");
  const ToolResult result = Run({"delete", "--keys", "-"}, "a\n\\q\n");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_TRUE(result.err.starts_with("ashlar: standard input:2: ")) << result.err;
  EXPECT_EQ(Output({"get", "a"}), "1\n");
}

TEST_F(CommandsTest, ColumnFamiliesAreMadeByLoadAndListed) {
  Load("a\t1\n");
  Load("b\t2\n", {"--column-family", "logs", "--merge-operator", "stringappend"});
  EXPECT_EQ(Output({"column-families"}),
            "id  name     comparator                  merge_operator\n"
            " 0  default  leveldb.BytewiseComparator  none\n"
            " 1  logs     leveldb.BytewiseComparator  StringAppendOperator\n");
  EXPECT_EQ(Output({"column-families", "--format", "ndjson", "--column-family", "default"}),
            "{\"id\":0,\"name\":\"default\",\"comparator\":\"leveldb.BytewiseComparator\",\"merge_"
            "operator\":\"none\"}\n");
  EXPECT_EQ(Output({"--column-family", "logs", "scan"}), "b  2\n");
  EXPECT_EQ(Output({"scan"}), "a  1\n");
}

TEST_F(CommandsTest, MergedValuesAreReadWithTheDatabasesOwnOperator) {
  Options options;
  options.create_if_missing = true;
  options.merge_operator = MergeOperators::CreateStringAppendOperator(';');
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::Open(options, database(), &db).ok());
  ASSERT_TRUE(db->Merge(WriteOptions(), "k", "one").ok());
  ASSERT_TRUE(db->Merge(WriteOptions(), "k", "two").ok());
  ASSERT_TRUE(db->Close().ok());
  EXPECT_EQ(Output({"get", "k"}), "one;two\n");
  EXPECT_EQ(Output({"--merge-operator", "stringappend", "get", "k"}), "one;two\n");
  const ToolResult result = Run({"--merge-operator", "uint64add", "get", "k"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err,
            "ashlar: column family default has the merge operator StringAppendOperator\n        "
            "leave --merge-operator out\n");
}

TEST_F(CommandsTest, StatsShowsMemoryAndLevels) {
  Load("a\t1\nb\t2\n");
  (void)Output({"compact"});
  (void)Output({"delete", "a"});
  const std::string stats =
      std::regex_replace(Output({"stats", "--format", "csv"}), std::regex("[0-9]+\r"), "B\r");
  EXPECT_EQ(stats,
            "column_family,level,files,entries,deletions,bytes\r\ndefault,memory,0,1,1,"
            "B\r\ndefault,6,1,2,0,B\r\ndefault,total,1,3,1,B\r\n");
}

// The total must not include the bytes of an empty memtable, which has no row.
TEST_F(CommandsTest, StatsRowsAddUpToTheTotal) {
  Load("a\t1\nb\t2\n");
  (void)Output({"compact"});
  const std::string stats = Output({"stats", "--format", "csv"});
  std::smatch bytes;
  ASSERT_TRUE(std::regex_search(
      stats, bytes, std::regex("default,6,1,2,0,([0-9]+)\r\ndefault,total,1,2,0,([0-9]+)\r\n")))
      << stats;
  EXPECT_EQ(bytes[1], bytes[2]) << stats;
}

TEST_F(CommandsTest, PropertiesByNameAndAsAList) {
  Load("a\t1\nb\t2\n");
  EXPECT_EQ(Output({"properties", "rocksdb.estimate-num-keys"}), "2\n");
  EXPECT_EQ(Output({"properties", "rocksdb.estimate-num-keys", "--format", "json"}),
            "{\"property\":\"rocksdb.estimate-num-keys\",\"value\":\"2\"}\n");
  EXPECT_NE(Output({"properties"}).find("rocksdb.num-snapshots"), std::string::npos);
  EXPECT_NE(Output({"properties", "rocksdb.stats"}), "");
  const ToolResult result = Run({"properties", "rocksdb.no-such-thing"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.err,
            "ashlar: there is no property rocksdb.no-such-thing\n        ashlar properties lists "
            "those that are numbers\n");
}

TEST_F(CommandsTest, VerifyCountsEverything) {
  Load("a\t1\nbb\t22\n");
  Load("c\t333\n", {"--column-family", "more"});
  EXPECT_EQ(Output({"verify", "--format", "csv", "--column-family", "default"}).substr(0, 81),
            "column_family,entries,key_bytes,value_bytes,table_files,table_bytes\r\ndefault,2,3,");
  (void)Output({"compact"});
  const std::string verified =
      std::regex_replace(Output({"verify", "--format", "ndjson"}), std::regex("[0-9]+\\}"), "B}");
  EXPECT_EQ(verified,
            "{\"column_family\":\"default\",\"entries\":2,\"key_bytes\":3,\"value_bytes\":3,"
            "\"table_files\":1,\"table_bytes\":B}\n"
            "{\"column_family\":\"more\",\"entries\":1,\"key_bytes\":1,\"value_bytes\":3,\"table_"
            "files\":1,\"table_bytes\":B}\n");
}

TEST_F(CommandsTest, CompactGivesBackWhatWasDeleted) {
  Load("a\t1\nb\t2\n");
  (void)Output({"compact"});
  (void)Output({"delete", "a", "b"});
  const std::string compacted = WithoutTimes(Output({"compact", "--format", "csv"}));
  EXPECT_TRUE(std::regex_match(
      compacted,
      std::regex("column_family,files_before,bytes_before,files_after,bytes_after,seconds\r\n"
                 "default,2,[0-9]+,0,0,T\r\n")))
      << compacted;
}

TEST_F(CommandsTest, CheckpointIsADatabaseOfItsOwn) {
  Load("a\t1\nb\t2\n");
  const std::string copy = File("copy");
  const std::string made = Output({"--format", "csv", "checkpoint", copy});
  EXPECT_TRUE(made.starts_with("checkpoint,sequence\r\n")) << made;
  (void)Output({"delete", "a"});
  EXPECT_EQ(RunBare({"--db", copy, "scan"}).out, "a  1\nb  2\n");
  const ToolResult again = Run({"checkpoint", copy});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_NE(again.err.find("exists"), std::string::npos) << again.err;
  EXPECT_NE(Run({"checkpoint", "--log-size-for-flush", "1000000", File("again")}).out, "");
}

// First this process locks the directory. Then it leaves a lock file as if it had died.
TEST_F(CommandsTest, OneCheckpointToADirectoryAtATime) {
  Load("a\t1\n");
  const std::string copy = File("copy");
  const std::string lock_file = copy + ".checkpoint-lock";
  std::unique_ptr<vfs::FileLock> lock;
  ASSERT_TRUE(vfs::FileSystem::Default()->LockFile(lock_file, &lock).ok());
  const ToolResult busy = Run({"checkpoint", copy});
  EXPECT_NE(busy.exit_code, 0);
  EXPECT_NE(busy.err.find("another checkpoint to this directory is under way"), std::string::npos)
      << busy.err;
  EXPECT_FALSE(std::filesystem::exists(copy));
  lock.reset();
  EXPECT_TRUE(std::filesystem::exists(lock_file));
  (void)Output({"checkpoint", copy});
  EXPECT_FALSE(std::filesystem::exists(lock_file));
  EXPECT_EQ(RunBare({"--db", copy, "scan"}).out, "a  1\n");
}

TEST_F(CommandsTest, HelpAndVersion) {
  const ToolResult help = RunBare({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* const command :
       {"load", "put", "get", "delete", "scan", "dump", "stats", "properties", "column-families",
        "verify", "compact", "checkpoint", "backup", "repair", "pool"}) {
    EXPECT_NE(help.out.find(std::string("\n  ") + command + " "), std::string::npos) << command;
    EXPECT_EQ(RunBare({command, "--help"}).exit_code, 0) << command;
  }
  EXPECT_NE(help.out.find("Usage: ashlar [OPTIONS] COMMAND\n"), std::string::npos) << help.out;
  EXPECT_NE(help.out.find("5  data on disk are damaged"), std::string::npos);
  EXPECT_NE(help.out.find("--wal-dir"), std::string::npos);
  EXPECT_TRUE(RunBare({"--version"}).out.starts_with("ashlar "));
}

}  // namespace
}  // namespace ashlar
