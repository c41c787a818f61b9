// CoverInterval: keys for which a search in a set of range tombstones has one answer.
//
// Thread safety: a value. Lifetime: the bytes of the keys belong to the set that was searched.
#pragma once

#include <optional>

#include "ashlar/slice.h"
#include "key/internal_key.h"

namespace ashlar {

struct CoverInterval {
  std::optional<Slice> begin;   // user key, inclusive; none: from the first key on
  std::optional<Slice> end;     // user key, exclusive; none: to the last key
  SequenceNumber sequence = 0;  // of the newest visible tombstone that covers these keys; 0: none
};

}  // namespace ashlar
