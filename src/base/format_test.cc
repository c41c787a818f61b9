#include "base/format.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/log_sink.h"
#include "base/random.h"

namespace ashlar {
namespace {

TEST(FormatTest, JoinsTextsAndNumbers) {
  EXPECT_EQ(StrCat("a", std::string("b"), std::string_view("c"), 'd', 1, -2L,
                   uint64_t{18446744073709551615u}, true, uint8_t{65}, 0.5),
            "abcd1-218446744073709551615true650.5");
  std::string text = "x";
  StrAppend(&text, 1, "y");
  EXPECT_EQ(text, "x1y");
  EXPECT_EQ(StrCat(), "");
}

TEST(FormatTest, SizesForPeople) {
  EXPECT_EQ(HumanBytes(0), "0 B");
  EXPECT_EQ(HumanBytes(1023), "1023 B");
  EXPECT_EQ(HumanBytes(1024), "1.0 KiB");
  EXPECT_EQ(HumanBytes(1536), "1.5 KiB");
  EXPECT_EQ(HumanBytes((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(HumanBytes(64 << 20), "64.0 MiB");
  EXPECT_EQ(HumanBytes(std::numeric_limits<uint64_t>::max()), "16.0 EiB");
  EXPECT_EQ(GroupedDigits(0), "0");
  EXPECT_EQ(GroupedDigits(999), "999");
  EXPECT_EQ(GroupedDigits(1000), "1,000");
  EXPECT_EQ(GroupedDigits(1234567), "1,234,567");
  EXPECT_EQ(FixedDecimal(2.0 / 3, 3), "0.667");
  EXPECT_EQ(FixedDecimal(-std::numeric_limits<double>::max(), 15).size(), 326u);
}

TEST(FormatTest, KeysAreShownSafelyAndCanBeReadBack) {
  EXPECT_EQ(EscapeForDisplay(Slice("plain \"text\" 'ok'")), "plain \"text\" 'ok'");
  EXPECT_EQ(EscapeForDisplay(Slice("a\0\n\x1b[31m\\\x7f\xff", 11)),
            "a\\x00\\x0a\\x1b[31m\\\\\\x7f\\xff");
  constexpr uint64_t kSeed = 11;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  for (int i = 0; i < 2000; ++i) {
    const std::string bytes = random.Bytes(random.Uniform(40));
    const std::string shown = EscapeForDisplay(bytes);
    for (const char c : shown) ASSERT_TRUE(c >= ' ' && c <= '~');
    std::string back;
    ASSERT_TRUE(UnescapeDisplay(shown, &back));
    ASSERT_EQ(back, bytes);
  }
}

TEST(FormatTest, ALongNameIsShownByItsBeginAndItsSize) {
  EXPECT_EQ(NameForDisplay("users"), "users");
  EXPECT_EQ(NameForDisplay(""), "");
  EXPECT_EQ(NameForDisplay("a\n\\"), "a\\x0a\\\\");
  const std::string longest(64, 'x');
  EXPECT_EQ(NameForDisplay(longest), longest);
  EXPECT_EQ(NameForDisplay(longest + "y"), longest + "... (65 bytes)");
  EXPECT_EQ(NameForDisplay(std::string(3 << 20, '\n')).size(), 64 * 4 + 19u);
}

TEST(FormatTest, UnescapeRefusesWhatEscapeNeverWrites) {
  std::string out = "before";
  for (const std::string_view text : {"\\", "\\x", "\\x1", "\\xg0", "\\n", "tab\t", "\\X00", "a\\"})
    EXPECT_FALSE(UnescapeDisplay(text, &out)) << text;
  EXPECT_EQ(out, "before");
  EXPECT_TRUE(UnescapeDisplay("\\xAB", &out));
  EXPECT_EQ(out, "\xab");
}

TEST(FormatTest, NumbersAreReadWholeOrNotAtAll) {
  uint64_t u = 7;
  EXPECT_TRUE(ParseUint64("18446744073709551615", &u));
  EXPECT_EQ(u, std::numeric_limits<uint64_t>::max());
  for (const std::string_view text :
       {"", " 1", "1 ", "+1", "-1", "0x10", "18446744073709551616", "1.0", "one"})
    EXPECT_FALSE(ParseUint64(text, &u)) << text;
  EXPECT_EQ(u, std::numeric_limits<uint64_t>::max());

  int64_t i = 0;
  EXPECT_TRUE(ParseInt64("-9223372036854775808", &i));
  EXPECT_EQ(i, std::numeric_limits<int64_t>::min());
  EXPECT_FALSE(ParseInt64("9223372036854775808", &i));
  EXPECT_FALSE(ParseInt64("-", &i));

  double d = 0;
  EXPECT_TRUE(ParseDouble("-1.5e3", &d));
  EXPECT_EQ(d, -1500.0);
  for (const std::string_view text : {"", "nan", "inf", "1e999", "1.5x", " 1"})
    EXPECT_FALSE(ParseDouble(text, &d)) << text;
}

TEST(FormatTest, SizesWithUnits) {
  uint64_t bytes = 0;
  const std::vector<std::pair<std::string_view, uint64_t>> cases = {{"0", 0},
                                                                    {"17", 17},
                                                                    {"1k", 1024},
                                                                    {"64M", uint64_t{64} << 20},
                                                                    {"2g", uint64_t{2} << 30},
                                                                    {"3T", uint64_t{3} << 40}};
  for (const auto& [text, expected] : cases) {
    EXPECT_TRUE(ParseBytes(text, &bytes)) << text;
    EXPECT_EQ(bytes, expected);
  }
  for (const std::string_view text :
       {"", "k", "1kb", "1 k", "-1k", "18446744073709551615k", "16777216T"})
    EXPECT_FALSE(ParseBytes(text, &bytes)) << text;
  EXPECT_TRUE(ParseBytes("16777215T", &bytes));
}

class RecordingSink final : public LogSink {
 public:
  void Log(LogLevel /*level*/, std::string_view text) override { lines.emplace_back(text); }
  bool IsEnabled(LogLevel level) const override { return level >= LogLevel::kWarn; }

  std::vector<std::string> lines;
};

TEST(LogSinkTest, LinesBelowTheLevelAreNotMade) {
  RecordingSink sink;
  LogLine(&sink, LogLevel::kInfo, "dropped ", 1);
  LogLine(&sink, LogLevel::kWarn, "kept ", 2);
  LogLine(nullptr, LogLevel::kError, "nowhere");
  EXPECT_EQ(sink.lines, std::vector<std::string>{"kept 2"});
}

}  // namespace
}  // namespace ashlar
