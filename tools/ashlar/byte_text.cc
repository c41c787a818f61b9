#include "tools/ashlar/byte_text.h"

#include <array>
#include <charconv>
#include <utility>

namespace ashlar::cli {
namespace {

constexpr std::array<std::pair<std::string_view, ByteFormat>, 6> kNames = {
    {{"escape", ByteFormat::kEscape},
     {"utf8", ByteFormat::kUtf8},
     {"text", ByteFormat::kText},
     {"hex", ByteFormat::kHex},
     {"u64be", ByteFormat::kU64be},
     {"raw", ByteFormat::kRaw}}};
constexpr char kHexDigits[] = "0123456789abcdef";

uint8_t Byte(char c) { return static_cast<uint8_t>(c); }

void AppendHexByte(char c, std::string* out) {
  out->push_back(kHexDigits[Byte(c) >> 4]);
  out->push_back(kHexDigits[Byte(c) & 0x0F]);
}

void AppendEscaped(char c, std::string* out) {
  switch (c) {
    case '\\': out->append("\\\\"); break;
    case '\n': out->append("\\n"); break;
    case '\t': out->append("\\t"); break;
    case '\r': out->append("\\r"); break;
    default: out->append("\\x"); AppendHexByte(c, out);
  }
}

bool IsPrintableAscii(char c) { return c >= 0x20 && c < 0x7F; }

struct CodePoint {
  uint32_t value;
  size_t length;  // bytes; 0 when the bytes are not valid UTF-8
};

// Overlong forms, surrogates and values above U+10FFFF are not valid.
CodePoint DecodeCodePoint(std::string_view bytes) {
  const uint8_t first = Byte(bytes[0]);
  if (first < 0x80) return {first, 1};
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || bytes.size() < length) return {0, 0};
  uint32_t value = first & (0x7FU >> length);
  for (size_t i = 1; i < length; ++i) {
    const uint8_t next = Byte(bytes[i]);
    if ((next & 0xC0) != 0x80) return {0, 0};
    value = (value << 6) | (next & 0x3FU);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kSmallest[length] || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000))
    return {0, 0};
  return {value, length};
}

// Characters that a terminal interprets or hides: controls, text direction, zero width, line
// separators, tags, noncharacters.
bool IsUnsafe(uint32_t c) {
  constexpr std::pair<uint32_t, uint32_t> kRanges[] = {
      {0x00, 0x1F},     {0x7F, 0x9F},     {0xAD, 0xAD},     {0x61C, 0x61C},
      {0x180E, 0x180E}, {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F},
      {0xFDD0, 0xFDEF}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE0FFF}};
  for (const auto& [first, last] : kRanges) {
    if (c >= first && c <= last) return true;
  }
  return (c & 0xFFFE) == 0xFFFE;
}

std::string EncodeEscape(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() + bytes.size() / 8);
  for (const char c : bytes) {
    if (IsPrintableAscii(c) && c != '\\') {
      out.push_back(c);
    } else {
      AppendEscaped(c, &out);
    }
  }
  return out;
}

// `plain`: ASCII characters that are not escaped although they otherwise would be.
std::string EncodeUtf8(std::string_view bytes, std::string_view plain) {
  std::string out;
  out.reserve(bytes.size() + bytes.size() / 8);
  while (!bytes.empty()) {
    const char c = bytes[0];
    const CodePoint point = DecodeCodePoint(bytes);
    const size_t length = point.length == 0 ? 1 : point.length;
    const bool as_is = plain.find(c) != std::string_view::npos ||
                       (point.length != 0 && c != '\\' && !IsUnsafe(point.value));
    for (size_t i = 0; i < length; ++i) {
      if (as_is) {
        out.push_back(bytes[i]);
      } else {
        AppendEscaped(bytes[i], &out);
      }
    }
    bytes.remove_prefix(length);
  }
  return out;
}

std::string EncodeHex(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) AppendHexByte(c, &out);
  return out;
}

std::string EncodeU64be(std::string_view bytes) {
  if (bytes.size() != 8) return "0x" + EncodeHex(bytes);
  uint64_t number = 0;
  for (const char c : bytes) number = (number << 8) | Byte(c);
  return std::to_string(number);
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Returns the byte of two hexadecimal digits, or nothing if they are not digits.
std::optional<char> HexByte(std::string_view text, size_t at) {
  if (text.size() < 2 || at > text.size() - 2) return std::nullopt;
  const int high = HexDigit(text[at]);
  const int low = HexDigit(text[at + 1]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<char>(high * 16 + low);
}

bool DecodeHex(std::string_view text, std::string* bytes, std::string* error) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  bytes->clear();
  for (size_t i = 0; i < text.size(); i += 2) {
    const std::optional<char> byte = HexByte(text, i);
    if (!byte) {
      *error = "not an even number of hexadecimal digits";
      return false;
    }
    bytes->push_back(*byte);
  }
  return true;
}

bool DecodeU64be(std::string_view text, std::string* bytes, std::string* error) {
  if (text.starts_with("0x")) return DecodeHex(text, bytes, error);
  uint64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) {
    *error = "not a decimal number below 2^64, nor 0x and hexadecimal digits";
    return false;
  }
  bytes->clear();
  for (int shift = 56; shift >= 0; shift -= 8)
    bytes->push_back(static_cast<char>((number >> shift) & 0xFF));
  return true;
}

bool DecodeEscape(std::string_view text, std::string* bytes, std::string* error) {
  bytes->clear();
  bytes->reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      bytes->push_back(text[i]);
      continue;
    }
    ++i;
    const char kind = i < text.size() ? text[i] : '\0';
    const std::optional<char> byte = kind == 'x' ? HexByte(text, i + 1) : std::nullopt;
    if (kind == '\\') {
      bytes->push_back('\\');
    } else if (kind == 'n') {
      bytes->push_back('\n');
    } else if (kind == 't') {
      bytes->push_back('\t');
    } else if (kind == 'r') {
      bytes->push_back('\r');
    } else if (byte) {
      bytes->push_back(*byte);
      i += 2;
    } else {
      *error = "a backslash is not followed by \\, n, t, r or x and two hexadecimal digits";
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<ByteFormat> ByteFormatByName(std::string_view name) {
  for (const auto& [known, format] : kNames) {
    if (known == name) return format;
  }
  return std::nullopt;
}

std::string_view NameOf(ByteFormat format) {
  for (const auto& [name, known] : kNames) {
    if (known == format) return name;
  }
  return {};
}

std::string EncodeBytes(ByteFormat format, std::string_view bytes) {
  switch (format) {
    case ByteFormat::kEscape: return EncodeEscape(bytes);
    case ByteFormat::kUtf8: return EncodeUtf8(bytes, {});
    case ByteFormat::kText: return EncodeUtf8(bytes, "\n\t");
    case ByteFormat::kHex: return EncodeHex(bytes);
    case ByteFormat::kU64be: return EncodeU64be(bytes);
    case ByteFormat::kRaw: return std::string(bytes);
  }
  return {};
}

bool DecodeBytes(ByteFormat format, std::string_view text, std::string* bytes, std::string* error) {
  switch (format) {
    case ByteFormat::kEscape:
    case ByteFormat::kUtf8:
    case ByteFormat::kText: return DecodeEscape(text, bytes, error);
    case ByteFormat::kHex: return DecodeHex(text, bytes, error);
    case ByteFormat::kU64be: return DecodeU64be(text, bytes, error);
    case ByteFormat::kRaw: bytes->assign(text); return true;
  }
  return false;
}

std::string SafeMessage(std::string_view message) { return EncodeUtf8(message, "\n\\"); }

}  // namespace ashlar::cli
