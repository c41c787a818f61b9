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
//     Write may it give that state with the failed install on top.
// I2: a failed append, sync or close is final for that MANIFEST; it is never written again.
// I3: while UNCERTAIN no file that either outcome needs may be deleted. LiveTables() includes the
//     tables of the failed installs, and MayDeleteManifest is false.
// I4: recorded values of last_sequence and log numbers never decrease.
// I5: in an existing MANIFEST at most one record or one sector is not synced, so a power cut that
//     keeps a record keeps those before it. A new MANIFEST does not count before CURRENT names it.
// I6: a file number is used once, even across restarts. None is above kFileNumberMax, because a
//     state with fewer than kFileNumbersUnrecordedMax numbers left is not opened for writing.
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

// A prepared install. If it is destroyed without Publish, it releases its Versions. The published
// state is then as before, unless Write succeeded.
class PendingInstall {
 public:
  ~PendingInstall();
  PendingInstall(const PendingInstall&) = delete;
  PendingInstall& operator=(const PendingInstall&) = delete;

  struct Change {
    ColumnFamilyState* family = nullptr;
    Version* version = nullptr;  // owned until published; null: the family keeps its version
    std::optional<uint64_t> log_number;
    // Not set: the cursors stay as they are.
    std::optional<std::map<Level, std::string>> compact_cursors;
  };
  std::span<const Change> changes() const { return changes_; }
  // The highest sequence that an edit records, or 0 if none does.
  SequenceNumber LastSequence() const;

 private:
  friend class VersionSet;
  PendingInstall() = default;

  std::vector<Change> changes_;
  std::unordered_map<const ColumnFamilyState*, size_t> places_;  // in changes_
  std::vector<VersionEdit> edits_;    // without their files, which the Versions own
  std::vector<std::string> records_;  // the edits as they go to the MANIFEST
  std::vector<FileNumber> new_tables_;
  FileNumber new_manifest_number_ = 0;  // 0: append to the open MANIFEST
  FamilyMap added_family_;              // at most one
  ColumnFamilyState* dropped_family_ = nullptr;
  // Allocated in advance for Publish, which allocates nothing.
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

  // Creates IDENTITY (with database_id), MANIFEST-000001 and CURRENT, and makes them durable.
  // Requires: the directory exists and has no CURRENT.
  static Status CreateNewDatabase(vfs::FileSystem* file_system, const std::string& directory,
                                  const std::string& database_id);
  // Lists the names in the order of the ids. Needs no comparators and no lock, and opens no table.
  static Status ListColumnFamilies(vfs::FileSystem* file_system, const std::string& directory,
                                   std::vector<std::string>* names);

  // Reads CURRENT and the MANIFEST. `specs` must name "default" and, unless read_only, every family
  // of the database; InvalidArgument lists the others. Families that the database does not have are
  // left to the caller (FindFamily returns null). Checks comparator names, and that every table
  // exists with its recorded size. Writes nothing.
  Status Recover(std::span<const ColumnFamilySpec> specs, bool read_only);

  // RecoveredState::went_back.
  const std::vector<std::string>& went_back() const { return went_back_; }

  // For a reader without the lock, after Recover or ReadOn. TryAgain: the MANIFEST was written to
  // or replaced since that call began to read it. OK: every file that its state needs was there
  // until now, because the writer records that a file is not needed before it deletes it.
  Status CheckManifestUnchanged(const ManifestPlace& place) const;
  // For the same reader, once it has read the logs up to the write `newest`. TryAgain: the reader
  // has writes from after an ingestion but not the ingestion itself, which no log has. TryAgain is
  // also returned if that cannot be decided, because the MANIFEST was replaced. Other edits add
  // nothing that the logs do not have.
  Status CheckNothingIngestedBefore(SequenceNumber newest, const ManifestPlace& place) const;
  // The place where Recover, or the last adopted ReadOn, ended.
  const ManifestPlace& place() const ASHLAR_REQUIRES(kManifestMutex) { return place_; }

  // For a secondary: reads the state that the writer has recorded by now, and pins new tables. The
  // caller handles TryAgain and similar errors (read_without_lock.h). for_writing: the writer has
  // ended, and this set becomes the writer; InvalidArgument names families that are not open.
  Result<RecoveredState> ReadOn(bool for_writing) const ASHLAR_REQUIRES(kManifestMutex);
  // Publishes a state of ReadOn. Returns the replaced state, so that its Versions can be released
  // without the mutex.
  PublishedState Adopt(RecoveredState state) noexcept
      ASHLAR_REQUIRES(kManifestMutex, kDatabaseMutex);

  // Prepares edits as one atomic change; several of one family are applied in order. An edit has
  // the change (files, log_number, min_log_number_to_keep, last_sequence, log additions). The set
  // adds file numbers, sequences and atomic groups. Requires: edits that record logs are last,
  // because a power cut may remove them and keep the rest. ColumnFamilyDropped: a family is gone.
  Result<std::unique_ptr<PendingInstall>> Prepare(std::vector<VersionEdit> edits)
      ASHLAR_REQUIRES(kManifestMutex);
  // Drops the new files of edits that were not applied. They may have open tables. Any thread.
  void DiscardNewFiles(std::span<VersionEdit> edits) noexcept;
  // Prepares a new family that needs no log below log_number. Takes the new files of `tables`
  // (null: none). Family and files are one atomic change, so with files Write starts a new
  // MANIFEST. The state becomes visible at Publish. InvalidArgument: the name is taken.
  Result<std::unique_ptr<PendingInstall>> PrepareAddFamily(const ColumnFamilySpec& spec,
                                                           uint64_t log_number, VersionEdit* tables)
      ASHLAR_REQUIRES(kManifestMutex);
  Result<std::unique_ptr<PendingInstall>> PrepareDropFamily(ColumnFamilyId id)
      ASHLAR_REQUIRES(kManifestMutex);
  // Appends and syncs, or starts a new MANIFEST if necessary. After an error the install must not
  // be published. MemoryLimit: an allocation failed. Publish allocates nothing.
  Status Write(PendingInstall* install) ASHLAR_REQUIRES(kManifestMutex);
  // Makes the install current. Returns the replaced Versions, each with the set's count, which the
  // caller releases through the epoch.
  std::vector<Version*> Publish(PendingInstall* install) noexcept
      ASHLAR_REQUIRES(kManifestMutex, kDatabaseMutex);

