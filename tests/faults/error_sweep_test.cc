// A small workload runs repeatedly, each time with an error at another file system call, about 35
// of each kind. The error occurs once or from then on, before or after the call takes effect, and
// is EIO or a full disk. The promise after the failure of any call:
//
//   - every call of the database returns a Status; a read returns the correct contents or an
//     error, never wrong contents;
//   - an error of a background job or of the log makes every later write fail with that error,
//     while reads continue;
//   - once the cause is removed, Resume makes the database writable, with exactly the
//     acknowledged writes; a later power cut loses none of them;
//   - without Resume, a reopen finds the acknowledged writes, followed by at most the write
//     that failed.
//
// ASHLAR_FAULTS_EFFORT=N sweeps N workloads. ASHLAR_FAULTS_SEED is the seed of the first one.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/random.h"
#include "tests/support/crash_file_system.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/from_environment.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

struct FaultCase {
  FaultRule rule;
  bool resume = true;  // true: Resume; false: close and open
};

std::string Describe(const FaultCase& fault) {
  return StrCat("operations ", static_cast<uint32_t>(fault.rule.operations), ", call ",
                fault.rule.nth, fault.rule.sticky ? " and every later one" : "", ", effect ",
                static_cast<int>(fault.rule.effect), ", ", fault.rule.error.ToString(),
                fault.resume ? ", resume" : ", reopen");
}

// Whether obsolete files are deleted at once, or as trash, in chunks at a limited rate.
enum class Deletions { kAtOnce, kPaced };

class FaultyRun {
 public:
  FaultyRun(Deletions deletions, const std::optional<FaultCase>& fault, uint64_t seed)
      : deletions_(deletions),
        fault_(fault),
        seed_(seed),
        disk_(std::make_shared<CrashFileSystem>()),
        faults_(std::make_shared<FaultFileSystem>(disk_)),
        database_(MakeDatabase()) {
    if (fault_.has_value()) faults_->AddRule(fault_->rule);
  }

  void Run() {
    if (!OpenOrCure()) return;
    CreateFamily();
    for (int round = 0; round < 3 && !Failed(); ++round) {
      for (int i = 0; i < 6; ++i) Write(i == 3);
      Note(database_->Flush(
          round == 1 ? database_->families() : std::set<std::string>{kDefaultColumnFamilyName},
          true));
      CompareReads();
      for (int i = 0; i < 3; ++i) Write(false);
      Note(database_->db()->SyncWAL());
      if (round == 1) Note(database_->db()->CompactRange(CompactRangeOptions(), nullptr, nullptr));
      if (round == 2)
        Note(database_->db()->SetOptions({{"level0_file_num_compaction_trigger", "4"}}));
      while (database_->env()->RunOneJob()) {
      }
      if (deletions_ == Deletions::kPaced) PassTime();
      CompareReads();
      if (round == 0) Reopen();
      if (database_ == nullptr) return;
    }
    if (Failed()) return;
    Finish();
  }

  uint64_t Calls(FaultOperation operations) const { return faults_->CallCount(operations); }
  bool Injected() const { return faults_->FaultsInjected() > 0; }
  bool Cured() const { return cured_; }

 private:
  static Options Settings() {
    Options options = SmallDatabaseOptions();
    options.level0_file_num_compaction_trigger = 2;
    return options;
  }
  std::unique_ptr<OpenDatabase> MakeDatabase() const {
    constexpr int64_t kBytesPerSecond = 10000;
    constexpr uint64_t kChunkBytes = 500;
    auto database = std::make_unique<OpenDatabase>(faults_, Settings(), seed_);
    if (deletions_ == Deletions::kPaced) database->ManageSpace(kBytesPerSecond, kChunkBytes);
    return database;
  }
  // Runs enough delayed jobs to delete some of the trash.
  void PassTime() {
    constexpr int kJobs = 5;
    for (int i = 0; i < kJobs; ++i) database_->env()->manual_executor()->RunDelayed();
  }
  static bool Failed() { return ::testing::Test::HasFailure(); }

  // An error is accepted only if a fault has been injected.
  void Note(const Status& status) { ASSERT_TRUE(status.ok() || Injected()) << status.ToString(); }

  bool OpenOrCure() {
    Status opened = database_->Open();
    if (opened.ok()) return true;
    Note(opened);
    faults_->ClearRules();
    database_ = MakeDatabase();
    opened = database_->Open();
    EXPECT_TRUE(opened.ok()) << "does not open although nothing fails any more: "
                             << opened.ToString();
    if (opened.ok()) CompareReopened();
    return opened.ok();
  }

