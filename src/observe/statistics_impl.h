// StatisticsImpl: the library's Statistics. Counting is one plain add on memory that only the
// calling thread writes.
//
//   shards_[slot of the thread] -> { tickers[], histograms[] -> counters }; made at the thread's
//                               first count
//   shared_                     -> the same, for threads with a slot above the last, or without a
//                               slot or shard: their adds are atomic, histograms are locked
//
// I1: shards_[i] is written only by the thread that owns slot i (platform/thread.h, I1), so a load,
//     an add and a store make an increment.
// I2: a ticker is the sum over all shards minus its base; setting it moves the base, never the
//     shards.
// I3: histograms whose generation differs from generation_ count as empty.
// I4: counting throws nothing, because destructors count (StopWatch), and writers whose writes are
//     visible. A thread whose slot or shard cannot be allocated uses the shared one. If its
//     histogram cannot be allocated, a value is not counted.
//
// Rejected: one atomic counter per ticker, because cores that count reads would pass one cache line
// between them for every read. Thread safety: any thread. Memory orders: counters are relaxed. A
// shard or base is published with release and found with acquire: no sum is below a base seen.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <string>

#include "ashlar/statistics.h"
#include "observe/histogram.h"
#include "platform/cpu.h"
#include "platform/mutex.h"
#include "platform/thread.h"

namespace ashlar {

class StatisticsImpl final : public Statistics {
 public:
  StatisticsImpl() = default;
  ~StatisticsImpl() override;

  void recordTick(uint32_t ticker, uint64_t count = 1) override;
  void recordInHistogram(uint32_t histogram, uint64_t value) override;

  uint64_t getTickerCount(uint32_t ticker) const override;
  void setTickerCount(uint32_t ticker, uint64_t count) override;
  uint64_t getAndResetTickerCount(uint32_t ticker) override;
  bool getTickerMap(std::map<std::string, uint64_t>* tickers) const override;
  void histogramData(uint32_t histogram, HistogramData* data) const override;
  std::string getHistogramString(uint32_t histogram) const override;
  Status Reset() override;
  std::string ToString() const override;

 private:
  static constexpr size_t kShards = 256;

  struct alignas(kCacheLineBytes) Shard {
    ~Shard();
    std::array<std::atomic<uint64_t>, TICKER_ENUM_MAX> tickers{};
    std::array<std::atomic<HistogramCounters*>, HISTOGRAM_ENUM_MAX> histograms{};  // owned
  };

  // Returns the calling thread's own shard, or null if the thread has to use the shared one.
  Shard* OwnShard() noexcept try {
    const uint32_t index = CurrentThreadSlot().index;
    if (index >= kShards) [[unlikely]]
      return nullptr;
    Shard* shard = shards_[index].load(std::memory_order_acquire);
    return shard != nullptr ? shard : MakeShard(index);
  } catch (const std::bad_alloc&) {
    return nullptr;  // I4: no slot can be allocated
  }
  // Returns null if the shard cannot be allocated.
  Shard* MakeShard(uint32_t index);
  static HistogramCounters* CountersOf(Shard* shard, uint32_t histogram);
  static void RecordIn(Shard* shard, uint32_t histogram, uint64_t value, uint64_t generation);
  uint64_t SumOfShards(uint32_t ticker) const;
  HistogramSnapshot Snapshot(uint32_t histogram) const;

  std::array<std::atomic<Shard*>, kShards> shards_{};  // owned
  std::array<std::atomic<uint64_t>, TICKER_ENUM_MAX> bases_{};
  std::atomic<uint64_t> generation_{0};
  Shard shared_;
  // Held by writers of shared_.histograms. A leaf: nothing is called under it.
  Mutex shared_histograms_mutex_;
  Mutex bases_mutex_;  // held by writers of bases_; a leaf
};

}  // namespace ashlar
