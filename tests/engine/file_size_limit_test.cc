// Unbuffered files whose later part cannot be written: the process may not make files as long as that.
#include <sys/resource.h>

#include <csignal>

#include "base/random.h"
#include "tests/engine/database_fixture.h"

namespace ashlar {
namespace {

// Lowers the process's limit on the size of files while it lives.
class ShorterFiles {
 public:
  explicit ShorterFiles(rlim_t bytes) : handler_before_(signal(SIGXFSZ, SIG_IGN)) {
    EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &before_), 0);
    const rlimit lower{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &lower), 0);
  }
  ~ShorterFiles() {
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before_), 0);
    signal(SIGXFSZ, handler_before_);
  }
  ShorterFiles(const ShorterFiles&) = delete;
  ShorterFiles& operator=(const ShorterFiles&) = delete;

 private:
  void (*const handler_before_)(int);
  rlimit before_{};
};

constexpr size_t kMiB = size_t{1} << 20;  // a buffer of an unbuffered file

using FileSizeLimitTest = DatabaseFixture;

// The last buffer is full when the file ends: nothing but its own write can tell that it failed.
TEST_F(FileSizeLimitTest, APieceThatFailsOnItsWayIsToldBySyncAndClose) {
  FileOptions options;
  options.use_direct_io = true;
  const std::string name = scratch().File("unbuffered");
  std::unique_ptr<WritableFile> file;
  const Status opened = FileSystem::Default()->NewWritableFile(name, options, &file);
  if (opened.IsInvalidArgument()) GTEST_SKIP() << opened.ToString();
  ASSERT_OK(opened);
  const ShorterFiles shorter(kMiB + kMiB / 2);
  ASSERT_OK(file->Append(std::string(2 * kMiB, 'x')));
  const Status synced = file->Sync();
  EXPECT_TRUE(synced.IsIOError()) << synced.ToString();
  EXPECT_EQ(file->Close().ToString(), synced.ToString());
}

TEST_F(FileSizeLimitTest, AFlushOfWhichAPieceFailedLosesNothing) {
  options_.use_direct_io_for_flush_and_compaction = true;
  const Status opened = TryOpen();
  if (opened.IsInvalidArgument()) GTEST_SKIP() << opened.ToString();
  ASSERT_OK(opened);
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  const std::string value = Random(3).Bytes(10'000);
  constexpr int kEntries = 400;  // a table of 4 MB
  for (int i = 0; i < kEntries; ++i) ASSERT_OK(db_->Put(unlogged, std::to_string(1000 + i), value));
  {
    const ShorterFiles shorter(kMiB + kMiB / 2);
    const Status flushed = db_->Flush(FlushOptions());
    EXPECT_TRUE(flushed.IsIOError()) << flushed.ToString();
  }
  ASSERT_OK(db_->Resume());
  Flush();
  Open();
  for (int i = 0; i < kEntries; ++i) ASSERT_EQ(Get(std::to_string(1000 + i)), value) << i;
}

}  // namespace
}  // namespace ashlar
