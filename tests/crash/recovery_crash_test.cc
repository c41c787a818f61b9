// The recovery itself, cut off after each of its operations, with every kind of damage: nothing that it found may be missing afterwards, and what it
// gave up as torn stays given up. Once a crash between two edits of a recovery made a database refuse to open for ever.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>

#include "base/format.h"
#include "filesystem/crash_file_system.h"
#include "filesystem/fault_file_system.h"
#include "testing/open_database.h"

namespace ashlar {
namespace {

class RecoveryCrashTest : public ::testing::Test {
 protected:
  // Two families; only the default one has data in the log, whose last record is torn.
  static MemoryImage KilledDatabase(const Options& options, Contents* contents) {
    const auto file_system = std::make_shared<CrashFileSystem>();
    OpenDatabase database(file_system, options, 1);
    EXPECT_TRUE(database.Open().ok());
    EXPECT_TRUE(database.CreateFamily("quiet").ok());
    EXPECT_TRUE(database.Write(Batch("quiet", 0), WriteOptions()).ok());
    EXPECT_TRUE(database.Flush({"quiet"}, true).ok());
    *contents = {{kDefaultColumnFamilyName, {}}, {"quiet", {}}};
    Apply(Batch("quiet", 0), contents);
    for (int i = 1; i <= 8; ++i) {
      EXPECT_TRUE(database.Write(Batch(kDefaultColumnFamilyName, i), WriteOptions()).ok());
      if (i < 8) Apply(Batch(kDefaultColumnFamilyName, i), contents);
    }
    return file_system->MakeCrashImage(file_system->OperationCount(), CrashKind::kTornWrite512, 2).file_system->Snapshot();
  }
  static Commit Batch(const std::string& family, int i) {
    return {{.kind = Change::Kind::kMerge, .family = family, .key = "list", .value = StrCat(i, std::string(600, 'v'))}};
  }

