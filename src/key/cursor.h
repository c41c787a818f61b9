// InternalCursor: a cursor over internal keys in order, for memtables, tables, levels and merges.
//
// A cursor is positioned in a batch of decoded entries. A step inside the batch advances a pointer
// and is inlined everywhere. Only a step out of the batch is a virtual call. Each kind of cursor
// decides how long its batches are. A memtable shows one entry at a time, a table the entries that
// it decodes together, and a merge the entries that it merges together.
//
//   batch   [ entry | entry | entry | entry )          Next: at < end - 1 ? ++at : MoveNext()
//             begin           at              end        Prev: at > begin   ? --at : MovePrev()
//
// I1: Valid() implies that every entry of the batch has key.size() >= kTagBytes.
// I2: key() and value() of every entry of the batch stay valid until the cursor leaves the batch or
//     seeks. OwnerOf can pin a value for longer.
// I3: after an error, a cursor is invalid until the next Seek* and status() is the error. An
//     invalid cursor whose status is Ok is past the end.
//
// A virtual step per entry was rejected, because each layer above a table added 40 to 60
// instructions to an entry that costs 50 to decode.
//
// Lifetime: a cursor holds counts on its sources (memtable, table or view) unless its creator
// documents otherwise. Thread safety: one thread.
#pragma once

#include <cstdint>
#include <memory>

#include "ashlar/status.h"
#include "base/assert.h"
#include "base/pin.h"
#include "key/internal_key.h"

namespace ashlar {

// The keys that a caller reads after a seek. Cursors get the scope through key/seek_prefix.h.
enum class SeekScope : uint8_t {
  kTotalOrder,  // any entry, in the order of all keys
  // only keys that share the target's prefix; a source without such keys may be invalid
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
  // All functions except the seeks and status() require Valid().
  const CursorEntry& entry() const { return *at_; }
  const Slice& key() const { return at_->key; }  // internal key
  const Slice& value() const { return at_->value; }
  // The entry that a step leads to, or null if it is not in the batch.
  const CursorEntry* after() const { return at_ + 1 != end_ ? at_ + 1 : nullptr; }
  const CursorEntry* before() const { return at_ != begin_ ? at_ - 1 : nullptr; }
  const CursorEntry* batch_begin() const { return begin_; }
  const CursorEntry* batch_end() const { return end_; }

  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  // Seek: the first entry at or after the internal key. SeekForPrev: the last one at or before it.
  virtual void Seek(const Slice& internal_target) = 0;
  virtual void SeekForPrev(const Slice& internal_target) = 0;
  // One stage of a Seek. Call the stages in the order of the enum until one returns false, and no
  // other function in between. Each stage prefetches the memory that the next one reads. With
  // several cursors, run a stage of each in turn, so that their cache misses overlap.
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
  // The owner of the value's bytes of an entry of the batch.
  virtual PinSource OwnerOf(const CursorEntry& entry) const = 0;
  PinSource value_owner() const { return OwnerOf(*at_); }

 protected:
  // MoveNext steps past the last entry of the batch, MovePrev before the first one.
  virtual void MoveNext() = 0;
  virtual void MovePrev() = 0;

  // Shows one entry, as a batch of its own.
  void ShowOne(const Slice& key, const Slice& value) {
    own_ = {key, value};
    ShowBatch(&own_, &own_, &own_ + 1);
  }
  void ShowBatch(const CursorEntry* begin, const CursorEntry* at, const CursorEntry* end) {
    ASHLAR_DCHECK(at == nullptr || (begin <= at && at < end && at->key.size() >= kTagBytes));  // I1
    begin_ = begin;
    at_ = at;
    end_ = end;
  }
  void Hide() { ShowBatch(nullptr, nullptr, nullptr); }
  // Takes over another cursor's batch and position.
  static void StandAs(InternalCursor* cursor, const InternalCursor& other) {
    cursor->ShowBatch(other.begin_, other.at_, other.end_);
  }
  // Moves a cursor to another entry of its batch, after a caller stepped through the batch itself.
  static void StandAt(InternalCursor* cursor, const CursorEntry* entry) { cursor->at_ = entry; }

 private:
  const CursorEntry* at_ = nullptr;  // null: not valid
  const CursorEntry* begin_ = nullptr;
  const CursorEntry* end_ = nullptr;
  CursorEntry own_;
};

}  // namespace ashlar
