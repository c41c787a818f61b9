#include "platform/host.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/format.h"
#include "platform/posix/posix_error.h"

namespace ashlar {

std::string HostName() {
  std::array<char, 257> name = {};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

Result<std::string> AbsolutePath(const std::string& path) {
  ASHLAR_RETURN_IF_ERROR(CheckPath(path));
  if (path.starts_with('/')) return path;
  char* const here = ::getcwd(nullptr, 0);
  if (here == nullptr) return SystemError("find the current directory for", path, errno);
  std::string absolute = StrCat(here, "/", path);
  ::free(here);
  return absolute;
}

Result<bool> AreSameFile(const std::string& first, const std::string& second) {
  struct stat infos[2];
  const std::string* const paths[2] = {&first, &second};
  for (int i = 0; i < 2; ++i) {
    ASHLAR_RETURN_IF_ERROR(CheckPath(*paths[i]));
    if (RetryInterrupted([&] { return ::stat(paths[i]->c_str(), &infos[i]); }) != 0)
      return SystemError("inspect", *paths[i], errno);
  }
  return infos[0].st_dev == infos[1].st_dev && infos[0].st_ino == infos[1].st_ino;
}

}  // namespace ashlar
