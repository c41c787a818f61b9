// POSIX-only tests of platform/file.h: modes, links, pipes, other processes, blocks.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/format.h"
#include "platform/file.h"

namespace ashlar {
namespace {

class PosixFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = StrCat(testing::TempDir(), "ashlar_posix_XXXXXX");
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override {
    const Result<std::vector<std::string>> names = ListDirectory(root_);
    ASSERT_TRUE(names.ok());
    for (const std::string& name : *names)
      ASSERT_TRUE(RemoveFile(Path(name)).ok() || RemoveDirectory(Path(name)).ok());
    ASSERT_TRUE(RemoveDirectory(root_).ok());
  }
  std::string Path(const std::string& name) const { return StrCat(root_, "/", name); }
  mode_t ModeOf(const std::string& path) const {
    struct stat info;
    EXPECT_EQ(stat(path.c_str(), &info), 0);
    return info.st_mode & 07777;
  }

  std::string root_;
};

// Runs the body in a forked child and returns its exit status.
template <typename Body>
int InChild(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Otherwise a program without standard streams, such as a daemon, would print into the next file.
TEST_F(PosixFileTest, PrintsToClosedStreamsDoNotReachAFile) {
  const int status = InChild([this] {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(stream);
    if (open("/dev/null", O_RDONLY) != STDIN_FILENO) return 1;
    const Result<OsFile> file = OsFile::Open(Path("f"), {.mode = OpenMode::kCreateTruncate});
    if (!file.ok()) return 2;
    return write(STDOUT_FILENO, "printed", 7) == -1 ? 0 : 3;
  });
  EXPECT_EQ(status, 0);
}

TEST_F(PosixFileTest, NewFilesAndDirectoriesArePrivate) {
  const mode_t before = umask(0);
  EXPECT_TRUE(OsFile::Open(Path("f"), {.mode = OpenMode::kCreateTruncate}).ok());
  EXPECT_TRUE(OsFileLock::Acquire(Path("LOCK")).ok());
  EXPECT_TRUE(MakeDirectory(Path("d")).ok());
  umask(before);
  EXPECT_EQ(ModeOf(Path("f")), 0600u);
  EXPECT_EQ(ModeOf(Path("LOCK")), 0600u);
  EXPECT_EQ(ModeOf(Path("d")), 0700u);
}

TEST_F(PosixFileTest, WritingAndLockingDoNotFollowASymbolicLink) {
  {
    EXPECT_TRUE(OsFile::Open(Path("victim"), {.mode = OpenMode::kCreateTruncate}).ok());
  }
  ASSERT_EQ(symlink(Path("victim").c_str(), Path("link").c_str()), 0);
  for (const OpenMode mode : {OpenMode::kCreateTruncate, OpenMode::kCreateExclusive,
                              OpenMode::kOpenOrCreate, OpenMode::kReadNoFollow}) {
    const Status status = OsFile::Open(Path("link"), {.mode = mode}).status();
    EXPECT_TRUE(status.IsIOError()) << status.ToString();
  }
  EXPECT_TRUE(OsFileLock::Acquire(Path("link")).status().IsIOError());
  EXPECT_TRUE(OsFile::Open(Path("link"), {.mode = OpenMode::kRead}).ok());
}

// A table may be a link, as in a copy of a database by `cp -s`. Its deletion at a limited rate must
// not truncate the table of the original.
TEST_F(PosixFileTest, TruncationCutsNoFileBehindASymbolicLink) {
  ASSERT_TRUE(OsFile::Open(Path("victim"), {.mode = OpenMode::kCreateTruncate})
                  ->WriteAt(0, "all of it")
                  .ok());
  ASSERT_EQ(symlink(Path("victim").c_str(), Path("link").c_str()), 0);
  const Status status = TruncatePath(Path("link"), 3);
  EXPECT_TRUE(status.IsIOError()) << status.ToString();
  EXPECT_EQ(GetFileInfo(Path("victim"))->bytes, 9u);
  ASSERT_TRUE(TruncatePath(Path("victim"), 3).ok());
  EXPECT_EQ(GetFileInfo(Path("victim"))->bytes, 3u);
}

TEST_F(PosixFileTest, APipeIsRefusedInsteadOfBlocking) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_TRUE(OsFile::Open(Path("pipe"), {}).status().IsIOError());
  EXPECT_TRUE(OsFile::Open(Path("pipe"), {.mode = OpenMode::kCreateTruncate}).status().IsIOError());
  EXPECT_TRUE(OsFile::Open(Path("pipe"), {.mode = OpenMode::kOpenOrCreate}).status().IsIOError());
  EXPECT_TRUE(OsFileLock::Acquire(Path("pipe")).status().IsIOError());
  EXPECT_FALSE(TruncatePath(Path("pipe"), 0).ok());
}

TEST_F(PosixFileTest, ALockIsSeenThroughALinkedDirectory) {
  ASSERT_TRUE(MakeDirectory(Path("real")).ok());
  ASSERT_EQ(symlink(Path("real").c_str(), Path("alias").c_str()), 0);
  {
    Result<std::unique_ptr<OsFileLock>> lock = OsFileLock::Acquire(Path("real/LOCK"));
    ASSERT_TRUE(lock.ok());
    EXPECT_FALSE(OsFileLock::Acquire(Path("alias/LOCK")).ok());
    // The refusal must not drop the record lock of this process.
    EXPECT_EQ(InChild([&] { return OsFileLock::Acquire(Path("real/LOCK")).ok() ? 1 : 0; }), 0);
  }
  ASSERT_TRUE(RemoveFile(Path("real/LOCK")).ok());
}

TEST_F(PosixFileTest, AnotherProcessIsRefusedAndToldWhoHoldsTheLock) {
  Result<std::unique_ptr<OsFileLock>> lock = OsFileLock::Acquire(Path("LOCK"));
  ASSERT_TRUE(lock.ok());
  const std::string holder = StrCat("held by process ", getpid());
  EXPECT_EQ(InChild([&] {
              const Status status = OsFileLock::Acquire(Path("LOCK")).status();
              return !status.ok() && status.ToString().find(holder) != std::string::npos ? 0 : 1;
            }),
            0);
  // The child's attempt and its exit leave the lock with this process.
  EXPECT_EQ(InChild([&] { return OsFileLock::Acquire(Path("LOCK")).ok() ? 1 : 0; }), 0);
}

TEST_F(PosixFileTest, AForkedChildDoesNotGiveUpItsParentsLock) {
  Result<std::unique_ptr<OsFileLock>> lock = OsFileLock::Acquire(Path("LOCK"));
  ASSERT_TRUE(lock.ok());
  InChild([&] {
    *lock = nullptr;
    return 0;
  });
  EXPECT_EQ(InChild([&] { return OsFileLock::Acquire(Path("LOCK")).ok() ? 1 : 0; }), 0);
}

// A program that copies the folder of its open database closes LOCK, which must not drop the lock.
// RocksDB in the same process must be refused, and it closes LOCK when it is.
TEST_F(PosixFileTest, AnotherDescriptorOfTheSameProcessNeitherTakesNorDropsTheLock) {
  const int fd = open(Path("LOCK").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_NE(fd, -1);
  Result<std::unique_ptr<OsFileLock>> lock = OsFileLock::Acquire(Path("LOCK"));
  ASSERT_TRUE(lock.ok());
#if defined(F_OFD_SETLK)
  struct flock all = {};
  all.l_type = F_WRLCK;
  all.l_whence = SEEK_SET;
  EXPECT_EQ(fcntl(fd, F_SETLK, &all), -1);
  close(fd);
  EXPECT_EQ(InChild([&] { return OsFileLock::Acquire(Path("LOCK")).ok() ? 1 : 0; }), 0);
  *lock = nullptr;
  EXPECT_EQ(InChild([&] { return OsFileLock::Acquire(Path("LOCK")).ok() ? 0 : 1; }), 0);
#else
  close(fd);
  GTEST_SKIP() << "no locks of open files";
#endif
}

TEST_F(PosixFileTest, ARecordLockOfAnotherProcessIsRespected) {
  int ready[2];
  int done[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(done), 0);
  const pid_t holder = fork();
  if (holder == 0) {
    close(done[1]);
    const int fd = open(Path("LOCK").c_str(), O_RDWR | O_CREAT, 0600);
    struct flock all = {};
    all.l_type = F_WRLCK;
    all.l_whence = SEEK_SET;
    char c = fcntl(fd, F_SETLK, &all) == 0 ? 'y' : 'n';
    const bool told = write(ready[1], &c, 1) == 1;
    _exit(told && read(done[0], &c, 1) == 0 ? 0 : 1);
  }
  char c = 'n';
  ASSERT_EQ(read(ready[0], &c, 1), 1);
  EXPECT_EQ(c, 'y');
  const Status status = OsFileLock::Acquire(Path("LOCK")).status();
  EXPECT_NE(status.ToString().find(StrCat("held by process ", holder)), std::string::npos)
      << status.ToString();
  for (const int fd : {ready[0], ready[1], done[0], done[1]}) close(fd);
  int exit_status = 0;
  EXPECT_EQ(waitpid(holder, &exit_status, 0), holder);
  EXPECT_TRUE(OsFileLock::Acquire(Path("LOCK")).ok());
}

// The child is, for example, a worker of a server that has died.
TEST_F(PosixFileTest, AForkedChildThatLivesOnDoesNotKeepADeadHoldersLock) {
  int ready[2];
  int done[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(done), 0);
  EXPECT_EQ(InChild([&] {
              static Result<std::unique_ptr<OsFileLock>>& lock =
                  *new Result<std::unique_ptr<OsFileLock>>(OsFileLock::Acquire(Path("LOCK")));
              const pid_t worker = fork();
              if (worker == 0) {
                close(done[1]);
                char c = 'y';
                const bool told = write(ready[1], &c, 1) == 1;
                _exit(told && read(done[0], &c, 1) == 0 ? 0 : 1);
              }
              return lock.ok() && worker > 0 ? 0 : 1;
            }),
            0);
  char c = 'n';
  ASSERT_EQ(read(ready[0], &c, 1), 1);
  EXPECT_TRUE(OsFileLock::Acquire(Path("LOCK")).ok());
  for (const int fd : {ready[0], ready[1], done[0], done[1]}) close(fd);
}

TEST_F(PosixFileTest, ADeadHoldersLockIsFree) {
  EXPECT_EQ(InChild([&] {
              static Result<std::unique_ptr<OsFileLock>>& lock =
                  *new Result<std::unique_ptr<OsFileLock>>(OsFileLock::Acquire(Path("LOCK")));
              return lock.ok() ? 0 : 1;
            }),
            0);
  EXPECT_TRUE(OsFileLock::Acquire(Path("LOCK")).ok());
}

TEST_F(PosixFileTest, HandlesAreNotInherited) {
  Result<OsFile> file = OsFile::Open(Path("f"), {.mode = OpenMode::kCreateTruncate});
  ASSERT_TRUE(file.ok());
  Result<OsDirectory> directory = OsDirectory::Open(root_);
  ASSERT_TRUE(directory.ok());
  Result<std::unique_ptr<OsFileLock>> lock = OsFileLock::Acquire(Path("LOCK"));
  ASSERT_TRUE(lock.ok());
  const Result<std::vector<std::string>> descriptors = ListDirectory("/proc/self/fd");
  ASSERT_TRUE(descriptors.ok());
  int ours = 0;
  for (const std::string& name : *descriptors) {
    char target[4096];
    const ssize_t n = readlink(StrCat("/proc/self/fd/", name).c_str(), target, sizeof(target));
    if (n < 0 || std::string(target, static_cast<size_t>(n)).find(root_) == std::string::npos)
      continue;
    ours++;
    EXPECT_NE(fcntl(atoi(name.c_str()), F_GETFD) & FD_CLOEXEC, 0);
  }
  EXPECT_EQ(ours, 3);
}

TEST_F(PosixFileTest, AFileSystemWithoutSyncsOfDirectoriesIsNotSupported) {
  Result<OsDirectory> directory = OsDirectory::Open("/proc");
  ASSERT_TRUE(directory.ok()) << directory.status().ToString();
  const Status status = directory->Sync();
  EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
  EXPECT_NE(status.ToString().find("/proc"), std::string::npos) << status.ToString();
}

TEST_F(PosixFileTest, ReservedSpaceIsGivenBackByTruncation) {
  Result<OsFile> file = OsFile::Open(Path("f"), {.mode = OpenMode::kCreateTruncate});
  ASSERT_TRUE(file.ok());
  const Status reserved = file->Reserve(0, 1 << 20);
  if (reserved.IsNotSupported()) GTEST_SKIP() << reserved.ToString();
  ASSERT_TRUE(reserved.ok());
  struct stat info;
  ASSERT_EQ(stat(Path("f").c_str(), &info), 0);
  EXPECT_EQ(info.st_size, 0);
  EXPECT_GE(info.st_blocks * 512, 1 << 20);
  ASSERT_TRUE(file->WriteAt(0, "abc").ok());
  ASSERT_TRUE(file->Truncate(3).ok());
  ASSERT_EQ(stat(Path("f").c_str(), &info), 0);
  EXPECT_EQ(info.st_size, 3);
  EXPECT_LE(info.st_blocks * 512, 1 << 16);
  ASSERT_TRUE(file->Close().ok());
}

TEST_F(PosixFileTest, AShortWriteGoesOnUntilTheErrorThatStopsIt) {
  EXPECT_EQ(InChild([&] {
              signal(SIGXFSZ, SIG_IGN);
              const rlimit limit{10000, 10000};
              if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
              Result<OsFile> file = OsFile::Open(Path("f"), {.mode = OpenMode::kCreateTruncate});
              if (!file.ok()) return 3;
              const Status status = file->WriteAt(0, std::string(20000, 'x'));
              if (!status.IsIOError() || status.ToString().find("at 10000") == std::string::npos)
                return 4;
              return file->Info()->bytes == 10000 ? 0 : 5;
            }),
            0);
}

}  // namespace
}  // namespace ashlar
