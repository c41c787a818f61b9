#include "filesystem/file_helpers.h"

#include <gtest/gtest.h>

#include <memory>

#include "base/format.h"
#include "filesystem/filename.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/crash_file_system.h"
#include "tests/support/fault_file_system.h"

namespace ashlar {
namespace {

class FileHelpersTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(fs_.CreateDir("/db").ok());
    ASSERT_TRUE(fs_.NewDirectory("/", &root_).ok());
    ASSERT_TRUE(root_->Sync().ok());
    ASSERT_TRUE(fs_.NewDirectory("/db", &directory_).ok());
  }
  CrashFileSystem fs_;
  std::unique_ptr<vfs::Directory> root_;
  std::unique_ptr<vfs::Directory> directory_;
};

TEST_F(FileHelpersTest, ASyncedFileIsDurableAndABufferedOneIsNot) {
  ASSERT_TRUE(WriteStringToFile(&fs_, "synced", "/db/a", Durability::kSynced).ok());
  ASSERT_TRUE(WriteStringToFile(&fs_, "buffered", "/db/b", Durability::kBuffered).ok());
  ASSERT_TRUE(directory_->Sync().ok());
  const CrashImage image = fs_.MakeCrashImage(fs_.OperationCount(), CrashKind::kDurableOnly, 0);
  EXPECT_EQ(*ReadFileToString(image.file_system.get(), "/db/a", 100), "synced");
  EXPECT_EQ(*ReadFileToString(image.file_system.get(), "/db/b", 100), "");
}

TEST_F(FileHelpersTest, AFileLongerThanTheCapIsCorruption) {
  ASSERT_TRUE(WriteStringToFile(&fs_, std::string(20000, 'x'), "/db/f", Durability::kSynced).ok());
  EXPECT_EQ(ReadFileToString(&fs_, "/db/f", 20000)->size(), 20000u);
  const Status status = ReadFileToString(&fs_, "/db/f", 19999).status();
  EXPECT_TRUE(status.IsCorruption());
  EXPECT_NE(status.ToString().find("/db/f"), std::string::npos);
  EXPECT_TRUE(ReadFileToString(&fs_, "/db/f", 0).status().IsCorruption());
}

// The file is larger than the pieces in which it is copied, and the patch spans two of them.
TEST_F(FileHelpersTest, ACopyIsDurableAndHasThePatch) {
  const std::string bytes((size_t{2} << 20) + 100, 'x');
  ASSERT_TRUE(WriteStringToFile(&fs_, bytes, "/db/f", Durability::kSynced).ok());
  ASSERT_TRUE(CopyToNewFile(&fs_, "/db/f", "/db/equal", {}).ok());
  const FilePatch patch{.offset = (uint64_t{1} << 20) - 3, .bytes = "12345678"};
  ASSERT_TRUE(CopyToNewFile(&fs_, "/db/f", "/db/patched", patch).ok());
  EXPECT_FALSE(CopyToNewFile(&fs_, "/db/f", "/db/patched", patch).ok()) << "there is one already";
  ASSERT_TRUE(directory_->Sync().ok());
  const CrashImage image = fs_.MakeCrashImage(fs_.OperationCount(), CrashKind::kDurableOnly, 0);
  EXPECT_TRUE(*ReadFileToString(image.file_system.get(), "/db/equal", bytes.size()) == bytes);
  std::string wanted = bytes;
  wanted.replace(patch.offset, patch.bytes.size(), patch.bytes);
  EXPECT_TRUE(*ReadFileToString(image.file_system.get(), "/db/patched", bytes.size()) == wanted);
  std::string pieces;
  ASSERT_TRUE(ForEachPiece(&fs_, "/db/patched", [&](const Slice& piece) {
                pieces.append(piece.data(), piece.size());
                return Status::OK();
              }).ok());
  EXPECT_EQ(pieces, wanted);
}

TEST_F(FileHelpersTest, ADirectoryThatIsCreatedDurablyLasts) {
  ASSERT_TRUE(fs_.CreateDir("/earlier").ok());  // by a program that has not synced its parent
  for (const std::string path : {"/earlier", "/db/new"}) {
    EXPECT_TRUE(CreateDirDurably(&fs_, path).ok());
    const CrashImage image = fs_.MakeCrashImage(fs_.OperationCount(), CrashKind::kDurableOnly, 0);
    EXPECT_TRUE(image.file_system->FileExists(path).ok()) << path;
  }
  EXPECT_TRUE(CreateDirDurably(&fs_, "/missing/new").IsPathNotFound());
}

// A mount point may be below a file system such as squashfs, whose directories cannot be synced.
TEST(CreateDirDurably, AMountPointMayBeInAFileSystemWithoutSyncs) {
  FaultFileSystem fs(std::make_shared<MemoryFileSystem>());
  ASSERT_TRUE(fs.CreateDir("/mount").ok());
  const auto create = [&fs](const std::string& path, const Status& sync_error) {
    fs.ClearRules();
    FaultRule rule;
    rule.operations = FaultOperation::kSyncDirectory;
    rule.nth = 2;  // the parent's first sync, because opening it counts as a sync
    rule.error = sync_error;
    fs.AddRule(rule);
    return CreateDirDurably(&fs, path);
  };
  const Status no_sync = Status::NotSupported("no sync of directories");
  const Status status = create("/mount", no_sync);
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(fs.FaultsInjected(), 1u);
  EXPECT_TRUE(create("/new", no_sync).IsNotSupported()) << "a power cut may remove it";
  EXPECT_TRUE(create("/mount", Status::IOError("the disk fails")).IsIOError());
}

