// Text for people and from people: joining, numbers, sizes, keys and names shown safely.
//
// I1. The result of EscapeForDisplay is printable ASCII and determines the bytes.
// I2. The Parse functions accept the whole text or nothing, in every locale. *result is unchanged
//     when they return false.
// Thread safety: pure functions.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ashlar/slice.h"

namespace ashlar {

inline void AppendPart(std::string* out, std::string_view text) { out->append(text); }
inline void AppendPart(std::string* out, const std::string& text) { out->append(text); }
inline void AppendPart(std::string* out, const char* text) { out->append(text); }
inline void AppendPart(std::string* out, char c) { out->push_back(c); }
inline void AppendPart(std::string* out, bool value) { out->append(value ? "true" : "false"); }
template <std::integral T>
void AppendPart(std::string* out, T value) {
  char buffer[24];
  const std::to_chars_result end = std::to_chars(buffer, buffer + sizeof(buffer), value);
  out->append(buffer, static_cast<size_t>(end.ptr - buffer));
}
// The shortest text that reads back as the same number.
template <std::floating_point T>
void AppendPart(std::string* out, T value) {
  char buffer[64];
  const std::to_chars_result end = std::to_chars(buffer, buffer + sizeof(buffer), value);
  out->append(buffer, static_cast<size_t>(end.ptr - buffer));
}

template <typename... Parts>
void StrAppend([[maybe_unused]] std::string* out, const Parts&... parts) {
  (AppendPart(out, parts), ...);
}
// Texts, characters and numbers, one after another.
template <typename... Parts>
[[nodiscard]] std::string StrCat(const Parts&... parts) {
  std::string out;
  StrAppend(&out, parts...);
  return out;
}

// With a fixed number of digits after the point, 0 to 15.
std::string FixedDecimal(double value, int digits);
// "17 B", "1.5 KiB", "64.0 MiB": one digit after the point, powers of 1024.
std::string HumanBytes(uint64_t bytes);

// Printable ASCII as it is; backslash as \\; every other byte as \xNN, two lower-case digits.
std::string EscapeForDisplay(const Slice& bytes);
// The same for a name from a user, which may be very long: its first 64 bytes, then its length if
// it is longer.
std::string NameForDisplay(const Slice& name);

// Decimal digits only.
[[nodiscard]] bool ParseUint64(std::string_view text, uint64_t* result);
// A finite decimal number, with or without an exponent.
[[nodiscard]] bool ParseDouble(std::string_view text, double* result);
// Digits, then nothing or one of k m g t (either case): powers of 1024.
[[nodiscard]] bool ParseBytes(std::string_view text, uint64_t* result);

}  // namespace ashlar
