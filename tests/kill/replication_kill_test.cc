// A leader and a follower are two processes, each with a database. The leader sends its writes
// through a socket (GetUpdatesSince). One process is killed at a random moment, and then has the
// state after some number of the leader's commits. It is started again and continues with the
// other, which was not killed. The pair ends once the follower has acknowledged the leader's last
// sequence, when both databases are equal.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/transaction_log.h"
#include "base/format.h"
#include "base/random.h"
#include "base/result.h"
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
std::string SocketPath(const std::string& directory) { return directory + "-socket"; }
// The parent creates this file. The leader then stops writing and ends with an equal follower.
std::string FinishPath(const std::string& directory) { return directory + "-finish"; }

// A child sends no more reports than fit into its pipe without a reader.
constexpr uint64_t kReportsMax = 1000;
constexpr uint64_t kCommitsPerSend = 40;
// A leader without a follower waits for one once it has skipped this many sends.
constexpr uint64_t kSendsAloneMax = 50;
// Replaces a batch's size when there are no more batches.
constexpr uint64_t kEnd = UINT64_MAX;
// Replaces the follower's last sequence.
constexpr SequenceNumber kFollowerFailed = UINT64_MAX;

// Commit i of the leader. It has several records, so that a batch takes several sequences.
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

// Sends the batches after `last`. Sending one updates *last. Fails if the other process is gone.
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

sockaddr_un AddressOf(const std::string& directory) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string path = SocketPath(directory);
  EXPECT_LT(path.size(), sizeof(address.sun_path));
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  return address;
}

// The leader's connection to a follower, and the last sequence that the follower acknowledged.
struct Link {
  int socket = -1;
  SequenceNumber last = 0;

  bool IsOpen() const { return socket >= 0; }
  void Close() {
    close(socket);
    socket = -1;
  }
  // Accepts a follower if one has connected.
  void Accept(int listener) {
    socket = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (IsOpen() && !ReadAll(socket, &last, sizeof(last))) Close();
  }
  bool Send(const std::string& data) {
    const uint64_t bytes = data.size();
    return WriteAll(socket, &bytes, sizeof(bytes)) && WriteAll(socket, data.data(), bytes) &&
           ReadAll(socket, &last, sizeof(last));
  }
};

// Sends the batches that the follower lacks. Closes the link if the follower is gone.
Status SendTo(DB* db, Link* link) {
  const auto check = [link] {
    return link->last == kFollowerFailed ? Status::Aborted("the follower failed") : Status::OK();
  };
  Status status = check();
  if (status.ok()) {
    status = SendUpdates(db, &link->last, [&](const BatchResult& update) {
      if (link->Send(update.writeBatchPtr->Data())) return check();
      link->Close();
      return Status::IOError("the follower is gone");
    });
  }
  return link->IsOpen() ? status : Status::OK();
}

void AwaitConnection(int listener) {
  struct pollfd ready = {.fd = listener, .events = POLLIN, .revents = 0};
  poll(&ready, 1, -1);
}

// Sends until the follower has everything. Meanwhile the leader does not write.
Status FinishWith(DB* db, int listener, Link* link) {
  Status status = link->IsOpen() ? SendTo(db, link) : Status::OK();
  while (status.ok() && !link->IsOpen()) {
    AwaitConnection(listener);
    link->Accept(listener);
    if (link->IsOpen()) status = SendTo(db, link);
  }
  if (!status.ok()) return status;
  EXPECT_EQ(link->last, db->GetLatestSequenceNumber());
  EXPECT_TRUE(WriteAll(link->socket, &kEnd, sizeof(kEnd)));
  return Status::OK();
}

// Reports a commit that follows `before` others.
void Report(int pipe, uint64_t before, uint64_t commit) {
  if (before < kReportsMax) SendReport(pipe, {.kind = LoadReport::kCommitted, .commit = commit});
}

// Commits and sends until the finish file exists.
Status Lead(DB* db, const LoadPlan& plan, int pipe) {
  const auto listener = static_cast<int>(plan.commits.at(0));
  Contents contents = ReadContents(db);
  const uint64_t first = CommitsIn(contents) + 1;
  Link link;
  uint64_t sends_alone = 0;
  for (uint64_t commit = first;; ++commit) {
    WriteBatch batch = CommitOf(commit, &contents);
    ASHLAR_RETURN_IF_ERROR(db->Write(WriteOptions(), &batch));
    Report(pipe, commit - first, commit);
    // Most commits are sent with later ones, so that the follower falls behind by whole logs.
    if (commit % kCommitsPerSend != 0) continue;
    if (std::filesystem::exists(FinishPath(plan.directory))) return FinishWith(db, listener, &link);
    if (!link.IsOpen() && ++sends_alone > kSendsAloneMax) AwaitConnection(listener);
    if (!link.IsOpen()) link.Accept(listener);
    if (!link.IsOpen()) continue;
    sends_alone = 0;
    ASHLAR_RETURN_IF_ERROR(SendTo(db, &link));
  }
}

// Takes batches from a leader until it is gone. Returns true if there are no more.
Result<bool> TakeBatches(DB* db, int leader, int pipe, uint64_t* taken) {
  for (;;) {
    const SequenceNumber last = db->GetLatestSequenceNumber();
    uint64_t bytes = 0;
    if (!WriteAll(leader, &last, sizeof(last)) || !ReadAll(leader, &bytes, sizeof(bytes)))
      return false;
    if (bytes == kEnd) return true;
    std::string data(bytes, '\0');
    if (!ReadAll(leader, data.data(), bytes)) return false;
    WriteBatch batch(data);
    ASHLAR_RETURN_IF_ERROR(db->Write(WriteOptions(), &batch));
    Report(pipe, (*taken)++, last);
  }
}