TEST_F(FileHelpersTest, CurrentNamesTheManifest) {
  ASSERT_TRUE(SetCurrentFile(&fs_, "/db", 12, directory_.get()).ok());
  EXPECT_EQ(*ReadFileToString(&fs_, "/db/CURRENT", 100), "MANIFEST-000012\n");
  EXPECT_EQ(*ReadCurrentFile(&fs_, "/db"), 12u);
  std::vector<std::string> names;
  ASSERT_TRUE(fs_.GetChildren("/db", &names).ok());
  EXPECT_EQ(names, std::vector<std::string>{"CURRENT"});
}

TEST_F(FileHelpersTest, AMissingCurrentIsPathNotFound) {
  EXPECT_TRUE(ReadCurrentFile(&fs_, "/db").status().IsPathNotFound());
}

TEST_F(FileHelpersTest, AnyOtherContentsOfCurrentAreCorruption) {
  for (const std::string& contents :
       {std::string(""), std::string("\n"), std::string("MANIFEST-000012"),
        std::string("MANIFEST-000012\n\n"), std::string("MANIFEST-12\n"),
        std::string("../MANIFEST-000012\n"), std::string("000012.log\n"),
        std::string("MANIFEST-000012\0\n", 17), std::string("MANIFEST-000012\r\n"),
        std::string(" MANIFEST-000012\n"), std::string("MANIFEST-99999999999999999999\n"),
        std::string(5000, 'M')}) {
    ASSERT_TRUE(WriteStringToFile(&fs_, contents, "/db/CURRENT", Durability::kSynced).ok());
    const Status status = ReadCurrentFile(&fs_, "/db").status();
    EXPECT_TRUE(status.IsCorruption()) << contents;
    EXPECT_NE(status.ToString().find("/db/CURRENT"), std::string::npos);
  }
}

// I1, for every crash during a change from 12 to 13.
TEST_F(FileHelpersTest, ACrashLeavesTheOldCurrentOrTheNewOne) {
  ASSERT_TRUE(SetCurrentFile(&fs_, "/db", 12, directory_.get()).ok());
  const uint64_t start = fs_.OperationCount();
  ASSERT_TRUE(SetCurrentFile(&fs_, "/db", 13, directory_.get()).ok());
  const uint64_t end = fs_.OperationCount();
  int olds = 0;
  int news = 0;
  for (uint64_t k = start; k <= end; k++) {
    fs_.EnumerateCrashImages(k, 1, [&](const CrashImage& image) {
      const Result<uint64_t> number = ReadCurrentFile(image.file_system.get(), "/db");
      ASSERT_TRUE(number.ok()) << "k " << k << " " << CrashKindName(image.kind) << " "
                               << number.status().ToString();
      ASSERT_TRUE(*number == 12 || *number == 13);
      ASSERT_TRUE(k < end || *number == 13);
      (*number == 12 ? olds : news)++;
    });
  }
  EXPECT_GT(olds, 0);
  EXPECT_GT(news, 0);
}

TEST_F(FileHelpersTest, ALeftoverTemporaryFileIsReplaced) {
  ASSERT_TRUE(
      WriteStringToFile(&fs_, "left by a crash", TempFileName("/db", 13), Durability::kSynced)
          .ok());
  ASSERT_TRUE(SetCurrentFile(&fs_, "/db", 13, directory_.get()).ok());
  EXPECT_EQ(*ReadCurrentFile(&fs_, "/db"), 13u);
}

// Every call that SetCurrentFile makes fails once. The error is reported, CURRENT stays readable,
// and no temporary file is left.
TEST(SetCurrentFile, ReportsTheFailureOfEveryCall) {
  for (uint64_t n = 1;; n++) {
    auto memory = std::make_shared<MemoryFileSystem>();
    FaultFileSystem fs(memory);
    ASSERT_TRUE(fs.CreateDir("/db").ok());
    std::unique_ptr<vfs::Directory> directory;
    ASSERT_TRUE(fs.NewDirectory("/db", &directory).ok());
    ASSERT_TRUE(SetCurrentFile(&fs, "/db", 12, directory.get()).ok());
    FaultRule rule;
    rule.nth = n;
    fs.AddRule(rule);
    const Status status = SetCurrentFile(&fs, "/db", 13, directory.get());
    fs.ClearRules();
    if (fs.FaultsInjected() == 0) {
      EXPECT_GT(n, 5u);
      EXPECT_TRUE(status.ok());
      return;
    }
    EXPECT_TRUE(status.IsIOError()) << n;
    EXPECT_TRUE(ReadCurrentFile(&fs, "/db").ok()) << n;
    EXPECT_TRUE(fs.FileExists(TempFileName("/db", 13)).IsNotFound()) << n;
  }
}

}  // namespace
}  // namespace ashlar
