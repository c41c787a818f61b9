// Conformance tests of each implementation of platform/file.h. filesystem/conformance_test.cc tests
// the layer above.
#include "platform/file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <memory>

#include "base/format.h"
#include "platform/path.h"
#include "platform/program.h"
#include "platform/thread.h"

namespace ashlar {
namespace {

class OsFileTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = StrCat(testing::TempDir(), "ashlar_file_test_", CurrentProcessId(), "_",
                   testing::UnitTest::GetInstance()->current_test_info()->name());
    ASSERT_TRUE(MakeDirectory(root_).ok());
  }
  void TearDown() override {
    Result<std::vector<std::string>> names = ListDirectory(root_);
    ASSERT_TRUE(names.ok());
    for (const std::string& name : *names)
      ASSERT_TRUE(RemoveFile(StrCat(root_, "/", name)).ok() ||
                  RemoveDirectory(StrCat(root_, "/", name)).ok());
    ASSERT_TRUE(RemoveDirectory(root_).ok());
  }

  std::string Path(const std::string& name) const { return StrCat(root_, "/", name); }
  void Write(const std::string& path, const Slice& data) {
    Result<OsFile> file = OsFile::Open(path, {.mode = OpenMode::kCreateTruncate});
    ASSERT_TRUE(file.ok()) << file.status().ToString();
    ASSERT_TRUE(file->WriteAt(0, data).ok());
    ASSERT_TRUE(file->Close().ok());
  }

  std::string root_;
};

TEST_F(OsFileTest, ReadsBackWhatWasWritten) {
  Write(Path("f"), "hello world");
  Result<OsFile> file = OsFile::Open(Path("f"), {});
  ASSERT_TRUE(file.ok());
  char buffer[32];
  Result<size_t> got = file->ReadAt(6, sizeof(buffer), buffer);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(std::string(buffer, *got), "world");
  got = file->ReadAt(100, sizeof(buffer), buffer);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(*got, 0u);
}

TEST_F(OsFileTest, ProgramsReadAFileByItsUtf8Name) {
  const std::string path = Path("stone \xe7\x9f\xb3");
  Write(path, "a\r\nb\x1a");
  const UniqueStream file = OpenStream(path, StreamMode::kRead);
  ASSERT_NE(file, nullptr);
  char bytes[10];
  EXPECT_EQ(std::string(bytes, fread(bytes, 1, sizeof(bytes), file.get())), "a\r\nb\x1a");
  EXPECT_EQ(OpenStream(Path("absent"), StreamMode::kRead), nullptr);
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(OsFileTest, ProgramsWriteAFileByItsUtf8Name) {
  const std::string path = Path("stone \xe7\x9f\xb3");
  Write(path, "what was there before");
  EXPECT_GE(fputs("a\n", OpenStream(path, StreamMode::kWrite).get()), 0);
  EXPECT_EQ(GetFileInfo(path)->bytes, 2u);
  EXPECT_GE(fputs("b\n", OpenStream(path, StreamMode::kAppend).get()), 0);
  EXPECT_EQ(GetFileInfo(path)->bytes, 4u);
  EXPECT_GE(fputs("c\n", OpenStream(Path("new"), StreamMode::kAppend).get()), 0);
  EXPECT_EQ(GetFileInfo(Path("new"))->bytes, 2u);
}

TEST_F(OsFileTest, TheTemporaryDirectoryIsThere) {
  const std::string path = TemporaryDirectory();
  const Result<FileInfo> info = GetFileInfo(path);
  ASSERT_TRUE(info.ok()) << path;
  EXPECT_TRUE(info->is_directory);
}

TEST_F(OsFileTest, OffsetsBeyondTheSystemsRangeAreNotWrapped) {
  Write(Path("f"), "x");
  Result<OsFile> file = OsFile::Open(Path("f"), {.mode = OpenMode::kOpenOrCreate});
  ASSERT_TRUE(file.ok());
  char c = 0;
  for (const uint64_t offset : {std::numeric_limits<uint64_t>::max(),
                                std::numeric_limits<uint64_t>::max() - 4, uint64_t{1} << 63}) {
    Result<size_t> got = file->ReadAt(offset, 1, &c);
    ASSERT_TRUE(got.ok());
    EXPECT_EQ(*got, 0u);
    EXPECT_TRUE(file->WriteAt(offset, "y").IsInvalidArgument());
    EXPECT_TRUE(file->Truncate(offset).IsInvalidArgument());
    EXPECT_TRUE(file->Reserve(offset, 10).IsInvalidArgument());
    EXPECT_TRUE(file->StartWriteBack(offset, 10).IsInvalidArgument());
    file->Advise(FileAdvice::kWillNeed, offset, 10);
  }
  ASSERT_TRUE(file->Close().ok());
}

TEST_F(OsFileTest, MissingFileIsPathNotFoundAndNamed) {
  const Status status = OsFile::Open(Path("none"), {}).status();
  EXPECT_TRUE(status.IsPathNotFound()) << status.ToString();
  EXPECT_NE(status.ToString().find(Path("none")), std::string::npos);
}

TEST_F(OsFileTest, APathWithAZeroByteIsRefused) {
  Write(Path("f"), "x");
  const std::string path = Path("f") + std::string("\0.sst", 5);
  EXPECT_TRUE(OsFile::Open(path, {}).status().IsInvalidArgument());
  EXPECT_TRUE(RemoveFile(path).IsInvalidArgument());
  EXPECT_TRUE(RenamePath(path, Path("g")).IsInvalidArgument());
  EXPECT_TRUE(RenamePath(Path("f"), path).IsInvalidArgument());
  EXPECT_TRUE(OsFile::Open("", {}).status().IsInvalidArgument());
}

TEST_F(OsFileTest, ExclusiveCreationFailsWhenTheNameIsTaken) {
  Write(Path("f"), "keep");
  EXPECT_TRUE(OsFile::Open(Path("f"), {.mode = OpenMode::kCreateExclusive}).status().IsIOError());
  const Result<FileInfo> info = GetFileInfo(Path("f"));
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->bytes, 4u);
}

