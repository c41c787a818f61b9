// Checkpoints and power cuts. At every file system operation, with every kind of damage, the
// destination is absent or a complete checkpoint. It is complete once the call has returned. The
// original opens in each image, and if there is no checkpoint, the same call makes one over the
// leftovers. In a second test, at every call on the temporary folder in turn, a writer switches the
// log and creates a new MANIFEST.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/checkpoint.h"
#include "base/format.h"
#include "tests/crash/file_call_fixture.h"
#include "tests/support/crash_file_system.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/fault_sweep.h"
#include "tests/support/file_damage.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

constexpr char kCopy[] = "/copy";

class CheckpointCrashTest : public ::testing::Test {
 protected:
  CheckpointCrashTest()
      : disk_(std::make_shared<CrashFileSystem>()),
        faults_(std::make_shared<FaultFileSystem>(disk_)),
        database_(std::make_unique<OpenDatabase>(faults_, Settings(), 1)) {}

  static Options Settings() {
    Options options = SmallDatabaseOptions();
    options.max_manifest_file_size = 500;
    return options;
  }

  void Write(int i) {
    const Commit commit = BatchOverFamilies(i);
    ASSERT_TRUE(database_->Write(commit, WriteOptions()).ok());
    Apply(commit, &contents_);
    states_.push_back(contents_);
    history_.push_back(contents_);
  }

  // Makes tables of both families, a log of unsynced writes, and a MANIFEST that is soon too long.
  void Prepare() {
    ASSERT_TRUE(database_->Open().ok());
    ASSERT_TRUE(database_->CreateFamily(kOther).ok());
    contents_ = {{kDefaultColumnFamilyName, {}}, {kOther, {}}};
    history_.clear();
    for (int i = 0; i < 3; ++i) {
      Write(i);
      ASSERT_TRUE(database_->Flush(i % 2 == 0 ? std::set<std::string>{kOther} : All(), true).ok());
      if (i == 1) history_ = {contents_};  // durable
    }
    Write(3);
    states_ = {contents_};
  }
  std::set<std::string> All() const { return database_->families(); }

  // Runs between two calls of the checkpoint.
  void Race() {
    Write(10);
    ASSERT_TRUE(database_->Flush({kDefaultColumnFamilyName}, true).ok());
    Write(11);
    ASSERT_TRUE(database_->Flush(All(), true).ok());
    Write(12);
  }

  Status Create(uint64_t log_size_for_flush) {
    return CreateOf(database_->db(), log_size_for_flush);
  }
  static Status CreateOf(DB* db, uint64_t log_size_for_flush) {
    Checkpoint* made = nullptr;
    EXPECT_TRUE(Checkpoint::Create(db, &made).ok());
    const std::unique_ptr<Checkpoint> checkpoint(made);
    return checkpoint->CreateCheckpoint(kCopy, log_size_for_flush);
  }
  static bool IsOneOf(const std::vector<Contents>& states, const Contents& found) {
    return std::find(states.begin(), states.end(), found) != states.end();
  }

  // Checks the original in the image, whose log a checkpoint need not sync. From the original,
  // repeats every fourth checkpoint that is missing.
  void CheckOriginal(const CrashImage& image, Contents* found) {
    OpenDatabase original(image.file_system, Settings(), 2);
    const Status opened = original.Open();
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    ASSERT_TRUE(original.Read(found).ok());
    ASSERT_TRUE(IsOneOf(history_, *found)) << "the original has lost durable writes";
    if (!image.file_system->FileExists(kCopy).ok() && images_ % 4 == 0) {
      const Status created = CreateOf(original.db(), images_ % 8 == 0 ? 0 : UINT64_MAX);
      ASSERT_TRUE(created.ok()) << "over leftovers: " << created.ToString();
      ++made_again_;
    }
    ASSERT_TRUE(original.Close().ok());
  }

  // Checks the checkpoint in the image, which is moved to where OpenDatabase opens.
  void CheckImage(const CrashImage& image, bool must_exist) {
    ++images_;
    const bool exists = image.file_system->FileExists(kCopy).ok();
    ASSERT_TRUE(exists || !must_exist) << "the checkpoint is gone";
    Contents of_original;
    CheckOriginal(image, &of_original);
    if (HasFailure() || !image.file_system->FileExists(kCopy).ok()) return;
    ASSERT_TRUE(image.file_system->RenameFile(OpenDatabase::kPath, "/original").ok());
    ASSERT_TRUE(image.file_system->RenameFile(kCopy, OpenDatabase::kPath).ok());
    OpenDatabase copy(image.file_system, Settings(), 2);
    const Status opened = copy.Open();
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    Contents found;
    ASSERT_TRUE(copy.Read(&found).ok());
    if (exists) {
      ASSERT_TRUE(IsOneOf(states_, found)) << "not a state from the call to its return";
    } else {
      ASSERT_TRUE(found == of_original) << "made again, it differs from the original";
    }
  }

