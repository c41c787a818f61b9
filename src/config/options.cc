// Constructors, presets and dumps of the option structs.
#include "ashlar/options.h"

#include <algorithm>
#include <string_view>

#include "ashlar/cache.h"
#include "ashlar/filter_policy.h"
#include "ashlar/table.h"
#include "ashlar/write_buffer_manager.h"
#include "base/compression.h"
#include "config/options_file.h"

namespace ashlar {
namespace {

// Returns the options of the current block-based factory, or the defaults.
BlockBasedTableOptions TableOptionsOf(const ColumnFamilyOptions& options) {
  const BlockBasedTableOptions* current =
      options.table_factory == nullptr
          ? nullptr
          : options.table_factory->GetOptions<BlockBasedTableOptions>();
  return current == nullptr ? BlockBasedTableOptions() : *current;
}

// Returns kSnappyCompression if this build can write it.
CompressionType SnappyOrNone() {
  return ValidateCompressionType(kSnappyCompression).ok() ? kSnappyCompression : kNoCompression;
}

CompressionType Lz4IfPossible() {
  return ValidateCompressionType(kLZ4Compression).ok() ? kLZ4Compression : SnappyOrNone();
}

// Sizes the memtables for the budget and returns it. A budget of 0 means the default.
uint64_t BudgetMemtables(uint64_t budget, ColumnFamilyOptions* options) {
  if (budget == 0) budget = ColumnFamilyOptions::kDefaultMemtableBudget;
  options->write_buffer_size = static_cast<size_t>(budget / 4);
  // Each flush merges two memtables, and writers may be two ahead of it.
  options->min_write_buffer_number_to_merge = 2;
  options->max_write_buffer_number = 6;
  return budget;
}

// A release of RocksDB.
struct Release {
  int major_version;
  int minor_version;
  bool IsBefore(const Release& other) const {
    return major_version < other.major_version ||
           (major_version == other.major_version && minor_version < other.minor_version);
  }
};

void WriteHeaderLines(std::string_view lines, Logger* log) {
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    Header(log, "%.*s", static_cast<int>(end), lines.data());
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
}

}  // namespace

ColumnFamilyOptions::ColumnFamilyOptions()
    : table_factory(NewBlockBasedTableFactory()), compression(SnappyOrNone()) {}
ColumnFamilyOptions::ColumnFamilyOptions(const Options& options)
    : ColumnFamilyOptions(static_cast<const ColumnFamilyOptions&>(options)) {}
DBOptions::DBOptions(const Options& options) : DBOptions(static_cast<const DBOptions&>(options)) {}

ColumnFamilyOptions* ColumnFamilyOptions::OptimizeForSmallDb(std::shared_ptr<Cache>* cache) {
  write_buffer_size = 2 << 20;
  target_file_size_base = 2 * 1048576;
  max_bytes_for_level_base = 10 * 1048576;
  soft_pending_compaction_bytes_limit = 256 * 1048576;
  hard_pending_compaction_bytes_limit = 1073741824ul;
  BlockBasedTableOptions table_options = TableOptionsOf(*this);
  if (cache != nullptr) table_options.block_cache = *cache;
  table_options.cache_index_and_filter_blocks = true;
  table_factory.reset(NewBlockBasedTableFactory(table_options));
  return this;
}

ColumnFamilyOptions* ColumnFamilyOptions::OptimizeForPointLookup(uint64_t block_cache_size_mb) {
  BlockBasedTableOptions table_options = TableOptionsOf(*this);
  table_options.filter_policy.reset(NewBloomFilterPolicy(10));
  table_options.block_cache = NewLRUCache(static_cast<size_t>(block_cache_size_mb) << 20);
  table_factory.reset(NewBlockBasedTableFactory(table_options));
  return this;
}

ColumnFamilyOptions* ColumnFamilyOptions::OptimizeLevelStyleCompaction(
    uint64_t memtable_memory_budget) {
  const uint64_t budget = BudgetMemtables(memtable_memory_budget, this);
  level0_file_num_compaction_trigger = 2;
  target_file_size_base = budget / 8;
  max_bytes_for_level_base = budget;
  compaction_style = kCompactionStyleLevel;
  // The first two levels are rewritten too soon to be worth compressing.
  compression_per_level.assign(static_cast<size_t>(std::max(num_levels, 0)), Lz4IfPossible());
  std::fill_n(compression_per_level.begin(), std::min<size_t>(2, compression_per_level.size()),
              kNoCompression);
  return this;
}

ColumnFamilyOptions* ColumnFamilyOptions::OptimizeUniversalStyleCompaction(
    uint64_t memtable_memory_budget) {
  BudgetMemtables(memtable_memory_budget, this);
  compaction_style = kCompactionStyleUniversal;
  compaction_options_universal.compression_size_percent = 80;
  return this;
}

ColumnFamilyOptions* ColumnFamilyOptions::OldDefaults(int rocksdb_major_version,
                                                      int rocksdb_minor_version) {
  const Release old{rocksdb_major_version, rocksdb_minor_version};
  if (old.IsBefore({5, 19})) compaction_pri = kByCompensatedSize;
  if (old.IsBefore({5, 2})) level0_stop_writes_trigger = old.IsBefore({5, 0}) ? 24 : 30;
  if (old.IsBefore({4, 7})) {
    write_buffer_size = 4 << 20;
    target_file_size_base = 2 << 20;
    max_bytes_for_level_base = 10 << 20;
    soft_pending_compaction_bytes_limit = 0;
    hard_pending_compaction_bytes_limit = 0;
  }
  return this;
}

DBOptions* DBOptions::OptimizeForSmallDb(std::shared_ptr<Cache>* cache) {
  max_file_opening_threads = 1;
  max_open_files = 5000;
  if (cache != nullptr)
    write_buffer_manager = std::make_shared<WriteBufferManager>(/*buffer_size=*/0, *cache);
  return this;
}

DBOptions* DBOptions::IncreaseParallelism(int total_threads) {
  max_background_jobs = total_threads;
  env->SetBackgroundThreads(total_threads, Env::LOW);
  env->SetBackgroundThreads(1, Env::HIGH);
  return this;
}

DBOptions* DBOptions::OldDefaults(int rocksdb_major_version, int rocksdb_minor_version) {
  const Release old{rocksdb_major_version, rocksdb_minor_version};
  max_open_files = 5000;
  wal_recovery_mode = WALRecoveryMode::kTolerateCorruptedTailRecords;
  if (old.IsBefore({5, 6}))
    delayed_write_rate = (old.IsBefore({5, 2}) ? uint64_t{2} : uint64_t{16}) << 20;
  if (old.IsBefore({4, 7})) {
    max_file_opening_threads = 1;
    table_cache_numshardbits = 4;
  }
  return this;
}

Options* Options::PrepareForBulkLoad() {
  level0_file_num_compaction_trigger = 1 << 30;
  level0_slowdown_writes_trigger = 1 << 30;
  level0_stop_writes_trigger = 1 << 30;
  soft_pending_compaction_bytes_limit = 0;
  hard_pending_compaction_bytes_limit = 0;
  disable_auto_compactions = true;
  max_compaction_bytes = 1ull << 60;
  // One manual compaction moves everything to the last level.
  num_levels = 2;
  max_write_buffer_number = 6;
  min_write_buffer_number_to_merge = 1;
  max_background_flushes = 4;
  max_background_compactions = 2;
  target_file_size_base = 256 * 1024 * 1024;
  return this;
}

Options* Options::OptimizeForSmallDb() {
  std::shared_ptr<Cache> cache = NewLRUCache(16 << 20);
  ColumnFamilyOptions::OptimizeForSmallDb(&cache);
  DBOptions::OptimizeForSmallDb(&cache);
  return this;
}

Options* Options::DisableExtraChecks() {
  force_consistency_checks = false;
  return this;
}

Options* Options::OldDefaults(int rocksdb_major_version, int rocksdb_minor_version) {
  ColumnFamilyOptions::OldDefaults(rocksdb_major_version, rocksdb_minor_version);
  DBOptions::OldDefaults(rocksdb_major_version, rocksdb_minor_version);
  return this;
}

void DBOptions::Dump(Logger* log) const { WriteHeaderLines(PrintOptionsForLog(*this), log); }

void ColumnFamilyOptions::Dump(Logger* log) const {
  WriteHeaderLines(PrintOptionsForLog(*this), log);
}

void Options::Dump(Logger* log) const {
  DBOptions::Dump(log);
  ColumnFamilyOptions::Dump(log);
}

void Options::DumpCFOptions(Logger* log) const { ColumnFamilyOptions::Dump(log); }

}  // namespace ashlar
