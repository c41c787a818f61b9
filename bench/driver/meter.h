// The costs of the process and its files (time, bytes, memory), and a sampler that observes a
// workload while it runs.
//
// Thread safety: functions by any thread. A Sampler is created and stopped by one thread, and reads
// the counters of the others.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "bench/driver/engine.h"

namespace ashlar::bench {

// Counters since the process began.
struct Usage {
  double wall_s = 0;
  double cpu_s = 0;            // user and system, all threads
  uint64_t written_bytes = 0;  // handed to write() and its relatives: /proc/self/io wchar
  // Pages made dirty, including those of mapped files. 0 on file systems in memory. /proc/self/io
  // write_bytes.
  uint64_t storage_bytes = 0;
  uint64_t read_bytes = 0;  // rchar
};
Usage ReadUsage();
// Returns the later usage minus the earlier one.
Usage Difference(const Usage& later, const Usage& earlier);
Usage Sum(const Usage& a, const Usage& b);

// The highest resident set since the last reset, in bytes, including mapped files.
void ResetPeakMemory();
uint64_t PeakMemoryBytes();
// Writes the files of a folder to storage, and drops them from the system's page cache.
void ForgetFiles(const std::string& folder);

// The size of all files below a folder, and of the tables among them.
uint64_t FolderBytes(const std::string& folder);
uint64_t TableBytes(const std::string& folder);

// A counter that its thread stores to, on a cache line of its own.
struct alignas(64) Progress {
  std::atomic<uint64_t> operations{0};
};

class Sampler {
 public:
  struct Sample {
    double at_s = 0;
    uint64_t operations = 0;
    uint64_t flushes = 0;  // running at this moment
    uint64_t compactions = 0;
  };

  // Starts at once. A period of 0 takes no samples.
  Sampler(Engine* engine, const std::vector<Progress>* progress, uint64_t period_ms);
  ~Sampler() { Stop(); }
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // Stops sampling. Returns all samples, including a last one.
  std::vector<Sample> Stop();

 private:
  void Run(uint64_t period_ms);
  void Take();

  Engine* const engine_;
  const std::vector<Progress>* const progress_;
  const double start_s_;
  std::vector<Sample> samples_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace ashlar::bench
