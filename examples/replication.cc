// Replication: a leader sends each of its writes to a follower, a process with a database of its
// own, over a pipe. Either may die at any moment: the next one goes on where the follower is.
//
//   replication [DIRECTORY]             the leader; default: ./replication-db, removed first
//   replication --follower DIRECTORY    batches from the input, answers to the output
//
//   follower --> leader   its last sequence, 8 bytes: at the start, and after each batch
//   leader --> follower   bytes of the batch, 8 bytes; WriteBatch::Data()
//
// A follower that applies the leader's batches in their order gives them the same sequences, so its
// own last sequence says what it has.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "ashlar/db.h"
#include "ashlar/transaction_log.h"
#include "ashlar/write_batch.h"

extern char** environ;

namespace {

// An example ends at the first error; a program would hand the Status on.
void Check(const ashlar::Status& status) {
  if (status.ok()) return;
  std::cerr << status.ToString() << "\n";
  std::exit(1);
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

// ---- The follower.

int Follow(const std::string& path) {
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
  }
}

// ---- The leader.

class Follower {
 public:
  Follower(const std::string& program, const std::string& path) {
    int batches[2];
    int answers[2];
    if (pipe(batches) != 0 || pipe(answers) != 0) std::exit(1);
    for (const int end : {batches[0], batches[1], answers[0], answers[1]})
      fcntl(end, F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, batches[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, answers[1], STDOUT_FILENO);
    std::string arguments[] = {program, "--follower", path};
    char* const argv[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(), nullptr};
    if (posix_spawn(&process_, program.c_str(), &files, nullptr, argv, environ) != 0) std::exit(1);
    posix_spawn_file_actions_destroy(&files);
    close(batches[0]);
    close(answers[1]);
    batches_ = batches[1];
    answers_ = answers[0];
  }
  ~Follower() {
    close(batches_);
    close(answers_);
    waitpid(process_, nullptr, 0);
  }
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  void Kill() const { kill(process_, SIGKILL); }
  bool Answer(uint64_t* last) const { return ReadAll(answers_, last, sizeof(*last)); }
  bool Send(const std::string& data) const {
    const uint64_t bytes = data.size();
    return WriteAll(batches_, &bytes, sizeof(bytes)) && WriteAll(batches_, data.data(), bytes);
  }

 private:
  pid_t process_ = -1;
  int batches_ = -1;
  int answers_ = -1;
};

// Sends the batches that the follower lacks, at most `batches_max`. Returns the follower's last
// sequence, or 0 if it is gone.
uint64_t SendUpdates(ashlar::DB* db, const Follower& follower, int batches_max) {
  uint64_t last = 0;
  if (!follower.Answer(&last)) return 0;
  if (last == db->GetLatestSequenceNumber()) return last;
  std::unique_ptr<ashlar::TransactionLogIterator> it;
  Check(db->GetUpdatesSince(last + 1, &it));
  for (int sent = 0; it->Valid() && sent < batches_max; it->Next(), ++sent) {
    const ashlar::BatchResult update = it->GetBatch();
    // Its log is not kept any more: such a follower begins with a checkpoint of the leader.
    if (update.sequence != last + 1) Check(ashlar::Status::NotFound("a log is missing"));
    if (!follower.Send(update.writeBatchPtr->Data()) || !follower.Answer(&last)) return 0;
  }
  Check(it->status());
  return last;
}

void PutSome(ashlar::DB* db, int begin, int end) {
  for (int i = begin; i < end; ++i)
    Check(db->Put(ashlar::WriteOptions(), "key" + std::to_string(i), "value"));
  Check(db->Flush(ashlar::FlushOptions()));  // the log goes to the archive
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::string(argv[1]) == "--follower") return Follow(argv[2]);
  signal(SIGPIPE, SIG_IGN);  // a follower that is gone is an error of write()
  const std::string path = argc > 1 ? argv[1] : "replication-db";
  const std::string copy = path + "-follower";
  ashlar::Options options;
  options.create_if_missing = true;
  options.WAL_ttl_seconds = 3600;  // logs are kept for a follower that is away for an hour
  Check(ashlar::DestroyDB(path, options));
  Check(ashlar::DestroyDB(copy, options));
  std::unique_ptr<ashlar::DB> db;
  Check(ashlar::DB::Open(options, path, &db));
  PutSome(db.get(), 0, 100);
  {
    const Follower follower(argv[0], copy);
    std::cout << "the follower has " << SendUpdates(db.get(), follower, 60) << " of 100 writes\n";
    follower.Kill();
  }
  PutSome(db.get(), 100, 200);
  {
    const Follower follower(argv[0], copy);
    std::cout << "the next one goes on to " << SendUpdates(db.get(), follower, 1000)
              << " of 200 writes\n";
  }
  // It ends with the pipe, and its database is free.
  std::unique_ptr<ashlar::DB> read;
  Check(ashlar::DB::OpenForReadOnly(options, copy, &read));
  std::string value;
  Check(read->Get(ashlar::ReadOptions(), "key199", &value));
  std::cout << "key199 of the follower: " << value << "\n";
  Check(db->Close());
  return 0;
}
