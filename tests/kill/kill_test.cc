// Cycles of load, kill -9, reopen and compare (see README.md). Each thread of the child writes its
// own keys. Commit i of thread t is a function of t and i, so the state after n of its commits is
// known without the child.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/merge_operator.h"
#include "base/format.h"
#include "base/random.h"
#include "tests/kill/killed_child.h"
#include "tests/kill/small_levels.h"
#include "tests/support/from_environment.h"
#include "tests/support/option_shapes.h"
#include "tests/support/tool_runner.h"

namespace ashlar {
namespace {

const char* const kFamilies[] = {"default", "other"};

struct Shape {
  std::string name;
  void (*set)(Options* options);
};
const Shape kShapes[] = {
    {"Universal", &SetUniversal},
    {"UniversalInParts", &SetUniversalInParts},
    {"FifoWithoutDrops", &SetFifoWithoutDrops},
    {"FilterThatKeepsAll", &SetFilterThatKeepsAll},
    {"PartitionsAndRibbonFilters", &SetPartitionsAndRibbonFilters},
    {"HashIndexesAndTrainedDictionaries", &SetHashIndexesAndTrainedDictionaries},
    {"AlignedBlocksAndFirstKeys", &SetAlignedBlocksAndFirstKeys},
};

struct Change {
  size_t family;
  char kind;  // '=' put, '-' delete, '+' append, '~' delete [key, value)
  std::string key;
  std::string value;
};

std::vector<Change> CommitOf(uint64_t thread, uint64_t commit) {
  Random random(thread << 40 ^ commit);
  const std::string prefix = StrCat("thread", thread, "/");
  std::vector<Change> changes;
  for (size_t family = 0; family < std::size(kFamilies); ++family) {
    changes.push_back({family, '=', prefix + "last", StrCat(commit)});
    const std::string key = StrCat(prefix, random.Uniform(150));
    if (random.OneIn(7)) {
      changes.push_back({family, '-', key, ""});
    } else if (random.OneIn(20)) {
      changes.push_back({family, '~', key, key + "9"});
    } else {
      changes.push_back(
          {family, random.OneIn(9) ? '+' : '=', key,
           StrCat(commit, ":", std::string(static_cast<size_t>(random.Uniform(400)), 'x'))});
    }
  }
  return changes;
}

using Contents = std::map<std::string, std::string>;

void ApplyTo(const std::vector<Change>& changes, std::vector<Contents>* families) {
  for (const Change& change : changes) {
    Contents& contents = (*families)[change.family];
    if (change.kind == '-') {
      contents.erase(change.key);
    } else if (change.kind == '~') {
      contents.erase(contents.lower_bound(change.key), contents.lower_bound(change.value));
    } else if (change.kind == '+' && contents.contains(change.key)) {
      contents[change.key] += "," + change.value;
    } else {
      contents[change.key] = change.value;
    }
  }
}

struct LoadedDatabase {
  std::vector<ColumnFamilyHandle*> handles;
  std::unique_ptr<DB> db;

