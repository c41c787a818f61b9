// Conformance tests for every FileSystem: the operating system's (page cache, mapped readers or
// writers, unbuffered), the one in memory, the crash model, and a fault injector without rules.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/vfs.h"
#include "base/format.h"
#include "base/random.h"
#include "filesystem/file_helpers.h"
#include "filesystem/memory_file_system.h"
#include "filesystem/native_file_system.h"
#include "filesystem/write_buffer.h"
#include "platform/thread.h"
#include "tests/support/crash_file_system.h"
#include "tests/support/fault_file_system.h"

namespace ashlar {
namespace {

struct Subject {
  std::string name;
  std::shared_ptr<vfs::FileSystem> (*make)();
  vfs::FileOptions read_options = {};
  bool mapped_writes = false;
  bool unbuffered_appends = false;
};

void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.name; }

std::shared_ptr<vfs::FileSystem> WithRoom(std::shared_ptr<vfs::FileSystem> file_system) {
  // In-memory file systems start empty, but the tests need the directory for temporary files.
  const std::string wanted = testing::TempDir();
  for (size_t slash = wanted.find('/', 1); slash != std::string::npos;
       slash = wanted.find('/', slash + 1)) {
    EXPECT_TRUE(file_system->CreateDirIfMissing(wanted.substr(0, slash)).ok());
  }
  return file_system;
}

class ConformanceTest : public testing::TestWithParam<Subject> {
 protected:
  void SetUp() override {
    fs_ = GetParam().make();
    root_ = StrCat(testing::TempDir(), "ashlar_conformance_", CurrentProcessId());
    ASSERT_TRUE(fs_->CreateDir(root_).ok());
  }
  void TearDown() override { RemoveTree(root_); }

  void RemoveTree(const std::string& directory) {
    std::vector<std::string> names;
    ASSERT_TRUE(fs_->GetChildren(directory, &names).ok());
    for (const std::string& name : names) {
      const std::string path = StrCat(directory, "/", name);
      if (!fs_->DeleteFile(path).ok()) RemoveTree(path);
    }
    ASSERT_TRUE(fs_->DeleteDir(directory).ok());
  }

  std::string Path(const std::string& name) const { return StrCat(root_, "/", name); }
  void Write(const std::string& path, const std::string& data) {
    ASSERT_TRUE(WriteStringToFile(fs_.get(), data, path, Durability::kBuffered).ok());
  }
  std::string Read(const std::string& path) {
    Result<std::string> contents = ReadFileToString(fs_.get(), path, size_t{1} << 30);
    EXPECT_TRUE(contents.ok()) << contents.status().ToString();
    return contents.ok() ? *contents : "";
  }
  static vfs::FileOptions WriteOptions() {
    vfs::FileOptions options;
    options.use_mmap_writes = GetParam().mapped_writes;
    options.unbuffered_appends = GetParam().unbuffered_appends;
    return options;
  }
  std::unique_ptr<vfs::WritableFile> Open(const std::string& path,
                                          const vfs::FileOptions& options = WriteOptions()) {
    std::unique_ptr<vfs::WritableFile> file;
    const Status status = fs_->NewWritableFile(path, options, &file);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return file;
  }
  std::unique_ptr<vfs::RandomAccessFile> OpenForReading(const std::string& path) {
    std::unique_ptr<vfs::RandomAccessFile> file;
    const Status status = fs_->NewRandomAccessFile(path, GetParam().read_options, &file);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return file;
  }
  std::vector<std::string> List(const std::string& path) {
    std::vector<std::string> names;
    EXPECT_TRUE(fs_->GetChildren(path, &names).ok());
    std::sort(names.begin(), names.end());
    return names;
  }

