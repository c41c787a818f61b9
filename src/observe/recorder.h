// Recorder: counts for the engine. It holds the database's Statistics, if any. Without one, or
// below the required level, a call costs one test.
//
//   recorder.Tick(NUMBER_KEYS_READ);
//   recorder.Record(BYTES_PER_READ, value.size());
//   const StopWatch watch(recorder, DB_WRITE);              its own life, in microseconds
//
// Times are only reported and decide nothing, so they come from the machine's clock and not from
// the Clock that tests replace. A value type; copy it. Thread safety: any thread, because all
// methods are const. Lifetime: the Statistics outlives it.
#pragma once

#include <cstdint>

#include "ashlar/statistics.h"
#include "observe/statistics_impl.h"
#include "platform/clock.h"

namespace ashlar {

class Recorder {
 public:
  Recorder() = default;
  explicit Recorder(Statistics* statistics)
      : any_(statistics), own_(dynamic_cast<StatisticsImpl*>(statistics)) {}

  bool IsOn() const { return any_ != nullptr; }
  Statistics* statistics() const { return any_; }  // null: none
  bool WantsTimes() const { return any_ != nullptr && any_->get_stats_level() > kExceptTimers; }
  // Returns true if times are wanted even for operations that measuring visibly slows down.
  bool WantsDetailedTimes() const {
    return any_ != nullptr && any_->get_stats_level() > kExceptDetailedTimers;
  }

  void Tick(Tickers ticker, uint64_t count = 1) const {
    // The library's own class is final, so this is not a virtual call.
    if (own_ != nullptr) {
      own_->recordTick(ticker, count);
    } else if (any_ != nullptr) {
      any_->recordTick(ticker, count);
    }
  }
  void Record(Histograms histogram, uint64_t value) const {
    if (own_ != nullptr) {
      own_->recordInHistogram(histogram, value);
    } else if (any_ != nullptr) {
      any_->recordInHistogram(histogram, value);
    }
  }
  void RecordTime(Histograms histogram, uint64_t time) const {
    if (WantsTimes()) Record(histogram, time);
  }

 private:
  Statistics* any_ = nullptr;
  StatisticsImpl* own_ = nullptr;
};

// Records the microseconds from its construction to Stop (or its destruction) in a histogram, if
// times are wanted.
class StopWatch {
 public:
  StopWatch(const Recorder& recorder, Histograms histogram)
      : recorder_(recorder),
        histogram_(histogram),
        start_nanos_(recorder.WantsTimes() ? MonotonicNanos() : 0) {}
  ~StopWatch() {
    if (start_nanos_ != 0) [[unlikely]]
      Stop();
  }
  StopWatch(const StopWatch&) = delete;
  StopWatch& operator=(const StopWatch&) = delete;

  // Records now and never again. Returns the microseconds, or 0 if nothing is measured.
  uint64_t Stop() {
    if (start_nanos_ == 0) return 0;
    const uint64_t micros = (MonotonicNanos() - start_nanos_) / 1000;
    recorder_.Record(histogram_, micros);
    start_nanos_ = 0;
    return micros;
  }

 private:
  const Recorder& recorder_;
  const Histograms histogram_;
  uint64_t start_nanos_;  // 0: not enabled, or already recorded
};

}  // namespace ashlar
