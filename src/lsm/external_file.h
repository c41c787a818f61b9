// ExternalFile: a table file outside the database that was checked and whose bounds are known,
// before an ingestion takes it.
//
// The inspection changes nothing. Errors name the file.
//
// Thread safety: InspectExternalFile from any thread without locks.
#pragma once

#include <memory>
#include <string>

#include "ashlar/options.h"
#include "ashlar/table_properties.h"
#include "base/result.h"
#include "compact/plan/plan_builder.h"
#include "filesystem/file_checksum.h"
#include "lsm/database_state.h"
#include "table/open/standalone_table.h"

namespace ashlar {

struct ExternalFile {
  std::string path;
  uint64_t file_bytes = 0;
  // Internal keys with the sequences of the file. They cover its range deletions, too
  // (file_metadata.h).
  std::string smallest;
  std::string largest;
  SequenceNumber smallest_sequence = 0;
  SequenceNumber largest_sequence = 0;
  // Whether the database gives all entries one sequence. False if a database made the file, or if
  // the file is so old that it has no field for the sequence.
  bool takes_global_sequence = false;
  bool made_by_database = false;
  TableProperties properties;
  FileChecksum checksum;  // for the MANIFEST

  FileBounds bounds() const {
    return {ExtractUserKey(smallest), ExtractUserKey(largest), ExtractTag(largest) == kRangeEndTag};
  }
};

struct ExternalFileArgs {
  const DatabaseState* state = nullptr;
  const ColumnFamily* family = nullptr;
  ColumnFamilyOptions options;  // of the family
  bool verify_blocks = false;
  const FileChecksum* given_checksum = nullptr;  // of the whole file; null: none
  bool verify_given_checksum = true;             // false: it is trusted
  bool may_be_of_database = false;
  bool any_family = false;  // the file may have been written for another family
};

// Opens a table outside the database as a family with these options opens its own tables. The
// options have their defaults filled in. `record` has the bounds and sequences that are known.
Result<std::unique_ptr<StandaloneTable>> OpenExternalTable(const DatabaseState& state,
                                                           const ColumnFamilyOptions& options,
                                                           const std::string& path,
                                                           StandaloneTable::Record record);
Result<ExternalFile> InspectExternalFile(const ExternalFileArgs& args, const std::string& path);

}  // namespace ashlar
