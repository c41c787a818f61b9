#include "key/seek_prefix.h"

namespace ashlar {

bool BoundKeepsPrefix(const SliceTransform& transform, const Slice& prefix,
                      const Slice& upper_bound) {
  if (KeyPrefix(&transform, upper_bound) == prefix) return true;
  size_t full_bytes = 0;
  if (!transform.FullLengthEnabled(&full_bytes) || prefix.size() != full_bytes) return false;
  // Keys with a full-length prefix begin with it. The first string after all of them is the prefix,
  // cut after its last byte below 0xff, with that byte raised by one. RocksDB uses the next string
  // of the same length, but shorter keys without the prefix may sort before that string.
  std::string behind = prefix.ToString();
  while (!behind.empty() && behind.back() == '\xff') behind.pop_back();
  if (behind.empty()) return true;
  behind.back() = static_cast<char>(static_cast<uint8_t>(behind.back()) + 1);
  return upper_bound.compare(behind) <= 0;
}

}  // namespace ashlar
