// ImportedFile: a table file outside the database that was checked against its metadata and has a
// place in the tree, before an import takes it.
//
// The inspection changes nothing. Errors name the file.
//
// Thread safety: pure, except that files are read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/metadata.h"
#include "ashlar/options.h"
#include "base/result.h"
#include "lsm/database_state.h"

namespace ashlar {

struct ImportedFile {
  std::string path;
  Level level = 0;
  // For the MANIFEST: bounds, size, counts, and the sequences that the entries have.
  std::unique_ptr<FileMetaData> meta;
  // From the exported family (manifest/epoch_order.h); 0: none. The new MANIFEST does not have it.
  uint64_t epoch_number = 0;
};

struct ImportedFileArgs {
  const DatabaseState* state = nullptr;
  const ColumnFamilyOptions* options = nullptr;  // of the new family, with defaults filled in
};

// Opens the file, reads all of it, and checks that entries and range deletions are in order, of
// implemented kinds, and within the bounds and sequences of the metadata.
Result<ImportedFile> InspectImportedFile(const ImportedFileArgs& args,
                                         const LiveFileMetaData& given);

}  // namespace ashlar
