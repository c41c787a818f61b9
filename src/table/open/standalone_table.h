// StandaloneTable: one table file by its path, open outside of any tree.
//
// A TableCache with a single file opens its reader, so every format and every check is the same as
// in a tree. Without a record of the file's bounds and sequences, the bounds are those of its
// entries and range deletions (empty if there are none), and entries of a table for ingestion have
// the sequence that the file stores, which is 0 for most.
//
// Thread safety: all methods from any thread. Lifetime: outlives cursors and pins of the reader.
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
  // The file's entry in the MANIFEST.
  struct Record {
    std::string smallest = {};  // internal keys; empty: not known
    std::string largest = {};
    SequenceNumber largest_sequence = kSequenceNumberMax;  // kSequenceNumberMax: not known
  };
  // args: file_system, path, comparator, and the settings for reads. The table has its own epochs
  // and set of open tables. The entries are not compared with the record. Errors name the file.
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
