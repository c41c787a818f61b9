// FileIngestion: DB::IngestExternalFiles. Takes table files from outside into the tree.
//
//   inspect each file                          outside of everything; errors leave no trace
//     -> link or copy it to a number of the database, sync it, sync the directory
//     -> turn of the commit queue: place and number the files, one edit group, versions and views
//        -> if a memtable must be flushed first: give the turn back, flush, take a second turn, and
//           flush in it what arrived in between (if background work is paused: give it back again)
//
// See README.md, "Ingestion", for the reasons and the rejected designs.
// I1: a file that may cover older data has a sequence between those before and after the turn.
// I2: when files enter the tree, no memtable has a key within their bounds, unless they go behind.
// I3: a file of level 0 is not merged with older ones within level 0 before the writes that were in
//     memtables on its arrival are flushed (I8 of compaction_plan.h). Where level 0 is merged only
//     within itself, the file enters while there are no such writes.
// I4: levels are chosen and reserved while no plan of the family is picked or installed.
// I5: of two overlapping files of a call, the later one has the larger sequence and is above.
// I6: a reader, or a recovery after a crash, finds all files of a call or none.
// I7: files, directory and log are durable before the edit is written. Until then this call owns
//     the files, and deletes them after an error.
// I8: no known gap hides an ingested key.
// I9: the turn uses a number that was written into a copy only if I1 holds.
// I10: each call takes a sequence that is in no log, so a WalFollower finds a gap there.
// I11: no snapshot is taken while an edit is written whose entries the snapshot would later see.
//
// Thread safety: one Run per object; objects run concurrently. Lifetime: the core outlives it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "ashlar/db.h"
#include "compact/plan/ingestion_plan.h"
#include "lsm/external_file.h"
#include "lsm/lsm_core.h"
#include "lsm/taken_file.h"

namespace ashlar {

class FileIngestion {
 public:
  struct Request {
    std::shared_ptr<ColumnFamily> family;
    std::vector<std::string> paths;
    IngestExternalFileOptions options;
    // IngestExternalFileArg::files_checksums
    std::vector<std::string> checksums = {};
    std::vector<std::string> checksum_functions = {};
  };
  // Requires: the requests outlive it.
  FileIngestion(LsmCore* core, std::span<const Request> requests);
  FileIngestion(const FileIngestion&) = delete;
  FileIngestion& operator=(const FileIngestion&) = delete;

  Status Run();

 private:
  struct File {
    ExternalFile external;
    TakenFile taken = {};
    SequenceNumber written_sequence = 0;  // into the copy (I9); 0: none
    std::unordered_set<FileNumber> without_keys = {};
    // Set in the turn.
    Level level = 0;
    SequenceNumber sequence = 0;
  };
  struct Family {
    const Request* request = nullptr;
    ColumnFamilyOptions options;
    SequenceNumber last_sequence = 0;  // of the files
    bool files_overlap = false;
    std::vector<File> files = {};

    const std::shared_ptr<ColumnFamily>& family() const { return request->family; }
    bool WritesSequences() const {
      const IngestExternalFileOptions& of = request->options;
      return of.write_global_seqno && of.allow_global_seqno && !of.ingest_behind;
    }
  };
  // The state that the files of a family share in PlanFamily.
  struct Placing {
    const IngestExternalFileOptions* options = nullptr;
    TreeView view;
    IngestionRules rules;
    PlacedFiles placed;  // the earlier files; empty if no two overlap
    bool must_number = false;
    bool may_number = false;  // a file gets a number if it can hold one
    bool must_hide = false;   // hide the files from the held snapshots
  };
  using Families = std::vector<std::shared_ptr<ColumnFamily>>;

  Status CheckRequests() const;
  static Status CheckRequest(const Request& request);
  Status Prepare();
  Status PrepareFamily(Family* family);
  static bool FilesOverlap(const Family& family);
  // Gives the files names in the database.
  Status TakeFiles();
  Status TakeFile(const Request& request, File* file);
  // I9.
  void ChooseSequences(Family* family) const;
  // Finds files of the tree that overlap the range of `file` and have no key of it.
  void LookForKeys(const Family& family, File* file) const;

  Status InstallAsOftenAsNeeded();
  // Takes one turn or two, and one more for each pause.
  Status Install();
  // Runs in a turn. If *to_flush is not empty, nothing was installed: flush these families first.
  Status InstallInTurn(bool may_flush, Families* to_flush);
  Status TryToInstall(const std::vector<bool>& flush_needed, Families* to_flush);
  // For each family, whether a memtable has a key within the bounds of one of its files.
  std::vector<bool> FindUnflushedKeys() const;
  Status Plan(const std::vector<bool>& flush_needed, Families* to_flush)
      ASHLAR_REQUIRES(kDatabaseMutex);
  Status PlanFamily(Family* family) ASHLAR_REQUIRES(kDatabaseMutex);
  // Asserts I1 and I5, and that the levels exist.
  void CheckPlan(const Placing& placing, const Family& family) const;
  Status PlaceBehind(const Placing& placing, File* file) const;
  Status PlaceAbove(const Placing& placing, const Family& family, File* file)
      ASHLAR_REQUIRES(kDatabaseMutex);
  // Checks that a database's table can keep its sequences.
  Status CheckKeepsItsSequences(const Placing& placing, const Family& family,
                                const File& file) const ASHLAR_REQUIRES(kDatabaseMutex);
  // One more than the largest number of the earlier files that overlap, and at least after + 1.
  static SequenceNumber NextSequence(const PlacedFiles::Overlapping& before, SequenceNumber after);
  // I11. Whether a snapshot taken after the plan would see a file that has to be hidden from it.
  bool HasEntriesForSnapshots() const;
  std::vector<VersionEdit> MakeEdits(SequenceNumber last_sequence) const;
  Status Publish(SequenceNumber last_sequence, std::vector<VersionEdit> edits)
      ASHLAR_REQUIRES(kManifestMutex);
  void EndPlanning();

  void RemoveTaken() noexcept;
  // Removes the originals of moved files, and notifies listeners and the LOG.
  void Finish();
  void Report(const Family& family, const File& file) const;

  LsmCore* const core_;
  DatabaseState* const state_;
  const std::span<const Request> requests_;
  std::vector<Family> families_;
  uint64_t reserve_ = uint64_t{1} << 20;  // I9; in sequences
  bool was_outrun_ = false;               // I9: in the last turn
  bool publish_failed_ = false;           // the error must be latched
};

}  // namespace ashlar
