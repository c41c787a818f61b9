// Windows-only tests of platform/file.h, about shared handles, views that pin a file's size,
// unbuffered I/O and the system calls of a sync.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>

#include "base/format.h"
#include "platform/file.h"
#include "platform/memory.h"
#include "platform/pool_file.h"
#include "platform/thread.h"
#include "platform/windows/file_io.h"
#include "platform/windows/windows_error.h"
#include "platform/windows/windows_headers.h"
#include "platform/windows/windows_path.h"
#include "tests/support/windows/call_recorder.h"

namespace ashlar {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class WindowsFileTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = StrCat(testing::TempDir(), "ashlar_windows_", CurrentProcessId(), "_",
                   testing::UnitTest::GetInstance()->current_test_info()->name());
    ASSERT_TRUE(MakeDirectory(root_).ok());
  }
  void TearDown() override { RemoveTree(root_); }
  void RemoveTree(const std::string& directory) {
    const Result<std::vector<std::string>> names = ListDirectory(directory);
    ASSERT_TRUE(names.ok()) << names.status().ToString();
    for (const std::string& name : *names) {
      const std::string path = StrCat(directory, "/", name);
      if (!RemoveFile(path).ok()) RemoveTree(path);
    }
    const Status status = RemoveDirectory(directory);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  std::string Path(const std::string& name) const { return StrCat(root_, "/", name); }
  void Write(const std::string& path, const Slice& data) {
    Result<OsFile> file = OsFile::Open(path, {.mode = OpenMode::kCreateTruncate});
    ASSERT_TRUE(file.ok()) << file.status().ToString();
    ASSERT_TRUE(file->WriteAt(0, data).ok());
    ASSERT_TRUE(file->Close().ok());
  }
  std::string Read(const std::string& path) {
    const Result<OsFile> file = OsFile::Open(path, {});
    EXPECT_TRUE(file.ok()) << file.status().ToString();
    std::string bytes(1000, '\0');
    const Result<size_t> got = file->ReadAt(0, bytes.size(), bytes.data());
    EXPECT_TRUE(got.ok());
    return bytes.substr(0, got.ok() ? *got : 0);
  }
  // Opens an exclusive handle, as a virus scanner does.
  HANDLE HoldAlone(const std::string& path) {
    return CreateFileW(ToSystemPath(path)->c_str(), GENERIC_READ, 0, nullptr, OPEN_EXISTING,
                       FILE_ATTRIBUTE_NORMAL, nullptr);
  }

  std::string root_;
};

TEST_F(WindowsFileTest, NamesOutsideAsciiAndLongPathsWork) {
  const std::string folder = Path("\xe6\x9d\xb1\xe4\xba\xac");
  ASSERT_TRUE(MakeDirectory(folder).ok());
  std::string path = folder;
  for (int depth = 0; depth < 6; depth++) {
    path += "/" + std::string(60, static_cast<char>('a' + depth));
    const Status made = MakeDirectory(path);
    ASSERT_TRUE(made.ok()) << made.ToString();
  }
  ASSERT_GT(path.size(), size_t{MAX_PATH});
  const std::string file = path + "/d\xc3\xa9j\xc3\xa0.sst";
  Write(file, "far down");
  EXPECT_EQ(Read(file), "far down");
  EXPECT_EQ(ListDirectory(path).value(), std::vector<std::string>{"d\xc3\xa9j\xc3\xa0.sst"});
  EXPECT_TRUE(RenamePath(file, path + "/renamed").ok());
  EXPECT_TRUE(HardLink(path + "/renamed", path + "/linked").ok());
  EXPECT_EQ(GetFileInfo(path + "/linked")->bytes, 8u);
  EXPECT_TRUE(OsFileLock::Acquire(path + "/LOCK").ok());
  EXPECT_TRUE(OsDirectory::Open(path)->Sync().ok());
  EXPECT_TRUE(FreeBytes(path).ok());
}

