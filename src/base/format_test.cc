#include "base/format.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>
#include <vector>

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
  EXPECT_EQ(FixedDecimal(2.0 / 3, 3), "0.667");
  EXPECT_EQ(FixedDecimal(-std::numeric_limits<double>::max(), 15).size(), 326u);
}

// The bytes whose EscapeForDisplay is `shown`.
std::string Unescape(std::string_view shown) {
  std::string bytes;
  while (!shown.empty()) {
    const bool is_hex = shown.starts_with("\\x");
    bytes += is_hex ? static_cast<char>(std::stoi(std::string(shown.substr(2, 2)), nullptr, 16))
                    : shown[shown[0] == '\\' ? 1 : 0];
    shown.remove_prefix(is_hex ? 4 : shown[0] == '\\' ? 2 : 1);
  }
  return bytes;
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
    ASSERT_EQ(Unescape(shown), bytes);  // I1
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

TEST(FormatTest, NumbersAreReadWholeOrNotAtAll) {
  uint64_t u = 7;
  EXPECT_TRUE(ParseUint64("18446744073709551615", &u));
  EXPECT_EQ(u, std::numeric_limits<uint64_t>::max());
  for (const std::string_view text :
       {"", " 1", "1 ", "+1", "-1", "0x10", "18446744073709551616", "1.0", "one"})
    EXPECT_FALSE(ParseUint64(text, &u)) << text;
  EXPECT_EQ(u, std::numeric_limits<uint64_t>::max());

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

}  // namespace
}  // namespace ashlar
