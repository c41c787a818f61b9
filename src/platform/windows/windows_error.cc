#include "platform/windows/windows_error.h"

#include "base/format.h"
#include "platform/windows/windows_path.h"

namespace ashlar {
namespace {

// From winerror.h, which lacks it in some compilers.
constexpr DWORD kDiskQuotaExceeded = 1295;

std::string MessageOf(DWORD error) {
  wchar_t* text = nullptr;
  const DWORD flags =
      FORMAT_MESSAGE_ALLOCATE_BUFFER | FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS;
  const DWORD length =
      FormatMessageW(flags, nullptr, error, 0, reinterpret_cast<wchar_t*>(&text), 0, nullptr);
  std::string message = length == 0 ? std::string() : ToUtf8(text, length);
  LocalFree(text);
  while (!message.empty() &&
         std::string_view("\r\n. ").find(message.back()) != std::string_view::npos)
    message.pop_back();
  return StrCat(message, message.empty() ? "" : " ", "(error ", error, ")");
}

}  // namespace

Status SystemError(std::string_view action, const std::string& path, DWORD error) {
  const std::string text = StrCat(action, " ", path);
  switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND: return Status::PathNotFound(text, "No such file or directory");
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
    case kDiskQuotaExceeded: return Status::NoSpace(text, MessageOf(error));
    case ERROR_TOO_MANY_OPEN_FILES:
      return Status::Error(Status::kIOError, Status::kOpenFilesLimit,
                           StrCat(text, ": ", MessageOf(error)));
    default: return Status::IOError(text, MessageOf(error));
  }
}

bool IsUnsupported(DWORD error) {
  return error == ERROR_INVALID_FUNCTION || error == ERROR_NOT_SUPPORTED ||
         error == ERROR_INVALID_PARAMETER || error == ERROR_CALL_NOT_IMPLEMENTED;
}

}  // namespace ashlar
