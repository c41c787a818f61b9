// SliceTransform: takes the prefix of a key, for filters and memtables that work on prefixes.
//
// Thread safety: every method may be called by several threads at once. Must not throw.
#pragma once

#include <cstddef>
#include <string>

#include "ashlar/export.h"
#include "ashlar/slice.h"

namespace ashlar {

class ASHLAR_API SliceTransform {
 public:
  virtual ~SliceTransform() = default;

  // Stored with the tables; the same transform has the same name in every process.
  virtual const char* Name() const = 0;
  // A prefix of `key`, within its bytes. Called only for keys in the domain.
  virtual Slice Transform(const Slice& key) const = 0;
  // Whether `key` has a prefix.
  virtual bool InDomain(const Slice& key) const = 0;
  // Text from which an OPTIONS file makes the transform again.
  virtual std::string GetId() const { return Name(); }
};

// The first `prefix_len` bytes; shorter keys have no prefix. The caller owns the result, here and below.
ASHLAR_API const SliceTransform* NewFixedPrefixTransform(size_t prefix_len);
// The first min(cap_len, size) bytes; every key has a prefix.
ASHLAR_API const SliceTransform* NewCappedPrefixTransform(size_t cap_len);
// The whole key.
ASHLAR_API const SliceTransform* NewNoopTransform();

}  // namespace ashlar
