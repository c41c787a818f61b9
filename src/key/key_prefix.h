// The prefixes of user keys. Only this file extracts prefixes with a SliceTransform.
//
//   KeyPrefix(transform, key)     the prefix, if the key has one
//   PrefixMemo                    the prefix of one key, extracted and hashed once for many sources
//
// Thread safety: KeyPrefix is a pure function; a PrefixMemo belongs to one thread.
#pragma once

#include <cstdint>
#include <optional>

#include "ashlar/slice.h"
#include "ashlar/slice_transform.h"
#include "base/xxph3.h"

namespace ashlar {

// The prefix, in the bytes of user_key. None if transform is null or the key is not in its domain.
inline std::optional<Slice> KeyPrefix(const SliceTransform* transform, const Slice& user_key) {
  if (transform == nullptr || !transform->InDomain(user_key)) return std::nullopt;
  return transform->Transform(user_key);
}

struct HashedPrefix {
  Slice bytes;
  uint64_t filter_hash = 0;  // the hash of the prefix in filters
};

// Keeps the last answer, because the sources of a column family usually share one transform.
class PrefixMemo {
 public:
  // Call it before a Find for another key.
  void Forget() {
    transform_ = nullptr;
    found_ = false;
  }

  // Returns null if the key has no prefix. Requires: all calls until Forget have the same user_key,
  // and its bytes and the transform stay valid until then.
  const HashedPrefix* Find(const SliceTransform* transform, const Slice& user_key) {
    if (transform != transform_) [[unlikely]] {
      Take(transform, user_key);
    }
    return found_ ? &prefix_ : nullptr;
  }

 private:
  void Take(const SliceTransform* transform, const Slice& user_key) {
    transform_ = transform;
    const std::optional<Slice> prefix = KeyPrefix(transform, user_key);
    found_ = prefix.has_value();
    if (found_) prefix_ = {.bytes = *prefix, .filter_hash = Xxph3Hash64(*prefix)};
  }

  const SliceTransform* transform_ = nullptr;  // of the other members; null: none yet
  bool found_ = false;
  HashedPrefix prefix_;
};

}  // namespace ashlar