// Follows one leader after another. The parent keeps the socket on which they accept.
Status Follow(DB* db, const LoadPlan& plan, int pipe) {
  const sockaddr_un address = AddressOf(plan.directory);
  uint64_t taken = 0;
  for (;;) {
    const int leader = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(leader, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
      return Status::IOError("no socket of a leader");
    const Result<bool> at_end = TakeBatches(db, leader, pipe, &taken);
    if (!at_end.ok()) {
      static_cast<void>(WriteAll(leader, &kFollowerFailed, sizeof(kFollowerFailed)));
      return at_end.status();
    }
    close(leader);
    if (*at_end) return Status::OK();
  }
}

// Not tests, but the code of the children.
template <typename Work>
void RunChild(const char* name, std::string (*path)(const std::string& directory), Work work) {
  LoadPlan plan;
  int pipe = -1;
  if (!PlanOfThisChild(&plan, &pipe)) GTEST_SKIP() << "started by the test below";
  signal(SIGPIPE, SIG_IGN);
  std::unique_ptr<DB> db;
  Status status = DB::Open(ReplicatedOptions(), path(plan.directory), &db);
  if (status.ok()) {
    SendReport(pipe, {.kind = LoadReport::kOpened});
    status = work(db.get(), plan, pipe);
  }
  if (status.ok()) return;
  std::fprintf(stderr, "the %s failed: %s\n", name, status.ToString().c_str());
  SendReport(pipe, {.kind = LoadReport::kFailed});
}
TEST(ReplicationKillChild, DISABLED_Lead) { RunChild("leader", &LeaderPath, &Lead); }
TEST(ReplicationKillChild, DISABLED_Follow) { RunChild("follower", &FollowerPath, &Follow); }

class ReplicationKillTest : public ::testing::Test {
 protected:
  void SetUp() override {
    listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    const sockaddr_un address = AddressOf(directory_);
    ASSERT_EQ(bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    ASSERT_EQ(listen(listener_, 16), 0);
  }
  ~ReplicationKillTest() override { close(listener_); }

  std::unique_ptr<KilledChild> Start(bool leads) {
    LoadPlan plan{.load = "ReplicationKillChild.DISABLED_Lead",
                  .directory = directory_,
                  .variant = "",
                  .commits = {static_cast<uint64_t>(listener_)}};
    if (!leads) plan.load = "ReplicationKillChild.DISABLED_Follow";
    return std::make_unique<KilledChild>(plan);
  }
  static uint64_t Acknowledged(const KilledChild& leader) {
    const auto last = leader.acknowledged().find(0);
    return last == leader.acknowledged().end() ? 0 : last->second;
  }

  // Starts both, kills one of them after some of its reports, starts it again, and lets the pair
  // finish.
  void RunPair(Random* random) {
    std::filesystem::remove(FinishPath(directory_));
    std::unique_ptr<KilledChild> leader = Start(/*leads=*/true);
    std::unique_ptr<KilledChild> follower = Start(/*leads=*/false);
    const bool kills_leader = random->OneIn(2);
    std::unique_ptr<KilledChild>& victim = kills_leader ? leader : follower;
    ASSERT_TRUE(victim->KillAt({.reports = 1 + random->Uniform(400),
                                .kind = LoadReport::kCommitted,
                                .micros = random->Uniform(2000)}));
    if (kills_leader) acknowledged_ = std::max(acknowledged_, Acknowledged(*leader));
    ASSERT_NO_FATAL_FAILURE(
        ExpectCommits(kills_leader ? LeaderPath(directory_) : FollowerPath(directory_),
                      kills_leader ? acknowledged_ : followed_));
    victim = Start(kills_leader);
    ASSERT_TRUE(victim->Await(1 + random->Uniform(100), LoadReport::kCommitted));
    std::ofstream(FinishPath(directory_)).put('.');
    ASSERT_TRUE(leader->AwaitEnd());
    ASSERT_TRUE(follower->AwaitEnd());
    acknowledged_ = std::max(acknowledged_, Acknowledged(*leader));
  }
  // Expects the database to have the state after at least this many commits.
  void ExpectCommits(const std::string& path, uint64_t at_least) {
    std::unique_ptr<DB> db;
    ASSERT_OK(DB::Open(ReplicatedOptions(), path, &db));
    const Contents found = ReadContents(db.get());
    const uint64_t commits = CommitsIn(found);
    ASSERT_GE(commits, at_least);
    Contents expected;
    for (uint64_t commit = 1; commit <= commits; ++commit)
      static_cast<void>(CommitOf(commit, &expected));
    ASSERT_TRUE(found == expected) << "not the state after commit " << commits;
  }
  // Called when both processes have ended.
  void Compare() {
    ASSERT_NO_FATAL_FAILURE(ExpectCommits(LeaderPath(directory_), acknowledged_));
    std::unique_ptr<DB> leader;
    std::unique_ptr<DB> follower;
    ASSERT_OK(DB::Open(ReplicatedOptions(), LeaderPath(directory_), &leader));
    ASSERT_OK(DB::Open(ReplicatedOptions(), FollowerPath(directory_), &follower));
    EXPECT_EQ(follower->GetLatestSequenceNumber(), leader->GetLatestSequenceNumber());
    const Contents leads = ReadContents(leader.get());
    EXPECT_EQ(ReadContents(follower.get()), leads);
    followed_ = CommitsIn(leads);
  }

  const ScratchDirectory scratch_;
  const std::string directory_ = scratch_.File("db");
  int listener_ = -1;
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
    ASSERT_NO_FATAL_FAILURE(Compare());
  }
  EXPECT_GT(followed_, 0U);
}

}  // namespace
}  // namespace ashlar
