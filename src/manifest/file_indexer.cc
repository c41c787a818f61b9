#include "manifest/file_indexer.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include "base/assert.h"
#include "key/key_head.h"
#include "platform/cpu.h"
#include "table/file_metadata.h"

namespace ashlar {

namespace {

constexpr std::align_val_t kArenaAlignment{kCacheLineBytes};

}  // namespace

void FileIndexer::FreeArena::operator()(char* arena) const {
  ::operator delete(arena, kArenaAlignment);
}

FileIndexer::FileIndexer(const Args& args) : comparator_(args.comparator) {
  std::vector<const LevelFiles*> levels;
  size_t files = 0;
  for (size_t level = 1; level < args.levels.size(); ++level) {
    if (args.levels[level]->empty()) continue;
    levels.push_back(args.levels[level].get());
    files += levels.back()->size();
  }
  ASHLAR_ASSERT(files < std::numeric_limits<uint32_t>::max() / 4);  // FindPosition: from + stride
  row_count_ = levels.size();
  if (row_count_ == 0) return;
  FindPrefix(levels);

  const size_t rows_bytes =
      (row_count_ * sizeof(Row) + alignof(Entry) - 1) / alignof(Entry) * alignof(Entry);
  memory_bytes_ = rows_bytes + (files + 2 * row_count_) * sizeof(Entry);
  arena_.reset(static_cast<char*>(::operator new(memory_bytes_, kArenaAlignment)));
  rows_ = reinterpret_cast<Row*>(arena_.get());
  auto* free = reinterpret_cast<Entry*>(arena_.get() + rows_bytes);
  for (size_t row = 0; row < row_count_; ++row) {
    new (&rows_[row]) Row{.entries = free + 1,
                          .level = levels[row],
                          .files = static_cast<uint32_t>(levels[row]->size())};
    free += levels[row]->size() + 2;
  }
  // Begins with the lowest row, because positions are searched in the heads of the row below.
  for (size_t row = row_count_; row-- > 0;) FillRow(args.base, row);
}

void FileIndexer::FindPrefix(std::span<const LevelFiles* const> levels) {
  if (!comparator_.HasHeads()) return;
  const Slice first = levels.front()->files().front()->smallest_user_key();
  size_t bytes = first.size();
  // Keys between the ends of a level share the prefix of the ends.
  for (const LevelFiles* level : levels) {
    bytes =
        std::min(bytes, CommonKeyPrefixBytes(first, level->files().front()->smallest_user_key()));
    bytes = std::min(bytes, CommonKeyPrefixBytes(first, level->files().back()->largest_user_key()));
  }
  prefix_.assign(first.data(), bytes);
}

const FileIndexer::Row* FileIndexer::RowOfBase(const FileIndexer* base,
                                               const LevelFiles* level) const {
  if (base == nullptr || base->prefix_.size() != prefix_.size()) return nullptr;
  const Row* const end = base->rows_ + base->row_count_;
  const Row* const found = std::find_if(static_cast<const Row*>(base->rows_), end,
                                        [level](const Row& row) { return row.level == level; });
  return found == end ? nullptr : found;
}

void FileIndexer::FillRow(const FileIndexer* base, size_t number) {
  const Row& row = rows_[number];
  const LevelFiles* const next = number + 1 < row_count_ ? rows_[number + 1].level : nullptr;
  if (const Row* const old = RowOfBase(base, row.level); old != nullptr) {
    memcpy(row.entries - 1, old->entries - 1, (row.files + 2) * sizeof(Entry));
    const LevelFiles* const old_next =
        old + 1 < base->rows_ + base->row_count_ ? old[1].level : nullptr;
    if (next == old_next) return;
  } else {
    new (row.entries - 1) Entry{};
    for (uint32_t i = 0; i < row.files; ++i) {
      FileMetaData* const file = row.level->files()[i];
      new (row.entries + i)
          Entry{.smallest_head = comparator_.Head(file->smallest_user_key(), prefix_.size()),
                .largest_head = comparator_.Head(file->largest_user_key(), prefix_.size()),
                .next_at_smallest = 0,
                .next_at_largest = 0,
                .file = file};
    }
    new (row.entries + row.files) Entry{.smallest_head = ~uint64_t{0},
                                        .largest_head = ~uint64_t{0},
                                        .next_at_smallest = 0,
                                        .next_at_largest = 0,
                                        .file = nullptr};
  }
  FillPositions(number);
}

void FileIndexer::FillPositions(size_t number) {
  const Row& row = rows_[number];
  if (number + 1 == row_count_) {
    for (uint32_t i = 0; i <= row.files; ++i)
      row.entries[i].next_at_smallest = row.entries[i].next_at_largest = 0;
    return;
  }
  const Row& next = rows_[number + 1];
  uint32_t position = 0;
  for (uint32_t i = 0; i < row.files; ++i) {
    Entry& entry = row.entries[i];
    const FileMetaData& file = *entry.file;
    // Neighbours may share a user key. The position is then that of the earlier file's largest key,
    // which is before every entry of this file.
    position = entry.next_at_smallest =
        FindPosition(next, position, file.smallest_user_key(), ~uint64_t{0}, entry.smallest_head);
    position = entry.next_at_largest = FindPosition(next, position, file.largest_user_key(),
                                                    ExtractTag(file.largest), entry.largest_head);
  }
  row.entries[row.files].next_at_smallest = next.files;
}

uint32_t FileIndexer::FindPosition(const Row& row, uint32_t from, const Slice& user_key,
                                   uint64_t tag, uint64_t head) const {
  // The position is usually near, so doubling strides find the end of the search.
  uint32_t stride = 1;
  while (stride < row.files - from && row.entries[from + stride - 1].largest_head <= head)
    stride *= 2;
  return Search(row, from, std::min(row.files, from + stride), user_key, tag, head);
}

uint32_t FileIndexer::SearchEqualHeads(const Row& row, uint32_t begin, uint32_t end,
                                       const Slice& user_key, uint64_t tag, uint64_t head) const {
  if (head != ~uint64_t{0}) end = FirstNotBelow(row.entries, begin, end, head + 1);
  const auto is_before = [&](const Entry& entry) {
    return comparator_.CompareInternal(entry.file->largest, user_key, tag) < 0;
  };
  const Entry* const found =
      std::partition_point(row.entries + begin, row.entries + end, is_before);
  return static_cast<uint32_t>(found - row.entries);
}

void FileIndexer::CheckInvariants() const {
  for (size_t i = 0; i < row_count_; ++i) {
    const Row& row = rows_[i];
    ASHLAR_ASSERT(row.files > 0 && row.files == row.level->size());  // I3
    // Row: one entry before the first file and one after the last.
    ASHLAR_ASSERT(row.entries[-1].file == nullptr && row.entries[row.files].file == nullptr);
    if (i + 1 == row_count_) break;
    const LevelFiles& next = *rows_[i + 1].level;
    uint32_t position = 0;
    for (uint32_t f = 0; f < row.files; ++f) {
      const Entry& entry = row.entries[f];
      const FileMetaData& file = *entry.file;
      ASHLAR_ASSERT(&file == row.level->files()[f]);      // I1: positions as Find gives them
      ASHLAR_ASSERT(position <= entry.next_at_smallest);  // I2
      ASHLAR_ASSERT(entry.next_at_smallest <= entry.next_at_largest);  // I2
      position = entry.next_at_largest;
      // I1
      ASHLAR_ASSERT(position == next.Find(file.largest_user_key(), ExtractTag(file.largest)));
    }
    ASHLAR_ASSERT(row.entries[row.files].next_at_smallest == next.size());  // I1
  }
}

bool FileIndexer::IsOf(std::span<const std::shared_ptr<const LevelFiles>> levels) const {
  size_t row = 0;
  for (size_t level = 1; level < levels.size(); ++level) {
    if (levels[level]->empty()) continue;
    if (row == row_count_ || rows_[row].level != levels[level].get()) return false;
    ++row;
  }
  return row == row_count_;
}

}  // namespace ashlar
