// TableOpener: makes cursors over table files from their metadata. A level cursor opens the files
// of a level through it and is independent of the table cache.
//
// Thread safety: any thread.
#pragma once

#include <memory>

#include "base/result.h"
#include "key/cursor.h"
#include "table/file_metadata.h"
#include "table/table_reader.h"

namespace ashlar {

class TableOpener {
 public:
  virtual ~TableOpener() = default;
  // Returns null if options.table_filter rejects the table. Requires: the caller holds a reference
  // on the file during the call. The cursor holds a count on the open table.
  virtual Result<std::unique_ptr<InternalCursor>> NewCursor(FileMetaData* file,
                                                            const TableReadOptions& options) = 0;
  // TableReader::MayMatch for options.seek_prefix. Returns true for a table that cannot be opened,
  // because NewCursor then returns the error.
  virtual bool MayMatch(FileMetaData* file, const TableReadOptions& options,
                        const Slice& internal_target) = 0;
};

}  // namespace ashlar
