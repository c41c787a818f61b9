// KilledChild: this test binary, started again as a process of its own that loads a database or a
// pool until it is killed, and the pipe on which it reports.
//
//   child:  starting -> Open -> opened -> (commit -> acknowledgement)*
//
// Thread safety: one thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ashlar {

struct LoadPlan {
  std::string load;  // the child's test: "KillChild.DISABLED_Load"
  std::string directory;
  int threads = 1;
  bool sync = false;
  std::string variant;  // the name of a pool's durability class, or of a database's option shape
  std::vector<uint64_t> commits;  // of a pool: that each thread has made so far
};

// The child's message on the pipe, small enough to be atomic.
struct LoadReport {
  enum Kind : uint64_t { kStarting, kOpened, kCommitted, kFailed };
  uint64_t kind = kStarting;
  uint64_t thread = 0;
  uint64_t commit = 0;
};

class KilledChild {
 public:
  explicit KilledChild(const LoadPlan& plan);
  ~KilledChild();
  KilledChild(const KilledChild&) = delete;
  KilledChild& operator=(const KilledChild&) = delete;

  struct Moment {
    uint64_t reports = 0;  // kill after so many reports of this kind,
    LoadReport::Kind kind = LoadReport::kCommitted;
    uint64_t micros = 0;  // and so much later
  };
  // Reads reports until so many of this kind have come. False: it ended before, or failed.
  bool Await(uint64_t reports, LoadReport::Kind kind);
  // Reads the reports that are there.
  void ReadWaiting();
  // Kills the child at that moment and reads the rest of its reports. False: it ended before, or
  // failed.
  bool KillAt(const Moment& moment);
  // Reads its reports until it ends by itself. False: it failed.
  bool AwaitEnd();
  // The last commit that each thread was told of.
  const std::map<uint64_t, uint64_t>& acknowledged() const { return acknowledged_; }
  bool opened() const { return opened_; }

 private:
  // Reads one report; false at the end of the pipe or after micros (at most).
  bool Read(LoadReport* report, uint64_t micros);
  void Note(const LoadReport& report);

  pid_t process_ = -1;
  int pipe_ = -1;
  bool opened_ = false;
  bool failed_ = false;
  std::map<uint64_t, uint64_t> acknowledged_;
};

// In the child: the plan it was started with, and its end of the pipe. False: this process is no
// such child.
bool PlanOfThisChild(LoadPlan* plan, int* pipe);
void SendReport(int pipe, const LoadReport& report);

}  // namespace ashlar
