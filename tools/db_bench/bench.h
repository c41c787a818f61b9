// Bench: runs the workloads of --benchmarks one after the other.
//
//   Run ── for each name[W1-X3]:   a new database if the workload needs one
//                                  ->  RunThreads, for warm-up  ->  RunThreads, reported
//
//   RunThreads      main thread                       worker threads
//                   makes workers and threads     ->  wait at the StartingGate for the last of them
//                   waits until all have ended        run the workload between two readings of the
//                                                     clock
//                   shows progress             <-     report their end to the RunMonitor
//                   joins, adds up
//
// Thread safety: one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "ashlar/status.h"
#include "platform/program.h"
#include "tools/db_bench/database.h"
#include "tools/db_bench/flags.h"
#include "tools/db_bench/report.h"
#include "tools/db_bench/workload.h"

namespace ashlar::bench {

// One entry of --benchmarks.
struct Step {
  const Workload* workload = nullptr;
  int warm_ups = 0;
  int repetitions = 1;
};

// "fillseq,readrandom[W1-X3]". InvalidArgument names an unknown name and the nearest known one.
Status ParseSteps(const std::string& benchmarks, std::vector<Step>* steps);

class Bench {
 public:
  explicit Bench(const Flags& flags);

  // Runs all steps. The first error ends the run.
  Status Run();

 private:
  Status OpenAtStart();
  Status ReadExistingKeys();
  Status RunStep(const Step& step);
  Status MakeFresh(bool for_bulk_load);
  Status RunThreads(const Workload& workload, const Flags& flags, RunResult* result);

  Flags flags_;  // as given, but with the seed and the number of keys that are used
  Database database_;
  Report report_;
  std::vector<std::string> existing_keys_;
  uint64_t runs_ = 0;  // calls of RunThreads; no two have the same random numbers
  UniqueStream interval_file_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace ashlar::bench