  Status Open(const LoadPlan& plan, bool read_only) {
    Options options = SmallLevels();
    for (const Shape& shape : kShapes)
      if (shape.name == plan.variant) shape.set(&options);
    std::vector<ColumnFamilyDescriptor> families;
    for (const char* const name : kFamilies) families.emplace_back(name, options);
    return read_only ? DB::OpenForReadOnly(options, plan.directory, families, &handles, &db)
                     : DB::Open(options, plan.directory, families, &handles, &db);
  }
  ~LoadedDatabase() {
    for (ColumnFamilyHandle* const handle : handles) delete handle;
  }
};

void LoadForEver(const LoadPlan& plan, int pipe, LoadedDatabase* database, uint64_t thread) {
  std::string last;
  const Status found = database->db->Get(ReadOptions(), StrCat("thread", thread, "/last"), &last);
  uint64_t commit = found.ok() ? std::stoull(last) : 0;
  WriteOptions options;
  options.sync = plan.sync;
  Status status = found.IsNotFound() ? Status::OK() : found;
  while (status.ok()) {
    ++commit;
    WriteBatch batch;
    for (const Change& change : CommitOf(thread, commit)) {
      ColumnFamilyHandle* const handle = database->handles[change.family];
      if (change.kind == '-') status = batch.Delete(handle, change.key);
      if (change.kind == '~') status = batch.DeleteRange(handle, change.key, change.value);
      if (change.kind == '+') status = batch.Merge(handle, change.key, change.value);
      if (change.kind == '=') status = batch.Put(handle, change.key, change.value);
    }
    status = database->db->Write(options, &batch);
    if (status.ok())
      SendReport(pipe, {.kind = LoadReport::kCommitted, .thread = thread, .commit = commit});
  }
  std::fprintf(stderr, "the child failed: %s\n", status.ToString().c_str());
  SendReport(pipe, {.kind = LoadReport::kFailed});
}

// Not a test, but the code of the child. It never ends on its own.
TEST(KillChild, DISABLED_Load) {
  LoadPlan plan;
  int pipe = -1;
  if (!PlanOfThisChild(&plan, &pipe)) GTEST_SKIP() << "started by the tests below";
  SendReport(pipe, {.kind = LoadReport::kStarting});
  LoadedDatabase database;
  const Status opened = database.Open(plan, false);
  if (!opened.ok()) {
    std::fprintf(stderr, "the child cannot open: %s\n", opened.ToString().c_str());
    SendReport(pipe, {.kind = LoadReport::kFailed});
    return;
  }
  SendReport(pipe, {.kind = LoadReport::kOpened});
  std::vector<std::thread> threads;
  for (int thread = 0; thread < plan.threads; ++thread) {
    threads.emplace_back(
        [&, thread] { LoadForEver(plan, pipe, &database, static_cast<uint64_t>(thread)); });
  }
  for (std::thread& thread : threads) thread.join();
}

// Returns texts such as "key: found 7:, expected 9:" where two maps differ. They show the
// beginnings of the values, which name the commit, but complete values are compared.
std::string Differences(const Contents& found, const Contents& expected) {
  std::string text;
  const auto beginning = [](const Contents& contents, const std::string& key) {
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
    if (is != found.end() && should_be != expected.end() && is->second == should_be->second)
      continue;
    StrAppend(&text, key, ": found ", beginning(found, key), ", expected ",
              beginning(expected, key), "\n");
  }
  return text;
}

// Two values of the same size with the same first 12 bytes may still differ.
TEST(KillTestDifferences, NamesAValueThatDiffersInItsLastByte) {
  const Contents expected = {{"key", "17:" + std::string(400, 'x')}};
  Contents found = expected;
  EXPECT_EQ(Differences(found, expected), "");
  found["key"].back() = '\0';
  EXPECT_NE(Differences(found, expected), "");
}

class KillTest : public ::testing::Test {
 protected:
  // Expects the contents after some number of commits of each thread, at least the acknowledged
  // ones. Both families must have the same number.
  void Compare(LoadedDatabase* database, const KilledChild& child, int threads) {
    std::vector<Contents> found(std::size(kFamilies));
    for (size_t family = 0; family < std::size(kFamilies); ++family) {
      const std::unique_ptr<Iterator> it(
          database->db->NewIterator(ReadOptions(), database->handles[family]));
      for (it->SeekToFirst(); it->Valid(); it->Next())
        found[family][it->key().ToString()] = it->value().ToString();
      ASSERT_TRUE(it->status().ok()) << it->status().ToString();
    }
    std::vector<Contents> expected(std::size(kFamilies));
    for (uint64_t thread = 0; thread < static_cast<uint64_t>(threads); ++thread) {
      const std::string key = StrCat("thread", thread, "/last");
      const uint64_t commits = found[0].contains(key) ? std::stoull(found[0][key]) : 0;
      const auto acknowledged = child.acknowledged().find(thread);
      if (acknowledged != child.acknowledged().end()) {
        ASSERT_GE(commits, acknowledged->second)
            << "an acknowledged commit of thread " << thread << " is lost";
      }
      ASSERT_GE(commits, recovered_[thread]) << "a commit that an earlier recovery found is lost";
      // A thread reports a commit before it starts the next one.
      ASSERT_LE(commits,
                std::max(recovered_[thread],
                         acknowledged == child.acknowledged().end() ? 0 : acknowledged->second) +
                    1);
      recovered_[thread] = commits;
      commits_ += commits;
      for (uint64_t commit = 1; commit <= commits; ++commit)
        ApplyTo(CommitOf(thread, commit), &expected);
    }
    for (size_t family = 0; family < std::size(kFamilies); ++family) {
      ASSERT_EQ(Differences(found[family], expected[family]), "")
          << "the contents of " << kFamilies[family] << " are those of no moment";
    }
  }

