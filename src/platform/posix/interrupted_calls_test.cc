// Tests calls on paths that a signal interrupts. File systems in user space return EINTR, but
// others hardly ever do. So this file replaces functions of the C library. While interruptions_left
// is not zero, they return EINTR, and otherwise they behave as usual.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/format.h"
#include "platform/file.h"

namespace {

thread_local int interruptions_left = 0;

bool IsInterrupted() {
  if (interruptions_left == 0) return false;
  --interruptions_left;
  errno = EINTR;
  return true;
}

}  // namespace

extern "C" {

int mkdir(const char* path, mode_t mode) noexcept {
  return IsInterrupted() ? -1 : mkdirat(AT_FDCWD, path, mode);
}
int rmdir(const char* path) noexcept {
  return IsInterrupted() ? -1 : unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}
int unlink(const char* path) noexcept { return IsInterrupted() ? -1 : unlinkat(AT_FDCWD, path, 0); }
int rename(const char* from, const char* to) noexcept {
  return IsInterrupted() ? -1 : renameat(AT_FDCWD, from, AT_FDCWD, to);
}
int link(const char* from, const char* to) noexcept {
  return IsInterrupted() ? -1 : linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

}  // extern "C"

namespace ashlar {
namespace {

// Expects that the call succeeds after it is interrupted twice.
template <typename Call>
void ExpectRepeated(const Call& call) {
  interruptions_left = 2;
  const Status status = call();
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(interruptions_left, 0);
  interruptions_left = 0;
}

TEST(InterruptedCalls, AreRepeated) {
  std::string root = StrCat(testing::TempDir(), "ashlar_interrupted_XXXXXX");
  ASSERT_NE(mkdtemp(root.data()), nullptr);
  const std::string folder = root + "/folder";
  const std::string a = folder + "/a";
  const std::string b = folder + "/b";
  const std::string c = folder + "/c";
  ExpectRepeated([&] { return MakeDirectory(folder); });
  ExpectRepeated([&] { return MakeDirectoryIfMissing(folder); });
  ASSERT_TRUE(OsFile::Open(a, {.mode = OpenMode::kCreateTruncate}).ok());
  ExpectRepeated([&] { return HardLink(a, b); });
  ExpectRepeated([&] { return RenamePath(b, c); });
  EXPECT_TRUE(GetFileInfo(b).status().IsPathNotFound());
  ExpectRepeated([&] { return RemoveFile(c); });
  ExpectRepeated([&] { return RemoveFile(a); });
  ExpectRepeated([&] { return RemoveDirectory(folder); });
  ExpectRepeated([&] { return RemoveDirectory(root); });
}

}  // namespace
}  // namespace ashlar
