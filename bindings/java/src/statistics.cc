// Statistics: counters and distributions by the numbers of Java's classes, which differ from those
// of the engine. Java's counters that the engine lacks are 0.
#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "native.h"
#include "objects.h"

namespace ashlar::java {
namespace {

constexpr std::pair<jbyte, Tickers> kTickers[] = {
    {0, BLOCK_CACHE_MISS},
    {1, BLOCK_CACHE_HIT},
    {2, BLOCK_CACHE_ADD},
    {3, BLOCK_CACHE_ADD_FAILURES},
    {4, BLOCK_CACHE_INDEX_MISS},
    {5, BLOCK_CACHE_INDEX_HIT},
    {6, BLOCK_CACHE_INDEX_ADD},
    {7, BLOCK_CACHE_INDEX_BYTES_INSERT},
    {9, BLOCK_CACHE_FILTER_MISS},
    {10, BLOCK_CACHE_FILTER_HIT},
    {11, BLOCK_CACHE_FILTER_ADD},
    {12, BLOCK_CACHE_FILTER_BYTES_INSERT},
    {14, BLOCK_CACHE_DATA_MISS},
    {15, BLOCK_CACHE_DATA_HIT},
    {16, BLOCK_CACHE_DATA_ADD},
    {17, BLOCK_CACHE_DATA_BYTES_INSERT},
    {18, BLOCK_CACHE_BYTES_READ},
    {19, BLOCK_CACHE_BYTES_WRITE},
    {20, BLOOM_FILTER_USEFUL},
    {21, PERSISTENT_CACHE_HIT},
    {22, PERSISTENT_CACHE_MISS},
    {23, SIM_BLOCK_CACHE_HIT},
    {24, SIM_BLOCK_CACHE_MISS},
    {25, MEMTABLE_HIT},
    {26, MEMTABLE_MISS},
    {27, GET_HIT_L0},
    {28, GET_HIT_L1},
    {29, GET_HIT_L2_AND_UP},
    {30, COMPACTION_KEY_DROP_NEWER_ENTRY},
    {31, COMPACTION_KEY_DROP_OBSOLETE},
    {32, COMPACTION_KEY_DROP_RANGE_DEL},
    {33, COMPACTION_KEY_DROP_USER},
    {34, COMPACTION_RANGE_DEL_DROP_OBSOLETE},
    {35, NUMBER_KEYS_WRITTEN},
    {36, NUMBER_KEYS_READ},
    {37, NUMBER_KEYS_UPDATED},
    {38, BYTES_WRITTEN},
    {39, BYTES_READ},
    {40, NUMBER_DB_SEEK},
    {41, NUMBER_DB_NEXT},
    {42, NUMBER_DB_PREV},
    {43, NUMBER_DB_SEEK_FOUND},
    {44, NUMBER_DB_NEXT_FOUND},
    {45, NUMBER_DB_PREV_FOUND},
    {46, ITER_BYTES_READ},
    {48, NO_FILE_OPENS},
    {49, NO_FILE_ERRORS},
    {53, STALL_MICROS},
    {54, DB_MUTEX_WAIT_MICROS},
    {57, NUMBER_MULTIGET_CALLS},
    {58, NUMBER_MULTIGET_KEYS_READ},
    {59, NUMBER_MULTIGET_BYTES_READ},
    {61, NUMBER_MERGE_FAILURES},
    {62, BLOOM_FILTER_PREFIX_CHECKED},
    {63, BLOOM_FILTER_PREFIX_USEFUL},
    {64, NUMBER_OF_RESEEKS_IN_ITERATION},
    {65, GET_UPDATES_SINCE_CALLS},
    {70, WAL_FILE_SYNCED},
    {71, WAL_FILE_BYTES},
    {72, WRITE_DONE_BY_SELF},
    {73, WRITE_DONE_BY_OTHER},
    {75, WRITE_WITH_WAL},
    {76, COMPACT_READ_BYTES},
    {77, COMPACT_WRITE_BYTES},
    {78, FLUSH_WRITE_BYTES},
    {79, NUMBER_DIRECT_LOAD_TABLE_PROPERTIES},
    {80, NUMBER_SUPERVERSION_ACQUIRES},
    {81, NUMBER_SUPERVERSION_RELEASES},
    {82, NUMBER_SUPERVERSION_CLEANUPS},
    {83, NUMBER_BLOCK_COMPRESSED},
    {84, NUMBER_BLOCK_DECOMPRESSED},
    {86, MERGE_OPERATION_TOTAL_TIME},
    {87, FILTER_OPERATION_TOTAL_TIME},
    {88, ROW_CACHE_HIT},
    {89, ROW_CACHE_MISS},
    {90, READ_AMP_ESTIMATE_USEFUL_BYTES},
    {91, READ_AMP_TOTAL_READ_BYTES},
    {92, NUMBER_RATE_LIMITER_DRAINS},
    {93, NUMBER_ITER_SKIP},
    {94, NUMBER_MULTIGET_KEYS_FOUND},
    {-1, NO_ITERATOR_CREATED},
    {96, NO_ITERATOR_DELETED},
    {97, COMPACTION_OPTIMIZED_DEL_DROP_OBSOLETE},
    {98, COMPACTION_CANCELLED},
    {99, BLOOM_FILTER_FULL_POSITIVE},
    {100, BLOOM_FILTER_FULL_TRUE_POSITIVE},
    {101, BLOB_DB_NUM_PUT},
    {102, BLOB_DB_NUM_WRITE},
    {103, BLOB_DB_NUM_GET},
    {104, BLOB_DB_NUM_MULTIGET},
    {105, BLOB_DB_NUM_SEEK},
    {106, BLOB_DB_NUM_NEXT},
    {107, BLOB_DB_NUM_PREV},
    {108, BLOB_DB_NUM_KEYS_WRITTEN},
    {109, BLOB_DB_NUM_KEYS_READ},
    {110, BLOB_DB_BYTES_WRITTEN},
    {111, BLOB_DB_BYTES_READ},
    {114, BLOB_DB_WRITE_BLOB},
    {115, BLOB_DB_WRITE_BLOB_TTL},
    {116, BLOB_DB_BLOB_FILE_BYTES_WRITTEN},
    {117, BLOB_DB_BLOB_FILE_BYTES_READ},
    {118, BLOB_DB_BLOB_FILE_SYNCED},
    {119, BLOB_DB_BLOB_INDEX_EXPIRED_COUNT},
    {120, BLOB_DB_BLOB_INDEX_EXPIRED_SIZE},
    {121, BLOB_DB_BLOB_INDEX_EVICTED_COUNT},
    {122, BLOB_DB_BLOB_INDEX_EVICTED_SIZE},
    {123, BLOB_DB_GC_NUM_FILES},
    {124, BLOB_DB_GC_NUM_NEW_FILES},
    {125, BLOB_DB_GC_FAILURES},
    {-2, BLOB_DB_GC_NUM_KEYS_RELOCATED},
    {-5, BLOB_DB_GC_BYTES_RELOCATED},
    {-6, BLOB_DB_FIFO_NUM_FILES_EVICTED},
    {-7, BLOB_DB_FIFO_NUM_KEYS_EVICTED},
    {-8, BLOB_DB_FIFO_BYTES_EVICTED},
    {-9, TXN_PREPARE_MUTEX_OVERHEAD},
    {-10, TXN_OLD_COMMIT_MAP_MUTEX_OVERHEAD},
    {-11, TXN_DUPLICATE_KEY_OVERHEAD},
    {-12, TXN_SNAPSHOT_MUTEX_OVERHEAD},
    {-13, TXN_GET_TRY_AGAIN},
    {-14, FILES_MARKED_TRASH},
    {-15, FILES_DELETED_IMMEDIATELY},
    {-16, COMPACT_READ_BYTES_MARKED},
    {-17, COMPACT_READ_BYTES_PERIODIC},
    {-18, COMPACT_READ_BYTES_TTL},
    {-19, COMPACT_WRITE_BYTES_MARKED},
    {-20, COMPACT_WRITE_BYTES_PERIODIC},
    {-21, COMPACT_WRITE_BYTES_TTL},
    {-22, ERROR_HANDLER_BG_ERROR_COUNT},
    {-23, ERROR_HANDLER_BG_IO_ERROR_COUNT},
    {-24, ERROR_HANDLER_BG_RETRYABLE_IO_ERROR_COUNT},
    {-25, ERROR_HANDLER_AUTORESUME_COUNT},
    {-26, ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT},
    {-27, ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT},
    {-28, MEMTABLE_PAYLOAD_BYTES_AT_FLUSH},
    {-29, MEMTABLE_GARBAGE_BYTES_AT_FLUSH},
    {-30, SECONDARY_CACHE_HITS},
    {-31, VERIFY_CHECKSUM_READ_BYTES},
    {-32, BACKUP_READ_BYTES},
    {-33, BACKUP_WRITE_BYTES},
    {-34, REMOTE_COMPACT_READ_BYTES},
    {-35, REMOTE_COMPACT_WRITE_BYTES},
    {-36, HOT_FILE_READ_BYTES},
    {-37, WARM_FILE_READ_BYTES},
    {-38, COLD_FILE_READ_BYTES},
    {-39, HOT_FILE_READ_COUNT},
    {-40, WARM_FILE_READ_COUNT},
    {-41, COLD_FILE_READ_COUNT},
    {-42, LAST_LEVEL_READ_BYTES},
    {-43, LAST_LEVEL_READ_COUNT},
    {-44, NON_LAST_LEVEL_READ_BYTES},
    {-45, NON_LAST_LEVEL_READ_COUNT},
    {-46, BLOCK_CHECKSUM_COMPUTE_COUNT},
    {-47, BLOB_DB_CACHE_MISS},
    {-48, BLOB_DB_CACHE_HIT},
    {-49, BLOB_DB_CACHE_ADD},
    {-50, BLOB_DB_CACHE_ADD_FAILURES},
    {-51, BLOB_DB_CACHE_BYTES_READ},
    {-52, BLOB_DB_CACHE_BYTES_WRITE},
};
constexpr std::pair<jbyte, Histograms> kHistograms[] = {
    {0, DB_GET},
    {1, DB_WRITE},
    {2, COMPACTION_TIME},
    {3, SUBCOMPACTION_SETUP_TIME},
    {4, TABLE_SYNC_MICROS},
    {5, COMPACTION_OUTFILE_SYNC_MICROS},
    {6, WAL_FILE_SYNC_MICROS},
    {7, MANIFEST_FILE_SYNC_MICROS},
    {8, TABLE_OPEN_IO_MICROS},
    {9, DB_MULTIGET},
    {10, READ_BLOCK_COMPACTION_MICROS},
    {11, READ_BLOCK_GET_MICROS},
    {12, WRITE_RAW_BLOCK_MICROS},
    {18, NUM_FILES_IN_SINGLE_COMPACTION},
    {19, DB_SEEK},
    {20, WRITE_STALL},
    {21, SST_READ_MICROS},
    {22, NUM_SUBCOMPACTIONS_SCHEDULED},
    {23, BYTES_PER_READ},
    {24, BYTES_PER_WRITE},
    {25, BYTES_PER_MULTIGET},
    {28, COMPRESSION_TIMES_NANOS},
    {29, DECOMPRESSION_TIMES_NANOS},
    {30, READ_NUM_MERGE_OPERANDS},
    {32, FLUSH_TIME},
    {33, BLOB_DB_KEY_SIZE},
    {34, BLOB_DB_VALUE_SIZE},
    {35, BLOB_DB_WRITE_MICROS},
    {36, BLOB_DB_GET_MICROS},
    {37, BLOB_DB_MULTIGET_MICROS},
    {38, BLOB_DB_SEEK_MICROS},
    {39, BLOB_DB_NEXT_MICROS},
    {40, BLOB_DB_PREV_MICROS},
    {41, BLOB_DB_BLOB_FILE_WRITE_MICROS},
    {42, BLOB_DB_BLOB_FILE_READ_MICROS},
    {43, BLOB_DB_BLOB_FILE_SYNC_MICROS},
    {45, BLOB_DB_COMPRESSION_MICROS},
    {46, BLOB_DB_DECOMPRESSION_MICROS},
    {47, NUM_INDEX_AND_FILTER_BLOCKS_READ_PER_LEVEL},
    {49, NUM_SST_READ_PER_LEVEL},
    {50, ERROR_HANDLER_AUTORESUME_RETRY_COUNT},
    {51, ASYNC_READ_BYTES},
};

// Indexed by Java's number as unsigned. Contains `none` where the engine has no counterpart.
template <size_t n, typename T>
constexpr std::array<T, 256> ByNumber(const std::pair<jbyte, T> (&list)[n], T none) {
  std::array<T, 256> table{};
  table.fill(none);
  for (const auto& [number, value] : list) table[static_cast<uint8_t>(number)] = value;
  return table;
}
constexpr auto kTickerOf = ByNumber(kTickers, TICKER_ENUM_MAX);
constexpr auto kHistogramOf = ByNumber(kHistograms, HISTOGRAM_ENUM_MAX);

// Java's levels are the three most detailed of the engine's.
constexpr std::array<StatsLevel, 3> kLevels = {StatsLevel::kExceptDetailedTimers,
                                               StatsLevel::kExceptTimeForMutex, StatsLevel::kAll};

// Records in its own statistics and in those of another object, as RocksDB's chained statistics do.
// Reads return its own values. Setting or resetting a ticker affects both.
class ChainedStatistics final : public Statistics {
 public:
  explicit ChainedStatistics(std::shared_ptr<Statistics> next)
      : own_(CreateDBStatistics()), next_(std::move(next)) {
    own_->set_stats_level(StatsLevel::kAll);  // the level of this object decides
  }

