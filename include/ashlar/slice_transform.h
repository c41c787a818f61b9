// SliceTransform: extracts the prefix of a key, for filters and memtables that work on prefixes.
//
// Requires, with the comparator of the column family:
//
//   a key begins with its prefix; the prefix of a prefix is that prefix
//   keys in the domain keep their order: if a <= b, then prefix(a) <= prefix(b)
//   a key between two keys with the same prefix is in the domain (and so has that prefix too)
//
// Thread safety: every method may be called by several threads at once. Must not throw.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"

namespace ashlar {

class ASHLAR_API SliceTransform : public Customizable {
 public:
  static const char* Type() { return "SliceTransform"; }

  // Creates one of the transforms below from its id ("rocksdb.FixedPrefix.8", "fixed:8",
  // "capped:8", "noop"; "nullptr" gives null). NotSupported: the id is unknown. InvalidArgument: it
  // is malformed.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& id,
                                 std::shared_ptr<const SliceTransform>* result);

  // The same transform has the same name in every process.
  const char* Name() const override = 0;
  // A prefix of `key`, within its bytes. Called only for keys in the domain.
  virtual Slice Transform(const Slice& key) const = 0;
  // Whether `key` has a prefix.
  virtual bool InDomain(const Slice& key) const = 0;
  // Text from which an OPTIONS file recreates the transform. It is stored in the tables and
  // identifies the transform that they were written with.
  std::string GetId() const override { return Name(); }
  std::string AsString() const { return GetId(); }
  // Returns true and sets *len = n if every key of at least n bytes has a prefix of n bytes and no
  // prefix is longer. ReadOptions::auto_prefix_mode can then use filters for more upper bounds.
  virtual bool FullLengthEnabled(size_t* /*len*/) const { return false; }
  // True if Transform returns the same result for every key that starts with `prefix`. For
  // programs; Ashlar does not call it.
  virtual bool SameResultWhenAppended(const Slice& /*prefix*/) const { return false; }
};

// The first `prefix_len` bytes; shorter keys have no prefix. The caller owns the result, here and
// below.
ASHLAR_API const SliceTransform* NewFixedPrefixTransform(size_t prefix_len);
// The first min(cap_len, size) bytes; every key has a prefix.
ASHLAR_API const SliceTransform* NewCappedPrefixTransform(size_t cap_len);
// The whole key.
ASHLAR_API const SliceTransform* NewNoopTransform();

}  // namespace ashlar
