// FileIndexer: finds the tables of the levels above 0 that may have a key. The result of the search
// in one level bounds the search in the next (fractional cascading).
//
//   level l      |---f0---|      |------f1------|          |--f2--|
//                S0      L0      S1             L1         S2     L2     smallest, largest keys
//   P in l + 1:   0       2       2              5          6      6     Find in level l + 1
//
//   a key inside f1 is at a position in [P(S1), P(L1)] of level l + 1, a key between f0 and f1 in
//   [P(L0), P(S1)]
//
//   arena   [row of level 1][row of level 2]..   a row per level with files
//           [empty entry][entry]..[empty entry]  level 1, then level 2 ...
//   entry   32 bytes: smallest head | largest head | P(smallest) | P(largest) | file
//
// The heads skip the prefix that all bounds share. README.md has the costs and rejected designs.
//
// I1: P(k) is the first file of the next level with files whose largest internal key is at or after
//     k. S is (smallest user key, highest tag), before every version of that key. So bounds that
//     enclose a key enclose its position, and the result is always that of LevelFiles::Find.
// I2: positions do not descend in a row.
// I3: rows are in the order of their levels, and no row is empty.
// Thread safety: const. Lifetime: Versions share it, and hold the LevelFiles it was built from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "key/key_comparator.h"
#include "manifest/level_files.h"

namespace ashlar {

class FileIndexer {
 public:
  struct Args {
    KeyComparator comparator;
    // Level 0 first; alive as long as the index.
    std::span<const std::shared_ptr<const LevelFiles>> levels;
    const FileIndexer* base = nullptr;  // null: nothing to copy from
  };

  explicit FileIndexer(const Args& args);
  FileIndexer(const FileIndexer&) = delete;
  FileIndexer& operator=(const FileIndexer&) = delete;

  // True if this is the index of these levels.
  bool IsOf(std::span<const std::shared_ptr<const LevelFiles>> levels) const;
  size_t MemoryBytes() const { return memory_bytes_; }
  // Asserts I1 to I3 at the bounds of every file.
  void CheckInvariants() const;

 private:
  friend class FileDescent;

  struct alignas(32) Entry {
    uint64_t smallest_head;
    uint64_t largest_head;
    uint32_t next_at_smallest;
    uint32_t next_at_largest;
    FileMetaData* file;  // null: before the first or after the last
  };
  struct Row {
    Entry* entries;  // [-1] and [files] exist
    const LevelFiles* level;
    uint32_t files;
  };
  struct FreeArena {
    void operator()(char* arena) const;
  };

  void FindPrefix(std::span<const LevelFiles* const> levels);
  // The row of the same level in the base, if its heads can be used here.
  const Row* RowOfBase(const FileIndexer* base, const LevelFiles* level) const;
  void FillRow(const FileIndexer* base, size_t row);
  void FillPositions(size_t row);
  // The position in `row` of a key that is not before the one at `from`.
  uint32_t FindPosition(const Row& row, uint32_t from, const Slice& user_key, uint64_t tag,
                        uint64_t head) const;

  static uint32_t MaskIf(bool condition) { return uint32_t{0} - static_cast<uint32_t>(condition); }
  // The first entry in [begin, end) whose largest head is not below `head`. No branch depends on
  // the data, because it would be mispredicted half the time.
  static uint32_t FirstNotBelow(const Entry* entries, uint32_t begin, uint32_t end, uint64_t head) {
    uint32_t left = end - begin;
    while (left > 1) {
      const uint32_t half = left / 2;
      begin += half & MaskIf(entries[begin + half - 1].largest_head < head);
      left -= half;
    }
    if (left == 1) begin += entries[begin].largest_head < head ? 1 : 0;
    return begin;
  }
  uint32_t Search(const Row& row, uint32_t begin, uint32_t end, const Slice& user_key, uint64_t tag,
                  uint64_t head) const {
    const uint32_t first = FirstNotBelow(row.entries, begin, end, head);
    if (first == end || row.entries[first].largest_head != head) [[likely]] {
      return first;
    }
    return SearchEqualHeads(row, first, end, user_key, tag, head);
  }
  uint32_t SearchEqualHeads(const Row& row, uint32_t begin, uint32_t end, const Slice& user_key,
                            uint64_t tag, uint64_t head) const;

  const KeyComparator comparator_;
  std::string prefix_;  // of every bound
  std::unique_ptr<char[], FreeArena> arena_;
  Row* rows_ = nullptr;
  size_t row_count_ = 0;
  size_t memory_bytes_ = 0;
};

// The search of one key down the levels. `index` and the key outlive it. Thread safety: one thread.
class FileDescent {
 public:
  FileDescent(const FileIndexer& index, const Slice& user_key, uint64_t tag)
      : index_(index),
        user_key_(user_key),
        tag_(tag),
        row_(index.rows_),
        end_row_(index.rows_ + index.row_count_) {
    if (row_ == end_row_) return;
    // A key without the prefix is outside every file's range.
    if (!user_key.starts_with(index.prefix_)) {
      row_ = end_row_;
      return;
    }
    head_ = index.comparator_.Head(user_key, index.prefix_.size());
    end_ = row_->files;
  }

  // Returns the next file whose range of user keys includes the key, from the upper levels to the
  // lower ones, and within a level in its order. Skipped files have no version at or after the tag.
  // Null: there are no more.
  FileMetaData* Next() {
    // Older versions of the key may continue in the next file, which then begins with the key.
    if (entry_ != nullptr && entry_[1].smallest_head == head_ && entry_[1].file != nullptr &&
        index_.comparator_.Compare(user_key_, entry_[1].file->smallest_user_key()) == 0)
        [[unlikely]] {
      return (++entry_)->file;
    }
    while (row_ != end_row_) {
      const FileIndexer::Row& row = *row_++;
      entry_ = row.entries + index_.Search(row, begin_, end_, user_key_, tag_, head_);
      const bool is_between = IsBefore(*entry_);
      begin_ = is_between ? entry_[-1].next_at_largest : entry_->next_at_smallest;
      end_ = is_between ? entry_->next_at_smallest : entry_->next_at_largest;
      if (!is_between) return entry_->file;
    }
    entry_ = nullptr;
    return nullptr;
  }

  // The level of the file that Next returned last.
  const LevelFiles* level() const { return row_[-1].level; }
  bool IsInLastLevel() const { return row_ == end_row_; }

 private:
  bool IsBefore(const FileIndexer::Entry& entry) const {
    if (entry.smallest_head != head_) [[likely]] {
      return head_ < entry.smallest_head;
    }
    return entry.file == nullptr ||
           index_.comparator_.Compare(user_key_, entry.file->smallest_user_key()) < 0;
  }

  const FileIndexer& index_;
  const Slice user_key_;
  const uint64_t tag_;
  const FileIndexer::Row* row_;
  const FileIndexer::Row* const end_row_;
  uint64_t head_ = 0;
  const FileIndexer::Entry* entry_ = nullptr;  // the file that Next returned last
  uint32_t begin_ = 0;                         // where to look in *row_
  uint32_t end_ = 0;
};

}  // namespace ashlar
