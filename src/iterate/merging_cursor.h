// MergingCursor: merges cursors into one, in the order of internal keys, for reads and compaction.
//
// A loser tree (iterate/loser_tree.h) finds the child to show next. A player's head is the head of
// its user key. Backward moves and the reverse order use the complement, so that the smaller head
// always wins. The internal keys decide between equal heads, and the child's index between equal
// keys, so that the newer source is first. Children at an end have the largest head and lose.
//
// Heads skip the prefix that the keys of all batches share. This prefix is computed when the heads
// have tied too often, and again when a batch does not have it. A custom order has no heads, so all
// heads tie.
//
// A batch ends where a batch of a child ends, or earlier. Entries of the winner that precede those
// of all other children are shown in the winner's batch. Other batches are copies. They have one
// entry after a seek, then at most 4, and twice as many in each further one up to 32.
//
//   forward   merged_   [ e0 | e1 | e2 | e3 ) .     the winner is at e3, the others are after it
//   backward  merged_   . [ e0 | e1 | e2 | e3 )     the winner is at e0, the others are before it
//
// I1: while valid, the winner's entry is the last of the batch, and every other child is after it
//     in the direction of travel.
// I2: if a child becomes invalid with an error, the merge is invalid until the next seek and has
//     the child's status().
// I3: every entry of the batch is in its child's batch. A child moves when the merge leaves it.
// I4: with heads, the user keys from a child's position to the end of its batch begin with prefix_.
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

// children: newest source first. One child is returned as it is; none results in an empty cursor.
std::unique_ptr<InternalCursor> NewMergingCursor(
    const KeyComparator& comparator, std::vector<std::unique_ptr<InternalCursor>> children);

class MergingCursor final : public InternalCursor {
 public:
  // Requires: at least one child. If an allocation fails, `children` is unchanged.
  MergingCursor(const KeyComparator& comparator,
                std::vector<std::unique_ptr<InternalCursor>>&& children);

  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& internal_target) override;
  void SeekForPrev(const Slice& internal_target) override;
  // Moves the children from `first_child` on to the target if they are before it in the direction
  // of travel, without showing their entries on the way. The other children stay where they were at
  // the current entry. Requires: Valid(), and the target is after the current entry in the
  // direction of travel, which is the direction of the last move.
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
  // A shorter run of the winner is copied together with the entries that follow it.
  static constexpr ptrdiff_t kRunMin = 4;
  // The number of ties of different keys with equal heads after which a longer common prefix is
  // computed: at first, and at most. It doubles each time.
  static constexpr uint32_t kTiesMin = 64;
  static constexpr uint32_t kTiesMax = 1024;

  // How the head of an entry is computed. Its user key has at least skip_bytes bytes (I4).
  struct HeadForm {
    size_t skip_bytes = 0;
    uint64_t mask = 0;  // 0: a custom order
    uint64_t flip = 0;  // all ones: heads descend in the direction of travel

    // KeyComparator::Head of the user key, or its complement. The tag follows the user key, so the
    // load stays inside the internal key.
    uint64_t Of(const CursorEntry& entry) const {
      uint64_t head = LoadBigEndian64(entry.key.data() + skip_bytes);
      const size_t bytes = entry.key.size() - kTagBytes - skip_bytes;
      if (bytes < sizeof(head)) head &= ~(~uint64_t{0} >> (8 * bytes));
      return (head & mask) ^ flip;
    }
  };

  // The merge's position in a child's batch.
  struct Source {
    const CursorEntry* at = nullptr;    // null: the child is at an end
    const CursorEntry* last = nullptr;  // the end of the batch in the direction of travel
    uint64_t next_head = 0;             // the head of the next entry in the batch
    bool seeking = false;               // a seek takes a further stage
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
  std::vector<Source> sources_;  // of the children, and of the leaves without a child
  LoserTree tree_;
  const std::vector<std::unique_ptr<InternalCursor>> children_;  // moved in after the allocations
  Player winner_;
  bool forward_ = true;
  HeadForm heads_;
  std::string prefix_;  // skipped by heads_
  uint32_t ties_ = 0;   // ties of different keys since the heads were computed
  uint32_t ties_allowed_ = kTiesMin;
  size_t batch_ = 1;     // the limit of entries for the last batch
  bool is_copy_ = true;  // the batch is in merged_
  std::array<CursorEntry, kBatchMax> merged_;
  std::array<Origin, kBatchMax> merged_from_;
  std::string turn_key_;  // the current key, while the children leave it
  Status status_;
};

}  // namespace ashlar
