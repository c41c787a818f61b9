#include "config/option_text.h"

#include <gtest/gtest.h>

#include <string>

#include "base/format.h"

namespace ashlar {
namespace {

std::string Pairs(std::string_view text) {
  const Result<OptionPairs> pairs = ParseOptionPairs(text);
  if (!pairs.ok()) return pairs.status().ToString();
  std::string out;
  for (const auto& [name, value] : *pairs) StrAppend(&out, "[", name, "|", value, "]");
  return out;
}

TEST(OptionText, ListsAreCutAtSemicolonsOutsideOfBraces) {
  EXPECT_EQ(Pairs(""), "");
  EXPECT_EQ(Pairs("a=1"), "[a|1]");
  EXPECT_EQ(Pairs(" a = 1 ;\n b=2;"), "[a|1][b|2]");
  EXPECT_EQ(Pairs("a={b=1;c={d=2;}};e=3"), "[a|b=1;c={d=2;}][e|3]");
  EXPECT_EQ(Pairs("{a=1;b=2;}"), "[a|1][b|2]");
  EXPECT_EQ(Pairs("a=;b={}"), "[a|][b|]");
  EXPECT_EQ(Pairs("a=x=y"), "[a|x=y]");
  EXPECT_EQ(Pairs("d={;};e=1"), "[d|;][e|1]");
}

TEST(OptionText, ErrorsSayWhere) {
  EXPECT_EQ(Pairs("a"), "Invalid argument: option a: no '=' and value");
  EXPECT_EQ(Pairs("a=1;b"), "Invalid argument: option b: no '=' and value");
  EXPECT_EQ(Pairs("a=1; b c ;d=2"), "Invalid argument: option b c: no '=' and value");
  EXPECT_EQ(Pairs("=1"), "Invalid argument: options: no name before '=' at the beginning");
  EXPECT_EQ(Pairs("a=1;=2"), "Invalid argument: options: no name before '=' after a");
  EXPECT_EQ(Pairs("a={1"), "Invalid argument: option a: no closing brace");
  EXPECT_EQ(Pairs("a={1}2"), "Invalid argument: option a: text after its closing brace");
}

TEST(OptionText, EscapesComeBack) {
  const std::string all = "a:b#c\\d\ne\rf=g;h";
  EXPECT_EQ(EscapeOptionText(all), "a:b\\#c\\\\d\\ne\\rf=g;h");
  EXPECT_EQ(UnescapeOptionText(EscapeOptionText(all)), all);
  EXPECT_EQ(UnescapeOptionText("end\\"), "end");
  EXPECT_EQ(UnescapeOptionText("a\\:b"), "a:b");
}

TEST(OptionText, BlanksAroundATextAreKept) {
  EXPECT_EQ(EscapeOptionText(" a b "), "\\ a b \\");
  EXPECT_EQ(EscapeOptionText(" "), "\\ \\");
  for (const std::string_view text :
       {" ", "  ", " a", "a ", "\ta\t", "\va\f", "\na\n", "\\ ", " \\", "a\\"}) {
    SCOPED_TRACE(text);
    const std::string line = StrCat("  ", EscapeOptionText(text), "  # why");
    EXPECT_EQ(UnescapeOptionText(StripComment(line)), text);
  }
}

TEST(OptionText, CommentsBeginAtAnUnescapedHash) {
  EXPECT_EQ(StripComment("  a=1  # why"), "a=1");
  EXPECT_EQ(StripComment("a=\\#1"), "a=\\#1");
  EXPECT_EQ(StripComment("a=\\\\#1"), "a=\\\\");
  EXPECT_EQ(StripComment("# all"), "");
}

}  // namespace
}  // namespace ashlar
