#include "config/option_text.h"

#include "base/format.h"

namespace ashlar {
namespace {

constexpr std::string_view kSpaces = " \t\n\r\v\f";
constexpr std::string_view kBlanks = " \t";
// kSpaces except for those with escapes of their own.
constexpr std::string_view kSpacesInALine = " \t\v\f";
bool IsSpaceInALine(char c) { return kSpacesInALine.find(c) != std::string_view::npos; }

std::string_view Trim(std::string_view text, std::string_view spaces) {
  const size_t begin = text.find_first_not_of(spaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(spaces) - begin + 1);
}

// Returns the position after the closing brace that matches the brace text[0], or npos if there is
// none.
size_t EndOfBraces(std::string_view text) {
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '{') ++depth;
    if (text[i] == '}' && --depth == 0) return i + 1;
  }
  return std::string_view::npos;
}

}  // namespace

std::string_view TrimSpaces(std::string_view text) { return Trim(text, kSpaces); }

std::string EscapeOptionText(std::string_view text) {
  std::string out;
  if (!text.empty() && IsSpaceInALine(text.front())) out += '\\';
  for (const char c : text) {
    switch (c) {
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\\':
      case '#': out += {'\\', c}; break;
      default: out += c; break;
    }
  }
  if (!text.empty() && IsSpaceInALine(text.back())) out += '\\';
  return out;
}

std::string UnescapeOptionText(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    if (i + 1 == text.size()) break;
    const char c = text[++i];
    out += c == 'n' ? '\n' : (c == 'r' ? '\r' : c);
  }
  return out;
}

std::string JoinOptionPairs(const OptionPairs& pairs, std::string_view delimiter) {
  std::string out;
  for (const auto& [name, value] : pairs) {
    // A plain value that contains a separator needs braces.
    const bool braces = value.find(';') != std::string::npos && value.front() != '{';
    StrAppend(&out, name, "=", braces ? "{" : "", EscapeOptionText(value), braces ? "}" : "",
              delimiter);
  }
  return out;
}

Result<OptionPairs> ParseOptionPairs(std::string_view text, ValueSpaces spaces) {
  const bool is_text = spaces == ValueSpaces::kText;
  const std::string_view around = is_text ? kBlanks : kSpaces;
  OptionPairs pairs;
  text = TrimSpaces(text);
  // The complete list may itself be in braces.
  if (!text.empty() && text.front() == '{' && EndOfBraces(text) == text.size())
    text = TrimSpaces(text.substr(1, text.size() - 2));
  while (!text.empty()) {
    const size_t equals = text.find('=');
    if (const size_t semicolon = text.find(';');
        equals == std::string_view::npos || semicolon < equals) {
      return Status::InvalidArgument(
          StrCat("option ", TrimSpaces(text.substr(0, semicolon)), ": no '=' and value"));
    }
    const std::string_view name = TrimSpaces(text.substr(0, equals));
    if (name.empty()) {
      return Status::InvalidArgument(StrCat("options: no name before '=' ",
                                            pairs.empty() ? "at the beginning" : "after ",
                                            pairs.empty() ? std::string() : pairs.back().first));
    }
    text = Trim(text.substr(equals + 1), around);
    std::string_view value;
    size_t end;
    if (!text.empty() && text.front() == '{') {
      end = EndOfBraces(text);
      if (end == std::string_view::npos)
        return Status::InvalidArgument(StrCat("option ", name, ": no closing brace"));
      value = text.substr(1, end - 2);
      if (!is_text) value = TrimSpaces(value);
      const size_t next = text.find_first_not_of(kSpaces, end);
      if (next != std::string_view::npos && text[next] != ';')
        return Status::InvalidArgument(StrCat("option ", name, ": text after its closing brace"));
      end = next;
    } else {
      end = text.find(';');
      value = Trim(text.substr(0, end), around);
    }
    pairs.emplace_back(name, value);
    text = end == std::string_view::npos ? std::string_view() : TrimSpaces(text.substr(end + 1));
  }
  return pairs;
}

std::string_view StripComment(std::string_view line) {
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
    } else if (line[i] == '#') {
      return TrimSpaces(line.substr(0, i));
    }
  }
  return TrimSpaces(line);
}

}  // namespace ashlar
