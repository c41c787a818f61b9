#include "observe/statistics_impl.h"

#include "base/assert.h"
#include "base/format.h"

namespace ashlar {

// ---- Names

const std::vector<std::pair<Tickers, std::string>>& TickersNameMap() {
  // Never destroyed: threads may still be counting when static destructors run.
  static const auto* const names = new std::vector<std::pair<Tickers, std::string>>{
      {BLOCK_CACHE_MISS, "rocksdb.block.cache.miss"},
      {BLOCK_CACHE_HIT, "rocksdb.block.cache.hit"},
      {BLOCK_CACHE_ADD, "rocksdb.block.cache.add"},
      {BLOCK_CACHE_ADD_FAILURES, "rocksdb.block.cache.add.failures"},
      {BLOCK_CACHE_DATA_MISS, "rocksdb.block.cache.data.miss"},
      {BLOCK_CACHE_DATA_HIT, "rocksdb.block.cache.data.hit"},
      {BLOCK_CACHE_DATA_ADD, "rocksdb.block.cache.data.add"},
      {BLOCK_CACHE_DATA_BYTES_INSERT, "rocksdb.block.cache.data.bytes.insert"},
      {BLOCK_CACHE_BYTES_READ, "rocksdb.block.cache.bytes.read"},
      {BLOCK_CACHE_BYTES_WRITE, "rocksdb.block.cache.bytes.write"},
      {BLOOM_FILTER_USEFUL, "rocksdb.bloom.filter.useful"},
      {BLOOM_FILTER_FULL_POSITIVE, "rocksdb.bloom.filter.full.positive"},
      {BLOOM_FILTER_FULL_TRUE_POSITIVE, "rocksdb.bloom.filter.full.true.positive"},
      {BLOOM_FILTER_PREFIX_CHECKED, "rocksdb.bloom.filter.prefix.checked"},
      {BLOOM_FILTER_PREFIX_USEFUL, "rocksdb.bloom.filter.prefix.useful"},
      {BLOOM_FILTER_PREFIX_TRUE_POSITIVE, "rocksdb.bloom.filter.prefix.true.positive"},
      {MEMTABLE_HIT, "rocksdb.memtable.hit"},
      {MEMTABLE_MISS, "rocksdb.memtable.miss"},
      {GET_HIT_L0, "rocksdb.l0.hit"},
      {GET_HIT_L1, "rocksdb.l1.hit"},
      {GET_HIT_L2_AND_UP, "rocksdb.l2andup.hit"},
      {COMPACTION_KEY_DROP_NEWER_ENTRY, "rocksdb.compaction.key.drop.new"},
      {COMPACTION_KEY_DROP_OBSOLETE, "rocksdb.compaction.key.drop.obsolete"},
      {COMPACTION_OPTIMIZED_DEL_DROP_OBSOLETE, "rocksdb.compaction.optimized.del.drop.obsolete"},
      {NUMBER_KEYS_WRITTEN, "rocksdb.number.keys.written"},
      {NUMBER_KEYS_READ, "rocksdb.number.keys.read"},
      {BYTES_WRITTEN, "rocksdb.bytes.written"},
      {BYTES_READ, "rocksdb.bytes.read"},
      {NUMBER_DB_SEEK, "rocksdb.number.db.seek"},
      {NUMBER_DB_NEXT, "rocksdb.number.db.next"},
      {NUMBER_DB_PREV, "rocksdb.number.db.prev"},
      {NUMBER_DB_SEEK_FOUND, "rocksdb.number.db.seek.found"},
      {NUMBER_DB_NEXT_FOUND, "rocksdb.number.db.next.found"},
      {NUMBER_DB_PREV_FOUND, "rocksdb.number.db.prev.found"},
      {ITER_BYTES_READ, "rocksdb.db.iter.bytes.read"},
      {NUMBER_ITER_SKIP, "rocksdb.number.iter.skip"},
      {NUMBER_OF_RESEEKS_IN_ITERATION, "rocksdb.number.reseeks.iteration"},
      {NO_ITERATOR_CREATED, "rocksdb.num.iterator.created"},
      {NO_ITERATOR_DELETED, "rocksdb.num.iterator.deleted"},
      {NO_FILE_OPENS, "rocksdb.no.file.opens"},
      {NO_FILE_ERRORS, "rocksdb.no.file.errors"},
      {STALL_MICROS, "rocksdb.stall.micros"},
      {NUMBER_MULTIGET_CALLS, "rocksdb.number.multiget.get"},
      {NUMBER_MULTIGET_KEYS_READ, "rocksdb.number.multiget.keys.read"},
      {NUMBER_MULTIGET_BYTES_READ, "rocksdb.number.multiget.bytes.read"},
      {NUMBER_MULTIGET_KEYS_FOUND, "rocksdb.number.multiget.keys.found"},
      {NUMBER_MERGE_FAILURES, "rocksdb.number.merge.failures"},
      {WAL_FILE_SYNCED, "rocksdb.wal.synced"},
      {WAL_FILE_BYTES, "rocksdb.wal.bytes"},
      {WRITE_DONE_BY_SELF, "rocksdb.write.self"},
      {WRITE_DONE_BY_OTHER, "rocksdb.write.other"},
      {WRITE_WITH_WAL, "rocksdb.write.wal"},
      {COMPACT_READ_BYTES, "rocksdb.compact.read.bytes"},
      {COMPACT_WRITE_BYTES, "rocksdb.compact.write.bytes"},
      {COMPACT_READ_BYTES_MARKED, "rocksdb.compact.read.marked.bytes"},
      {COMPACT_READ_BYTES_PERIODIC, "rocksdb.compact.read.periodic.bytes"},
      {COMPACT_READ_BYTES_TTL, "rocksdb.compact.read.ttl.bytes"},
      {COMPACT_WRITE_BYTES_MARKED, "rocksdb.compact.write.marked.bytes"},
      {COMPACT_WRITE_BYTES_PERIODIC, "rocksdb.compact.write.periodic.bytes"},
      {COMPACT_WRITE_BYTES_TTL, "rocksdb.compact.write.ttl.bytes"},
      {FLUSH_WRITE_BYTES, "rocksdb.flush.write.bytes"},
      {NUMBER_BLOCK_COMPRESSED, "rocksdb.number.block.compressed"},
      {NUMBER_BLOCK_DECOMPRESSED, "rocksdb.number.block.decompressed"},
      {BYTES_COMPRESSED_FROM, "rocksdb.bytes.compressed.from"},
      {BYTES_COMPRESSED_TO, "rocksdb.bytes.compressed.to"},
      {BYTES_COMPRESSION_REJECTED, "rocksdb.bytes.compression.rejected"},
      {NUMBER_BLOCK_COMPRESSION_REJECTED, "rocksdb.number.block_compression_rejected"},
      {BYTES_DECOMPRESSED_FROM, "rocksdb.bytes.decompressed.from"},
      {BYTES_DECOMPRESSED_TO, "rocksdb.bytes.decompressed.to"},
      {MERGE_OPERATION_TOTAL_TIME, "rocksdb.merge.operation.time.nanos"},
      {COMPACTION_CPU_TOTAL_TIME, "rocksdb.compaction.total.time.cpu_micros"},
      {RATE_LIMITER_BYTES_WRITE, "rocksdb.rate.limiter.bytes.write"},
      {RATE_LIMITER_REQUESTS_WRITE, "rocksdb.rate.limiter.requests.write"},
      {RATE_LIMITER_TOTAL_WAIT_MICROS_WRITE, "rocksdb.rate.limiter.total.wait.micros.write"},
      {FILES_DELETED_IMMEDIATELY, "rocksdb.files.deleted.immediately"},
      {ERROR_HANDLER_BG_ERROR_COUNT, "rocksdb.error.handler.bg.error.count"},
      {ERROR_HANDLER_BG_IO_ERROR_COUNT, "rocksdb.error.handler.bg.io.error.count"},
      {MEMTABLE_PAYLOAD_BYTES_AT_FLUSH, "rocksdb.memtable.payload.bytes.at.flush"},
      {MEMTABLE_GARBAGE_BYTES_AT_FLUSH, "rocksdb.memtable.garbage.bytes.at.flush"},
      {VERIFY_CHECKSUM_READ_BYTES, "rocksdb.verify_checksum.read.bytes"},
      {BLOCK_CHECKSUM_COMPUTE_COUNT, "rocksdb.block.checksum.compute.count"},
      {BLOCK_CHECKSUM_MISMATCH_COUNT, "rocksdb.block.checksum.mismatch.count"},
      {PREFETCH_BYTES, "rocksdb.prefetch.bytes"},
      {PREFETCH_BYTES_USEFUL, "rocksdb.prefetch.bytes.useful"},
      {PREFETCH_HITS, "rocksdb.prefetch.hits"},
  };
  return *names;
}

const std::vector<std::pair<Histograms, std::string>>& HistogramsNameMap() {
  static const auto* const names = new std::vector<std::pair<Histograms, std::string>>{
      {DB_GET, "rocksdb.db.get.micros"},
      {DB_WRITE, "rocksdb.db.write.micros"},
      {COMPACTION_TIME, "rocksdb.compaction.times.micros"},
      {COMPACTION_CPU_TIME, "rocksdb.compaction.times.cpu_micros"},
      {TABLE_SYNC_MICROS, "rocksdb.table.sync.micros"},
      {COMPACTION_OUTFILE_SYNC_MICROS, "rocksdb.compaction.outfile.sync.micros"},
      {WAL_FILE_SYNC_MICROS, "rocksdb.wal.file.sync.micros"},
      {MANIFEST_FILE_SYNC_MICROS, "rocksdb.manifest.file.sync.micros"},
      {TABLE_OPEN_IO_MICROS, "rocksdb.table.open.io.micros"},
      {DB_MULTIGET, "rocksdb.db.multiget.micros"},
      {READ_BLOCK_GET_MICROS, "rocksdb.read.block.get.micros"},
      {NUM_FILES_IN_SINGLE_COMPACTION, "rocksdb.numfiles.in.singlecompaction"},
      {DB_SEEK, "rocksdb.db.seek.micros"},
      {WRITE_STALL, "rocksdb.db.write.stall"},
      {SST_READ_MICROS, "rocksdb.sst.read.micros"},
      {SST_WRITE_MICROS, "rocksdb.sst.write.micros"},
      {NUM_SUBCOMPACTIONS_SCHEDULED, "rocksdb.num.subcompactions.scheduled"},
      {BYTES_PER_READ, "rocksdb.bytes.per.read"},
      {BYTES_PER_WRITE, "rocksdb.bytes.per.write"},
      {BYTES_PER_MULTIGET, "rocksdb.bytes.per.multiget"},
      {COMPRESSION_TIMES_NANOS, "rocksdb.compression.times.nanos"},
      {DECOMPRESSION_TIMES_NANOS, "rocksdb.decompression.times.nanos"},
      {READ_NUM_MERGE_OPERANDS, "rocksdb.read.num.merge_operands"},
      {FLUSH_TIME, "rocksdb.db.flush.micros"},
      {RATE_LIMITER_WAIT_MICROS_WRITE, "rocksdb.rate.limiter.wait.micros.write"},
      {FLUSH_MEMTABLE_MEMORY_BYTES, "rocksdb.flush.memtable.memory.bytes"},
      {FLUSH_MEMTABLE_TOTAL_DATA_SIZE, "rocksdb.flush.memtable.total.data.size.bytes"},
  };
  return *names;
}

// ---- Shards

StatisticsImpl::Shard::~Shard() {
  for (std::atomic<HistogramCounters*>& counters : histograms) delete counters.load(std::memory_order_relaxed);
}

StatisticsImpl::~StatisticsImpl() {
  for (std::atomic<Shard*>& shard : shards_) delete shard.load(std::memory_order_relaxed);
}

StatisticsImpl::Shard* StatisticsImpl::MakeShard(uint32_t index) {
  auto* const shard = new Shard;
  shards_[index].store(shard, std::memory_order_release);  // pairs with the acquire of readers and of later owners of the slot
  return shard;
}

HistogramCounters* StatisticsImpl::CountersOf(Shard* shard, uint32_t histogram) {
  std::atomic<HistogramCounters*>& place = shard->histograms[histogram];
  HistogramCounters* counters = place.load(std::memory_order_acquire);
  if (counters == nullptr) {
    counters = new HistogramCounters;
    place.store(counters, std::memory_order_release);  // pairs with the acquire in Snapshot
  }
  return counters;
}

// ---- Recording

void StatisticsImpl::recordTick(uint32_t ticker, uint64_t count) {
  ASHLAR_DCHECK(ticker < TICKER_ENUM_MAX);
  if (ticker >= TICKER_ENUM_MAX || get_stats_level() == kExceptTickers) return;
  if (Shard* const shard = OwnShard()) [[likely]] {
    std::atomic<uint64_t>& counter = shard->tickers[ticker];
    counter.store(counter.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
    return;
  }
  shared_.tickers[ticker].fetch_add(count, std::memory_order_relaxed);
}

void StatisticsImpl::recordInHistogram(uint32_t histogram, uint64_t value) {
  ASHLAR_DCHECK(histogram < HISTOGRAM_ENUM_MAX);
  if (histogram >= HISTOGRAM_ENUM_MAX || get_stats_level() <= kExceptHistogramOrTimers) return;
  const uint64_t generation = generation_.load(std::memory_order_relaxed);
  if (Shard* const shard = OwnShard()) [[likely]] {
    CountersOf(shard, histogram)->Record(value, generation);
    return;
  }
  const MutexLock lock(shared_histograms_mutex_);
  CountersOf(&shared_, histogram)->Record(value, generation);
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
  return SumOfShards(ticker) - bases_[ticker].load(std::memory_order_relaxed);
}

void StatisticsImpl::setTickerCount(uint32_t ticker, uint64_t count) {
  if (ticker >= TICKER_ENUM_MAX) return;
  const MutexLock lock(bases_mutex_);
  bases_[ticker].store(SumOfShards(ticker) - count, std::memory_order_relaxed);
}

uint64_t StatisticsImpl::getAndResetTickerCount(uint32_t ticker) {
  if (ticker >= TICKER_ENUM_MAX) return 0;
  const MutexLock lock(bases_mutex_);
  const uint64_t sum = SumOfShards(ticker);
  return sum - bases_[ticker].exchange(sum, std::memory_order_relaxed);
}

bool StatisticsImpl::getTickerMap(std::map<std::string, uint64_t>* tickers) const {
  tickers->clear();
  for (const auto& [ticker, name] : TickersNameMap()) (*tickers)[name] = getTickerCount(ticker);
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

void StatisticsImpl::histogramData(uint32_t histogram, HistogramData* data) const { *data = Snapshot(histogram).Data(); }
std::string StatisticsImpl::getHistogramString(uint32_t histogram) const { return Snapshot(histogram).ToString(); }

Status StatisticsImpl::Reset() {
  for (uint32_t ticker = 0; ticker < TICKER_ENUM_MAX; ++ticker) setTickerCount(ticker, 0);
  generation_.fetch_add(1, std::memory_order_relaxed);
  return Status::OK();
}

std::string StatisticsImpl::ToString() const {
  std::string out;
  for (const auto& [ticker, name] : TickersNameMap()) StrAppend(&out, name, " COUNT : ", getTickerCount(ticker), "\n");
  for (const auto& [histogram, name] : HistogramsNameMap()) StrAppend(&out, name, " ", getHistogramString(histogram), "\n");
  return out;
}

std::shared_ptr<Statistics> CreateDBStatistics() { return std::make_shared<StatisticsImpl>(); }

}  // namespace ashlar
