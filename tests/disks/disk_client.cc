// disk_client: a process with a database or a pool that executes the lines on its standard input.
// disks.py makes the disks and writes the lines; README.md lists them.
//
//   a 1 207 s            commit 207 of thread 1 returned Ok, written with sync ('u': without)
//   = ok 210 207         the answer to a line, one for each
//   = error 5 4 <text>   code and subcode of the Status, and its text
//
// Each line is one write(2) after the call has returned. So whatever the reader receives was
// acknowledged before, even if this process dies at that moment.
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/format.h"
#include "tests/disks/commits.h"
#include "tests/disks/store.h"

namespace ashlar::disks {

namespace {

void PrintLine(std::string text) {
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  text += '\n';
  if (write(STDOUT_FILENO, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    std::exit(3);  // nobody reads the pipe
}

void PrintOutcome(const Status& status, const std::string& result) {
  if (status.ok()) {
    PrintLine(StrCat("= ok", result.empty() ? "" : " ", result));
  } else {
    PrintLine(StrCat("= error ", static_cast<int>(status.code()), " ",
                     static_cast<int>(status.subcode()), " ", status.ToString()));
  }
}

// Limits this process from now on.
Status Limit(__rlimit_resource resource, uint64_t most) {
  struct rlimit limit = {};
  if (getrlimit(resource, &limit) != 0) return Status::IOError("getrlimit failed");
  limit.rlim_cur = most;
  if (setrlimit(resource, &limit) != 0) return Status::IOError("setrlimit failed");
  return Status::OK();
}

uint64_t AddressSpaceBytes() {
  uint64_t pages = 0;
  if (std::FILE* const file = std::fopen("/proc/self/statm", "r"); file != nullptr) {
    if (std::fscanf(file, "%lu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

class Client {
 public:
  // Returns false if the input has ended.
  bool RunLine() {
    std::string line;
    if (!std::getline(std::cin, line)) return false;
    std::istringstream words(line);
    std::string command;
    words >> command;
    std::string result;
    Status status;
    try {
      status = Run(command, &words, &result);
    } catch (const std::bad_alloc&) {
      status = Status::MemoryLimit("the client found no memory");
    }
    PrintOutcome(status, result);
    return true;
  }

 private:
  Status Run(const std::string& command, std::istringstream* words, std::string* result) {
    if (command == "open") return OpenDatabase(words);
    if (command == "open-pool") return OpenPool(words);
    if (command == "restore") {
      std::string backups;
      std::string directory;
      *words >> backups >> directory;
      return RestoreBackup(backups, directory);
    }
    uint64_t number = 0;
    if (command == "limit-files") {
      *words >> number;
      return Limit(RLIMIT_NOFILE, number);
    }
    if (store_ == nullptr) return Status::InvalidArgument("nothing is open");
    if (command == "load") return Load(words);
    if (command == "contents") return FindContents(result);
    if (command == "verify") return store_->Verify();
    if (command == "close") {
      const Status s = store_->Close();
      store_.reset();
      return s;
    }
    if (command == "limit-memory") {
      *words >> number;
      return Limit(RLIMIT_AS, AddressSpaceBytes() + (number << 20));
    }
    auto* const database = dynamic_cast<DatabaseStore*>(store_.get());
    if (database == nullptr) return Status::InvalidArgument("no command of a pool", command);
    return RunOnDatabase(command, words, database);
  }

  static Status RunOnDatabase(const std::string& command, std::istringstream* words,
                              DatabaseStore* database) {
    std::string path;
    uint64_t number = 0;
    *words >> path >> number;
    if (command == "flush") return database->Flush();
    if (command == "compact") return database->Compact();
    if (command == "make-family") return database->MakeFamily(20'000);
    if (command == "change-option") return database->ChangeOption();
    if (command == "ingest") return database->Ingest(path, number);
    if (command == "checkpoint") return database->Checkpoint(path);
    if (command == "backup") return database->Backup(path);
    if (command == "resume") return database->Resume();
    if (command == "await-recovery") return database->AwaitRecovery();
    return Status::InvalidArgument("there is no command", command);
  }

  Status OpenDatabase(std::istringstream* words) {
    std::string directory;
    std::string mode;
    std::string options;
    *words >> directory >> mode >> options;
    std::unique_ptr<DatabaseStore> opened;
    const Status s = DatabaseStore::Open(directory, mode, options, &opened);
    store_ = std::move(opened);
    return s.ok() ? FindNext() : s;
  }

  Status OpenPool(std::istringstream* words) {
    std::string path;
    std::string durability;
    uint64_t pool_bytes = 0;
    *words >> path >> durability >> pool_bytes;
    std::unique_ptr<PoolStore> opened;
    const Status s = PoolStore::Open(path, durability, pool_bytes, &opened);
    store_ = std::move(opened);
    return s.ok() ? FindNext() : s;
  }

  // Lets the load continue after the commits that the store has.
  Status FindNext() {
    for (uint64_t thread = 0; thread < kThreads; ++thread) {
      std::string last;
      const Status s = store_->Get(0, LastKey(thread), &last);
      if (!s.ok() && !s.IsNotFound()) return s;
      done_[thread] = 0;
      if (s.ok() && !ParseUint64(last, &done_[thread]))
        return Status::Corruption(LastKey(thread), "is no number");
    }
    return Status::OK();
  }

  // "load COUNT EVERY": COUNT commits by each thread, synced at each multiple of EVERY (0: none).
  // Ends at the first error of any thread and returns it.
  Status Load(std::istringstream* words) {
    uint64_t count = 0;
    uint64_t every = 0;
    *words >> count >> every;
    std::array<Status, kThreads> outcomes;
    std::atomic<bool> stop = false;
    std::vector<std::thread> threads;
    for (uint64_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        try {
          outcomes[thread] = LoadOne(thread, count, every, stop);
        } catch (const std::bad_alloc&) {
          outcomes[thread] = Status::MemoryLimit("the client found no memory");
        }
        if (!outcomes[thread].ok()) stop = true;
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const Status& outcome : outcomes) {
      if (!outcome.ok()) return outcome;
    }
    return Status::OK();
  }

  Status LoadOne(uint64_t thread, uint64_t count, uint64_t every, const std::atomic<bool>& stop) {
    for (const uint64_t end = done_[thread] + count; done_[thread] < end && !stop;) {
      const uint64_t n = done_[thread] + 1;
      const bool sync = every > 0 && n % every == 0;
      if (Status s = store_->Write(CommitOf(thread, n), sync); !s.ok()) return s;
      done_[thread] = n;
      PrintLine(StrCat("a ", thread, " ", n, sync ? " s" : " u"));
    }
    return Status::OK();
  }

  Status FindContents(std::string* result) {
    std::array<Contents, kFamilies> families;
    for (size_t family = 0; family < kFamilies; ++family) {
      if (Status s = store_->Read(family, &families[family]); !s.ok()) return s;
    }
    Found found;
    if (Status s = FindCommits(&families, &found); !s.ok()) return s;
    for (const uint64_t commits : found.commits) StrAppend(result, commits, " ");
    StrAppend(result, found.ingested);
    return Status::OK();
  }

  std::unique_ptr<Store> store_;
  std::array<uint64_t, kThreads> done_ = {};  // each element is written by its thread
};

}  // namespace

}  // namespace ashlar::disks

int main() {
  ashlar::disks::Client client;
  while (client.RunLine()) {
  }
  return 0;
}
