// The two layers of text around an option's value.
//
//   lists    a=1;b={c=2;d={e=3}};        one pair of braces around a value is removed; its contents
//                                        are a list again, or text
//   escapes  \n \r \\ \#                 in the values of an OPTIONS file, where '#' begins a
//                                        comment
//
// RocksDB also writes \: for ':'. A backslash before any other character, or at the end, is
// removed. Readers drop the blanks around a value, so a leading blank is written as "\ ", and a
// trailing one as " \".
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

// How spaces around a value are treated. kText: for values that are text. It keeps the spaces in
// their braces, and line ends, which an OPTIONS file has only as escapes.
enum class ValueSpaces : uint8_t { kDropped, kText };

// Splits "a=1;b={c=2}" into names and values, in order. InvalidArgument says what is wrong, and in
// or after which option.
Result<OptionPairs> ParseOptionPairs(std::string_view text,
                                     ValueSpaces spaces = ValueSpaces::kDropped);

// Returns escaped "name=value" pairs, each followed by the delimiter. With the delimiter ";",
// ParseOptionPairs returns the same pairs.
std::string JoinOptionPairs(const OptionPairs& pairs, std::string_view delimiter);

// Removes the comment (from an unescaped '#') and the outer spaces from a line of an OPTIONS file.
std::string_view StripComment(std::string_view line);

}  // namespace ashlar
