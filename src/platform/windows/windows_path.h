// Paths at the seam: UTF-8 with '/' or '\' on our side, UTF-16 with '\' on the system's. For this
// folder only.
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

// InvalidArgument for a path that is empty or not allowed (I1) or not UTF-8; the message says why.
Result<std::wstring> ToSystemPath(const std::string& path);

// For names and messages from the system. Invalid UTF-16 becomes U+FFFD.
std::string ToUtf8(const wchar_t* text, size_t length);
inline std::string ToUtf8(std::wstring_view text) { return ToUtf8(text.data(), text.size()); }
Result<std::wstring> ToUtf16(const std::string& text);

// Whether the system keeps this name of one component, with or without an extension, for a device.
bool IsDeviceName(std::string_view component);

}  // namespace ashlar
