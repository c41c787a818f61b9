// The prefixes of user keys: the one place that calls a SliceTransform.
//
//   KeyPrefix(transform, key)     the prefix, if the key has one
//   PrefixMemo                    the prefix of one key for many sources: extracted and hashed once
//
// Thread safety: KeyPrefix is a pure function; a PrefixMemo belongs to one thread.
#pragma once

#include <cstdint>
#include <optional>

#include "ashlar/slice.h"
#include "ashlar/slice_transform.h"
#include "base/xxph3.h"

namespace ashlar {

// Within the bytes of user_key. None: there is no transform, or the key is not in its domain.
inline std::optional<Slice> KeyPrefix(const SliceTransform* transform, const Slice& user_key) {
  if (transform == nullptr || !transform->InDomain(user_key)) return std::nullopt;
  return transform->Transform(user_key);
}

struct HashedPrefix {
  Slice bytes;
  uint64_t filter_hash = 0;  // of the prefix, in filters
};

// The last answer is kept: memtables and tables of one column family mostly share one transform.
class PrefixMemo {
 public:
  // To be called when the next Find is about another key.
  void Forget() {
    transform_ = nullptr;
    found_ = false;
  }

  // Null: the key has no prefix. The same user_key until Forget; its bytes, and the transform, stay
  // until then.
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
