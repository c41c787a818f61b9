// Logs that no family needs any more are kept in archive/, up to the configured age and size,
// whatever happens to the clocks, the disk and the power.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/random.h"
#include "filesystem/memory_file_system.h"
#include "key/write_batch_internal.h"
#include "tests/log_stream/batches.h"
#include "tests/support/crash_file_system.h"
#include "tests/support/expect_ok.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/open_database.h"
#include "wal/log_writer.h"

namespace ashlar {
namespace {

constexpr uint64_t kSecond = 1'000'000;  // microseconds
constexpr uint64_t kYear = 365 * 24 * 3600 * kSecond;

// An environment whose wall clock and monotonic clock can diverge.
class TwoClocksEnv final : public WorldEnv, public Clock {
 public:
  explicit TwoClocksEnv(const std::shared_ptr<vfs::FileSystem>& file_system)
      : WorldEnv(file_system), env_(file_system, /*seed=*/7) {}

  void AdvanceMicros(uint64_t micros) { env_.clock()->SleepForMicros(micros); }
  void JumpMicros(int64_t micros) { wall_offset_micros_ += micros; }
  // Behaves like an Env without NowNanos.
  void HaveOneClock() { has_one_clock_ = true; }
  ManualEnv* manual() { return &env_; }

  void SetBackgroundThreads(int number, Priority pri) override {
    env_.SetBackgroundThreads(number, pri);
  }
  void IncBackgroundThreadsIfNeeded(int number, Priority pri) override {
    env_.IncBackgroundThreadsIfNeeded(number, pri);
  }
  int GetBackgroundThreads(Priority pri) override { return env_.GetBackgroundThreads(pri); }
  uint64_t NowMicros() override { return NowUnixMicros(); }
  uint64_t NowNanos() override { return has_one_clock_ ? NowUnixMicros() * 1000 : env_.NowNanos(); }
  Executor* executor() override { return env_.executor(); }
  Clock* clock() override { return this; }

  uint64_t NowUnixMicros() override {
    return static_cast<uint64_t>(static_cast<int64_t>(env_.NowMicros()) + wall_offset_micros_);
  }
  void SleepForMicros(uint64_t micros) override { AdvanceMicros(micros); }

 private:
  ManualEnv env_;
  int64_t wall_offset_micros_ = 0;
  bool has_one_clock_ = false;
};

class ArchiveTest : public ::testing::Test {
 protected:
  ArchiveTest() {
    options_ = SmallDatabaseOptions();
    options_.env = &env_;
    options_.WAL_ttl_seconds = 100;
  }

  void Open() { ASSERT_OK(DB::Open(options_, kPath, &db_)); }
  // Moves one more log to the archive.
  void ArchiveOne(size_t value_bytes = 100) {
    ASSERT_OK(db_->Put(WriteOptions(), StrCat("key", ++writes_), std::string(value_bytes, 'v')));
    ASSERT_OK(db_->Flush(FlushOptions()));
    while (env_.manual()->RunOneJob()) continue;
  }
  std::vector<std::string> Archived() {
    std::vector<std::string> names;
    const Status listed = disk_->GetChildren(StrCat(kPath, "/archive"), &names);
    EXPECT_TRUE(listed.ok() || listed.IsPathNotFound()) << listed.ToString();
    std::sort(names.begin(), names.end());
    return names;
  }

