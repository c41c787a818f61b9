#include "tools/ashlar/byte_text.h"

#include <gtest/gtest.h>

#include <random>

namespace ashlar::cli {
namespace {

using namespace std::string_view_literals;

constexpr ByteFormat kAllFormats[] = {ByteFormat::kEscape, ByteFormat::kUtf8,  ByteFormat::kText,
                                      ByteFormat::kHex,    ByteFormat::kU64be, ByteFormat::kRaw};

std::string Encode(ByteFormat format, std::string_view bytes) { return EncodeBytes(format, bytes); }

TEST(ByteTextTest, EscapeShowsPrintableAsciiOnly) {
  EXPECT_EQ(Encode(ByteFormat::kEscape, "plain ~text!"), "plain ~text!");
  EXPECT_EQ(Encode(ByteFormat::kEscape, "a\\b\n\t\r\0\x1b[2J\x7f\xff"sv),
            "a\\\\b\\n\\t\\r\\x00\\x1b[2J\\x7f\\xff");
  EXPECT_EQ(Encode(ByteFormat::kEscape, "é"), "\\xc3\\xa9");
  EXPECT_EQ(Encode(ByteFormat::kEscape, ""), "");
}

TEST(ByteTextTest, Utf8ShowsValidCharactersAndEscapesTheRest) {
  EXPECT_EQ(Encode(ByteFormat::kUtf8, "é 漢 🙂"), "é 漢 🙂");
  EXPECT_EQ(Encode(ByteFormat::kUtf8, "a\\b\n"), "a\\\\b\\n");
  EXPECT_EQ(Encode(ByteFormat::kUtf8, "\xc3"), "\\xc3");                    // cut short
  EXPECT_EQ(Encode(ByteFormat::kUtf8, "\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(Encode(ByteFormat::kUtf8, "\xed\xa0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(Encode(ByteFormat::kUtf8, "\xf4\x90\x80\x80"),
            "\\xf4\\x90\\x80\\x80");  // above U+10FFFF
  EXPECT_EQ(Encode(ByteFormat::kUtf8, "\xc3(\xa9"), "\\xc3(\\xa9");
}

TEST(ByteTextTest, Utf8EscapesWhatATerminalObeysOrHides) {
  EXPECT_EQ(Encode(ByteFormat::kUtf8, "\x1b]0;title\x07"), "\\x1b]0;title\\x07");
  EXPECT_EQ(Encode(ByteFormat::kUtf8, "\u009b2J"),
            "\\xc2\\x9b2J");  // C1: another spelling of ESC [
  EXPECT_EQ(Encode(ByteFormat::kUtf8, "a\u202eb"), "a\\xe2\\x80\\xaeb");  // right-to-left override
  EXPECT_EQ(Encode(ByteFormat::kUtf8, "a\u200bb"), "a\\xe2\\x80\\x8bb");  // zero width
  EXPECT_EQ(Encode(ByteFormat::kUtf8, "\ufeff"), "\\xef\\xbb\\xbf");
}

TEST(ByteTextTest, TextKeepsLineEndsAndTabs) {
  EXPECT_EQ(Encode(ByteFormat::kText, "a\n\tb\\\r\x1b"), "a\n\tb\\\\\\r\\x1b");
}

TEST(ByteTextTest, HexAndNumbers) {
  EXPECT_EQ(Encode(ByteFormat::kHex, "\x01\xAB"), "01ab");
  EXPECT_EQ(Encode(ByteFormat::kU64be, "\0\0\0\0\0\0\x01\x02"sv), "258");
  EXPECT_EQ(Encode(ByteFormat::kU64be, "\xff\xff\xff\xff\xff\xff\xff\xff"), "18446744073709551615");
  EXPECT_EQ(Encode(ByteFormat::kU64be, "abc"), "0x616263");
  EXPECT_EQ(Encode(ByteFormat::kU64be, ""), "0x");
}

TEST(ByteTextTest, DecodeTakesWhatPeopleWrite) {
  std::string bytes;
  std::string error;
  EXPECT_TRUE(DecodeBytes(ByteFormat::kHex, "0x0aFF", &bytes, &error));
  EXPECT_EQ(bytes, "\x0a\xff");
  EXPECT_TRUE(DecodeBytes(ByteFormat::kEscape, "caf\xc3\xa9\\x00", &bytes, &error));
  EXPECT_EQ(bytes, "caf\xc3\xa9\0"sv);
}

TEST(ByteTextTest, DecodeRefusesWhatIsNotInTheFormat) {
  const std::pair<ByteFormat, std::string_view> cases[] = {
      {ByteFormat::kEscape, "a\\"},
      {ByteFormat::kEscape, "\\q"},
      {ByteFormat::kEscape, "\\x1"},
      {ByteFormat::kUtf8, "\\xzz"},
      {ByteFormat::kHex, "abc"},
      {ByteFormat::kHex, "zz"},
      {ByteFormat::kU64be, ""},
      {ByteFormat::kU64be, "-1"},
      {ByteFormat::kU64be, "12 "},
      {ByteFormat::kU64be, "0x123"},
      {ByteFormat::kU64be, "18446744073709551616"},
  };
  for (const auto& [format, text] : cases) {
    std::string bytes;
    std::string error;
    EXPECT_FALSE(DecodeBytes(format, text, &bytes, &error)) << NameOf(format) << " " << text;
    EXPECT_FALSE(error.empty());
  }
}

TEST(ByteTextTest, EveryFormatGivesBackRandomBytesAndIsSafe) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(random() % 24, '\0');
    // About half of the bytes are special in UTF-8 or in escapes.
    constexpr std::string_view kInteresting =
        "\\x0\n\t\x1b\x7f\xc2\x9b\xe2\x80\xae\xf0\x9f\x99\x82"sv;
    for (char& c : bytes)
      c = random() % 2 == 0 ? static_cast<char>(random() & 0xFF)
                            : kInteresting[random() % kInteresting.size()];
    for (const ByteFormat format : kAllFormats) {
      const std::string text = EncodeBytes(format, bytes);
      std::string back;
      std::string error;
      ASSERT_TRUE(DecodeBytes(format, text, &back, &error)) << NameOf(format) << ": " << error;
      ASSERT_EQ(back, bytes) << NameOf(format);
      if (format == ByteFormat::kRaw) continue;
      for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool line_layout = format == ByteFormat::kText && (c == '\n' || c == '\t');
        ASSERT_TRUE((byte >= 0x20 && byte != 0x7F) || line_layout)
            << NameOf(format) << " shows byte " << int{byte};
      }
    }
  }
}

TEST(ByteTextTest, NamesAndFormatsMatch) {
  for (const ByteFormat format : kAllFormats) EXPECT_EQ(ByteFormatByName(NameOf(format)), format);
  EXPECT_EQ(ByteFormatByName("base64"), std::nullopt);
}

TEST(ByteTextTest, MessagesKeepBackslashesAndLoseControls) {
  EXPECT_EQ(SafeMessage("a\\b\n\x1b[2J"), "a\\b\n\\x1b[2J");
}

}  // namespace
}  // namespace ashlar::cli