  void CreateFamily() {
    const Status created = database_->CreateFamily("second");
    Note(created);
    family_is_certain_ = created.ok();
  }

  void Write(bool sync) {
    Commit commit;
    const uint64_t number = ++writes_;
    for (const std::string& family : database_->families()) {
      if (family != kDefaultColumnFamilyName && !family_is_certain_) continue;
      commit.push_back({.kind = Change::Kind::kPut,
                        .family = family,
                        .key = StrCat("key", workload_.Uniform(5)),
                        .value = StrCat(number, std::string(workload_.Uniform(400), 'v'))});
      commit.push_back(
          {.kind = Change::Kind::kMerge, .family = family, .key = "list", .value = StrCat(number)});
      if (number % 4 == 0)
        commit.push_back({.kind = Change::Kind::kDelete,
                          .family = family,
                          .key = StrCat("key", workload_.Uniform(3)),
                          .value = ""});
      if (number % 6 == 5)
        commit.push_back({.kind = Change::Kind::kDeleteRange,
                          .family = family,
                          .key = StrCat("key", workload_.Uniform(4)),
                          .value = "key4"});
    }
    WriteOptions options;
    options.sync = sync;
    const Status written = database_->Write(commit, options);
    Note(written);
    if (written.ok()) {
      EXPECT_FALSE(latched_.has_value())
          << "a write succeeded although an earlier one failed with " << *latched_;
      Apply(commit, &acknowledged_);
      return;
    }
    if (latched_.has_value()) {
      EXPECT_EQ(written.ToString(), *latched_)
          << "the error that made the database read-only is not the answer";
      return;
    }
    latched_ = written.ToString();
    with_the_failed_ = acknowledged_;
    Apply(commit, &*with_the_failed_);
  }

  // Expects the open database to show exactly the acknowledged writes, or an error.
  void CompareReads() {
    Contents contents;
    const Status read = database_->Read(&contents);
    Note(read);
    EXPECT_TRUE(!read.ok() || Equal(contents, acknowledged_))
        << "the open database shows other contents than were acknowledged";
    for (const auto& [key, value] : acknowledged_[kDefaultColumnFamilyName]) {
      PinnableSlice found;
      const Status status = database_->db()->Get(ReadOptions(), key, &found);
      EXPECT_TRUE(!status.ok() || found.ToString() == value) << "wrong value of " << key;
      EXPECT_FALSE(status.IsNotFound()) << key << " is not found";
      Note(status);
    }
  }

  // A family whose creation failed may exist, but is empty.
  static bool Equal(const Contents& a, const Contents& b) {
    const auto without_empty = [](Contents contents) {
      std::erase_if(contents, [](const auto& family) { return family.second.empty(); });
      return contents;
    };
    return without_empty(a) == without_empty(b);
  }

  void Reopen() {
    const Status closed = database_->Close();
    Note(closed);
    const bool was_cut_off = latched_.has_value();
    database_ = MakeDatabase();
    if (!OpenOrCure()) {
      database_ = nullptr;
      return;
    }
    if (was_cut_off) CompareReopened();
    latched_.reset();
  }

  // Expects the acknowledged writes, possibly followed by the write that failed.
  void CompareReopened() {
    Contents contents;
    const Status read = database_->Read(&contents);
    Note(read);
    if (!read.ok()) return;
    const bool with_failed = with_the_failed_.has_value() && Equal(contents, *with_the_failed_);
    EXPECT_TRUE(with_failed || Equal(contents, acknowledged_))
        << "a reopened database shows other contents than were acknowledged";
    acknowledged_ = contents;
    with_the_failed_.reset();
    latched_.reset();
    family_is_certain_ = database_->families().contains("second");
  }

  void Finish() {
    faults_->ClearRules();
    if (fault_.has_value() && !fault_->resume) return CloseAndCompare();
    const Status resumed = database_->db()->Resume();
    ASSERT_TRUE(resumed.ok()) << "Resume: " << resumed.ToString();
    cured_ = latched_.has_value();
    latched_.reset();
    CompareReads();
    Write(true);
    ASSERT_FALSE(latched_.has_value()) << "not writable after Resume: " << *latched_;
    with_the_failed_.reset();
    ComparePowerCuts();
    CloseAndCompare();
  }

