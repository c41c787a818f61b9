// Report: the output of db_bench, in the format of RocksDB's db_bench for scripts, and as JSON.
//
//   fillseq      :       8.843 micros/op 113057 ops/sec 0.177 seconds 20000 operations;   12.5 MB/s
//
// micros/op is the time of all threads over all operations, which is the latency of one thread;
// ops/sec is the operations of all threads per elapsed second. Results go to standard output.
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ashlar/options.h"
#include "ashlar/status.h"
#include "tools/db_bench/flags.h"
#include "tools/db_bench/thread_stats.h"

namespace ashlar::bench {

struct RunResult {
  std::string workload;
  int threads = 0;
  int repetition = 0;  // from 0
  Totals totals;
  std::string message;

  // A run without operations counts as one operation.
  double MicrosPerOp() const;
  double OpsPerSecond() const;
  // A megabyte is 1048576 bytes. 0 if the workload counts no bytes.
  double MegabytesPerSecond() const;
};

class Report {
 public:
  explicit Report(const Flags& flags) : flags_(flags) {}

  void PrintHeader(const Options& options) const;
  void PrintSkipped(std::string_view workload) const;
  // Prints the result and keeps it for the JSON.
  void Add(RunResult result);
  // Prints the summary of the last `count` results of one workload.
  void PrintRepetitions(size_t count, bool final) const;
  // Returns IOError if the file cannot be written.
  Status WriteJson(const std::string& file_name) const;

 private:
  const Flags& flags_;
  std::vector<RunResult> results_;
};

// Returns the line of a result.
std::string ResultLine(const RunResult& result);
// Returns lines such as "fillseq [AVG 3 runs] : ...". `final`: those after the last run.
// `confidence_only`: only the interval.
std::string RepetitionsText(const std::vector<const RunResult*>& results, bool final,
                            bool confidence_only);

}  // namespace ashlar::bench
