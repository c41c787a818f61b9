// The two layers of text around an option's value.
//
//   lists    a=1;b={c=2;d={e=3}};        one pair of braces around a value is removed; its contents
//                                        are a list again, or text
//   escapes  \n \r \\ \#                 in the values of an OPTIONS file, where '#' begins a
//                                        comment
//
// RocksDB writes \: for ':' too. A backslash before any other character, or at the end, is removed.
// So a blank that begins a text is written as "\ ", and one that ends it as " \": readers drop the
// blanks around a value.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace ashlar {

using OptionPairs = std::vector<std::pair<std::string, std::string>>;

std::string_view TrimSpaces(std::string_view text);

std::string EscapeOptionText(std::string_view text);
std::string UnescapeOptionText(std::string_view text);

// The spaces around a value. kText: of a value that is text, those in its braces belong to it, and
// so do line ends, which an OPTIONS file has as escapes only.
enum class ValueSpaces : uint8_t { kDropped, kText };

// Cuts "a=1;b={c=2}" into names and values, in their order. InvalidArgument names the error and the
// option before it.
Result<OptionPairs> ParseOptionPairs(std::string_view text,
                                     ValueSpaces spaces = ValueSpaces::kDropped);

// Escaped "name=value" pairs, each followed by the delimiter. With ";" ParseOptionPairs gets the
// same pairs back.
std::string JoinOptionPairs(const OptionPairs& pairs, std::string_view delimiter);

// Takes a comment (from an unescaped '#') and the spaces around off a line of an OPTIONS file.
std::string_view StripComment(std::string_view line);

}  // namespace ashlar
