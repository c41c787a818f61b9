// VersionSet: the durable state of the tree: column families, their current Versions, and the
// MANIFEST that records every change.
//
//   install   Prepare (no file) -> Write (MANIFEST, synced) -> Publish (swaps the Versions)
//
//   MANIFEST  NONE --Write--> new file with a snapshot, CURRENT set --> OPEN --Write--> OPEN
//             OPEN --too large, too many syncs (I5), family with files--> Write starts a new file
//             OPEN --any error in Write--> UNCERTAIN --Write that succeeds with a new file--> OPEN
//             UNCERTAIN --StopWriting, of a failed promotion--> NONE
//
// I1: a replay of the MANIFEST that CURRENT names gives the published state. Only after a failed
//     Write it may be that state with the failed install on top.
// I2: a failed append, sync or close is final for that MANIFEST; it is never written again.
// I3: while UNCERTAIN no file that either outcome needs may be deleted: LiveTables() has the tables
//     of the failed installs too, and MayDeleteManifest is false.
// I4: recorded values of last_sequence and log numbers never decrease.
// I5: of an existing MANIFEST, one record or one sector is not synced: a power cut that keeps a
//     record keeps those before it. A new MANIFEST does not count before CURRENT names it.
// I6: a file number is used once, also across restarts. None is above kFileNumberMax: a state with
//     fewer than kFileNumbersUnrecordedMax numbers below it is not opened for writing.
//
// Thread safety: the manifest mutex serialises installers and guards the MANIFEST. The published
// state is written under it and the database mutex, and read under either (through Published).
// NewFileNumber, MarkFileNumberUsed, LiveTables and IsLive are for any thread.
// Lifetime: `file_system` and the comparators outlive it; it outlives every Version.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ashlar/vfs.h"
#include "base/result.h"
#include "key/key_comparator.h"
#include "manifest/database_locks.h"
#include "manifest/live_files.h"
#include "manifest/manifest_replay.h"
#include "manifest/published_state.h"
#include "manifest/version.h"
#include "manifest/version_builder.h"
#include "manifest/version_edit.h"
#include "observe/recorder.h"
#include "platform/mutex.h"
#include "wal/log_writer.h"

namespace ashlar {

// An install that is prepared. If it is destroyed without Publish it releases its Versions, and the
// published state is as before, unless Write succeeded.
class PendingInstall {
 public:
  ~PendingInstall();
  PendingInstall(const PendingInstall&) = delete;
  PendingInstall& operator=(const PendingInstall&) = delete;

  struct Change {
    ColumnFamilyState* family = nullptr;
    Version* version = nullptr;  // owned until published; null: the family keeps its version
    std::optional<uint64_t> log_number;
    // Nothing: they stay as they are.
    std::optional<std::map<Level, std::string>> compact_cursors;
  };
  std::span<const Change> changes() const { return changes_; }
  // The highest that an edit records. 0: none.
  SequenceNumber LastSequence() const;

 private:
  friend class VersionSet;
  PendingInstall() = default;

  std::vector<Change> changes_;
  std::unordered_map<const ColumnFamilyState*, size_t> places_;  // in changes_
  std::vector<VersionEdit> edits_;    // without their files, which the Versions own
  std::vector<std::string> records_;  // the edits as they go to the MANIFEST
  std::vector<FileNumber> new_tables_;
  FileNumber new_manifest_number_ = 0;  // 0: append to the one that is open
  FamilyMap added_family_;              // at most one
  ColumnFamilyState* dropped_family_ = nullptr;
  // Allocated for Publish, which allocates nothing.
  RecordedLogs recorded_logs_;
  std::vector<Version*> replaced_;
  bool written_ = false;
};

class VersionSet {
 public:
  struct Args {
    vfs::FileSystem* file_system = nullptr;
    std::string directory;
    uint64_t manifest_bytes_max = uint64_t{1} << 30;  // until SetManifestBytesMax
    LiveFiles::Drop drop_file;                        // see LiveFiles; may be empty
    LiveFiles::Adopted adopted_file = {};             // the same
    // Holds the tables of a database that is opened read-only; null: nothing holds them.
    PinnedTables* pinned_tables = nullptr;
    Recorder recorder = {};
    bool best_efforts = false;  // as in ManifestReplay
    bool tracks_logs = false;   // a new MANIFEST lists the logs so that RocksDB checks them, too
  };