  static constexpr const char* kPath = "/db";
  const std::shared_ptr<MemoryFileSystem> disk_ = std::make_shared<MemoryFileSystem>();
  const std::shared_ptr<FaultFileSystem> faults_ = std::make_shared<FaultFileSystem>(disk_);
  TwoClocksEnv env_{faults_};
  Options options_;
  std::unique_ptr<DB> db_;
  int writes_ = 0;
};

// A sequence number near 2^64 plus the count of the batch would wrap and look like an old number.
TEST_F(ArchiveTest, AnImpossibleSequenceNumberIsCorruption) {
  options_.avoid_flush_during_shutdown = true;
  Open();
  ArchiveOne();
  const std::string path = StrCat(kPath, "/archive/", Archived().at(0));
  ASSERT_OK(db_->Close());
  WriteBatch batch;
  ASSERT_OK(batch.Put("a", "1"));
  ASSERT_OK(batch.Put("b", "2"));
  WriteBatchInternal::SetSequence(&batch, ~SequenceNumber{0});
  std::unique_ptr<vfs::WritableFile> file;
  ASSERT_OK(disk_->NewWritableFile(path, vfs::FileOptions(), &file));
  LogWriter writer(std::move(file), path, /*number=*/1);
  ASSERT_OK(writer.AddRecord(batch.Data()));
  ASSERT_OK(writer.Close());
  for (const bool read_only : {false, true}) {
    db_.reset();
    if (read_only) {
      ASSERT_OK(DB::OpenForReadOnly(options_, kPath, &db_));
    } else {
      Open();
    }
    std::unique_ptr<TransactionLogIterator> updates;
    const Status status = db_->GetUpdatesSince(0, &updates);
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    EXPECT_NE(status.ToString().find("sequence number"), std::string::npos) << status.ToString();
  }
}

TEST_F(ArchiveTest, LogsAreKeptForTheirTimeAndNoLonger) {
  Open();
  ArchiveOne();
  const std::vector<std::string> first = Archived();
  ASSERT_EQ(first.size(), 1u);
  env_.AdvanceMicros(60 * kSecond);
  ArchiveOne();
  env_.AdvanceMicros(40 * kSecond);
  ArchiveOne();
  EXPECT_EQ(Archived().size(), 3u);
  EXPECT_EQ(Archived()[0], first[0]);
  EXPECT_EQ(AllBatches(db_.get()).size(), 3u);
  env_.AdvanceMicros(1 * kSecond);
  ArchiveOne();
  EXPECT_EQ(Archived().size(), 3u);
  EXPECT_NE(Archived()[0], first[0]);
  const std::vector<LoggedBatch> rest = AllBatches(db_.get());
  ASSERT_EQ(rest.size(), 3u);
  EXPECT_EQ(rest[0].sequence, 2u);
}

TEST_F(ArchiveTest, AWallClockThatJumpsDeletesNothing) {
  Open();
  ArchiveOne();
  env_.JumpMicros(static_cast<int64_t>(kYear));
  ArchiveOne();
  env_.JumpMicros(-static_cast<int64_t>(2 * kYear));
  ArchiveOne();
  EXPECT_EQ(Archived().size(), 3u);
  db_.reset();
  env_.JumpMicros(static_cast<int64_t>(3 * kYear));
  Open();
  ArchiveOne();
  // The fifth log is the one that the first run left without a batch.
  EXPECT_EQ(Archived().size(), 5u);
  EXPECT_EQ(AllBatches(db_.get()).size(), 4u);
  // The time for which the database has been open counts.
  env_.AdvanceMicros(101 * kSecond);
  ArchiveOne();
  EXPECT_EQ(Archived().size(), 1u);
}

// The age of a log would be negative, and therefore large as an unsigned number.
TEST_F(ArchiveTest, TheOnlyClockOfAnEnvDeletesNothingWhenItIsSetBack) {
  env_.HaveOneClock();
  Open();
  ArchiveOne();
  env_.JumpMicros(-static_cast<int64_t>(kSecond));
  ArchiveOne();
  EXPECT_EQ(Archived().size(), 2u);
  EXPECT_EQ(AllBatches(db_.get()).size(), 2u);
  env_.AdvanceMicros(102 * kSecond);
  ArchiveOne();
  EXPECT_EQ(Archived().size(), 1u);
}

TEST_F(ArchiveTest, TheOldestGoWhenAllTogetherAreTooLarge) {
  options_.WAL_ttl_seconds = 0;
  options_.WAL_size_limit_MB = 1;
  Open();
  for (int i = 0; i < 5; ++i) ArchiveOne(300 << 10);
  const std::vector<std::string> archived = Archived();
  ASSERT_EQ(archived.size(), 3u);
  db_.reset();
  Open();
  ArchiveOne(300 << 10);
  const std::vector<std::string> later = Archived();
  // The fourth log is the one that the first run left without a batch.
  ASSERT_EQ(later.size(), 4u);
  EXPECT_EQ(later[0], archived[1]);
  // Without a limit on the age, logs stay for any number of years.
  env_.AdvanceMicros(kYear);
  ArchiveOne();
  EXPECT_EQ(Archived().size(), 5u);
}

TEST_F(ArchiveTest, NothingMovesOrGoesWhileDeletionsAreDisabled) {
  Open();
  ArchiveOne();
  ASSERT_OK(db_->DisableFileDeletions());
  env_.AdvanceMicros(1000 * kSecond);
  ArchiveOne();
  EXPECT_EQ(Archived().size(), 1u);
  EXPECT_EQ(AllBatches(db_.get()).size(), 2u);
  ASSERT_OK(db_->EnableFileDeletions());
  EXPECT_EQ(Archived().size(), 1u);
  const std::vector<LoggedBatch> rest = AllBatches(db_.get());
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].sequence, 2u);
}

