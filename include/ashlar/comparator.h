// Comparator: the order of the keys of a column family.
//
// A database stores the comparator's name and cannot be opened with another one, because the order
// of keys is part of the format on disk. Change the name whenever the order changes. A comparator
// should neither block nor take long: while a read calls it, the database frees no retired memory.
// It must not call the database, because the database also compares keys while it holds locks.
// Thread safety: every method may be called by several threads at once. Lifetime: a comparator
// outlives every database that uses it.
#pragma once

#include <string>

#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/slice.h"

namespace ashlar {

class ASHLAR_API Comparator : public Customizable {
 public:
  static const char* Type() { return "Comparator"; }

  // Stored in every table and in the MANIFEST. Names that begin with "leveldb." or "rocksdb." are
  // reserved.
  const char* Name() const override = 0;

  // Returns < 0, 0 or > 0 if a sorts before, with or after b. A total order, the same in every
  // process that opens the database; must not throw.
  virtual int Compare(const Slice& a, const Slice& b) const = 0;

  // Whether Compare(a, b) == 0. Override it if equality is cheaper to decide than order.
  virtual bool Equal(const Slice& a, const Slice& b) const { return Compare(a, b) == 0; }

  // May shorten *start to a string in [*start, limit). Requires: *start sorts before `limit`. Doing
  // nothing is correct; a shorter string makes indexes smaller.
  virtual void FindShortestSeparator(std::string* start, const Slice& limit) const = 0;

  // May replace *key by a shorter string that sorts at or after it. Doing nothing is correct.
  virtual void FindShortSuccessor(std::string* key) const = 0;

  // Whether two keys with different bytes can compare equal. If so, hashed indexes are not used. A
  // FilterPolicy is used in either case, and a filter hashes the bytes of a key. A comparator that
  // ignores some bytes must therefore be used without a filter.
  virtual bool CanKeysWithDifferentByteContentsBeEqual() const { return true; }
};

// Order keys as strings of unsigned bytes, ascending and descending. Both live as long as the
// process. The engine recognises them by address and compares their keys without a virtual call.
ASHLAR_API const Comparator* BytewiseComparator();
ASHLAR_API const Comparator* ReverseBytewiseComparator();

}  // namespace ashlar
