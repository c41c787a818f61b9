// ashlar pool: sound, damaged, foreign and missing pools.
#include <filesystem>
#include <fstream>

#include "ashlar/comparator.h"
#include "ashlar/persistent_tree.h"
#include "tests/cli/tool.h"

namespace ashlar {
namespace {

class PoolTest : public ToolTest {
 protected:
  // Makes a pool with 100 entries, keys of 5 and values of 8 bytes, in a directory of its own.
  std::string MakePool(const Comparator* comparator = BytewiseComparator()) {
    std::filesystem::create_directory(File("pools"));
    const std::string path = File("pools") + "/pool";
    PersistentTreeOptions options;
    options.create_if_missing = true;
    options.pool_bytes = uint64_t{1} << 20;
    options.comparator = comparator;
    std::unique_ptr<PersistentTree> tree;
    const Status opened = PersistentTree::Open(options, path, &tree);
    EXPECT_TRUE(opened.ok()) << opened.ToString();
    for (int i = 100; i < 200; ++i)
      EXPECT_TRUE(tree->Put("k" + std::to_string(i) + "\n", "value" + std::to_string(i)).ok());
    EXPECT_TRUE(tree->Close().ok());
    return path;
  }
};

// Flips bits of the byte that is `distance` bytes after the start of the text.
void FlipByte(const std::string& path, const std::string& text, int distance = 0, int bits = 1) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const std::string content((std::istreambuf_iterator<char>(file)),
                            std::istreambuf_iterator<char>());
  const size_t found = content.find(text);
  ASSERT_NE(found, std::string::npos);
  const size_t at = found + static_cast<size_t>(distance);
  file.seekp(static_cast<std::streamoff>(at));
  file.put(static_cast<char>(content[at] ^ bits));
}

TEST_F(PoolTest, CheckAndStatsSayWhatIsThereAndChangeNothing) {
  const std::string pool = MakePool();
  const std::string before = DirectoryFingerprint(File("pools"));
  const ToolResult check = RunBare({"pool", "check", pool});
  EXPECT_EQ(check.exit_code, 0) << check.err;
  EXPECT_EQ(check.out, "entries     100\nleaves      3\npool_bytes  1048576\n");
  EXPECT_EQ(RunBare({"--format", "json", "pool", "stats", pool}).out,
            "{\"comparator\":\"leveldb.BytewiseComparator\",\"entries\":100,\"leaves\":3,\"pool_"
            "bytes\":1048576,\"used_bytes\":12992,"
            "\"free_bytes\":1035584}\n");
  EXPECT_EQ(DirectoryFingerprint(File("pools")), before);
}

TEST_F(PoolTest, ADumpIsLoadedIntoADatabase) {
  const ToolResult dump = RunBare({"pool", "dump", MakePool()});
  EXPECT_EQ(dump.exit_code, 0) << dump.err;
  EXPECT_TRUE(dump.out.starts_with(
      "{\"ashlar_dump\":1,\"key_format\":\"escape\",\"value_format\":\"escape\",\"column_"
      "families\":[\"default\"]}\n"
      "{\"column_family\":\"default\",\"key\":\"k100\\\\n\",\"value\":\"value100\"}\n"))
      << dump.out.substr(0, 300);
  EXPECT_TRUE(dump.out.ends_with("{\"ashlar_dump_end\":true,\"entries\":100}\n"));
  ExpectExit(0, {"load", "--input-format", "ndjson", "-"}, dump.out);
  EXPECT_EQ(Output({"dump"}), dump.out);
}

TEST_F(PoolTest, TheComparatorIsTheOneThatThePoolNames) {
  const std::string pool = MakePool(ReverseBytewiseComparator());
  EXPECT_TRUE(RunBare({"--format", "csv", "pool", "dump", pool})
                  .out.starts_with("column_family,key,value\r\ndefault,k199\\n,value199\r\n"));
  EXPECT_EQ(RunBare({"pool", "check", pool}).exit_code, 0);
}

TEST_F(PoolTest, DamageIsFoundAndNamed) {
  const std::string pool = MakePool();
  FlipByte(pool, "value150");
  const ToolResult check = RunBare({"pool", "check", pool});
  EXPECT_EQ(check.exit_code, 5);
  EXPECT_EQ(check.out, "");
  EXPECT_NE(check.err.find("offset"), std::string::npos) << check.err;
  EXPECT_NE(check.err.find(pool), std::string::npos) << check.err;
  const ToolResult dump = RunBare({"pool", "dump", pool});
  EXPECT_EQ(dump.exit_code, 5);
  EXPECT_NE(dump.out.find("value149"), std::string::npos);
  EXPECT_EQ(dump.out.find("ashlar_dump_end"), std::string::npos);
  EXPECT_NE(check.err.find("'pool dump'"), std::string::npos) << check.err;
  // A pool that does not open has no dump.
  FlipByte(pool, "leveldb.Bytewise");
  const ToolResult stats = RunBare({"pool", "stats", pool});
  EXPECT_EQ(stats.exit_code, 5);
  EXPECT_NE(stats.err.find("restore the pool"), std::string::npos) << stats.err;
  EXPECT_EQ(stats.err.find("'pool dump'"), std::string::npos) << stats.err;
}

// Otherwise they would show too few bytes in use.
TEST_F(PoolTest, StatsOfAPoolWhoseFreeSpaceIsNotKnownAreRefused) {
  const std::string pool = MakePool();
  // The pool begins with the text. A slot of its first leaf then leads to the unused half.
  constexpr int kSecondByteOfASlot = 2 * 4096 + 128 + 5 * 8 + 1;
  FlipByte(pool, "AshlPool", kSecondByteOfASlot, 0x80);
  const ToolResult stats = RunBare({"pool", "stats", pool});
  EXPECT_EQ(stats.exit_code, 5);
  EXPECT_EQ(stats.out, "");
  EXPECT_NE(stats.err.find("has no such record"), std::string::npos) << stats.err;
}

// Entries after the damage must not be missing.
TEST_F(PoolTest, ADumpLeavesOutWhatIsDamagedAndNoMore) {
  const std::string pool = MakePool();
  FlipByte(pool, "value110");
  FlipByte(pool, "value199");
  FlipByte(pool, "k120\nvalue120");  // the key
  const ToolResult dump = RunBare({"pool", "dump", pool});
  EXPECT_EQ(dump.exit_code, 5);
  for (int i = 100; i < 200; ++i) {
    const bool is_damaged = i == 110 || i == 120 || i == 199;
    EXPECT_EQ(dump.out.find("value" + std::to_string(i)) == std::string::npos, is_damaged) << i;
  }
  EXPECT_EQ(dump.out.find("ashlar_dump_end"), std::string::npos);
  EXPECT_NE(dump.err.find("97 entries"), std::string::npos) << dump.err;
}

TEST_F(PoolTest, ADumpGoesOnAfterALeafThatCannotBeRead) {
  const std::string pool = MakePool();
  // Changes the length of the value, so that the record does not match its slot.
  constexpr int kValueBytesFromKey = -4;
  FlipByte(pool, "k160\nvalue160", kValueBytesFromKey, 16);
  const ToolResult dump = RunBare({"pool", "dump", pool});
  EXPECT_EQ(dump.exit_code, 5);
  for (const char* const value : {"value100", "value147", "value196", "value199"})
    EXPECT_NE(dump.out.find(value), std::string::npos) << value;
  EXPECT_EQ(dump.out.find("value160"), std::string::npos);
  EXPECT_NE(dump.err.find("52 entries"), std::string::npos) << dump.err;
}

TEST_F(PoolTest, WhatIsNoPoolIsRefusedWithTheReason) {
  const ToolResult missing = RunBare({"pool", "check", File("nothing")});
  EXPECT_EQ(missing.exit_code, 4);
  EXPECT_NE(missing.err.find("there is no such file"), std::string::npos) << missing.err;
  const ToolResult foreign = RunBare({"pool", "check", MakeFile("text", std::string(5000, 'x'))});
  EXPECT_EQ(foreign.exit_code, 2);
  EXPECT_NE(foreign.err.find("is not a pool of a persistent tree"), std::string::npos)
      << foreign.err;
  EXPECT_EQ(RunBare({"pool", "check", MakeFile("empty", "")}).exit_code, 2);
  EXPECT_EQ(
      RunBare({"pool", "check", std::filesystem::path(File("x")).parent_path().string()}).exit_code,
      4);
  EXPECT_EQ(RunBare({"pool", "mend", MakePool()}).exit_code, 2);
  EXPECT_EQ(RunBare({"pool", "check"}).exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(File("nothing")));
}

TEST_F(PoolTest, APoolThatIsInUseIsRefused) {
  const std::string pool = MakePool();
  std::unique_ptr<PersistentTree> tree;
  ASSERT_TRUE(PersistentTree::Open({}, pool, &tree).ok());
  const ToolResult check = RunBare({"pool", "check", pool});
  EXPECT_EQ(check.exit_code, 4);
  EXPECT_NE(check.err.find("in use"), std::string::npos) << check.err;
}

}  // namespace
}  // namespace ashlar
