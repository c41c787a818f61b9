// TreeView: the tree of one column family, as the pickers see it. CompactionPlan: their decision.
//
//   TreeView --PickCompaction / PickManual--> CompactionPlan --CompactionJob (run/)--> VersionEdit
//            (pure, under the mutex)                         (no locks)
//
// I1: a plan's inputs are closed. On a sorted level they are neighbours, and no other file shares a
//     user key with them ("clean cut"). If level-0 inputs move down, no other file older than one
//     of them overlaps any of them. If they stay on level 0, they are neighbours in age instead.
// I2: below the start level the inputs are all files of the output level that overlap those above.
//     A plan of kFiles also takes such files of levels between, and named files. Whole runs are
//     complete levels and neighbours of level 0, down to its oldest file if the output is deeper.
// I3: no input is in another running plan. Unless the output is on level 0, no other running plan
//     writes to [smallest, largest] of the output level or of a level between it and the start.
// I4: for every run older than the output, `older` has the files that overlap [smallest, largest].
//     These runs are the older files of level 0, then the levels below. kRefit lists none.
// I5: until the install newer data stays above older (README.md; checked by FindPlanViolation).
// I6: a plan that drops its inputs writes nothing, and may take any files that no other plan has.
//     For kHiddenFiles they are hidden (range_coverage.h) from the oldest snapshot and later reads.
// I7: a plan of kRefit moves all files of a level. If it moves them up, the levels from the output
//     level to the start level are empty, except for newer files of level 0.
// I8: data that a plan writes or moves to level 0 is older than every write that is not flushed.
// I9: no plan writes below a running bottommost plan whose range overlaps its own (README.md).
// I10: a merge within level 0 includes all newer files there that have no recorded sequences.
//
// Lifetime: the owner has a count on the Version whose files a plan borrows. Thread safety: values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ashlar/compression_type.h"
#include "ashlar/types.h"
#include "key/key_comparator.h"
#include "manifest/version_edit.h"
#include "table/file_metadata.h"

namespace ashlar {

enum class PlanReason : uint8_t {
  kLevel0Files,      // level 0 has too many files, or too many bytes
  kLevelSize,        // a level is larger than its target
  kMarked,           // a file is marked for compaction
  kBottommostFiles,  // deletions and versions on the last level that no snapshot needs any more
  kTtl,
  kPeriodic,
  kManual,
  kHiddenFiles,   // files that range tombstones hide completely are dropped
  kCoveredBytes,  // a file's range tombstones cover many bytes of older runs
  kFiles,         // CompactFiles
  kRefit,         // CompactRangeOptions::change_level, PromoteL0
  kDeleteFiles,   // DeleteFilesInRanges: the files are dropped
  // Universal: newer runs are large compared to the oldest; runs of similar size; too many runs.
  kSizeAmplification,
  kSizeRatio,
  kSortedRuns,
  // FIFO: the oldest files are dropped for total size or age; small files are merged.
  kTableBytes,
  kExpired,
  kFewerFiles,
};
const char* PlanReasonName(PlanReason reason);

struct CompactionInputs {
  Level level = 0;
  std::vector<FileMetaData*> files;  // level 0: newest first; else ascending by key
};

struct CompactionPlan {
  std::vector<CompactionInputs> inputs;  // ascending by level; never empty, no level without files
  Level output_level = 0;
  PlanReason reason = PlanReason::kManual;
  // The files change only their level. Install the plan; do not run it.
  bool trivial_move = false;
  // The files leave the tree (I6). Install the plan; do not run it.
  bool drops_inputs = false;
  // The inputs are complete sorted runs, neighbours in age, from any number of levels (I2).
  bool whole_runs = false;
  // The output level is sorted, and no older run has keys of the range. Deletions may be dropped,
  // and sequence numbers may become zero. Level 0 keeps the numbers, because they order its files.
  bool bottommost = false;

  std::string smallest;  // user keys: the range of all inputs, both ends included
  std::string largest;
  bool excludes_largest = false;  // it is the end of a range tombstone, and no input has it
  // With kRoundRobin: the internal key at which the next plan from the start level begins. Empty if
  // there is none to remember.
  std::string next_cursor;
  // The overlapping files of the first level below the output level that has any. Empty for an
  // output on level 0, which is not cut.
  std::vector<FileMetaData*> grandparents;
  // I4. Newest run first; the files of a run ascend by key. Runs without such files are left out.
  std::vector<std::vector<FileMetaData*>> older;
  // Older data may be added below (TreeView::has_level_below), so no deletion is dropped, whatever
  // `older` has.
  bool older_unknown = false;

