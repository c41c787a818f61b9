// Recorder: how the engine counts. Holds the database's Statistics, if any; without one, or at a level that does not want it, a call costs a test.
//
//   recorder.Tick(NUMBER_KEYS_READ);
//   recorder.Record(BYTES_PER_READ, value.size());
//   if (recorder.WantsTimes()) start = clock->NowNanos();
//
// A value type; copy it. Thread safety: const. Lifetime: the Statistics outlives it.
#pragma once

#include <cstdint>

#include "ashlar/statistics.h"
#include "observe/statistics_impl.h"

namespace ashlar {

class Recorder {
 public:
  Recorder() = default;
  explicit Recorder(Statistics* statistics) : any_(statistics), own_(dynamic_cast<StatisticsImpl*>(statistics)) {}

  bool IsOn() const { return any_ != nullptr; }
  bool WantsTimes() const { return any_ != nullptr && any_->get_stats_level() > kExceptTimers; }

  void Tick(Tickers ticker, uint64_t count = 1) const {
    // The library's own class is final: no virtual call.
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

}  // namespace ashlar
