// KilledChild: runs this test binary again as a separate process, which loads a database or a pool
// until it is killed. The child sends its reports through a pipe.
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
  std::vector<uint64_t> commits;  // for a pool: the number of commits of each thread so far
};

// A message from the child through the pipe, small enough to be written atomically.
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
    uint64_t reports = 0;  // kill after this many reports of this kind
    LoadReport::Kind kind = LoadReport::kCommitted;
    uint64_t micros = 0;  // and this much later
  };
  // Reads this many reports of this kind. Returns false if the child ended first or failed.
  bool Await(uint64_t reports, LoadReport::Kind kind);
  // Reads the reports that have arrived.
  void ReadWaiting();
  // Kills the child at that moment and reads its remaining reports. Returns false if the child
  // ended first or failed.
  bool KillAt(const Moment& moment);
  // Reads reports until the child ends on its own. Returns false if it failed.
  bool AwaitEnd();
  // The last commit that the child acknowledged for each thread.
  const std::map<uint64_t, uint64_t>& acknowledged() const { return acknowledged_; }
  bool opened() const { return opened_; }

 private:
  // Reads one report. Returns false at the end of the pipe or after at most `micros`.
  bool Read(LoadReport* report, uint64_t micros);
  void Note(const LoadReport& report);

  pid_t process_ = -1;
  int pipe_ = -1;
  bool opened_ = false;
  bool failed_ = false;
  std::map<uint64_t, uint64_t> acknowledged_;
};

// Called in the child: returns its plan and its end of the pipe. Returns false if this process is
// not such a child.
bool PlanOfThisChild(LoadPlan* plan, int* pipe);
void SendReport(int pipe, const LoadReport& report);

}  // namespace ashlar
