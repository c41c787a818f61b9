// Bytes as text and back: how keys and values are shown, and how the command line names them.
//
//   escape  printable ASCII stands for itself; a backslash is \\, and other bytes are \n \t \r or
//           \xNN
//   utf8    as escape, but valid UTF-8 stands for itself, except for characters that a terminal
//           could interpret or hide (controls, text direction, zero width)
//   text    as utf8, but newlines and tabs stand for themselves
//   hex     two digits per byte
//   u64be   8 bytes as the decimal number of which they are the big-endian form; bytes of another
//           length as 0x and hex digits
//   raw     the bytes as they are
//
// I1. Decode(f, Encode(f, bytes)) is bytes for every format and all bytes.
// I2. Apart from raw, encoded text is valid UTF-8 without control characters. Only the format text
//     has newlines and tabs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ashlar::cli {

enum class ByteFormat : uint8_t { kEscape, kUtf8, kText, kHex, kU64be, kRaw };

// Returns the format with one of the names above.
std::optional<ByteFormat> ByteFormatByName(std::string_view name);
std::string_view NameOf(ByteFormat format);

std::string EncodeBytes(ByteFormat format, std::string_view bytes);

// Returns false, with a message in *error, if `text` is not in the format. The message does not
// repeat the text.
[[nodiscard]] bool DecodeBytes(ByteFormat format, std::string_view text, std::string* bytes,
                               std::string* error);

// Makes a message safe for a terminal, like utf8, but keeps backslashes and newlines.
std::string SafeMessage(std::string_view message);

}  // namespace ashlar::cli
