// Text for people and from people: joins, formats and parses it, and shows keys and names safely.
//
// I1. The result of EscapeForDisplay is printable ASCII and determines the bytes.
// I2. The Parse functions accept the complete text or nothing, in every locale. *result is
//     unchanged if they return false.
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
// Appends the shortest text that reads back as the same number.
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
// Concatenates texts, characters and numbers.
template <typename... Parts>
[[nodiscard]] std::string StrCat(const Parts&... parts) {
  std::string out;
  StrAppend(&out, parts...);
  return out;
}

// Formats value with a fixed number of digits after the point, 0 to 15.
std::string FixedDecimal(double value, int digits);
// "17 B", "1.5 KiB", "64.0 MiB": one digit after the point, powers of 1024.
std::string HumanBytes(uint64_t bytes);

// Keeps printable ASCII. Writes backslash as \\, every other byte as \xNN with lower-case digits.
std::string EscapeForDisplay(const Slice& bytes);
// Like EscapeForDisplay, for a name from a user, which may be very long. Shows its first 64 bytes,
// followed by its length if it is longer.
std::string NameForDisplay(const Slice& name);

// Accepts decimal digits only.
[[nodiscard]] bool ParseUint64(std::string_view text, uint64_t* result);
// Accepts a finite decimal number, with or without an exponent.
[[nodiscard]] bool ParseDouble(std::string_view text, double* result);
// Accepts digits, then nothing or one of k m g t (either case) for powers of 1024.
[[nodiscard]] bool ParseBytes(std::string_view text, uint64_t* result);

}  // namespace ashlar
