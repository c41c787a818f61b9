// The store with limits on the process's open files and file sizes, and files on a full disk.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>

#include "ashlar/vfs.h"
#include "base/random.h"
#include "tests/engine/database_fixture.h"

namespace {
// Makes the disk run full during a reservation, which keeps the space reserved up to then.
bool disk_is_full = false;
}  // namespace

// Replaces the function of the C library.
extern "C" int fallocate(int fd, int mode, off_t offset, off_t bytes) {
  static auto* const real = reinterpret_cast<decltype(&::fallocate)>(dlsym(RTLD_NEXT, "fallocate"));
  if (!disk_is_full) return real(fd, mode, offset, bytes);
  const int reserved = real(fd, mode, offset, bytes / 2);
  if (reserved == 0) errno = ENOSPC;
  return -1;
}

namespace ashlar {
namespace {

// Lowers a limit of the process for the lifetime of this object.
class LowerLimit {
 public:
  using Resource = decltype(RLIMIT_NOFILE);

  LowerLimit(Resource resource, rlim_t limit) : resource_(resource) {
    EXPECT_EQ(getrlimit(resource_, &before_), 0);
    const rlimit lower{.rlim_cur = limit, .rlim_max = before_.rlim_max};
    EXPECT_EQ(setrlimit(resource_, &lower), 0);
  }
  ~LowerLimit() { EXPECT_EQ(setrlimit(resource_, &before_), 0); }
  LowerLimit(const LowerLimit&) = delete;
  LowerLimit& operator=(const LowerLimit&) = delete;

 private:
  const Resource resource_;
  rlimit before_{};
};

using ManyTablesTest = DatabaseFixture;

TEST_F(ManyTablesTest, AllOpenMeansAsManyAsTheProcessMayOpen) {
  const LowerLimit fewer_files(RLIMIT_NOFILE, 100);
  options_.max_open_files = -1;
  options_.target_file_size_base = 1000;
  options_.disable_auto_compactions = true;
  Open();
  constexpr int kEntries = 5000;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kEntries; ++i) Put("key" + std::to_string(10000 + i), std::string(90, 'v'));
    Flush();
  }
  CompactAll();
  std::string tables;
  ASSERT_TRUE(db_->GetProperty("rocksdb.num-files-at-level6", &tables));
  EXPECT_GT(std::stoi(tables), 300);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kEntries; ++i)
      ASSERT_EQ(Get("key" + std::to_string(10000 + i)).size(), 90u) << i;
    Open();
  }
  std::unique_ptr<Iterator> iterator(db_->NewIterator(ReadOptions()));
  int entries = 0;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) ++entries;
  EXPECT_OK(iterator->status());
  EXPECT_EQ(entries, kEntries);
}

constexpr size_t kMiB = size_t{1} << 20;  // the buffer size of an unbuffered file

using FullDiskTest = DatabaseFixture;

TEST_F(FullDiskTest, SpaceThatWasReservedInPartIsGivenBack) {
  for (const bool is_mapped : {false, true}) {
    SCOPED_TRACE(is_mapped);
    const vfs::FileOptions options{.use_mmap_writes = is_mapped,
                                   .unbuffered_appends = true,
                                   .preallocate_bytes = is_mapped ? 0 : 4 * kMiB};
    const std::string name = scratch().File(is_mapped ? "mapped" : "unbuffered");
    std::unique_ptr<vfs::WritableFile> file;
    disk_is_full = true;
    const Status opened = vfs::FileSystem::Default()->NewWritableFile(name, options, &file);
    const Status appended = opened.ok() ? file->Append("small") : opened;
    disk_is_full = false;
    ASSERT_OK(appended);
    ASSERT_OK(file->Close());
    struct stat info = {};
    ASSERT_EQ(stat(name.c_str(), &info), 0);
    EXPECT_EQ(info.st_size, 5);
    EXPECT_LT(info.st_blocks, static_cast<blkcnt_t>(kMiB / 2 / 512));
  }
}