  // Everything is now synced or in tables, including the records of the failed log.
  void ComparePowerCuts() {
    Random random(seed_);
    for (const CrashKind kind : {CrashKind::kDurableOnly, CrashKind::kRandomSubset,
                                 CrashKind::kUnlinksLate, CrashKind::kEverything}) {
      const CrashImage image = disk_->MakeCrashImage(disk_->OperationCount(), kind, random.Next());
      OpenDatabase recovered(image.file_system, Settings(), seed_);
      const Status opened = recovered.Open();
      ASSERT_TRUE(opened.ok()) << "after a power cut (" << CrashKindName(kind)
                               << "): " << opened.ToString();
      Contents contents;
      ASSERT_TRUE(recovered.Read(&contents).ok());
      EXPECT_TRUE(Equal(contents, acknowledged_))
          << "a power cut after a resume (" << CrashKindName(kind) << ") changed the contents";
    }
  }

  void CloseAndCompare() {
    const Status closed = database_->Close();
    Note(closed);
    database_ = MakeDatabase();
    const Status opened = database_->Open();
    ASSERT_TRUE(opened.ok()) << "does not open although nothing fails any more: "
                             << opened.ToString();
    CompareReopened();
  }

  const Deletions deletions_;
  const std::optional<FaultCase> fault_;
  const uint64_t seed_;
  Random workload_{seed_};
  const std::shared_ptr<CrashFileSystem> disk_;
  const std::shared_ptr<FaultFileSystem> faults_;
  std::unique_ptr<OpenDatabase> database_;
  Contents acknowledged_;
  std::optional<Contents> with_the_failed_;
  std::optional<std::string> latched_;
  bool family_is_certain_ = false;
  bool cured_ = false;
  uint64_t writes_ = 0;
};

struct Operations {
  const char* name;
  FaultOperation operations;
  Deletions deletions = Deletions::kAtOnce;
};

// Runs a workload once, and then for each variant with an error at each of about 35 calls.
class ErrorSweepTest : public ::testing::TestWithParam<Operations> {
 protected:
  void Sweep(const std::vector<FaultCase>& variants) {
    const uint64_t first_seed = FromEnvironment("ASHLAR_FAULTS_SEED", 7);
    const uint64_t effort = FromEnvironment("ASHLAR_FAULTS_EFFORT", 1);
    for (uint64_t seed = first_seed; seed < first_seed + effort && !HasFailure(); ++seed) {
      SCOPED_TRACE(StrCat("ASHLAR_FAULTS_SEED=", seed));
      SweepWorkload(variants, seed);
    }
    std::printf(
        "%s: %llu calls, %llu runs, %llu with injected errors, %llu cured by Resume; wrong "
        "results: %s\n",
        GetParam().name, static_cast<unsigned long long>(calls_),
        static_cast<unsigned long long>(runs_), static_cast<unsigned long long>(injected_),
        static_cast<unsigned long long>(cured_), HasFailure() ? "SOME" : "0");
  }

 private:
  void SweepWorkload(const std::vector<FaultCase>& variants, uint64_t seed) {
    const FaultOperation operations = GetParam().operations;
    FaultyRun whole(GetParam().deletions, std::nullopt, seed);
    whole.Run();
    ASSERT_FALSE(HasFailure());
    const uint64_t calls = whole.Calls(operations);
    ASSERT_GT(calls, 0u);
    constexpr uint64_t kCallsWanted = 35;
    const uint64_t step = 1 + calls / kCallsWanted;
    for (const FaultCase& variant : variants) {
      for (uint64_t n = 1 + runs_ % step; n <= calls && !HasFailure(); n += step) {
        FaultCase fault = variant;
        fault.rule.operations = operations;
        fault.rule.nth = n;
        SCOPED_TRACE(Describe(fault));
        FaultyRun run(GetParam().deletions, fault, seed);
        run.Run();
        ++runs_;
        injected_ += run.Injected() ? 1u : 0u;
        cured_ += run.Cured() ? 1u : 0u;
      }
    }
    calls_ += calls;
  }

  uint64_t calls_ = 0;
  uint64_t runs_ = 0;
  uint64_t injected_ = 0;
  uint64_t cured_ = 0;
};

FaultCase Variant(FaultEffect effect, bool sticky, const Status& error, bool resume) {
  FaultCase fault;
  fault.rule.effect = effect;
  fault.rule.sticky = sticky;
  fault.rule.error = error;
  fault.resume = resume;
  return fault;
}

// The calls of an SstFileManager. After a full disk it would resume the database on its own.
class PacedDeletionSweepTest : public ErrorSweepTest {};

