// MergingCursor: several cursors as one, in the order of internal keys. Reads and compaction share
// it.
//
// A loser tree: child i plays at leaf i; an inner node keeps the loser of its match and passes the
// winner up. When the winner has moved, only the matches on its path to the root are played again.
//
//        winner_               each player: {head of its user key, child}
//          |                   The smaller head wins; the heads of a walk backwards, and of the
//                              reverse order, are complements, so that one match
//       [loser 1]              serves all. Who wins is mostly a toss, so a match has no branch that
//                              depends on it: both players are written
//       /       \              back, swapped or not. Equal heads are settled by the internal keys, then by the child's place: of equal keys that
//   [loser 2] [loser 3]        of the child added first (the newer source) is the first. Children
//                              at an end, and the leaves that fill the tree
//    /   \     /   \           up to a power of two, have the largest head and lose.
//   c0   c1   c2   (c3)        .
//
// A tree without leaves to fill it was rejected: paths of two or three matches in turn are a branch
// that the processor cannot foresee, and cost more than the third match.
//
// Heads are taken behind what all keys of all batches have in common, which is looked for when
// they have tied too often, and given up when a batch comes that does not have it. A custom order
// has no heads: all tie.
//
// It merges a batch of entries at once, for as long as the children's own batches last: a
// child's entry is gone when the child leaves its batch. After a seek the batch is one entry;
// those that follow double in length.
//
//   forward   merged_   [ e0 | e1 | e2 | e3 ) .          the winner stands at e3, all others behind it
//   backward  merged_   . [ e0 | e1 | e2 | e3 )          the winner stands at e0, all others before it
//
// I1: while valid, the winner's entry is the one that was merged last and every other child stands
//     behind it in the direction of travel.
// I2: a child that becomes invalid with an error ends the merge: invalid until the next seek,
//     status() is the child's.
// I3: every entry of the batch lies in the batch of its child. The merge walks there; the child
//     is told when the merge leaves it.
// I4: with heads, the user keys from where each child stands to the end of its batch begin with
//     prefix_, which the heads skip.
// Lifetime: owns its children. Thread safety: one thread.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/coding.h"
#include "key/cursor.h"
#include "key/key_comparator.h"

namespace ashlar {

// Newest source first. One child is returned as it is; none gives an empty cursor.
std::unique_ptr<InternalCursor> NewMergingCursor(
    const KeyComparator& comparator, std::vector<std::unique_ptr<InternalCursor>> children);

class MergingCursor final : public InternalCursor {
 public:
  // At least one child.
  MergingCursor(const KeyComparator& comparator,
                std::vector<std::unique_ptr<InternalCursor>> children);

  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& internal_target) override;
  void SeekForPrev(const Slice& internal_target) override;
  Status status() const override { return status_; }
  PinSource OwnerOf(const CursorEntry& entry) const override;

 private:
  static constexpr size_t kBatchMin = 4;
  static constexpr size_t kBatchMax = 32;
  // Keys that differ though their heads do not, until a longer common prefix is looked for: at
  // first, and at most. Twice as many each time.
  static constexpr uint32_t kTiesMin = 64;
  static constexpr uint32_t kTiesMax = 1024;

  // How a head is taken of an entry; I4: its user key has skip_bytes.
  struct HeadForm {
    size_t skip_bytes = 0;
    uint64_t mask = 0;  // 0: a custom order
    uint64_t flip = 0;  // all ones: they descend in the direction of travel

    // KeyComparator::Head of the user key, or its complement. The tag behind the user key is long
    // enough for reading to stay inside the key.
    uint64_t Of(const CursorEntry& entry) const {
      uint64_t head = LoadBigEndian64(entry.key.data() + skip_bytes);
      const size_t bytes = entry.key.size() - kTagBytes - skip_bytes;
      if (bytes < sizeof(head)) head &= ~(~uint64_t{0} >> (8 * bytes));
      return (head & mask) ^ flip;
    }
  };

  // Where the merge has got to in a child's batch.
  struct Source {
    const CursorEntry* at = nullptr;    // null: the child is at an end
    const CursorEntry* last = nullptr;  // the end of the batch in the direction of travel
    uint64_t next_head = 0;             // of the entry that a step inside the batch leads to
    bool seeking = false;               // a seek takes a further step
  };

  struct Player {
    uint64_t head = ~uint64_t{0};
    uint32_t child = 0;
  };

  // An entry of the batch as its child shows it.
  struct Origin {
    const CursorEntry* entry = nullptr;
    uint32_t child = 0;
  };

  void MoveNext() override;
  void MovePrev() override;

  bool WinsTie(uint32_t a, uint32_t b);
  bool Wins(const Player& a, const Player& b);
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
  void Merge();
  void Start(bool forward);
  const Origin& OriginOf(const CursorEntry& entry) const;
  template <bool kForward>
  void Turn();

  const KeyComparator comparator_;
  const std::vector<std::unique_ptr<InternalCursor>> children_;
  std::vector<Source> sources_;  // of the children, and of the leaves that no child plays at
  // [1, leaves): the losers; the match that leaf i plays first is at (leaves + i) / 2, the winner
  // of match p plays at p / 2. Behind them: who plays, while all matches are played.
  std::vector<Player> tree_;
  Player winner_;
  bool forward_ = true;
  HeadForm heads_;
  std::string prefix_;  // what heads_ skips
  uint32_t ties_ = 0;   // of heads whose keys differ, since the heads were taken
  uint32_t ties_allowed_ = kTiesMin;
  size_t batch_ = 1;  // entries that the last batch might have
  std::array<CursorEntry, kBatchMax> merged_;
  std::array<Origin, kBatchMax> merged_from_;
  std::string turn_key_;  // the current key while the children leave it
  Status status_;
};

}  // namespace ashlar
