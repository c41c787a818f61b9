// TableOpener: makes cursors over table files that are known by their metadata.
//
// Lets a level cursor open the files of a level one after another without knowing the table cache.
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
  // The caller keeps a reference on the file for the length of this call only: the cursor holds the
  // open table.
  virtual Result<std::unique_ptr<InternalCursor>> NewCursor(FileMetaData* file,
                                                            const TableReadOptions& options) = 0;
  // TableReader::MayMatch for options.seek_prefix. A table that cannot be opened may hold anything:
  // NewCursor gives the error.
  virtual bool MayMatch(FileMetaData* file, const TableReadOptions& options,
                        const Slice& internal_target) = 0;
};

}  // namespace ashlar