TEST_F(ArchiveTest, LogsOfARunThatDiedAreArchivedByTheNext) {
  FaultRule rule;
  rule.operations = FaultOperation::kRename;
  rule.name_contains = ".log";
  rule.sticky = true;
  faults_->AddRule(rule);
  Open();
  ArchiveOne();
  ArchiveOne();
  EXPECT_TRUE(Archived().empty());
  EXPECT_EQ(AllBatches(db_.get()).size(), 2u);
  db_.reset();
  faults_->ClearRules();
  Open();
  // The third log is the one that the first run left without a batch.
  EXPECT_EQ(Archived().size(), 3u);
  EXPECT_EQ(AllBatches(db_.get()).size(), 2u);
}

TEST_F(ArchiveTest, WithoutLimitsAnOldArchiveIsLeftAlone) {
  Open();
  ArchiveOne();
  db_.reset();
  options_.WAL_ttl_seconds = 0;
  Open();
  env_.AdvanceMicros(kYear);
  ArchiveOne();
  EXPECT_EQ(Archived().size(), 1u);
}

TEST_F(ArchiveTest, DestroyDbTakesTheArchiveAlong) {
  for (const std::string wal_dir : {"", "/logs"}) {
    options_.wal_dir = wal_dir;
    Open();
    ArchiveOne();
    db_.reset();
    ASSERT_OK(DestroyDB(kPath, options_));
    EXPECT_FALSE(disk_->FileExists(kPath).ok());
    EXPECT_FALSE(disk_->FileExists("/logs/archive").ok());
  }
}

// ---- Errors and power cuts.

Options ArchivingOptions() {
  Options options = SmallDatabaseOptions();
  options.WAL_ttl_seconds = 1000;
  return options;
}

Status WriteOne(OpenDatabase* database, const std::string& key, size_t value_bytes) {
  return database->Write({{.kind = Change::Kind::kPut,
                           .family = kDefaultColumnFamilyName,
                           .key = key,
                           .value = std::string(value_bytes, 'v')}},
                         WriteOptions());
}

// Writes `batches` batches, with flushes, switches and restarts, until the first error.
Status Work(OpenDatabase* database, int batches) {
  for (int i = 0; i < batches; ++i) {
    Status status = WriteOne(database, StrCat("key", i), static_cast<size_t>(i) * 40);
    if (status.ok() && i % 6 == 5) status = database->Flush({kDefaultColumnFamilyName}, true);
    if (status.ok() && i % 25 == 12) status = database->Close();
    if (status.ok() && i % 25 == 12) status = database->Open();
    if (!status.ok()) return status;
  }
  return Status::OK();
}

// Once the cause of an error is gone, the logs must have every write, starting with the first.
void ExpectNoGap(OpenDatabase* database) {
  if (database->db() != nullptr) static_cast<void>(database->Close().ok());
  ASSERT_OK(database->Open());
  ASSERT_OK(WriteOne(database, "after", 10));
  EXPECT_EQ(AllBatches(database->db()).size(), database->db()->GetLatestSequenceNumber());
}

TEST(ArchiveCrash, NoPowerCutMakesAGap) {
  constexpr uint64_t kSeed = 20261125;
  const auto disk = std::make_shared<CrashFileSystem>();
  {
    OpenDatabase database(disk, ArchivingOptions(), kSeed);
    ASSERT_OK(database.Open());
    ASSERT_OK(Work(&database, 60));
    EXPECT_EQ(AllBatches(database.db()).size(), 60u);
    ASSERT_OK(database.Close());
  }
  Random random(kSeed);
  uint64_t images = 0;
  uint64_t batches = 0;
  for (uint64_t k = 0; k <= disk->OperationCount() && !::testing::Test::HasFailure(); ++k) {
    const std::string what = k > 0 ? disk->DescribeOperation(k - 1) : "";
    const bool moves =
        what.find("rename") != std::string::npos || what.find("archive") != std::string::npos;
    if (!moves && !random.OneIn(8)) continue;
    for (const CrashKind kind : {CrashKind::kDurableOnly, CrashKind::kRandomSubset,
                                 CrashKind::kUnlinksLate, CrashKind::kEverything}) {
      const CrashImage image = disk->MakeCrashImage(k, kind, random.Next());
      SCOPED_TRACE(StrCat("seed ", kSeed, ", after ", k, " operations (", CrashKindName(kind),
                          "), the last one: ", what));
      OpenDatabase database(image.file_system, ArchivingOptions(), kSeed);
      ASSERT_OK(database.Open());
      ++images;
      if (database.db()->GetLatestSequenceNumber() == 0) continue;
      // The logs have every recovered write from the first on, as each batch has a key of its own.
      // The MANIFEST may have recorded sequences of writes that were lost in the power cut.
      std::unique_ptr<TransactionLogIterator> iterator;
      ASSERT_OK(database.db()->GetUpdatesSince(1, &iterator));
      const std::vector<LoggedBatch> found = TakeBatches(iterator.get());
      EXPECT_OK(iterator->status());
      Contents contents;
      ASSERT_OK(database.Read(&contents));
      EXPECT_EQ(found.size(), contents[kDefaultColumnFamilyName].size());
      batches += found.size();
    }
  }
  RecordProperty("images", static_cast<int>(images));
  EXPECT_GT(images, 200u);
  EXPECT_GT(batches, images);
}