  void Run(bool sync, int threads, const std::string& shape) {
    const uint64_t seed = FromEnvironment("ASHLAR_KILL_SEED", 20261121);
    SCOPED_TRACE(StrCat("ASHLAR_KILL_SEED=", seed));
    const uint64_t cycles = FromEnvironment("ASHLAR_KILL_CYCLES", 8);
    Random random(seed);
    const LoadPlan plan{.load = "KillChild.DISABLED_Load",
                        .directory = scratch_.File("db"),
                        .threads = threads,
                        .sync = sync,
                        .variant = shape,
                        .commits = {}};
    for (uint64_t cycle = 0; cycle < cycles && !HasFailure(); ++cycle) {
      KilledChild child(plan);
      KilledChild::Moment moment{.reports = random.Between(1, sync ? 200 : 1500),
                                 .micros = random.Uniform(3000)};
      if (cycle % 4 == 2)
        moment = {.reports = 1, .kind = LoadReport::kStarting, .micros = random.Uniform(8000)};
      ASSERT_TRUE(child.KillAt(moment)) << "the child of cycle " << cycle << " ended by itself";
      // A read-only open leaves the recovery to the next child, which may be killed during
      // it.
      const bool read_only = random.OneIn(3);
      LoadedDatabase database;
      const Status opened = database.Open(plan, read_only);
      const bool nothing_yet = read_only && !opened.ok() && !child.opened() && recovered_.empty();
      if (nothing_yet) continue;
      ASSERT_TRUE(opened.ok()) << opened.ToString();
      ASSERT_NO_FATAL_FAILURE(Compare(&database, child, threads)) << "in cycle " << cycle;
      if (cycle + 1 == cycles) {
        ASSERT_TRUE(database.db->VerifyChecksum().ok());
      }
    }
    std::printf("%llu cycles, %llu commits compared; acknowledged commits lost: %s\n",
                static_cast<unsigned long long>(cycles), static_cast<unsigned long long>(commits_),
                HasFailure() ? "SOME" : "0");
  }

  ScratchDirectory scratch_;
  std::map<uint64_t, uint64_t> recovered_;  // commits found by the last comparison, per thread
  uint64_t commits_ = 0;
};

TEST_F(KillTest, OneWriterUnsynced) { Run(/*sync=*/false, 1, ""); }
TEST_F(KillTest, OneWriterSynced) { Run(/*sync=*/true, 1, ""); }
TEST_F(KillTest, GroupsOfWriters) { Run(/*sync=*/false, 3, ""); }
TEST_F(KillTest, GroupsOfSyncedWriters) { Run(/*sync=*/true, 3, ""); }

// Other trees and other tables.
class ShapeKillTest : public KillTest, public ::testing::WithParamInterface<Shape> {};

TEST_P(ShapeKillTest, GroupsOfWriters) { Run(/*sync=*/false, 2, GetParam().name); }

INSTANTIATE_TEST_SUITE_P(Shapes, ShapeKillTest, ::testing::ValuesIn(kShapes),
                         [](const ::testing::TestParamInfo<Shape>& test) {
                           return test.param.name;
                         });

}  // namespace
}  // namespace ashlar
