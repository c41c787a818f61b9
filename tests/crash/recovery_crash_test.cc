// Recovery that is cut off after each of its operations, with every kind of damage. Nothing that it
// found may be missing afterwards, and a torn part that it dropped stays dropped. A crash between
// two edits of a recovery must not make the database impossible to open.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/db.h"
#include "base/format.h"
#include "filesystem/file_helpers.h"
#include "filesystem/filename.h"
#include "manifest/version_set.h"
#include "tests/support/crash_file_system.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

class RecoveryCrashTest : public ::testing::Test {
 protected:
  // Two families. Only the default family has data in the log, whose last record is torn.
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
    return file_system->MakeCrashImage(file_system->OperationCount(), CrashKind::kTornWrite512, 2)
        .file_system->Snapshot();
  }
  static Commit Batch(const std::string& family, int i) {
    return {{.kind = Change::Kind::kMerge,
             .family = family,
             .key = "list",
             .value = StrCat(i, std::string(600, 'v'))}};
  }

  static bool HasDatabase(const CrashImage& image) {
    return image.file_system->FileExists(CurrentFileName(OpenDatabase::kPath)).ok();
  }
  static void Destroy(const std::shared_ptr<vfs::FileSystem>& disk, const Options& options) {
    ManualEnv env(disk, 1);
    Options of_world = options;
    of_world.env = &env;
    const Status destroyed = DestroyDB(OpenDatabase::kPath, of_world);
    ASSERT_TRUE(destroyed.ok()) << destroyed.ToString();
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
        SCOPED_TRACE(StrCat(
            "cut off after ", k, " operations (", CrashKindName(image.kind), ", ", image.seed,
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
    std::printf("%llu operations of a recovery, %llu images\n",
                static_cast<unsigned long long>(recovery->OperationCount()),
                static_cast<unsigned long long>(images));
  }
};

TEST_F(RecoveryCrashTest, CutOffAnywhereItLosesNothing) {
  CutOffEverywhere(SmallDatabaseOptions());
}

TEST_F(RecoveryCrashTest, CutOffAnywhereItLosesNothingWhereLogsStay) {
  Options options = SmallDatabaseOptions();
  options.avoid_flush_during_recovery = true;
  CutOffEverywhere(options);
}

// A process dies without having synced its log. The next process replays the log and leaves it in
// place. Writes that this process acknowledges as durable must not depend on bytes of the old log
// that a power cut removes.
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
  // As if killed: its bytes are in the operating system's buffers, but not synced.
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

// A log that is damaged in the middle.
class DamagedLogCrashTest : public RecoveryCrashTest {
 protected:
  static std::string BytesOf(const MemoryImage& image, const std::string& path) {
    for (const MemoryImage::Entry& entry : image.entries) {
      if (entry.path == path.substr(1) && entry.bytes != nullptr) return *entry.bytes;
    }
    return "";
  }

  void SetUp() override {
    {
      const auto file_system = std::make_shared<MemoryFileSystem>();
      OpenDatabase database(file_system, SmallDatabaseOptions(), 1);
      ASSERT_TRUE(database.Open().ok());
      for (int i = 1; i <= 8; ++i)
        ASSERT_TRUE(database.Write(Batch(kDefaultColumnFamilyName, i), WriteOptions()).ok());
      damaged_ = file_system->Snapshot();
    }
    log_ = BytesOf(damaged_, log_path_);
    ASSERT_GT(log_.size(), 3000u);
    log_[2000] = static_cast<char>(log_[2000] ^ 4);
    for (MemoryImage::Entry& entry : damaged_.entries) {
      if (entry.path == log_path_.substr(1))
        entry.bytes = std::make_shared<const std::string>(log_);
    }
  }

  const std::string log_path_ = WalFileName(OpenDatabase::kPath, 2);
  const std::string copy_path_ = LostFileName(OpenDatabase::kPath, "000002.log", 0);
  MemoryImage damaged_;
  std::string log_;  // the log's bytes
};

// Wherever the recovery is cut off, the log or its copy is complete.
TEST_F(DamagedLogCrashTest, CutOffAnywhereItIsNotLost) {
  const auto recovery = std::make_shared<CrashFileSystem>(damaged_);
  Contents expected;
  {
    OpenDatabase database(recovery, SmallDatabaseOptions(), 2);
    ASSERT_TRUE(database.Open().ok());
    ASSERT_TRUE(database.Read(&expected).ok());
  }
  for (uint64_t k = 0; k <= recovery->OperationCount() && !HasFailure(); ++k) {
    recovery->EnumerateCrashImages(k, 3, [&](const CrashImage& image) {
      if (HasFailure()) return;
      SCOPED_TRACE(
          StrCat("cut off after ", k, " operations (", CrashKindName(image.kind), ", ", image.seed,
                 "), the last one: ", k > 0 ? recovery->DescribeOperation(k - 1) : "none"));
      const MemoryImage left = image.file_system->Snapshot();
      ASSERT_TRUE(BytesOf(left, log_path_) == log_ || BytesOf(left, copy_path_) == log_);
      OpenDatabase database(image.file_system, SmallDatabaseOptions(), 4);
      const Status opened = database.Open();
      ASSERT_TRUE(opened.ok()) << opened.ToString();
      Contents contents;
      ASSERT_TRUE(database.Read(&contents).ok());
      ASSERT_TRUE(contents == expected) << "other contents than the first recovery found";
      const MemoryImage after = image.file_system->Snapshot();
      bool is_kept = false;
      for (uint64_t copies = 0; copies < 3; ++copies)
        is_kept |= BytesOf(after, LostFileName(OpenDatabase::kPath, "000002.log", copies)) == log_;
      ASSERT_TRUE(is_kept);
    });
  }
}

// A process died before it had synced the copy. The next recovery must not delete the log while it
// relies on that copy.
TEST_F(DamagedLogCrashTest, ACopyThatADeadProcessDidNotSyncBecomesDurable) {
  const auto disk = std::make_shared<CrashFileSystem>(damaged_);
  ASSERT_TRUE(disk->CreateDir(LostDirectory(OpenDatabase::kPath)).ok());
  ASSERT_TRUE(WriteStringToFile(disk.get(), log_, copy_path_, Durability::kBuffered).ok());
  const uint64_t died = disk->OperationCount();
  OpenDatabase database(disk, SmallDatabaseOptions(), 2);
  ASSERT_TRUE(database.Open().ok());
  ASSERT_FALSE(disk->FileExists(log_path_).ok());
  for (uint64_t k = died; k <= disk->OperationCount() && !HasFailure(); ++k) {
    disk->EnumerateCrashImages(k, 3, [&](const CrashImage& image) {
      if (HasFailure()) return;
      SCOPED_TRACE(StrCat("cut off after ", k, " operations (", CrashKindName(image.kind), ", ",
                          image.seed, ")"));
      const MemoryImage left = image.file_system->Snapshot();
      EXPECT_TRUE(BytesOf(left, log_path_) == log_ || BytesOf(left, copy_path_) == log_);
    });
  }
}

// The logs of a destroyed database are in another folder. Its destruction must sync that folder, or
// a new database would replay the logs after a power cut.
TEST_F(RecoveryCrashTest, ANewDatabaseHasNothingOfADestroyedOne) {
  Options options = SmallDatabaseOptions();
  options.wal_dir = "/logs";
  const auto disk = std::make_shared<CrashFileSystem>();
  {
    OpenDatabase database(disk, options, 1);
    ASSERT_TRUE(database.Open().ok());
    ASSERT_TRUE(database.Write(Batch(kDefaultColumnFamilyName, 1), WriteOptions()).ok());
    ASSERT_TRUE(database.Close().ok());
  }
  Destroy(disk, options);
  const uint64_t destroyed = disk->OperationCount();
  OpenDatabase database(disk, options, 2);
  ASSERT_TRUE(database.Open().ok());
  const Contents empty = {{kDefaultColumnFamilyName, {}}};
  uint64_t images = 0;
  for (uint64_t k = destroyed; k <= disk->OperationCount() && !HasFailure(); ++k) {
    disk->EnumerateCrashImages(k, 3, [&](const CrashImage& image) {
      if (HasFailure() || !HasDatabase(image)) return;
      SCOPED_TRACE(StrCat("cut off after ", k, " operations (", CrashKindName(image.kind), ", ",
                          image.seed, ")"));
      ++images;
      OpenDatabase recovered(image.file_system, options, 3);
      const Status opened = recovered.Open();
      ASSERT_TRUE(opened.ok()) << opened.ToString();
      Contents found;
      ASSERT_TRUE(recovered.Read(&found).ok());
      EXPECT_EQ(found, empty);
    });
  }
  EXPECT_GT(images, 0u);
}

// If CURRENT were deleted first, a power cut could keep it and remove the logs. The database would
// then open without synced writes.
TEST_F(RecoveryCrashTest, ADestructionThatIsCutOffLeavesAllOrNothing) {
  Options options = SmallDatabaseOptions();
  options.wal_dir = "/logs";
  const auto disk = std::make_shared<CrashFileSystem>();
  Contents written;
  {
    OpenDatabase database(disk, options, 1);
    ASSERT_TRUE(database.Open().ok());
    WriteOptions synced;
    synced.sync = true;
    for (int i = 1; i <= 2; ++i) {
      ASSERT_TRUE(database.Write(Batch(kDefaultColumnFamilyName, i), synced).ok());
      Apply(Batch(kDefaultColumnFamilyName, i), &written);
      if (i == 1) {
        ASSERT_TRUE(database.Flush({kDefaultColumnFamilyName}, true).ok());
      }
    }
    ASSERT_TRUE(database.Close().ok());
  }
  const uint64_t closed = disk->OperationCount();
  Destroy(disk, options);
  for (uint64_t k = closed; k <= disk->OperationCount() && !HasFailure(); ++k) {
    disk->EnumerateCrashImages(k, 3, [&](const CrashImage& image) {
      if (HasFailure() || !HasDatabase(image)) return;
      SCOPED_TRACE(StrCat("cut off after ", k, " operations (", CrashKindName(image.kind), ", ",
                          image.seed, ")"));
      OpenDatabase recovered(image.file_system, options, 3);
      const Status opened = recovered.Open();
      ASSERT_TRUE(opened.ok()) << opened.ToString();
      Contents found;
      ASSERT_TRUE(recovered.Read(&found).ok());
      EXPECT_EQ(found, written);
    });
  }
}

// The creator dies before it syncs the directory. The next process creates a log in another folder,
// which may outlast CURRENT. It must not be taken for another database's log, which prevents a
// creation.
TEST_F(RecoveryCrashTest, ADatabaseWhoseCreatorDiedOpensAfterAPowerCut) {
  Options options = SmallDatabaseOptions();
  options.wal_dir = "/logs";
  const auto first = std::make_shared<CrashFileSystem>();
  {
    OpenDatabase database(first, options, 1);
    ASSERT_TRUE(database.Open().ok());
    ASSERT_TRUE(database.Close().ok());
  }
  uint64_t images = 0;
  for (uint64_t died = 0; died <= first->OperationCount() && !HasFailure(); ++died) {
    if (!HasDatabase(first->MakeCrashImage(died, CrashKind::kEverything, 0)) ||
        HasDatabase(first->MakeCrashImage(died, CrashKind::kDurableOnly, 0)))
      continue;
    const std::shared_ptr<CrashFileSystem> disk = first->AfterProcessDeath(died);
    OpenDatabase database(disk, options, 2);
    ASSERT_TRUE(database.Open().ok());
    for (uint64_t k = died; k <= disk->OperationCount() && !HasFailure(); ++k) {
      disk->EnumerateCrashImages(k, 3, [&](const CrashImage& image) {
        if (HasFailure()) return;
        SCOPED_TRACE(StrCat("died after ", died, " operations, cut off after ", k, " (",
                            CrashKindName(image.kind), ", ", image.seed, ")"));
        ++images;
        OpenDatabase recovered(image.file_system, options, 3);
        const Status opened = recovered.Open();
        ASSERT_TRUE(opened.ok()) << opened.ToString();
      });
    }
  }
  EXPECT_GT(images, 0u);
}

// A failed open must not record the lengths of unsynced logs. Otherwise the database would be
// refused after a power cut removes their ends.
class FailedOpenTest : public RecoveryCrashTest {
 protected:
  // Expects a possible state after a power cut that follows a failed open: the synced batch, and
  // any number of the following ones.
  static void ExpectPrefix(const MemoryImage& image, const Options& options) {
    OpenDatabase database(std::make_shared<MemoryFileSystem>(image), options, 3);
    const Status opened = database.Open();
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    Contents found;
    ASSERT_TRUE(database.Read(&found).ok());
    Contents expected;
    bool is_prefix = false;
    for (int batches = 1; batches <= kBatches; ++batches) {
      Apply(Batch(kDefaultColumnFamilyName, batches), &expected);
      is_prefix |= found == expected;
    }
    EXPECT_TRUE(is_prefix);
  }

  // A process syncs one batch, writes more and dies. The next process cannot write the table of the
  // replayed batches.
  void FailAnOpen(const Options& options) {
    OpenDatabase killed(faults_, options, 1);
    ASSERT_TRUE(killed.Open().ok());
    WriteOptions synced;
    synced.sync = true;
    for (int i = 1; i <= kBatches; ++i) {
      ASSERT_TRUE(
          killed.Write(Batch(kDefaultColumnFamilyName, i), i == 1 ? synced : WriteOptions()).ok());
    }
    FaultRule no_sync;
    no_sync.operations = FaultOperation::kSync;
    no_sync.sticky = true;
    faults_->AddRule(no_sync);
    EXPECT_FALSE(killed.Close().ok());
    faults_->ClearRules();
    FaultRule full;
    full.operations = FaultOperation::kOpenForWriting;
    full.name_contains = ".sst";
    full.error = Status::NoSpace("injected fault");
    full.sticky = true;
    faults_->AddRule(full);
    OpenDatabase failing(faults_, options, 2);
    const Status opened = failing.Open();
    EXPECT_TRUE(opened.IsNoSpace()) << opened.ToString();
    faults_->ClearRules();
  }

  static constexpr int kBatches = 5;
  const std::shared_ptr<CrashFileSystem> disk_ = std::make_shared<CrashFileSystem>();
  const std::shared_ptr<FaultFileSystem> faults_ = std::make_shared<FaultFileSystem>(disk_);
};

TEST_F(FailedOpenTest, APowerCutAfterwardsTakesNoMoreThanWasNotSynced) {
  FailAnOpen(SmallDatabaseOptions());
  disk_->EnumerateCrashImages(disk_->OperationCount(), 1, [&](const CrashImage& image) {
    SCOPED_TRACE(CrashKindName(image.kind));
    ExpectPrefix(image.file_system->Snapshot(), SmallDatabaseOptions());
  });
}

// The new log of the failed open must not contain the length of the old one either.
TEST_F(FailedOpenTest, APowerCutAfterwardsLeavesATailThatMayBeTolerated) {
  Options options = SmallDatabaseOptions();
  options.wal_recovery_mode = WALRecoveryMode::kTolerateCorruptedTailRecords;
  FailAnOpen(options);
  for (const CrashKind kind :
       {CrashKind::kDurableOnly, CrashKind::kEverything, CrashKind::kPrefix}) {
    for (uint64_t seed = 0; seed < 8; ++seed) {
      SCOPED_TRACE(StrCat(CrashKindName(kind), ", seed ", seed));
      ExpectPrefix(
          disk_->MakeCrashImage(disk_->OperationCount(), kind, seed).file_system->Snapshot(),
          options);
    }
  }
}

TEST_F(FailedOpenTest, RecordsNothingOfLogsThatItDidNotSync) {
  FailAnOpen(SmallDatabaseOptions());
  VersionSet versions(VersionSet::Args{
      .file_system = disk_.get(), .directory = OpenDatabase::kPath, .drop_file = {}});
  const std::vector<ColumnFamilySpec> specs{
      {.name = kDefaultColumnFamilyName, .comparator = KeyComparator(BytewiseComparator())}};
  ASSERT_TRUE(versions.Recover(specs, true).ok());
  kDatabaseMutex.AssertHeld();  // one thread
  EXPECT_FALSE(versions.Published().recorded_logs.contains(2))
      << "the log that the killed process wrote";
}

// The directory in which CURRENT is created must be synced. Otherwise there is no database, or an
// old one, after a power cut.
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

// After a family is dropped, the log of the other families must still be synced.
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
    file_system->EnumerateCrashImages(
        file_system->OperationCount(), 1, [&](const CrashImage& image) {
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