  uint64_t getTickerCount(uint32_t ticker) const override { return own_->getTickerCount(ticker); }
  void recordTick(uint32_t ticker, uint64_t count) override {
    if (get_stats_level() <= StatsLevel::kExceptTickers) return;
    own_->recordTick(ticker, count);
    next_->recordTick(ticker, count);
  }
  void setTickerCount(uint32_t ticker, uint64_t count) override {
    own_->setTickerCount(ticker, count);
    next_->setTickerCount(ticker, count);
  }
  uint64_t getAndResetTickerCount(uint32_t ticker) override {
    next_->setTickerCount(ticker, 0);
    return own_->getAndResetTickerCount(ticker);
  }
  bool getTickerMap(std::map<std::string, uint64_t>* tickers) const override {
    return own_->getTickerMap(tickers);
  }
  void histogramData(uint32_t histogram, HistogramData* data) const override {
    own_->histogramData(histogram, data);
  }
  std::string getHistogramString(uint32_t histogram) const override {
    return own_->getHistogramString(histogram);
  }
  void recordInHistogram(uint32_t histogram, uint64_t value) override {
    if (get_stats_level() <= StatsLevel::kExceptHistogramOrTimers) return;
    own_->recordInHistogram(histogram, value);
    next_->recordInHistogram(histogram, value);
  }
  Status Reset() override { return own_->Reset(); }
  std::string ToString() const override { return own_->ToString(); }

