// Iterator: iterates over the keys of a column family in order, in both directions. It shows the
// state of the database at its creation or at ReadOptions::snapshot and, with ReadOptions::tailing,
// later states too.
//
// An iterator is valid at an entry. It is not valid before the first entry, after the last one, or
// after an error. Only status() distinguishes the end from an error, so check it when Valid()
// becomes false. Thread safety: one thread at a time. Lifetime: while it exists, Close returns
// Aborted; after the DB is deleted it stays valid. It keeps alive the tables and memtables that it
// reads.
#pragma once

#include <string>

#include "ashlar/cleanable.h"
#include "ashlar/export.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"

namespace ashlar {

class Snapshot;

class ASHLAR_API Iterator : public Cleanable {
 public:
  Iterator() = default;
  virtual ~Iterator() = default;
  Iterator(const Iterator&) = delete;
  Iterator& operator=(const Iterator&) = delete;

  virtual bool Valid() const = 0;

  // Each of these clears an earlier error.
  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  // Moves to the first entry at or after target, which may be in key() or value().
  virtual void Seek(const Slice& target) = 0;
  // Moves to the last entry at or before target, which may be in key() or value().
  virtual void SeekForPrev(const Slice& target) = 0;

  // REQUIRES: Valid().
  virtual void Next() = 0;
  virtual void Prev() = 0;

  // The bytes stay valid until the iterator moves, is refreshed or destroyed. ReadOptions::pin_data
  // does not extend this: the properties "rocksdb.iterator.is-key-pinned" and "...is-value-pinned"
  // of a valid iterator of a database are always "0". Use PinValue instead. REQUIRES: Valid().
  virtual Slice key() const = 0;
  virtual Slice value() const = 0;

  // Does nothing: values are always prepared, also for programs that set
  // ReadOptions::allow_unprepared_value. REQUIRES: Valid().
  virtual bool PrepareValue() { return true; }

  // Makes *value refer to the current value, valid beyond the iterator's next move. No copy is made
  // if the bytes are in a cached block, a mapped file or a memtable. *value must be empty (new or
  // Reset). REQUIRES: Valid().
  virtual void PinValue(PinnableSlice* value) const { value->PinSelf(this->value()); }

  // Ok, or the error that stopped the iterator.
  virtual Status status() const = 0;

  // Makes the iterator show the newest state of the database, or that of `snapshot`. It is not
  // valid afterwards, so seek. Cheaper than a new iterator.
  virtual Status Refresh() { return Refresh(nullptr); }
  virtual Status Refresh(const Snapshot* snapshot);

  // Properties: "rocksdb.iterator.is-key-pinned", "rocksdb.iterator.is-value-pinned",
  // "rocksdb.iterator.super-version-number", "rocksdb.iterator.write-time" (8 bytes of 0xff: it is
  // not known), "rocksdb.iterator.internal-key": the user key of the current entry or, if there is
  // none, of the entry where the last move stopped. A Seek (SeekForPrev) to that key continues
  // after ReadOptions::max_skippable_internal_keys. InvalidArgument: the name is unknown.
  virtual Status GetProperty(std::string prop_name, std::string* prop);
};

// An empty iterator; the second form has this status. The caller owns the result.
ASHLAR_API Iterator* NewEmptyIterator();
ASHLAR_API Iterator* NewErrorIterator(const Status& status);

}  // namespace ashlar
