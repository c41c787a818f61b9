#include "base/format.h"

#include <array>
#include <cmath>
#include <limits>
#include <system_error>

namespace ashlar {
namespace {

constexpr size_t kNameBytesMax = 64;  // of a name in a message
constexpr char kHexDigits[] = "0123456789abcdef";

bool IsPrintable(char c) { return c >= ' ' && c <= '~'; }

template <typename T>
bool ParseWhole(std::string_view text, T* result) {
  T value;
  const char* const end = text.data() + text.size();
  const std::from_chars_result parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end) return false;
  *result = value;
  return true;
}

}  // namespace

std::string FixedDecimal(double value, int digits) {
  // The largest double has 309 digits before the point.
  char buffer[336];
  const std::to_chars_result end =
      std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::fixed, digits);
  return std::string(buffer, end.ptr);
}

std::string HumanBytes(uint64_t bytes) {
  constexpr std::array<std::string_view, 7> kUnits = {"B",   "KiB", "MiB", "GiB",
                                                      "TiB", "PiB", "EiB"};
  if (bytes < 1024) return StrCat(bytes, " B");
  size_t unit = 0;
  auto value = static_cast<double>(bytes);
  // 1023.95 and more would be shown as 1024.0.
  while (value >= 1023.95 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return StrCat(FixedDecimal(value, 1), " ", kUnits[unit]);
}

std::string EscapeForDisplay(const Slice& bytes) {
  std::string result;
  result.reserve(bytes.size());
  for (const char c : bytes) {
    if (c == '\\') {
      result += "\\\\";
    } else if (IsPrintable(c)) {
      result += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      result += "\\x";
      result += kHexDigits[byte >> 4];
      result += kHexDigits[byte & 0xf];
    }
  }
  return result;
}

std::string NameForDisplay(const Slice& name) {
  if (name.size() <= kNameBytesMax) return EscapeForDisplay(name);
  return StrCat(EscapeForDisplay(Slice(name.data(), kNameBytesMax)), "... (", name.size(),
                " bytes)");
}

bool ParseUint64(std::string_view text, uint64_t* result) { return ParseWhole(text, result); }

bool ParseDouble(std::string_view text, double* result) {
  double value;
  if (!ParseWhole(text, &value) || !std::isfinite(value)) return false;
  *result = value;
  return true;
}

bool ParseBytes(std::string_view text, uint64_t* result) {
  constexpr std::string_view kUnits = "kmgt";
  if (text.empty()) return false;
  uint32_t shift = 0;
  const char last = text.back() >= 'A' && text.back() <= 'Z'
                        ? static_cast<char>(text.back() - 'A' + 'a')
                        : text.back();
  if (const size_t unit = kUnits.find(last); unit != std::string_view::npos) {
    shift = 10 * (static_cast<uint32_t>(unit) + 1);
    text.remove_suffix(1);
  }
  uint64_t value;
  if (!ParseUint64(text, &value) || value > std::numeric_limits<uint64_t>::max() >> shift)
    return false;
  *result = value << shift;
  return true;
}

}  // namespace ashlar