  explicit VersionSet(Args args);
  ~VersionSet();
  VersionSet(const VersionSet&) = delete;
  VersionSet& operator=(const VersionSet&) = delete;

  // IDENTITY (holding database_id), MANIFEST-000001 and CURRENT, durable, in an existing directory
  // without a CURRENT.
  static Status CreateNewDatabase(vfs::FileSystem* file_system, const std::string& directory,
                                  const std::string& database_id);
  // The names, in the order of their ids. Needs no comparators and no lock, and opens no table.
  static Status ListColumnFamilies(vfs::FileSystem* file_system, const std::string& directory,
                                   std::vector<std::string>* names);

  // Reads CURRENT and the MANIFEST. `specs` must name "default", and unless read_only every family
  // of the database (InvalidArgument listing the others); families that the database does not have
  // are left to the caller (FindFamily gives null). Checks comparator names, and that every table
  // exists with its recorded size. Writes nothing.
  Status Recover(std::span<const ColumnFamilySpec> specs, bool read_only);

  // RecoveredState::went_back.
  const std::vector<std::string>& went_back() const { return went_back_; }

  // For a reader without the lock, after Recover or ReadOn: TryAgain if the MANIFEST was written to
  // or replaced since that began to read it. Ok: every file that its state needs was there until
  // now, because the writer records that a file is not needed before it deletes it.
  Status CheckManifestUnchanged(const ManifestPlace& place) const;
  // For the same reader, once it has read the logs up to the write `newest`. TryAgain if the reader
  // has writes from after an ingestion but not the ingestion, which no log has. TryAgain also if
  // that cannot be decided, because the MANIFEST was replaced. Other edits add nothing that the
  // logs do not have.
  Status CheckNothingIngestedBefore(SequenceNumber newest, const ManifestPlace& place) const;
  // Where Recover, or the ReadOn that was adopted last, has ended.
  const ManifestPlace& place() const ASHLAR_REQUIRES(kManifestMutex) { return place_; }

  // For a secondary: the state that the writer has recorded by now. New tables are pinned.
  // TryAgain and the like are left to the caller (read_without_lock.h). for_writing: there is no
  // writer any more, and this set becomes it; InvalidArgument names families that are not open.
  Result<RecoveredState> ReadOn(bool for_writing) const ASHLAR_REQUIRES(kManifestMutex);
  // Makes a state of ReadOn the published one. The replaced state is returned, for its Versions to
  // be released without the mutex.
  PublishedState Adopt(RecoveredState state) noexcept
      ASHLAR_REQUIRES(kManifestMutex, kDatabaseMutex);

  // One or more edits as one atomic change; several of one family are applied in order. An edit has
  // the change (files, log_number, min_log_number_to_keep, last_sequence, log additions). The set
  // adds file numbers, sequences and atomic groups. Edits that record logs come last: a power cut
  // may take them, and the rest stands. ColumnFamilyDropped for a dropped family.
  Result<std::unique_ptr<PendingInstall>> Prepare(std::vector<VersionEdit> edits)
      ASHLAR_REQUIRES(kManifestMutex);
  // Drops the new files of edits that were not applied: they may have open tables. From any thread.
  void DiscardNewFiles(std::span<VersionEdit> edits) noexcept;
  // A new family that needs no log below log_number, with the new files of `tables` (null: empty),
  // which are taken from it. Family and files are one atomic change: with files, Write starts a new
  // MANIFEST. The state becomes visible at Publish. InvalidArgument when the name is taken.
  Result<std::unique_ptr<PendingInstall>> PrepareAddFamily(const ColumnFamilySpec& spec,
                                                           uint64_t log_number, VersionEdit* tables)
      ASHLAR_REQUIRES(kManifestMutex);
  Result<std::unique_ptr<PendingInstall>> PrepareDropFamily(ColumnFamilyId id)
      ASHLAR_REQUIRES(kManifestMutex);
  // Appends and syncs; starts a new MANIFEST when it has to. After an error the install must not be
  // published. MemoryLimit where memory lacks; Publish allocates nothing.
  Status Write(PendingInstall* install) ASHLAR_REQUIRES(kManifestMutex);
  // Makes the install current. Returns the Versions that were replaced, each with the set's count,
  // which the caller gives back through the epoch.
  std::vector<Version*> Publish(PendingInstall* install) noexcept
      ASHLAR_REQUIRES(kManifestMutex, kDatabaseMutex);

