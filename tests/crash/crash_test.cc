// A workload runs on a file system that records every operation. For many numbers k of operations
// and every kind of damage by a power cut, the directory that a crash after k operations may leave
// is opened, compared with the model, written to and opened again. In a fifth of the cases the
// recovery itself is cut off in the same way.
//
// The promise for every image (docs/reliability.md): it opens without help, it contains every write
// that was acknowledged as durable, and all families are at the same point of the commit order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/random.h"
#include "tests/crash/history.h"
#include "tests/support/crash_file_system.h"
#include "tests/support/from_environment.h"
#include "tests/support/open_database.h"
#include "tests/support/option_shapes.h"

namespace ashlar {
namespace {

struct Scenario {
  const char* name;
  bool several_families = false;
  // Uses synced writes and SyncWAL. Otherwise only flushes and closes promise durability.
  bool may_sync = true;
  uint32_t value_bits = 11;  // values have up to 2^value_bits bytes, most of them far fewer
  std::function<void(Options*)> set = [](Options*) {};
  // In the workload, obsolete files are trash for a while. Recoveries have no SstFileManager.
  bool has_trash = false;
};

const Scenario kScenarios[] = {
    {.name = "OneFamily"},
    {.name = "SeveralFamilies", .several_families = true},
    {.name = "OneFamilyWithoutSyncs", .may_sync = false},
    {.name = "SeveralFamiliesWithoutSyncs", .several_families = true, .may_sync = false},
    {.name = "MemTablesFillUp", .several_families = true, .value_bits = 14},
    {.name = "LogsElsewhere",
     .several_families = true,
     .set = [](Options* o) { o->wal_dir = "/logs"; }},
    {.name = "ReplayedLogsStay",
     .several_families = true,
     .set = [](Options* o) { o->avoid_flush_during_recovery = true; }},
    {.name = "LogsFlushedByHand",
     .several_families = true,
     .set = [](Options* o) { o->manual_wal_flush = true; }},
    {.name = "CompressedLogs",
     .several_families = true,
     .value_bits = 14,
     .set = [](Options* o) { o->wal_compression = kZSTD; }},
    {.name = "TrackedLogs",
     .several_families = true,
     .set = [](Options* o) { o->track_and_verify_wals_in_manifest = true; }},
    {.name = "RecycledLogs",
     .several_families = true,
     .value_bits = 13,
     .set = [](Options* o) { o->recycle_log_file_num = 3; }},
    {.name = "RecycledLogsOfOneFamilyElsewhere",
     .set =
         [](Options* o) {
           o->recycle_log_file_num = 1;
           o->wal_dir = "/logs";
           o->avoid_flush_during_recovery = true;
         }},
    {.name = "PacedDeletions", .value_bits = 13, .has_trash = true},
    {.name = "Universal", .several_families = true, .value_bits = 13, .set = &SetUniversal},
    {.name = "UniversalInParts", .value_bits = 14, .set = &SetUniversalInParts},
    {.name = "FifoWithoutDrops",
     .several_families = true,
     .value_bits = 13,
     .set = &SetFifoWithoutDrops},
    {.name = "FilterThatKeepsAll",
     .several_families = true,
     .value_bits = 13,
     .set = &SetFilterThatKeepsAll},
    {.name = "PartitionsAndRibbonFilters", .value_bits = 13, .set = &SetPartitionsAndRibbonFilters},
    {.name = "HashIndexesAndTrainedDictionaries",
     .value_bits = 13,
     .set = &SetHashIndexesAndTrainedDictionaries},
    {.name = "AlignedBlocksAndFirstKeys", .value_bits = 13, .set = &SetAlignedBlocksAndFirstKeys},
};

uint64_t SeedFor(uint64_t otherwise) { return FromEnvironment("ASHLAR_CRASH_SEED", otherwise); }
// Soaks check more: ASHLAR_CRASH_EFFORT=10 checks about ten times as many images.
uint64_t Effort() { return FromEnvironment("ASHLAR_CRASH_EFFORT", 1); }

class Workload {
 public:
  Workload(const Scenario& scenario, const Options& options, uint64_t seed)
      : scenario_(scenario),
        file_system_(std::make_shared<CrashFileSystem>()),
        database_(file_system_, options, seed),
        random_(seed) {
    constexpr int64_t kBytesPerSecond = 20000;
    constexpr uint64_t kChunkBytes = 8000;
    if (scenario_.has_trash) database_.ManageSpace(kBytesPerSecond, kChunkBytes);
  }

