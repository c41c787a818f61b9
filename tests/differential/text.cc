#include "tests/differential/text.h"

#include <cstdio>
#include <cstdlib>

namespace ashlar::differential {

namespace {

constexpr size_t kDescribedBytesMax = 48;

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Mixes runs of equal bytes with random bytes, so that codecs can compress the value.
std::string MakeValue(std::string_view recipe) {
  const std::string text(recipe);
  char* end = nullptr;
  const size_t length = std::strtoull(text.c_str(), &end, 10);
  uint64_t state = *end == '.' ? std::strtoull(end + 1, nullptr, 10) : 0;
  std::string value;
  while (value.size() < length) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const size_t run = 1 + (state >> 60);
    value.append(run, static_cast<char>(state >> 33));
  }
  value.resize(length);
  return value;
}

}  // namespace

std::vector<std::string> SplitWords(std::string_view line, char separator) {
  std::vector<std::string> words;
  while (true) {
    const size_t end = line.find(separator);
    words.emplace_back(line.substr(0, end));
    if (end == std::string_view::npos) return words;
    line.remove_prefix(end + 1);
  }
}

std::string Escape(std::string_view bytes) {
  if (bytes.empty()) return "%";
  std::string word;
  for (const char c : bytes) {
    if (c > ' ' && c < 127 && c != '%' && c != '~' && c != '|' && (c != '-' || bytes.size() > 1)) {
      word += c;
    } else {
      char escaped[4];
      std::snprintf(escaped, sizeof(escaped), "%%%02X", static_cast<unsigned char>(c));
      word += escaped;
    }
  }
  return word;
}

std::string Unescape(std::string_view word) {
  if (word == "%") return {};
  if (word.starts_with("~")) return MakeValue(word.substr(1));
  std::string bytes;
  for (size_t i = 0; i < word.size(); i++) {
    const bool escaped = word[i] == '%' && i + 2 < word.size() && HexDigit(word[i + 1]) >= 0 &&
                         HexDigit(word[i + 2]) >= 0;
    if (!escaped) {
      bytes += word[i];
      continue;
    }
    bytes += static_cast<char>(HexDigit(word[i + 1]) * 16 + HexDigit(word[i + 2]));
    i += 2;
  }
  return bytes;
}

std::string Describe(std::string_view bytes) {
  if (bytes.size() <= kDescribedBytesMax) return Escape(bytes);
  ContentsHash hash;
  hash.Add(bytes);
  return "<" + std::to_string(bytes.size()) + "-bytes-" + HexNumber(hash.value()) + ">";
}

void ContentsHash::Add(std::string_view bytes) {
  for (int shift = 0; shift < 64; shift += 8)
    AddByte(static_cast<uint8_t>(uint64_t{bytes.size()} >> shift));
  for (const char c : bytes) AddByte(static_cast<uint8_t>(c));
}

std::string HexNumber(uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(number));
  return text;
}

}  // namespace ashlar::differential
