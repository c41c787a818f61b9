// CompactionConfig: the options of all compaction styles, resolved: plain numbers.
//
// A value. The engine builds it from the options, again after SetOptions.
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
  // max_read_amp; -1: the trigger; 0: as many as the size ratio leaves, but fewer than slow writers
  // down or stop them
  int runs_max = -1;
  uint64_t flushed_bytes = uint64_t{64} << 20;  // of a new run, about
};

struct FifoConfig {
  uint64_t table_bytes_max = uint64_t{1} << 30;
  uint64_t ttl_seconds = 0;  // 0: off
  bool may_compact = false;  // small files of level 0 are merged
  // Bytes that a merge writes for each file less, at most; larger files stay as they are.
  uint64_t merged_file_bytes_max = uint64_t{64} << 20;
};

struct CompactionConfig {
  CompactionStyle style = kCompactionStyleLevel;
  LeveledConfig common = {};  // of every style
  UniversalConfig universal = {};
  FifoConfig fifo = {};
};

}  // namespace ashlar
