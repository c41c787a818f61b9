// Version: the tables of one column family at one moment, immutable.
//
//   level 0   [newest] [..] [oldest]         overlapping, each written by a flush (or moved in)
//   level 1   [a..f][g..m][n..z]             disjoint, older than level 0
//   level n   ...                            disjoint, older than level n - 1
//
// I1: for a key, all entries of level l are newer than those of level l + 1. In level 0 the earlier
//     file is newer.
// I2: the files of a Version are not deleted while it lives.
//
// Lifetime: counted, created with one count. Ref requires a count, or the epoch under which the
// Version was reached. The last Unref deletes it and releases its files. If readers reach a Version
// without a count, the thread that unlinks it calls Unref through the epoch. Thread safety: const
// methods from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/assert.h"
#include "base/result.h"
#include "key/key_comparator.h"
#include "key/lookup.h"
#include "manifest/database_locks.h"
#include "manifest/file_indexer.h"
#include "manifest/level_files.h"
#include "table/table_reader.h"

namespace ashlar {

class TableCache;

class Version {
 public:
  using Levels = std::vector<std::shared_ptr<const LevelFiles>>;

  // levels: one entry per level, valid and not null. base: the previous Version, whose file index
  // is reused where it has not changed. May be null.
  Version(const KeyComparator& comparator, Levels levels, const Version* base);
  Version(const Version&) = delete;
  Version& operator=(const Version&) = delete;

  void Ref() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void Unref();

  // Offers the versions of lookup->user_key() from newest to oldest until lookup->Done(). An error
  // ends the lookup by lookup->Fail. Returns the level whose table ended the lookup, or null if
  // none did.
  // Requires: the caller is inside options.guard, whose root keeps this Version.
  const LevelFiles* Get(const TableReadOptions& options, TableCache* tables, Lookup* lookup) const;

  // The most lookups that go through the tables together: enough to keep the memory busy, few
  // enough to stay in the nearest cache.
  static constexpr size_t kLookupsMax = 32;
  // The same for up to kLookupsMax keys, whose cache misses overlap. A lookup that is Done() is
  // skipped.
  void MultiGet(const TableReadOptions& options, TableCache* tables,
                std::span<Lookup> lookups) const;

  // The number of that level.
  Level LevelOf(const LevelFiles* level) const;

  Level levels() const { return static_cast<Level>(levels_.size()); }
  std::span<FileMetaData* const> files(Level level) const {
    ASHLAR_DCHECK(level < levels_.size());  // a level of this Version
    return levels_[level]->files();
  }
  const std::shared_ptr<const LevelFiles>& level(Level level) const { return levels_[level]; }
  size_t NumFiles(Level level) const { return levels_[level]->size(); }
  size_t NumFiles() const;
  uint64_t LevelBytes(Level level) const { return levels_[level]->bytes(); }
  uint64_t TotalBytes() const;
  // The largest sequence of all entries in all tables.
  SequenceNumber LargestSequence() const;
  const KeyComparator& comparator() const { return comparator_; }
  // The number of live Versions that are derived from the same first one, including this one.
  uint64_t LiveRelatives() const { return relatives_->load(std::memory_order_relaxed); }
  // False if no table has range tombstones. True if one may, because it has some or was never open.
  // Cheap for each iterator of a large tree, because each table without any is checked once.
  bool MayHaveRanges() const;

  // The level's files that share a user key with the range, in the level's order. The ranges of the
  // files found do not widen the range, not even on level 0.
  std::vector<FileMetaData*> OverlappingFiles(Level level, const UserKeyRange& range) const;
  bool RangeIsEmpty(Level level, const UserKeyRange& range) const;
  // Bytes of table files that [begin, end) covers, from the tables' indexes. Opens tables.
  // Requires: the caller has a count on this Version and is outside guards.
  Result<uint64_t> ApproximateBytes(const Slice& begin, const Slice& end, TableCache* tables) const;

  // Checks order and disjointness of every level. Corruption names the files.
  Status Validate() const;
  void CheckInvariants() const;
  // Levels, files, sizes and sequences; without key bytes.
  std::string DebugString() const ASHLAR_REQUIRES(kDatabaseMutex);

 private:
  ~Version();

  bool GetFromLevelZero(const TableReadOptions& options, TableCache* tables, Lookup* lookup) const;

  const KeyComparator comparator_;
  const Levels levels_;
  const std::shared_ptr<const FileIndexer> indexer_;  // of levels_
  // Relaxed: a statistic, which guards nothing.
  const std::shared_ptr<std::atomic<uint64_t>> relatives_;
  // Level (upper half) and position of the first table that may have range tombstones; levels() if
  // none has. Relaxed: a table without any stays without, so an older position is also right.
  mutable std::atomic<uint64_t> ranges_from_{0};
  std::atomic<uint32_t> refs_{1};  // any holder; Unref is acquire and release
};

}  // namespace ashlar