  // A larger MANIFEST is replaced by the next Write.
  void SetManifestBytesMax(uint64_t bytes) noexcept ASHLAR_REQUIRES(kManifestMutex) {
    manifest_bytes_max_ = bytes;
  }
  // Call after a failed Write that was to change nothing. The set is then a reader's again.
  void StopWriting() noexcept ASHLAR_REQUIRES(kManifestMutex);
  // Closes the MANIFEST. Idempotent.
  Status Close() ASHLAR_REQUIRES(kManifestMutex);

  // The state that Publish made current, or the recovered one.
  const PublishedState& Published() const ASHLAR_REQUIRES(kDatabaseMutex) { return published_; }

  FileNumber NewFileNumber() { return next_file_number_.fetch_add(1, std::memory_order_relaxed); }
  // Requires: MayBelong(number).
  void MarkFileNumberUsed(FileNumber number);
  // True if a file with this number, found in a directory, can belong to the database. The last run
  // may have used more numbers than it recorded, but fewer than kFileNumbersUnrecordedMax. A file
  // with a much higher number is foreign.
  bool MayBelong(FileNumber number) const {
    return number < foreign_number_min_.load(std::memory_order_relaxed);
  }
  FileNumber next_file_number() const { return next_file_number_.load(std::memory_order_relaxed); }

  // The id that the MANIFEST has, and that every new MANIFEST gets; empty if there is none.
  // Constant once the database is open.
  const std::string& database_id() const { return database_id_; }
  void set_database_id(std::string id) { database_id_ = std::move(id); }

  FileNumber manifest_number() const ASHLAR_REQUIRES(kManifestMutex) { return manifest_number_; }
  uint64_t manifest_bytes() const ASHLAR_REQUIRES(kManifestMutex) {
    return writer_ != nullptr ? writer_->bytes() : 0;
  }
  // True if a Write failed and none with a new MANIFEST has succeeded since.
  bool IsUncertain() const ASHLAR_REQUIRES(kManifestMutex) { return uncertain_; }
  bool MayDeleteManifest(FileNumber number) const ASHLAR_REQUIRES(kManifestMutex) {
    return !uncertain_ && number < manifest_number_;
  }
  // The MANIFESTs that newer ones have replaced since the last call: those that were current, and
  // those of Writes that failed. Requires: !IsUncertain().
  std::vector<FileNumber> TakeReplacedManifests() noexcept ASHLAR_REQUIRES(kManifestMutex);
  // Every table in a live Version or in a MANIFEST that may be current. These, and the outputs of
  // running jobs, must not be deleted.
  std::unordered_set<FileNumber> LiveTables() const;
  // True if LiveTables() has the table.
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

  // Finds the MANIFEST that CURRENT names.
  Result<ManifestFile> FindManifest() const;
  // The error for an id whose family does not exist any more.
  Status DroppedFamily(ColumnFamilyId id) const ASHLAR_REQUIRES(kManifestMutex);
  Status ApplyEdit(VersionEdit* edit, Builders* builders, PendingInstall* install)
      ASHLAR_REQUIRES(kManifestMutex);
  static PendingInstall::Change* ChangeFor(ColumnFamilyState* family, PendingInstall* install);
  // Sets the numbers and marks that every edit carries, and encodes the edits.
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
  // Constant after Recover; database_id_ is after the open or the promotion of a secondary.
  std::vector<ColumnFamilySpec> specs_;  // of Recover
  std::string database_id_;
  std::vector<std::string> went_back_;

  uint64_t manifest_bytes_max_ ASHLAR_GUARDED_BY(kManifestMutex);
  // null: the next Write starts a MANIFEST
  std::unique_ptr<LogWriter> writer_ ASHLAR_GUARDED_BY(kManifestMutex);
  FileNumber manifest_number_ ASHLAR_GUARDED_BY(kManifestMutex) = 0;
  ManifestPlace place_ ASHLAR_GUARDED_BY(kManifestMutex);  // of Recover and Adopt
  // For TakeReplacedManifests. While uncertain, one of them may be current.
  std::vector<FileNumber> replaced_manifests_ ASHLAR_GUARDED_BY(kManifestMutex);
  bool uncertain_ ASHLAR_GUARDED_BY(kManifestMutex) = false;
  mutable Mutex quarantine_mutex_;
  // Tables of failed installs, and of the one being written.
  std::unordered_set<FileNumber> quarantine_ ASHLAR_GUARDED_BY(quarantine_mutex_);

  // Changed by Recover, Adopt and Publish. Installers read it through ForInstallers.
  PublishedState published_ ASHLAR_GUARDED_BY(kDatabaseMutex);
};

// Its destructor discards the new files that are still in the edits.
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
