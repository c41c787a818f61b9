// SeekPrefix: the prefix of a seek, for the sources of one iterator. A source whose filter has no
// key of that prefix is not read.
//
//   the iterator   Begin(key) ──> cursor->Seek(key) ──> each source: Find(its transform)
//                                                       ──> prefix and hash; null: read the source
//
//   scope          a source may be skipped if its filter lacks the key's prefix and
//   kPrefix        its transform is the family's, or the condition of kTotalOrder is true
//   kTotalOrder    the seek is forward in bytewise order, and all keys from the sought one to the
//                  upper bound have its prefix
//
// The prefix is extracted and hashed once per seek, for all sources. The scope belongs to the seek.
// SeekToFirst and the moves after it are in total order in every mode.
//
// I1: Find answers for the key of the last Begin.
// Lifetime: the iterator and its cursors share one. The transform, the bound and the key's bytes
// outlive their use. Thread safety: one thread.
#pragma once

#include <string>

#include "ashlar/slice.h"
#include "ashlar/slice_transform.h"
#include "key/cursor.h"
#include "key/key_comparator.h"
#include "key/key_prefix.h"

namespace ashlar {

// Returns true if, in bytewise order, every key from one with this prefix up to the bound
// (exclusive) also has the prefix.
bool BoundKeepsPrefix(const SliceTransform& transform, const Slice& prefix,
                      const Slice& upper_bound);

class SeekPrefix {
 public:
  struct Args {
    KeyComparator comparator;
    const SliceTransform* transform = nullptr;  // the column family's, not null
    const Slice* upper_bound = nullptr;         // null: none
    SeekScope scope_max = SeekScope::kPrefix;   // kTotalOrder: no other scope
  };

  explicit SeekPrefix(const Args& args) : args_(args) {}

  // Sets the scope of the following seeks.
  void SetScope(SeekScope scope) {
    scope_ = args_.scope_max == SeekScope::kPrefix ? scope : SeekScope::kTotalOrder;
  }
  // Call before a Seek (forward) or a SeekForPrev for user_key.
  void Begin(const Slice& user_key, bool forward) {
    user_key_ = user_key;
    forward_ = forward;
    memo_.Forget();
    bounded_for_ = nullptr;
  }

  bool forward() const { return forward_; }

  // Returns the prefix to look for in a filter over prefixes of `transform`. Returns null if the
  // filter cannot rule out its source.
  const HashedPrefix* Find(const SliceTransform* transform) {
    const HashedPrefix* const prefix = memo_.Find(transform, user_key_);
    if (prefix == nullptr || (scope_ == SeekScope::kPrefix && transform == args_.transform))
      return prefix;
    return IsBounded(*transform, *prefix) ? prefix : nullptr;
  }
  // Whether the seek is only for keys with the sought key's prefix, and user_key does not have it.
  bool IsOutside(const Slice& user_key) {
    if (scope_ != SeekScope::kPrefix) return false;
    const HashedPrefix* const wanted = memo_.Find(args_.transform, user_key_);
    return wanted != nullptr && KeyPrefix(args_.transform, user_key) != wanted->bytes;
  }

 private:
  bool IsBounded(const SliceTransform& transform, const HashedPrefix& prefix) {
    if (!forward_ || args_.upper_bound == nullptr ||
        args_.comparator.kind() != KeyComparator::Kind::kBytewise)
      return false;
    if (bounded_for_ != &transform) {
      bounded_for_ = &transform;
      bounded_ = BoundKeepsPrefix(transform, prefix.bytes, *args_.upper_bound);
    }
    return bounded_;
  }

  const Args args_;
  SeekScope scope_ = SeekScope::kTotalOrder;
  Slice user_key_;
  bool forward_ = true;
  PrefixMemo memo_;
  const SliceTransform* bounded_for_ = nullptr;  // the transform of bounded_; null: none yet
  bool bounded_ = false;
};

}  // namespace ashlar
