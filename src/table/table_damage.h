// TableDamage: the damaged parts of a table that a tolerant read leaves out.
//
// Thread safety: a value.
#pragma once

#include <cstdint>

#include "ashlar/status.h"

namespace ashlar {

struct TableDamage {
  Status first;              // Ok: the table is intact
  uint64_t lost_blocks = 0;  // data blocks; a damaged partition of a two-level index counts as one
  bool lost_ranges = false;  // the range tombstones are left out
  void Note(const Status& status) {
    if (first.ok()) first = status;
  }
};

}  // namespace ashlar
