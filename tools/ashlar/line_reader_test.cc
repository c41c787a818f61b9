#include "tools/ashlar/line_reader.h"

#include <gtest/gtest.h>

namespace ashlar::cli {
namespace {

// Returns a reader of a file with the text, at its start.
std::unique_ptr<LineReader> ReaderOf(std::string_view text, size_t line_bytes_max) {
  FILE* const file = tmpfile();
  (void)fwrite(text.data(), 1, text.size(), file);
  rewind(file);
  return std::make_unique<LineReader>(file, "test", line_bytes_max);
}

// Returns "number:line" for each line, with "!" for a line that is too long.
std::string Walk(LineReader* reader) {
  std::string out;
  std::string_view line;
  for (;;) {
    const LineReader::Result result = reader->Next(&line);
    if (result == LineReader::Result::kEnd || result == LineReader::Result::kError)
      return out + (result == LineReader::Result::kEnd ? "end" : "error");
    out += std::to_string(reader->line_number()) + ":" +
           (result == LineReader::Result::kTooLong ? "!" : std::string(line)) + " ";
  }
}

TEST(LineReaderTest, NumbersLinesAndNeedsNoLastLineEnd) {
  EXPECT_EQ(Walk(ReaderOf("a\n\nb\n", 100).get()), "1:a 2: 3:b end");
  EXPECT_EQ(Walk(ReaderOf("a\nb", 100).get()), "1:a 2:b end");
  EXPECT_EQ(Walk(ReaderOf("", 100).get()), "end");
  EXPECT_EQ(Walk(ReaderOf("\n", 100).get()), "1: end");
}

TEST(LineReaderTest, StepsOverALineThatIsTooLong) {
  EXPECT_EQ(Walk(ReaderOf("12345\n123456\nx\n", 5).get()), "1:12345 2:! 3:x end");
  EXPECT_EQ(Walk(ReaderOf("123456", 5).get()), "1:! end");
}

TEST(LineReaderTest, LinesLongerThanTheBufferArriveWholeOrAreSteppedOver) {
  const std::string long_line(3 << 20, 'x');
  const std::string text = "a\n" + long_line + "\nb\n";
  const auto reader = ReaderOf(text, 4 << 20);
  std::string_view line;
  ASSERT_EQ(reader->Next(&line), LineReader::Result::kLine);
  ASSERT_EQ(reader->Next(&line), LineReader::Result::kLine);
  EXPECT_TRUE(line == long_line);
  EXPECT_EQ(Walk(reader.get()), "3:b end");
  EXPECT_EQ(reader->bytes_read(), text.size());
  EXPECT_EQ(Walk(ReaderOf(text, 2 << 20).get()), "1:a 2:! 3:b end");
}

TEST(LineReaderTest, UnreadGivesTheLineAgain) {
  const auto reader = ReaderOf("a\nb\n", 100);
  std::string_view line;
  ASSERT_EQ(reader->Next(&line), LineReader::Result::kLine);
  reader->Unread();
  EXPECT_EQ(Walk(reader.get()), "1:a 2:b end");
}

TEST(LineReaderTest, BytesAreKeptAsTheyAre) {
  using namespace std::string_view_literals;
  const auto reader = ReaderOf("a\0b\r\xff\n"sv, 100);
  std::string_view line;
  ASSERT_EQ(reader->Next(&line), LineReader::Result::kLine);
  EXPECT_EQ(line, "a\0b\r\xff"sv);
}

TEST(LineReaderTest, AFileThatCannotBeReadIsAnErrorThatStays) {
  std::unique_ptr<LineReader> reader;
  Outcome outcome = LineReader::Open("/nonexistent/file", 100, &reader);
  EXPECT_EQ(outcome.code, ExitCode::kIo);
  // Some systems refuse to open a directory, others to read it.
  outcome = LineReader::Open("/", 100, &reader);
  if (outcome.ok()) {
    EXPECT_EQ(Walk(reader.get()), "error");
    EXPECT_EQ(Walk(reader.get()), "error");
    outcome = reader->Error();
  }
  EXPECT_EQ(outcome.code, ExitCode::kIo);
}

}  // namespace
}  // namespace ashlar::cli
