// Replication: a leader sends each of its writes to a follower, a process with a database of its
// own, over a pipe. Either may die at any moment. The next one continues where the follower is.
//
//   replication [DIRECTORY [SEED]]              starts both and kills them in turn, each time after
//                                               a random number of batches; then compares them
//                                               (default: ./replication-db, removed first)
//   replication --leader DIRECTORY BATCHES      ends when the follower has all writes; dies after
//   replication --follower DIRECTORY BATCHES    so many batches (0: never)
//
//   follower --> leader   its last sequence, 8 bytes: at the start, and after each batch
//   leader --> follower   bytes of the batch, 8 bytes; WriteBatch::Data()
//
// A follower that applies the leader's batches in order gives them the same sequences, so its own
// last sequence tells what it has. It is never ahead, because a batch that was read from the
// leader's log survives the leader's death.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <string>

#include "ashlar/db.h"
#include "ashlar/transaction_log.h"
#include "ashlar/write_batch.h"

extern char** environ;

namespace {

constexpr uint64_t kLastSequence = 2000;  // of 1000 batches

// An example ends at the first error. A program would return the Status.
void Check(const ashlar::Status& status) {
  if (status.ok()) return;
  std::cerr << status.ToString() << "\n";
  std::exit(1);
}

void Check(bool holds, const char* what) {
  if (!holds) Check(ashlar::Status::Aborted(what));
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

// A process that dies without a chance to close its database.
class Fate {
 public:
  explicit Fate(uint64_t batches) : batches_left_(batches) {}
  void CountBatch() {
    if (batches_left_ != 0 && --batches_left_ == 0) kill(getpid(), SIGKILL);
  }

 private:
  uint64_t batches_left_;  // 0: it lives
};

// ---- The follower.

int Follow(const std::string& path, Fate fate) {
  ashlar::Options options;
  options.create_if_missing = true;
  std::unique_ptr<ashlar::DB> db;
  Check(ashlar::DB::Open(options, path, &db));
  for (;;) {
    const uint64_t last = db->GetLatestSequenceNumber();
    if (!WriteAll(STDOUT_FILENO, &last, sizeof(last))) return 0;
    uint64_t bytes = 0;
    if (!ReadAll(STDIN_FILENO, &bytes, sizeof(bytes))) return 0;
    std::string data(bytes, '\0');
    if (!ReadAll(STDIN_FILENO, data.data(), bytes)) return 0;
    ashlar::WriteBatch batch(data);
    Check(db->Write(ashlar::WriteOptions(), &batch));
    fate.CountBatch();
  }
}

// ---- The leader.

// A program's writes: up to ten batches of an insertion and a deletion.
void WriteSome(ashlar::DB* db) {
  for (int i = 0; i < 10; ++i) {
    const uint64_t last = db->GetLatestSequenceNumber();
    if (last == kLastSequence) return;
    ashlar::WriteBatch batch;
    Check(batch.Put("key" + std::to_string(last % 199), "value" + std::to_string(last)));
    Check(batch.Delete("key" + std::to_string(last * 7 % 199)));
    Check(db->Write(ashlar::WriteOptions(), &batch));
  }
  Check(db->Flush(ashlar::FlushOptions()));  // the log goes to the archive
}

// Sends the batches after *last, the follower's last sequence. Returns false if the follower ended.
bool SendUpdates(ashlar::DB* db, uint64_t* last, Fate* fate) {
  std::unique_ptr<ashlar::TransactionLogIterator> it;
  Check(db->GetUpdatesSince(*last + 1, &it));
  for (; it->Valid(); it->Next()) {
    const ashlar::BatchResult update = it->GetBatch();
    // Its log is not kept any more. Such a follower starts with a checkpoint of the leader.
    Check(update.sequence == *last + 1, "a log is missing");
    const std::string& data = update.writeBatchPtr->Data();
    const uint64_t bytes = data.size();
    if (!WriteAll(STDOUT_FILENO, &bytes, sizeof(bytes))) return false;
    if (!WriteAll(STDOUT_FILENO, data.data(), bytes)) return false;
    fate->CountBatch();
    if (!ReadAll(STDIN_FILENO, last, sizeof(*last))) return false;
  }
  Check(it->status());
  return true;
}

int Lead(const std::string& path, Fate fate) {
  ashlar::Options options;
  options.create_if_missing = true;
  options.WAL_ttl_seconds = 3600;  // logs are kept for a follower that is away for an hour
  std::unique_ptr<ashlar::DB> db;
  Check(ashlar::DB::Open(options, path, &db));
  uint64_t last = 0;
  if (!ReadAll(STDIN_FILENO, &last, sizeof(last))) return 0;
  while (last < kLastSequence) {
    WriteSome(db.get());
    if (!SendUpdates(db.get(), &last, &fate)) return 0;
  }
  Check(db->Close());
  return 0;
}

// ---- Both.

pid_t Start(std::string program, std::string role, std::string path, uint64_t batches, int in,
            int out) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  std::string count = std::to_string(batches);
  char* const argv[] = {program.data(), role.data(), path.data(), count.data(), nullptr};
  pid_t process = -1;
  Check(posix_spawn(&process, program.c_str(), &files, nullptr, argv, environ) == 0, "no process");
  posix_spawn_file_actions_destroy(&files);
  return process;
}

void Wait(pid_t process, bool is_doomed) {
  int status = 0;
  Check(waitpid(process, &status, 0) == process, "no process to wait for");
  const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  Check(is_doomed ? killed : WIFEXITED(status) && WEXITSTATUS(status) == 0, "an unexpected end");
}

// Runs both until one of them dies, or all is sent. The other ends when its pipe closes.
void RunBoth(const std::string& program, const std::string& path, uint64_t leader_batches,
             uint64_t follower_batches) {
  int down[2];
  int up[2];
  Check(pipe(down) == 0 && pipe(up) == 0, "no pipe");
  for (const int end : {down[0], down[1], up[0], up[1]}) fcntl(end, F_SETFD, FD_CLOEXEC);
  const pid_t leader = Start(program, "--leader", path, leader_batches, up[0], down[1]);
  const pid_t follower =
      Start(program, "--follower", path + "-follower", follower_batches, down[0], up[1]);
  for (const int end : {down[0], down[1], up[0], up[1]}) close(end);
  Wait(leader, leader_batches != 0);
  Wait(follower, follower_batches != 0);
}

std::map<std::string, std::string> Contents(const std::string& path) {
  std::unique_ptr<ashlar::DB> db;
  Check(ashlar::DB::OpenForReadOnly(ashlar::Options(), path, &db));
  std::map<std::string, std::string> contents;
  const std::unique_ptr<ashlar::Iterator> it(db->NewIterator(ashlar::ReadOptions()));
  for (it->SeekToFirst(); it->Valid(); it->Next())
    contents[it->key().ToString()] = it->value().ToString();
  Check(it->status());
  return contents;
}

}  // namespace

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);  // write() then reports that the reader has ended
  const std::string role = argc == 4 ? argv[1] : "";
  if (role == "--leader") return Lead(argv[2], Fate(std::stoull(argv[3])));
  if (role == "--follower") return Follow(argv[2], Fate(std::stoull(argv[3])));

  const std::string path = argc > 1 ? argv[1] : "replication-db";
  const unsigned long seed = argc > 2 ? std::stoul(argv[2]) : std::random_device()();
  std::cerr << "seed " << seed << "\n";
  Check(ashlar::DestroyDB(path, ashlar::Options()));
  Check(ashlar::DestroyDB(path + "-follower", ashlar::Options()));
  std::mt19937_64 draw(seed);
  constexpr int kRounds = 5;  // of at most 120 batches
  for (int round = 0; round < kRounds; ++round) {
    RunBoth(argv[0], path, 1 + draw() % 60, 0);
    RunBoth(argv[0], path, 0, 1 + draw() % 60);
  }
  std::cout << "the leader and the follower were killed " << kRounds << " times each\n";
  RunBoth(argv[0], path, 0, 0);
  const std::map<std::string, std::string> contents = Contents(path);
  Check(Contents(path + "-follower") == contents, "the contents differ");
  std::cout << "both have the same " << contents.size() << " keys\n";
  return 0;
}
