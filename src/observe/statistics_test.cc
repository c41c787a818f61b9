#include "ashlar/statistics.h"

#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <thread>
#include <utility>
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
  ASSERT_EQ(TickersNameMap.size(), TICKER_ENUM_MAX);
  for (uint32_t i = 0; i < TICKER_ENUM_MAX; ++i) {
    EXPECT_EQ(TickersNameMap[i].first, i);
    EXPECT_TRUE(names.insert(TickersNameMap[i].second).second) << TickersNameMap[i].second;
  }
  ASSERT_EQ(HistogramsNameMap.size(), HISTOGRAM_ENUM_MAX);
  for (uint32_t i = 0; i < HISTOGRAM_ENUM_MAX; ++i) {
    EXPECT_EQ(HistogramsNameMap[i].first, i);
    EXPECT_TRUE(names.insert(HistogramsNameMap[i].second).second) << HistogramsNameMap[i].second;
  }
}

// The numbers of RocksDB 11.8.1, which C programs pass.
constexpr std::pair<Tickers, uint32_t> kTickerNumbers[] = {
    {BLOCK_CACHE_MISS, 0},
    {BLOCK_CACHE_HIT, 1},
    {BLOCK_CACHE_ADD, 2},
    {BLOCK_CACHE_ADD_FAILURES, 3},
    {BLOCK_CACHE_INDEX_MISS, 4},
    {BLOCK_CACHE_INDEX_HIT, 5},
    {BLOCK_CACHE_INDEX_ADD, 6},
    {BLOCK_CACHE_INDEX_BYTES_INSERT, 7},
    {BLOCK_CACHE_FILTER_MISS, 8},
    {BLOCK_CACHE_FILTER_HIT, 9},
    {BLOCK_CACHE_FILTER_ADD, 10},
    {BLOCK_CACHE_FILTER_BYTES_INSERT, 11},
    {BLOCK_CACHE_DATA_MISS, 12},
    {BLOCK_CACHE_DATA_HIT, 13},
    {BLOCK_CACHE_DATA_ADD, 14},
    {BLOCK_CACHE_DATA_BYTES_INSERT, 15},
    {BLOCK_CACHE_BYTES_READ, 16},
    {BLOCK_CACHE_BYTES_WRITE, 17},
    {BLOCK_CACHE_COMPRESSION_DICT_MISS, 18},
    {BLOCK_CACHE_COMPRESSION_DICT_HIT, 19},
    {BLOCK_CACHE_COMPRESSION_DICT_ADD, 20},
    {BLOCK_CACHE_COMPRESSION_DICT_BYTES_INSERT, 21},
    {BLOCK_CACHE_ADD_REDUNDANT, 22},
    {BLOCK_CACHE_INDEX_ADD_REDUNDANT, 23},
    {BLOCK_CACHE_FILTER_ADD_REDUNDANT, 24},
    {BLOCK_CACHE_DATA_ADD_REDUNDANT, 25},
    {BLOCK_CACHE_COMPRESSION_DICT_ADD_REDUNDANT, 26},
    {SECONDARY_CACHE_HITS, 27},
    {SECONDARY_CACHE_FILTER_HITS, 28},
    {SECONDARY_CACHE_INDEX_HITS, 29},
    {SECONDARY_CACHE_DATA_HITS, 30},
    {COMPRESSED_SECONDARY_CACHE_DUMMY_HITS, 31},
    {COMPRESSED_SECONDARY_CACHE_HITS, 32},
    {COMPRESSED_SECONDARY_CACHE_PROMOTIONS, 33},
    {COMPRESSED_SECONDARY_CACHE_PROMOTION_SKIPS, 34},
    {BLOOM_FILTER_USEFUL, 35},
    {BLOOM_FILTER_FULL_POSITIVE, 36},
    {BLOOM_FILTER_FULL_TRUE_POSITIVE, 37},
    {BLOOM_FILTER_PREFIX_CHECKED, 38},
    {BLOOM_FILTER_PREFIX_USEFUL, 39},
    {BLOOM_FILTER_PREFIX_TRUE_POSITIVE, 40},
    {PERSISTENT_CACHE_HIT, 41},
    {PERSISTENT_CACHE_MISS, 42},
    {SIM_BLOCK_CACHE_HIT, 43},
    {SIM_BLOCK_CACHE_MISS, 44},
    {MEMTABLE_HIT, 45},
    {MEMTABLE_MISS, 46},
    {GET_HIT_L0, 47},
    {GET_HIT_L1, 48},
    {GET_HIT_L2_AND_UP, 49},
    {COMPACTION_KEY_DROP_NEWER_ENTRY, 50},
    {COMPACTION_KEY_DROP_OBSOLETE, 51},
    {COMPACTION_KEY_DROP_RANGE_DEL, 52},
    {COMPACTION_KEY_DROP_USER, 53},
    {COMPACTION_RANGE_DEL_DROP_OBSOLETE, 54},
    {COMPACTION_OPTIMIZED_DEL_DROP_OBSOLETE, 55},
    {COMPACTION_CANCELLED, 56},
    {COMPACTION_ABORTED, 57},
    {NUMBER_KEYS_WRITTEN, 58},
    {NUMBER_KEYS_READ, 59},
    {NUMBER_KEYS_UPDATED, 60},
    {BYTES_WRITTEN, 61},
    {BYTES_READ, 62},
    {NUMBER_DB_SEEK, 63},
    {NUMBER_DB_NEXT, 64},
    {NUMBER_DB_PREV, 65},
    {NUMBER_DB_SEEK_FOUND, 66},
    {NUMBER_DB_NEXT_FOUND, 67},
    {NUMBER_DB_PREV_FOUND, 68},
    {ITER_BYTES_READ, 69},
    {NUMBER_ITER_SKIP, 70},
    {NUMBER_OF_RESEEKS_IN_ITERATION, 71},
    {NO_ITERATOR_CREATED, 72},
    {NO_ITERATOR_DELETED, 73},
    {NO_FILE_OPENS, 74},
    {NO_FILE_ERRORS, 75},
    {STALL_MICROS, 76},
    {DB_MUTEX_WAIT_MICROS, 77},
    {NUMBER_MULTIGET_CALLS, 78},
    {NUMBER_MULTIGET_KEYS_READ, 79},
    {NUMBER_MULTIGET_BYTES_READ, 80},
    {NUMBER_MULTIGET_KEYS_FOUND, 81},
    {NUMBER_MERGE_FAILURES, 82},
    {GET_UPDATES_SINCE_CALLS, 83},
    {WAL_FILE_SYNCED, 84},
    {WAL_FILE_BYTES, 85},
    {WAL_PRECREATE_HIT, 86},
    {WAL_PRECREATE_MISS, 87},
    {WAL_PRECREATE_WAITED, 88},
    {WAL_PRECREATE_WAIT_MICROS, 89},
    {WAL_PRECREATE_FAILED, 90},
    {WRITE_DONE_BY_SELF, 91},
    {WRITE_DONE_BY_OTHER, 92},
    {WRITE_WITH_WAL, 93},
    {COMPACT_READ_BYTES, 94},
    {COMPACT_WRITE_BYTES, 95},
    {FLUSH_WRITE_BYTES, 96},
    {COMPACT_READ_BYTES_MARKED, 97},
    {COMPACT_READ_BYTES_PERIODIC, 98},
    {COMPACT_READ_BYTES_TTL, 99},
    {COMPACT_WRITE_BYTES_MARKED, 100},
    {COMPACT_WRITE_BYTES_PERIODIC, 101},
    {COMPACT_WRITE_BYTES_TTL, 102},
    {NUMBER_DIRECT_LOAD_TABLE_PROPERTIES, 103},
    {NUMBER_SUPERVERSION_ACQUIRES, 104},
    {NUMBER_SUPERVERSION_RELEASES, 105},
    {NUMBER_SUPERVERSION_CLEANUPS, 106},
    {NUMBER_BLOCK_COMPRESSED, 107},
    {NUMBER_BLOCK_DECOMPRESSED, 108},
    {BYTES_COMPRESSED_FROM, 109},
    {BYTES_COMPRESSED_TO, 110},
    {BYTES_COMPRESSION_BYPASSED, 111},
    {BYTES_COMPRESSION_REJECTED, 112},
    {NUMBER_BLOCK_COMPRESSION_BYPASSED, 113},
    {NUMBER_BLOCK_COMPRESSION_REJECTED, 114},
    {BYTES_DECOMPRESSED_FROM, 115},
    {BYTES_DECOMPRESSED_TO, 116},
    {MERGE_OPERATION_TOTAL_TIME, 117},
    {FILTER_OPERATION_TOTAL_TIME, 118},
    {COMPACTION_CPU_TOTAL_TIME, 119},
    {ROW_CACHE_HIT, 120},
    {ROW_CACHE_MISS, 121},
    {READ_AMP_ESTIMATE_USEFUL_BYTES, 122},
    {READ_AMP_TOTAL_READ_BYTES, 123},
    {NUMBER_RATE_LIMITER_DRAINS, 124},
    {RATE_LIMITER_BYTES_READ, 125},
    {RATE_LIMITER_BYTES_WRITE, 126},
    {RATE_LIMITER_REQUESTS_READ, 127},
    {RATE_LIMITER_REQUESTS_WRITE, 128},
    {RATE_LIMITER_DELAYED_REQUESTS_READ, 129},
    {RATE_LIMITER_DELAYED_REQUESTS_WRITE, 130},
    {RATE_LIMITER_TOTAL_WAIT_MICROS_READ, 131},
    {RATE_LIMITER_TOTAL_WAIT_MICROS_WRITE, 132},
    {BLOB_DB_NUM_PUT, 133},
    {BLOB_DB_NUM_WRITE, 134},
    {BLOB_DB_NUM_GET, 135},
    {BLOB_DB_NUM_MULTIGET, 136},
    {BLOB_DB_NUM_SEEK, 137},
    {BLOB_DB_NUM_NEXT, 138},
    {BLOB_DB_NUM_PREV, 139},
    {BLOB_DB_NUM_KEYS_WRITTEN, 140},
    {BLOB_DB_NUM_KEYS_READ, 141},
    {BLOB_DB_BYTES_WRITTEN, 142},
    {BLOB_DB_BYTES_READ, 143},
    {BLOB_DB_WRITE_INLINED_DEPRECATED, 144},
    {BLOB_DB_WRITE_INLINED_TTL_DEPRECATED, 145},
    {BLOB_DB_WRITE_BLOB, 146},
    {BLOB_DB_WRITE_BLOB_TTL, 147},
    {BLOB_DB_BLOB_FILE_BYTES_WRITTEN, 148},
    {BLOB_DB_BLOB_FILE_BYTES_READ, 149},
    {BLOB_DB_BLOB_FILE_SYNCED, 150},
    {BLOB_DB_BLOB_INDEX_EXPIRED_COUNT, 151},
    {BLOB_DB_BLOB_INDEX_EXPIRED_SIZE, 152},
    {BLOB_DB_BLOB_INDEX_EVICTED_COUNT, 153},
    {BLOB_DB_BLOB_INDEX_EVICTED_SIZE, 154},
    {BLOB_DB_GC_NUM_FILES, 155},
    {BLOB_DB_GC_NUM_NEW_FILES, 156},
    {BLOB_DB_GC_FAILURES, 157},
    {BLOB_DB_GC_NUM_KEYS_RELOCATED, 158},
    {BLOB_DB_GC_BYTES_RELOCATED, 159},
    {BLOB_DB_FIFO_NUM_FILES_EVICTED, 160},
    {BLOB_DB_FIFO_NUM_KEYS_EVICTED, 161},
    {BLOB_DB_FIFO_BYTES_EVICTED, 162},
    {BLOB_DB_CACHE_MISS, 163},
    {BLOB_DB_CACHE_HIT, 164},
    {BLOB_DB_CACHE_ADD, 165},
    {BLOB_DB_CACHE_ADD_FAILURES, 166},
    {BLOB_DB_CACHE_BYTES_READ, 167},
    {BLOB_DB_CACHE_BYTES_WRITE, 168},
    {TXN_PREPARE_MUTEX_OVERHEAD, 169},
    {TXN_OLD_COMMIT_MAP_MUTEX_OVERHEAD, 170},
    {TXN_DUPLICATE_KEY_OVERHEAD, 171},
    {TXN_SNAPSHOT_MUTEX_OVERHEAD, 172},
    {TXN_GET_TRY_AGAIN, 173},
    {FILES_MARKED_TRASH, 174},
    {FILES_DELETED_FROM_TRASH_QUEUE, 175},
    {FILES_DELETED_IMMEDIATELY, 176},
    {ERROR_HANDLER_BG_ERROR_COUNT, 177},
    {ERROR_HANDLER_BG_IO_ERROR_COUNT, 178},
    {ERROR_HANDLER_BG_RETRYABLE_IO_ERROR_COUNT, 179},
    {ERROR_HANDLER_AUTORESUME_COUNT, 180},
    {ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT, 181},
    {ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT, 182},
    {MEMTABLE_PAYLOAD_BYTES_AT_FLUSH, 183},
    {MEMTABLE_GARBAGE_BYTES_AT_FLUSH, 184},
    {VERIFY_CHECKSUM_READ_BYTES, 185},
    {BACKUP_READ_BYTES, 186},
    {BACKUP_WRITE_BYTES, 187},
    {REMOTE_COMPACT_READ_BYTES, 188},
    {REMOTE_COMPACT_WRITE_BYTES, 189},
    {REMOTE_COMPACT_RESUMED_BYTES, 190},
    {HOT_FILE_READ_BYTES, 191},
    {WARM_FILE_READ_BYTES, 192},
    {COOL_FILE_READ_BYTES, 193},
    {COLD_FILE_READ_BYTES, 194},
    {ICE_FILE_READ_BYTES, 195},
    {HOT_FILE_READ_COUNT, 196},
    {WARM_FILE_READ_COUNT, 197},
    {COOL_FILE_READ_COUNT, 198},
    {COLD_FILE_READ_COUNT, 199},
    {ICE_FILE_READ_COUNT, 200},
    {LAST_LEVEL_READ_BYTES, 201},
    {LAST_LEVEL_READ_COUNT, 202},
    {NON_LAST_LEVEL_READ_BYTES, 203},
    {NON_LAST_LEVEL_READ_COUNT, 204},
    {LAST_LEVEL_SEEK_FILTERED, 205},
    {LAST_LEVEL_SEEK_FILTER_MATCH, 206},
    {LAST_LEVEL_SEEK_DATA, 207},
    {LAST_LEVEL_SEEK_DATA_USEFUL_NO_FILTER, 208},
    {LAST_LEVEL_SEEK_DATA_USEFUL_FILTER_MATCH, 209},
    {NON_LAST_LEVEL_SEEK_FILTERED, 210},
    {NON_LAST_LEVEL_SEEK_FILTER_MATCH, 211},
    {NON_LAST_LEVEL_SEEK_DATA, 212},
    {NON_LAST_LEVEL_SEEK_DATA_USEFUL_NO_FILTER, 213},
    {NON_LAST_LEVEL_SEEK_DATA_USEFUL_FILTER_MATCH, 214},
    {BLOCK_CHECKSUM_COMPUTE_COUNT, 215},
    {BLOCK_CHECKSUM_MISMATCH_COUNT, 216},
    {MULTIGET_COROUTINE_COUNT, 217},
    {READ_ASYNC_MICROS, 218},
    {ASYNC_READ_ERROR_COUNT, 219},
    {TABLE_OPEN_PREFETCH_TAIL_MISS, 220},
    {TABLE_OPEN_PREFETCH_TAIL_HIT, 221},
    {TIMESTAMP_FILTER_TABLE_CHECKED, 222},
    {TIMESTAMP_FILTER_TABLE_FILTERED, 223},
    {READAHEAD_TRIMMED, 224},
    {FIFO_MAX_SIZE_COMPACTIONS, 225},
    {FIFO_TTL_COMPACTIONS, 226},
    {FIFO_CHANGE_TEMPERATURE_COMPACTIONS, 227},
    {PREFETCH_BYTES, 228},
    {PREFETCH_BYTES_USEFUL, 229},
    {PREFETCH_HITS, 230},
    {SST_FOOTER_CORRUPTION_COUNT, 231},
    {FILE_READ_CORRUPTION_RETRY_COUNT, 232},
    {FILE_READ_CORRUPTION_RETRY_SUCCESS_COUNT, 233},
    {NUMBER_WBWI_INGEST, 234},
    {SST_USER_DEFINED_INDEX_LOAD_FAIL_COUNT, 235},
    {MULTISCAN_PREPARE_CALLS, 236},
    {MULTISCAN_PREPARE_ERRORS, 237},
    {MULTISCAN_BLOCKS_PREFETCHED, 238},
    {MULTISCAN_BLOCKS_FROM_CACHE, 239},
    {MULTISCAN_PREFETCH_BYTES, 240},
    {MULTISCAN_PREFETCH_BLOCKS_WASTED, 241},
    {MULTISCAN_IO_REQUESTS, 242},
    {MULTISCAN_IO_COALESCED_NONADJACENT, 243},
    {MULTISCAN_SEEK_ERRORS, 244},
    {PREFETCH_MEMORY_BYTES_GRANTED, 245},
    {PREFETCH_MEMORY_BYTES_RELEASED, 246},
    {PREFETCH_MEMORY_REQUESTS_BLOCKED, 247},
    {READ_PATH_RANGE_TOMBSTONES_INSERTED, 248},
    {READ_PATH_RANGE_TOMBSTONES_DISCARDED, 249},
    {FILE_OPEN_METADATA_RETRIEVED, 250},
    {FILE_OPEN_METADATA_PASSED, 251},
    {MANIFEST_VALIDATION_FAILURE_COUNT, 252},
    {FLUSH_REASON_WRITE_BUFFER_FULL, 253},
    {FLUSH_REASON_WRITE_BUFFER_MANAGER, 254},
    {FLUSH_REASON_MEMTABLE_MAX_RANGE_DELETIONS, 255},
    {ATOMIC_FLUSH_REQUEST_REASON_WRITE_BUFFER_FULL, 256},
    {ATOMIC_FLUSH_REQUEST_REASON_WRITE_BUFFER_MANAGER, 257},
    {ATOMIC_FLUSH_REQUEST_REASON_MEMTABLE_MAX_RANGE_DELETIONS, 258},
    {ATOMIC_FLUSH_REQUEST_REASON_OTHER, 259},
    {CHECKPOINT_READ_BYTES, 260},
    {CHECKPOINT_WRITE_BYTES, 261},
    {FILE_SUBMIT_ASYNC_READ_FALLBACK, 262},
    {TICKER_ENUM_MAX, 263},
};
constexpr std::pair<Histograms, uint32_t> kHistogramNumbers[] = {
    {DB_GET, 0},
    {DB_WRITE, 1},
    {COMPACTION_TIME, 2},
    {COMPACTION_CPU_TIME, 3},
    {SUBCOMPACTION_SETUP_TIME, 4},
    {TABLE_SYNC_MICROS, 5},
    {COMPACTION_OUTFILE_SYNC_MICROS, 6},
    {WAL_FILE_SYNC_MICROS, 7},
    {MANIFEST_FILE_SYNC_MICROS, 8},
    {TABLE_OPEN_IO_MICROS, 9},
    {DB_MULTIGET, 10},
    {READ_BLOCK_COMPACTION_MICROS, 11},
    {READ_BLOCK_GET_MICROS, 12},
    {WRITE_RAW_BLOCK_MICROS, 13},
    {NUM_FILES_IN_SINGLE_COMPACTION, 14},
    {DB_SEEK, 15},
    {WRITE_STALL, 16},
    {SST_READ_MICROS, 17},
    {FILE_READ_FLUSH_MICROS, 18},
    {FILE_READ_COMPACTION_MICROS, 19},
    {FILE_READ_DB_OPEN_MICROS, 20},
    {FILE_READ_GET_MICROS, 21},
    {FILE_READ_MULTIGET_MICROS, 22},
    {FILE_READ_DB_ITERATOR_MICROS, 23},
    {FILE_READ_VERIFY_DB_CHECKSUM_MICROS, 24},
    {FILE_READ_VERIFY_FILE_CHECKSUMS_MICROS, 25},
    {SST_WRITE_MICROS, 26},
    {FILE_WRITE_FLUSH_MICROS, 27},
    {FILE_WRITE_COMPACTION_MICROS, 28},
    {FILE_WRITE_DB_OPEN_MICROS, 29},
    {NUM_SUBCOMPACTIONS_SCHEDULED, 30},
    {BYTES_PER_READ, 31},
    {BYTES_PER_WRITE, 32},
    {BYTES_PER_MULTIGET, 33},
    {COMPRESSION_TIMES_NANOS, 34},
    {DECOMPRESSION_TIMES_NANOS, 35},
    {READ_NUM_MERGE_OPERANDS, 36},
    {BLOB_DB_KEY_SIZE, 37},
    {BLOB_DB_VALUE_SIZE, 38},
    {BLOB_DB_WRITE_MICROS, 39},
    {BLOB_DB_GET_MICROS, 40},
    {BLOB_DB_MULTIGET_MICROS, 41},
    {BLOB_DB_SEEK_MICROS, 42},
    {BLOB_DB_NEXT_MICROS, 43},
    {BLOB_DB_PREV_MICROS, 44},
    {BLOB_DB_BLOB_FILE_WRITE_MICROS, 45},
    {BLOB_DB_BLOB_FILE_READ_MICROS, 46},
    {BLOB_DB_BLOB_FILE_SYNC_MICROS, 47},
    {BLOB_DB_COMPRESSION_MICROS, 48},
    {BLOB_DB_DECOMPRESSION_MICROS, 49},
    {FLUSH_TIME, 50},
    {SST_BATCH_SIZE, 51},
    {MULTIGET_IO_BATCH_SIZE, 52},
    {NUM_INDEX_AND_FILTER_BLOCKS_READ_PER_LEVEL, 53},
    {NUM_SST_READ_PER_LEVEL, 54},
    {NUM_LEVEL_READ_PER_MULTIGET, 55},
    {ERROR_HANDLER_AUTORESUME_RETRY_COUNT, 56},
    {ASYNC_READ_BYTES, 57},
    {POLL_WAIT_MICROS, 58},
    {COMPACTION_PREFETCH_BYTES, 59},
    {PREFETCHED_BYTES_DISCARDED, 60},
    {ASYNC_PREFETCH_ABORT_MICROS, 61},
    {TABLE_OPEN_PREFETCH_TAIL_READ_BYTES, 62},
    {NUM_OP_PER_TRANSACTION, 63},
    {MULTISCAN_PREPARE_ITERATORS, 64},
    {MULTISCAN_PREPARE_MICROS, 65},
    {MULTISCAN_BLOCKS_PER_PREPARE, 66},
    {IO_DISPATCHER_ASYNC_READ_OBSERVED_COMPLETION_MICROS, 67},
    {IO_DISPATCHER_ASYNC_READ_POLL_WAIT_MICROS, 68},
    {IO_DISPATCHER_ASYNC_READ_PREFETCH_LEAD_MICROS, 69},
    {BLOCK_KEY_DISTRIBUTION_CV, 70},
    {INGEST_EXTERNAL_FILE_PREPARE_TIME, 71},
    {INGEST_EXTERNAL_FILE_RUN_TIME, 72},
    {RATE_LIMITER_WAIT_MICROS_READ, 73},
    {RATE_LIMITER_WAIT_MICROS_WRITE, 74},
    {FLUSH_MEMTABLE_MEMORY_BYTES, 75},
    {FLUSH_MEMTABLE_TOTAL_DATA_SIZE, 76},
    {FLUSH_WRITE_BUFFER_FULL_MEMTABLE_MEMORY_BYTES, 77},
    {FLUSH_WRITE_BUFFER_MANAGER_MEMTABLE_MEMORY_BYTES, 78},
    {OPEN_AND_COMPACT_DB_OPEN_MICROS, 79},
    {HISTOGRAM_ENUM_MAX, 80},
};

