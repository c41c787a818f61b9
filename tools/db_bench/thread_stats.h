// ThreadStats: the operations of one thread of a workload, and their times. Totals: the sum over
// the workload's threads.
//
// A thread counts in plain members and publishes its number of operations with a plain store, so
// that counting costs no shared cache line. The thread that shows progress reads only the published
// numbers. Thread safety: Begin, FinishedOps, Skip and End by the owner; published_ops and
// planned_ops by any thread; the rest after the owner has ended.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>

#include "tools/db_bench/latency_histogram.h"

namespace ashlar::bench {

// The operation that the histogram measures.
enum class Operation { kRead, kWrite, kDelete, kSeek, kMerge, kUpdate, kCrc, kHash, kOthers };
inline constexpr size_t kOperations = 9;
const char* OperationName(Operation operation);

// The other counters of a workload.
struct Tally {
  uint64_t bytes = 0;  // of keys and values, read or written
  uint64_t reads = 0;
  uint64_t found = 0;
  uint64_t writes = 0;
};

class ThreadStats {
 public:
  using Clock = std::chrono::steady_clock;

  struct Settings {
    bool histogram = false;
    uint64_t report_ops = 0;  // operations between two calls of `report`; 0: none
    std::function<void(ThreadStats*)> report;
  };

  explicit ThreadStats(const Settings& settings);

  void Begin();
  // Records that `operation` took the time since the last call, Skip or Begin.
  void FinishedOps(uint64_t ops, Operation operation) {
    if (histograms_ != nullptr) Record(operation);
    done_ += ops;
    // Relaxed, as is its load, because the number is only shown and nothing depends on it.
    published_.store(done_, std::memory_order_relaxed);
    if (done_ >= next_report_) Report();
  }
  // Assigns the time since the last operation to none, because it was a wait for a rate limit.
  void Skip() {
    if (histograms_ != nullptr) last_ = Clock::now();
  }
  void End() { end_ = Clock::now(); }

  uint64_t published_ops() const { return published_.load(std::memory_order_relaxed); }
  // Operations that the thread plans to do, or 0 if unknown. Relaxed, as above.
  uint64_t planned_ops() const { return planned_.load(std::memory_order_relaxed); }
  void PlanOps(uint64_t ops) { planned_.store(ops, std::memory_order_relaxed); }

  uint64_t done() const { return done_; }
  Clock::time_point begin() const { return begin_; }
  Clock::time_point end() const { return end_; }
  // Null without histograms.
  const LatencyHistogram* histogram(Operation operation) const {
    return histograms_ == nullptr ? nullptr : &(*histograms_)[static_cast<size_t>(operation)];
  }

  Tally tally;
  // Shown after the result.
  std::string message;
  // Not part of the totals: the thread ran concurrently with the measured ones.
  bool is_writer = false;

 private:
  void Record(Operation operation);
  void Report();

  const Settings settings_;
  std::unique_ptr<std::array<LatencyHistogram, kOperations>> histograms_;  // null: not wanted
  uint64_t done_ = 0;
  uint64_t next_report_ = std::numeric_limits<uint64_t>::max();
  Clock::time_point begin_;
  Clock::time_point last_;
  Clock::time_point end_;
  std::atomic<uint64_t> published_{0};
  std::atomic<uint64_t> planned_{0};
};

struct Totals {
  uint64_t ops = 0;
  double seconds = 0;         // from the first begin to the last end
  double thread_seconds = 0;  // summed over threads
  Tally tally;
  std::string message;
  // For the concurrent, unmeasured threads.
  uint64_t writer_ops = 0;
  double writer_seconds = 0;
  // Null without histograms. Histograms without values are not shown.
  std::unique_ptr<std::array<LatencyHistogram, kOperations>> histograms;

  void Add(const ThreadStats& stats);

 private:
  ThreadStats::Clock::time_point begin_ = ThreadStats::Clock::time_point::max();
  ThreadStats::Clock::time_point end_ = ThreadStats::Clock::time_point::min();
};

}  // namespace ashlar::bench
