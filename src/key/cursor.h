// InternalCursor: a walk over internal keys in order, the one shape that memtables, tables, levels
// and merges share.
//
// A cursor stands in a batch of entries that lie decoded side by side. Stepping inside it is a
// pointer's step, known here and to every caller; only leaving it is virtual, and reading the
// current entry costs no call. How long batches are is the cursor's own affair: a memtable shows
// one entry at a time, a table what it decodes at once, a merge what it merges at once.
//
//   batch   [ entry | entry | entry | entry )          Next: at < end - 1 ? ++at : MoveNext()
//             begin           at              end        Prev: at > begin   ? --at : MovePrev()
//
// I1: Valid() implies that every entry of the batch has key.size() >= kTagBytes.
// I2: key() and value() of every entry of the batch stay valid until the cursor leaves it, and
//     until its next seek; OwnerOf can pin a value for longer.
// I3: a cursor that meets an error becomes invalid and stays so until the next Seek*; status() then
//     says why. An invalid cursor with Ok has passed the end.
//
// A virtual step per entry was rejected: each layer above a table added 40 to 60 instructions to an
// entry that costs 50 to decode.
//
// Lifetime: a cursor holds what it needs of its source (a count on memtable, table or view) unless
// its creator documents otherwise. Thread safety: one thread.
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
  // only entries whose keys share the target's prefix: a source that knows there are none may say
  // that it has ended
  kPrefix,
};

// The stages of a seek in a source with an index: InternalCursor::StagedSeek.
enum class SeekStage : uint8_t {
  kGroup,  // finds the part of the index that decides
  kBlock,  // finds the block
  kEntry,  // finds the entry in the block
  kShow,   // shows the entry
};
// Requires: stage is not the last one.
constexpr SeekStage NextStage(SeekStage stage) {
  return static_cast<SeekStage>(static_cast<uint8_t>(stage) + 1);
}

struct CursorEntry {
  Slice key;  // internal key
  Slice value;
};

class InternalCursor {
 public:
  InternalCursor() = default;
  InternalCursor(const InternalCursor&) = delete;
  InternalCursor& operator=(const InternalCursor&) = delete;
  virtual ~InternalCursor() = default;

  bool Valid() const { return at_ != nullptr; }
  // Precondition of the rest but the seeks and status(): Valid().
  const CursorEntry& entry() const { return *at_; }
  const Slice& key() const { return at_->key; }  // internal key
  const Slice& value() const { return at_->value; }
  // The entry that a step leads to, if it is in the batch; else null.
  const CursorEntry* after() const { return at_ + 1 != end_ ? at_ + 1 : nullptr; }
  const CursorEntry* before() const { return at_ != begin_ ? at_ - 1 : nullptr; }
  const CursorEntry* batch_begin() const { return begin_; }
  const CursorEntry* batch_end() const { return end_; }

  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  // The first entry at or after the internal key; the last entry at or before it.
  virtual void Seek(const Slice& internal_target) = 0;
  virtual void SeekForPrev(const Slice& internal_target) = 0;
  // Seek in stages, from kGroup on in the order of the enum, until one returns false. Nothing else
  // is called in between. Each stage prefetches what the next one reads: a caller with several
  // cursors runs one stage with each in turn, so that their cache misses overlap.
  virtual bool StagedSeek(const Slice& internal_target, SeekStage /*stage*/) {
    Seek(internal_target);
    return false;
  }
  void Next() {
    if (at_ + 1 != end_) [[likely]] {
      ++at_;
    } else {
      MoveNext();
    }
  }
  void Prev() {
    if (at_ != begin_) [[likely]] {
      --at_;
    } else {
      MovePrev();
    }
  }

  virtual Status status() const = 0;
  // Owner of the value's bytes of an entry of the batch.
  virtual PinSource OwnerOf(const CursorEntry& entry) const = 0;
  PinSource value_owner() const { return OwnerOf(*at_); }

 protected:
  // From the last entry of the batch to the one behind it; from the first to the one before it.
  virtual void MoveNext() = 0;
  virtual void MovePrev() = 0;

  // One entry, in a batch of its own.
  void ShowOne(const Slice& key, const Slice& value) {
    own_ = {key, value};
    ShowBatch(&own_, &own_, &own_ + 1);
  }
  void ShowBatch(const CursorEntry* begin, const CursorEntry* at, const CursorEntry* end) {
    begin_ = begin;
    at_ = at;
    end_ = end;
  }
  void Hide() { ShowBatch(nullptr, nullptr, nullptr); }
  // Stands in the batch of another cursor, at the same place.
  static void StandAs(InternalCursor* cursor, const InternalCursor& other) {
    cursor->ShowBatch(other.begin_, other.at_, other.end_);
  }
  // Stands at another entry of its batch: of a cursor whose batch somebody has walked over.
  static void StandAt(InternalCursor* cursor, const CursorEntry* entry) { cursor->at_ = entry; }

 private:
  const CursorEntry* at_ = nullptr;  // null: not valid
  const CursorEntry* begin_ = nullptr;
  const CursorEntry* end_ = nullptr;
  CursorEntry own_;
};

}  // namespace ashlar
