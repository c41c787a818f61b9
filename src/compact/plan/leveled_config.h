// LeveledConfig: the options of the leveled pickers as plain numbers. 0 never means "derive it".
//
// A value type. The engine builds it from the options, rebuilds it after SetOptions, and passes it
// to the pure functions of this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "ashlar/compression_type.h"
#include "ashlar/options.h"
#include "manifest/version_edit.h"

namespace ashlar {

struct LeveledConfig {
  Level num_levels = 7;
  bool disable_auto_compactions = false;

  int level0_file_num_compaction_trigger = 4;
  int level0_slowdown_writes_trigger = 20;
  int level0_stop_writes_trigger = 36;
  // The most level-0 files, or runs, that a tree may have while no compaction is due.
  int level0_files_at_rest_max = 0;

  uint64_t max_bytes_for_level_base = uint64_t{256} << 20;
  double max_bytes_for_level_multiplier = 10;
  // [level]; missing entries are 1; static level sizes only.
  std::vector<int> max_bytes_for_level_multiplier_additional;
  bool level_compaction_dynamic_level_bytes = false;

  uint64_t target_file_size_base = uint64_t{64} << 20;
  int target_file_size_multiplier = 1;
  uint64_t max_compaction_bytes = uint64_t{25} * (uint64_t{64} << 20);
  // A merge within level 0 makes one table, or several if it has more bytes than this.
  uint64_t level0_file_bytes_max = UINT64_MAX;

  uint64_t soft_pending_compaction_bytes_limit = uint64_t{64} << 30;  // 0: none
  uint64_t hard_pending_compaction_bytes_limit = uint64_t{256} << 30;
  // Bytes per second. A slowdown starts with this rate and never exceeds it.
  uint64_t delayed_write_rate = uint64_t{16} << 20;
  int max_write_buffer_number = 2;
  int min_write_buffer_number_to_merge = 1;

  CompactionPri compaction_pri = kMinOverlappingRatio;
  uint32_t max_subcompactions = 1;
  bool has_filter = false;   // a compaction filter makes manual compactions rewrite, not move
  uint64_t ttl_seconds = 0;  // 0: off
  uint64_t periodic_compaction_seconds = 0;  // 0: off

  CompressionType compression = kNoCompression;
  std::vector<CompressionType> compression_per_level;  // empty: `compression` everywhere
  // kDisableCompressionOption: as for the other levels.
  CompressionType bottommost_compression = kDisableCompressionOption;
};

}  // namespace ashlar