 private:
  const std::shared_ptr<Statistics> own_;
  const std::shared_ptr<Statistics> next_;
};

jlong NewChained(Call& call, jlong next) {
  return Register(new StatisticsObject(
      std::make_shared<ChainedStatistics>(call.Use<StatisticsObject>(next).value)));
}

}  // namespace

ASHLAR_NATIVE(jlong, Statistics_newStatistics__) {
  return Native(env, [&](Call&) { return Register(new StatisticsObject(CreateDBStatistics())); });
}
ASHLAR_NATIVE(jlong, Statistics_newStatistics__J, jlong next) {
  return Native(env, [&](Call& call) { return NewChained(call, next); });
}
// The histograms to ignore are accepted without effect, because all are recorded.
ASHLAR_NATIVE(jlong, Statistics_newStatistics___3B, jbyteArray /*ignored_histograms*/) {
  return Native(env, [&](Call&) { return Register(new StatisticsObject(CreateDBStatistics())); });
}
ASHLAR_NATIVE(jlong, Statistics_newStatistics___3BJ, jbyteArray /*ignored_histograms*/,
              jlong next) {
  return Native(env, [&](Call& call) { return NewChained(call, next); });
}
ASHLAR_NATIVE(void, Statistics_setStatsLevel, jlong handle, jbyte level) {
  Native(env, [&](Call& call) {
    if (level < 0 || static_cast<size_t>(level) >= kLevels.size()) {
      call.Fail("java/lang/IllegalArgumentException", "there is no such level of statistics");
    }
    call.Use<StatisticsObject>(handle).value->set_stats_level(kLevels[static_cast<size_t>(level)]);
  });
}
ASHLAR_NATIVE(jbyte, Statistics_statsLevel, jlong handle) {
  return Native(env, [&](Call& call) {
    const StatsLevel level = call.Use<StatisticsObject>(handle).value->get_stats_level();
    if (level >= StatsLevel::kAll) return jbyte{2};
    return level == StatsLevel::kExceptTimeForMutex ? jbyte{1} : jbyte{0};
  });
}
ASHLAR_NATIVE(jlong, Statistics_getTickerCount, jlong handle, jbyte ticker) {
  return Native(env, [&](Call& call) {
    auto& statistics = call.Use<StatisticsObject>(handle).value;
    const Tickers which = kTickerOf[static_cast<uint8_t>(ticker)];
    return which == TICKER_ENUM_MAX ? 0 : static_cast<jlong>(statistics->getTickerCount(which));
  });
}
ASHLAR_NATIVE(jlong, Statistics_getAndResetTickerCount, jlong handle, jbyte ticker) {
  return Native(env, [&](Call& call) {
    auto& statistics = call.Use<StatisticsObject>(handle).value;
    const Tickers which = kTickerOf[static_cast<uint8_t>(ticker)];
    return which == TICKER_ENUM_MAX ? 0
                                    : static_cast<jlong>(statistics->getAndResetTickerCount(which));
  });
}
ASHLAR_NATIVE(jobject, Statistics_getHistogramData, jlong handle, jbyte histogram) {
  return Native(env, [&](Call& call) {
    auto& statistics = call.Use<StatisticsObject>(handle).value;
    const Histograms which = kHistogramOf[static_cast<uint8_t>(histogram)];
    HistogramData data;
    if (which != HISTOGRAM_ENUM_MAX) statistics->histogramData(which, &data);
    return call.New("org/rocksdb/HistogramData", "(DDDDDDJJD)V", data.median, data.percentile95,
                    data.percentile99, data.average, data.standard_deviation, data.max,
                    static_cast<jlong>(data.count), static_cast<jlong>(data.sum), data.min);
  });
}
ASHLAR_NATIVE(jstring, Statistics_getHistogramString, jlong handle, jbyte histogram) {
  return Native(env, [&](Call& call) {
    auto& statistics = call.Use<StatisticsObject>(handle).value;
    const Histograms which = kHistogramOf[static_cast<uint8_t>(histogram)];
    return call.NewText(which == HISTOGRAM_ENUM_MAX ? std::string()
                                                    : statistics->getHistogramString(which));
  });
}
ASHLAR_NATIVE(void, Statistics_reset, jlong handle) {
  Native(env, [&](Call& call) { call.Check(call.Use<StatisticsObject>(handle).value->Reset()); });
}
ASHLAR_NATIVE(jstring, Statistics_toString, jlong handle) {
  return Native(env, [&](Call& call) {
    return call.NewText(call.Use<StatisticsObject>(handle).value->ToString());
  });
}

}  // namespace ashlar::java
