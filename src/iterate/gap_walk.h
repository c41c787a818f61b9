// GapWalk: when a walk over deleted keys asks for known gaps, and becomes one
// (docs/range-deletions.md). For the cursors of this folder.
#pragma once

#include <cstdint>

namespace ashlar {

// Of deleted keys, or covered entries, in one move of a cursor. MemTable::FindGap is called at the
// 4th, and after each 16 more that are in no gap, because it takes a mutex. Fewer than 48 are not
// remembered.
struct GapWalk {
  static constexpr uint64_t kFirstCheck = 4;
  static constexpr uint64_t kCheckInterval = 16;
  static constexpr uint64_t kRememberedMin = 48;
};

}  // namespace ashlar
