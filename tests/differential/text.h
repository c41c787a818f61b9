// The text in which histories and answers are written: one operation or answer per line, words
// separated by one space.
//
// A key or a value is one word. Bytes other than printable ASCII, and the characters of the
// notation, are "%XX"; the empty string is "%". "~LENGTH.SEED" is a value of LENGTH bytes made from
// SEED, so that lines stay short.
//
// An error in an answer is "error CODE: TEXT$", even if more follows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ashlar::differential {

inline constexpr char kEndOfError = '$';  // occurs in no error text

std::vector<std::string> SplitWords(std::string_view line, char separator = ' ');

std::string Escape(std::string_view bytes);
// Returns the bytes of a word. A malformed escape is taken literally.
std::string Unescape(std::string_view word);

// Returns the escaped bytes, or their length and hash if they are long.
std::string Describe(std::string_view bytes);

// FNV-1a over lengths and bytes: the hash of a database's contents.
class ContentsHash {
 public:
  void Add(std::string_view bytes);
  uint64_t value() const { return value_; }

 private:
  void AddByte(uint8_t byte) { value_ = (value_ ^ byte) * 1099511628211u; }

  uint64_t value_ = 14695981039346656037u;
};

std::string HexNumber(uint64_t number);

}  // namespace ashlar::differential
