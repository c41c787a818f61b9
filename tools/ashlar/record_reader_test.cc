#include "tools/ashlar/record_reader.h"

#include <gtest/gtest.h>

namespace ashlar::cli {
namespace {

using namespace std::string_view_literals;

class Input {
 public:
  Input(std::string_view text, const RecordReaderOptions& options, size_t record_bytes_max = 1000) {
    FILE* const file = tmpfile();
    (void)fwrite(text.data(), 1, text.size(), file);
    rewind(file);
    lines_ = std::make_unique<LineReader>(file, "test", record_bytes_max);
    reader_ = MakeRecordReader(options, lines_.get());
  }

  // Returns one line for everything that the reader reports: "key=value", "family/key=value",
  // "+family" or "!line: reason".
  std::string Walk() {
    std::string out;
    InputRecord record;
    Rejection rejection;
    for (;;) {
      switch (reader_->Next(&record, &rejection)) {
        case RecordReader::Result::kRecord:
          if (!record.column_family.empty()) out += record.column_family + "/";
          out += EncodeBytes(ByteFormat::kEscape, record.key) + "=" +
                 EncodeBytes(ByteFormat::kEscape, record.value) + "\n";
          break;
        case RecordReader::Result::kColumnFamily: out += "+" + record.column_family + "\n"; break;
        case RecordReader::Result::kRejected:
          out += "!" + std::to_string(rejection.line_number) + ": " + rejection.reason + "\n";
          break;
        case RecordReader::Result::kEnd: return out;
        case RecordReader::Result::kError: return out + "error";
      }
    }
  }

