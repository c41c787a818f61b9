#include "ashlar/statistics.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "ashlar/listener.h"
#include "ashlar/table_properties.h"
#include "observe/listeners.h"
#include "observe/perf.h"
#include "observe/recorder.h"

namespace ashlar {
namespace {

TEST(StatisticsNames, AreCompleteUniqueAndInOrder) {
  std::set<std::string> names;
  ASSERT_EQ(TickersNameMap().size(), TICKER_ENUM_MAX);
  for (uint32_t i = 0; i < TICKER_ENUM_MAX; ++i) {
    EXPECT_EQ(TickersNameMap()[i].first, i);
    EXPECT_TRUE(names.insert(TickersNameMap()[i].second).second) << TickersNameMap()[i].second;
  }
  ASSERT_EQ(HistogramsNameMap().size(), HISTOGRAM_ENUM_MAX);
  for (uint32_t i = 0; i < HISTOGRAM_ENUM_MAX; ++i) {
    EXPECT_EQ(HistogramsNameMap()[i].first, i);
    EXPECT_TRUE(names.insert(HistogramsNameMap()[i].second).second) << HistogramsNameMap()[i].second;
  }
}

TEST(Statistics, TickersAddUp) {
  const auto statistics = CreateDBStatistics();
  statistics->recordTick(BYTES_READ, 7);
  statistics->recordTick(BYTES_READ);
  EXPECT_EQ(statistics->getTickerCount(BYTES_READ), 8u);
  EXPECT_EQ(statistics->getTickerCount(BYTES_WRITTEN), 0u);
  statistics->setTickerCount(BYTES_READ, 100);
  statistics->recordTick(BYTES_READ);
  EXPECT_EQ(statistics->getAndResetTickerCount(BYTES_READ), 101u);
  EXPECT_EQ(statistics->getTickerCount(BYTES_READ), 0u);
  statistics->recordTick(BYTES_READ, 2);
  std::map<std::string, uint64_t> map;
  EXPECT_TRUE(statistics->getTickerMap(&map));
  EXPECT_EQ(map.size(), TICKER_ENUM_MAX);
  EXPECT_EQ(map["rocksdb.bytes.read"], 2u);
  EXPECT_NE(statistics->ToString().find("rocksdb.bytes.read COUNT : 2\n"), std::string::npos);
}

// More threads than there are shards, so that owned shards, reused slots and the shared one all count; a thread per round, so that slots change
// hands.
TEST(Statistics, NothingIsLostWithManyThreads) {
  const auto statistics = CreateDBStatistics();
  constexpr int kThreads = 300;
  constexpr uint64_t kTicks = 200;
  for (int round = 0; round < 2; ++round) {
    std::atomic<int> ready = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        statistics->recordTick(NUMBER_KEYS_READ);  // takes the slot
        ready.fetch_add(1);
        while (ready.load() < kThreads) std::this_thread::yield();  // all alive at once
        for (uint64_t i = 1; i < kTicks; ++i) {
          statistics->recordTick(NUMBER_KEYS_READ);
          statistics->recordInHistogram(BYTES_PER_READ, i);
        }
      });
    }
    uint64_t last = 0;
    for (int i = 0; i < 100; ++i) {
      const uint64_t now = statistics->getTickerCount(NUMBER_KEYS_READ);
      EXPECT_GE(now, last) << "counters of one reader never go back";
      last = now;
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(statistics->getTickerCount(NUMBER_KEYS_READ), 2 * kThreads * kTicks);
  HistogramData data;
  statistics->histogramData(BYTES_PER_READ, &data);
  EXPECT_EQ(data.count, 2 * kThreads * (kTicks - 1));
  EXPECT_EQ(data.sum, 2 * kThreads * (kTicks * (kTicks - 1) / 2));
  EXPECT_EQ(data.max, kTicks - 1);
}

TEST(Statistics, ResetForgetsCountsOfAllThreads) {
  const auto statistics = CreateDBStatistics();
  std::thread([&] {
    statistics->recordTick(BYTES_READ, 5);
    statistics->recordInHistogram(DB_GET, 1000);
  }).join();
  statistics->recordInHistogram(DB_GET, 10);
  EXPECT_TRUE(statistics->Reset().ok());
  EXPECT_EQ(statistics->getTickerCount(BYTES_READ), 0u);
  HistogramData data;
  statistics->histogramData(DB_GET, &data);
  EXPECT_EQ(data.count, 0u);
  statistics->recordInHistogram(DB_GET, 3);
  statistics->histogramData(DB_GET, &data);
  EXPECT_EQ(data.count, 1u);
  EXPECT_EQ(data.max, 3);
}

TEST(Statistics, LevelsDecideWhatIsRecorded) {
  struct Case {
    StatsLevel level;
    bool ticks;
    bool sizes;
    bool times;
  };
  for (const Case& c : {Case{kExceptTickers, false, false, false}, Case{kExceptHistogramOrTimers, true, false, false},
                        Case{kExceptTimers, true, true, false}, Case{kExceptDetailedTimers, true, true, true}, Case{kAll, true, true, true}}) {
    const auto statistics = CreateDBStatistics();
    statistics->set_stats_level(c.level);
    const Recorder recorder(statistics.get());
    recorder.Tick(BYTES_READ);
    recorder.Record(BYTES_PER_READ, 1);
    recorder.RecordTime(DB_GET, 1);
    statistics->reportTimeToHistogram(DB_GET, 1);
    HistogramData sizes;
    HistogramData times;
    statistics->histogramData(BYTES_PER_READ, &sizes);
    statistics->histogramData(DB_GET, &times);
    EXPECT_EQ(statistics->getTickerCount(BYTES_READ), c.ticks ? 1u : 0u) << c.level;
    EXPECT_EQ(sizes.count, c.sizes ? 1u : 0u) << c.level;
    EXPECT_EQ(times.count, c.times ? 2u : 0u) << c.level;
    EXPECT_EQ(recorder.WantsTimes(), c.times) << c.level;
  }
}

TEST(Recorder, CountsIntoTheProgramsOwnStatisticsToo) {
  class Own final : public Statistics {
   public:
    uint64_t getTickerCount(uint32_t) const override { return ticks; }
    void recordTick(uint32_t, uint64_t count) override { ticks += count; }
    void setTickerCount(uint32_t, uint64_t count) override { ticks = count; }
    uint64_t getAndResetTickerCount(uint32_t) override { return ticks; }
    bool getTickerMap(std::map<std::string, uint64_t>*) const override { return false; }
    void histogramData(uint32_t, HistogramData*) const override {}
    std::string getHistogramString(uint32_t) const override { return ""; }
    void recordInHistogram(uint32_t, uint64_t value) override { values += value; }
    Status Reset() override { return Status::OK(); }
    std::string ToString() const override { return ""; }
    uint64_t ticks = 0;
    uint64_t values = 0;
  };
  Own own;
  const Recorder recorder(&own);
  recorder.Tick(BYTES_READ, 3);
  recorder.Record(BYTES_PER_READ, 4);
  EXPECT_EQ(own.ticks, 3u);
  EXPECT_EQ(own.values, 4u);
  const Recorder none;
  none.Tick(BYTES_READ);
  none.Record(BYTES_PER_READ, 1);
  EXPECT_FALSE(none.WantsTimes());
}

TEST(PerfContext, CountsOnlyOnThreadsThatAskedForIt) {
  PerfCount(&PerfContext::block_read_count);
  EXPECT_EQ(get_perf_context()->block_read_count, 0u);
  SetPerfLevel(kEnableCount);
  EXPECT_FALSE(PerfTimes());
  PerfCount(&PerfContext::block_read_count, 2);
  std::thread([] {
    PerfCount(&PerfContext::block_read_count);
    EXPECT_EQ(get_perf_context()->block_read_count, 0u);
    SetPerfLevel(kEnableTime);
    EXPECT_TRUE(PerfTimes());
  }).join();
  EXPECT_EQ(get_perf_context()->block_read_count, 2u);
  EXPECT_EQ(get_perf_context()->ToString(true), "block_read_count = 2");
  EXPECT_NE(get_perf_context()->ToString().find("bloom_sst_miss_count = 0"), std::string::npos);
  get_perf_context()->Reset();
  EXPECT_EQ(get_perf_context()->ToString(true), "");
  SetPerfLevel(kDisable);
  EXPECT_EQ(internal::perf_users.load(), 0u) << "a thread that ended no longer counts as a user";
}

TEST(Listeners, AreToldInOrder) {
  class Listener final : public EventListener {
   public:
    Listener(std::string* text, char name) : text_(text), name_(name) {}
    void OnTableFileDeleted(const TableFileDeletionInfo& info) override { *text_ += name_ + info.file_path; }
    void OnBackgroundError(BackgroundErrorReason, Status* error) override { *error = Status::OK(); }

   private:
    std::string* text_;
    char name_;
  };
  std::string text;
  const std::vector<std::shared_ptr<EventListener>> listeners = {std::make_shared<Listener>(&text, 'a'), std::make_shared<Listener>(&text, 'b')};
  TableFileDeletionInfo info;
  info.file_path = "1";
  NotifyAll(listeners, &EventListener::OnTableFileDeleted, info);
  EXPECT_EQ(text, "a1b1");
  Status error = Status::IOError("x");
  NotifyAll(listeners, &EventListener::OnBackgroundError, BackgroundErrorReason::kFlush, &error);
  EXPECT_TRUE(error.ok());
}

TEST(EventNames, EveryReasonHasOne) {
  EXPECT_STREQ(GetFlushReasonString(FlushReason::kWalFull), "WAL Full");
  EXPECT_STREQ(GetCompactionReasonString(CompactionReason::kManualCompaction), "ManualCompaction");
  EXPECT_STREQ(GetCompactionReasonString(static_cast<CompactionReason>(1000)), "Invalid");
}

TEST(TableProperties, AsText) {
  TableProperties properties;
  properties.num_entries = 4;
  properties.raw_key_size = 10;
  properties.comparator_name = "leveldb.BytewiseComparator";
  const std::string text = properties.ToString("\n", ": ");
  EXPECT_NE(text.find("raw average key size: 2.500000\n"), std::string::npos);
  EXPECT_NE(text.find("comparator name: leveldb.BytewiseComparator\n"), std::string::npos);
  EXPECT_NE(text.find("column family ID: N/A\n"), std::string::npos);
}

}  // namespace
}  // namespace ashlar
