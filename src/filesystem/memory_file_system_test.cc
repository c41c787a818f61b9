// Tests only the file system in memory. conformance_test.cc has the rest.
#include "filesystem/memory_file_system.h"

#include <gtest/gtest.h>

#include <memory>

#include "filesystem/file_helpers.h"

namespace ashlar {
namespace {

TEST(MemoryFileSystem, PathsWithAndWithoutALeadingSlashAreTheSame) {
  MemoryFileSystem fs;
  ASSERT_TRUE(fs.CreateDir("db").ok());
  ASSERT_TRUE(WriteStringToFile(&fs, "x", "db/f", Durability::kSynced).ok());
  EXPECT_TRUE(fs.FileExists("/db/f").ok());
  EXPECT_TRUE(fs.FileExists("//db/./f").ok());
  EXPECT_TRUE(fs.FileExists("/db/../db/f").IsInvalidArgument());
}

TEST(MemoryFileSystem, ASnapshotDoesNotChangeWithItsSource) {
  MemoryFileSystem fs;
  ASSERT_TRUE(fs.CreateDir("/d").ok());
  ASSERT_TRUE(WriteStringToFile(&fs, "before", "/d/f", Durability::kSynced).ok());
  MemoryFileSystem copy(fs.Snapshot());
  EXPECT_EQ(copy.Snapshot().Fingerprint(), fs.Snapshot().Fingerprint());

  std::unique_ptr<vfs::WritableFile> file;
  ASSERT_TRUE(fs.ReopenWritableFile("/d/f", vfs::FileOptions(), &file).ok());
  ASSERT_TRUE(file->Append(" after").ok());
  ASSERT_TRUE(file->Sync().ok());
  EXPECT_EQ(*ReadFileToString(&fs, "/d/f", 100), "before after");
  EXPECT_EQ(*ReadFileToString(&copy, "/d/f", 100), "before");
  EXPECT_NE(copy.Snapshot().Fingerprint(), fs.Snapshot().Fingerprint());

  ASSERT_TRUE(copy.Truncate("/d/f", 3).ok());
  EXPECT_EQ(*ReadFileToString(&fs, "/d/f", 100), "before after");
  EXPECT_EQ(*ReadFileToString(&copy, "/d/f", 100), "bef");
}

TEST(MemoryFileSystem, ASnapshotKeepsHardLinksTogether) {
  MemoryFileSystem fs;
  ASSERT_TRUE(WriteStringToFile(&fs, "x", "/a", Durability::kSynced).ok());
  ASSERT_TRUE(fs.LinkFile("/a", "/b").ok());
  MemoryFileSystem copy(fs.Snapshot());
  ASSERT_TRUE(copy.Truncate("/a", 0).ok());
  uint64_t bytes = 1;
  ASSERT_TRUE(copy.GetFileSize("/b", &bytes).ok());
  EXPECT_EQ(bytes, 0u);
}

TEST(MemoryFileSystem, AFullDiskRefusesAndRecoversWhenSpaceIsFreed) {
  MemoryFileSystem fs;
  ASSERT_TRUE(WriteStringToFile(&fs, std::string(600, 'x'), "/a", Durability::kSynced).ok());
  fs.SetCapacityBytes(1000);
  uint64_t bytes = 0;
  ASSERT_TRUE(fs.GetFreeSpace("/", &bytes).ok());
  EXPECT_EQ(bytes, 400u);

  std::unique_ptr<vfs::WritableFile> file;
  ASSERT_TRUE(fs.NewWritableFile("/b", vfs::FileOptions(), &file).ok());
  ASSERT_TRUE(file->Append(std::string(401, 'y')).ok());
  EXPECT_TRUE(file->Flush().IsNoSpace());
  // The failure is final for this file.
  EXPECT_TRUE(file->Append("z").IsNoSpace());
  EXPECT_TRUE(file->Close().IsNoSpace());
  EXPECT_EQ(ReadFileToString(&fs, "/a", 1000)->size(), 600u);

  ASSERT_TRUE(fs.DeleteFile("/a").ok());
  EXPECT_TRUE(WriteStringToFile(&fs, std::string(1000, 'y'), "/c", Durability::kSynced).ok());
  EXPECT_TRUE(WriteStringToFile(&fs, "y", "/d", Durability::kSynced).IsNoSpace());
}

TEST(MemoryFileSystem, FilesOutliveTheFileSystem) {
  auto fs = std::make_unique<MemoryFileSystem>();
  std::unique_ptr<vfs::WritableFile> file;
  std::unique_ptr<vfs::FileLock> lock;
  std::unique_ptr<vfs::Directory> directory;
  ASSERT_TRUE(fs->NewWritableFile("/f", vfs::FileOptions(), &file).ok());
  ASSERT_TRUE(fs->LockFile("/LOCK", &lock).ok());
  ASSERT_TRUE(fs->NewDirectory("/", &directory).ok());
  fs = nullptr;
  EXPECT_TRUE(file->Append("x").ok());
  EXPECT_TRUE(file->Close().ok());
  EXPECT_TRUE(directory->Sync().ok());
}

TEST(MemoryFileSystem, AMappingKeepsWhatItSaw) {
  MemoryFileSystem fs;
  ASSERT_TRUE(WriteStringToFile(&fs, "mapped", "/f", Durability::kSynced).ok());
  vfs::FileOptions options;
  options.use_mmap_reads = true;
  std::unique_ptr<vfs::RandomAccessFile> file;
  ASSERT_TRUE(fs.NewRandomAccessFile("/f", options, &file).ok());
  Slice contents;
  ASSERT_TRUE(file->Map(&contents).ok());
  ASSERT_TRUE(WriteStringToFile(&fs, "changed", "/f", Durability::kSynced).ok());
  EXPECT_EQ(contents, Slice("mapped"));
}

}  // namespace
}  // namespace ashlar