  // A larger MANIFEST is replaced by the next Write.
  void SetManifestBytesMax(uint64_t bytes) noexcept ASHLAR_REQUIRES(kManifestMutex) {
    manifest_bytes_max_ = bytes;
  }
  // After a Write that failed, and was to change nothing: the set is a reader's again.
  void StopWriting() noexcept ASHLAR_REQUIRES(kManifestMutex);
  // Closes the MANIFEST. Idempotent.
  Status Close() ASHLAR_REQUIRES(kManifestMutex);

  // The state that Publish made current, or the recovered one.
  const PublishedState& Published() const ASHLAR_REQUIRES(kDatabaseMutex) { return published_; }

  FileNumber NewFileNumber() { return next_file_number_.fetch_add(1, std::memory_order_relaxed); }
  // Requires: MayBelong(number).
  void MarkFileNumberUsed(FileNumber number);
  // True: a file of this number, found in a directory, can be the database's. The last run may have
  // used more numbers than it recorded, but fewer than kFileNumbersUnrecordedMax. A file with a
  // much higher number is foreign.
  bool MayBelong(FileNumber number) const {
    return number < foreign_number_min_.load(std::memory_order_relaxed);
  }
  FileNumber next_file_number() const { return next_file_number_.load(std::memory_order_relaxed); }

  // Empty unless the MANIFEST has one; then every new MANIFEST gets it too. Constant once the
  // database is open.
  const std::string& database_id() const { return database_id_; }
  void set_database_id(std::string id) { database_id_ = std::move(id); }

  FileNumber manifest_number() const ASHLAR_REQUIRES(kManifestMutex) { return manifest_number_; }
  uint64_t manifest_bytes() const ASHLAR_REQUIRES(kManifestMutex) {
    return writer_ != nullptr ? writer_->bytes() : 0;
  }
  // A Write failed and none with a new MANIFEST has succeeded since.
  bool IsUncertain() const ASHLAR_REQUIRES(kManifestMutex) { return uncertain_; }
  bool MayDeleteManifest(FileNumber number) const ASHLAR_REQUIRES(kManifestMutex) {
    return !uncertain_ && number < manifest_number_;
  }
  // The MANIFESTs that newer ones have replaced since the last call: those that were current, and
  // those of Writes that failed. Requires: !IsUncertain().
  std::vector<FileNumber> TakeReplacedManifests() noexcept ASHLAR_REQUIRES(kManifestMutex);
  // Every table that a Version still held, or a MANIFEST that may be current, refers to. The union
  // with the outputs of running jobs must stay.
  std::unordered_set<FileNumber> LiveTables() const;
  // Whether it is one of them.
  bool IsLive(FileNumber table) const;

  // Asserts I2, I3 and I6, and I1 of live_files.h.
  void CheckInvariants() const ASHLAR_REQUIRES(kManifestMutex);

 private:
  static Status ReadColumnFamilyNames(vfs::FileSystem* file_system, const std::string& directory,
                                      std::vector<std::string>* names);

  using Builders = std::map<ColumnFamilyId, std::unique_ptr<VersionBuilder>>;
  struct ManifestFile {
    FileNumber number = 0;
    std::string name;
    uint64_t bytes = 0;
  };

  // The same state as Published. Only a thread that holds both mutexes changes it, so the manifest
  // mutex alone suffices to read it. clang has no name for "this mutex or that one".
  const PublishedState& ForInstallers() const ASHLAR_REQUIRES(kManifestMutex) {
    kDatabaseMutex.AssertHeld();
    return Published();
  }

