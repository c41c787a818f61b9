// FileMetaData: what the tree knows of one table file, and the place where its open reader hangs.
//
// Lifetime: reference-counted by the Versions that list it and by the jobs that write it (single
// count: files change hands only at installs). The file on disk outlives the last reference.
// `reader` is set and cleared by the TableCache alone. Thread safety: plain members are constant
// once the file is in a Version, except being_compacted and marked_for_compaction (guarded by the
// database mutex) and the atomics.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "ashlar/types.h"
#include "key/internal_key.h"

namespace ashlar {

class TableReader;

struct FileMetaData {
  uint64_t number = 0;
  uint64_t file_bytes = 0;
  std::string
      smallest;  // internal keys, both present in the file (or bounds of its range deletions)
  std::string largest;
  SequenceNumber smallest_sequence = 0;
  SequenceNumber largest_sequence = 0;
  uint64_t creation_unix_seconds = 0;         // 0: unknown
  uint64_t oldest_ancestor_unix_seconds = 0;  // 0: unknown
  std::string checksum;                       // of the whole file; empty: none
  std::string checksum_function = "Unknown";
  // 0: not known; the MANIFEST does not say. Written by whoever made the table, or when it is
  // opened for the first time.
  std::atomic<uint64_t> entries{0};
  std::atomic<uint64_t> deletions{0};  // stored before entries
  bool marked_for_compaction = false;

  bool being_compacted = false;
  std::atomic<uint32_t> refs{0};
  std::atomic<TableReader*> reader{
      nullptr};  // published by TableCache (release), read inside an epoch guard (acquire)

  FileMetaData() = default;
  FileMetaData(const FileMetaData&) = delete;
  FileMetaData& operator=(const FileMetaData&) = delete;

  // What the writer counted stays: its table is checked against it.
  void LearnCounts(uint64_t entries_in_table, uint64_t deletions_in_table) {
    if (entries.load(std::memory_order_relaxed) != 0) return;
    deletions.store(deletions_in_table, std::memory_order_relaxed);
    entries.store(entries_in_table, std::memory_order_release);
  }
  Slice smallest_user_key() const { return ExtractUserKey(smallest); }
  Slice largest_user_key() const { return ExtractUserKey(largest); }
};

}  // namespace ashlar
