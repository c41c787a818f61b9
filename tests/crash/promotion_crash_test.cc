// A promotion that is cut off after each of its operations, with every kind of damage. The next
// open finds a prefix of the dead primary's writes, which includes all that it had synced. After
// the promotion it finds everything that the new primary had shown when it syncs a write.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/format.h"
#include "filesystem/filename.h"
#include "tests/support/crash_file_system.h"
#include "tests/support/expect_ok.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

constexpr char kQuiet[] = "quiet";

Commit Batch(int i) {
  Commit commit = {{.kind = Change::Kind::kMerge,
                    .family = kDefaultColumnFamilyName,
                    .key = "list",
                    .value = StrCat(i, std::string(300, 'v'))}};
  if (i % 3 == 0) {
    commit.push_back(
        {.kind = Change::Kind::kPut, .family = kQuiet, .key = StrCat("key", i), .value = "v"});
  }
  return commit;
}

class PromotionCrashTest : public ::testing::Test {
 protected:
  static constexpr int kBatches = 6;

  // The dead primary synced only its first batches.
  void CutOffAnywhere(Options options, int synced_batches = kBatches) {
    const auto disk = std::make_shared<CrashFileSystem>();
    const auto primary_files = std::make_shared<FaultFileSystem>(disk);
    Contents contents = {{kDefaultColumnFamilyName, {}}, {kQuiet, {}}};
    std::vector<Contents> prefixes;  // that may be left, from the last synced batch on
    WriteOptions synced;
    synced.sync = true;
    {
      OpenDatabase primary(primary_files, options, 1);
      ASSERT_OK(primary.Open());
      ASSERT_OK(primary.CreateFamily(kQuiet));
      for (int i = 1; i <= kBatches; ++i) {
        ASSERT_OK(primary.Write(Batch(i), i <= synced_batches ? synced : WriteOptions()));
        Apply(Batch(i), &contents);
        if (i >= synced_batches) prefixes.push_back(contents);
        if (i == 2) {
          ASSERT_OK(primary.Flush(primary.families(), true));
        }
      }
      FaultRule dead;
      dead.operations = FaultOperation::kAnyWrite;
      dead.sticky = true;
      primary_files->AddRule(dead);
    }
    ManualEnv env(disk, 2);
    options.env = &env;
    std::unique_ptr<DB> db;
    std::vector<ColumnFamilyHandle*> made;
    ASSERT_OK(DB::OpenAsSecondary(options, OpenDatabase::kPath, "/secondary",
                                  {ColumnFamilyDescriptor(kDefaultColumnFamilyName, options),
                                   ColumnFamilyDescriptor(kQuiet, options)},
                                  &made, &db));
    const std::unique_ptr<ColumnFamilyHandle> default_family(made[0]);
    const std::unique_ptr<ColumnFamilyHandle> quiet(made[1]);
    const uint64_t begun = disk->OperationCount();
    ASSERT_OK(db->PromoteToPrimary());
    const uint64_t promoted = disk->OperationCount();
    ASSERT_OK(db->Put(synced, quiet.get(), "after", "v"));
    contents[kQuiet]["after"] = "v";
    const uint64_t done = disk->OperationCount();
    uint64_t images = 0;
    for (uint64_t k = begun; k <= done && !HasFailure(); ++k) {
      disk->EnumerateCrashImages(k, 3, [&](const CrashImage& image) {
        if (HasFailure()) return;
        SCOPED_TRACE(StrCat("cut off after ", k, " operations (", CrashKindName(image.kind), ", ",
                            image.seed, "), the last one: ", disk->DescribeOperation(k - 1)));
        ++images;
        OpenDatabase recovered(image.file_system, options, 3);
        ASSERT_OK(recovered.Open());
        Contents found;
        ASSERT_OK(recovered.Read(&found));
        const bool is_prefix = std::find(prefixes.begin(), prefixes.end(), found) != prefixes.end();
        ASSERT_TRUE(found == contents || (is_prefix && k < done));
        ASSERT_TRUE(is_prefix || k > promoted);
        ASSERT_OK(recovered.Write(Batch(7), synced));
        ASSERT_OK(recovered.db()->VerifyChecksum());
      });
    }
    EXPECT_GT(images, 100U);
    std::printf("%llu operations, %llu images\n", static_cast<unsigned long long>(done - begun),
                static_cast<unsigned long long>(images));
  }
};

TEST_F(PromotionCrashTest, CutOffAnywhereNothingIsLost) { CutOffAnywhere(SmallDatabaseOptions()); }

TEST_F(PromotionCrashTest, CutOffAnywhereWithReplayedLogsThatStay) {
  Options options = SmallDatabaseOptions();
  options.avoid_flush_during_recovery = true;
  CutOffAnywhere(options);
}

TEST_F(PromotionCrashTest, CutOffAnywhereWithUnsyncedWritesOfTheDead) {
  Options options = SmallDatabaseOptions();
  for (const bool logs_stay : {false, true}) {
    options.avoid_flush_during_recovery = logs_stay;
    CutOffAnywhere(options, 3);
  }
}

TEST_F(PromotionCrashTest, CutOffAnywhereWithAnArchiveAndLogsInAnotherFolder) {
  Options options = SmallDatabaseOptions();
  options.WAL_ttl_seconds = 3600;
  CutOffAnywhere(options, 4);
  options.wal_dir = "/logs";
  CutOffAnywhere(options, 4);
}

// The creator dies before it syncs the directory. If the new primary's log in another folder
// outlasts CURRENT, it must not be taken for another database's log, which prevents a creation.
TEST_F(PromotionCrashTest, ADatabaseWhoseCreatorDiedOpensAfterAPowerCut) {
  Options options = SmallDatabaseOptions();
  options.wal_dir = "/logs";
  const auto first = std::make_shared<CrashFileSystem>();
  {
    OpenDatabase database(first, options, 1);
    ASSERT_OK(database.Open());
    ASSERT_OK(database.Close());
  }
  const auto has_database = [&](uint64_t k, CrashKind kind) {
    return first->MakeCrashImage(k, kind, 0)
        .file_system->FileExists(CurrentFileName(OpenDatabase::kPath))
        .ok();
  };
  uint64_t images = 0;
  for (uint64_t died = 0; died <= first->OperationCount() && !HasFailure(); ++died) {
    if (!has_database(died, CrashKind::kEverything) || has_database(died, CrashKind::kDurableOnly))
      continue;
    const std::shared_ptr<CrashFileSystem> disk = first->AfterProcessDeath(died);
    ManualEnv env(disk, 2);
    options.env = &env;
    std::unique_ptr<DB> db;
    std::vector<ColumnFamilyHandle*> made;
    ASSERT_OK(DB::OpenAsSecondary(options, OpenDatabase::kPath, "/secondary",
                                  {ColumnFamilyDescriptor(kDefaultColumnFamilyName, options)},
                                  &made, &db));
    const std::unique_ptr<ColumnFamilyHandle> default_family(made[0]);
    ASSERT_OK(db->PromoteToPrimary());
    for (uint64_t k = died; k <= disk->OperationCount() && !HasFailure(); ++k) {
      disk->EnumerateCrashImages(k, 3, [&](const CrashImage& image) {
        if (HasFailure()) return;
        SCOPED_TRACE(StrCat("died after ", died, " operations, cut off after ", k, " (",
                            CrashKindName(image.kind), ", ", image.seed, ")"));
        ++images;
        OpenDatabase recovered(image.file_system, options, 3);
        ASSERT_OK(recovered.Open());
      });
    }
  }
  EXPECT_GT(images, 0U);
}

}  // namespace
}  // namespace ashlar