 private:
  std::unique_ptr<LineReader> lines_;
  std::unique_ptr<RecordReader> reader_;
};

std::string Tsv(std::string_view text, std::optional<ByteFormat> format = std::nullopt) {
  return Input(text, {.format = InputFormat::kTsv, .key_format = format, .value_format = format},
               20)
      .Walk();
}

std::string Deb822(std::string_view text, StanzaKey key = StanzaKey::kPackage) {
  return Input(text,
               {.format = InputFormat::kDeb822,
                .key_format = std::nullopt,
                .value_format = std::nullopt,
                .stanza_key = key},
               60)
      .Walk();
}

std::string Ndjson(std::string_view text) {
  return Input(text, {.format = InputFormat::kNdjson,
                      .key_format = std::nullopt,
                      .value_format = std::nullopt})
      .Walk();
}

TEST(TsvReaderTest, KeyEndsAtTheFirstTab) {
  EXPECT_EQ(Tsv("a\tb\tc\n\nk\t\n\tv\n"), "a=b\\tc\nk=\n=v\n");
}

TEST(TsvReaderTest, BytesAreTakenAsTheyAre) {
  EXPECT_EQ(Tsv("\xff\0\tC:\\new\r\n"sv), "\\xff\\x00=C:\\\\new\\r\n");
}

TEST(TsvReaderTest, LinesThatAreNoEntriesAreRejectedByNumber) {
  EXPECT_EQ(Tsv("a\t1\nno tab\n12345678901234567890\t1\nb\t2"),
            "a=1\n!2: no tab between key and value\n!3: longer than 20 bytes "
            "(--record-bytes-max)\nb=2\n");
}

TEST(TsvReaderTest, FormatsAreDecoded) {
  EXPECT_EQ(
      Tsv("00ff\t41\nxx\t41\n41\t4\n", ByteFormat::kHex),
      "\\x00\\xff=A\n!2: key is not in the format hex: not an even number of hexadecimal digits\n"
      "!3: value is not in the format hex: not an even number of hexadecimal digits\n");
}

TEST(Deb822ReaderTest, AStanzaIsAnEntry) {
  EXPECT_EQ(
      Deb822("Package: a\nVersion: 1\nDescription: x\n more\n\n\nPackage: b\nVersion: 2"),
      "a=Package: a\\nVersion: 1\\nDescription: x\\n more\\n\nb=Package: b\\nVersion: 2\\n\n");
}

TEST(Deb822ReaderTest, KeysMayCarryTheVersion) {
  EXPECT_EQ(Deb822("Version: 1:2\nPackage: a\n\nPackage: b\n", StanzaKey::kPackageAndVersion),
            "a=1:2=Version: 1:2\\nPackage: a\\n\n!4: a stanza without a field Version\n");
}

TEST(Deb822ReaderTest, AWrongStanzaIsRejectedAtItsLineAndTheNextOneIsRead) {
  EXPECT_EQ(Deb822("Package: a\nthis is wrong\nX: y\n\nPackage: b\n"),
            "!2: neither a field (name, colon, value) nor a continuation line\nb=Package: b\\n\n");
  EXPECT_EQ(Deb822(" begins inside\nPackage: a\n\n"),
            "!1: a continuation line without a field above it\n");
  EXPECT_EQ(Deb822("\nVersion: 1\n"), "!2: a stanza without a field Package\n");
  EXPECT_EQ(Deb822("Package: a\nPackage: b\n"), "!2: a second field Package in one stanza\n");
  EXPECT_EQ(Deb822("Package:\n"),
            "!1: Package is empty or has characters that are not visible ASCII\n");
  EXPECT_EQ(Deb822("Package: a\0b\n"sv),
            "!1: Package is empty or has characters that are not visible ASCII\n");
  EXPECT_EQ(Deb822("Package: \x1b[2J\n"),
            "!1: Package is empty or has characters that are not visible ASCII\n");
}

TEST(Deb822ReaderTest, AStanzaThatIsTooLongIsRejectedAsAWhole) {
  EXPECT_EQ(
      Deb822("Package: a\nA: 12345678901234567890\nB: 12345678901234567890\n x\n\nPackage: b\n"),
      "!4: longer than 60 bytes (--record-bytes-max)\nb=Package: b\\n\n");
  EXPECT_EQ(Deb822("Package: a\nA: " + std::string(100, 'x') + "\n\nPackage: b\n"),
            "!2: longer than 60 bytes (--record-bytes-max)\nb=Package: b\\n\n");
}

TEST(Deb822ReaderTest, ValuesMayHoldAnyBytes) {
  EXPECT_EQ(Deb822("Package: a\nX: \xff\0\n"sv), "a=Package: a\\nX: \\xff\\x00\\n\n");
}

TEST(NdjsonReaderTest, EntriesWithoutADumpAroundThem) {
  EXPECT_EQ(Ndjson("{\"key\":\"a\\\\x00\",\"value\":\"b\"}\n\n{\"column_family\":\"f\",\"key\":"
                   "\"\",\"value\":\"\"}\n"),
            "a\\x00=b\nf/=\n");
}

TEST(NdjsonReaderTest, ADumpNamesFormatsAndFamilies) {
  EXPECT_EQ(Ndjson("{\"ashlar_dump\":1,\"key_format\":\"hex\",\"value_format\":\"utf8\",\"column_"
                   "families\":[\"default\",\"f\\\\x01\"]}\n"
                   "{\"column_family\":\"default\",\"key\":\"6100\",\"value\":\"é\"}\n"
                   "{\"ashlar_dump_end\":true,\"entries\":1}\n"),
            "+default\n+f\x01\ndefault/a\\x00=\\xc3\\xa9\n");
}

TEST(NdjsonReaderTest, ADumpCutShortIsNoticed) {
  const std::string header =
      "{\"ashlar_dump\":1,\"key_format\":\"hex\",\"value_format\":\"hex\",\"column_families\":[]}"
      "\n";
  const std::string entry = "{\"key\":\"61\",\"value\":\"62\"}\n";
  EXPECT_EQ(Ndjson(header + entry), "a=b\n!2: the dump is cut short: its last line is missing\n");
  EXPECT_EQ(Ndjson(header + entry + "{\"ashlar_dump_end\":true,\"entries\":2}\n"),
            "a=b\n!3: the dump had 2 entries, but 1 were read\n");
  EXPECT_EQ(Ndjson(header + "{\"ashlar_dump_end\":true}\n"),
            "!2: the last line of a dump without the number of entries\n");
  EXPECT_EQ(Ndjson(header + "{\"ashlar_dump_end\":true,\"entries\":0}\n" + entry),
            "!3: an entry after the end of the dump\n");
  EXPECT_EQ(Ndjson("{\"key\":\"a\",\"value\":\"b\"}\n" + header),
            "a=b\n!2: the first line of a dump in the middle of the input\n");
}

TEST(NdjsonReaderTest, LinesThatAreNoEntriesAreRejectedByNumber) {
  EXPECT_EQ(Ndjson("[1]\n{\"key\":\"a\"}\n{\"key\":1,\"value\":\"\"}\n{\n{\"key\":\"\\\\q\","
                   "\"value\":\"\"}\n{\"key\":\"\xff\",\"value\":\"\"}\n"),
            "!1: not a JSON object\n"
            "!2: needs the texts \"key\" and \"value\"; \"column_family\" is a text, too\n"
            "!3: needs the texts \"key\" and \"value\"; \"column_family\" is a text, too\n"
            "!4: not a JSON object\n"
            "!5: key is not in the format escape: a backslash is not followed by \\, n, t, r or x "
            "and two hexadecimal digits\n"
            "!6: not a JSON object\n");
}

TEST(NdjsonReaderTest, DumpsOfUnknownKindsAreRejected) {
  EXPECT_EQ(Ndjson("{\"ashlar_dump\":2,\"key_format\":\"hex\",\"value_format\":\"hex\",\"column_"
                   "families\":[]}\n"),
            "!1: a dump of an unknown kind\n");
  EXPECT_EQ(Ndjson("{\"ashlar_dump\":1,\"key_format\":\"rot13\",\"value_format\":\"hex\",\"column_"
                   "families\":[]}\n"),
            "!1: a dump of an unknown kind\n");
  EXPECT_EQ(Ndjson("{\"ashlar_dump\":1}\n"), "!1: a dump of an unknown kind\n");
}

// The formats of the command line would decode their bytes to something else.
TEST(NdjsonReaderTest, EntriesOfADumpWithoutItsFormatsAreRejected) {
  const std::string header =
      "{\"ashlar_dump\":1,\"key_format\":\"hex\",\"value_format\":\"hex\",\"column_families\":[]}"
      "\n";
  const std::string unknown =
      "{\"ashlar_dump\":2,\"key_format\":\"hex\",\"value_format\":\"hex\",\"column_families\":[]}"
      "\n";
  const std::string entry = "{\"key\":\"61\",\"value\":\"62\"}\n";
  const std::string end = "{\"ashlar_dump_end\":true,\"entries\":1}\n";
  EXPECT_EQ(Ndjson(unknown + entry),
            "!1: a dump of an unknown kind\n"
            "!2: an entry of a dump whose first line was rejected\n");
  EXPECT_EQ(Ndjson(entry + header + entry),
            "61=62\n!2: the first line of a dump in the middle of the input\n"
            "!3: an entry of a dump whose first line was rejected\n");
  EXPECT_EQ(
      Ndjson(entry + end),
      "61=62\n!2: the last line of a dump whose first line is missing; it names the formats\n");
}

std::string Detect(std::string_view text) {
  FILE* const file = tmpfile();
  (void)fwrite(text.data(), 1, text.size(), file);
  rewind(file);
  LineReader lines(file, "test", 100);
  InputFormat format;
  const Outcome outcome = DetectInputFormat(&lines, &format);
  if (!outcome.ok()) return outcome.what;
  std::string_view line;
  (void)lines.Next(&line);
  return std::string(format == InputFormat::kTsv      ? "tsv "
                     : format == InputFormat::kDeb822 ? "deb822 "
                                                      : "ndjson ") +
         std::string(line);
}

TEST(DetectInputFormatTest, LooksAtTheFirstLineAndLeavesIt) {
  EXPECT_EQ(Detect("\n\nkey\tvalue\n"), "tsv key\tvalue");
  EXPECT_EQ(Detect("http://x\tvalue\n"), "tsv http://x\tvalue");
  EXPECT_EQ(Detect("Package: a\n"), "deb822 Package: a");
  EXPECT_EQ(Detect("Source: a\n"), "deb822 Source: a");
  EXPECT_EQ(Detect("{\"key\":\"a\"}\n"), "ndjson {\"key\":\"a\"}");
  EXPECT_EQ(Detect("{\tvalue\n"), "tsv {\tvalue");
  EXPECT_EQ(Detect(""), "tsv ");
  EXPECT_EQ(Detect("\njust words\n"),
            "test:2: neither key<TAB>value, nor a control stanza, nor JSON");
  EXPECT_EQ(Detect(std::string(200, 'x')),
            "test:1: neither key<TAB>value, nor a control stanza, nor JSON");
}

}  // namespace
}  // namespace ashlar::cli
