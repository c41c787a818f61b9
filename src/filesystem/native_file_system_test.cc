// Tests only the native file system: direct I/O, control files, permissions.
#include "filesystem/native_file_system.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "ashlar/env.h"
#include "base/format.h"
#include "base/random.h"
#include "filesystem/aligned_buffer.h"
#include "filesystem/filename.h"
#include "platform/thread.h"

namespace ashlar {
namespace {

class NativeFileSystemTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = StrCat(testing::TempDir(), "ashlar_native_", CurrentProcessId());
    std::filesystem::remove_all(root_);
    ASSERT_TRUE(fs_->CreateDir(root_).ok());
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::string Path(const std::string& name) const { return StrCat(root_, "/", name); }
  static std::string Contents(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  static void Put(const std::string& path, const std::string& contents) {
    std::ofstream(path, std::ios::binary) << contents;
  }

  const std::shared_ptr<vfs::FileSystem> fs_ = vfs::FileSystem::Default();
  std::string root_;
};

class DirectIoTest : public NativeFileSystemTest {
 protected:
  void SetUp() override {
    NativeFileSystemTest::SetUp();
    direct_.use_direct_io = true;
    std::unique_ptr<vfs::WritableFile> probe;
    const Status status = fs_->NewWritableFile(Path("probe"), direct_, &probe);
    if (!status.ok()) {
      EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
      EXPECT_NE(status.ToString().find(Path("probe")), std::string::npos);
      GTEST_SKIP() << status.ToString();
    }
  }
  vfs::FileOptions direct_;
};

TEST_F(DirectIoTest, AppendsOfAllSizesMakeTheSameFile) {
  constexpr uint64_t kSeed = 77;
  SCOPED_TRACE(StrCat("seed ", kSeed));
  Random random(kSeed);
  std::unique_ptr<vfs::WritableFile> file;
  ASSERT_TRUE(fs_->NewWritableFile(Path("f"), direct_, &file).ok());
  std::string expected;
  for (int i = 0; i < 100; i++) {
    const std::string piece = random.Bytes(static_cast<size_t>(random.Skewed(18)));
    ASSERT_TRUE(file->Append(piece).ok());
    expected += piece;
    ASSERT_EQ(file->Size(), expected.size());
    if (!random.OneIn(8)) continue;
    ASSERT_TRUE((random.OneIn(2) ? file->Flush() : file->Sync()).ok());
    ASSERT_EQ(Contents(Path("f")), expected);
  }
  ASSERT_TRUE(file->Close().ok());
  EXPECT_EQ(Contents(Path("f")), expected);
}

TEST_F(DirectIoTest, FilesOfManyBuffersAreWhatWasAppended) {
  Random random(80);
  std::unique_ptr<vfs::WritableFile> file;
  ASSERT_TRUE(fs_->NewWritableFile(Path("f"), direct_, &file).ok());
  std::string expected;
  while (expected.size() < size_t{10} << 20) {
    const std::string piece = random.Bytes(random.Uniform(400'000));
    ASSERT_TRUE(file->Append(piece).ok());
    expected += piece;
    if (!random.OneIn(16)) continue;
    ASSERT_TRUE((random.OneIn(2) ? file->Flush() : file->Sync()).ok());
    ASSERT_TRUE(Contents(Path("f")) == expected) << expected.size();
  }
  ASSERT_TRUE(file->Close().ok());
  EXPECT_TRUE(Contents(Path("f")) == expected);
}

TEST_F(DirectIoTest, ReadsAtAnyOffsetAndAlignment) {
  constexpr uint64_t kSeed = 78;
  SCOPED_TRACE(StrCat("seed ", kSeed));
  Random random(kSeed);
  const std::string contents = random.Bytes(50001);
  Put(Path("f"), contents);
  std::unique_ptr<vfs::RandomAccessFile> file;
  ASSERT_TRUE(fs_->NewRandomAccessFile(Path("f"), direct_, &file).ok());
  const AlignedBuffer aligned(65536);
  const std::unique_ptr<char[]> unaligned(new char[65536]);
  for (int i = 0; i < 300; i++) {
    uint64_t offset = random.Uniform(60000);
    size_t n = static_cast<size_t>(random.Uniform(20000));
    const bool align = random.OneIn(2);
    if (align) {
      offset = offset / kDirectIoAlignment * kDirectIoAlignment;
      n = n / kDirectIoAlignment * kDirectIoAlignment;
    }
    Slice result;
    ASSERT_TRUE(file->Read(offset, n, &result, align ? aligned.data() : unaligned.get() + 1).ok());
    ASSERT_EQ(result.ToString(),
              offset >= contents.size() ? "" : contents.substr(static_cast<size_t>(offset), n))
        << offset << " " << n;
  }
  Slice result;
  EXPECT_TRUE(file->Read(1, ~size_t{0}, &result, unaligned.get()).IsInvalidArgument());
}

TEST_F(DirectIoTest, SequentialReadsSeeTheWholeFile) {
  const std::string contents = Random(79).Bytes(30000);
  Put(Path("f"), contents);
  std::unique_ptr<vfs::SequentialFile> file;
  ASSERT_TRUE(fs_->NewSequentialFile(Path("f"), direct_, &file).ok());
  std::string seen;
  char scratch[7001];
  for (Slice piece("x"); !piece.empty(); seen += piece.ToString())
    ASSERT_TRUE(file->Read(sizeof(scratch), &piece, scratch).ok());
  EXPECT_EQ(seen, contents);
}

TEST_F(DirectIoTest, AppendingToAPartialBlockIsRefused) {
  Put(Path("f"), "abc");
  std::unique_ptr<vfs::WritableFile> file;
  EXPECT_TRUE(fs_->ReopenWritableFile(Path("f"), direct_, &file).IsInvalidArgument());
  EXPECT_EQ(Contents(Path("f")), "abc");
}

TEST_F(NativeFileSystemTest, MappingAndDirectReadsExcludeEachOther) {
  Put(Path("f"), "abc");
  vfs::FileOptions options;
  options.use_direct_io = true;
  options.use_mmap_reads = true;
  std::unique_ptr<vfs::RandomAccessFile> file;
  EXPECT_TRUE(fs_->NewRandomAccessFile(Path("f"), options, &file).IsInvalidArgument());
}

TEST_F(NativeFileSystemTest, MappingAndDirectWritesExcludeEachOther) {
  vfs::FileOptions options;
  options.use_direct_io = true;
  options.use_mmap_writes = true;
  std::unique_ptr<vfs::WritableFile> file;
  EXPECT_TRUE(fs_->NewWritableFile(Path("f"), options, &file).IsInvalidArgument());
  EXPECT_FALSE(std::filesystem::exists(Path("f")));
}

// Small pieces go through windows of 256 KiB, and larger ones bypass them. The file always has all
// appended bytes, followed only by zeros.
TEST_F(NativeFileSystemTest, AFileThatKeepsItsTailIsCutByFlushAndCloseOnly) {
  constexpr uint64_t kSeed = 81;
  SCOPED_TRACE(StrCat("seed ", kSeed));
  Random random(kSeed);
  const vfs::FileOptions options{.use_mmap_writes = true, .keeps_zero_tail = true};
  for (int round = 0; round < 4; round++) {
    std::filesystem::remove(Path("f"));
    std::string expected;
    for (int opening = 0; opening < 3; opening++) {
      std::unique_ptr<vfs::WritableFile> file;
      ASSERT_TRUE(fs_->ReopenWritableFile(Path("f"), options, &file).ok());
      for (int i = 0; i < 1000; i++) {
        const std::string piece = random.Bytes(
            static_cast<size_t>(random.OneIn(20) ? random.Uniform(40000) : random.Uniform(700)));
        ASSERT_TRUE(file->Append(piece).ok());
        expected += piece;
        ASSERT_EQ(file->Size(), expected.size());
        if (!random.OneIn(50)) continue;
        const bool cut = random.OneIn(2);
        ASSERT_TRUE((cut ? file->Flush() : file->Sync()).ok());
        std::string contents = Contents(Path("f"));
        ASSERT_GE(contents.size(), expected.size());
        ASSERT_TRUE(!cut || contents.size() == expected.size());
        ASSERT_EQ(contents.find_first_not_of('\0', expected.size()), std::string::npos);
        contents.resize(expected.size());
        ASSERT_EQ(contents, expected);
      }
      if (random.OneIn(2)) {
        ASSERT_TRUE(file->Close().ok());
      }
      file.reset();
      ASSERT_EQ(Contents(Path("f")), expected);
    }
  }
}

TEST_F(NativeFileSystemTest, AnAppendToAFileThatKeepsItsTailIsInTheFileBeforeAnyFlush) {
  const vfs::FileOptions options{.use_mmap_writes = true, .keeps_zero_tail = true};
  std::unique_ptr<vfs::WritableFile> file;
  ASSERT_TRUE(fs_->NewWritableFile(Path("f"), options, &file).ok());
  if (!file->AppendsAtOnce()) GTEST_SKIP() << "no space can be reserved here";
  const std::string small = "small";
  const std::string large(5000, 'x');
  ASSERT_TRUE(file->Append(small).ok());
  ASSERT_TRUE(file->Append(large).ok());
  ASSERT_TRUE(file->Append(small).ok());
  EXPECT_EQ(Contents(Path("f")).substr(0, 5010), small + large + small);
}

// A window has 1 MiB. Appends cross several windows and end at or next to their borders.
TEST_F(NativeFileSystemTest, MappedWritesEndWhereTheAppendsDid) {
  constexpr uint64_t kSeed = 80;
  constexpr size_t kWindow = size_t{1} << 20;
  SCOPED_TRACE(StrCat("seed ", kSeed));
  Random random(kSeed);
  vfs::FileOptions options;
  options.use_mmap_writes = true;
  for (int round = 0; round < 20; round++) {
    std::filesystem::remove(Path("f"));
    std::string expected;
    for (int opening = 0; opening < 3; opening++) {
      std::unique_ptr<vfs::WritableFile> file;
      ASSERT_TRUE(fs_->ReopenWritableFile(Path("f"), options, &file).ok());
      EXPECT_EQ(file->Size(), expected.size());
      for (uint64_t i = random.Uniform(20); i > 0; i--) {
        const size_t to_border = kWindow - expected.size() % kWindow;
        const size_t n = random.OneIn(4) ? to_border + static_cast<size_t>(random.Uniform(3)) - 1
                                         : static_cast<size_t>(random.Skewed(21));
        const std::string piece = random.Bytes(n);
        ASSERT_TRUE(file->Append(piece).ok());
        expected += piece;
        ASSERT_EQ(file->Size(), expected.size());
        if (!random.OneIn(4)) continue;
        ASSERT_TRUE((random.OneIn(2) ? file->Flush() : file->Sync()).ok());
        ASSERT_EQ(std::filesystem::file_size(Path("f")), expected.size());
      }
      if (random.OneIn(2)) {
        ASSERT_TRUE(file->Close().ok());
      }
      file.reset();
      ASSERT_EQ(Contents(Path("f")), expected);
    }
  }
}

TEST_F(NativeFileSystemTest, AMappingIsNotACopy) {
  Put(Path("f"), "before");
  vfs::FileOptions options;
  options.use_mmap_reads = true;
  std::unique_ptr<vfs::RandomAccessFile> file;
  ASSERT_TRUE(fs_->NewRandomAccessFile(Path("f"), options, &file).ok());
  Slice result;
  ASSERT_TRUE(file->Read(0, 6, &result, nullptr).ok());
  std::fstream(Path("f"), std::ios::binary | std::ios::in | std::ios::out) << "beyond";
  EXPECT_EQ(result, Slice("beyond"));
}

TEST_F(NativeFileSystemTest, ALinkNamedCurrentIsNotFollowed) {
  Put(Path("secret"), "MANIFEST-000001\n");
  std::error_code error;
  std::filesystem::create_symlink(Path("secret"), Path("CURRENT"), error);
  if (error) GTEST_SKIP() << "no symbolic links here: " << error.message();
  std::unique_ptr<vfs::SequentialFile> file;
  EXPECT_TRUE(fs_->NewSequentialFile(Path("CURRENT"), vfs::FileOptions(), &file).IsIOError());
  std::unique_ptr<vfs::RandomAccessFile> random;
  EXPECT_TRUE(fs_->NewRandomAccessFile(Path("CURRENT"), vfs::FileOptions(), &random).IsIOError());
}

TEST_F(NativeFileSystemTest, ALockFileIsOpenedByLockFileOnly) {
  std::unique_ptr<vfs::FileLock> lock;
  ASSERT_TRUE(fs_->LockFile(Path("LOCK"), &lock).ok());
  std::unique_ptr<vfs::SequentialFile> sequential;
  std::unique_ptr<vfs::RandomAccessFile> random;
  std::unique_ptr<vfs::WritableFile> writable;
  EXPECT_TRUE(
      fs_->NewSequentialFile(Path("LOCK"), vfs::FileOptions(), &sequential).IsInvalidArgument());
  EXPECT_TRUE(
      fs_->NewRandomAccessFile(Path("LOCK"), vfs::FileOptions(), &random).IsInvalidArgument());
  EXPECT_TRUE(
      fs_->NewWritableFile(Path("LOCK"), vfs::FileOptions(), &writable).IsInvalidArgument());
  EXPECT_TRUE(
      fs_->ReopenWritableFile(Path("LOCK"), vfs::FileOptions(), &writable).IsInvalidArgument());
  std::unique_ptr<vfs::RandomRWFile> updated;
  EXPECT_TRUE(fs_->NewRandomRWFile(Path("LOCK"), &updated).IsInvalidArgument());
  std::unique_ptr<MemoryMappedFileBuffer> mapped;
  EXPECT_TRUE(fs_->NewMemoryMappedFileBuffer(Path("LOCK"), &mapped).IsInvalidArgument());
  EXPECT_TRUE(fs_->Truncate(Path("LOCK"), 0).IsInvalidArgument());
}

// I1. The failing write would exceed the largest file size of the disk's file system. The file is a
//     hole and takes no space.
TEST_F(NativeFileSystemTest, AFailedWriteIsFinal) {
  for (const bool unbuffered : {false, true}) {
    SCOPED_TRACE(unbuffered);
    Put(Path("f"), "");
    uint64_t largest = 0;
    for (uint64_t bit = uint64_t{1} << 62; bit > 0; bit >>= 1) {
      if (fs_->Truncate(Path("f"), largest | bit).ok()) largest |= bit;
    }
    vfs::FileOptions options;
    options.unbuffered_appends = unbuffered;
    std::unique_ptr<vfs::WritableFile> file;
    ASSERT_TRUE(fs_->ReopenWritableFile(Path("f"), options, &file).ok());
    EXPECT_EQ(file->Size(), largest);
    Status status = file->Append("beyond");
    EXPECT_EQ(status.ok(), !unbuffered) << "the call that failed is the one that reports it";
    if (status.ok()) status = file->Flush();
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.ToString().find(Path("f")), std::string::npos);
    ASSERT_TRUE(fs_->Truncate(Path("f"), 0).ok());
    EXPECT_EQ(file->Append("x").ToString(), status.ToString());
    EXPECT_EQ(file->Flush().ToString(), status.ToString());
    EXPECT_EQ(file->Sync().ToString(), status.ToString());
    EXPECT_EQ(file->Close().ToString(), status.ToString());
    EXPECT_EQ(Contents(Path("f")), "");
  }
}

TEST_F(NativeFileSystemTest, AnUnbufferedAppendIsInTheFileBeforeAnyFlush) {
  const vfs::FileOptions options{.unbuffered_appends = true, .preallocate_bytes = 1 << 20};
  std::unique_ptr<vfs::WritableFile> file;
  ASSERT_TRUE(fs_->NewWritableFile(Path("f"), options, &file).ok());
  EXPECT_TRUE(file->AppendsAtOnce());
  ASSERT_TRUE(file->Append("small").ok());
  EXPECT_EQ(Contents(Path("f")), "small");
  ASSERT_TRUE(file->Append(std::string(100000, 'x')).ok());
  EXPECT_EQ(Contents(Path("f")), "small" + std::string(100000, 'x'));
  EXPECT_EQ(file->Size(), 100005u);
  ASSERT_TRUE(file->Close().ok());
  EXPECT_FALSE(file->Append("x").ok());
}

TEST_F(NativeFileSystemTest, DefaultIsOneObject) {
  EXPECT_EQ(vfs::FileSystem::Default(), vfs::FileSystem::Default());
}

}  // namespace
}  // namespace ashlar
