// StorageSurvey: implements DB::GetLiveFilesStorageInfo. It lists the files that make up an open
// database at one moment, for backups and checkpoints.
//
// While deletions of files are disabled:
//   1  the oldest log that a recovery looks for  read first: later states need no older log
//   2  the tables and the length of the MANIFEST one state, taken under the manifest mutex
//   3  the lengths of the logs                   after 2, so that they have at least the writes
//                                                that the state lacks
//   4  the MANIFEST has grown since 2: from 2 again, and after some attempts without writers
//
// I1: the length of a log is taken after those of all older ones. A log is closed before the next
//     one begins, so none is taken shorter than the predecessor record of the next one says.
// I2: logs and the MANIFEST grow, a recovery truncates logs, and old logs are recycled, so these
//     files have to be copied. Tables and OPTIONS files never change.
// I3: no edit is made between 2 and 3. An ingestion is in no log, so the copy would lack it, but
//     have writes that the program made after it.
//
// A database that is read without its lock has no deletions to disable and no writers to stop. Its
// state is the one that it shows. If another process has written the MANIFEST since, a log may be
// missing, and the others may have writes from after an ingestion. So the result is TryAgain (I3).
//
// Thread safety: one call of Run; calls run concurrently. Lifetime: the core outlives it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ashlar/metadata.h"
#include "ashlar/options.h"
#include "base/result.h"
#include "lsm/lsm_core.h"
#include "manifest/manifest_replay.h"

namespace ashlar {

// The MANIFEST of the state that a database shows: its own, or what it has read of its writer's.
struct ShownManifest {
  FileNumber number = 0;
  uint64_t bytes = 0;
};

// reads_only: DatabaseState::read_only. Returns IOError if a write of the MANIFEST has failed and
// Resume has not succeeded since, and ShutdownInProgress if the database was closed.
Result<ShownManifest> FindShownManifest(const DatabaseState& state, bool reads_only)
    ASHLAR_REQUIRES(kManifestMutex);

class StorageSurvey {
 public:
  StorageSurvey(LsmCore* core, const LiveFilesStorageInfoOptions& options)
      : core_(core),
        state_(core->state.get()),
        reads_only_(state_->read_only()),
        options_(options) {}
  StorageSurvey(const StorageSurvey&) = delete;
  StorageSurvey& operator=(const StorageSurvey&) = delete;

  // Returns the files in the order in which they are to be copied.
  Result<std::vector<LiveFileStorageInfo>> Run();

 private:
  using Files = std::vector<LiveFileStorageInfo>;
  struct Moment {
    ShownManifest manifest;
    ManifestPlace place = {};  // read last, if the database is only read
    Files tables = {};
    Files logs = {};
  };

  uint64_t OldestLog() const;
  // Returns the paths of the logs from `oldest` on, by number.
  Result<std::map<uint64_t, std::string>> ListLogs(uint64_t oldest) const;
  // The end of the last record, or the file's length if another process writes the log.
  Result<uint64_t> LogBytes(uint64_t number, const std::string& path) const;
  Result<bool> WantsFlush() const;
  Status Flush();
  Result<Moment> TakeMoment(uint64_t oldest_log);
  Result<Moment> TakeOnce(uint64_t oldest_log);
  Result<Moment> TakeTree();
  Result<Files> TakeLogs(uint64_t oldest_log);
  Status AddDescription(const Moment& moment, Files* files) const;
  LiveFileStorageInfo Describe(const std::string& path, FileType type, uint64_t number,
                               uint64_t bytes) const;

  LsmCore* const core_;
  DatabaseState* const state_;
  const bool reads_only_;  // when the survey began; a promotion does not change it
  const LiveFilesStorageInfoOptions& options_;
};

}  // namespace ashlar
