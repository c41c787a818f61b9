// A leader and a follower, two processes with a database each, and the leader's writes on a pipe
// between them (GetUpdatesSince). One of them is killed at a random moment, then the other; the
// next pair goes on. Each time the follower has the state after some number of the leader's
// commits, and once it has caught up, the leader's.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/transaction_log.h"
#include "base/format.h"
#include "base/random.h"
#include "tests/kill/killed_child.h"
#include "tests/kill/small_levels.h"
#include "tests/support/expect_ok.h"
#include "tests/support/tool_runner.h"

namespace ashlar {
namespace {

using Contents = std::map<std::string, std::string>;

Options ReplicatedOptions() {
  Options options = SmallLevels();
  options.WAL_ttl_seconds = 3600;
  return options;
}
std::string LeaderPath(const std::string& directory) { return directory + "-leader"; }
std::string FollowerPath(const std::string& directory) { return directory + "-follower"; }

// Commit i of the leader: several records, so that a batch takes several sequences.
WriteBatch CommitOf(uint64_t commit, Contents* contents) {
  Random random(commit);
  WriteBatch batch;
  EXPECT_OK(batch.Put("commit", StrCat(commit)));
  (*contents)["commit"] = StrCat(commit);
  for (uint64_t i = random.Uniform(4); i > 0; --i) {
    const std::string key = StrCat("key", random.Uniform(150));
    if (random.OneIn(4)) {
      EXPECT_OK(batch.Delete(key));
      contents->erase(key);
    } else {
      const std::string value(static_cast<size_t>(random.Uniform(600)), 'v');
      EXPECT_OK(batch.Put(key, value));
      (*contents)[key] = value;
    }
  }
  return batch;
}

uint64_t CommitsIn(const Contents& contents) {
  const auto last = contents.find("commit");
  return last == contents.end() ? 0 : std::stoull(last->second);
}

Contents ReadContents(DB* db) {
  Contents contents;
  const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
  for (it->SeekToFirst(); it->Valid(); it->Next())
    contents[it->key().ToString()] = it->value().ToString();
  EXPECT_OK(it->status());
  return contents;
}

bool ReadAll(int pipe, void* bytes, size_t count) {
  for (size_t done = 0; done < count;) {
    const ssize_t got = read(pipe, static_cast<char*>(bytes) + done, count - done);
    if (got <= 0) return false;
    done += static_cast<size_t>(got);
  }
  return true;
}
bool WriteAll(int pipe, const void* bytes, size_t count) {
  for (size_t done = 0; done < count;) {
    const ssize_t put = write(pipe, static_cast<const char*>(bytes) + done, count - done);
    if (put <= 0) return false;
    done += static_cast<size_t>(put);
  }
  return true;
}

// The batches that come after `last`; *last becomes the answer to each. False: the other is gone.
template <typename Send>
Status SendUpdates(DB* db, SequenceNumber* last, const Send& send) {
  if (*last == db->GetLatestSequenceNumber()) return Status::OK();
  std::unique_ptr<TransactionLogIterator> it;
  Status status = db->GetUpdatesSince(*last + 1, &it);
  for (; status.ok() && it->Valid(); it->Next()) {
    const BatchResult update = it->GetBatch();
    if (update.sequence != *last + 1) return Status::Corruption("a batch is missing");
    status = send(update);
  }
  return status.ok() && it->status().ok() ? Status::OK() : status.ok() ? it->status() : status;
}

// The ends of the two pipes, as the plan names them.
struct Ends {
  int batches_in, batches_out, answers_in, answers_out;
};
bool TakePlan(LoadPlan* plan, int* pipe, Ends* ends) {
  if (!PlanOfThisChild(plan, pipe)) return false;
  const auto end = [&](size_t i) { return static_cast<int>(plan->commits.at(i)); };
  *ends = {
      .batches_in = end(0), .batches_out = end(1), .answers_in = end(2), .answers_out = end(3)};
  signal(SIGPIPE, SIG_IGN);
  return true;
}

// Not tests: the code of the children. They end when the other is gone.
TEST(ReplicationKillChild, DISABLED_Lead) {
  LoadPlan plan;
  int pipe = -1;
  Ends ends;
  if (!TakePlan(&plan, &pipe, &ends)) GTEST_SKIP() << "started by the test below";
  close(ends.batches_in);
  close(ends.answers_out);
  std::unique_ptr<DB> db;
  Status status = DB::Open(ReplicatedOptions(), LeaderPath(plan.directory), &db);
  SequenceNumber last = 0;
  bool is_there = status.ok() && ReadAll(ends.answers_in, &last, sizeof(last));
  Contents contents;
  if (status.ok()) contents = ReadContents(db.get());
  if (status.ok()) SendReport(pipe, {.kind = LoadReport::kOpened});
  for (uint64_t commit = CommitsIn(contents) + 1; status.ok(); ++commit) {
    WriteBatch batch = CommitOf(commit, &contents);
    status = db->Write(WriteOptions(), &batch);
    if (status.ok()) SendReport(pipe, {.kind = LoadReport::kCommitted, .commit = commit});
    // Some wait for the next ones, so that the follower is behind by logs.
    if (!status.ok() || !is_there || commit % 40 != 0) continue;
    status = SendUpdates(db.get(), &last, [&](const BatchResult& update) {
      const std::string data = update.writeBatchPtr->Data();
      const uint64_t bytes = data.size();
      is_there = WriteAll(ends.batches_out, &bytes, sizeof(bytes)) &&
                 WriteAll(ends.batches_out, data.data(), bytes) &&
                 ReadAll(ends.answers_in, &last, sizeof(last));
      return is_there ? Status::OK() : Status::IOError("the follower is gone");
    });
    if (!is_there) status = Status::OK();
  }
  std::fprintf(stderr, "the leader failed: %s\n", status.ToString().c_str());
  SendReport(pipe, {.kind = LoadReport::kFailed});
}

TEST(ReplicationKillChild, DISABLED_Follow) {
  LoadPlan plan;
  int pipe = -1;
  Ends ends;
  if (!TakePlan(&plan, &pipe, &ends)) GTEST_SKIP() << "started by the test below";
  close(ends.batches_out);
  close(ends.answers_in);
  std::unique_ptr<DB> db;
  Status status = DB::Open(ReplicatedOptions(), FollowerPath(plan.directory), &db);
  if (status.ok()) SendReport(pipe, {.kind = LoadReport::kOpened});
  while (status.ok()) {
    const uint64_t last = db->GetLatestSequenceNumber();
    uint64_t bytes = 0;
    std::string data;
    const bool got = WriteAll(ends.answers_out, &last, sizeof(last)) &&
                     ReadAll(ends.batches_in, &bytes, sizeof(bytes));
    if (got) data.resize(bytes);
    if (!got || !ReadAll(ends.batches_in, data.data(), bytes)) return;  // the leader is dead
    WriteBatch batch(data);
    status = db->Write(WriteOptions(), &batch);
    if (status.ok()) SendReport(pipe, {.kind = LoadReport::kCommitted, .commit = last});
  }
  std::fprintf(stderr, "the follower failed: %s\n", status.ToString().c_str());
  SendReport(pipe, {.kind = LoadReport::kFailed});
}

class ReplicationKillTest : public ::testing::Test {
 protected:
  // Starts both, kills one of them after some of its reports, and the other.
  void RunPair(Random* random) {
    int batches[2];
    int answers[2];
    ASSERT_EQ(pipe(batches), 0);
    ASSERT_EQ(pipe(answers), 0);
    LoadPlan plan{.load = "ReplicationKillChild.DISABLED_Lead",
                  .directory = scratch_.File("db"),
                  .storage = "",
                  .commits = {}};
    for (const int end : {batches[0], batches[1], answers[0], answers[1]})
      plan.commits.push_back(static_cast<uint64_t>(end));
    KilledChild leader(plan);
    plan.load = "ReplicationKillChild.DISABLED_Follow";
    KilledChild follower(plan);
    for (const int end : {batches[0], batches[1], answers[0], answers[1]}) close(end);
    const bool kills_leader = random->OneIn(2);
    KilledChild& victim = kills_leader ? leader : follower;
    KilledChild& other = kills_leader ? follower : leader;
    const KilledChild::Moment moment{.reports = 1 + random->Uniform(400),
                                     .kind = LoadReport::kCommitted,
                                     .micros = random->Uniform(2000)};
    EXPECT_TRUE(victim.KillAt(moment));
    // A follower ends with its leader.
    EXPECT_TRUE(other.KillAt({.reports = 0}) || kills_leader);
    acknowledged_ = std::max(acknowledged_, Acknowledged(leader));
  }
  static uint64_t Acknowledged(const KilledChild& leader) {
    const auto last = leader.acknowledged().find(0);
    return last == leader.acknowledged().end() ? 0 : last->second;
  }
  void ExpectCommits(const Contents& found, uint64_t at_least, uint64_t at_most) {
    const uint64_t commits = CommitsIn(found);
    ASSERT_GE(commits, at_least);
    ASSERT_LE(commits, at_most);
    Contents expected;
    for (uint64_t commit = 1; commit <= commits; ++commit)
      static_cast<void>(CommitOf(commit, &expected));
    ASSERT_TRUE(found == expected) << "not the state after commit " << commits;
  }
  // With both processes dead.
  void CompareAndCatchUp(bool catches_up) {
    std::unique_ptr<DB> leader;
    std::unique_ptr<DB> follower;
    const std::string directory = scratch_.File("db");
    ASSERT_OK(DB::Open(ReplicatedOptions(), LeaderPath(directory), &leader));
    ASSERT_OK(DB::Open(ReplicatedOptions(), FollowerPath(directory), &follower));
    const Contents leads = ReadContents(leader.get());
    ASSERT_NO_FATAL_FAILURE(ExpectCommits(leads, acknowledged_, CommitsIn(leads)));
    const Contents follows = ReadContents(follower.get());
    ASSERT_NO_FATAL_FAILURE(ExpectCommits(follows, followed_, CommitsIn(leads)));
    followed_ = CommitsIn(follows);
    if (!catches_up) return;
    SequenceNumber last = follower->GetLatestSequenceNumber();
    ASSERT_OK(SendUpdates(leader.get(), &last, [&](const BatchResult& update) {
      WriteBatch batch(update.writeBatchPtr->Data());
      const Status written = follower->Write(WriteOptions(), &batch);
      last = follower->GetLatestSequenceNumber();
      return written;
    }));
    EXPECT_EQ(last, leader->GetLatestSequenceNumber());
    EXPECT_EQ(ReadContents(follower.get()), leads);
  }

  const ScratchDirectory scratch_;
  uint64_t acknowledged_ = 0;
  uint64_t followed_ = 0;
};

TEST_F(ReplicationKillTest, TheFollowerIsAPrefixAndThenEqual) {
  const char* const seed = std::getenv("ASHLAR_KILL_SEED");
  const char* const cycles = std::getenv("ASHLAR_KILL_CYCLES");
  Random random(seed != nullptr ? std::strtoull(seed, nullptr, 10) : 20261126);
  const int lives = cycles != nullptr ? std::atoi(cycles) : 8;
  for (int life = 0; life < lives; ++life) {
    SCOPED_TRACE(StrCat("life ", life));
    ASSERT_NO_FATAL_FAILURE(RunPair(&random));
    ASSERT_NO_FATAL_FAILURE(CompareAndCatchUp(life == lives - 1));
  }
  EXPECT_GT(followed_, 0U);
}

}  // namespace
}  // namespace ashlar
