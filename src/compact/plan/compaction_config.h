// CompactionConfig: the options of all compaction styles, resolved to plain numbers.
//
// A value type. The engine builds it from the options, and rebuilds it after SetOptions.
#pragma once

#include <climits>
#include <cstdint>

#include "ashlar/options.h"
#include "compact/plan/leveled_config.h"

namespace ashlar {

struct UniversalConfig {
  uint32_t size_ratio_percent = 1;
  uint32_t merge_width_min = 2;
  uint32_t merge_width_max = UINT_MAX;
  uint32_t size_amplification_percent_max = 200;
  int compression_size_percent = -1;   // negative: all outputs are compressed
  bool stops_at_similar_size = false;  // kCompactionStopStyleSimilarSize
  bool may_move = false;               // allow_trivial_move
  bool incremental = false;
  // max_read_amp. -1: the trigger. 0: as many runs as the size ratio leaves, but fewer than the
  // number that slows down or stops writers.
  int runs_max = -1;
  uint64_t flushed_bytes = uint64_t{64} << 20;  // approximate size of a new run
};

struct FifoConfig {
  uint64_t table_bytes_max = uint64_t{1} << 30;
  uint64_t ttl_seconds = 0;  // 0: off
  bool may_compact = false;  // small files of level 0 are merged
  // The most bytes that a merge may write per file removed. No merge starts at a larger file.
  uint64_t merged_file_bytes_max = uint64_t{64} << 20;
};

struct CompactionConfig {
  CompactionStyle style = kCompactionStyleLevel;
  LeveledConfig common = {};  // options common to all styles
  UniversalConfig universal = {};
  FifoConfig fifo = {};
};

}  // namespace ashlar
