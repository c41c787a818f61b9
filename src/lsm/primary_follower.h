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
// I1: a reader sees a prefix of the primary's history: all writes up to one of them, in all
//     families. After CatchUp it has every write that was in the log file, or in tables, when
//     CatchUp was called. It becomes shorter only by writes that the primary has taken back.
// I2: the MANIFEST did not change from before its first edit was read until after the length of the
//     last log was taken, and no tables were ingested before the last record that was read. So the
//     versions and the logs are of one moment, and everything that they need is open.
// I3: CatchUp that fails changes nothing that a reader sees.
// I4: an entry that is not part of the view's prefix has a sequence above the published one.
// I5: nothing is written below the primary's directory.
// I6: Recover shows no less than was shown before it: a write that is published is in the files.
// I7: a reader's views and sequence are of one state: no install came between them.
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
  // replay: that of the open.
  PrimaryFollower(DatabaseState* state, std::unique_ptr<LogReplay> replay)
      : state_(state), replay_(std::move(replay)), shown_(replay_->place()) {}
  PrimaryFollower(const PrimaryFollower&) = delete;
  PrimaryFollower& operator=(const PrimaryFollower&) = delete;

  // Corruption for damage; the file system's error; TryAgain if the primary changed its files
  // faster than they could be read.
  Status CatchUp();
  // For a promotion, with the lock of the database. Catches up with everything that a recovery
  // finds, and sets DatabaseState::recovery and the logs that are replayed. InvalidArgument: a
  // family is not open. NotSupported: as CheckReplayedOrder. A later CatchUp is possible and reads
  // all logs again.
  Status Recover();
  // Asserts I4, I5 and I7.
  void CheckInvariants() const ASHLAR_REQUIRES(kManifestMutex);

 private:
  struct Change {
    std::shared_ptr<ColumnFamily> family;
    std::optional<ColumnFamily::PreparedFollow> prepared;  // none: it was dropped
  };

  Status TryToCatchUp() ASHLAR_REQUIRES(kManifestMutex);
  // The families that get the records: those of the database that are not dropped or, to rebuild
  // their memtables, new ones in their place.
  std::unique_ptr<FamilyTable> FamiliesOf(const PublishedState& recorded, bool rebuilt)
      ASHLAR_REQUIRES(kManifestMutex);
  Status Replay(const RecoveryReport& report) ASHLAR_REQUIRES(kManifestMutex);
  // Names what readers see and the replay lacks; empty: nothing. The sequence alone does not show
  // it, because an edit of the MANIFEST may be newer than what is left of the logs.
  std::string MissingIn(const LogReplay& replay) const ASHLAR_REQUIRES(kManifestMutex);
  // TryAgain if the replayed state is shorter than the shown one, and that of the attempt before
  // was not: a read may have missed the end of a log.
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
  // The last replay ended below the published sequence, and was not installed.
  bool was_shorter_ ASHLAR_GUARDED_BY(kManifestMutex) = false;
};

}  // namespace ashlar