TEST_F(WindowsFileTest, NamesOfDevicesAndStreamsAreRefusedEverywhere) {
  for (const std::string& path : {Path("NUL"), Path("com1.sst"), Path("f:stream"), Path("f.")}) {
    EXPECT_TRUE(OsFile::Open(path, {.mode = OpenMode::kOpenOrCreate}).status().IsInvalidArgument())
        << path;
    EXPECT_TRUE(MakeDirectory(path).IsInvalidArgument()) << path;
    EXPECT_TRUE(RemoveFile(path).IsInvalidArgument()) << path;
    EXPECT_TRUE(RenamePath(path, Path("g")).IsInvalidArgument()) << path;
    EXPECT_TRUE(GetFileInfo(path).status().IsInvalidArgument()) << path;
    EXPECT_TRUE(OsFileLock::Acquire(path).status().IsInvalidArgument()) << path;
    EXPECT_TRUE(PoolFile::Create(path, 65536, 0).status().IsInvalidArgument()) << path;
    EXPECT_TRUE(OsDirectory::Open(path).status().IsInvalidArgument()) << path;
    EXPECT_TRUE(FreeBytes(path).status().IsInvalidArgument()) << path;
  }
  EXPECT_EQ(ListDirectory(root_)->size(), 0u);
}

TEST_F(WindowsFileTest, AFileHeldByAnotherForAMomentIsWaitedFor) {
  Write(Path("f"), "x");
  const HANDLE held = HoldAlone(Path("f"));
  ASSERT_NE(held, INVALID_HANDLE_VALUE);
  std::atomic<bool> asking{false};
  Status status;
  Result<Thread> thread = Thread::Start({.name = "opener"}, [&] {
    asking = true;
    status = OsFile::Open(Path("f"), {}).status();
  });
  ASSERT_TRUE(thread.ok());
  while (!asking) YieldThread();
  CloseHandle(held);
  thread->Join();
  EXPECT_TRUE(status.ok()) << status.ToString();
}

TEST_F(WindowsFileTest, AFileThatStaysHeldIsRefusedByName) {
  Write(Path("f"), "x");
  const HANDLE held = HoldAlone(Path("f"));
  ASSERT_NE(held, INVALID_HANDLE_VALUE);
  for (const Status& status : {OsFile::Open(Path("f"), {}).status(), RemoveFile(Path("f")),
                               RenamePath(Path("f"), Path("g"))}) {
    EXPECT_TRUE(status.IsIOError());
    EXPECT_THAT(status.ToString(), HasSubstr("/f"));
    EXPECT_THAT(status.ToString(), HasSubstr("(error 32)"));
  }
  CloseHandle(held);
  EXPECT_TRUE(RemoveFile(Path("f")).ok());
}

TEST_F(WindowsFileTest, AReadOnlyFileIsDeleted) {
  Write(Path("f"), "x");
  const std::wstring name = ToSystemPath(Path("f")).value();
  ASSERT_TRUE(SetFileAttributesW(name.c_str(), FILE_ATTRIBUTE_READONLY));
  const Status removed = RemoveFile(Path("f"));
  EXPECT_TRUE(removed.ok()) << removed.ToString();
  EXPECT_EQ(ListDirectory(root_)->size(), 0u);
}

TEST_F(WindowsFileTest, AReadOnlyFileThatStaysHeldStaysReadOnly) {
  Write(Path("f"), "x");
  const std::wstring name = ToSystemPath(Path("f")).value();
  ASSERT_TRUE(SetFileAttributesW(name.c_str(), FILE_ATTRIBUTE_READONLY));
  const HANDLE held = HoldAlone(Path("f"));
  ASSERT_NE(held, INVALID_HANDLE_VALUE);
  EXPECT_TRUE(RemoveFile(Path("f")).IsIOError());
  CloseHandle(held);
  EXPECT_NE(GetFileAttributesW(name.c_str()) & FILE_ATTRIBUTE_READONLY, 0u);
  EXPECT_TRUE(RemoveFile(Path("f")).ok());
}

TEST_F(WindowsFileTest, AnOpenFileGivesUpItsNameAtOnce) {
  Write(Path("f"), "old");
  const Result<OsFile> old = OsFile::Open(Path("f"), {});
  ASSERT_TRUE(old.ok());
  ASSERT_TRUE(RemoveFile(Path("f")).ok());
  EXPECT_TRUE(GetFileInfo(Path("f")).status().IsPathNotFound());
  Write(Path("f"), "new");
  char bytes[3];
  EXPECT_EQ(old->ReadAt(0, 3, bytes).value(), 3u);
  EXPECT_EQ(std::string(bytes, 3), "old");
  EXPECT_EQ(Read(Path("f")), "new");
}