TEST(StatisticsNames, HaveTheNumbersOfRocksDb) {
  for (const auto& [ticker, number] : kTickerNumbers)
    EXPECT_EQ(ticker, number) << "ticker " << number;
  for (const auto& [histogram, number] : kHistogramNumbers)
    EXPECT_EQ(histogram, number) << "histogram " << number;
  EXPECT_EQ(std::size(kTickerNumbers), size_t{TICKER_ENUM_MAX} + 1)
      << "every ticker is in the table";
  EXPECT_EQ(std::size(kHistogramNumbers), size_t{HISTOGRAM_ENUM_MAX} + 1)
      << "every histogram is in the table";
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

// There are more threads than shards, so that owned shards, reused slots and the shared shard all
// count. Each round has its own threads, so that slots change hands.
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
  for (const Case& c :
       {Case{kExceptTickers, false, false, false},
        Case{kExceptHistogramOrTimers, true, false, false}, Case{kExceptTimers, true, true, false},
        Case{kExceptDetailedTimers, true, true, true}, Case{kAll, true, true, true}}) {
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

// A class that was written for RocksDB may look like this.
TEST(Statistics, AProgramsClassNeedsWhatIsPureInRocksDBOnly) {
  class Smallest final : public Statistics {
   public:
    uint64_t getTickerCount(uint32_t) const override { return 0; }
    void recordTick(uint32_t, uint64_t) override {}
    void setTickerCount(uint32_t, uint64_t) override {}
    uint64_t getAndResetTickerCount(uint32_t) override { return 0; }
    void histogramData(uint32_t, HistogramData*) const override {}
    void measureTime(uint32_t, uint64_t value) override { measured += value; }
    uint64_t measured = 0;
  };
  Smallest smallest;
  const Recorder recorder(&smallest);
  recorder.Record(BYTES_PER_READ, 4);
  smallest.set_stats_level(StatsLevel::kAll);
  recorder.RecordTime(DB_GET, 7);
  EXPECT_EQ(smallest.measured, 11u);
  std::map<std::string, uint64_t> tickers;
  EXPECT_FALSE(smallest.getTickerMap(&tickers));
  EXPECT_EQ(smallest.getHistogramString(DB_GET), "");
  EXPECT_TRUE(smallest.Reset().IsNotSupported());
  EXPECT_EQ(smallest.ToString(), "ToString(): not implemented");
}

TEST(PerfContext, EveryThreadCountsByDefaultAndHasItsOwnLevel) {
  get_perf_context()->Reset();
  SetPerfLevel(kDisable);
  PerfCount(&PerfContext::block_read_count);
  EXPECT_EQ(get_perf_context()->block_read_count, 0u);
  SetPerfLevel(kEnableCount);
  EXPECT_FALSE(PerfTimes());
  PerfCount(&PerfContext::block_read_count, 2);
  std::thread([] {
    EXPECT_EQ(GetPerfLevel(), kEnableCount);
    PerfCount(&PerfContext::block_read_count);
    EXPECT_EQ(get_perf_context()->block_read_count, 1u);
    EXPECT_FALSE(PerfTimes());
    SetPerfLevel(kEnableTime);
    EXPECT_TRUE(PerfTimes());
  }).join();
  EXPECT_FALSE(PerfTimes());
  EXPECT_EQ(get_perf_context()->block_read_count, 2u);
  EXPECT_EQ(get_perf_context()->ToString(true), "block_read_count = 2");
  EXPECT_NE(get_perf_context()->ToString().find("bloom_sst_miss_count = 0"), std::string::npos);
  get_perf_context()->Reset();
  EXPECT_EQ(get_perf_context()->ToString(true), "");
}

TEST(PerfContext, LevelsDecideWhatIsMeasured) {
  struct Case {
    PerfLevel level;
    bool counts;
    bool waits;
    bool times;
  };
  for (const Case& c :
       {Case{kDisable, false, false, false}, Case{kEnableCount, true, false, false},
        Case{kEnableWait, true, true, false}, Case{kEnableTimeExceptForMutex, true, true, true},
        Case{kEnableTime, true, true, true}}) {
    SetPerfLevel(c.level);
    PerfContext* const perf = get_perf_context();
    perf->Reset();
    PerfCount(&PerfContext::block_read_count);
    {
      const PerfTimer wait(&PerfContext::write_delay_time, kEnableWait);
      const PerfTimer time(&PerfContext::block_read_time);
      const uint64_t start_nanos = MonotonicNanos();
      while (MonotonicNanos() == start_nanos) {
      }
    }
    EXPECT_EQ(perf->block_read_count, c.counts ? 1u : 0u) << int{c.level};
    EXPECT_EQ(perf->write_delay_time > 0, c.waits) << int{c.level};
    EXPECT_EQ(perf->block_read_time > 0, c.times) << int{c.level};
  }
  get_perf_context()->Reset();
  SetPerfLevel(kEnableCount);
}

TEST(Listeners, AreToldInOrder) {
  class Listener final : public EventListener {
   public:
    Listener(std::string* text, char name) : text_(text), name_(name) {}
    void OnTableFileDeleted(const TableFileDeletionInfo& info) override {
      *text_ += name_ + info.file_path;
    }
    void OnBackgroundError(BackgroundErrorReason, Status* error) override { *error = Status::OK(); }

   private:
    std::string* text_;
    char name_;
  };
  std::string text;
  const std::vector<std::shared_ptr<EventListener>> listeners = {
      std::make_shared<Listener>(&text, 'a'), std::make_shared<Listener>(&text, 'b')};
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
  for (int i = 0; i < static_cast<int>(CompactionReason::kNumOfReasons); ++i)
    EXPECT_STRNE(GetCompactionReasonString(static_cast<CompactionReason>(i)), "Invalid") << i;
  EXPECT_STREQ(GetCompactionReasonString(CompactionReason::kNumOfReasons), "Invalid");
  EXPECT_EQ(static_cast<int>(CompactionReason::kNumOfReasons), 21);
  for (int i = 0; i <= static_cast<int>(FlushReason::kMemtableMaxRangeDeletions); ++i)
    EXPECT_STRNE(GetFlushReasonString(static_cast<FlushReason>(i)), "Invalid") << i;
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
