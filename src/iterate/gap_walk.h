// GapWalk: when an iteration over deleted keys looks for known gaps, and when it is remembered as
// one (docs/range-deletions.md). For the cursors of this folder.
#pragma once

#include <cstdint>

namespace ashlar {

// Numbers of deleted keys, or covered entries, in one move of a cursor. MemTable::FindGap takes a
// mutex, so it is called at the 4th key and then after each 16 more that are in no gap. Fewer than
// 48 keys are not remembered as a gap.
struct GapWalk {
  static constexpr uint64_t kFirstCheck = 4;
  static constexpr uint64_t kCheckInterval = 16;
  static constexpr uint64_t kRememberedMin = 48;
};

}  // namespace ashlar