TEST_F(OsFileTest, ADirectoryIsNotAFile) {
  EXPECT_TRUE(OsFile::Open(root_, {}).status().IsIOError());
  EXPECT_TRUE(OsFile::Open(root_, {.mode = OpenMode::kCreateTruncate}).status().IsIOError());
  EXPECT_TRUE(OsFileLock::Acquire(root_).status().IsIOError());
}

TEST_F(OsFileTest, AMappingOutlivesItsFile) {
  Write(Path("f"), "mapped bytes");
  std::unique_ptr<OsMapping> mapping;
  {
    Result<OsFile> file = OsFile::Open(Path("f"), {});
    ASSERT_TRUE(file.ok());
    Result<OsMapping> result = OsMapping::MapForReading(*file, 12);
    ASSERT_TRUE(result.ok());
    mapping = std::make_unique<OsMapping>(std::move(result).value());
  }
  mapping->Advise(FileAdvice::kRandom, 3, 100);
  mapping->Advise(FileAdvice::kRandom, 300, 100);
  EXPECT_EQ(mapping->contents(), Slice("mapped bytes"));
}

TEST_F(OsFileTest, AnEmptyFileMapsToNothing) {
  Write(Path("f"), "");
  Result<OsFile> file = OsFile::Open(Path("f"), {});
  ASSERT_TRUE(file.ok());
  Result<OsMapping> mapping = OsMapping::MapForReading(*file, 0);
  ASSERT_TRUE(mapping.ok());
  EXPECT_TRUE(mapping->contents().empty());
  mapping->Advise(FileAdvice::kWillNeed, 0, 0);
}

TEST_F(OsFileTest, ASecondLockOfTheSameFileIsRefusedByAnyPath) {
  Result<std::unique_ptr<OsFileLock>> first = OsFileLock::Acquire(Path("LOCK"));
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  ASSERT_TRUE(HardLink(Path("LOCK"), Path("other")).ok());
  for (const std::string& path : {Path("LOCK"), Path("./LOCK"), Path("other")}) {
    const Status status = OsFileLock::Acquire(path).status();
    EXPECT_TRUE(status.IsIOError());
    EXPECT_NE(status.ToString().find("held by this process"), std::string::npos)
        << status.ToString();
  }
  *first = nullptr;
  EXPECT_TRUE(OsFileLock::Acquire(Path("LOCK")).ok());
}