  void Run(int steps) {
    history_.BeginFamilies({kDefaultColumnFamilyName}, 0);
    Open();
    history_.EndFamilies(now());
    for (int step = 0; step < steps && !::testing::Test::HasFailure(); ++step) Step(step);
    if (!::testing::Test::HasFailure()) Reopen();
    Check(database_.Close());
  }
  const History& history() const { return history_; }
  CrashFileSystem* file_system() { return file_system_.get(); }

 private:
  uint64_t now() const { return file_system_->OperationCount(); }
  void Check(const Status& status) { ASSERT_TRUE(status.ok()) << status.ToString(); }
  void PromiseAll() { history_.Promise(history_.commits(), now()); }

  void Open() {
    Check(database_.Open());
    // Replayed writes are in tables, or their logs are synced.
    PromiseAll();
  }
  void Reopen() {
    Check(database_.Close());
    PromiseAll();
    Open();
  }

  void Step(int step) {
    if (scenario_.several_families && step % 60 == 15) return CreateFamily();
    if (scenario_.several_families && step % 60 == 50) return DropFamily();
    switch (random_.Uniform(32)) {
      case 0:
      case 1: return Flush(RandomFamilies(), /*wait=*/false);
      case 2: return Flush(RandomFamilies(), /*wait=*/true);
      case 3:
      case 4:
      case 5:
        for (uint64_t jobs = random_.Uniform(4); jobs > 0; --jobs) RunJob();
        return;
      case 6: return scenario_.may_sync ? Sync() : Write(false);
      case 7:
        return random_.OneIn(3)
                   ? Check(database_.db()->CompactRange(CompactRangeOptions(), nullptr, nullptr))
                   : Write(false);
      case 8: return random_.OneIn(4) ? Reopen() : Write(false);
      case 9:
      case 10: return Write(scenario_.may_sync);
      default: return Write(false);
    }
  }

  void RunJob() {
    if (!database_.env()->RunOneJob() && scenario_.has_trash)
      database_.env()->manual_executor()->RunDelayed();
  }

  std::string RandomFamily() {
    const std::set<std::string> names = database_.families();
    return *std::next(names.begin(), static_cast<std::ptrdiff_t>(random_.Uniform(names.size())));
  }
  std::set<std::string> RandomFamilies() {
    if (random_.OneIn(4)) return database_.families();
    return {RandomFamily()};
  }

  void Write(bool sync) {
    Commit commit;
    const std::string only = random_.OneIn(2) ? RandomFamily() : "";
    for (uint64_t i = random_.Between(1, 4); i > 0; --i) {
      const std::string key = StrCat("key", random_.Uniform(30));
      if (random_.OneIn(12)) {
        commit.push_back({.kind = Change::Kind::kDeleteRange,
                          .family = only.empty() ? RandomFamily() : only,
                          .key = key,
                          .value = StrCat(key, 9)});
        continue;
      }
      const std::string value =
          StrCat(history_.commits() + 1, ":",
                 std::string(static_cast<size_t>(random_.Skewed(scenario_.value_bits)),
                             static_cast<char>('a' + i)));
      const Change::Kind kind =
          random_.OneIn(5) ? Change::Kind::kDelete
                           : (random_.OneIn(6) ? Change::Kind::kMerge : Change::Kind::kPut);
      commit.push_back({.kind = kind,
                        .family = only.empty() ? RandomFamily() : only,
                        .key = key,
                        .value = value});
    }
    WriteOptions options;
    options.sync = sync;
    history_.Begin(commit, now());
    Check(database_.Write(commit, options));
    history_.Acknowledge(now());
    if (sync) PromiseAll();
  }