  std::shared_ptr<vfs::FileSystem> fs_;
  std::string root_;
};

TEST_P(ConformanceTest, ReadsBackWhatWasWritten) {
  Write(Path("f"), "hello");
  EXPECT_EQ(Read(Path("f")), "hello");
  uint64_t bytes = 0;
  ASSERT_TRUE(fs_->GetFileSize(Path("f"), &bytes).ok());
  EXPECT_EQ(bytes, 5u);
}

TEST_P(ConformanceTest, AppendsOfAllSizesKeepTheirOrder) {
  constexpr uint64_t kSeed = 20240601;
  SCOPED_TRACE(StrCat("seed ", kSeed));
  Random random(kSeed);
  std::unique_ptr<vfs::WritableFile> file = Open(Path("f"));
  std::string expected;
  for (int i = 0; i < 200; i++) {
    const std::string piece = random.Bytes(static_cast<size_t>(random.Skewed(18)));
    ASSERT_TRUE(file->Append(piece).ok());
    expected += piece;
    ASSERT_EQ(file->Size(), expected.size());
    if (random.OneIn(10)) {
      ASSERT_TRUE(file->Flush().ok());
      uint64_t bytes = 0;
      ASSERT_TRUE(fs_->GetFileSize(Path("f"), &bytes).ok());
      ASSERT_EQ(bytes, expected.size());
    }
  }
  ASSERT_TRUE(file->Sync().ok());
  ASSERT_TRUE(file->Close().ok());
  EXPECT_EQ(Read(Path("f")), expected);
}

TEST_P(ConformanceTest, SmallAppendsAreInvisibleUntilFlushed) {
  if (GetParam().mapped_writes || GetParam().unbuffered_appends)
    GTEST_SKIP() << "what is appended is in the file at once";
  std::unique_ptr<vfs::WritableFile> file = Open(Path("f"));
  ASSERT_TRUE(file->Append("abc").ok());
  EXPECT_EQ(Read(Path("f")), "");
  ASSERT_TRUE(file->Flush().ok());
  EXPECT_EQ(Read(Path("f")), "abc");
  ASSERT_TRUE(file->Close().ok());
}

TEST_P(ConformanceTest, LargeAppendsDoNotWaitForAFlush) {
  std::unique_ptr<vfs::WritableFile> file = Open(Path("f"));
  ASSERT_TRUE(file->Append("abc").ok());
  ASSERT_TRUE(file->Append(std::string(kWriteBufferBytes, 'x')).ok());
  const std::string seen = Read(Path("f"));
  EXPECT_EQ(seen.substr(0, 3 + kWriteBufferBytes), "abc" + std::string(kWriteBufferBytes, 'x'));
  EXPECT_TRUE(seen.size() == 3 + kWriteBufferBytes || GetParam().mapped_writes) << seen.size();
  ASSERT_TRUE(file->Close().ok());
}

TEST_P(ConformanceTest, CloseFlushesAndEndsTheFile) {
  std::unique_ptr<vfs::WritableFile> file = Open(Path("f"));
  ASSERT_TRUE(file->Append("abc").ok());
  ASSERT_TRUE(file->Close().ok());
  EXPECT_EQ(Read(Path("f")), "abc");
  EXPECT_FALSE(file->Append("d").ok());
  EXPECT_FALSE(file->Flush().ok());
  EXPECT_FALSE(file->Sync().ok());
  EXPECT_EQ(Read(Path("f")), "abc");
}

TEST_P(ConformanceTest, DestructionClosesWithWhatWasAppended) {
  {
    ASSERT_TRUE(Open(Path("f"))->Append("abc").ok());
  }
  EXPECT_EQ(Read(Path("f")), "abc");
}

TEST_P(ConformanceTest, CreationCutsWhatWasThere) {
  Write(Path("f"), "long contents");
  ASSERT_TRUE(Open(Path("f"))->Close().ok());
  EXPECT_EQ(Read(Path("f")), "");
}

TEST_P(ConformanceTest, ExclusiveCreationKeepsWhatWasThere) {
  Write(Path("f"), "keep");
  vfs::FileOptions options = WriteOptions();
  options.exclusive_create = true;
  std::unique_ptr<vfs::WritableFile> file;
  EXPECT_TRUE(fs_->NewWritableFile(Path("f"), options, &file).IsIOError());
  EXPECT_EQ(Read(Path("f")), "keep");
  ASSERT_TRUE(fs_->NewWritableFile(Path("g"), options, &file).ok());
  ASSERT_TRUE(file->Close().ok());
}

TEST_P(ConformanceTest, ReopeningAppends) {
  std::unique_ptr<vfs::WritableFile> file;
  for (const std::string piece : {"one ", "two ", "three"}) {
    ASSERT_TRUE(fs_->ReopenWritableFile(Path("f"), WriteOptions(), &file).ok());
    ASSERT_TRUE(file->Append(piece).ok());
    ASSERT_TRUE(file->Close().ok());
  }
  EXPECT_EQ(Read(Path("f")), "one two three");
  ASSERT_TRUE(fs_->ReopenWritableFile(Path("f"), WriteOptions(), &file).ok());
  EXPECT_EQ(file->Size(), 13u);
}

TEST_P(ConformanceTest, AReusedFileIsWrittenFromItsBeginning) {
  vfs::FileOptions options = WriteOptions();
  options.preallocate_bytes = 1 << 20;
  const std::string former(3 << 20, 'o');
  Write(Path("old"), former);
  std::unique_ptr<vfs::WritableFile> file;
  ASSERT_TRUE(fs_->ReuseWritableFile(Path("old"), Path("new"), options, &file).ok());
  EXPECT_TRUE(fs_->FileExists(Path("old")).IsNotFound());
  EXPECT_EQ(file->Size(), 0u);
  EXPECT_TRUE(file->AppendsAtOnce());
  ASSERT_TRUE(file->Append("one").ok());
  ASSERT_TRUE(file->Sync().ok());
  EXPECT_TRUE(Read(Path("new")) == "one" + former.substr(3)) << "a sync cuts nothing off";
  ASSERT_TRUE(file->Append("two").ok());
  EXPECT_EQ(file->Size(), 6u);
  ASSERT_TRUE(file->Flush().ok());
  EXPECT_EQ(Read(Path("new")), "onetwo");
  ASSERT_TRUE(file->Append("three").ok());
  ASSERT_TRUE(file->Close().ok());
  EXPECT_EQ(Read(Path("new")), "onetwothree");
}

TEST_P(ConformanceTest, AReusedFileMayBecomeLongerOrShorterThanItWas) {
  for (const size_t bytes : {size_t{0}, size_t{10}, size_t{100000}, size_t{200000}}) {
    Write(Path("old"), std::string(100000, 'o'));
    std::unique_ptr<vfs::WritableFile> file;
    ASSERT_TRUE(fs_->ReuseWritableFile(Path("old"), Path("new"), WriteOptions(), &file).ok());
    ASSERT_TRUE(file->Append(std::string(bytes, 'n')).ok());
    ASSERT_TRUE(file->Close().ok());
    EXPECT_TRUE(Read(Path("new")) == std::string(bytes, 'n')) << bytes;
    ASSERT_TRUE(fs_->DeleteFile(Path("new")).ok());
  }
}

TEST_P(ConformanceTest, PreallocationDoesNotShowInTheSize) {
  vfs::FileOptions options = WriteOptions();
  options.preallocate_bytes = 1 << 20;
  std::unique_ptr<vfs::WritableFile> file = Open(Path("f"), options);
  ASSERT_TRUE(file->Append("abc").ok());
  ASSERT_TRUE(file->Sync().ok());
  EXPECT_EQ(Read(Path("f")), "abc");
  ASSERT_TRUE(file->Append(std::string(3 << 20, 'x')).ok());
  ASSERT_TRUE(file->Close().ok());
  EXPECT_EQ(Read(Path("f")).size(), 3u + (3 << 20));
}

TEST_P(ConformanceTest, RangeSyncIsAdvice) {
  std::unique_ptr<vfs::WritableFile> file = Open(Path("f"));
  ASSERT_TRUE(file->Append(std::string(100000, 'x')).ok());
  ASSERT_TRUE(file->RangeSync(0, 65536).ok());
  ASSERT_TRUE(file->Close().ok());
}

TEST_P(ConformanceTest, SyncMayRunDuringAppends) {
  std::unique_ptr<vfs::WritableFile> file = Open(Path("f"));
  std::atomic<bool> done{false};
  Result<Thread> syncer = Thread::Start({.name = "syncer"}, [&] {
    while (!done.load()) EXPECT_TRUE(file->Sync().ok());
  });
  ASSERT_TRUE(syncer.ok());
  std::string expected;
  for (int i = 0; i < 3000; i++) {
    const std::string piece = StrCat(i, ",");
    ASSERT_TRUE(file->Append(piece).ok());
    expected += piece;
  }
  done = true;
  syncer->Join();
  ASSERT_TRUE(file->Close().ok());
  EXPECT_EQ(Read(Path("f")), expected);
}

TEST_P(ConformanceTest, SequentialReadsWalkTheFile) {
  Write(Path("f"), "0123456789");
  std::unique_ptr<vfs::SequentialFile> file;
  ASSERT_TRUE(fs_->NewSequentialFile(Path("f"), vfs::FileOptions(), &file).ok());
  char scratch[16];
  Slice result;
  ASSERT_TRUE(file->Read(3, &result, scratch).ok());
  EXPECT_EQ(result, Slice("012"));
  ASSERT_TRUE(file->Skip(4).ok());
  ASSERT_TRUE(file->Read(10, &result, scratch).ok());
  EXPECT_EQ(result, Slice("789"));
  ASSERT_TRUE(file->Read(10, &result, scratch).ok());
  EXPECT_TRUE(result.empty());
  ASSERT_TRUE(file->Skip(~uint64_t{0}).ok());
  ASSERT_TRUE(file->Skip(~uint64_t{0}).ok());
  ASSERT_TRUE(file->Read(10, &result, scratch).ok());
  EXPECT_TRUE(result.empty());
}

TEST_P(ConformanceTest, RandomReadsStopAtTheEnd) {
  Write(Path("f"), "0123456789");
  const std::unique_ptr<vfs::RandomAccessFile> file = OpenForReading(Path("f"));
  struct Case {
    uint64_t offset;
    size_t n;
    std::string expected;
  };
  char scratch[16];
  for (const Case& c : {Case{0, 3, "012"}, Case{4, 6, "456789"}, Case{8, 10, "89"}, Case{10, 5, ""},
                        Case{11, 5, ""}, Case{3, 0, ""}, Case{~uint64_t{0}, 16, ""},
                        Case{uint64_t{1} << 63, 16, ""}}) {
    Slice result("unset");
    ASSERT_TRUE(file->Read(c.offset, c.n, &result, scratch).ok()) << c.offset;
    EXPECT_EQ(result.ToString(), c.expected) << c.offset;
  }
  uint64_t bytes = 0;
  ASSERT_TRUE(file->Size(&bytes).ok());
  EXPECT_EQ(bytes, 10u);
  for (const vfs::AccessPattern pattern :
       {vfs::AccessPattern::kNormal, vfs::AccessPattern::kRandom, vfs::AccessPattern::kSequential,
        vfs::AccessPattern::kWillNeed, vfs::AccessPattern::kDontNeed}) {
    file->Hint(pattern, 2, 5);
    file->Hint(pattern, ~uint64_t{0}, 5);
    file->Hint(pattern, 5, ~uint64_t{0});
  }
}

TEST_P(ConformanceTest, MappingGivesTheWholeFileWhenAskedForAtTheOpen) {
  Write(Path("f"), "0123456789");
  const std::unique_ptr<vfs::RandomAccessFile> file = OpenForReading(Path("f"));
  Slice contents;
  const Status status = file->Map(&contents);
  if (!GetParam().read_options.use_mmap_reads) {
    EXPECT_TRUE(status.IsNotSupported());
    return;
  }
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(contents, Slice("0123456789"));
  Slice result;
  ASSERT_TRUE(file->Read(2, 3, &result, nullptr).ok());
  EXPECT_EQ(result.data(), contents.data() + 2);
}

TEST_P(ConformanceTest, AnEmptyFileCanBeReadAndMapped) {
  Write(Path("f"), "");
  const std::unique_ptr<vfs::RandomAccessFile> file = OpenForReading(Path("f"));
  char scratch[4];
  Slice result("unset");
  ASSERT_TRUE(file->Read(0, 4, &result, scratch).ok());
  EXPECT_TRUE(result.empty());
  EXPECT_EQ(Read(Path("f")), "");
}

TEST_P(ConformanceTest, RemovedFilesStayReadableWhileOpen) {
  Write(Path("f"), "still here");
  const std::unique_ptr<vfs::RandomAccessFile> file = OpenForReading(Path("f"));
  ASSERT_TRUE(fs_->DeleteFile(Path("f")).ok());
  EXPECT_TRUE(fs_->FileExists(Path("f")).IsNotFound());
  char scratch[16];
  Slice result;
  ASSERT_TRUE(file->Read(0, 16, &result, scratch).ok());
  EXPECT_EQ(result, Slice("still here"));
}

TEST_P(ConformanceTest, MissingThingsArePathNotFoundAndNamed) {
  std::unique_ptr<vfs::SequentialFile> sequential;
  std::unique_ptr<vfs::RandomAccessFile> random;
  std::unique_ptr<vfs::WritableFile> writable;
  std::unique_ptr<vfs::Directory> directory;
  std::vector<std::string> names;
  uint64_t number = 0;
  const std::string none = Path("none");
  const std::vector<Status> statuses = {
      fs_->NewSequentialFile(none, vfs::FileOptions(), &sequential),
      fs_->NewRandomAccessFile(none, GetParam().read_options, &random),
      fs_->NewWritableFile(Path("none/f"), vfs::FileOptions(), &writable),
      fs_->ReopenWritableFile(Path("none/f"), vfs::FileOptions(), &writable),
      fs_->NewDirectory(none, &directory),
      fs_->GetChildren(none, &names),
      fs_->DeleteFile(none),
      fs_->DeleteDir(none),
      fs_->CreateDir(Path("none/d")),
      fs_->GetFileSize(none, &number),
      fs_->GetFileModificationTime(none, &number),
      fs_->RenameFile(none, Path("g")),
      fs_->ReuseWritableFile(none, Path("g"), vfs::FileOptions(), &writable),
      fs_->Truncate(none, 0),
      fs_->LinkFile(none, Path("g")),
      fs_->NumFileLinks(none, &number)};
  for (size_t i = 0; i < statuses.size(); i++) {
    EXPECT_TRUE(statuses[i].IsPathNotFound()) << i << ": " << statuses[i].ToString();
    EXPECT_NE(statuses[i].ToString().find("none"), std::string::npos) << statuses[i].ToString();
  }
  EXPECT_TRUE(fs_->FileExists(none).IsNotFound());
}

TEST_P(ConformanceTest, StrangePathsAreInvalid) {
  const std::string with_zero = Path("f") + std::string("\0.sst", 5);
  std::unique_ptr<vfs::WritableFile> file;
  EXPECT_TRUE(fs_->NewWritableFile(with_zero, vfs::FileOptions(), &file).IsInvalidArgument());
  EXPECT_TRUE(fs_->NewWritableFile("", vfs::FileOptions(), &file).IsInvalidArgument());
  EXPECT_TRUE(fs_->DeleteFile(with_zero).IsInvalidArgument());
  EXPECT_TRUE(fs_->FileExists(with_zero).IsInvalidArgument());
  EXPECT_EQ(List(root_), std::vector<std::string>{});
}

TEST_P(ConformanceTest, FilesAndDirectoriesAreNotMistakenForEachOther) {
  Write(Path("f"), "x");
  ASSERT_TRUE(fs_->CreateDir(Path("d")).ok());
  std::unique_ptr<vfs::SequentialFile> sequential;
  std::unique_ptr<vfs::RandomAccessFile> random;
  std::unique_ptr<vfs::WritableFile> writable;
  std::unique_ptr<vfs::Directory> directory;
  std::vector<std::string> names;
  const std::vector<Status> statuses = {
      fs_->NewSequentialFile(Path("d"), vfs::FileOptions(), &sequential),
      fs_->NewRandomAccessFile(Path("d"), GetParam().read_options, &random),
      fs_->NewWritableFile(Path("d"), vfs::FileOptions(), &writable),
      fs_->DeleteFile(Path("d")),
      fs_->NewDirectory(Path("f"), &directory),
      fs_->GetChildren(Path("f"), &names),
      fs_->DeleteDir(Path("f")),
      fs_->CreateDir(Path("f")),
      fs_->CreateDir(Path("d")),
      fs_->CreateDirIfMissing(Path("f")),
      fs_->NewWritableFile(Path("f/g"), vfs::FileOptions(), &writable),
      fs_->RenameFile(Path("f"), Path("d")),
      fs_->RenameFile(Path("d"), Path("f")),
      fs_->RenameFile(Path("d"), Path("d/e"))};
  for (size_t i = 0; i < statuses.size(); i++)
    EXPECT_TRUE(statuses[i].IsIOError() && !statuses[i].IsPathNotFound())
        << i << ": " << statuses[i].ToString();
  EXPECT_TRUE(fs_->CreateDirIfMissing(Path("d")).ok());
  EXPECT_EQ(List(root_), (std::vector<std::string>{"d", "f"}));
  EXPECT_EQ(Read(Path("f")), "x");
}

TEST_P(ConformanceTest, ADirectoryWithEntriesIsNotRemoved) {
  ASSERT_TRUE(fs_->CreateDir(Path("d")).ok());
  Write(Path("d/f"), "x");
  EXPECT_TRUE(fs_->DeleteDir(Path("d")).IsIOError());
  ASSERT_TRUE(fs_->DeleteFile(Path("d/f")).ok());
  EXPECT_TRUE(fs_->DeleteDir(Path("d")).ok());
}

TEST_P(ConformanceTest, RenamingReplacesTheTarget) {
  Write(Path("a"), "new");
  Write(Path("b"), "old");
  ASSERT_TRUE(fs_->RenameFile(Path("a"), Path("b")).ok());
  EXPECT_EQ(List(root_), std::vector<std::string>{"b"});
  EXPECT_EQ(Read(Path("b")), "new");
  ASSERT_TRUE(fs_->RenameFile(Path("b"), Path("b")).ok());
  EXPECT_EQ(Read(Path("b")), "new");
}

TEST_P(ConformanceTest, RenamingADirectoryMovesWhatIsInIt) {
  ASSERT_TRUE(fs_->CreateDir(Path("d")).ok());
  ASSERT_TRUE(fs_->CreateDir(Path("e")).ok());
  Write(Path("d/f"), "x");
  ASSERT_TRUE(fs_->RenameFile(Path("d"), Path("e/g")).ok());
  EXPECT_EQ(Read(Path("e/g/f")), "x");
  EXPECT_EQ(List(root_), std::vector<std::string>{"e"});
}

TEST_P(ConformanceTest, AnOpenFileMovesWithItsName) {
  std::unique_ptr<vfs::WritableFile> file = Open(Path("a"));
  ASSERT_TRUE(file->Append("one ").ok());
  ASSERT_TRUE(fs_->RenameFile(Path("a"), Path("b")).ok());
  ASSERT_TRUE(file->Append("two").ok());
  ASSERT_TRUE(file->Sync().ok());
  ASSERT_TRUE(file->Close().ok());
  EXPECT_EQ(Read(Path("b")), "one two");
}

TEST_P(ConformanceTest, AHardLinkIsASecondName) {
  Write(Path("a"), "x");
  uint64_t links = 0;
  ASSERT_TRUE(fs_->NumFileLinks(Path("a"), &links).ok());
  EXPECT_EQ(links, 1u);
  ASSERT_TRUE(fs_->LinkFile(Path("a"), Path("b")).ok());
  for (const char* const name : {"a", "b"}) {
    ASSERT_TRUE(fs_->NumFileLinks(Path(name), &links).ok());
    EXPECT_EQ(links, 2u);
  }
  EXPECT_TRUE(fs_->LinkFile(Path("a"), Path("b")).IsIOError());
  ASSERT_TRUE(fs_->DeleteFile(Path("a")).ok());
  EXPECT_EQ(Read(Path("b")), "x");
}

TEST_P(ConformanceTest, TruncationCutsAndGrowsWithZeros) {
  Write(Path("f"), "0123456789");
  ASSERT_TRUE(fs_->Truncate(Path("f"), 4).ok());
  EXPECT_EQ(Read(Path("f")), "0123");
  ASSERT_TRUE(fs_->Truncate(Path("f"), 6).ok());
  EXPECT_EQ(Read(Path("f")), std::string("0123\0\0", 6));
  EXPECT_FALSE(fs_->Truncate(Path("f"), ~uint64_t{0}).ok());
  EXPECT_EQ(Read(Path("f")).size(), 6u);
}

TEST_P(ConformanceTest, ALockIsExclusiveUntilItIsDestroyed) {
  std::unique_ptr<vfs::FileLock> lock;
  ASSERT_TRUE(fs_->LockFile(Path("LOCK"), &lock).ok());
  std::unique_ptr<vfs::FileLock> second;
  for (const std::string& path :
       {Path("LOCK"), StrCat(root_, "/./LOCK"), StrCat(root_, "//LOCK")}) {
    const Status status = fs_->LockFile(path, &second);
    EXPECT_TRUE(status.IsIOError());
    EXPECT_EQ(status.subcode(), Status::kFileLocked);
    EXPECT_NE(status.ToString().find("held by this process"), std::string::npos)
        << status.ToString();
    EXPECT_EQ(second, nullptr);
  }
  lock = nullptr;
  EXPECT_TRUE(fs_->LockFile(Path("LOCK"), &second).ok());
}

TEST_P(ConformanceTest, ADirectoryCanBeSynced) {
  std::unique_ptr<vfs::Directory> directory;
  ASSERT_TRUE(fs_->NewDirectory(root_, &directory).ok());
  Write(Path("f"), "x");
  EXPECT_TRUE(directory->Sync().ok());
}

TEST_P(ConformanceTest, TimesAndFreeSpaceAreKnown) {
  Write(Path("f"), "x");
  uint64_t number = 0;
  ASSERT_TRUE(fs_->GetFileModificationTime(Path("f"), &number).ok());
  constexpr uint64_t kYear2020 = 1'577'836'800;
  EXPECT_GT(number, kYear2020);
  ASSERT_TRUE(fs_->GetFreeSpace(root_, &number).ok());
  EXPECT_GT(number, 0u);
}

TEST_P(ConformanceTest, ManyThreadsWorkSideBySide) {
  constexpr int kThreads = 4;
  std::vector<Thread> threads;
  for (int t = 0; t < kThreads; t++) {
    Result<Thread> thread = Thread::Start({.name = "worker"}, [this, t] {
      for (int i = 0; i < 30; i++) {
        const std::string path = Path(StrCat(t, "_", i));
        const std::string contents = StrCat("thread ", t, " file ", i);
        EXPECT_TRUE(
            WriteStringToFile(fs_.get(), contents, StrCat(path, ".tmp"), Durability::kBuffered)
                .ok());
        EXPECT_TRUE(fs_->RenameFile(StrCat(path, ".tmp"), path).ok());
        EXPECT_EQ(Read(path), contents);
        if (i % 2 != 0) continue;
        EXPECT_TRUE(fs_->DeleteFile(path).ok());
      }
    });
    ASSERT_TRUE(thread.ok());
    threads.push_back(std::move(thread).value());
  }
  for (Thread& thread : threads) thread.Join();
  EXPECT_EQ(List(root_).size(), size_t{kThreads} * 15);
}

vfs::FileOptions Mapped() {
  vfs::FileOptions options;
  options.use_mmap_reads = true;
  return options;
}

std::shared_ptr<vfs::FileSystem> MakeNative() { return std::make_shared<NativeFileSystem>(); }
std::shared_ptr<vfs::FileSystem> MakeMemory() {
  return WithRoom(std::make_shared<MemoryFileSystem>());
}
std::shared_ptr<vfs::FileSystem> MakeCrash() {
  return WithRoom(std::make_shared<CrashFileSystem>());
}
std::shared_ptr<vfs::FileSystem> MakeFault() {
  return std::make_shared<FaultFileSystem>(MakeMemory());
}

INSTANTIATE_TEST_SUITE_P(
    All, ConformanceTest,
    testing::Values(Subject{"Native", &MakeNative}, Subject{"NativeMapped", &MakeNative, Mapped()},
                    Subject{"NativeMappedWrites", &MakeNative, vfs::FileOptions(), true},
                    Subject{"NativeUnbuffered", &MakeNative, vfs::FileOptions(), false, true},
                    Subject{"Memory", &MakeMemory}, Subject{"MemoryMapped", &MakeMemory, Mapped()},
                    Subject{"Crash", &MakeCrash}, Subject{"Fault", &MakeFault}),
    [](const testing::TestParamInfo<Subject>& subject) { return subject.param.name; });

}  // namespace
}  // namespace ashlar
