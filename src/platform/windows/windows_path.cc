#include "platform/windows/windows_path.h"

#include <algorithm>
#include <limits>

#include "base/format.h"
#include "platform/windows/windows_error.h"
#include "platform/windows/windows_headers.h"

namespace ashlar {
namespace {

constexpr std::string_view kSeparators = "/\\";
constexpr std::wstring_view kLongPrefix = L"\\\\?\\";
constexpr std::wstring_view kLongShare = L"UNC\\";
// Directories must leave room for a name of 8.3 characters below MAX_PATH.
constexpr size_t kPlainPathMax = MAX_PATH - 12;

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  const auto upper = [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return upper(x) == upper(y); });
}

// Returns an empty string if the component may be part of a path.
std::string ReasonAgainst(std::string_view component) {
  if (component.empty() || component == "." || component == "..") return {};
  for (const char c : component) {
    if (static_cast<unsigned char>(c) < 0x20 ||
        std::string_view("<>\"|?*").find(c) != std::string_view::npos) {
      return "a name contains a character that Windows does not allow";
    }
    if (c == ':') return "a name contains a colon, which would name a stream of the file";
  }
  if (component.back() == '.' || component.back() == ' ')
    return "a name ends in a dot or a blank, which Windows would cut off";
  if (IsDeviceName(component)) return StrCat(component, " is the name of a device");
  return {};
}

std::string_view TakeComponent(std::string_view* path) {
  const std::string_view component = path->substr(0, path->find('\\'));
  path->remove_prefix(std::min(path->size(), component.size() + 1));
  return component;
}

bool IsVolumeName(std::string_view component) {
  return EqualsIgnoringCase(component.substr(0, 7), "Volume{") && component.ends_with('}');
}

// Returns an empty view if `share`, "server\\share\\...", names a share of files.
std::string_view ReasonAgainstShare(std::string_view share) {
  const std::string_view server = TakeComponent(&share);
  const std::string_view name = TakeComponent(&share);
  for (const std::string_view component : {server, name}) {
    if (component.empty() || component == "." || component == "..") return "names no share";
  }
  for (const std::string_view device : {"pipe", "mailslot", "IPC$"}) {
    if (EqualsIgnoringCase(name, device)) return "names a device";
  }
  return {};
}

bool StartsWithDrive(std::string_view path) {
  const char letter = path.empty() ? '\0' : static_cast<char>(path[0] | 0x20);
  return path.size() >= 2 && path[1] == ':' && letter >= 'a' && letter <= 'z';
}

std::wstring MakeAbsolute(const std::wstring& path) {
  const DWORD room = GetFullPathNameW(path.c_str(), 0, nullptr, nullptr);
  std::wstring absolute(room, L'\0');
  const DWORD length = GetFullPathNameW(path.c_str(), room, absolute.data(), nullptr);
  absolute.resize(length < room ? length : 0);
  return absolute;
}

std::wstring AddLongPrefix(const std::wstring& absolute) {
  if (!absolute.starts_with(L"\\\\")) return std::wstring(kLongPrefix) + absolute;
  return std::wstring(kLongPrefix) + std::wstring(kLongShare) + absolute.substr(2);
}

}  // namespace

bool IsDeviceName(std::string_view component) {
  // Text after the first dot or colon, and blanks before it, do not change the device name.
  std::string_view stem = component.substr(0, component.find_first_of(".:"));
  while (!stem.empty() && stem.back() == ' ') stem.remove_suffix(1);
  for (const std::string_view name : {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"}) {
    if (EqualsIgnoringCase(stem, name)) return true;
  }
  if (stem.size() < 4 || (!EqualsIgnoringCase(stem.substr(0, 3), "COM") &&
                          !EqualsIgnoringCase(stem.substr(0, 3), "LPT")))
    return false;
  const std::string_view digit = stem.substr(3);
  // The superscripts 1, 2 and 3 of Latin-1 count as digits here.
  return (digit.size() == 1 && digit[0] >= '1' && digit[0] <= '9') || digit == "\xc2\xb9" ||
         digit == "\xc2\xb2" || digit == "\xc2\xb3";
}

std::string ToUtf8(const wchar_t* text, size_t length) {
  if (length == 0 || length > static_cast<size_t>(std::numeric_limits<int>::max())) return {};
  const int count = static_cast<int>(length);
  const int bytes = WideCharToMultiByte(CP_UTF8, 0, text, count, nullptr, 0, nullptr, nullptr);
  std::string result(static_cast<size_t>(bytes), '\0');
  WideCharToMultiByte(CP_UTF8, 0, text, count, result.data(), bytes, nullptr, nullptr);
  return result;
}

Result<std::wstring> ToUtf16(const std::string& text) {
  if (text.empty()) return std::wstring();
  if (text.size() > static_cast<size_t>(std::numeric_limits<int>::max()))
    return Status::InvalidArgument("a text of more than 2 GiB");
  const int bytes = static_cast<int>(text.size());
  const int count =
      MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text.data(), bytes, nullptr, 0);
  if (count == 0) return Status::InvalidArgument(text, "is not UTF-8");
  std::wstring result(static_cast<size_t>(count), L'\0');
  MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text.data(), bytes, result.data(), count);
  return result;
}

Result<std::wstring> ToSystemPath(const std::string& path) {
  if (path.empty()) return Status::InvalidArgument("empty path");
  if (path.find('\0') != std::string::npos)
    return Status::InvalidArgument(path.c_str(), "the path contains a zero byte");

  std::string plain = path;
  std::replace(plain.begin(), plain.end(), '/', '\\');
  // A caller's prefix is removed. The rest is an ordinary path, except a volume's name, which
  // exists only with the prefix. Everything else after the prefix is a device.
  std::string_view rest = plain;
  bool keeps_prefix = false;
  if (plain.starts_with("\\\\?\\")) {
    rest.remove_prefix(4);
    std::string_view below = rest;
    keeps_prefix = IsVolumeName(TakeComponent(&below));
    if (EqualsIgnoringCase(rest.substr(0, 4), "UNC\\")) {
      plain = "\\\\" + plain.substr(8);
    } else if (StartsWithDrive(rest)) {
      plain = plain.substr(4);
    } else if (!keeps_prefix) {
      return Status::InvalidArgument(path, "names a device");
    }
    if (!keeps_prefix) rest = plain;
  }
  if (!keeps_prefix && plain.starts_with("\\\\")) {
    if (plain.starts_with("\\\\.\\")) return Status::InvalidArgument(path, "names a device");
    const std::string_view reason = ReasonAgainstShare(rest.substr(2));
    if (!reason.empty()) return Status::InvalidArgument(path, reason);
  }
  if (StartsWithDrive(rest)) rest.remove_prefix(2);
  for (size_t begin = 0; begin <= rest.size();) {
    const size_t end = std::min(rest.find_first_of(kSeparators, begin), rest.size());
    const std::string reason = ReasonAgainst(rest.substr(begin, end - begin));
    if (!reason.empty()) return Status::InvalidArgument(path, reason);
    begin = end + 1;
  }

  ASHLAR_ASSIGN_OR_RETURN(const std::wstring wide, ToUtf16(plain));
  if (keeps_prefix) return wide;
  std::wstring absolute = MakeAbsolute(wide);
  if (absolute.empty()) return SystemError("make absolute", path, GetLastError());
  return absolute.size() < kPlainPathMax ? absolute : AddLongPrefix(absolute);
}

}  // namespace ashlar
