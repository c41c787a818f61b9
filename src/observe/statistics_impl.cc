#include "observe/statistics_impl.h"

#include <new>

#include "base/assert.h"
#include "base/format.h"
#include "observe/statistics_texts.h"

namespace ashlar {

// ---- Shards

StatisticsImpl::Shard::~Shard() {
  for (std::atomic<HistogramCounters*>& counters : histograms)
    delete counters.load(std::memory_order_relaxed);
}

StatisticsImpl::~StatisticsImpl() {
  for (std::atomic<Shard*>& shard : shards_) delete shard.load(std::memory_order_relaxed);
}

StatisticsImpl::Shard* StatisticsImpl::MakeShard(uint32_t index) {
  // I1: only the owner of the slot makes its shard.
  ASHLAR_DCHECK(shards_[index].load(std::memory_order_relaxed) == nullptr);
  ASHLAR_DCHECK(CurrentThreadSlot().index == index);  // I1
  auto* const shard = new (std::nothrow) Shard;       // I4
  if (shard == nullptr) return nullptr;
  // Pairs with the acquire of readers and of later owners of the slot.
  shards_[index].store(shard, std::memory_order_release);
  return shard;
}

HistogramCounters* StatisticsImpl::CountersOf(Shard* shard, uint32_t histogram) {
  std::atomic<HistogramCounters*>& place = shard->histograms[histogram];
  HistogramCounters* counters = place.load(std::memory_order_acquire);
  if (counters == nullptr) {
    counters = new (std::nothrow) HistogramCounters;  // I4
    if (counters == nullptr) return nullptr;
    place.store(counters, std::memory_order_release);  // pairs with the acquire in Snapshot
  }
  return counters;
}

// ---- Recording

void StatisticsImpl::recordTick(uint32_t ticker, uint64_t count) {
  ASHLAR_DCHECK(ticker < TICKER_ENUM_MAX);  // one of Tickers
  if (ticker >= TICKER_ENUM_MAX || get_stats_level() == kExceptTickers) return;
  if (Shard* const shard = OwnShard()) [[likely]] {
    std::atomic<uint64_t>& counter = shard->tickers[ticker];
    counter.store(counter.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
    return;
  }
  shared_.tickers[ticker].fetch_add(count, std::memory_order_relaxed);
}

void StatisticsImpl::recordInHistogram(uint32_t histogram, uint64_t value) {
  ASHLAR_DCHECK(histogram < HISTOGRAM_ENUM_MAX);  // one of Histograms
  if (histogram >= HISTOGRAM_ENUM_MAX || get_stats_level() <= kExceptHistogramOrTimers) return;
  const uint64_t generation = generation_.load(std::memory_order_relaxed);
  if (Shard* const shard = OwnShard()) [[likely]] {
    RecordIn(shard, histogram, value, generation);
    return;
  }
  const MutexLock lock(shared_histograms_mutex_);
  RecordIn(&shared_, histogram, value, generation);
}

void StatisticsImpl::RecordIn(Shard* shard, uint32_t histogram, uint64_t value,
                              uint64_t generation) {
  HistogramCounters* const counters = CountersOf(shard, histogram);
  if (counters != nullptr) [[likely]]
    counters->Record(value, generation);
}

// ---- Reading

uint64_t StatisticsImpl::SumOfShards(uint32_t ticker) const {
  uint64_t sum = shared_.tickers[ticker].load(std::memory_order_relaxed);
  for (const std::atomic<Shard*>& place : shards_) {
    const Shard* shard = place.load(std::memory_order_acquire);
    if (shard != nullptr) sum += shard->tickers[ticker].load(std::memory_order_relaxed);
  }
  return sum;
}

uint64_t StatisticsImpl::getTickerCount(uint32_t ticker) const {
  if (ticker >= TICKER_ENUM_MAX) return 0;
  // Read before the sum, because a base that is moved after the sum would be above it.
  const uint64_t base = bases_[ticker].load(std::memory_order_acquire);
  return SumOfShards(ticker) - base;
}

void StatisticsImpl::setTickerCount(uint32_t ticker, uint64_t count) {
  if (ticker >= TICKER_ENUM_MAX) return;
  const MutexLock lock(bases_mutex_);
  bases_[ticker].store(SumOfShards(ticker) - count, std::memory_order_release);
}

uint64_t StatisticsImpl::getAndResetTickerCount(uint32_t ticker) {
  if (ticker >= TICKER_ENUM_MAX) return 0;
  const MutexLock lock(bases_mutex_);
  const uint64_t sum = SumOfShards(ticker);
  return sum - bases_[ticker].exchange(sum, std::memory_order_release);
}

bool StatisticsImpl::getTickerMap(std::map<std::string, uint64_t>* tickers) const {
  tickers->clear();
  for (uint32_t ticker = 0; ticker < TICKER_ENUM_MAX; ++ticker)
    (*tickers)[std::string(kTickerTexts[ticker])] = getTickerCount(ticker);
  return true;
}

HistogramSnapshot StatisticsImpl::Snapshot(uint32_t histogram) const {
  HistogramSnapshot snapshot;
  if (histogram >= HISTOGRAM_ENUM_MAX) return snapshot;
  const uint64_t generation = generation_.load(std::memory_order_relaxed);
  const auto add = [&](const Shard& shard) {
    const HistogramCounters* counters = shard.histograms[histogram].load(std::memory_order_acquire);
    if (counters != nullptr) counters->AddTo(&snapshot, generation);
  };
  add(shared_);
  for (const std::atomic<Shard*>& place : shards_) {
    const Shard* shard = place.load(std::memory_order_acquire);
    if (shard != nullptr) add(*shard);
  }
  return snapshot;
}

void StatisticsImpl::histogramData(uint32_t histogram, HistogramData* data) const {
  *data = Snapshot(histogram).Data();
}
std::string StatisticsImpl::getHistogramString(uint32_t histogram) const {
  return Snapshot(histogram).ToString();
}

Status StatisticsImpl::Reset() {
  for (uint32_t ticker = 0; ticker < TICKER_ENUM_MAX; ++ticker) setTickerCount(ticker, 0);
  generation_.fetch_add(1, std::memory_order_relaxed);
  return Status::OK();
}

std::string StatisticsImpl::ToString() const {
  std::string out;
  for (uint32_t i = 0; i < TICKER_ENUM_MAX; ++i)
    StrAppend(&out, kTickerTexts[i], " COUNT : ", getTickerCount(i), "\n");
  for (uint32_t i = 0; i < HISTOGRAM_ENUM_MAX; ++i)
    StrAppend(&out, kHistogramTexts[i], " ", getHistogramString(i), "\n");
  return out;
}

std::shared_ptr<Statistics> CreateDBStatistics() { return std::make_shared<StatisticsImpl>(); }

}  // namespace ashlar
