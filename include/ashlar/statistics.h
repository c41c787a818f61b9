// Statistics: counters (tickers) and distributions (histograms) of what databases do. One object may serve several databases.
//
// Names and texts are RocksDB's; counters of what Ashlar does not do are absent. Counting is cheap: one plain add on memory that no other core
// writes. docs/observability.md says what each one counts.
// Thread safety: every method may be called by several threads at once. A reader sees each counter at some moment during its call.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/export.h"
#include "ashlar/status.h"

namespace ashlar {

enum Tickers : uint32_t {
  BLOCK_CACHE_MISS = 0,
  BLOCK_CACHE_HIT,
  BLOCK_CACHE_ADD,
  BLOCK_CACHE_ADD_FAILURES,
  BLOCK_CACHE_DATA_MISS,
  BLOCK_CACHE_DATA_HIT,
  BLOCK_CACHE_DATA_ADD,
  BLOCK_CACHE_DATA_BYTES_INSERT,
  BLOCK_CACHE_BYTES_READ,
  BLOCK_CACHE_BYTES_WRITE,
  BLOOM_FILTER_USEFUL,
  BLOOM_FILTER_FULL_POSITIVE,
  BLOOM_FILTER_FULL_TRUE_POSITIVE,
  BLOOM_FILTER_PREFIX_CHECKED,
  BLOOM_FILTER_PREFIX_USEFUL,
  BLOOM_FILTER_PREFIX_TRUE_POSITIVE,
  MEMTABLE_HIT,
  MEMTABLE_MISS,
  GET_HIT_L0,
  GET_HIT_L1,
  GET_HIT_L2_AND_UP,
  COMPACTION_KEY_DROP_NEWER_ENTRY,
  COMPACTION_KEY_DROP_OBSOLETE,
  COMPACTION_OPTIMIZED_DEL_DROP_OBSOLETE,
  NUMBER_KEYS_WRITTEN,
  NUMBER_KEYS_READ,
  BYTES_WRITTEN,
  BYTES_READ,
  NUMBER_DB_SEEK,
  NUMBER_DB_NEXT,
  NUMBER_DB_PREV,
  NUMBER_DB_SEEK_FOUND,
  NUMBER_DB_NEXT_FOUND,
  NUMBER_DB_PREV_FOUND,
  ITER_BYTES_READ,
  NUMBER_ITER_SKIP,
  NUMBER_OF_RESEEKS_IN_ITERATION,
  NO_ITERATOR_CREATED,
  NO_ITERATOR_DELETED,
  NO_FILE_OPENS,
  NO_FILE_ERRORS,
  STALL_MICROS,
  NUMBER_MULTIGET_CALLS,
  NUMBER_MULTIGET_KEYS_READ,
  NUMBER_MULTIGET_BYTES_READ,
  NUMBER_MULTIGET_KEYS_FOUND,
  NUMBER_MERGE_FAILURES,
  WAL_FILE_SYNCED,
  WAL_FILE_BYTES,
  WRITE_DONE_BY_SELF,
  WRITE_DONE_BY_OTHER,
  WRITE_WITH_WAL,
  COMPACT_READ_BYTES,
  COMPACT_WRITE_BYTES,
  COMPACT_READ_BYTES_MARKED,
  COMPACT_READ_BYTES_PERIODIC,
  COMPACT_READ_BYTES_TTL,
  COMPACT_WRITE_BYTES_MARKED,
  COMPACT_WRITE_BYTES_PERIODIC,
  COMPACT_WRITE_BYTES_TTL,
  FLUSH_WRITE_BYTES,
  NUMBER_BLOCK_COMPRESSED,
  NUMBER_BLOCK_DECOMPRESSED,
  BYTES_COMPRESSED_FROM,
  BYTES_COMPRESSED_TO,
  BYTES_COMPRESSION_REJECTED,
  NUMBER_BLOCK_COMPRESSION_REJECTED,
  BYTES_DECOMPRESSED_FROM,
  BYTES_DECOMPRESSED_TO,
  MERGE_OPERATION_TOTAL_TIME,
  COMPACTION_CPU_TOTAL_TIME,
  RATE_LIMITER_BYTES_WRITE,
  RATE_LIMITER_REQUESTS_WRITE,
  RATE_LIMITER_TOTAL_WAIT_MICROS_WRITE,
  FILES_DELETED_IMMEDIATELY,
  ERROR_HANDLER_BG_ERROR_COUNT,
  ERROR_HANDLER_BG_IO_ERROR_COUNT,
  MEMTABLE_PAYLOAD_BYTES_AT_FLUSH,
  MEMTABLE_GARBAGE_BYTES_AT_FLUSH,
  VERIFY_CHECKSUM_READ_BYTES,
  BLOCK_CHECKSUM_COMPUTE_COUNT,
  BLOCK_CHECKSUM_MISMATCH_COUNT,
  PREFETCH_BYTES,
  PREFETCH_BYTES_USEFUL,
  PREFETCH_HITS,
  TICKER_ENUM_MAX,
};

enum Histograms : uint32_t {
  DB_GET = 0,
  DB_WRITE,
  COMPACTION_TIME,
  COMPACTION_CPU_TIME,
  TABLE_SYNC_MICROS,
  COMPACTION_OUTFILE_SYNC_MICROS,
  WAL_FILE_SYNC_MICROS,
  MANIFEST_FILE_SYNC_MICROS,
  TABLE_OPEN_IO_MICROS,
  DB_MULTIGET,
  READ_BLOCK_GET_MICROS,
  NUM_FILES_IN_SINGLE_COMPACTION,
  DB_SEEK,
  WRITE_STALL,
  SST_READ_MICROS,
  SST_WRITE_MICROS,
  NUM_SUBCOMPACTIONS_SCHEDULED,
  BYTES_PER_READ,
  BYTES_PER_WRITE,
  BYTES_PER_MULTIGET,
  COMPRESSION_TIMES_NANOS,
  DECOMPRESSION_TIMES_NANOS,
  READ_NUM_MERGE_OPERANDS,
  FLUSH_TIME,
  RATE_LIMITER_WAIT_MICROS_WRITE,
  FLUSH_MEMTABLE_MEMORY_BYTES,
  FLUSH_MEMTABLE_TOTAL_DATA_SIZE,
  HISTOGRAM_ENUM_MAX,
};

// Each ticker or histogram with its text, such as {BLOCK_CACHE_MISS, "rocksdb.block.cache.miss"}, in the order of the enum.
ASHLAR_API const std::vector<std::pair<Tickers, std::string>>& TickersNameMap();
ASHLAR_API const std::vector<std::pair<Histograms, std::string>>& HistogramsNameMap();

struct HistogramData {
  double median = 0.0;
  double percentile95 = 0.0;
  double percentile99 = 0.0;
  double average = 0.0;
  double standard_deviation = 0.0;
  double max = 0.0;
  uint64_t count = 0;
  uint64_t sum = 0;
  double min = 0.0;
};

// How much is recorded; each level adds to the one before.
enum StatsLevel : uint8_t {
  kDisableAll,
  kExceptTickers = kDisableAll,
  kExceptHistogramOrTimers,  // tickers
  kExceptTimers,             // and histograms of sizes
  kExceptDetailedTimers,     // and times, but for those below: the default
  kExceptTimeForMutex,       // and times of compression and of merge operators
  kAll,                      // the same: waits for mutexes are not measured
};

class ASHLAR_API Statistics {
 public:
  virtual ~Statistics() = default;

