// Converts paths: UTF-8 with '/' or '\' in Ashlar, UTF-16 with '\' in the system. For this folder
// only.
//
//   "db/000012.sst"          ->  C:\work\db\000012.sst            absolute: its length is known
//   "C:/a/…248 characters…"  ->  \\?\C:\a\…                       the prefix, for long paths only,
//                                                                 disables the path processing
//   "//server/share/…long…"  ->  \\?\UNC\server\share\…
//
// I1: names that the system would not read as a file's name are refused before a system call:
//     device names (NUL, COM1.txt, …), streams ("name:stream"), wildcards, control characters,
//     names that end in a blank or a dot, which the system would cut off, device paths (\\.\, and
//     \\?\ in front of anything but a drive, a share or a volume), and pipes of a server.
//
// Thread safety: any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ashlar {

// Returns InvalidArgument, with the reason, if a path is empty, not UTF-8, or not allowed (I1).
Result<std::wstring> ToSystemPath(const std::string& path);

// For names and messages from the system. Invalid UTF-16 becomes U+FFFD.
std::string ToUtf8(const wchar_t* text, size_t length);
inline std::string ToUtf8(std::wstring_view text) { return ToUtf8(text.data(), text.size()); }
Result<std::wstring> ToUtf16(const std::string& text);

// Returns true if this component, with or without an extension, is a reserved device name.
bool IsDeviceName(std::string_view component);

}  // namespace ashlar
