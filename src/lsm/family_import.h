// FamilyImport: DB::CreateColumnFamilyWithImport. Creates a column family whose tree consists of
// table files from outside the database.
//
//   inspect each file                          outside of everything; errors leave no trace
//     -> link or copy it to a number of the database, sync it, sync the directory
//     -> turn of the commit queue: log synced, a new MANIFEST with the family and its files
//
// I1: each file has the level that its metadata says, and the sequences of its entries, which are
//     within those of its metadata. The files are in the order of imported_order.h.
// I2: once the family is visible, the published sequence is at least the largest of the files.
// I3: a reader, or a recovery after a crash, finds the family with all of its files, or no family.
// I4: files, directory and log are durable before the edit is written, so a power cut that keeps
//     the files keeps all older writes. Until then this call owns the files, and deletes them after
//     an error.
// I5: the originals are not changed; with move_files they are removed after success.
//
// Thread safety: one Run per object; objects run concurrently. Lifetime: the core outlives it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ashlar/metadata.h"
#include "ashlar/options.h"
#include "base/result.h"
#include "lsm/imported_file.h"
#include "lsm/lsm_core.h"
#include "lsm/option_changes.h"
#include "lsm/taken_file.h"

namespace ashlar {

class FamilyImport {
 public:
  struct Request {
    const ColumnFamilyOptions& options;
    const std::string& name;
    bool move_files = false;
    const std::vector<const ExportImportFilesMetaData*>& metadata;
  };
  FamilyImport(LsmCore* core, OptionChanges* option_changes, const Request& request);
  FamilyImport(const FamilyImport&) = delete;
  FamilyImport& operator=(const FamilyImport&) = delete;

  // The new family.
  Result<std::shared_ptr<ColumnFamily>> Run();

 private:
  // Checks names and options before a file is opened.
  Status CheckRequest();
  Status Prepare();
  // Checks that keys of different metadata do not overlap, because each has its own sequence space.
  // `ends`: where the parts end in files_.
  Status CheckPartsDoNotOverlap(std::span<const size_t> ends) const;
  Status AddFamily(bool* install_failed);
  VersionEdit MakeEdit();
  // Removes the originals of moved files, and reports to the LOG.
  void Finish();

  LsmCore* const core_;
  DatabaseState* const state_;
  OptionChanges* const option_changes_;
  const Request& request_;
  ColumnFamilyOptions options_;  // of the family
  std::vector<ImportedFile> files_;
  std::vector<TakenFile> taken_;  // one per file
  std::shared_ptr<ColumnFamily> added_;
};

}  // namespace ashlar
