#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <unordered_map>

#include "filesystem/file_helpers.h"
#include "filesystem/memory_file_system.h"
#include "space/database_space.h"
#include "tests/support/expect_ok.h"
#include "tests/support/manual_env.h"

namespace ashlar {
namespace {

using Files = std::unordered_map<std::string, uint64_t>;

class SstFileManagerTest : public ::testing::Test {
 protected:
  SstFileManagerTest() {
    EXPECT_OK(files_->CreateDir("/a"));
    EXPECT_OK(files_->CreateDir("/b"));
    a_.Open({.manager = manager_, .directory = "/a", .maps_tables = false, .has_logs = true});
    b_.Open({.manager = manager_, .directory = "/b", .maps_tables = false, .has_logs = false});
  }
  void MakeFile(const std::string& path, size_t bytes) {
    EXPECT_OK(
        WriteStringToFile(files_.get(), std::string(bytes, 'x'), path, Durability::kBuffered));
  }

  const std::shared_ptr<MemoryFileSystem> files_ = std::make_shared<MemoryFileSystem>();
  ManualEnv env_{files_, 1};
  const std::shared_ptr<SstFileManager> manager_{NewSstFileManager(&env_)};
  DatabaseSpace a_;
  DatabaseSpace b_;
};

TEST_F(SstFileManagerTest, TablesOfAllDatabasesAreCounted) {
  a_.Track(1, 100);
  a_.Track(2, 200);
  b_.Track(1, 1000);
  EXPECT_EQ(manager_->GetTotalSize(), 1300u);
  EXPECT_EQ(manager_->GetTrackedFiles(),
            (Files{{"/a/000001.sst", 100}, {"/a/000002.sst", 200}, {"/b/000001.sst", 1000}}));
  a_.Track(2, 250);
  a_.Untrack(1);
  a_.Untrack(7);
  EXPECT_EQ(manager_->GetTotalSize(), 1250u);
  a_.Close();
  EXPECT_EQ(manager_->GetTrackedFiles(), (Files{{"/b/000001.sst", 1000}}));
  b_.Close();
  EXPECT_EQ(manager_->GetTotalSize(), 0u);
}

// DB::Resume and DB::Close may do this. ThreadSanitizer finds an unsynchronised read.
TEST_F(SstFileManagerTest, TheLimitMayBeAskedForDuringAClose) {
  manager_->SetMaxAllowedSpaceUsage(1000);
  std::thread asks([this] {
    for (int i = 0; i < 1000; ++i) EXPECT_FALSE(a_.IsLimitReached());
  });
  a_.Close();
  asks.join();
  EXPECT_FALSE(a_.IsManaged());
}

TEST_F(SstFileManagerTest, TheLimitIsReachedByItsLastByte) {
  a_.Track(1, 999);
  manager_->SetMaxAllowedSpaceUsage(1000);
  EXPECT_FALSE(manager_->IsMaxAllowedSpaceReached());
  EXPECT_FALSE(b_.IsLimitReached());
  b_.Track(1, 1);
  EXPECT_TRUE(manager_->IsMaxAllowedSpaceReached());
  EXPECT_TRUE(a_.IsLimitReached());
  manager_->SetMaxAllowedSpaceUsage(0);
  EXPECT_FALSE(manager_->IsMaxAllowedSpaceReached());
}

TEST_F(SstFileManagerTest, CompactionsThatDoNotFitAreRefused) {
  a_.Track(1, 400);
  manager_->SetMaxAllowedSpaceUsage(1000);
  manager_->SetCompactionBufferSize(100);
  {
    DatabaseSpace::Reservation first;
    EXPECT_OK(a_.ReserveForCompaction(400, &first));
    EXPECT_FALSE(manager_->IsMaxAllowedSpaceReachedIncludingCompactions());
    DatabaseSpace::Reservation second;
    EXPECT_TRUE(b_.ReserveForCompaction(101, &second).IsCompactionTooLarge());
    EXPECT_OK(b_.ReserveForCompaction(100, &second));
    b_.Track(1, 100);
    EXPECT_TRUE(manager_->IsMaxAllowedSpaceReachedIncludingCompactions());
    EXPECT_FALSE(manager_->IsMaxAllowedSpaceReached());
  }
  EXPECT_FALSE(manager_->IsMaxAllowedSpaceReachedIncludingCompactions());
  DatabaseSpace::Reservation third;
  EXPECT_OK(a_.ReserveForCompaction(400, &third));
}

TEST_F(SstFileManagerTest, ABufferOfAnySizeIsKeptFree) {
  a_.Track(1, 400);
  manager_->SetMaxAllowedSpaceUsage(1000);
  manager_->SetCompactionBufferSize(UINT64_MAX);
  DatabaseSpace::Reservation reservation;
  EXPECT_TRUE(a_.ReserveForCompaction(400, &reservation).IsCompactionTooLarge());
}

TEST_F(SstFileManagerTest, TrashCountsUntilItHasGone) {
  manager_->SetDeleteRateBytesPerSecond(1000);
  MakeFile("/a/000001.sst", 300);
  a_.Track(1, 300);
  a_.Track(2, 300);
  manager_->SetMaxAllowedSpaceUsage(600);
  a_.Untrack(1);
  EXPECT_OK(a_.Delete("/a/000001.sst"));
  EXPECT_EQ(manager_->GetTotalTrashSize(), 300u);
  EXPECT_EQ(manager_->GetTrackedFiles(),
            (Files{{"/a/000001.sst.trash", 300}, {"/a/000002.sst", 300}}));
  EXPECT_TRUE(manager_->IsMaxAllowedSpaceReached());
  a_.Close();
  EXPECT_EQ(manager_->GetTotalSize(), 300u) << "trash is deleted after a close";
  EXPECT_TRUE(env_.RunOneJob());
  EXPECT_EQ(manager_->GetTotalSize(), 0u);
}

TEST_F(SstFileManagerTest, SomeFilesHaveNoPace) {
  EXPECT_TRUE(a_.Paces("/a/000001.sst"));
  EXPECT_TRUE(a_.Paces("/a/000001.log"));
  EXPECT_TRUE(a_.Paces("/a/000001.log.trash"));
  EXPECT_FALSE(b_.Paces("/b/000001.log")) << "its logs are elsewhere";
  for (const char* const path : {"/b/000001.sst", "/a/archive/000001.log", "/a/MANIFEST-000001",
                                 "/a/OPTIONS-000001", "/a/000001.dbtmp", "/a/CURRENT"})
    EXPECT_FALSE(a_.Paces(path)) << path;
  const DatabaseSpace without_manager;
  EXPECT_FALSE(without_manager.Paces("/a/000001.sst"));
}

TEST_F(SstFileManagerTest, TheFolderOfOldReleasesIsEmptied) {
  EXPECT_OK(files_->CreateDir("/trash"));
  MakeFile("/trash/000001.sst", 10);
  MakeFile("/trash/000002.sst.trash", 10);
  Status status = Status::Corruption("not set");
  const std::unique_ptr<SstFileManager> kept(
      NewSstFileManager(&env_, vfs::ToRocksFiles(files_), nullptr, "/trash", 0, false, &status));
  EXPECT_OK(status);
  std::vector<std::string> names;
  EXPECT_OK(files_->GetChildren("/trash", &names));
  EXPECT_EQ(names.size(), 2u);
  const std::unique_ptr<SstFileManager> emptied(
      NewSstFileManager(&env_, vfs::ToRocksFiles(files_), nullptr, "/trash", 0, true, &status));
  EXPECT_OK(status);
  EXPECT_OK(files_->GetChildren("/trash", &names));
  EXPECT_EQ(names.size(), 0u);
  const std::unique_ptr<SstFileManager> failed(
      NewSstFileManager(&env_, nullptr, "/none", 0, true, &status));
  EXPECT_TRUE(status.IsPathNotFound()) << status.ToString();
}

TEST_F(SstFileManagerTest, SettingsAreReadBack) {
  const std::unique_ptr<SstFileManager> manager(
      NewSstFileManager(&env_, nullptr, "", 77, true, nullptr, 0.5, 0));
  EXPECT_EQ(manager->GetDeleteRateBytesPerSecond(), 77);
  EXPECT_EQ(manager->GetMaxTrashDBRatio(), 0.5);
  manager->SetMaxTrashDBRatio(0.75);
  EXPECT_EQ(manager->GetMaxTrashDBRatio(), 0.75);
  EXPECT_EQ(manager_->GetDeleteRateBytesPerSecond(), 0);
  EXPECT_EQ(manager_->GetMaxTrashDBRatio(), 0.25);
}

}  // namespace
}  // namespace ashlar
