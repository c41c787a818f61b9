// GetLiveFilesStorageInfo with an error at each file system call, with a flush and with the log.
// Nothing is lost, deletions continue, and the next call lists a complete database.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/format.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/copy_live_file.h"
#include "tests/support/expect_ok.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/fault_sweep.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

// The parameter: LiveFilesStorageInfoOptions::wal_size_for_flush.
class StorageInfoFaultTest : public ::testing::TestWithParam<uint64_t> {
 protected:
  void Write(const std::string& value) {
    const Commit commit = {{.kind = Change::Kind::kPut,
                            .family = kDefaultColumnFamilyName,
                            .key = StrCat("key", 100 + ++writes_ % 50),
                            .value = value}};
    ASSERT_OK(database_.Write(commit, WriteOptions()));
    Apply(commit, &contents_);
  }
  Status List(std::vector<LiveFileStorageInfo>* files) {
    LiveFilesStorageInfoOptions options;
    options.wal_size_for_flush = GetParam();
    return database_.db()->GetLiveFilesStorageInfo(options, files);
  }
  // Opens the copy in a separate file system at the path where OpenDatabase opens.
  void ExpectCopy(const std::vector<LiveFileStorageInfo>& files) {
    const auto target = std::make_shared<MemoryFileSystem>(disk_->Snapshot());
    ASSERT_OK(target->CreateDir("/copy"));
    for (const LiveFileStorageInfo& file : files)
      ASSERT_NO_FATAL_FAILURE(CopyLiveFile(target.get(), file, "/copy"));
    ASSERT_OK(target->RenameFile(OpenDatabase::kPath, "/source"));
    ASSERT_OK(target->RenameFile("/copy", OpenDatabase::kPath));
    OpenDatabase copy(target, SmallDatabaseOptions(), 2);
    const Status opened = copy.Open();
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    Contents found;
    ASSERT_OK(copy.Read(&found));
    ASSERT_TRUE(found == contents_);
  }

  const std::shared_ptr<MemoryFileSystem> disk_ = std::make_shared<MemoryFileSystem>();
  const std::shared_ptr<FaultFileSystem> faults_ = std::make_shared<FaultFileSystem>(disk_);
  OpenDatabase database_{faults_, SmallDatabaseOptions(), 1};
  Contents contents_;
  int writes_ = 0;
};

TEST_P(StorageInfoFaultTest, AnErrorAtAnyCallHarmsNothing) {
  ASSERT_OK(database_.Open());
  for (int i = 0; i < 60; ++i) Write("value");
  ASSERT_OK(database_.Flush(database_.families(), true));
  Write("in the log");
  for (const FaultEffect effect : {FaultEffect::kFailBefore, FaultEffect::kFailAfter}) {
    uint64_t failures = 0;
    Status listed;
    std::vector<LiveFileStorageInfo> files;
    FaultRule rule;
    rule.effect = effect;
    const auto check = [&] {
      if (!listed.ok()) ++failures;
      ASSERT_TRUE(listed.ok() || files.empty());
      // A failed flush has latched its error.
      ASSERT_OK(database_.db()->Resume());
      std::string enabled;
      ASSERT_TRUE(database_.db()->GetProperty("rocksdb.is-file-deletions-enabled", &enabled));
      ASSERT_EQ(enabled, "1") << listed.ToString();
      Contents found;
      ASSERT_OK(database_.Read(&found));
      ASSERT_TRUE(found == contents_);
      ASSERT_OK(List(&files));
      ASSERT_NO_FATAL_FAILURE(ExpectCopy(files));
      Write("after an error");
    };
    SweepFaults(faults_.get(), rule, [&] { listed = List(&files); }, check);
    EXPECT_GT(failures, 2u);
  }
  ASSERT_OK(database_.Close());
}

INSTANTIATE_TEST_SUITE_P(Flushes, StorageInfoFaultTest, ::testing::Values(uint64_t{0}, UINT64_MAX),
                         [](const ::testing::TestParamInfo<uint64_t>& bytes) -> std::string {
                           return bytes.param == 0 ? "WithAFlush" : "WithTheLog";
                         });

}  // namespace
}  // namespace ashlar
