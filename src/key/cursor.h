// InternalCursor: a walk over internal keys in order, the one shape that memtables, tables, levels and merges share.
//
// The current entry is plain data in the base class, so that reading it costs no call; only moving is virtual, and a final class moved through its
// own type costs none either.
//
// I1: Valid() implies key().size() >= kTagBytes.
// I2: key() and value() stay valid until the next move of this cursor; value_owner() can pin the value for longer.
// I3: a cursor that meets an error becomes invalid and stays so until the next Seek*; status() then says why. An invalid cursor with Ok has passed
//     the end.
// Lifetime: a cursor holds what it needs of its source (a count on memtable, table or view) unless its creator documents otherwise.
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <memory>

#include "ashlar/status.h"
#include "base/pin.h"
#include "key/internal_key.h"

namespace ashlar {

// What a caller will look at after a Seek: key/seek_prefix.h tells the cursors.
enum class SeekScope : uint8_t {
  kTotalOrder,  // any entry; the order is that of all keys
  kPrefix,      // only entries whose keys share the target's prefix: a source that knows there are none may say that it has ended
};

class InternalCursor {
 public:
  InternalCursor() = default;
  InternalCursor(const InternalCursor&) = delete;
  InternalCursor& operator=(const InternalCursor&) = delete;
  virtual ~InternalCursor() = default;

  bool Valid() const { return valid_; }
  const Slice& key() const { return key_; }  // internal key
  const Slice& value() const { return value_; }

  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  // The first entry at or after the internal key; the last entry at or before it.
  virtual void Seek(const Slice& internal_target) = 0;
  virtual void SeekForPrev(const Slice& internal_target) = 0;
  // Precondition: Valid().
  virtual void Next() = 0;
  virtual void Prev() = 0;

  virtual Status status() const = 0;
  // Owner of value()'s bytes. Precondition: Valid().
  virtual PinSource value_owner() const = 0;

 protected:
  bool valid_ = false;
  Slice key_;
  Slice value_;
};

}  // namespace ashlar
