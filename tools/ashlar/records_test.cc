#include "tools/ashlar/records.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "tests/support/tool_runner.h"

namespace ashlar::cli {
namespace {

// Returns the output of `write`.
std::string Written(const std::function<void(FILE*)>& write) {
  const ScratchDirectory scratch;
  FILE* const file = fopen(scratch.File("out").c_str(), "wb");
  if (file == nullptr) return "no file";
  write(file);
  (void)fclose(file);
  std::ifstream in(scratch.File("out"), std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

std::string Rows(OutputFormat format, const std::vector<Row>& rows, bool header = true,
                 size_t line_columns_max = 0) {
  return Written([&](FILE* file) {
    const auto writer = MakeRecordWriter(
        format, {.columns = {"name", "n"}, .header = header, .line_columns_max = line_columns_max},
        file);
    for (const Row& row : rows) writer->Add(row);
    writer->Finish();
  });
}

const std::vector<Row> kTwoRows = {{"a", uint64_t{5}}, {"longer", uint64_t{1234}}};

TEST(RecordsTest, Table) {
  EXPECT_EQ(Rows(OutputFormat::kTable, kTwoRows), "name       n\na          5\nlonger  1234\n");
  EXPECT_EQ(Rows(OutputFormat::kTable, kTwoRows, false), "a          5\nlonger  1234\n");
  EXPECT_EQ(Rows(OutputFormat::kTable, {}), "name  n\n");
  EXPECT_EQ(Rows(OutputFormat::kTable, {}, false), "");
}

TEST(RecordsTest, TableAlignsByCharacterAndPadsNoLastText) {
  EXPECT_EQ(Rows(OutputFormat::kTable, {{"é", "x"}, {"ab", "yy"}}, false), "é   x\nab  yy\n");
}

TEST(RecordsTest, TableCutsLinesToTheTerminalInWholeCharacters) {
  EXPECT_EQ(Rows(OutputFormat::kTable, {{"éééé", "12345"}}, false, 8), "éééé  1…\n");
  EXPECT_EQ(Rows(OutputFormat::kTable, {{"éééé", "12"}}, false, 8), "éééé  12\n");
}

TEST(RecordsTest, TableStreamsAfterItsFirstRows) {
  std::vector<Row> rows(1500, Row{"k", uint64_t{1}});
  rows.push_back({"wide key", uint64_t{2}});
  const std::string text = Rows(OutputFormat::kTable, rows, false);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1501);
  EXPECT_TRUE(text.ends_with("k  1\nwide key  2\n"));
}

TEST(RecordsTest, Json) {
  EXPECT_EQ(Rows(OutputFormat::kJson, kTwoRows),
            "[\n{\"name\":\"a\",\"n\":5},\n{\"name\":\"longer\",\"n\":1234}\n]\n");
  EXPECT_EQ(Rows(OutputFormat::kJson, {}), "[]\n");
}

TEST(RecordsTest, Ndjson) {
  EXPECT_EQ(Rows(OutputFormat::kNdjson, {{"q\"\\\n\x01", true}}),
            "{\"name\":\"q\\\"\\\\\\n\\u0001\",\"n\":true}\n");
}

TEST(RecordsTest, CsvQuotesWhatNeedsIt) {
  EXPECT_EQ(Rows(OutputFormat::kCsv, {{"plain", 1.5}, {"a,b", "say \"x\""}, {"two\nlines", false}}),
            "name,n\r\nplain,1.500\r\n\"a,b\",\"say \"\"x\"\"\"\r\n\"two\nlines\",no\r\n");
}

TEST(RecordsTest, ObjectInEveryFormat) {
  const auto object = [](OutputFormat format) {
    return Written([&](FILE* file) {
      WriteObject(format, {{"entries", uint64_t{3}}, {"seconds", 0.25}, {"ok", true}}, file);
    });
  };
  EXPECT_EQ(object(OutputFormat::kTable), "entries  3\nseconds  0.250\nok       yes\n");
  EXPECT_EQ(object(OutputFormat::kJson), "{\"entries\":3,\"seconds\":0.250,\"ok\":true}\n");
  EXPECT_EQ(object(OutputFormat::kNdjson), object(OutputFormat::kJson));
  EXPECT_EQ(object(OutputFormat::kCsv), "entries,seconds,ok\r\n3,0.250,yes\r\n");
}

}  // namespace
}  // namespace ashlar::cli