struct ArchiveFault {
  const char* name;
  FaultEffect effect;
  bool sticky;
};

class ArchiveFaultTest : public ::testing::TestWithParam<ArchiveFault> {};

TEST_P(ArchiveFaultTest, AtAnyCallMakesNoGap) {
  bool fired = true;
  for (uint64_t nth = 1; fired && !HasFailure(); ++nth) {
    SCOPED_TRACE(StrCat("call ", nth));
    const auto faults = std::make_shared<FaultFileSystem>(std::make_shared<MemoryFileSystem>());
    FaultRule rule;
    rule.nth = nth;
    rule.effect = GetParam().effect;
    rule.sticky = GetParam().sticky;
    faults->AddRule(rule);
    OpenDatabase database(faults, ArchivingOptions(), 7);
    Status status = database.Open();
    if (status.ok()) status = Work(&database, 20);
    fired = faults->FaultsInjected() > 0;
    EXPECT_TRUE(status.ok() || fired) << status.ToString();
    faults->ClearRules();
    ExpectNoGap(&database);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Errors, ArchiveFaultTest,
    ::testing::Values(ArchiveFault{"InsteadOfTheCall", FaultEffect::kFailBefore, false},
                      ArchiveFault{"AfterTheCall", FaultEffect::kFailAfter, false},
                      ArchiveFault{"InsteadOfAllCallsFromThere", FaultEffect::kFailBefore, true},
                      ArchiveFault{"AfterAllCallsFromThere", FaultEffect::kFailAfter, true}),
    [](const auto& fault) { return std::string(fault.param.name); });

TEST(ArchiveFaults, AFullDiskAnywhereMakesNoGap) {
  int places = 0;
  bool full = true;
  for (uint64_t capacity_bytes = 0; full && !::testing::Test::HasFailure(); capacity_bytes += 293) {
    SCOPED_TRACE(StrCat(capacity_bytes, " bytes"));
    const auto disk = std::make_shared<MemoryFileSystem>();
    disk->SetCapacityBytes(capacity_bytes);
    OpenDatabase database(disk, ArchivingOptions(), 7);
    Status status = database.Open();
    if (status.ok()) status = Work(&database, 20);
    full = !status.ok();
    EXPECT_TRUE(status.ok() || status.IsNoSpace()) << status.ToString();
    disk->SetCapacityBytes(std::numeric_limits<uint64_t>::max());
    ExpectNoGap(&database);
    places += full ? 1 : 0;
  }
  EXPECT_GT(places, 20);
}

// An error while the log is read only sets the status of the iterator.
TEST(ArchiveFaults, AnErrorOfTheReaderEndsTheIterationOnly) {
  const auto disk = std::make_shared<MemoryFileSystem>();
  const auto faults = std::make_shared<FaultFileSystem>(disk);
  OpenDatabase database(faults, ArchivingOptions(), 7);
  ASSERT_OK(database.Open());
  ASSERT_OK(Work(&database, 60));
  const FaultOperation reads = FaultOperation::kAnyRead;
  for (uint64_t nth = 1;; ++nth) {
    SCOPED_TRACE(nth);
    FaultRule rule;
    rule.operations = reads;
    rule.nth = nth;
    faults->AddRule(rule);
    const uint64_t before = faults->FaultsInjected();
    std::unique_ptr<TransactionLogIterator> iterator;
    Status status = database.db()->GetUpdatesSince(1, &iterator);
    size_t batches = 0;
    if (iterator != nullptr) {
      batches = TakeBatches(iterator.get()).size();
      status = iterator->status();
    }
    const bool injected = faults->FaultsInjected() > before;
    faults->ClearRules();
    if (!injected) {
      EXPECT_OK(status);
      EXPECT_EQ(batches, 60u);
      break;
    }
    EXPECT_FALSE(status.ok()) << "an error was not reported";
    EXPECT_EQ(AllBatches(database.db()).size(), 60u);
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

}  // namespace
}  // namespace ashlar
