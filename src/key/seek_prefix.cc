#include "key/seek_prefix.h"

namespace ashlar {

bool BoundKeepsPrefix(const SliceTransform& transform, const Slice& prefix,
                      const Slice& upper_bound) {
  if (KeyPrefix(&transform, upper_bound) == prefix) return true;
  size_t full_bytes = 0;
  if (!transform.FullLengthEnabled(&full_bytes) || prefix.size() != full_bytes) return false;
  // The keys of a prefix of full length are those that begin with it. Behind them all comes the
  // prefix with its last byte that can grow grown by one, and cut off there: what RocksDB takes
  // instead, the next string of the same length, has shorter keys before it that do not begin with
  // the prefix.
  std::string behind = prefix.ToString();
  while (!behind.empty() && behind.back() == '\xff') behind.pop_back();
  if (behind.empty()) return true;
  behind.back() = static_cast<char>(static_cast<uint8_t>(behind.back()) + 1);
  return upper_bound.compare(behind) <= 0;
}

}  // namespace ashlar
