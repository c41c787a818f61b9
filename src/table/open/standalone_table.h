// StandaloneTable: one table file by its path, open outside of any tree.
//
// Its open reader is that of a TableCache with a single file, so that every format and every check
// is the tree's. Without a record of the file's bounds and sequences, the bounds are those of its
// entries and range deletions (empty: there are none), and entries of a table for ingestion have
// the sequence that the file says, 0 for most.
//
// Thread safety: all methods. Lifetime: cursors and pins of the reader end before it.
#pragma once

#include <memory>

#include "ashlar/vfs.h"
#include "base/result.h"
#include "execute/epoch.h"
#include "table/file_metadata.h"
#include "table/open/table_cache.h"

namespace ashlar {

class StandaloneTable {
 public:
  // The MANIFEST's entry of the file.
  struct Record {
    std::string smallest = {};  // internal keys; empty: not known
    std::string largest = {};
    SequenceNumber largest_sequence = kSequenceNumberMax;  // kSequenceNumberMax: not known
  };
  // args: file_system, path, comparator, and the way of reading. The table has its own epochs and
  // set of open tables. The entries are not compared with the record. Errors name the file.
  static Result<std::unique_ptr<StandaloneTable>> Open(TableCacheArgs args, Record record);
  StandaloneTable(const StandaloneTable&) = delete;
  StandaloneTable& operator=(const StandaloneTable&) = delete;

  TableReader* reader() const { return table_->get(); }
  FileMetaData* file() { return &file_; }
  TableCache* cache() { return &cache_; }
  EpochDomain* epochs() { return &epochs_; }
  const std::string& path() const { return path_; }

 private:
  explicit StandaloneTable(TableCacheArgs args);
  TableCacheArgs Completed(TableCacheArgs args);
  Status FindBounds(const KeyComparator& comparator);

  const std::string path_;
  vfs::FileSystem* const file_system_;
  EpochDomain epochs_;
  OpenTables open_tables_{&epochs_, 0};
  FileMetaData file_;
  TableCache cache_;  // closes the table before the file's metadata is destroyed
  std::unique_ptr<TableRef> table_;
};

}  // namespace ashlar