TEST_P(PacedDeletionSweepTest, NothingAcknowledgedIsLostAndNothingWrongIsRead) {
  const Status io = Status::IOError("injected");
  Sweep({Variant(FaultEffect::kFailBefore, false, io, true),
         Variant(FaultEffect::kFailBefore, true, io, true),
         Variant(FaultEffect::kFailBefore, true, io, false),
         Variant(FaultEffect::kFailAfter, false, io, true),
         Variant(FaultEffect::kFailAfter, true, io, false)});
}

INSTANTIATE_TEST_SUITE_P(
    Calls, PacedDeletionSweepTest,
    ::testing::Values(Operations{"Truncate", FaultOperation::kTruncate, Deletions::kPaced},
                      Operations{"Rename", FaultOperation::kRename, Deletions::kPaced},
                      Operations{"Delete", FaultOperation::kDelete, Deletions::kPaced},
                      Operations{"Inspect", FaultOperation::kInspect, Deletions::kPaced},
                      Operations{"List", FaultOperation::kList, Deletions::kPaced}),
    [](const auto& operations) { return std::string(operations.param.name); });

TEST_P(ErrorSweepTest, NothingAcknowledgedIsLostAndNothingWrongIsRead) {
  const Status io = Status::IOError("injected");
  const Status full = Status::NoSpace("injected");
  Sweep({Variant(FaultEffect::kFailBefore, false, io, true),
         Variant(FaultEffect::kFailBefore, true, io, true),
         Variant(FaultEffect::kFailBefore, false, io, false),
         Variant(FaultEffect::kFailBefore, true, full, true),
         Variant(FaultEffect::kFailBefore, true, full, false),
         Variant(FaultEffect::kFailAfter, false, io, true),
         Variant(FaultEffect::kFailAfter, false, io, false),
         Variant(FaultEffect::kPartialAppend, false, full, true),
         Variant(FaultEffect::kPartialAppend, false, full, false)});
}

INSTANTIATE_TEST_SUITE_P(
    Calls, ErrorSweepTest,
    ::testing::Values(
        Operations{"Append", FaultOperation::kAppend}, Operations{"Flush", FaultOperation::kFlush},
        Operations{"Sync", FaultOperation::kSync}, Operations{"Close", FaultOperation::kClose},
        Operations{"SyncDirectory", FaultOperation::kSyncDirectory},
        Operations{"Rename", FaultOperation::kRename},
        Operations{"Create", FaultOperation::kOpenForWriting},
        Operations{"OpenForReading", FaultOperation::kOpenForReading},
        Operations{"Read", FaultOperation::kRead}, Operations{"Delete", FaultOperation::kDelete},
        Operations{"List", FaultOperation::kList}, Operations{"Inspect", FaultOperation::kInspect},
        Operations{"Lock", FaultOperation::kLock},
        Operations{"CreateDirectory", FaultOperation::kCreateDirectory}),
    [](const auto& operations) { return std::string(operations.param.name); });

// Reads with wrong results. Either a checksum detects the result, or it is correct.
class LyingReadTest : public ::testing::TestWithParam<FaultEffect> {};

TEST_P(LyingReadTest, WrongBytesAreNeverBelieved) {
  const uint64_t seed = FromEnvironment("ASHLAR_FAULTS_SEED", 7);
  FaultyRun whole(Deletions::kAtOnce, std::nullopt, seed);
  whole.Run();
  const uint64_t calls = whole.Calls(FaultOperation::kRead);
  uint64_t injected = 0;
  for (uint64_t n = 1; n <= calls && !HasFailure(); n += 1 + calls / 150) {
    FaultCase fault = Variant(GetParam(), false, Status::IOError("unused"), false);
    fault.rule.operations = FaultOperation::kRead;
    fault.rule.nth = n;
    fault.rule.seed = n;
    SCOPED_TRACE(Describe(fault));
    FaultyRun run(Deletions::kAtOnce, fault, seed);
    run.Run();
    injected += run.Injected() ? 1u : 0u;
  }
  std::printf("%llu reads lied to; wrong results: %s\n", static_cast<unsigned long long>(injected),
              HasFailure() ? "SOME" : "0");
}

INSTANTIATE_TEST_SUITE_P(Effects, LyingReadTest,
                         ::testing::Values(FaultEffect::kShortRead, FaultEffect::kBitFlip,
                                           FaultEffect::kMisdirectedRead),
                         [](const auto& effect) {
                           return std::string(effect.param == FaultEffect::kShortRead ? "Short"
                                              : effect.param == FaultEffect::kBitFlip
                                                  ? "Flipped"
                                                  : "Misdirected");
                         });

}  // namespace
}  // namespace ashlar
