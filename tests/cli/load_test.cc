// Input of load: formats, rejected input, and the round trip through a dump.
#include <filesystem>

#include "tests/cli/tool.h"

namespace ashlar {
namespace {

using namespace std::string_literals;
using LoadTest = ToolTest;

// The counts at the beginning of load's output, without the times after them.
std::string Counts(const ToolResult& result) {
  return result.out.substr(0, result.out.find("seconds"));
}

std::string Table(uint64_t entries, uint64_t rejected, uint64_t input_bytes, uint64_t entry_bytes) {
  const auto line = [](std::string name, uint64_t number) {
    return name + std::string(22 - name.size(), ' ') + std::to_string(number) + "\n";
  };
  return line("entries", entries) + line("rejected", rejected) + line("input_bytes", input_bytes) +
         line("entry_bytes", entry_bytes);
}

TEST_F(LoadTest, TabSeparated) {
  const ToolResult result = Run({"load", MakeFile("input", "a\t1\nb\t2\tx\na\t3")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(Counts(result), Table(3, 0, 13, 8));
  EXPECT_EQ(Output({"scan"}), "a  3\nb  2\\tx\n");
}

TEST_F(LoadTest, ControlStanzas) {
  const std::string input =
      "Package: bash\nVersion: 5.2\nDescription: a shell\n with history\n\nPackage: dash\nVersion: "
      "0.5\n\nPackage: bash\nVersion: 5.3\n";
  ExpectExit(0, {"load", "-"}, input);
  EXPECT_EQ(Output({"get", "bash"}), "Package: bash\nVersion: 5.3\n");
  EXPECT_EQ(Output({"scan", "--keys-only"}), "bash\ndash\n");
  ExpectExit(0, {"load", "-", "--key", "package-version"}, input);
  EXPECT_EQ(Output({"scan", "--keys-only"}), "bash\nbash=5.2\nbash=5.3\ndash\ndash=0.5\n");
  EXPECT_EQ(Output({"--value-format", "raw", "get", "bash=5.2"}),
            "Package: bash\nVersion: 5.2\nDescription: a shell\n with history\n");
}

TEST_F(LoadTest, RejectedLinesAreNamedAndTheRestIsLoaded) {
  const ToolResult result = Run({"load", "-"}, "a\t1\nno tab\nb\t2\nneither\n");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.err,
            "ashlar: standard input:2: rejected: no tab between key and value\n"
            "        standard input:4: rejected: no tab between key and value\n"
            "        everything else was loaded\n");
  EXPECT_EQ(Counts(result), Table(2, 2, 23, 4));
  EXPECT_EQ(Output({"scan"}), "a  1\nb  2\n");
}

TEST_F(LoadTest, ManyRejectedLinesAreCounted) {
  std::string input = "a\t1\n";
  for (int i = 0; i < 25; ++i) input += "bad\n";
  const ToolResult result = Run({"load", "-"}, input);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(Counts(result), Table(1, 25, 104, 2));
  EXPECT_NE(result.err.find("standard input:11: "), std::string::npos);
  EXPECT_EQ(result.err.find("standard input:12: "), std::string::npos);
  EXPECT_NE(result.err.find("and 15 more\n"), std::string::npos);
}

TEST_F(LoadTest, StrictStopsAtTheFirstAndKeepsWhatStoodBefore) {
  const ToolResult result = Run({"load", "-", "--strict"}, "a\t1\nbad\nb\t2\n");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.err,
            "ashlar: standard input:2: rejected: no tab between key and value\n"
            "        the entries before it were loaded\n");
  EXPECT_EQ(Output({"scan"}), "a  1\n");
}

TEST_F(LoadTest, AMalformedStanzaIsNamedByItsLine) {
  const ToolResult result =
      Run({"load", "-"},
          "Package: a\nVersion: 1\n\nPackage: b\nwithout a colon\nVersion: 1\n\nPackage: c\n");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.err,
            "ashlar: standard input:5: rejected: neither a field (name, colon, value) nor a "
            "continuation line\n        everything else was loaded\n");
  EXPECT_EQ(Output({"scan", "--keys-only"}), "a\nc\n");
}

TEST_F(LoadTest, ALineThatIsTooLongIsRejected) {
  const ToolResult result = Run({"load", "-", "--record-bytes-max", "100"},
                                "a\t1\nb\t" + std::string(3 << 20, 'x') + "\nc\t3\n");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.err,
            "ashlar: standard input:2: rejected: longer than 100 bytes (--record-bytes-max)\n      "
            "  everything else was loaded\n");
  EXPECT_EQ(Output({"scan"}), "a  1\nc  3\n");
}

TEST_F(LoadTest, AValueOfMegabytesIsLoadedWhole) {
  const std::string value(5 << 20, 'v');
  Load("k\t" + value + "\n");
  EXPECT_TRUE(Output({"--value-format", "raw", "get", "k"}) == value);
}

TEST_F(LoadTest, AnyBytesMayBeEntries) {
  Load("a\0b\t\xff\0\xfe\r\n"s);
  EXPECT_EQ(Output({"scan"}), "a\\x00b  \\xff\\x00\\xfe\\r\n");
}

TEST_F(LoadTest, InputOfNoKnownFormatLoadsNothing) {
  const ToolResult result = Run({"load", "-"}, "just some words\n");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.err,
            "ashlar: standard input:1: neither key<TAB>value, nor a control stanza, nor JSON\n"
            "        say what it is with --input-format tsv|deb822|ndjson; nothing was loaded\n");
  EXPECT_FALSE(std::filesystem::exists(database()));
}