  uint64_t max_output_file_bytes = 0;
  uint64_t max_grandparent_overlap_bytes = 0;  // of one output file
  uint32_t max_subcompactions = 1;
  CompressionType compression = kNoCompression;
  bool bottommost_compression = false;  // with bottommost_compression_opts, if enabled

  Level start_level() const { return inputs.front().level; }
  // Returns false if the plan is only an edit of the tree.
  bool WritesTables() const { return !trivial_move && !drops_inputs; }
  bool HasInput(const FileMetaData* file) const;
  uint64_t InputBytes() const;
  uint64_t InputFiles() const;
  // Removes the inputs from their levels or, for a trivial move, moves them to the output level.
  void ApplyInputs(VersionEdit* edit) const;
};

// "L1 [12 15] + L2 [7] -> L2, level size, bottommost": file numbers, never keys.
std::string DebugString(const CompactionPlan& plan);
// Sets or clears being_compacted on every input. Call under the mutex that guards the flag. Asserts
// that the flag changes.
void MarkInputs(const CompactionPlan& plan, bool being_compacted);

// True if the file may have deletions, range tombstones or snapshot versions. A rewrite on the last
// level drops them once no snapshot is older than the file's newest entry. The rewrite counts those
// that remain, and sets the sequences of all values to 0. A file that was not opened yet has no
// counts. Its smallest sequence is 0 if a bottommost compaction wrote it, and its largest is above
// 0 if a snapshot held something back.
inline bool MayHaveRemains(const FileMetaData& file) {
  const bool counted = file.entries > 0;
  return file.deletions > 0 || file.snapshot_versions > 0 ||
         (!counted && file.smallest_sequence == 0 && file.largest_sequence > 0);
}

// Larger than every sequence.
inline constexpr SequenceNumber kNoSnapshotAwaited = kSequenceNumberMax + 1;

struct TreeView {
  KeyComparator comparator{nullptr};
  // Level 0 is sorted newest first, the others by key. There are as many as the config has; a view
  // of the whole tree also has the level for files that are ingested behind.
  std::vector<std::span<FileMetaData* const>> levels;
  // True if that level exists and is not in `levels`. No plan reads or writes it then.
  bool has_level_below = false;
  std::vector<const CompactionPlan*> running;           // of this column family
  uint64_t now_unix_seconds = 0;                        // for ttl and periodic
  SequenceNumber oldest_snapshot = kSequenceNumberMax;  // kSequenceNumberMax: there is none
  // The smallest sequence of the memtables' entries; kSequenceNumberMax if there are none. Files of
  // level 0 with newer sequences were ingested while these entries were in a memtable.
  SequenceNumber oldest_unflushed = kSequenceNumberMax;

  std::span<FileMetaData* const> files(Level level) const { return levels[level]; }
  // True if unix_seconds is more than seconds_max seconds ago. False if either number is 0, because
  // the time is unknown or the age limit is off.
  bool IsOlder(uint64_t unix_seconds, uint64_t seconds_max) const {
    return seconds_max > 0 && unix_seconds > 0 && now_unix_seconds > seconds_max &&
           unix_seconds < now_unix_seconds - seconds_max;
  }
  // I8: whether a merge within level 0 may take this file.
  bool IsOlderThanMemTables(const FileMetaData& file) const {
    return file.largest_sequence < oldest_unflushed;
  }
  // I10: whether this file may be the newest input of a merge within level 0. LevelDB records no
  // sequences, so numbers order its files. A merge output has sequences and sorts above them.
  bool StaysBelowNewer(const FileMetaData& file) const;
  // Level 0 without the newest files, which no plan may merge within it (I8).
  std::span<FileMetaData* const> MergeableLevel0() const;
  Level num_levels() const { return static_cast<Level>(levels.size()); }
  // The deepest level with files; 0 for an empty tree.
  Level LastLevel() const;
  uint64_t LevelBytes(Level level) const;
  // Once the oldest snapshot has this sequence or a later one, plans may take files that are hidden
  // or MayHaveRemains and that pickers skip until then. kNoSnapshotAwaited: there are none.
  SequenceNumber AwaitedSnapshot() const;
};

// Checks against the current tree that the inputs are still in it, I5, that the hidden files of I6
// are hidden, and that the levels of I7 are empty. Returns an empty string, or a sentence that
// describes the violation with file numbers and levels, without keys.
std::string FindPlanViolation(const TreeView& view, const CompactionPlan& plan);
// Asserts I1 to I4, I6 to I8 and I10, as far as the view and its files' marks show them, and the
// comments of the plan's members. Requires: the plan was just made from the view and does not run.
void CheckPlanInvariants(const TreeView& view, const CompactionPlan& plan);
// Asserts that FindPlanViolation finds none; its sentence is the message.
void AssertPlanFits(const TreeView& view, const CompactionPlan& plan);

}  // namespace ashlar
