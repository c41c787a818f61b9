// TreeView: the tree of one column family, as the pickers see it. CompactionPlan: their decision.
//
//   TreeView --PickCompaction / PickManual--> CompactionPlan --CompactionJob (run/)--> VersionEdit
//            (pure, under the mutex)                         (no locks)
//
// I1: a plan's inputs are closed. On a sorted level they are neighbours, and no other file shares a
//     user key with them ("clean cut"). On level 0 none of them overlaps another file that is older
//     than one of them; if the plan stays on level 0, they are neighbours in age instead.
// I2: below the start level the inputs are the files that the inputs above overlap: on the output
//     level, for kFiles also between, and named ones. Whole runs are all files of these levels; of
//     level 0 neighbours, which end with its oldest file if the output is on another level.
// I3: no input is in another running plan. Unless the output is on level 0, no other running plan
//     writes to [smallest, largest] of the output level or of a level between it and the start.
// I4: `older` lists, of every run older than the output, the files that overlap [smallest,
//     largest]: older files of level 0, one run each, then the levels below (kRefit: none).
// I5: until the install newer data stays above older (README.md; checked by FindPlanViolation).
// I6: a plan that drops its inputs writes nothing, and may take any files that no other plan has.
//     kHiddenFiles' are hidden (range_coverage.h) from the oldest snapshot and each later reader.
// I7: a plan of kRefit moves all files of a level. If it moves them up, the levels from the output
//     level to the start level are empty, except for newer files of level 0.
// I8: what a plan writes or moves to level 0 is older than each write that is not flushed.
// I9: no plan writes below a running bottommost plan whose range meets its own (README.md).
// I10: a merge within level 0 takes all newer files there that have no sequences on record.
//
// Lifetime: its owner has a count on the Version whose files it borrows. Thread safety: values.
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
  kMarked,           // a file is marked for it
  kBottommostFiles,  // deletions and versions on the last level that no snapshot needs any more
  kTtl,
  kPeriodic,
  kManual,
  kHiddenFiles,   // range tombstones hide whole files: they are dropped
  kCoveredBytes,  // a file's range tombstones cover many bytes of older runs
  kFiles,         // CompactFiles
  kRefit,         // CompactRangeOptions::change_level, PromoteL0
  kDeleteFiles,   // DeleteFilesInRanges: the files are dropped
  // Universal: newer runs are large next to the oldest; neighbours of similar size; too many runs.
  kSizeAmplification,
  kSizeRatio,
  kSortedRuns,
  // FIFO: the oldest files are dropped, because of their bytes or their age; small ones are merged.
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
  // The files change their level and nothing else: install, do not run.
  bool trivial_move = false;
  // The files leave the tree (I6): install, do not run.
  bool drops_inputs = false;
  // The inputs are whole sorted runs, neighbours in age: any number of levels (I2).
  bool whole_runs = false;
  // The output level is sorted, and no older run has keys of the range. Deletions end here, and
  // sequence numbers may become zero. Level 0 is ordered by sequence numbers, so they stay there.
  bool bottommost = false;

  std::string smallest;  // user keys: the range of all inputs, both ends included
  std::string largest;
  bool excludes_largest = false;  // it is the end of a range tombstone, and no input has it
  // With kRoundRobin: where the next plan from the start level begins, an internal key. Empty:
  // there is nothing to remember.
  std::string next_cursor;
  // The overlapping files of the first level below the output level that has any. Empty for an
  // output on level 0, which is not cut.
  std::vector<FileMetaData*> grandparents;
  // I4. Newest run first; the files of a run ascend by key. Runs without such files are left out.
  std::vector<std::vector<FileMetaData*>> older;
  // Older data may be added below (TreeView::has_level_below). No deletion ends, whatever `older`
  // has.
  bool older_unknown = false;

  uint64_t max_output_file_bytes = 0;
  uint64_t max_grandparent_overlap_bytes = 0;  // of one output file
  uint32_t max_subcompactions = 1;
  CompressionType compression = kNoCompression;
  bool bottommost_compression = false;  // the bottommost_compression_opts go with it

  Level start_level() const { return inputs.front().level; }
  // False: an edit is all of it.
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