  void Sync() {
    Check(random_.OneIn(2) ? database_.db()->SyncWAL() : database_.db()->FlushWAL(true));
    PromiseAll();
  }

  void Flush(const std::set<std::string>& families, bool wait) {
    uint64_t covered = 0;
    for (const std::string& family : families)
      covered = std::max(covered, history_.LastCommitOf(family));
    Check(database_.Flush(families, wait));
    if (wait) history_.Promise(covered, now());
  }

  void CreateFamily() {
    std::set<std::string> families = database_.families();
    const std::string name = StrCat("family", ++families_made_);
    families.insert(name);
    history_.BeginFamilies(families, now());
    Check(database_.CreateFamily(name));
    history_.EndFamilies(now());
  }
  void DropFamily() {
    std::set<std::string> families = database_.families();
    const std::string name = *families.rbegin();
    if (name == kDefaultColumnFamilyName) return;
    families.erase(name);
    history_.BeginFamilies(families, now());
    Check(database_.DropFamily(name));
    history_.EndFamilies(now());
  }

  const Scenario& scenario_;
  const std::shared_ptr<CrashFileSystem> file_system_;
  OpenDatabase database_;
  Random random_;
  History history_;
  int families_made_ = 0;
};

// The result of recovering an image: its position in the commit order.
struct Recovered {
  uint64_t commits = 0;
  Contents contents;        // as found
  Contents contents_after;  // with the write that follows
  // The number of operations of the recovery's file system when that write was acknowledged.
  uint64_t written_at = 0;
};

class CrashTest : public ::testing::TestWithParam<size_t> {
 protected:
  // Recovers, compares, writes and reopens. Returns false if it reported a failure.
  bool Recover(const std::shared_ptr<MemoryFileSystem>& image, uint64_t k, uint64_t at_least,
               Recovered* recovered) {
    OpenDatabase database(image, options_, seed_ ^ k);
    if (const Status opened = database.Open(); !opened.ok())
      return Fail("does not open: " + opened.ToString());
    if (HasTrash(image.get())) return Fail("has trash after it was opened");
    const bool created_now = !history_->MayHaveFamilies(k, database.families());
    // A database that did not exist may have been created by this open. That is correct only if its
    // creation had not finished.
    if (created_now && !(database.families().size() == 1 && history_->MayHaveFamilies(k, {})))
      return Fail("has the wrong families");
    if (const Status read = database.Read(&recovered->contents); !read.ok())
      return Fail("cannot be read: " + read.ToString());
    const int64_t commits =
        history_->FindPrefix(recovered->contents, at_least, history_->BegunAt(k));
    if (commits < 0) {
      const int64_t anywhere = history_->FindPrefix(recovered->contents, 0, history_->BegunAt(k));
      return Fail(anywhere < 0 ? std::string("is no prefix of the commit order")
                               : StrCat("stands at commit ", anywhere, ", but ", at_least,
                                        " were acknowledged"));
    }
    recovered->commits = static_cast<uint64_t>(commits);
    return WriteAndReopen(&database, image, recovered);
  }

  static bool HasTrash(vfs::FileSystem* image) {
    std::vector<std::string> names;
    EXPECT_TRUE(image->GetChildren(OpenDatabase::kPath, &names).ok());
    return std::any_of(names.begin(), names.end(),
                       [](const std::string& name) { return name.ends_with(".trash"); });
  }

