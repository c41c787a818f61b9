// LevelFiles: the tables of one level, immutable, and the plain search in it. Lookups of keys use
// manifest/file_indexer.h.
//
//   level 0    newest first: by largest sequence, then smallest sequence, then number, descending;
//              ranges may overlap
//   others     by key, disjoint
//
// I1: for levels above 0: file[i].largest < file[i + 1].smallest as internal keys. Two neighbours
//     may share a user key, its older versions in the later file.
// I2: holds one count on each file.
// I3: level 0 has the heads of every file's bounds, after the prefix that all bounds share. In a
//     built-in order, a key without that prefix is outside every range.
//
// A level that an edit does not touch is shared between the old version and the new one.
//
// Thread safety: const.
// Lifetime: shared by Versions; `live` outlives it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/assert.h"
#include "key/key_comparator.h"
#include "manifest/live_files.h"
#include "manifest/version_edit.h"
#include "table/file_metadata.h"

namespace ashlar {

// A half-open range of positions in a level.
struct FilePositions {
  size_t begin = 0;
  size_t end = 0;
};

// User keys; a missing bound is open. Both bounds are inclusive.
struct UserKeyRange {
  const Slice* smallest = nullptr;
  const Slice* largest = nullptr;
};

class LevelFiles {
 public:
  // Takes one count on each file for itself. The files must be in the level's order.
  LevelFiles(const KeyComparator& comparator, Level level, std::vector<FileMetaData*> files,
             LiveFiles* live);
  ~LevelFiles();
  LevelFiles(const LevelFiles&) = delete;
  LevelFiles& operator=(const LevelFiles&) = delete;

  std::span<FileMetaData* const> files() const { return files_; }
  size_t size() const { return files_.size(); }
  bool empty() const { return files_.empty(); }
  uint64_t bytes() const { return bytes_; }

  // Levels above 0: the first file whose largest internal key is at or after (user_key, tag);
  // size() if there is none.
  size_t Find(const Slice& user_key, uint64_t tag) const;
  // Levels above 0: the files that share a user key with the range.
  FilePositions Overlapping(const UserKeyRange& range) const;
  // Level 0: the head of a sought key, or nothing if no file's range has the key.
  std::optional<uint64_t> HeadOf(const Slice& user_key) const {
    if (!user_key.starts_with(prefix_)) return std::nullopt;
    return comparator_.Head(user_key, prefix_.size());
  }
  // Level 0: whether the file's range has the key. head: HeadOf(user_key).
  bool FileMayMatch(size_t position, const Slice& user_key, uint64_t head) const {
    ASHLAR_DCHECK(position < heads_.size());  // I3
    const Heads& heads = heads_[position];
    if (heads.smallest < head && head < heads.largest) [[likely]] {
      return true;
    }
    return head >= heads.smallest && head <= heads.largest && FileHoldsKey(position, user_key);
  }
  bool FileOverlaps(size_t position, const UserKeyRange& range) const;

  // Order of level 0: true if a is newer.
  static bool NewerFirst(const FileMetaData* a, const FileMetaData* b);
  // Checks I1, and that no file's smallest key is after its largest. Corruption names the files.
  Status Validate() const;
  // Asserts I1 to I3.
  void CheckInvariants() const;

 private:
  struct Heads {
    uint64_t smallest;
    uint64_t largest;
  };
  void FillHeads();
  bool FileHoldsKey(size_t position, const Slice& user_key) const;

  const KeyComparator comparator_;
  const Level level_;
  const std::vector<FileMetaData*> files_;
  LiveFiles* const live_;
  uint64_t bytes_ = 0;
  std::string prefix_;        // I3
  std::vector<Heads> heads_;  // of level 0
};

}  // namespace ashlar
