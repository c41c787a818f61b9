#include "tests/support/fault_file_system.h"

#include <gtest/gtest.h>

#include <bit>
#include <memory>
#include <string>

#include "filesystem/file_helpers.h"
#include "filesystem/memory_file_system.h"

namespace ashlar {
namespace {

class FaultFileSystemTest : public testing::Test {
 protected:
  std::unique_ptr<vfs::WritableFile> Create(const std::string& path) {
    std::unique_ptr<vfs::WritableFile> file;
    EXPECT_TRUE(fs_.NewWritableFile(path, vfs::FileOptions(), &file).ok());
    return file;
  }
  std::string ReadAll(const std::string& path) {
    return *ReadFileToString(memory_.get(), path, 1 << 20);
  }

  const std::shared_ptr<MemoryFileSystem> memory_ = std::make_shared<MemoryFileSystem>();
  FaultFileSystem fs_{memory_};
};

TEST_F(FaultFileSystemTest, FiresAtTheNthMatchingCallOnce) {
  std::unique_ptr<vfs::WritableFile> log = Create("/a.log");
  std::unique_ptr<vfs::WritableFile> other = Create("/b");
  FaultRule rule;
  rule.operations = FaultOperation::kSync;
  rule.name_contains = ".log";
  rule.nth = 2;
  fs_.AddRule(rule);
  EXPECT_TRUE(other->Sync().ok());
  EXPECT_TRUE(log->Sync().ok());
  EXPECT_TRUE(other->Sync().ok());
  const Status status = log->Sync();
  EXPECT_TRUE(status.IsIOError());
  EXPECT_NE(status.ToString().find("/a.log"), std::string::npos);
  EXPECT_TRUE(log->Sync().ok());
  EXPECT_EQ(fs_.FaultsInjected(), 1u);
  EXPECT_EQ(fs_.CallCount(FaultOperation::kSync), 5u);
}

TEST_F(FaultFileSystemTest, ARuleOfAFolderLeavesOthersAlone) {
  ASSERT_TRUE(fs_.CreateDir("/db").ok());
  ASSERT_TRUE(fs_.CreateDir("/copy").ok());
  std::unique_ptr<vfs::WritableFile> log = Create("/db/1.log");
  std::unique_ptr<vfs::WritableFile> copy = Create("/copy/1.log");
  FaultRule rule;
  rule.operations = FaultOperation::kSync;
  rule.name_contains = ".log";
  rule.path_begins_with = "/db/";
  fs_.AddRule(rule);
  EXPECT_TRUE(copy->Sync().ok());
  EXPECT_TRUE(log->Sync().IsIOError());
}

TEST_F(FaultFileSystemTest, AStickyRuleKeepsFiringUntilCleared) {
  std::unique_ptr<vfs::WritableFile> file = Create("/f");
  FaultRule rule;
  rule.operations = FaultOperation::kAppend;
  rule.nth = 2;
  rule.sticky = true;
  rule.error = Status::NoSpace("disk full");
  fs_.AddRule(rule);
  EXPECT_TRUE(file->Append("a").ok());
  EXPECT_TRUE(file->Append("b").IsNoSpace());
  EXPECT_TRUE(file->Append("c").IsNoSpace());
  fs_.ClearRules();
  EXPECT_TRUE(file->Append("d").ok());
  EXPECT_TRUE(file->Close().ok());
  EXPECT_EQ(ReadAll("/f"), "ad");
}

TEST_F(FaultFileSystemTest, AnErrorCanComeAfterTheEffect) {
  std::unique_ptr<vfs::WritableFile> file = Create("/f");
  FaultRule rule;
  rule.operations = FaultOperation::kAppend | FaultOperation::kRename;
  rule.effect = FaultEffect::kFailAfter;
  rule.sticky = true;
  fs_.AddRule(rule);
  EXPECT_TRUE(file->Append("written").IsIOError());
  EXPECT_TRUE(file->Close().ok());
  EXPECT_TRUE(fs_.RenameFile("/f", "/g").IsIOError());
  EXPECT_EQ(ReadAll("/g"), "written");
}

TEST_F(FaultFileSystemTest, AnAppendCanBeCutShort) {
  std::unique_ptr<vfs::WritableFile> file = Create("/f");
  FaultRule rule;
  rule.operations = FaultOperation::kAppend;
  rule.effect = FaultEffect::kPartialAppend;
  fs_.AddRule(rule);
  EXPECT_TRUE(file->Append("0123456789").IsIOError());
  EXPECT_TRUE(file->Close().ok());
  EXPECT_EQ(ReadAll("/f"), "01234");
}

TEST_F(FaultFileSystemTest, ReadsCanLie) {
  ASSERT_TRUE(WriteStringToFile(memory_.get(), "0123456789", "/f", Durability::kSynced).ok());
  for (const bool is_mapped : {false, true}) {
    vfs::FileOptions options;
    options.use_mmap_reads = is_mapped;
    std::unique_ptr<vfs::RandomAccessFile> file;
    ASSERT_TRUE(fs_.NewRandomAccessFile("/f", options, &file).ok());
    char scratch[16];
    Slice result;
    FaultRule rule;
    rule.operations = FaultOperation::kRead;

    rule.effect = FaultEffect::kShortRead;
    fs_.AddRule(rule);
    ASSERT_TRUE(file->Read(0, 8, &result, scratch).ok());
    EXPECT_EQ(result, Slice("0123"));

    fs_.ClearRules();
    rule.effect = FaultEffect::kBitFlip;
    fs_.AddRule(rule);
    ASSERT_TRUE(file->Read(0, 10, &result, scratch).ok());
    int bits = 0;
    for (size_t i = 0; i < 10; i++)
      bits += std::popcount(static_cast<unsigned char>(result[i] ^ "0123456789"[i]));
    EXPECT_EQ(bits, 1);

    fs_.ClearRules();
    rule.effect = FaultEffect::kMisdirectedRead;
    fs_.AddRule(rule);
    ASSERT_TRUE(file->Read(4, 3, &result, scratch).ok());
    EXPECT_EQ(result, Slice("123"));

    fs_.ClearRules();
    ASSERT_TRUE(file->Read(0, 10, &result, scratch).ok());
    EXPECT_EQ(result, Slice("0123456789"));
  }
}

TEST_F(FaultFileSystemTest, RulesAboutReadsLeaveOtherCallsAlone) {
  FaultRule rule;
  rule.effect = FaultEffect::kBitFlip;
  rule.sticky = true;
  fs_.AddRule(rule);
  std::unique_ptr<vfs::WritableFile> file = Create("/f");
  EXPECT_TRUE(file->Append("x").ok());
  EXPECT_TRUE(file->Close().ok());
  EXPECT_EQ(fs_.FaultsInjected(), 0u);
}

TEST_F(FaultFileSystemTest, ASweepReachesEveryCall) {
  const auto workload = [this] {
    ASHLAR_RETURN_IF_ERROR(WriteStringToFile(&fs_, "contents", "/f", Durability::kSynced));
    ASHLAR_RETURN_IF_ERROR(fs_.RenameFile("/f", "/g"));
    ASHLAR_RETURN_IF_ERROR(ReadFileToString(&fs_, "/g", 100).status());
    return fs_.DeleteFile("/g");
  };
  ASSERT_TRUE(workload().ok());
  const uint64_t calls = fs_.CallCount(FaultOperation::kAny);
  EXPECT_EQ(calls, 9u);  // open, append, sync, close, rename, open, read twice, delete
  for (uint64_t n = 1; n <= calls; n++) {
    fs_.ClearRules();
    fs_.ResetCounts();
    FaultRule rule;
    rule.nth = n;
    fs_.AddRule(rule);
    EXPECT_FALSE(workload().ok()) << n;
    EXPECT_EQ(fs_.FaultsInjected(), 1u) << n;
  }
}

TEST(FaultFileSystem, AnActionRunsBeforeItsCallAndNothingFails) {
  const auto disk = std::make_shared<MemoryFileSystem>();
  FaultFileSystem faults(disk);
  FaultRule rule;
  rule.operations = FaultOperation::kInspect;
  rule.nth = 2;
  rule.effect = FaultEffect::kRunAction;
  rule.action = [&] { EXPECT_TRUE(disk->CreateDir("made").ok()); };
  faults.AddRule(rule);
  EXPECT_FALSE(faults.FileExists("made").ok());
  EXPECT_TRUE(faults.FileExists("made").ok());
  EXPECT_TRUE(faults.FileExists("made").ok());
  EXPECT_EQ(faults.FaultsInjected(), 0u);
}

}  // namespace
}  // namespace ashlar
