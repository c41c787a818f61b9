// A copy that a program makes with DB::GetLiveFilesStorageInfo: it links, truncates and writes
// files as the list says, and syncs them. After a power cut at any operation the source has lost
// nothing durable, and a synced copy is a state of the source. Also a copy during which a writer
// switches the log, makes a new MANIFEST and compacts, at each call on the copy.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/format.h"
#include "tests/crash/file_call_fixture.h"
#include "tests/support/copy_live_file.h"
#include "tests/support/crash_file_system.h"
#include "tests/support/expect_ok.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/fault_sweep.h"
#include "tests/support/file_damage.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

constexpr char kCopy[] = "/copy";

// The parameter: LiveFilesStorageInfoOptions::wal_size_for_flush.
class StorageInfoCrashTest : public ::testing::TestWithParam<uint64_t> {
 protected:
  StorageInfoCrashTest() { Start(); }

  static Options Settings() {
    Options options = SmallDatabaseOptions();
    options.max_manifest_file_size = 500;
    return options;
  }
  void Start() {
    disk_ = std::make_shared<CrashFileSystem>();
    faults_ = std::make_shared<FaultFileSystem>(disk_);
    database_ = std::make_unique<OpenDatabase>(faults_, Settings(), 1);
  }
  void Write(int i) {
    const Commit commit = BatchOverFamilies(i);
    ASSERT_OK(database_->Write(commit, WriteOptions()));
    Apply(commit, &contents_);
    states_.push_back(contents_);
  }
  void Flush() { ASSERT_OK(database_->Flush(database_->families(), true)); }
  // Makes tables of both families, and a log of unsynced writes.
  void Prepare() {
    ASSERT_OK(database_->Open());
    ASSERT_OK(database_->CreateFamily(kOther));
    contents_ = {{kDefaultColumnFamilyName, {}}, {kOther, {}}};
    for (int i = 0; i < 3; ++i) {
      Write(i);
      Flush();
    }
    states_ = {contents_};
    Write(3);
    Write(4);
  }
  // Runs between two calls of the copy.
  void Race() {
    Write(10);
    Flush();
    Write(11);
    ASSERT_OK(database_->db()->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    Write(12);
  }

  void Copy() {
    ASSERT_OK(faults_->CreateDirIfMissing(kCopy));
    ASSERT_OK(database_->db()->DisableFileDeletions());
    LiveFilesStorageInfoOptions options;
    options.wal_size_for_flush = GetParam();
    std::vector<LiveFileStorageInfo> files;
    ASSERT_OK(database_->db()->GetLiveFilesStorageInfo(options, &files));
    for (const LiveFileStorageInfo& file : files) {
      ASSERT_NO_FATAL_FAILURE(CopyLiveFile(faults_.get(), file, kCopy));
      std::unique_ptr<vfs::WritableFile> copied;
      ASSERT_OK(
          faults_->ReopenWritableFile(StrCat(kCopy, "/", file.relative_filename), {}, &copied));
      ASSERT_OK(copied->Sync());
      ASSERT_OK(copied->Close());
    }
    for (const char* const path : {kCopy, "/"}) {
      std::unique_ptr<vfs::Directory> directory;
      ASSERT_OK(faults_->NewDirectory(path, &directory));
      ASSERT_OK(directory->Sync());
    }
    ASSERT_OK(database_->db()->EnableFileDeletions());
  }

  static void ReadImage(const CrashImage& image, Contents* found) {
    OpenDatabase opened(image.file_system, Settings(), 2);
    const Status status = opened.Open();
    ASSERT_TRUE(status.ok()) << status.ToString();
    ASSERT_OK(opened.Read(found));
    ASSERT_OK(opened.db()->VerifyChecksum());
    ASSERT_OK(opened.Close());
  }
  // Expects a state that the source has had from states_[from] on.
  void ExpectState(const Contents& found, size_t from) const {
    ASSERT_TRUE(std::find(states_.begin() + static_cast<std::ptrdiff_t>(from), states_.end(),
                          found) != states_.end());
  }
  // Checks the source in an image, and then the copy in its place.
  void CheckCopied(const CrashImage& image, size_t from) const {
    Contents found;
    ASSERT_NO_FATAL_FAILURE(ReadImage(image, &found));
    ASSERT_NO_FATAL_FAILURE(ExpectState(found, 0));
    ASSERT_OK(image.file_system->RenameFile(OpenDatabase::kPath, "/source"));
    ASSERT_OK(image.file_system->RenameFile(kCopy, OpenDatabase::kPath));
    ASSERT_NO_FATAL_FAILURE(ReadImage(image, &found));
    ASSERT_NO_FATAL_FAILURE(ExpectState(found, from));
  }

  std::shared_ptr<CrashFileSystem> disk_;
  std::shared_ptr<FaultFileSystem> faults_;
  std::unique_ptr<OpenDatabase> database_;
  Contents contents_;
  std::vector<Contents> states_;  // the states since the last durable one
};

TEST_P(StorageInfoCrashTest, CutOffAnywhereTheSourceIsWholeAndTheCopyOnceSynced) {
  Prepare();
  const uint64_t begun = disk_->OperationCount();
  ASSERT_NO_FATAL_FAILURE(Copy());
  const uint64_t done = disk_->OperationCount();
  uint64_t images = 0;
  for (uint64_t k = begun; k <= done && !HasFailure(); ++k) {
    disk_->EnumerateCrashImages(k, 5, [&](const CrashImage& image) {
      if (HasFailure()) return;
      SCOPED_TRACE(StrCat("cut off after ", k, " operations (", CrashKindName(image.kind), ", ",
                          image.seed, "), the last one: ", disk_->DescribeOperation(k - 1)));
      ++images;
      if (k == done) return CheckCopied(image, states_.size() - 1);
      Contents found;
      ASSERT_NO_FATAL_FAILURE(ReadImage(image, &found));
      ExpectState(found, 0);
    });
  }
  EXPECT_GT(images, 100u);
}

// Runs one race at each call, until the copy ends before the race.
TEST_P(StorageInfoCrashTest, RacedAnywhereTheCopyIsAStateFromTheCallOn) {
  bool raced = true;
  uint64_t races = 0;
  for (uint64_t nth = 1; raced && !HasFailure(); ++nth) {
    SCOPED_TRACE(StrCat("at call ", nth));
    Start();
    Prepare();
    const size_t from = states_.size() - 1;
    FaultRule rule;
    rule.name_contains = kCopy;  // no lock of the database is held
    rule.nth = nth;
    raced = RunDuring(faults_.get(), rule, [&] { Race(); }, [&] { Copy(); });
    ASSERT_FALSE(HasFatalFailure());
    if (raced) ++races;
    const CrashImage image =
        disk_->MakeCrashImage(disk_->OperationCount(), CrashKind::kDurableOnly, nth);
    ASSERT_NO_FATAL_FAILURE(CheckCopied(image, from));
  }
  EXPECT_GT(races, 10u);
}

INSTANTIATE_TEST_SUITE_P(Flushes, StorageInfoCrashTest, ::testing::Values(uint64_t{0}, UINT64_MAX),
                         [](const ::testing::TestParamInfo<uint64_t>& bytes) -> std::string {
                           return bytes.param == 0 ? "WithAFlush" : "WithTheLog";
                         });

}  // namespace
}  // namespace ashlar
