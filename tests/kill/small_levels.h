// Options of a database so small that flushes and compactions run all the time.
#pragma once

#include "ashlar/merge_operator.h"
#include "ashlar/options.h"

namespace ashlar {

inline Options SmallLevels() {
  Options options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.merge_operator = MergeOperators::CreateStringAppendOperator(',');
  options.write_buffer_size = 64 << 10;
  options.target_file_size_base = 32 << 10;
  options.max_bytes_for_level_base = 128 << 10;
  options.level0_file_num_compaction_trigger = 2;
  options.max_background_jobs = 3;
  return options;
}

}  // namespace ashlar
