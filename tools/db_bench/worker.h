// Worker: the state of one thread of a workload. It has the database, its own random numbers, keys,
// values and counters, and the end of its work.
//
// Everything is made before the clock starts. A workload is a function of a Worker. It calls Loop
// for its operations, and FinishedOps after each. Thread safety: a worker belongs to one thread;
// all threads may use SharedRun's members.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/rate_limiter.h"
#include "base/random.h"
#include "tools/db_bench/database.h"
#include "tools/db_bench/flags.h"
#include "tools/db_bench/keys.h"
#include "tools/db_bench/thread_stats.h"
#include "tools/db_bench/values.h"

namespace ashlar::bench {

// The shared state of the threads of one run.
struct SharedRun {
  // Null: no limit.
  std::unique_ptr<RateLimiter> write_limiter;
  std::unique_ptr<RateLimiter> read_limiter;
  // Set by a thread that failed. The others stop at their next look. Relaxed, because no other data
  // depends on it.
  std::atomic<bool> failed{false};
  // Measured threads that still run. Unmeasured concurrent threads end when it reaches 0. Relaxed,
  // as above.
  std::atomic<int> measured_at_work{0};
};

// Counts down the operations of a thread, or watches the clock.
class Loop {
 public:
  using Clock = std::chrono::steady_clock;

  // If `seconds` is above 0, it replaces `ops`.
  Loop(const Flags& flags, uint64_t ops, int seconds, const std::atomic<bool>* failed);

  // Returns whether to do one more operation, and counts it.
  bool Continue() { return Take(1) != 0; }
  // Returns how many of `wanted` operations to do, and counts them. 0 at the end.
  uint64_t Take(uint64_t wanted) {
    if (wanted > until_look_) return Look(wanted);
    until_look_ -= wanted;
    return wanted;
  }

 private:
  uint64_t Look(uint64_t wanted);

  const uint64_t ops_between_looks_;
  const bool timed_;
  const Clock::time_point end_;
  const std::atomic<bool>* const failed_;
  uint64_t ops_left_;        // beyond until_look_
  uint64_t until_look_ = 0;  // operations until the next look
};

// The operations of one thread: num unless --reads or --writes say otherwise, and the larger of the
// two if a workload does both.
uint64_t ReadsOf(const Flags& flags);
uint64_t WritesOf(const Flags& flags);
uint64_t ReadsAndWritesOf(const Flags& flags);

struct Worker {
  Worker(const Flags& flags_in, Database* database_in, SharedRun* shared_in,
         const std::vector<std::string>* existing_keys, int id_in, uint64_t seed,
         const ThreadStats::Settings& stats_settings);

  // Random workloads run for the duration if there is one, others always for a number of
  // operations. Also passes the planned number to stats.
  Loop RandomLoop(uint64_t ops);
  Loop CountedLoop(uint64_t ops);

  // Waits until the limit allows the bytes or reads. The wait counts for no operation. Requires:
  // the operation has not begun, because the time before the wait is lost.
  void LimitWrites(uint64_t bytes);
  void LimitReads(uint64_t reads);

  const Flags& flags;
  Database& database;
  SharedRun& shared;
  const int id;  // 0 to threads - 1
  const uint64_t num;
  const ReadOptions read_options;
  const WriteOptions write_options;
  Random random;
  KeyMaker keys;
  const KeyPicker picker;
  ValueMaker values;
  ThreadStats stats;

 private:
  // The reads per request to a rate limiter.
  static constexpr uint64_t kReadsPerRequest = 256;
  uint64_t reads_unasked_ = 0;
};

}  // namespace ashlar::bench
