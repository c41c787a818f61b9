// ManifestReplay: makes the state of a database from the edits of its MANIFEST.
//
//   Open --> Run: ManifestReader --edit--> Apply, until the end --> checks --> Versions
//
// One VersionBuilder per family collects the tables, and a Version is built once, at the end. For a
// family that the caller did not name, only the name is kept.
//
// A secondary replays repeatedly, each time from its last state (Args::base):
//
//   CURRENT names the same MANIFEST   the edits after those of the base, on top of its Versions
//   another one has replaced it       all of its edits; tables of the base keep their metadata
//
// Families that the base does not have are not opened. A family whose tables did not change keeps
// its Version.
//
// I1: a replay without the lock (Args::pinned_tables) continues until the file has not grown since
//     the last reading. Otherwise the tables of a long MANIFEST would be deleted again and again
//     before it was completely read.
// I2: a family with new tables is refused if epoch numbers order level 0 differently from sequences
//     (epoch_order.h). This applies to all opens, catch-ups and promotions.
//
// Thread safety: one thread. Lifetime: `live` outlives the result, the base and the specs outlive
// the replay.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ashlar/vfs.h"
#include "base/result.h"
#include "manifest/complete_states.h"
#include "manifest/published_state.h"
#include "manifest/version_builder.h"
#include "manifest/version_edit.h"
#include "table/open/pinned_tables.h"

namespace ashlar {

// File numbers that one run can use without recording them before a crash: more than a million a
// second over ten days.
inline constexpr FileNumber kFileNumbersUnrecordedMax = uint64_t{1} << 40;

// Applies an edit's log additions and deletion to the recorded logs.
void RecordLogs(const VersionEdit& edit, RecordedLogs* logs);

// A place between two edits of a MANIFEST, and the state there other than the families.
struct ManifestPlace {
  FileNumber manifest_number = 0;
  uint64_t manifest_bytes = 0;  // that were read
  uint64_t manifest_end = 0;    // end of the last complete edit or atomic group
  FileNumber next_file_number = 0;
  std::string database_id;
  std::map<ColumnFamilyId, std::string> unopened;  // families that were not named
};

struct RecoveredState : ManifestPlace {
  PublishedState published;
  // Families that are in an older state than the last, because tables are missing (best_efforts).
  std::vector<std::string> went_back;
};

class ManifestReplay {
 public:
  struct Args {
    vfs::FileSystem* file_system = nullptr;
    std::string directory;
    std::span<const ColumnFamilySpec> specs;
    bool all_families_must_open = true;
    LiveFiles* live = nullptr;
    // Keeps the tables open; null: their sizes are read by name.
    PinnedTables* pinned_tables = nullptr;
    // Opens each family in the newest state whose tables all exist. The log numbers are those of
    // the states; later logs do not continue a state that is not the last.
    bool best_efforts = false;
    // The state from which to continue, and its place. Null: the replay is the first.
    const PublishedState* base = nullptr;
    const ManifestPlace* base_place = nullptr;
  };

  explicit ManifestReplay(const Args& args);

  // With a base, also returns Corruption if CURRENT leads to another database, to an older state,
  // or to a state in which a dropped family exists again.
  Result<RecoveredState> Run();

 private:
  Result<std::unique_ptr<ManifestReader>> OpenManifest();
  Result<std::unique_ptr<ManifestReader>> OpenFromBase();
  // Begins with the families of the base and their Versions.
  void StartFromBase();
  // True if the edit is after the complete state of its family.
  bool IsBeyond(const VersionEdit& edit, uint64_t number) const;
  // Applies the edits up to the end that the reader has seen, and counts them in *number. Does not
  // return the reader's error.
  Status ApplyAll(ManifestReader* manifest, uint64_t* number);
  Status Apply(VersionEdit* edit);
  Status AddFamily(const VersionEdit& edit);
  // For a family that the base does not have. Corruption: an earlier state had it, so that its
  // handle would show the old contents forever.
  Status CheckWasNotDropped(ColumnFamilyId id, const std::string& name) const;
  Status DropFamily(const VersionEdit& edit);
  Status ApplyToFamily(VersionEdit* edit);
  Status TakeFamilyFields(const VersionEdit& edit, ColumnFamilyState* family);
  void TakeDatabaseFields(const VersionEdit& edit);
  const ColumnFamilySpec* FindSpec(const std::string& name) const;
  Status OpenFamily(ColumnFamilyId id, const ColumnFamilySpec& spec);
  // The family's Version in the base, or null if there is none.
  Version* BaseVersion(ColumnFamilyId id) const;

  Status Finish();
  Status CheckComplete() const;
  Status CheckContinuesBase() const;
  Status CheckAllOpened() const;
  Status BuildVersions();
  Status CheckTables() const;
  Status CheckTable(const FileMetaData& file) const;
  Status TableBytes(const FileMetaData& file, const std::string& name, uint64_t* bytes) const;
  void RaiseNextFileNumber();
  Status CheckNumbersAreLeft() const;

  const Args args_;
  std::map<std::string_view, const ColumnFamilySpec*> specs_;  // of the Args, by name
  CompleteStates complete_;                                    // with best_efforts
  RecoveredState state_;
  std::map<ColumnFamilyId, std::unique_ptr<VersionBuilder>> builders_;
  bool continues_ = false;  // with only the edits after those of the base
  std::optional<FileNumber> next_file_number_;
  bool has_log_number_ = false;
  bool has_last_sequence_ = false;
};

}  // namespace ashlar
