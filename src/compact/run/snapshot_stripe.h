// The stripes into which snapshots divide the sequence numbers. compaction_iterator.h shows them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "key/internal_key.h"

namespace ashlar {

// Requires: snapshots ascend.
inline size_t StripeOf(std::span<const SequenceNumber> snapshots, SequenceNumber sequence) {
  if (snapshots.empty() || sequence > snapshots.back()) return snapshots.size();
  return static_cast<size_t>(std::lower_bound(snapshots.begin(), snapshots.end(), sequence) -
                             snapshots.begin());
}

}  // namespace ashlar