// Unbuffered files whose later part cannot be written.
class FileSizeLimitTest : public DatabaseFixture {
 protected:
  FileSizeLimitTest() : handler_before_(signal(SIGXFSZ, SIG_IGN)) {}
  ~FileSizeLimitTest() override { signal(SIGXFSZ, handler_before_); }

 private:
  void (*const handler_before_)(int);
};

// The last buffer is full when the file ends, so only its own write can report the failure.
TEST_F(FileSizeLimitTest, APieceThatFailsOnItsWayIsToldBySyncAndClose) {
  vfs::FileOptions options;
  options.use_direct_io = true;
  const std::string name = scratch().File("unbuffered");
  std::unique_ptr<vfs::WritableFile> file;
  const Status opened = vfs::FileSystem::Default()->NewWritableFile(name, options, &file);
  if (opened.IsInvalidArgument()) GTEST_SKIP() << opened.ToString();
  ASSERT_OK(opened);
  const LowerLimit shorter_files(RLIMIT_FSIZE, kMiB + kMiB / 2);
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
    const LowerLimit shorter_files(RLIMIT_FSIZE, kMiB + kMiB / 2);
    const Status flushed = db_->Flush(FlushOptions());
    EXPECT_TRUE(flushed.IsIOError()) << flushed.ToString();
  }
  ASSERT_OK(db_->Resume());
  Flush();
  Open();
  for (int i = 0; i < kEntries; ++i) ASSERT_EQ(Get(std::to_string(1000 + i)), value) << i;
}

// The log cannot grow. Exactly the Put for which it has no room fails, and the rest of the log
// stays complete.
TEST_F(FileSizeLimitTest, TheWriteThatTheLogHasNoRoomForFailsAndEveryModeOpens) {
  for (const WALRecoveryMode mode :
       {WALRecoveryMode::kTolerateCorruptedTailRecords, WALRecoveryMode::kAbsoluteConsistency,
        WALRecoveryMode::kPointInTimeRecovery, WALRecoveryMode::kSkipAnyCorruptedRecords}) {
    SCOPED_TRACE(static_cast<int>(mode));
    options_.wal_recovery_mode = mode;
    Open();
    const std::string value(1000, 'v');
    int written = 0;
    {
      const LowerLimit shorter_files(RLIMIT_FSIZE, 100'500);
      Status status;
      for (; status.ok() && written < 200; ++written)
        status = db_->Put(WriteOptions(), std::to_string(1000 + written), value);
      --written;
      ASSERT_TRUE(status.IsIOError()) << status.ToString();
      EXPECT_NE(status.ToString().find(".log"), std::string::npos) << status.ToString();
      for (int i = 0; i < written; ++i) ASSERT_EQ(Get(std::to_string(1000 + i)), value) << i;
    }
    EXPECT_EQ(Get(std::to_string(1000 + written)), "NOT_FOUND");
    EXPECT_FALSE(db_->Close().ok());
    Open();
    for (int i = 0; i < written; ++i) ASSERT_EQ(Get(std::to_string(1000 + i)), value) << i;
    EXPECT_EQ(Get(std::to_string(1000 + written)), "NOT_FOUND");
    Close();
    ASSERT_OK(DestroyDB(path(), options_));
  }
}

// A store into a mapping would kill this process.
TEST_F(FileSizeLimitTest, ALogThatAnotherProcessCutsShortEndsNoProcess) {
  Open();
  const std::string value(1000, 'v');
  for (int i = 0; i < 50; ++i) Put(std::to_string(1000 + i), value);
  int logs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path())) {
    if (entry.path().extension() != ".log") continue;
    std::filesystem::resize_file(entry.path(), 0);
    ++logs;
  }
  ASSERT_EQ(logs, 1);
  for (int i = 50; i < 100; ++i) Put(std::to_string(1000 + i), value);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(Get(std::to_string(1000 + i)), value) << i;
}

}  // namespace
}  // namespace ashlar
