// PrimaryFollower: brings a secondary up to date with the primary, which writes concurrently.
//
//   CatchUp   MANIFEST: the edits since, new tables opened   VersionSet::ReadOn
//               --> logs found and opened                    LogReplay::FindLogs
//               --> MANIFEST unchanged? --no--> again        read_without_lock.h
//               --> records since, into memtables            LogReplay::Run
//               --> logs released, tables ingested? --yes--> again
//               --> Install: versions, memtables and sequence at once
//   Recover   MANIFEST --> all logs anew, as an open replays them --> Install
//
// I1: a reader sees a prefix of the primary's history, which is all writes up to one of them, in
//     all families. After CatchUp it has every write that was in the log file, or in tables, when
//     CatchUp was called. The prefix shrinks only by writes that the primary has taken back.
// I2: the MANIFEST is unchanged from before the read of its first edit until after the length of
//     the last log was read, and no tables were ingested before the last record that was read. So
//     the versions and the logs belong to one moment, and every file that they need is open.
// I3: a CatchUp that fails changes nothing that a reader sees.
// I4: an entry that is not part of the view's prefix has a sequence above the published one.
// I5: nothing is written below the primary's directory.
// I6: Recover shows at least what was shown before, because a published write is in the files.
// I7: a reader's views and sequence belong to one state, with no install between their loads.
//
// README.md, "Secondaries", has the reasons, and the designs that were rejected.
//
// Thread safety: any thread. Lifetime: the state outlives it.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "lsm/database_state.h"
#include "lsm/log_replay.h"

namespace ashlar {

class PrimaryFollower {
 public:
  // replay: the one that the open has run.
  PrimaryFollower(DatabaseState* state, std::unique_ptr<LogReplay> replay)
      : state_(state), replay_(std::move(replay)), shown_(replay_->place()) {}
  PrimaryFollower(const PrimaryFollower&) = delete;
  PrimaryFollower& operator=(const PrimaryFollower&) = delete;

  // Returns Corruption for damage, the file system's error, or TryAgain if the primary changed its
  // files faster than they could be read.
  Status CatchUp();
  // Used by a promotion. Requires: the lock of the database. Catches up with everything that a
  // recovery finds, sets DatabaseState::recovery, and adopts the replayed logs. Returns
  // InvalidArgument if a family is not open, and NotSupported as CheckReplayedOrder does. A later
  // CatchUp is possible and reads all logs again.
  Status Recover();
  // Asserts I4, I5 and I7.
  void CheckInvariants() const ASHLAR_REQUIRES(kManifestMutex);

 private:
  struct Change {
    std::shared_ptr<ColumnFamily> family;
    std::optional<ColumnFamily::PreparedFollow> prepared;  // none: the family was dropped
  };

  Status TryToCatchUp() ASHLAR_REQUIRES(kManifestMutex);
  // Returns the families that get the records. They are the live families of the database or, to
  // rebuild their memtables, new ones in their place.
  std::unique_ptr<FamilyTable> FamiliesOf(const PublishedState& recorded, bool rebuilt)
      ASHLAR_REQUIRES(kManifestMutex);
  Status Replay(const RecoveryReport& report) ASHLAR_REQUIRES(kManifestMutex);
  // Describes what readers see and the replay lacks; empty if nothing. The sequence alone does not
  // show it, because an edit of the MANIFEST may be newer than what is left of the logs.
  std::string MissingIn(const LogReplay& replay) const ASHLAR_REQUIRES(kManifestMutex);
  // Returns TryAgain if the replayed state is shorter than the shown one and the previous attempt
  // was not, because a read may have missed the end of a log.
  Status CheckLength() ASHLAR_REQUIRES(kManifestMutex);
  std::vector<Change> Prepare(const PublishedState& recorded, const FamilyTable* rebuilt)
      ASHLAR_REQUIRES(kDatabaseMutex);
  // rebuilt: null, or the families with the memtables to use.
  void Install(RecoveredState read, const FamilyTable* rebuilt, SequenceNumber sequence)
      ASHLAR_REQUIRES(kManifestMutex);

  DatabaseState* const state_;
  std::unique_ptr<LogReplay> replay_ ASHLAR_GUARDED_BY(kManifestMutex);
  LogReplay::Place shown_ ASHLAR_GUARDED_BY(kManifestMutex);  // of the installed state
  bool must_rebuild_ ASHLAR_GUARDED_BY(kManifestMutex) = false;
  // The last replay was shorter than the shown state, and was not installed.
  bool was_shorter_ ASHLAR_GUARDED_BY(kManifestMutex) = false;
};

}  // namespace ashlar
