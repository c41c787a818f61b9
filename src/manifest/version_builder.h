// VersionBuilder: makes a new Version from a base and a sequence of edits. Pure, except that it
// takes over files.
//
//   base --Apply(edit)*--> (levels' deletions and additions) --Build--> new Version
//
// I1: a file is deleted only from the level that it is in, and added only if no level has it.
//     Otherwise Corruption names the file's number.
// I2: levels without a change are shared with the base.
//
// Thread safety: one thread.
// Lifetime: the base, the known version and LiveFiles outlive the builder.
#pragma once

#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "manifest/live_files.h"
#include "manifest/version.h"
#include "manifest/version_edit.h"

namespace ashlar {

class VersionBuilder {
 public:
  struct Args {
    KeyComparator comparator;
    Level levels = 7;
    Version* base = nullptr;  // null: empty
    // If an edit adds one of its files to an empty base, with the same epoch number, the file keeps
    // its metadata and thus its open table. Null: none.
    Version* known = nullptr;
    LiveFiles* live = nullptr;
  };

  explicit VersionBuilder(const Args& args);
  ~VersionBuilder();
  VersionBuilder(const VersionBuilder&) = delete;
  VersionBuilder& operator=(const VersionBuilder&) = delete;

  // Takes the edit's new files. After an error the builder may only be destroyed.
  Status Apply(VersionEdit* edit);
  // Whether the edits changed any file.
  bool HasChanges() const { return !changes_.empty(); }
  // The caller owns one count. InvalidArgument: a file's level is beyond the number of levels.
  // Corruption: a level is out of order.
  Result<Version*> Build();

 private:
  struct Place {
    Level level = 0;
    FileMetaData* file = nullptr;
  };
  struct LevelChanges {
    std::unordered_set<FileNumber> deleted;     // of the base
    std::map<FileNumber, FileMetaData*> added;  // with one count each
  };

  void IndexBase();
  // Returns the file that the edit adds, or the same file of the base or the known version, with a
  // count for the builder.
  FileMetaData* TakeOver(std::unique_ptr<FileMetaData> brought);
  // Asserts I1.
  void CheckInvariants() const;
  Status ApplyDeletion(const DeletedFile& deleted);
  // adopted has a count for the builder. Null: a file that this builder's edits deleted from the
  // base.
  Status ApplyAddition(Level level, FileNumber number, FileMetaData* adopted);
  std::shared_ptr<const LevelFiles> BuildLevel(Level level) const;

  const Args args_;
  std::map<Level, LevelChanges> changes_;
  std::unordered_map<FileNumber, Place> where_;  // every file of the version so far
  std::unordered_map<FileNumber, FileMetaData*> removed_from_base_;  // the base holds them
  std::unordered_map<FileNumber, FileMetaData*> known_;              // args_.known holds them
  bool base_indexed_ = false;
};

}  // namespace ashlar