  // The one that CURRENT names.
  Result<ManifestFile> FindManifest() const;
  // For an id of which nothing is known any more.
  Status DroppedFamily(ColumnFamilyId id) const ASHLAR_REQUIRES(kManifestMutex);
  Status ApplyEdit(VersionEdit* edit, Builders* builders, PendingInstall* install)
      ASHLAR_REQUIRES(kManifestMutex);
  static PendingInstall::Change* ChangeFor(ColumnFamilyState* family, PendingInstall* install);
  // The numbers and marks that every edit carries, and its bytes.
  void StampAndEncode(std::vector<VersionEdit>* edits, PendingInstall* install)
      ASHLAR_REQUIRES(kManifestMutex);
  void StampEdits(std::vector<VersionEdit>* edits, PendingInstall* install) const
      ASHLAR_REQUIRES(kManifestMutex);
  bool NeedsNewManifest(std::span<const std::string> records) const ASHLAR_REQUIRES(kManifestMutex);

  // Allocates for Publish, and puts the new tables under quarantine until the end of Write.
  void PreparePublish(PendingInstall* install) ASHLAR_REQUIRES(kManifestMutex);
  Status WriteRecords(const PendingInstall& install) ASHLAR_REQUIRES(kManifestMutex);

  Status StartManifest(const PendingInstall& install) ASHLAR_REQUIRES(kManifestMutex);
  Status AppendSnapshot(LogWriter* writer) const ASHLAR_REQUIRES(kManifestMutex);
  Status AppendFamily(const ColumnFamilyState& family, LogWriter* writer) const
      ASHLAR_REQUIRES(kManifestMutex);
  void SetNextFileNumber(FileNumber number);

  const Args args_;
  mutable LiveFiles live_;                       // the replays of ReadOn add to it
  std::atomic<FileNumber> next_file_number_{2};  // any thread; relaxed: the numbers order nothing
  // Written by Recover and Adopt; relaxed: it orders nothing.
  std::atomic<FileNumber> foreign_number_min_{kFileNumbersUnrecordedMax};
  // Constant after Recover, database_id_ after the open, or the promotion of a secondary.
  std::vector<ColumnFamilySpec> specs_;  // of Recover
  std::string database_id_;
  std::vector<std::string> went_back_;

  uint64_t manifest_bytes_max_ ASHLAR_GUARDED_BY(kManifestMutex);
  // null: the next Write starts a MANIFEST
  std::unique_ptr<LogWriter> writer_ ASHLAR_GUARDED_BY(kManifestMutex);
  FileNumber manifest_number_ ASHLAR_GUARDED_BY(kManifestMutex) = 0;
  ManifestPlace place_ ASHLAR_GUARDED_BY(kManifestMutex);  // of Recover and Adopt
  // Of TakeReplacedManifests; while uncertain one of them may be current.
  std::vector<FileNumber> replaced_manifests_ ASHLAR_GUARDED_BY(kManifestMutex);
  bool uncertain_ ASHLAR_GUARDED_BY(kManifestMutex) = false;
  mutable Mutex quarantine_mutex_;
  // Tables of failed installs, and of one being written.
  std::unordered_set<FileNumber> quarantine_ ASHLAR_GUARDED_BY(quarantine_mutex_);

  // Changed by Recover, Adopt and Publish. Installers read it through ForInstallers.
  PublishedState published_ ASHLAR_GUARDED_BY(kDatabaseMutex);
};

// Discards, at its end, the new files that are still in the edits.
class NewFilesGuard {
 public:
  NewFilesGuard(VersionSet* versions, std::vector<VersionEdit>* edits)
      : versions_(versions), edits_(edits) {}
  ~NewFilesGuard() { versions_->DiscardNewFiles(*edits_); }
  NewFilesGuard(const NewFilesGuard&) = delete;
  NewFilesGuard& operator=(const NewFilesGuard&) = delete;

 private:
  VersionSet* const versions_;
  std::vector<VersionEdit>* const edits_;
};

}  // namespace ashlar
