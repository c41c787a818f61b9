// MergingCursor: several cursors as one, in the order of internal keys. Reads and compaction use the same.
//
// A loser tree: child i plays at leaf i; an inner node keeps the loser of its match and passes the winner up. Moving the winner replays the matches
// on its path to the root, log2(n) comparisons, none of which meets the same child twice.
//
//        winner_                          each player: {head of its user key, index of the child}
//          |                              heads are compared as integers; equal heads are settled by the internal keys, then by the child's index, so
//       [loser 1]                         that of equal keys the child added first (the newer source) wins
//       /       \                         children that are not valid lose against all others
//   [loser 2] [loser 3]
//    /   \     /   \                      .
//   c0   c1   c2   c3
//
// Forward, a match is won by the smaller key; backward by the larger. On a change of direction all children step over the current entry.
//
// It merges a stretch of entries at once, for as long as the children's own stretches last: a child's entry is gone when the child leaves its
// stretch. After a seek the stretch is one entry; those that follow double in length.
//
//   forward   merged_   [ e0 | e1 | e2 | e3 ) .          the winner stands at e3, all others behind it
//   backward  merged_   . [ e0 | e1 | e2 | e3 )          the winner stands at e0, all others before it
//
// I1: while valid, the winner's entry is the one that was merged last and every other child stands behind it in the direction of travel.
// I2: a child that becomes invalid with an error ends the merge: invalid until the next seek, status() is the child's.
// I3: every entry of the stretch lies in the stretch in which its child stands.
// Lifetime: owns its children. Thread safety: one thread.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "key/cursor.h"
#include "key/key_comparator.h"

namespace ashlar {

// Newest source first. One child is returned as it is; none gives an empty cursor.
std::unique_ptr<InternalCursor> NewMergingCursor(const KeyComparator& comparator, std::vector<std::unique_ptr<InternalCursor>> children);

class MergingCursor final : public InternalCursor {
 public:
  // At least one child.
  MergingCursor(const KeyComparator& comparator, std::vector<std::unique_ptr<InternalCursor>> children);

  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& internal_target) override;
  void SeekForPrev(const Slice& internal_target) override;
  Status status() const override { return status_; }
  PinSource OwnerOf(const CursorEntry& entry) const override;

 private:
  static constexpr size_t kStretchMin = 4;
  static constexpr size_t kStretchMax = 16;

  void MoveNext() override;
  void MovePrev() override;

  struct Player {
    uint64_t head = 0;
    uint32_t child = 0;
    bool valid = false;
  };

  // An entry of the stretch as its child shows it.
  struct Origin {
    const CursorEntry* entry = nullptr;
    uint32_t child = 0;
  };

  template <bool kForward>
  bool Wins(const Player& a, const Player& b) const;
  template <bool kForward>
  Player Play(size_t position);
  template <bool kForward>
  void Replay();
  template <bool kForward>
  void Merge();
  Player Enter(size_t child);
  void Start(bool forward);
  void ShowWinner();
  Origin OriginOf(const CursorEntry& entry) const;
  template <bool kForward>
  void Turn();

  const KeyComparator comparator_;
  const std::vector<std::unique_ptr<InternalCursor>> children_;
  std::vector<Player> losers_;  // [1, n): the tree; child i plays at position n + i, and the parent of position p is p / 2
  Player winner_;
  bool forward_ = true;
  size_t stretch_ = 1;  // entries that the last stretch might have; 1: the winner's alone, since the seek
  std::array<CursorEntry, kStretchMax> merged_;
  std::array<Origin, kStretchMax> merged_from_;
  std::string turn_key_;  // the current key while the children leave it
  Status status_;
};

}  // namespace ashlar
