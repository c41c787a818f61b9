// VersionInstaller: the only path of edits to the MANIFEST and to the views of readers.
//
//   Prepare: completes the edits, reserves memory for views (database mutex); builds Versions
//     --> Publish: MANIFEST (no database mutex) --> Versions and views at once (database mutex)
//
// I1: an install allocates its memory before it writes the MANIFEST, and throws nothing after.
// I2: a version, and the removal of the memtables that it replaces, become visible in one critical
//     section.
// I3: an edit that records log numbers also says which logs no family needs, so any other log that
//     is missing is lost. The same install forgets unneeded logs that are on record themselves.
// I4: sequences that an edit adds (VersionEdit::last_sequence, of an ingestion in its turn of the
//     commit queue) are published after the views that have their entries. A reader that takes
//     several views and then the sequence detects by the views that it has to begin again.
// I5: the sequences of a failed edit are not used again, because the MANIFEST may have them, and a
//     secondary may have shown them.
//
// Thread safety: Install and Record... from any thread without locks; Prepare and Publish under the
// manifest mutex.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "lsm/database_state.h"
#include "lsm/file_janitor.h"
#include "lsm/view_observer.h"

namespace ashlar {

class VersionInstaller {
 public:
  VersionInstaller(DatabaseState* state, const FileJanitor* files, ViewObserver* observer)
      : state_(state), files_(files), observer_(observer) {}
  VersionInstaller(const VersionInstaller&) = delete;
  VersionInstaller& operator=(const VersionInstaller&) = delete;

  // Runs under the database mutex, before the edits are final.
  using Complete = FunctionRef<void(std::span<VersionEdit> edits)>;
  // Runs under the database mutex, in the critical section that installs the new views; throws
  // nothing.
  using WhenPublished = FunctionRef<void()>;
  struct Prepared {
    std::unique_ptr<PendingInstall> install;
    std::vector<std::shared_ptr<ColumnFamily>> changed = {};  // whose views it replaces
  };

  // Records the edits in the MANIFEST and makes them current. Requires: at most one edit of a
  // family changes its files.
  Status Install(std::vector<VersionEdit> edits, WhenPublished when_published);
  // The two halves of Install. An error of Prepare leaves the MANIFEST as it was; after an error of
  // Publish it may hold the edits.
  Result<Prepared> Prepare(std::vector<VersionEdit> edits, Complete complete)
      ASHLAR_REQUIRES(kManifestMutex);
  Status Publish(const Prepared& prepared, WhenPublished when_published)
      ASHLAR_REQUIRES(kManifestMutex);

  // Starts a MANIFEST of this process without changing the state. If it fails, the state on record
  // is the same whichever MANIFEST is current.
  Status RecordOwner();
  // Records which logs each family needs, and forgets the others. At open this also starts a
  // MANIFEST of this run.
  Status RecordLogNumbers();
  // Records the lengths of logs with writes that have been synced and closed for good, so that
  // later damage in them is not mistaken for their end.
  Status RecordSyncedLogs(std::span<const LogSet::LiveLog> logs);

 private:
  void CompleteEdits(std::vector<VersionEdit>* edits,
                     std::span<const LogSet::LiveLog> synced_logs) const
      ASHLAR_REQUIRES(kDatabaseMutex);
  // The additions of synced logs with writes, except those whose length is in `recorded`.
  VersionEdit LogAdditions(std::span<const LogSet::LiveLog> logs, uint64_t oldest,
                           const RecordedLogs& recorded) const;
  void PrepareViews(std::span<const VersionEdit> edits, Prepared* prepared) const
      ASHLAR_REQUIRES(kDatabaseMutex);
  void SkipSequences(const PendingInstall& install) noexcept;  // I5
  void Swap(const Prepared& prepared, WhenPublished when_published) noexcept
      ASHLAR_REQUIRES(kManifestMutex);

  DatabaseState* const state_;
  const FileJanitor* const files_;
  ViewObserver* const observer_;
};

}  // namespace ashlar