  void CutOffEverywhere(const Options& options) {
    Contents expected;
    const MemoryImage killed = KilledDatabase(options, &expected);
    const auto recovery = std::make_shared<CrashFileSystem>(killed);
    {
      OpenDatabase database(recovery, options, 2);
      ASSERT_TRUE(database.Open().ok());
      Contents contents;
      ASSERT_TRUE(database.Read(&contents).ok());
      ASSERT_TRUE(contents == expected) << "the recovery that was not cut off";
    }
    uint64_t images = 0;
    for (uint64_t k = 0; k <= recovery->OperationCount() && !HasFailure(); ++k) {
      recovery->EnumerateCrashImages(k, 3, [&](const CrashImage& image) {
        if (HasFailure()) return;
        SCOPED_TRACE(StrCat("cut off after ", k, " operations (", CrashKindName(image.kind), ", ", image.seed,
                            "), the last one: ", k > 0 ? recovery->DescribeOperation(k - 1) : "none"));
        ++images;
        OpenDatabase database(image.file_system, options, 4);
        const Status opened = database.Open();
        ASSERT_TRUE(opened.ok()) << opened.ToString();
        Contents contents;
        ASSERT_TRUE(database.Read(&contents).ok());
        ASSERT_TRUE(contents == expected) << "other contents than the first recovery found";
      });
    }
    std::printf("%llu operations of a recovery, %llu images\n", static_cast<unsigned long long>(recovery->OperationCount()),
                static_cast<unsigned long long>(images));
  }
};

TEST_F(RecoveryCrashTest, CutOffAnywhereItLosesNothing) { CutOffEverywhere(SmallDatabaseOptions()); }

TEST_F(RecoveryCrashTest, CutOffAnywhereItLosesNothingWhereLogsStay) {
  Options options = SmallDatabaseOptions();
  options.avoid_flush_during_recovery = true;
  CutOffEverywhere(options);
}

// A process dies without having synced its log; the next one replays it and leaves it where it is. What the next one then acknowledges as durable
// must not stand behind what the power cut takes from the old log.
TEST_F(RecoveryCrashTest, LogsOfADeadProcessBecomeDurableBeforeNewWritesDo) {
  Options options = SmallDatabaseOptions();
  options.avoid_flush_during_recovery = true;
  const auto disk = std::make_shared<CrashFileSystem>();
  const auto faults = std::make_shared<FaultFileSystem>(disk);
  OpenDatabase database(faults, options, 1);
  ASSERT_TRUE(database.Open().ok());
  Contents expected;
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(database.Write(Batch(kDefaultColumnFamilyName, i), WriteOptions()).ok());
    Apply(Batch(kDefaultColumnFamilyName, i), &expected);
  }
  // As if it were killed: its bytes are with the operating system, and nobody syncs them.
  FaultRule no_sync;
  no_sync.operations = FaultOperation::kSync;
  no_sync.sticky = true;
  faults->AddRule(no_sync);
  EXPECT_FALSE(database.Close().ok());
  faults->ClearRules();
  ASSERT_TRUE(database.Open().ok());
  WriteOptions synced;
  synced.sync = true;
  ASSERT_TRUE(database.Write(Batch(kDefaultColumnFamilyName, 9), synced).ok());
  Apply(Batch(kDefaultColumnFamilyName, 9), &expected);
  disk->EnumerateCrashImages(disk->OperationCount(), 1, [&](const CrashImage& image) {
    OpenDatabase recovered(image.file_system, options, 1);
    ASSERT_TRUE(recovered.Open().ok()) << CrashKindName(image.kind);
    Contents contents;
    ASSERT_TRUE(recovered.Read(&contents).ok());
    EXPECT_TRUE(contents == expected) << CrashKindName(image.kind);
  });
}

// The directory in which CURRENT is made was not synced: after a power cut there was no database, or an old one.
TEST_F(RecoveryCrashTest, ANewDatabaseIsThereAfterThePowerCut) {
  const auto file_system = std::make_shared<CrashFileSystem>();
  OpenDatabase database(file_system, SmallDatabaseOptions(), 1);
  ASSERT_TRUE(database.Open().ok());
  WriteOptions synced;
  synced.sync = true;
  ASSERT_TRUE(database.Write(Batch(kDefaultColumnFamilyName, 1), synced).ok());
  Contents expected;
  Apply(Batch(kDefaultColumnFamilyName, 1), &expected);
  file_system->EnumerateCrashImages(file_system->OperationCount(), 1, [&](const CrashImage& image) {
    Options options = SmallDatabaseOptions();
    options.create_if_missing = false;
    OpenDatabase recovered(image.file_system, options, 1);
    const Status opened = recovered.Open();
    ASSERT_TRUE(opened.ok()) << CrashKindName(image.kind) << ": " << opened.ToString();
    Contents contents;
    ASSERT_TRUE(recovered.Read(&contents).ok());
    EXPECT_TRUE(contents == expected) << CrashKindName(image.kind);
  });
}

// After a family was dropped, a store left out the syncs of the others' log.
TEST_F(RecoveryCrashTest, SyncedWritesBehindADroppedFamilyAreDurable) {
  const auto file_system = std::make_shared<CrashFileSystem>();
  OpenDatabase database(file_system, SmallDatabaseOptions(), 1);
  ASSERT_TRUE(database.Open().ok());
  ASSERT_TRUE(database.CreateFamily("dropped").ok());
  ASSERT_TRUE(database.Write(Batch("dropped", 1), WriteOptions()).ok());
  ASSERT_TRUE(database.Flush(database.families(), false).ok());
  ASSERT_TRUE(database.DropFamily("dropped").ok());
  Contents expected;
  WriteOptions synced;
  synced.sync = true;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(database.Write(Batch(kDefaultColumnFamilyName, i), synced).ok());
    Apply(Batch(kDefaultColumnFamilyName, i), &expected);
    file_system->EnumerateCrashImages(file_system->OperationCount(), 1, [&](const CrashImage& image) {
      OpenDatabase recovered(image.file_system, SmallDatabaseOptions(), 1);
      ASSERT_TRUE(recovered.Open().ok());
      Contents contents;
      ASSERT_TRUE(recovered.Read(&contents).ok());
      EXPECT_TRUE(contents == expected) << CrashKindName(image.kind);
    });
  }
}

}  // namespace
}  // namespace ashlar
