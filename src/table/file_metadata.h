// FileMetaData: the tree's record of one table file, and the pointer to its open reader.
//
// Lifetime: reference-counted by the Versions that list it and by the jobs that write it. A single
// count is enough, because files change owners only at installs. The file on disk outlives the last
// reference. Thread safety: plain members are constant once the file is in a Version, except
// being_compacted and the plain members of `coverage`, which the database mutex guards
// (manifest/file_marks.h). The atomics marked_for_compaction and coverage.hidden_since are written
// under that mutex, too. Only the TableCache writes `reader` and uses ring_index.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "ashlar/types.h"
#include "key/internal_key.h"
#include "key/key_comparator.h"
#include "table/table_properties.h"

namespace ashlar {

class TableReader;

// The tag of the largest internal key of a file that ends with a range tombstone. The key (end,
// this tag) sorts before every entry of `end`, none of which is in the file.
inline constexpr uint64_t kRangeEndTag = PackTag(kSequenceNumberMax, ValueType::kRangeDeletion);

// Returns true if the bounds of a table are in order and a key can be between them, so the table
// does not end before its smallest user key. Requires: internal keys.
inline bool HoldAKey(const KeyComparator& comparator, const Slice& smallest, const Slice& largest) {
  return comparator.CompareInternal(smallest, largest) <= 0 &&
         (ExtractTag(largest) != kRangeEndTag ||
          comparator.Compare(ExtractUserKey(smallest), ExtractUserKey(largest)) < 0);
}

// Whether a table has range tombstones. The MANIFEST does not record it.
enum class HasRanges : uint8_t { kUnknown, kNo, kYes };

struct FileMetaData {
  uint64_t number = 0;
  uint64_t file_bytes = 0;
  // Internal keys. Each is a key in the file or a bound of its range deletions.
  std::string smallest;
  std::string largest;
  SequenceNumber smallest_sequence = 0;
  SequenceNumber largest_sequence = 0;
  uint64_t creation_unix_seconds = 0;         // 0: unknown
  uint64_t oldest_ancestor_unix_seconds = 0;  // 0: unknown
  std::string checksum;                       // of the complete file; empty: none
  std::string checksum_function = "Unknown";
  // Set for RocksDB's tables. Tables of Ashlar have no temperature.
  Temperature temperature = Temperature::kUnknown;
  // Set by RocksDB 7.10 and later (manifest/epoch_order.h). 0: none. Read from other_fields.
  uint64_t epoch_number = 0;
  // The fields of the MANIFEST that Ashlar does not generate, as they were read (version_edit.h).
  // They are written back with the file.
  std::string other_fields;
  // 0: not known, because the MANIFEST does not record it. Set by the job that wrote the table, or
  // by the first open.
  std::atomic<uint64_t> entries{0};
  std::atomic<uint64_t> deletions{0};          // stored before entries
  std::atomic<uint64_t> snapshot_versions{0};  // stored before entries (table_properties.h)
  std::atomic<HasRanges> has_ranges{HasRanges::kUnknown};
  // Written under the database mutex. The encoder of the MANIFEST reads it without the mutex.
  std::atomic<bool> marked_for_compaction{false};

  // How range tombstones of other runs cover this file, and how its own cover older runs
  // (compact/plan/range_coverage.h). Not in the MANIFEST.
  struct Coverage {
    // Readers at this sequence or later see nothing of the file, because tombstones of newer runs
    // cover all of it. 0: not known to be hidden. FindRangeCoverage reads it without the mutex.
    std::atomic<SequenceNumber> hidden_since{0};
    // covered_bytes: about how many bytes of older runs the file's tombstones cover, hidden files
    // not included. Counted when the file was at counted_at_level; kNoLevel: not counted yet.
    static constexpr uint32_t kNoLevel = UINT32_MAX;
    uint32_t counted_at_level = kNoLevel;
    uint64_t covered_bytes = 0;
  };
  Coverage coverage;
  bool being_compacted = false;
  std::atomic<uint32_t> refs{0};
  // Published by TableCache (release), read inside an epoch guard (acquire).
  std::atomic<TableReader*> reader{nullptr};
  size_t ring_index = 0;  // position in OpenTables' ring, under its lock, while there is a reader

  FileMetaData() = default;
  FileMetaData(const FileMetaData&) = delete;
  FileMetaData& operator=(const FileMetaData&) = delete;

  // Keeps counts that are already known, because the job that wrote the table set them.
  void LearnCounts(const TableProperties& properties) {
    if (entries.load(std::memory_order_relaxed) != 0) return;
    deletions.store(properties.num_deletions, std::memory_order_relaxed);
    snapshot_versions.store(SnapshotVersions(properties), std::memory_order_relaxed);
    entries.store(properties.num_entries, std::memory_order_release);
  }
  Slice smallest_user_key() const { return ExtractUserKey(smallest); }
  Slice largest_user_key() const { return ExtractUserKey(largest); }
  // Returns true if the file ends before its largest user key.
  bool excludes_largest() const { return ExtractTag(largest) == kRangeEndTag; }
  // Returns true if every key of the file is before user_key.
  bool EndsBefore(const KeyComparator& comparator, const Slice& user_key) const {
    const int r = comparator.Compare(largest_user_key(), user_key);
    return r < 0 || (r == 0 && excludes_largest());
  }
};

}  // namespace ashlar