// Whether the file may have deletions, range tombstones or snapshot versions. A rewrite on the last
// level leaves them out once no snapshot is older than the file's newest entry. Its job counts what
// is left, and the sequences of all values are 0 then. A file that was not open yet has no counts.
// Its smallest sequence is 0 if a bottommost compaction wrote it, and its largest above 0 if a
// snapshot held something back.
inline bool MayHaveRemains(const FileMetaData& file) {
  const bool counted = file.entries > 0;
  return file.deletions > 0 || file.snapshot_versions > 0 ||
         (!counted && file.smallest_sequence == 0 && file.largest_sequence > 0);
}

// Larger than every sequence.
inline constexpr SequenceNumber kNoSnapshotAwaited = kSequenceNumberMax + 1;

struct TreeView {
  KeyComparator comparator{nullptr};
  // Level 0 newest first, the others ascending by key. As many as the config has levels; a view of
  // the whole tree also has the level for files that are ingested behind.
  std::vector<std::span<FileMetaData* const>> levels;
  // That level exists, and is not in `levels`: no plan reads or writes it.
  bool has_level_below = false;
  std::vector<const CompactionPlan*> running;           // of this column family
  uint64_t now_unix_seconds = 0;                        // for ttl and periodic
  SequenceNumber oldest_snapshot = kSequenceNumberMax;  // kSequenceNumberMax: there is none
  // The smallest sequence of the memtables' entries; kSequenceNumberMax if there are none. Files of
  // level 0 with newer sequences were ingested while these entries were in a memtable.
  SequenceNumber oldest_unflushed = kSequenceNumberMax;

  std::span<FileMetaData* const> files(Level level) const { return levels[level]; }
  // Whether it was at this time more than so many seconds ago; false if either number is 0: the
  // time is not known, or the age is off.
  bool IsOlder(uint64_t unix_seconds, uint64_t seconds_max) const {
    return seconds_max > 0 && unix_seconds > 0 && now_unix_seconds > seconds_max &&
           unix_seconds < now_unix_seconds - seconds_max;
  }
  // I8: whether a merge within level 0 may take this file.
  bool IsOlderThanMemTables(const FileMetaData& file) const {
    return file.largest_sequence < oldest_unflushed;
  }
  // I10: whether this file of level 0 may be the newest one of a merge within it. LevelDB records
  // no sequences, so numbers order its files. An output has some, and is sorted above them.
  bool StaysBelowNewer(const FileMetaData& file) const;
  // Level 0 without its newest files that no plan may merge within it (I8).
  std::span<FileMetaData* const> MergeableLevel0() const;
  Level num_levels() const { return static_cast<Level>(levels.size()); }
  // The deepest level with files; 0 for an empty tree.
  Level LastLevel() const;
  uint64_t LevelBytes(Level level) const;
  // Once the oldest snapshot has this sequence or a later one, a plan may take files that pickers
  // now leave alone because they are hidden or MayHaveRemains. kNoSnapshotAwaited: there are none.
  SequenceNumber AwaitedSnapshot() const;
};

// Checks for the current tree that the inputs are still in it, I5, and what I6 says of hidden files
// and I7 of empty levels. Empty, or a sentence that names the violation with file numbers and
// levels, without keys.
std::string FindPlanViolation(const TreeView& view, const CompactionPlan& plan);
// Asserts of I1 to I4, I6 to I8 and I10 what the view and the marks of its files show, and the
// comments of the plan's members, for a plan that was just made from the view and is not running.
void CheckPlanInvariants(const TreeView& view, const CompactionPlan& plan);
// Asserts that there is none, with that sentence as the message.
void AssertPlanFits(const TreeView& view, const CompactionPlan& plan);

}  // namespace ashlar
