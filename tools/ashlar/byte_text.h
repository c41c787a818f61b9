// Bytes as text and back: how keys and values are shown, and how the command line names them.
//
//   escape  printable ASCII stands for itself; a backslash is \\, and other bytes are \n \t \r or
//           \xNN
//   utf8    as escape, but valid UTF-8 stands for itself, except what a terminal could act on or
//           hide (controls, text direction, zero width)
//   text    as utf8, but newlines and tabs stand for themselves
//   hex     two digits a byte
//   u64be   the decimal number whose big-endian form the 8 bytes are; anything of another length is
//           0x and hex digits
//   raw     the bytes as they are
//
// I1. Decode(f, Encode(f, bytes)) is bytes for every format and all bytes.
// I2. Apart from raw, encoded text is valid UTF-8 that contains no control character; of text, none
//     but newline and tab.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ashlar::cli {

enum class ByteFormat : uint8_t { kEscape, kUtf8, kText, kHex, kU64be, kRaw };

// A format by the name above.
std::optional<ByteFormat> ByteFormatByName(std::string_view name);
std::string_view NameOf(ByteFormat format);

std::string EncodeBytes(ByteFormat format, std::string_view bytes);

// False, with a message in *error, if `text` is not in the format. The error does not repeat the
// text.
[[nodiscard]] bool DecodeBytes(ByteFormat format, std::string_view text, std::string* bytes,
                               std::string* error);

// A message made safe for a terminal: like utf8, but a backslash stays alone and newlines stay.
std::string SafeMessage(std::string_view message);

}  // namespace ashlar::cli