TEST_F(WindowsFileTest, AMappedFileCannotShrinkUntilItsViewsAreGone) {
  EXPECT_FALSE(MappedFilesCanShrink());
  Write(Path("f"), std::string(100'000, 'x'));
  Result<OsFile> file = OsFile::Open(Path("f"), {.mode = OpenMode::kOpenOrCreate});
  ASSERT_TRUE(file.ok());
  {
    const Result<OsMapping> mapping = OsMapping::MapForReading(*file, 100'000);
    ASSERT_TRUE(mapping.ok());
    const Status status = file->Truncate(10);
    EXPECT_TRUE(status.IsIOError());
    EXPECT_THAT(status.ToString(), HasSubstr("(error 1224)"));
  }
  EXPECT_TRUE(file->Truncate(10).ok());
}

TEST_F(WindowsFileTest, AWindowMayBeginAtAnyPage) {
  const size_t page = PageBytes();
  Write(Path("f"), std::string(40 * page, 'x'));
  Result<OsFile> file = OsFile::Open(Path("f"), {.mode = OpenMode::kOpenOrCreate});
  ASSERT_TRUE(file.ok());
  for (const uint64_t first :
       {uint64_t{0}, uint64_t{1}, uint64_t{15}, uint64_t{16}, uint64_t{33}}) {
    Result<OsWindow> window = OsWindow::Map(*file, first * page, 2 * page);
    ASSERT_TRUE(window.ok()) << window.status().ToString();
    memcpy(window->data(), "stored", 6);
    EXPECT_TRUE(window->Flush().ok());
    char bytes[6];
    ASSERT_TRUE(file->ReadAt(first * page, 6, bytes).ok());
    EXPECT_EQ(std::string(bytes, 6), "stored") << first;
  }
  EXPECT_TRUE(OsWindow::Map(*file, 39 * page, 2 * page).status().IsInvalidArgument());
  EXPECT_EQ(file->Info()->bytes, 40 * page);
}

// The library checks the alignment of unbuffered reads and writes itself.
TEST_F(WindowsFileTest, UnbufferedIoIsAligned) {
  Result<OsFile> file =
      OsFile::Open(Path("f"), {.mode = OpenMode::kCreateTruncate, .direct_io = true});
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  alignas(kDirectIoAlignment) static char block[2 * kDirectIoAlignment];
  memset(block, 'b', sizeof(block));
  EXPECT_TRUE(file->WriteAt(0, Slice(block, kDirectIoAlignment)).ok());
  EXPECT_TRUE(file->WriteAt(0, Slice(block, 100)).IsInvalidArgument());
  EXPECT_TRUE(file->WriteAt(100, Slice(block, kDirectIoAlignment)).IsInvalidArgument());
  EXPECT_TRUE(file->WriteAt(0, Slice(block + 1, kDirectIoAlignment)).IsInvalidArgument());
  EXPECT_TRUE(file->ReadAt(0, 100, block).status().IsInvalidArgument());
  EXPECT_TRUE(file->Truncate(1000).ok());
  EXPECT_EQ(file->ReadAt(0, sizeof(block), block).value(), 1000u);
}

TEST_F(WindowsFileTest, SpaceThatCannotBeReservedIsNoFailure) {
  Result<OsFile> file = OsFile::Open(Path("f"), {.mode = OpenMode::kCreateTruncate});
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->WriteAt(0, "abc").ok());
  const Status status = file->Reserve(0, 1 << 20);
  EXPECT_TRUE(status.ok() || status.IsNotSupported()) << status.ToString();
  EXPECT_EQ(file->Info()->bytes, 3u);
  // Existing bytes need no reservation, and a reservation must not cut them.
  static_cast<void>(file->Reserve(0, 2));
  EXPECT_EQ(file->Info()->bytes, 3u);
}

TEST_F(WindowsFileTest, ALockedFileIsOpenForNobody) {
  Result<std::unique_ptr<OsFileLock>> lock = OsFileLock::Acquire(Path("LOCK"));
  ASSERT_TRUE(lock.ok());
  EXPECT_EQ(HoldAlone(Path("LOCK")), INVALID_HANDLE_VALUE);
  EXPECT_EQ(GetLastError(), DWORD{ERROR_SHARING_VIOLATION});
  EXPECT_TRUE(OsFile::Open(Path("LOCK"), {}).status().IsIOError());
  EXPECT_TRUE(GetFileInfo(Path("LOCK")).ok()) << "it can be looked at";
}

TEST_F(WindowsFileTest, ALockHeldByAStrangerIsRefused) {
  Write(Path("LOCK"), "");
  const HANDLE held = HoldAlone(Path("LOCK"));
  ASSERT_NE(held, INVALID_HANDLE_VALUE);
  const Status status = OsFileLock::Acquire(Path("LOCK")).status();
  EXPECT_TRUE(status.IsIOError());
  EXPECT_THAT(status.ToString(), HasSubstr("held by another process"));
  CloseHandle(held);
  EXPECT_TRUE(OsFileLock::Acquire(Path("LOCK")).ok());
}

TEST_F(WindowsFileTest, HandlesAreNotInherited) {
  Result<UniqueHandle> handle = OpenHandle("open", Path("f"), GENERIC_READ | GENERIC_WRITE,
                                           kShareAll, OPEN_ALWAYS, FILE_FLAG_OVERLAPPED);
  ASSERT_TRUE(handle.ok());
  DWORD flags = HANDLE_FLAG_INHERIT;
  ASSERT_TRUE(GetHandleInformation(handle->get(), &flags));
  EXPECT_EQ(flags & HANDLE_FLAG_INHERIT, 0u);
}

TEST_F(WindowsFileTest, ASyncFlushesTheFileAndADirectoryItself) {
  CallRecorder recorder;
  Result<OsFile> file = OsFile::Open(Path("f"), {.mode = OpenMode::kCreateTruncate});
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->WriteAt(0, "abc").ok());
  ASSERT_TRUE(file->SyncData().ok());
  ASSERT_TRUE(OsDirectory::Open(root_)->Sync().ok());
  const std::string directory = root_.substr(root_.find_last_of("/\\") + 1);
  EXPECT_THAT(recorder.Calls(), ElementsAre("CreateFileW f", "WriteFile f", "FlushFileBuffers f",
                                            "FlushFileBuffers " + directory));
}

TEST_F(WindowsFileTest, AWindowsBytesAreFlushedBeforeItsFile) {
  Write(Path("f"), std::string(PageBytes(), 'x'));
  Result<OsFile> file = OsFile::Open(Path("f"), {.mode = OpenMode::kOpenOrCreate});
  ASSERT_TRUE(file.ok());
  Result<OsWindow> window = OsWindow::Map(*file, 0, PageBytes());
  ASSERT_TRUE(window.ok());
  CallRecorder recorder;
  window->data()[0] = 'y';
  ASSERT_TRUE(window->Flush().ok());
  ASSERT_TRUE(file->SyncData().ok());
  EXPECT_THAT(recorder.Calls(), ElementsAre("FlushViewOfFile", "FlushFileBuffers f"));
}

TEST_F(WindowsFileTest, ASyncOfAPoolFlushesItsSharedViewsFirst) {
  const std::unique_ptr<PoolFile> pool = PoolFile::Create(Path("pool"), 1 << 20, 0).value();
  const std::unique_ptr<PoolMapping> shared = pool->Map(PoolMapMode::kShared).value();
  const std::unique_ptr<PoolMapping> read_only = pool->Map(PoolMapMode::kSharedReadOnly).value();
  const std::unique_ptr<PoolMapping> own = pool->Map(PoolMapMode::kPrivate).value();
  CallRecorder recorder;
  shared->data()[5000] = 's';
  ASSERT_TRUE(pool->SyncData().ok());
  EXPECT_THAT(recorder.Calls(), ElementsAre("FlushViewOfFile", "FlushFileBuffers pool"));
  EXPECT_EQ(read_only->data()[5000], 's');
}

TEST_F(WindowsFileTest, APoolOnAnOrdinaryVolumeHasNoPersistentMemory) {
  const std::unique_ptr<PoolFile> pool = PoolFile::Create(Path("pool"), 1 << 20, 0).value();
  EXPECT_EQ(pool->Backing(), PoolBacking::kStorage);
  EXPECT_FALSE(pool->Map(PoolMapMode::kSharedSync).ok());
  EXPECT_THAT(PoolFile::Open(Path("pool")).status().ToString(), HasSubstr("in use"));
}

TEST_F(WindowsFileTest, ARenameReplacesThroughTheSystemsLog) {
  Write(Path("a"), "new");
  Write(Path("b"), "old");
  CallRecorder recorder;
  ASSERT_TRUE(RenamePath(Path("a"), Path("b")).ok());
  // A system that does not have the newer call uses this one.
  const std::vector<std::string> calls = recorder.Calls();
  if (!calls.empty()) {
    EXPECT_THAT(calls, ElementsAre("MoveFileExW a b through"));
  }
  EXPECT_EQ(Read(Path("b")), "new");
}

}  // namespace
}  // namespace ashlar
