#include "tests/support/option_shapes.h"

#include <memory>

#include "ashlar/cache.h"
#include "ashlar/compaction_filter.h"
#include "ashlar/filter_policy.h"
#include "ashlar/slice_transform.h"

namespace ashlar {

namespace {

constexpr size_t kCacheBytes = 64 << 10;

class KeepAll final : public CompactionFilter {
 public:
  const char* Name() const override { return "KeepAll"; }
};
class KeepAllFactory final : public CompactionFilterFactory {
 public:
  bool ShouldFilterTableFileCreation(TableFileCreationReason /*reason*/) const override {
    return true;
  }
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& /*context*/) override {
    return std::make_unique<KeepAll>();
  }
  const char* Name() const override { return "KeepAllFactory"; }
};

}  // namespace

void SetTinyLevels(Options* options) {
  options->target_file_size_base = 16 << 10;
  options->max_bytes_for_level_base = 64 << 10;
  options->max_bytes_for_level_multiplier = 4;
  options->level0_file_num_compaction_trigger = 2;
}

BlockBasedTableOptions SmallBlocks(size_t cache_bytes) {
  BlockBasedTableOptions table;
  table.block_size = 512;
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  table.block_cache = NewLRUCache(cache_bytes);
  return table;
}

void SetUniversal(Options* options) {
  SetTinyLevels(options);
  options->compaction_style = kCompactionStyleUniversal;
  options->max_background_jobs = 4;
  options->max_subcompactions = 3;
}

void SetUniversalInParts(Options* options) {
  SetUniversal(options);
  options->compaction_options_universal.incremental = true;
  options->compaction_options_universal.allow_trivial_move = true;
  options->max_compaction_bytes = 64 << 10;
}

void SetFifoWithoutDrops(Options* options) {
  options->compaction_style = kCompactionStyleFIFO;
  options->compaction_options_fifo.allow_compaction = true;
}

void SetFilterThatKeepsAll(Options* options) {
  SetTinyLevels(options);
  options->compaction_filter_factory = std::make_shared<KeepAllFactory>();
}

void SetPartitionsAndRibbonFilters(Options* options) {
  SetTinyLevels(options);
  BlockBasedTableOptions table = SmallBlocks(kCacheBytes);
  table.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.partition_filters = true;
  table.metadata_block_size = 256;
  table.filter_policy.reset(NewRibbonFilterPolicy(10, 1));
  options->table_factory.reset(NewBlockBasedTableFactory(table));
}

void SetHashIndexesAndTrainedDictionaries(Options* options) {
  SetTinyLevels(options);
  BlockBasedTableOptions table = SmallBlocks(kCacheBytes);
  table.index_type = BlockBasedTableOptions::kHashSearch;
  table.data_block_index_type = BlockBasedTableOptions::kDataBlockBinaryAndHash;
  options->prefix_extractor.reset(NewNoopTransform());
  options->prefix_seek_opt_in_only = true;  // the iterators of the suites use total order
  options->table_factory.reset(NewBlockBasedTableFactory(table));
  options->compression = kZSTD;
  options->compression_opts.max_dict_bytes = 1024;
  options->compression_opts.zstd_max_train_bytes = 16 << 10;
}

void SetAlignedBlocksAndFirstKeys(Options* options) {
  SetTinyLevels(options);
  options->compression = kNoCompression;
  BlockBasedTableOptions table = SmallBlocks(kCacheBytes);
  table.index_type = BlockBasedTableOptions::kBinarySearchWithFirstKey;
  table.block_align = true;
  options->table_factory.reset(NewBlockBasedTableFactory(table));
}

}  // namespace ashlar
