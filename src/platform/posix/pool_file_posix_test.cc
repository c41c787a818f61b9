// Linux-only tests of platform/pool_file.h, about the space and the pages of a pool.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "platform/memory.h"
#include "platform/pool_file.h"
#include "platform/posix/huge_pages.h"

namespace {
// Runs once, before the next lock.
std::function<void()> before_lock;
// So many reservations of space are interrupted next, and all of more than bytes_without_signal.
int signals = 0;
off_t bytes_without_signal = std::numeric_limits<off_t>::max();
}  // namespace

// These replace the functions of the C library.
extern "C" int flock(int fd, int operation) noexcept {
  if (before_lock) std::exchange(before_lock, {})();
  return static_cast<int>(::syscall(SYS_flock, fd, operation));
}
extern "C" int posix_fallocate(int fd, off_t offset, off_t bytes) {
  static auto* const real =
      reinterpret_cast<decltype(&::posix_fallocate)>(dlsym(RTLD_NEXT, "posix_fallocate"));
  if (bytes > bytes_without_signal || signals > 0) {
    signals = std::max(signals - 1, 0);
    return EINTR;
  }
  return real(fd, offset, bytes);
}

namespace ashlar {
namespace {

constexpr int kCollapse = 25;  // MADV_COLLAPSE

// Returns the bytes of the mapping at `data` that are mapped by complete huge pages.
uint64_t HugeBytesAt(const char* data) {
  char begin[32];
  snprintf(begin, sizeof(begin), "%lx-", reinterpret_cast<unsigned long>(data));
  std::ifstream smaps("/proc/self/smaps");
  bool is_inside = false;
  for (std::string line; std::getline(smaps, line);) {
    if (line.starts_with(begin)) is_inside = true;
    if (is_inside && line.starts_with("ShmemPmdMapped:"))
      return std::stoull(line.substr(line.find(':') + 1)) * 1024;
  }
  return 0;
}

// Whether this kernel makes huge pages of a memfd on request and has enough of them now.
bool SystemGivesHugePages(uint64_t bytes) {
  const int fd = ::memfd_create("probe", MFD_CLOEXEC);
  EXPECT_EQ(::ftruncate(fd, static_cast<off_t>(bytes)), 0);
  const uint64_t room_bytes = bytes + kHugePageBytes;
  void* const room = ::mmap(nullptr, room_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const uintptr_t start =
      (reinterpret_cast<uintptr_t>(room) + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  char* const data =
      static_cast<char*>(::mmap(reinterpret_cast<void*>(start), bytes, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_FIXED, fd, 0));
  EXPECT_NE(data, MAP_FAILED);
  bool gives = true;
  for (uint64_t at = 0; gives && at < bytes; at += kHugePageBytes) {
    data[at] = 1;
    gives = ::madvise(data + at, kHugePageBytes, kCollapse) == 0;
  }
  ::munmap(room, room_bytes);
  ::close(fd);
  return gives;
}

// Otherwise a program without standard streams would print over the pool's header.
TEST(PoolFilePosixTest, PrintsToClosedStreamsDoNotReachAPool) {
  const std::string path = std::filesystem::temp_directory_path() /
                           ("ashlar-closed-streams-" + std::to_string(::getpid()));
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(stream);
    if (::open("/dev/null", O_RDONLY) != STDIN_FILENO) ::_exit(5);
    const auto prints = [] { return ::write(STDOUT_FILENO, "printed", 7) != -1; };
    Result<std::unique_ptr<PoolFile>> file =
        PoolFile::Create(path, 4096, /*huge_pages_effort_max=*/0);
    if (!file.ok()) ::_exit(1);
    if (prints()) ::_exit(2);
    (*file).reset();
    file = PoolFile::Open(path);
    ::_exit(!file.ok() ? 3 : prints() ? 4 : 0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  std::filesystem::remove(path);
}

TEST(PoolFilePosixTest, SignalsDoNotEndTheReservationOfItsSpace) {
  signals = 3;
  bytes_without_signal = off_t{20} << 20;
  constexpr uint64_t kBytes = (uint64_t{40} << 20) + 4096;
  const Result<std::unique_ptr<PoolFile>> file =
      PoolFile::CreateAnonymous(kBytes, /*huge_pages_effort_max=*/0);
  bytes_without_signal = std::numeric_limits<off_t>::max();
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_EQ(signals, 0);
  char last = 1;
  EXPECT_TRUE((*file)->ReadAt(kBytes - 1, 1, &last).ok());
  EXPECT_EQ(last, 0);
}

TEST(PoolFilePosixTest, APoolInMemoryIsMappedByHugePagesWhereTheSystemHasThem) {
  constexpr uint64_t kWhole = 2 * kHugePageBytes;
  const bool expected = SystemGivesHugePages(kWhole);
  const std::unique_ptr<PoolFile> file = PoolFile::CreateAnonymous(kWhole + 4096).value();
  EXPECT_EQ(file->bytes(), kWhole + 4096);
  for (int i = 0; i < 2; ++i) {
    const std::unique_ptr<PoolMapping> mapping = file->Map(PoolMapMode::kShared).value();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(mapping->data()) % kHugePageBytes, 0U);
    for (uint64_t at = 0; at < mapping->bytes(); at += 4096) {
      ASSERT_EQ(mapping->data()[at], i) << at;
      mapping->data()[at]++;
    }
    if (expected) {
      EXPECT_EQ(HugeBytesAt(mapping->data()), kWhole);
    }
  }
}

TEST(PoolFilePosixTest, WithoutEffortNoPageIsMadeHuge) {
  const auto huge_bytes = [](double effort_max) {
    const std::unique_ptr<PoolFile> file =
        PoolFile::CreateAnonymous(2 * kHugePageBytes, effort_max).value();
    const std::unique_ptr<PoolMapping> mapping = file->Map(PoolMapMode::kShared).value();
    for (uint64_t at = 0; at < mapping->bytes(); at += 4096) EXPECT_EQ(mapping->data()[at], 0);
    return HugeBytesAt(mapping->data());
  };
  // The system may give a file in memory huge pages without being asked.
  const int fd = ::memfd_create("plain", MFD_CLOEXEC);
  EXPECT_EQ(::ftruncate(fd, 2 * kHugePageBytes), 0);
  char* const plain = static_cast<char*>(
      ::mmap(nullptr, 2 * kHugePageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  ASSERT_NE(plain, MAP_FAILED);
  plain[0] = plain[kHugePageBytes] = 1;
  const uint64_t unasked_bytes = HugeBytesAt(plain);
  ::munmap(plain, 2 * kHugePageBytes);
  ::close(fd);
  EXPECT_LE(huge_bytes(0), unasked_bytes > 0 ? 2 * kHugePageBytes : 0);
  // Such an effort makes at most the page that began before the clock was first read.
  EXPECT_LE(huge_bytes(1e-9), unasked_bytes > 0 ? 2 * kHugePageBytes : kHugePageBytes);
}

TEST(PoolFilePosixTest, AMemfdIsOpenedByItsLink) {
  const int fd = ::memfd_create("kept", MFD_CLOEXEC);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(::ftruncate(fd, 8192), 0);
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  {
    Result<std::unique_ptr<PoolFile>> opened = PoolFile::Open(path);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    const std::unique_ptr<PoolFile> file = std::move(opened).value();
    EXPECT_EQ(file->bytes(), 8192U);
    EXPECT_EQ(file->Backing(), PoolBacking::kSharedMemory);
    EXPECT_EQ(file->RealPath(), path);
    EXPECT_TRUE(PoolFile::Open(path).status().IsIOError());  // in use
    file->Map(PoolMapMode::kShared).value()->data()[100] = 'x';
  }
  char byte = 0;
  EXPECT_EQ(::pread(fd, &byte, 1, 100), 1);
  EXPECT_EQ(byte, 'x');
  ::close(fd);
}

// A locked page in the range must not end the call before the pages after it are discarded.
TEST(PoolFilePosixTest, APrivateMappingForgetsThePagesAroundALockedOne) {
  const uint64_t page_bytes = PageBytes();
  const std::unique_ptr<PoolFile> file = PoolFile::CreateAnonymous(3 * page_bytes).value();
  const std::unique_ptr<PoolMapping> mapping = file->Map(PoolMapMode::kPrivate).value();
  memset(mapping->data(), 'n', 3 * page_bytes);
  char* const locked = mapping->data() + page_bytes;
  // Use the system call, because mlock does nothing under the sanitizers.
  if (::syscall(SYS_mlock, locked, page_bytes) != 0)
    GTEST_SKIP() << "no page can be locked here: " << strerror(errno);
  ASSERT_TRUE(mapping->DiscardPages(0, 3 * page_bytes).ok());
  EXPECT_EQ(mapping->data()[0], '\0');
  EXPECT_EQ(std::string(locked, page_bytes), std::string(page_bytes, 'n'));
  EXPECT_EQ(mapping->data()[2 * page_bytes], '\0');
  ASSERT_EQ(::syscall(SYS_munlock, locked, page_bytes), 0);
  ASSERT_TRUE(mapping->DiscardPages(page_bytes, page_bytes).ok());
  EXPECT_EQ(*locked, '\0');
}

// Another process changes the name between the opening of the file and its locking.
class ReplacedFileTest : public ::testing::Test {
 protected:
  ReplacedFileTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
  ~ReplacedFileTest() override { std::filesystem::remove_all(folder_); }

  void ExpectReplaced(const Status& status) {
    EXPECT_TRUE(status.IsIOError()) << status.ToString();
    EXPECT_NE(status.ToString().find("which replaced it"), std::string::npos) << status.ToString();
    EXPECT_FALSE(before_lock);
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("ashlar-replaced-" + std::to_string(::getpid()));
  const std::string path_ = (folder_ / "pool").string();
  const std::string other_ = (folder_ / "other").string();
};

TEST_F(ReplacedFileTest, IsNotOpened) {
  for (const std::string& path : {path_, other_})
    ASSERT_TRUE(PoolFile::Create(path, 4096, 0).status().ok());
  before_lock = [this] { std::filesystem::rename(other_, path_); };
  ExpectReplaced(PoolFile::Open(path_).status());
  EXPECT_TRUE(PoolFile::Open(path_).status().ok());
}

// Here the other process takes the new file for a creator's leftover and creates its own.
TEST_F(ReplacedFileTest, IsNotTakenForTheOneThatWasCreated) {
  before_lock = [this] {
    std::filesystem::remove(path_);
    std::ofstream(path_) << "of the other process";
  };
  ExpectReplaced(PoolFile::Create(path_, 4096, 0).status());
  EXPECT_EQ(std::filesystem::file_size(path_), 20U);
}

class ForkedChildTest : public ::testing::Test {
 protected:
  ~ForkedChildTest() override { std::filesystem::remove(path_); }

  const std::string path_ =
      std::filesystem::temp_directory_path() / ("ashlar-forked-" + std::to_string(::getpid()));
  std::unique_ptr<PoolFile> file_ =
      PoolFile::Create(path_, 4096, /*huge_pages_effort_max=*/0).value();
};

// Otherwise the pool would stay in use after its Close while a child lives, as a server's worker.
TEST_F(ForkedChildTest, DoesNotKeepTheLockOfAFileThatIsClosed) {
  int done[2];
  ASSERT_EQ(::pipe(done), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(done[1]);
    char c = 0;
    ::_exit(::read(done[0], &c, 1) == 0 ? 0 : 1);
  }
  file_.reset();
  const Status opened = PoolFile::Open(path_).status();
  EXPECT_TRUE(opened.ok()) << opened.ToString();
  ::close(done[0]);
  ::close(done[1]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(ForkedChildTest, DoesNotEndTheLockOfItsParent) {
  const pid_t child = ::fork();
  if (child == 0) {
    file_.reset();
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  const Status opened = PoolFile::Open(path_).status();
  EXPECT_TRUE(opened.IsIOError()) << opened.ToString();
}

// A file whose pages take as many nanoseconds as the test specifies.
struct CountedFile {
  uint64_t pages;
  uint64_t small_ns;                          // of a huge page's bytes as small pages
  std::function<uint64_t(uint64_t)> huge_ns;  // of this page
  uint64_t made = 0;
  uint64_t now_ns = 0;

  // Returns the time for the entire file.
  uint64_t Reserve(double effort_max) {
    MakeHugePages(
        pages, effort_max, [this] { return now_ns; },
        [this] {
          now_ns += small_ns;
          return true;
        },
        [this](uint64_t page) {
          EXPECT_EQ(page, made++);
          now_ns += huge_ns(page);
          return true;
        });
    return now_ns + (pages - std::max<uint64_t>(made, 1)) * small_ns;
  }
};

TEST(PoolFilePosixTest, HugePagesThatCostLessThanSmallOnesAreMadeToTheEnd) {
  CountedFile file = {
      .pages = 1000, .small_ns = 300, .huge_ns = [](uint64_t) { return uint64_t{200}; }};
  file.Reserve(1);
  EXPECT_EQ(file.made, 1000U);
}

// Otherwise the huge pages could take the time of the entire file, and the rest as much again.
TEST(PoolFilePosixTest, HugePagesThatCostMoreThanSmallOnesCostTheFileASixteenthMore) {
  constexpr uint64_t kPages = 1600;
  constexpr uint64_t kSmallNs = 300;
  for (const uint64_t huge_ns : {uint64_t{310}, uint64_t{600}, uint64_t{30'000}}) {
    for (const uint64_t from_page : {uint64_t{0}, kPages / 2}) {
      CountedFile file = {.pages = kPages, .small_ns = kSmallNs, .huge_ns = [&](uint64_t page) {
                            return page < from_page ? kSmallNs : huge_ns;
                          }};
      const uint64_t small_ns = kPages * kSmallNs;
      EXPECT_LE(file.Reserve(1), small_ns + small_ns / 16 + huge_ns + 2 * kSmallNs)
          << huge_ns << " from page " << from_page;
    }
  }
}

TEST(PoolFilePosixTest, OneHugePageThatIsLateDoesNotEndTheOthers) {
  CountedFile file = {.pages = 1600, .small_ns = 300, .huge_ns = [](uint64_t page) {
                        return page == 3 ? uint64_t{20'000} : 250;
                      }};
  file.Reserve(1);
  EXPECT_EQ(file.made, 1600U);
}

}  // namespace
}  // namespace ashlar
