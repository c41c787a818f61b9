// The common part of flush and compaction jobs: their arguments, their result, and the loop from a
// cursor to files.
//
//   cursor -> CompactionIterator -> CompactionOutput -> TableJobResult -> VersionEdit
//
// I1: a job that fails or is stopped leaves no file and has changed nothing.
// I2: a result's files are synced and were opened again (OutputVerification). The caller syncs the
//     directory, then installs the edit.
// Lifetime: everything borrowed outlives the job. Thread safety: a job is one call; jobs run
// concurrently.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compact/run/compaction_iterator.h"
#include "compact/run/compaction_output.h"
#include "execute/clock.h"
#include "execute/flush_priority_throttle.h"
#include "manifest/version_edit.h"
#include "table/input_reads.h"
#include "table/open/table_cache.h"

namespace ashlar {

enum class OutputVerification : uint8_t {
  kNone,
  // Opens each file through the table cache and reads footer, index, properties. It stays open.
  kOpen,
  kBlocks,  // also reads every block
};

struct TableJobArgs {
  CompactionOutputArgs output;
  TableCache* tables = nullptr;
  // Ascending. Requires: listed after every sequence of the input was published.
  std::vector<SequenceNumber> snapshots;
  const MergeOperator* merge_operator = nullptr;
  FilterSource filter;
  Clock* clock = nullptr;
  StopFlags stop;
  FlushPriorityThrottle* turns = &FlushPriorityThrottle::OfProcess();
  OutputVerification verification = OutputVerification::kOpen;
  // Fails the job if the input held another number of entries than expected.
  bool check_entry_counts = true;
  size_t readahead_bytes = size_t{2} << 20;  // of compaction input
  InputReads input_reads;
};

struct TableJobStatistics {
  // Sets the members that depend on the files.
  void CountFiles(const std::vector<std::unique_ptr<FileMetaData>>& files);

  uint64_t micros = 0;
  uint64_t cpu_micros = 0;
  uint64_t input_files = 0;
  uint64_t output_files = 0;
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  uint32_t subcompactions = 1;
  StreamCounts entries;
  FileTimes file_times;  // of the output; see CompactionOutputArgs::times_files
  // The first bytes of the keys, as in CompactionJobStats. Empty if there is no file.
  std::string smallest_key_prefix;
  std::string largest_key_prefix;
};

// Verified files are open in the table cache. The destructor evicts the files that are still here
// (table_cache.h, I2). After AddFilesTo the owner of the edit evicts them until a version has them.
struct TableJobResult {
  TableJobResult() = default;
  TableJobResult(const TableJobResult&) = delete;
  TableJobResult& operator=(const TableJobResult&) = delete;
  ~TableJobResult() { Clear(); }

  std::vector<std::unique_ptr<FileMetaData>> files;  // ascending by key
  TableJobStatistics statistics;
  TableCache* tables = nullptr;  // where the files may be open

  // Moves the files into the edit. If an allocation fails (std::bad_alloc), they are still here.
  void AddFilesTo(Level level, VersionEdit* edit);
  // Closes the files and clears the result. The files stay in the directory.
  void Clear();
};

// One run of the loop over one range of keys. begin, end and turn are as in CompactionIteratorArgs.
struct TableRun {
  const Slice* begin = nullptr;
  const Slice* end = nullptr;
  bool zero_sequences = false;
  KeyNotBelow* not_below = nullptr;
  CompactionRanges* ranges = nullptr;  // null: the input has no range tombstones
  CompactionTurn* turn = nullptr;
};
Status RunTableLoop(const TableJobArgs& args, const TableRun& run, InternalCursor* input,
                    TableJobResult* result);

// Verifies the files as the args demand, and counts them. Discards the job after a failure.
Status FinishTableJob(const TableJobArgs& args, TableJobResult* result);

// Closes and deletes the files of a job whose result is not installed. Ignores errors, because the
// next open removes files that are left.
void DiscardTableJob(const TableJobArgs& args, TableJobResult* result);

}  // namespace ashlar
