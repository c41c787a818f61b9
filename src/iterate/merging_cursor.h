// MergingCursor: several cursors as one, in the order of internal keys, for reads and compaction.
//
// A loser tree (iterate/loser_tree.h) finds the child to show next. A player's head is that of its
// user key. A walk backwards and the reverse order use the complement, so that the smaller head
// always wins. Equal heads are settled by the internal keys and then by the child's index: of equal
// keys that of the newer source is the first. Children at an end have the largest head and lose.
//
// Heads skip the prefix that the keys of all batches share. It is searched for when the heads have
// tied too often and is given up when a batch does not have it. A custom order has no heads, so all
// heads tie.
//
// A batch ends where the children's own batches do. Entries of the winner that come before those of
// all others are shown in its batch. Other batches are copies: one entry after a seek, and up to
// twice as many as before in each further one.
//
//   forward   merged_   [ e0 | e1 | e2 | e3 ) .     the winner is at e3, the others are after it
//   backward  merged_   . [ e0 | e1 | e2 | e3 )     the winner is at e0, the others are before it
//
// I1: while valid, the winner's entry is the batch's last and every other child is after it in the
//     direction of travel.
// I2: a child that becomes invalid with an error ends the merge: invalid until the next seek,
//     status() is the child's.
// I3: every entry of the batch is in its child's batch. A child moves when the merge leaves it.
// I4: with heads, the user keys from each child's place to the end of its batch begin with prefix_.
// Lifetime: owns its children. Thread safety: one thread.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/coding.h"
#include "iterate/loser_tree.h"
#include "key/cursor.h"
#include "key/key_comparator.h"

namespace ashlar {

// Newest source first. One child is returned as it is; none gives an empty cursor.
std::unique_ptr<InternalCursor> NewMergingCursor(
    const KeyComparator& comparator, std::vector<std::unique_ptr<InternalCursor>> children);

class MergingCursor final : public InternalCursor {
 public:
  // At least one child. Where memory lacks, children stays as it is.
  MergingCursor(const KeyComparator& comparator,
                std::vector<std::unique_ptr<InternalCursor>>&& children);

  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& internal_target) override;
  void SeekForPrev(const Slice& internal_target) override;
  // Moves the children from `first_child` on that are before the target, in the direction of
  // travel, to it. The others stay where the current entry found them. Entries of those children
  // before the target are not shown. Requires: Valid(), and the target is after the current entry
  // in the direction of travel, which is that of the last move.
  void SeekOlder(size_t first_child, const Slice& internal_target);
  // The index of the child that the current entry is from.
  size_t child() const { return OriginOf(entry()).child; }
  // The order of internal keys.
  int Compare(const Slice& a, const Slice& b) const { return comparator_.CompareInternal(a, b); }
  Status status() const override { return status_; }
  PinSource OwnerOf(const CursorEntry& entry) const override;

  // Asserts I1 to I4. Costs a match for each child.
  void CheckInvariants() const;

 private:
  static constexpr size_t kBatchMin = 4;
  static constexpr size_t kBatchMax = 32;
  // A shorter part of a child's batch is copied with what follows it.
  static constexpr ptrdiff_t kRunMin = 4;
  // Keys that differ though their heads do not, until a longer common prefix is looked for: at
  // first, and at most. Twice as many each time.
  static constexpr uint32_t kTiesMin = 64;
  static constexpr uint32_t kTiesMax = 1024;

  // How a head is taken of an entry; I4: its user key has skip_bytes.
  struct HeadForm {
    size_t skip_bytes = 0;
    uint64_t mask = 0;  // 0: a custom order
    uint64_t flip = 0;  // all ones: they descend in the direction of travel

    // KeyComparator::Head of the user key, or its complement. With the tag after the user key, all
    // reads stay inside the internal key.
    uint64_t Of(const CursorEntry& entry) const {
      uint64_t head = LoadBigEndian64(entry.key.data() + skip_bytes);
      const size_t bytes = entry.key.size() - kTagBytes - skip_bytes;
      if (bytes < sizeof(head)) head &= ~(~uint64_t{0} >> (8 * bytes));
      return (head & mask) ^ flip;
    }
  };

  // The merge's place in a child's batch.
  struct Source {
    const CursorEntry* at = nullptr;    // null: the child is at an end
    const CursorEntry* last = nullptr;  // the end of the batch in the direction of travel
    uint64_t next_head = 0;             // of the entry that a step inside the batch leads to
    bool seeking = false;               // a seek takes a further step
  };

  using Player = LoserTree::Player;

  // The source of an entry of the batch.
  struct Origin {
    const CursorEntry* entry = nullptr;
    uint32_t child = 0;
  };

  void MoveNext() override;
  void MovePrev() override;

  bool WinsTie(uint32_t a, uint32_t b, uint32_t* ties) const;
  Player Enter(uint32_t child);
  Player Play();
  Player Replay(Player player);

  void Load(uint32_t child);
  bool HasPrefix(const Source& source) const;
  void TakeHeads();
  template <bool kForward>
  Player Step(uint32_t child, const HeadForm& heads);
  template <bool kForward>
  void LeaveBatch();
  template <bool kForward>
  const CursorEntry* RunEnd(const Source& source) const;
  template <bool kForward>
  void ShowRun(const CursorEntry* end);
  template <bool kForward>
  void Merge();
  void Start(bool forward);
  Origin OriginOf(const CursorEntry& entry) const;
  template <bool kForward>
  void Turn();

  const KeyComparator comparator_;
  std::vector<Source> sources_;  // of the children, and of the leaves that no child plays at
  LoserTree tree_;
  const std::vector<std::unique_ptr<InternalCursor>> children_;  // taken after the allocations
  Player winner_;
  bool forward_ = true;
  HeadForm heads_;
  std::string prefix_;  // skipped by heads_
  uint32_t ties_ = 0;   // equal heads of keys that differ, since the heads were computed
  uint32_t ties_allowed_ = kTiesMin;
  size_t batch_ = 1;     // entries that the last batch might have
  bool is_copy_ = true;  // the batch is in merged_
  std::array<CursorEntry, kBatchMax> merged_;
  std::array<Origin, kBatchMax> merged_from_;
  std::string turn_key_;  // the current key while the children leave it
  Status status_;
};

}  // namespace ashlar
