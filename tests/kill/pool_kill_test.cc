// Cycles of load, kill -9, reopen and compare for pools of each durability class (see README.md).
// Four threads write their own keys with single puts and deletions, batches, range deletions and
// values of up to 120 KB. Commit i of thread t is a function of t and i, so the parent knows the
// contents after n commits of each thread without the child.
#include <gtest/gtest.h>
#include <sys/vfs.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/persistent_tree.h"
#include "base/format.h"
#include "base/random.h"
#include "tests/kill/killed_child.h"
#include "tests/support/expect_ok.h"
#include "tests/support/from_environment.h"
#include "tests/support/tool_runner.h"
#include "tests/support/verify_tree.h"

namespace ashlar {
namespace {

constexpr int kThreads = 4;
constexpr uint64_t kKeysPerThread = 150;
constexpr uint64_t kLargeBytes = 120'000;

struct Change {
  enum Kind { kPut, kDelete, kDeleteRange } kind;
  std::string key;
  std::string end;  // the end of a range
  std::string value;
};

std::string KeyOf(uint64_t thread, uint64_t i) {
  const std::string digits = StrCat(i);
  return StrCat("thread", thread, "/", std::string(4 - digits.size(), '0'), digits);
}

Change ChangeOf(Random* random, uint64_t thread, uint64_t commit) {
  const uint64_t i = random->Uniform(kKeysPerThread);
  if (random->OneIn(6)) return {Change::kDelete, KeyOf(thread, i), "", ""};
  if (random->OneIn(40))
    return {Change::kDeleteRange, KeyOf(thread, i), KeyOf(thread, i + random->Uniform(20)), ""};
  const uint64_t bytes = random->OneIn(60) ? random->Between(20'000, kLargeBytes)
                                           : random->Uniform(random->OneIn(8) ? 5'000 : 300);
  return {Change::kPut, KeyOf(thread, i), "", StrCat(commit, ":", std::string(bytes, 'x'))};
}

// Returns one change, or several that are committed together.
std::vector<Change> CommitOf(uint64_t thread, uint64_t commit) {
  Random random(thread << 40 ^ commit);
  const uint64_t n = random.OneIn(4) ? random.Between(2, 30) : 1;
  std::vector<Change> changes;
  for (uint64_t i = 0; i < n; ++i) changes.push_back(ChangeOf(&random, thread, commit));
  return changes;
}

using Contents = std::map<std::string, std::string>;

void ApplyTo(const std::vector<Change>& changes, Contents* contents) {
  for (const Change& change : changes) {
    switch (change.kind) {
      case Change::kPut: (*contents)[change.key] = change.value; break;
      case Change::kDelete: contents->erase(change.key); break;
      case Change::kDeleteRange:
        contents->erase(contents->lower_bound(change.key), contents->lower_bound(change.end));
        break;
    }
  }
}

Status CommitTo(const std::vector<Change>& changes, PersistentTree* tree) {
  if (changes.size() > 1) {
    WriteBatch batch;
    for (const Change& change : changes) {
      Status added;
      if (change.kind == Change::kPut) added = batch.Put(change.key, change.value);
      if (change.kind == Change::kDelete) added = batch.Delete(change.key);
      if (change.kind == Change::kDeleteRange) added = batch.DeleteRange(change.key, change.end);
      if (!added.ok()) return added;
    }
    return tree->Write(batch);
  }
  const Change& change = changes.front();
  switch (change.kind) {
    case Change::kPut: return tree->Put(change.key, change.value);
    case Change::kDelete: return tree->Delete(change.key);
    case Change::kDeleteRange: return tree->DeleteRange(KeyRange::Between(change.key, change.end));
  }
  return Status::OK();
}

Status OpenPool(const LoadPlan& plan, std::unique_ptr<PersistentTree>* tree) {
  PersistentTreeOptions options;
  options.create_if_missing = true;
  options.pool_bytes = uint64_t{96} << 20;
  for (const DurabilityClass durability :
       {DurabilityClass::kCpuFlush, DurabilityClass::kProcessCrashOnly, DurabilityClass::kLogged}) {
    if (plan.variant == DurabilityClassName(durability)) options.durability = durability;
  }
  options.sync_log = plan.sync;
  // So small that checkpoints run all the time.
  options.log_bytes_max = uint64_t{256} << 10;
  return PersistentTree::Open(options, StrCat(plan.directory, "/pool"), tree);
}

// Not a test, but the code of the child. It never ends on its own.
TEST(PoolKillChild, DISABLED_Load) {
  LoadPlan plan;
  int pipe = -1;
  if (!PlanOfThisChild(&plan, &pipe)) GTEST_SKIP() << "started by the tests below";
  SendReport(pipe, {.kind = LoadReport::kStarting});
  std::unique_ptr<PersistentTree> tree;
  Status status = OpenPool(plan, &tree);
  if (status.ok()) {
    SendReport(pipe, {.kind = LoadReport::kOpened});
    std::vector<std::thread> threads;
    for (uint64_t thread = 0; thread < plan.commits.size(); ++thread) {
      threads.emplace_back([&, thread] {
        Status committed;
        for (uint64_t commit = plan.commits[thread] + 1; committed.ok(); ++commit) {
          committed = CommitTo(CommitOf(thread, commit), tree.get());
          if (committed.ok())
            SendReport(pipe, {.kind = LoadReport::kCommitted, .thread = thread, .commit = commit});
        }
        std::fprintf(stderr, "the child failed: %s\n", committed.ToString().c_str());
        SendReport(pipe, {.kind = LoadReport::kFailed});
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  std::fprintf(stderr, "the child ended: %s\n", status.ToString().c_str());
  SendReport(pipe, {.kind = LoadReport::kFailed});
}

// Describes the first key whose value differs, with the beginnings of both values. Complete values
// are compared.
std::string FirstDifference(const Contents& found, const Contents& expected) {
  const auto text = [](const Contents& contents, const std::string& key) {
    const auto entry = contents.find(key);
    return entry == contents.end()
               ? std::string("nothing")
               : StrCat(entry->second.substr(0, 12), "... of ", entry->second.size(), " bytes");
  };
  Contents all = expected;
  all.insert(found.begin(), found.end());
  for (const auto& [key, value] : all) {
    const auto is = found.find(key);
    const auto should_be = expected.find(key);
    if (is == found.end() || should_be == expected.end() || is->second != should_be->second)
      return StrCat(key, ": found ", text(found, key), ", expected ", text(expected, key));
  }
  return "";
}

// Two values of the same size with the same first 12 bytes may still differ, as a torn one does.
TEST(PoolKillTestDifference, NamesAValueThatIsTorn) {
  const Contents expected = {{"key", "17:" + std::string(kLargeBytes, 'x')}};
  Contents found = expected;
  EXPECT_EQ(FirstDifference(found, expected), "");
  found["key"].back() = '\0';
  EXPECT_NE(FirstDifference(found, expected), "");
}

class PoolKillTest : public ::testing::Test {
 protected:
  void Run(DurabilityClass durability, bool sync, const std::string& directory) {
    const uint64_t seed = FromEnvironment("ASHLAR_KILL_SEED", 20261123);
    SCOPED_TRACE(StrCat("ASHLAR_KILL_SEED=", seed));
    const uint64_t cycles = FromEnvironment("ASHLAR_KILL_CYCLES", 6);
    Random random(seed);
    LoadPlan plan{.load = "PoolKillChild.DISABLED_Load",
                  .directory = directory,
                  .threads = kThreads,
                  .sync = sync,
                  .variant = DurabilityClassName(durability),
                  .commits = std::vector<uint64_t>(kThreads, 0)};
    for (uint64_t cycle = 0; cycle < cycles && !HasFailure(); ++cycle) {
      KilledChild child(plan);
      KilledChild::Moment moment{.reports = random.Between(1, sync ? 400 : 3000),
                                 .micros = random.Uniform(3000)};
      if (cycle % 4 == 2)
        moment = {.reports = 1, .kind = LoadReport::kStarting, .micros = random.Uniform(8000)};
      ASSERT_TRUE(child.KillAt(moment)) << "the child of cycle " << cycle << " ended by itself";
      std::unique_ptr<PersistentTree> tree;
      ASSERT_OK(OpenPool(plan, &tree));
      ASSERT_NO_FATAL_FAILURE(Compare(tree.get(), child, &plan)) << "in cycle " << cycle;
      ASSERT_OK(VerifyAndCheck(tree.get()));
      ASSERT_OK(tree->Close());
    }
    uint64_t commits = 0;
    for (const uint64_t n : plan.commits) commits += n;
    std::printf("%s: %llu cycles, %llu commits; acknowledged commits lost: %s\n",
                plan.variant.c_str(), static_cast<unsigned long long>(cycles),
                static_cast<unsigned long long>(commits), HasFailure() ? "SOME" : "0");
  }

  // Each thread's keys have the state after its last acknowledged commit, or after the next one.
  void Compare(PersistentTree* tree, const KilledChild& child, LoadPlan* plan) {
    std::vector<Contents> found(kThreads);
    const std::unique_ptr<Iterator> it = tree->NewIterator(ReadOptions());
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      const std::string key = it->key().ToString();
      const auto thread = static_cast<size_t>(key.at(6) - '0');
      ASSERT_LT(thread, found.size()) << key;
      found[thread][key] = it->value().ToString();
    }
    ASSERT_OK(it->status());
    for (size_t thread = 0; thread < found.size(); ++thread) {
      const auto acknowledged = child.acknowledged().find(thread);
      uint64_t& commits = plan->commits[thread];
      const uint64_t last =
          acknowledged == child.acknowledged().end() ? commits : acknowledged->second;
      for (uint64_t commit = commits + 1; commit <= last; ++commit)
        ApplyTo(CommitOf(thread, commit), &expected_[thread]);
      commits = last;
      if (found[thread] == expected_[thread]) continue;
      ApplyTo(CommitOf(thread, ++commits), &expected_[thread]);
      ASSERT_EQ(FirstDifference(found[thread], expected_[thread]), "")
          << "thread " << thread << " has neither the contents after commit " << last
          << " nor those after the next";
    }
  }

  std::vector<Contents> expected_ = std::vector<Contents>(kThreads);
};

// A new directory on an in-memory file system, removed at the end.
class MemoryDirectory {
 public:
  MemoryDirectory() {
    constexpr long kTmpfsMagic = 0x01021994;
    struct statfs found = {};
    EXPECT_TRUE(statfs("/dev/shm", &found) == 0 && static_cast<long>(found.f_type) == kTmpfsMagic)
        << "this test needs a tmpfs at /dev/shm";
    EXPECT_NE(mkdtemp(path_), nullptr);
  }
  ~MemoryDirectory() {
    std::remove((std::string(path_) + "/pool").c_str());
    std::remove(path_);
  }
  MemoryDirectory(const MemoryDirectory&) = delete;
  MemoryDirectory& operator=(const MemoryDirectory&) = delete;
  std::string path() const { return path_; }

 private:
  char path_[32] = "/dev/shm/ashlar-kill-XXXXXX";
};

TEST_F(PoolKillTest, FlushedMemory) {
  const MemoryDirectory directory;
  Run(DurabilityClass::kCpuFlush, /*sync=*/false, directory.path());
}
TEST_F(PoolKillTest, MemoryOfTheSystem) {
  const ScratchDirectory scratch;
  Run(DurabilityClass::kProcessCrashOnly, /*sync=*/false, scratch.path());
}
TEST_F(PoolKillTest, Logged) {
  const ScratchDirectory scratch;
  Run(DurabilityClass::kLogged, /*sync=*/false, scratch.path());
}
TEST_F(PoolKillTest, LoggedAndSynced) {
  const ScratchDirectory scratch;
  Run(DurabilityClass::kLogged, /*sync=*/true, scratch.path());
}

}  // namespace
}  // namespace ashlar
