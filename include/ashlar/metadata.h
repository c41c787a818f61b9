// Metadata of a database's files, levels and column families.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ashlar/types.h"

namespace ashlar {

// The storage attributes of one file of a database.
struct FileStorageInfo {
  std::string relative_filename;  // "000012.sst"
  std::string directory;          // without a trailing '/'
  uint64_t file_number = 0;       // 0: the name has none
  FileType file_type = kTempFile;
  uint64_t size = 0;                                // bytes
  Temperature temperature = Temperature::kUnknown;  // of a table that RocksDB wrote
  // The table's checksum as the MANIFEST records it (ashlar/file_checksum.h). Empty and "Unknown"
  // if it has none.
  std::string file_checksum;
  std::string file_checksum_func_name;
};

// A file of an open database, as it was when DB::GetLiveFilesStorageInfo was called.
struct LiveFileStorageInfo : FileStorageInfo {
  // If not empty, the contents (`size` bytes). The file itself may contain others by now.
  std::string replacement_contents;
  // True if the file may have grown since the call. Copy its first `size` bytes; do not link it. If
  // false, a file of another size is damaged.
  bool trim_to_size = false;
};

struct SstFileMetaData : FileStorageInfo {
  SstFileMetaData() { file_type = kTableFile; }

  std::string name;     // "/000012.sst"
  std::string db_path;  // the same as directory

  SequenceNumber smallest_seqno = 0;
  SequenceNumber largest_seqno = 0;
  std::string smallestkey;  // user keys
  std::string largestkey;
  uint64_t num_reads_sampled = 0;  // always 0
  bool being_compacted = false;
  uint64_t num_entries = 0;
  uint64_t num_deletions = 0;
  uint64_t oldest_ancester_time = 0;  // seconds since 1970; 0: unknown
  uint64_t file_creation_time = 0;
  // RocksDB orders level 0 by this number; the newest file has the highest. 0: none, as in Ashlar's
  // own metadata. CreateColumnFamilyWithImport checks it.
  uint64_t epoch_number = 0;
  // Internal keys between which the file's range deletions apply, for
  // DB::CreateColumnFamilyWithImport.
  std::string smallest;
  std::string largest;
};

struct LiveFileMetaData : SstFileMetaData {
  std::string column_family_name;
  int level = 0;
};

struct LevelMetaData {
  int level = 0;
  uint64_t size = 0;  // bytes
  std::vector<SstFileMetaData> files;
};

struct ColumnFamilyMetaData {
  uint64_t size = 0;  // bytes
  size_t file_count = 0;
  std::string name;
  std::vector<LevelMetaData> levels;
};

// The tables of one column family: the result of Checkpoint::ExportColumnFamily, and the argument
// of DB::CreateColumnFamilyWithImport.
struct ExportImportFilesMetaData {
  std::string db_comparator_name;
  std::vector<LiveFileMetaData> files;
};

}  // namespace ashlar