  bool WriteAndReopen(OpenDatabase* database, const std::shared_ptr<MemoryFileSystem>& image,
                      Recovered* recovered) {
    Commit commit;
    recovered->contents_after = recovered->contents;
    for (const std::string& family : database->families()) {
      commit.push_back(
          {.kind = Change::Kind::kPut, .family = family, .key = "after", .value = "the crash"});
      recovered->contents_after[family]["after"] = "the crash";
    }
    WriteOptions synced;
    synced.sync = true;
    if (const Status written = database->Write(commit, synced); !written.ok())
      return Fail("cannot be written: " + written.ToString());
    if (const auto* const journal = dynamic_cast<CrashFileSystem*>(image.get()); journal != nullptr)
      recovered->written_at = journal->OperationCount();
    if (const Status closed = database->Close(); !closed.ok())
      return Fail("cannot be closed: " + closed.ToString());
    if (const Status opened = database->Open(); !opened.ok())
      return Fail("does not open a second time: " + opened.ToString());
    Contents again;
    if (const Status read = database->Read(&again); !read.ok())
      return Fail("cannot be read a second time: " + read.ToString());
    return again == recovered->contents_after || Fail("changed between two opens");
  }

  // Cuts off the recovery too, after `begin` operations or more. Until its write is acknowledged,
  // the contents may be any that `may_be_found` accepts.
  void CrashAgain(CrashFileSystem* recovery, uint64_t begin, const Recovered& first,
                  const std::function<bool(const Contents&)>& may_be_found, Random* random) {
    constexpr int kImages = 3;
    for (int i = 0; i < kImages && !HasFailure(); ++i) {
      const uint64_t k = random->Between(begin, recovery->OperationCount());
      const CrashImage image = recovery->MakeCrashImage(
          k, static_cast<CrashKind>(random->Uniform(kCrashKinds)), random->Next());
      const std::string what = StrCat("second crash after ", k, " operations of the recovery (",
                                      CrashKindName(image.kind), ", ", image.seed, ")");
      SCOPED_TRACE(what);
      ++double_crashes_;
      OpenDatabase database(image.file_system, options_, seed_ ^ k);
      const Status opened = database.Open();
      if (!opened.ok()) {
        Fail("does not open: " + opened.ToString());
        return;
      }
      Contents contents;
      const Status read = database.Read(&contents);
      ASSERT_TRUE(read.ok()) << read.ToString();
      const bool may_lack_write = k < first.written_at;
      EXPECT_TRUE(contents == first.contents_after || (may_lack_write && may_be_found(contents)));
    }
  }

  // Everything that the recovery found was on disk, so none of it may be missing.
  void CrashAgainOnDisk(const CrashImage& image, uint64_t k, uint64_t at_least, Random* random) {
    const auto recovery = std::make_shared<CrashFileSystem>(image.file_system->Snapshot());
    Recovered first;
    if (!Recover(recovery, k, at_least, &first)) return;
    CrashAgain(
        recovery.get(), 0, first, [&](const Contents& found) { return found == first.contents; },
        random);
  }

  // At first only the process died, so the recovery found more than is durable. A power cut may
  // remove what the recovery has not made durable, but nothing that was durable before.
  void CrashAgainAfterDeath(CrashFileSystem* file_system, uint64_t k, uint64_t at_least,
                            Random* random) {
    const std::shared_ptr<CrashFileSystem> recovery = file_system->AfterProcessDeath(k);
    const uint64_t durable = history_->DemandAt(k, /*only_the_process_died=*/false).commits;
    Recovered first;
    if (!Recover(recovery, k, at_least, &first)) return;
    CrashAgain(
        recovery.get(), k, first,
        [&](const Contents& found) {
          return history_->FindPrefix(found, durable, history_->BegunAt(k)) >= 0;
        },
        random);
  }

  void CheckImage(CrashFileSystem* file_system, uint64_t k, const CrashImage& image,
                  uint64_t at_least) {
    const std::string what =
        StrCat("ASHLAR_CRASH_SEED=", seed_, ", crash after ", k, " operations (",
               CrashKindName(image.kind), ", ", image.seed,
               "), the last one: ", k > 0 ? file_system->DescribeOperation(k - 1) : "none");
    SCOPED_TRACE(what);
    ++images_;
    Random random(image.seed ^ image.fingerprint);
    if (!random.OneIn(5)) {
      Recovered recovered;
      Recover(image.file_system, k, at_least, &recovered);
    } else if (image.kind == CrashKind::kEverything) {
      CrashAgainAfterDeath(file_system, k, at_least, &random);
    } else {
      CrashAgainOnDisk(image, k, at_least, &random);
    }
  }