TEST_F(OsFileTest, ARenameToANewPathReplacesNothing) {
  Write(Path("a"), "a");
  Write(Path("b"), "longer");
  const Status taken = RenameToNewPath(Path("a"), Path("b"));
  EXPECT_TRUE(taken.IsIOError()) << taken.ToString();
  EXPECT_EQ(GetFileInfo(Path("a"))->bytes, 1u);
  EXPECT_EQ(GetFileInfo(Path("b"))->bytes, 6u);
  const Status renamed = RenameToNewPath(Path("a"), Path("c"));
  EXPECT_TRUE(renamed.ok()) << renamed.ToString();
  EXPECT_TRUE(GetFileInfo(Path("a")).status().IsPathNotFound());
  EXPECT_EQ(GetFileInfo(Path("c"))->bytes, 1u);
  EXPECT_TRUE(RenameToNewPath(Path("a"), Path("d")).IsPathNotFound());
}

TEST_F(OsFileTest, AnOpenFileAndItsNameHaveTheSameInfo) {
  Write(Path("a"), "hello");
  ASSERT_TRUE(HardLink(Path("a"), Path("b")).ok());
  const Result<OsFile> file = OsFile::Open(Path("a"), {});
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  const Result<FileInfo> of_file = file->Info();
  const Result<FileInfo> of_name = GetFileInfo(Path("b"));
  ASSERT_TRUE(of_file.ok() && of_name.ok());
  EXPECT_EQ(of_file->bytes, 5u);
  EXPECT_EQ(of_file->links, 2u);
  EXPECT_FALSE(of_file->is_directory);
  EXPECT_EQ(of_name->bytes, of_file->bytes);
  EXPECT_EQ(of_name->links, of_file->links);
  EXPECT_EQ(of_name->modified_unix_seconds, of_file->modified_unix_seconds);
}

TEST_F(OsFileTest, LocksOfDifferentFilesAreIndependent) {
  Result<std::unique_ptr<OsFileLock>> a = OsFileLock::Acquire(Path("a"));
  Result<std::unique_ptr<OsFileLock>> b = OsFileLock::Acquire(Path("b"));
  EXPECT_TRUE(a.ok());
  EXPECT_TRUE(b.ok());
}

TEST_F(OsFileTest, DirectoriesAreListedCreatedAndRemoved) {
  EXPECT_TRUE(MakeDirectory(Path("d")).ok());
  EXPECT_TRUE(MakeDirectory(Path("d")).IsIOError());
  EXPECT_TRUE(MakeDirectoryIfMissing(Path("d")).ok());
  Write(Path("f"), "x");
  EXPECT_TRUE(MakeDirectoryIfMissing(Path("f")).IsIOError());
  Result<std::vector<std::string>> names = ListDirectory(root_);
  ASSERT_TRUE(names.ok());
  std::sort(names->begin(), names->end());
  EXPECT_EQ(*names, (std::vector<std::string>{"d", "f"}));
  EXPECT_TRUE(ListDirectory(Path("none")).status().IsPathNotFound());
  EXPECT_TRUE(RemoveDirectory(Path("d")).ok());
  EXPECT_TRUE(RemoveDirectory(Path("d")).IsPathNotFound());
}

TEST_F(OsFileTest, ADirectoryCanBeSynced) {
  Result<OsDirectory> directory = OsDirectory::Open(root_);
  ASSERT_TRUE(directory.ok());
  EXPECT_TRUE(directory->Sync().ok());
  Write(Path("f"), "x");
  EXPECT_TRUE(OsDirectory::Open(Path("f")).status().IsIOError());
}

TEST(OsPath, AParentIsFoundInThePathAlone) {
  EXPECT_EQ(ParentDirectory("db/CURRENT"), "db");
  EXPECT_EQ(ParentDirectory("/a/db//"), "/a");
  EXPECT_EQ(ParentDirectory("/db"), "/");
  EXPECT_EQ(ParentDirectory("/"), "/");
  EXPECT_EQ(ParentDirectory("db"), ".");
  EXPECT_EQ(ParentDirectory("C:/db"), "C:/");
  const std::string last(1, kPathSeparators.back());
  EXPECT_EQ(ParentDirectory("a" + last + "b"), "a");
  EXPECT_EQ(WithoutSeparatorAtEnd("/a/db//"), "/a/db");
  EXPECT_EQ(WithoutSeparatorAtEnd("/"), "/");
}

TEST_F(OsFileTest, FreeSpaceIsKnown) {
  const Result<uint64_t> bytes = FreeBytes(root_);
  ASSERT_TRUE(bytes.ok());
  EXPECT_GT(*bytes, 0u);
}

}  // namespace
}  // namespace ashlar
