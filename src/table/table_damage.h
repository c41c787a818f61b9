// TableDamage: the parts of a table that a reading without the damaged ones leaves out.
//
// Thread safety: a value.
#pragma once

#include <cstdint>

#include "ashlar/status.h"

namespace ashlar {

struct TableDamage {
  Status first;              // Ok: the table is intact
  uint64_t lost_blocks = 0;  // of entries; a damaged part of a two-level index counts as one
  bool lost_ranges = false;  // the range tombstones
  void Note(const Status& status) {
    if (first.ok()) first = status;
  }
};

}  // namespace ashlar