  void CheckImages(uint64_t from, uint64_t done) {
    for (uint64_t k = from; k <= done && !HasFailure(); ++k) {
      disk_->EnumerateCrashImages(k, 3, [&](const CrashImage& image) {
        if (HasFailure()) return;
        SCOPED_TRACE(StrCat("cut off after ", k, " operations (", CrashKindName(image.kind), ", ",
                            image.seed, "), the last one: ", disk_->DescribeOperation(k - 1)));
        CheckImage(image, k >= done);
      });
    }
  }

  const std::shared_ptr<CrashFileSystem> disk_;
  const std::shared_ptr<FaultFileSystem> faults_;
  std::unique_ptr<OpenDatabase> database_;
  Contents contents_;
  std::vector<Contents> states_;   // the states since the call of the checkpoint
  std::vector<Contents> history_;  // the states since the last one that was durable before it
  uint64_t images_ = 0;
  uint64_t made_again_ = 0;  // checkpoints in images
};

TEST_F(CheckpointCrashTest, IsCompleteOrAbsentAfterAPowerCutAnywhere) {
  Prepare();
  const uint64_t begun = disk_->OperationCount();
  ASSERT_TRUE(Create(UINT64_MAX).ok());
  CheckImages(begun + 1, disk_->OperationCount());
  EXPECT_GT(made_again_, 20U);
  std::printf("%llu operations, %llu images\n",
              static_cast<unsigned long long>(disk_->OperationCount() - begun),
              static_cast<unsigned long long>(images_));
}

TEST_F(CheckpointCrashTest, WithAFlushToo) {
  Prepare();
  const uint64_t begun = disk_->OperationCount();
  ASSERT_TRUE(Create(0).ok());
  CheckImages(begun + 1, disk_->OperationCount());
}

// The folder of an exported family contains all of its tables or is absent.
TEST_F(CheckpointCrashTest, AnExportIsCompleteOrAbsent) {
  Prepare();
  const uint64_t begun = disk_->OperationCount();
  Checkpoint* made = nullptr;
  ASSERT_TRUE(Checkpoint::Create(database_->db(), &made).ok());
  const std::unique_ptr<Checkpoint> checkpoint(made);
  ExportImportFilesMetaData* exported = nullptr;
  ASSERT_TRUE(checkpoint->ExportColumnFamily(database_->family(kOther), kCopy, &exported).ok());
  const std::unique_ptr<ExportImportFilesMetaData> metadata(exported);
  std::vector<std::string> bytes;
  for (const LiveFileMetaData& file : metadata->files)
    bytes.push_back(ContentsOf(disk_.get(), kCopy + file.name));
  const uint64_t done = disk_->OperationCount();
  for (uint64_t k = begun + 1; k <= done && !HasFailure(); ++k) {
    disk_->EnumerateCrashImages(k, 3, [&](const CrashImage& image) {
      SCOPED_TRACE(StrCat("cut off after ", k, " operations"));
      const bool exists = image.file_system->FileExists(kCopy).ok();
      ASSERT_TRUE(exists || k < done) << "the export is gone";
      for (size_t i = 0; i < bytes.size() && exists; ++i) {
        const std::string path = kCopy + metadata->files[i].name;
        ASSERT_TRUE(image.file_system->FileExists(path).ok()) << path;
        ASSERT_TRUE(ContentsOf(image.file_system.get(), path) == bytes[i]) << path;
      }
    });
  }
}

// Runs one race at each call on the temporary folder, until the checkpoint ends before the race.
TEST_F(CheckpointCrashTest, RacingALogSwitchAndANewManifestAnywhere) {
  bool raced = true;
  for (uint64_t nth = 1; raced && !HasFailure(); ++nth) {
    SCOPED_TRACE(StrCat("at call ", nth));
    const auto disk = std::make_shared<CrashFileSystem>();
    const auto faults = std::make_shared<FaultFileSystem>(disk);
    database_ = std::make_unique<OpenDatabase>(faults, Settings(), nth);
    Prepare();
    FaultRule rule;
    rule.name_contains = ".checkpoint-tmp";
    rule.nth = nth;
    Status created;
    raced = RunDuring(
        faults.get(), rule, [&] { Race(); },
        [&] { created = Create(nth % 2 == 0 ? 0 : UINT64_MAX); });
    ASSERT_TRUE(created.ok()) << created.ToString();
    disk->EnumerateCrashImages(disk->OperationCount(), nth, [&](const CrashImage& image) {
      if (!HasFailure()) CheckImage(image, true);
    });
  }
  EXPECT_GT(images_, 100U);
}

}  // namespace
}  // namespace ashlar