TEST_F(LoadTest, EmptyInputMakesAnEmptyDatabase) {
  ExpectExit(0, {"load", "-"});
  EXPECT_EQ(Output({"scan", "--count"}), "entries  0\n");
}

TEST_F(LoadTest, InvalidUtf8InJsonIsRejected) {
  const ToolResult result =
      Run({"load", "-"}, "{\"key\":\"a\",\"value\":\"1\"}\n{\"key\":\"\xff\",\"value\":\"2\"}\n");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.err,
            "ashlar: standard input:2: rejected: not a JSON object\n        everything else was "
            "loaded\n");
  EXPECT_EQ(Output({"scan"}), "a  1\n");
}

TEST_F(LoadTest, SmallBatchesAndSyncLoadTheSame) {
  std::string input;
  for (int i = 1000; i < 1100; ++i) input += std::to_string(i) + "\tv\n";
  Load(input, {"--batch", "7", "--sync"});
  EXPECT_EQ(Output({"scan", "--count"}), "entries  100\n");
}

TEST_F(LoadTest, AnUnknownFamilyKeepsWhatStoodBefore) {
  Load("a\t1\n");
  const ToolResult result = Run({"load", "-", "--no-create"},
                                "{\"key\":\"b\",\"value\":\"2\"}\n{\"key\":\"c\",\"value\":\"3\"}\n"
                                "{\"column_family\":\"new\",\"key\":\"d\",\"value\":\"4\"}\n");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(Output({"scan"}), "a  1\nb  2\nc  3\n");
}

TEST_F(LoadTest, WithoutCreateNothingIsMade) {
  ExpectExit(4, {"load", "-", "--no-create"}, "a\t1\n");
  EXPECT_FALSE(std::filesystem::exists(database()));
  Load("a\t1\n");
  const ToolResult result = Run({"load", "-", "--no-create", "--column-family", "new"}, "a\t1\n");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err,
            "ashlar: there is no column family new\n"
            "        column-families lists them; load and put --create make new ones\n");
}

TEST_F(LoadTest, DumpGolden) {
  Load("a\t1\nb\\\t\x01\n");
  Load("c\tx\n", {"--column-family", "more"});
  EXPECT_EQ(Output({"dump"}),
            "{\"ashlar_dump\":1,\"key_format\":\"escape\",\"value_format\":\"escape\",\"column_"
            "families\":[\"default\",\"more\"]}\n"
            "{\"column_family\":\"default\",\"key\":\"a\",\"value\":\"1\"}\n"
            "{\"column_family\":\"default\",\"key\":\"b\\\\\\\\\",\"value\":\"\\\\x01\"}\n"
            "{\"column_family\":\"more\",\"key\":\"c\",\"value\":\"x\"}\n"
            "{\"ashlar_dump_end\":true,\"entries\":3}\n");
  EXPECT_EQ(Output({"dump", "--format", "csv", "--column-family", "more"}),
            "column_family,key,value\r\nmore,c,x\r\n");
  EXPECT_EQ(Output({"dump", "--format", "table", "--column-family", "more"}), "more  c  x\n");
  EXPECT_EQ(Output({"dump", "--format", "json", "--column-family", "more"}),
            "[\n{\"column_family\":\"more\",\"key\":\"c\",\"value\":\"x\"}\n]\n");
}

TEST_F(LoadTest, ADumpLoadsBackExactlyInEveryFormatOfBytes) {
  // Every byte value, in keys and values; an empty key and value; an empty family.
  std::string input;
  for (int i = 0; i < 256; ++i) {
    const auto c = static_cast<char>(i);
    const std::string byte = c == '\t' || c == '\n' ? "x"s : std::string(1, c);
    input += "k" + std::to_string(i) + byte + "\t" + byte + "v" + byte + "\n";
  }
  Load(input + "\t\n");
  Load("in another\tfamily\n", {"--column-family", "fa mily\x01"});
  Load("", {"--column-family", "empty"});
  (void)Output({"put", "all\\x00\\n\\t", "\\n\\x00\\t\\\\"});
  const std::string golden = Output({"dump"});
  for (const std::string format : {"escape", "utf8", "hex", "u64be"}) {
    const std::string dump =
        MakeFile("dump", Output({"--key-format", format, "--value-format", format, "dump"}));
    const std::string copy = File("copy_" + format);
    const ToolResult loaded = RunBare({"--db", copy, "load", dump});
    EXPECT_EQ(loaded.exit_code, 0) << loaded.err;
    EXPECT_EQ(RunBare({"--db", copy, "dump"}).out, golden) << format;
  }
}

// The dump has the entries that the range deletions leave. Loading it restores no deleted entry.
TEST_F(LoadTest, ADumpHasWhatRangeDeletionsLeave) {
  Load("a\t1\nb\t2\nc\t3\nd\t4\n");
  EXPECT_EQ(Output({"delete", "--from", "b", "--to", "d", "--force"}), "range_deletions  1\n");
  (void)Output({"put", "c", "5"});
  const std::string dump = Output({"dump"});
  EXPECT_EQ(RunBare({"--db", File("copy"), "load", "-"}, dump).exit_code, 0);
  EXPECT_EQ(RunBare({"--db", File("copy"), "scan"}).out, "a  1\nc  5\nd  4\n");
  EXPECT_EQ(RunBare({"--db", File("copy"), "dump"}).out, dump);
}

TEST_F(LoadTest, ADumpCutShortIsAnError) {
  Load("a\t1\nb\t2\n");
  std::string dump = Output({"dump"});
  dump.resize(dump.rfind("{\"ashlar_dump_end"));
  const ToolResult result = RunBare({"--db", File("copy"), "load", "-"}, dump);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.err.find("the dump is cut short"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace ashlar