  virtual uint64_t getTickerCount(uint32_t ticker) const = 0;
  virtual void recordTick(uint32_t ticker, uint64_t count = 1) = 0;
  virtual void setTickerCount(uint32_t ticker, uint64_t count) = 0;
  virtual uint64_t getAndResetTickerCount(uint32_t ticker) = 0;
  virtual bool getTickerMap(std::map<std::string, uint64_t>* tickers) const = 0;

  virtual void histogramData(uint32_t histogram, HistogramData* data) const = 0;
  virtual std::string getHistogramString(uint32_t histogram) const = 0;
  virtual void recordInHistogram(uint32_t histogram, uint64_t value) = 0;
  // The same for a time, which is dropped at levels without times.
  void reportTimeToHistogram(uint32_t histogram, uint64_t time) {
    if (get_stats_level() > StatsLevel::kExceptTimers) recordInHistogram(histogram, time);
  }
  virtual bool HistEnabledForType(uint32_t histogram) const { return histogram < HISTOGRAM_ENUM_MAX; }

  // Everything back to zero.
  virtual Status Reset() = 0;
  // One line per ticker and histogram.
  virtual std::string ToString() const = 0;

  void set_stats_level(StatsLevel level) { stats_level_.store(level, std::memory_order_relaxed); }
  StatsLevel get_stats_level() const { return stats_level_.load(std::memory_order_relaxed); }

 private:
  std::atomic<StatsLevel> stats_level_{kExceptDetailedTimers};
};

ASHLAR_API std::shared_ptr<Statistics> CreateDBStatistics();

}  // namespace ashlar