  bool Fail(const std::string& why) {
    ADD_FAILURE() << "the image " << why;
    return false;
  }

  // Creations, renames, removals and syncs are the critical operations. The points before and after
  // each of them are checked more often.
  static bool IsInteresting(const CrashFileSystem& file_system, uint64_t k) {
    const auto is = [&](uint64_t operation) {
      return operation < file_system.OperationCount() && !file_system.IsWrite(operation);
    };
    return is(k) || (k > 0 && is(k - 1));
  }

  Options options_;
  uint64_t seed_ = 0;
  const History* history_ = nullptr;
  uint64_t points_ = 0;
  uint64_t images_ = 0;
  uint64_t double_crashes_ = 0;
};

TEST_P(CrashTest, NothingAcknowledgedIsLost) {
  const Scenario& scenario = kScenarios[GetParam()];
  seed_ = SeedFor(20261121 + GetParam());
  options_ = SmallDatabaseOptions();
  scenario.set(&options_);
  Workload workload(scenario, options_, seed_);
  workload.Run(400);
  ASSERT_FALSE(HasFailure());
  history_ = &workload.history();
  CrashFileSystem* const file_system = workload.file_system();

  constexpr uint64_t kImagesWanted = 2000;
  const uint64_t operations = file_system->OperationCount();
  // The number of images differs between points. Most have about fifty.
  const uint64_t keep_one_in = std::max<uint64_t>(1, operations * 50 / (kImagesWanted * Effort()));
  Random random(seed_);
  std::map<uint64_t, Demand> checked;  // fingerprint -> the demand it was checked for
  for (uint64_t k = 0; k <= operations && !HasFailure(); ++k) {
    const uint64_t one_in =
        IsInteresting(*file_system, k) ? std::max<uint64_t>(1, keep_one_in / 2) : keep_one_in * 2;
    const uint64_t images_before = images_;
    if (one_in > 200 && !random.OneIn(one_in / 100)) continue;
    const auto is_wanted = [&] {
      return !HasFailure() && random.OneIn(std::min<uint64_t>(one_in, 100));
    };
    // The fingerprint of the image that is left if only the process dies.
    std::optional<uint64_t> after_death;
    file_system->EnumerateCrashImages(k, seed_, is_wanted, [&](const CrashImage& image) {
      // If no operation waits for a sync, a power cut leaves the same image.
      if (!after_death)
        after_death = file_system->MakeCrashImage(k, CrashKind::kEverything, 0).fingerprint;
      const bool only_the_process_died =
          !options_.manual_wal_flush && image.fingerprint == *after_death;
      const Demand demand = history_->DemandAt(k, only_the_process_died);
      const auto [known, is_new] = checked.try_emplace(image.fingerprint, demand);
      if (!is_new && known->second.Covers(demand)) return;
      known->second.Add(demand);
      CheckImage(file_system, k, image, demand.commits);
    });
    if (images_ > images_before) ++points_;
  }
  std::printf(
      "%s: %llu commits, %llu operations, %llu points, %llu images, %llu double crashes; "
      "acknowledged writes lost: %s\n",
      scenario.name, static_cast<unsigned long long>(history_->commits()),
      static_cast<unsigned long long>(operations), static_cast<unsigned long long>(points_),
      static_cast<unsigned long long>(images_), static_cast<unsigned long long>(double_crashes_),
      HasFailure() ? "SOME" : "0");
}

INSTANTIATE_TEST_SUITE_P(Workloads, CrashTest, ::testing::Range<size_t>(0, std::size(kScenarios)),
                         [](const auto& scenario) {
                           return std::string(kScenarios[scenario.param].name);
                         });

}  // namespace
}  // namespace ashlar
