#include "platform/posix/posix_error.h"

#include <system_error>

#include "base/format.h"

namespace ashlar {

Status SystemError(std::string_view action, const std::string& path, int error) {
  const std::string text = StrCat(action, " ", path);
  switch (error) {
    case ENOENT: return Status::PathNotFound(text, "No such file or directory");
    case ENOSPC:
    case EDQUOT: return Status::NoSpace(text, std::generic_category().message(error));
    case EMFILE:
    case ENFILE:
      return Status::Error(Status::kIOError, Status::kOpenFilesLimit,
                           StrCat(text, ": ", std::generic_category().message(error)));
    case ELOOP: return Status::IOError(text, "is a symbolic link, or too many of them lead here");
    default: return Status::IOError(text, std::generic_category().message(error));
  }
}

Status CheckPath(const std::string& path) {
  if (path.empty()) return Status::InvalidArgument("empty path");
  if (path.find('\0') != std::string::npos)
    return Status::InvalidArgument(path.c_str(), "the path contains a zero byte");
  return Status::OK();
}

}  // namespace ashlar
