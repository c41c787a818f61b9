// SstFileWriter: writes a table file from keys in ascending order, for DB::IngestExternalFile. The
// file is that of a flush, but with the last level's codec and filter. RocksDB ingests it, too.
//
//   Open --> (Put | Merge | Delete | DeleteRange)* --> Finish --> (Open ...)
//
// All entries have sequence number 0. An ingestion may give the file another one.
//
// Errors name the file. InvalidArgument: a key is not larger than the one before it, a key and its
// value exceed 512 MiB, a range is inverted, or the call came before Open. Nothing is written then,
// and the writer can continue. Any other error is final, and further calls return it. Finish
// deletes the file after such an error or if it has no entries. The destructor deletes an open
// file. Lifetime: comparator and rate limiter must outlive the writer. Thread safety: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/comparator.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/export.h"
#include "ashlar/options.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/table_properties.h"
#include "ashlar/types.h"

namespace ashlar {

struct ExternalSstFileInfo {
  std::string file_path;
  std::string smallest_key;  // user keys of the entries; empty: there are only range deletions
  std::string largest_key;
  std::string smallest_range_del_key;  // of the range deletions; empty: there are none
  std::string largest_range_del_key;   // excluded
  // Of the whole file (ashlar/file_checksum.h); empty and "Unknown": there is no factory.
  std::string file_checksum;
  std::string file_checksum_func_name;
  SequenceNumber sequence_number = 0;
  uint64_t file_size = 0;              // bytes
  uint64_t num_entries = 0;            // without range deletions
  uint64_t num_range_del_entries = 0;  // as they were added
  int32_t version = 0;                 // of the format of external files
};

class ASHLAR_API SstFileWriter {
 public:
  // column_family: the file is for this family, and others refuse it; null: any family takes it.
  // invalidate_page_cache is accepted. io_priority: the priority of requests to the rate limiter;
  // IO_TOTAL: none are made.
  SstFileWriter(const EnvOptions& env_options, const Options& options,
                ColumnFamilyHandle* column_family = nullptr, bool invalidate_page_cache = true,
                Env::IOPriority io_priority = Env::IO_TOTAL)
      : SstFileWriter(env_options, options, options.comparator, column_family,
                      invalidate_page_cache, io_priority) {}
  // Orders keys by user_comparator instead of the options' comparator.
  SstFileWriter(const EnvOptions& env_options, const Options& options,
                const Comparator* user_comparator, ColumnFamilyHandle* column_family = nullptr,
                bool invalidate_page_cache = true, Env::IOPriority io_priority = Env::IO_TOTAL);
  ~SstFileWriter();
  SstFileWriter(const SstFileWriter&) = delete;
  SstFileWriter& operator=(const SstFileWriter&) = delete;

  // Creates the file. An older file of that name is unlinked first, so other hard links to it keep
  // its contents. InvalidArgument: another file is open, or the options are wrong.
  Status Open(const std::string& file_path, Temperature temp = Temperature::kUnknown);

  // Requires, for the three: user_key is larger than all before it.
  Status Put(const Slice& user_key, const Slice& value);
  Status Merge(const Slice& user_key, const Slice& value);
  Status Delete(const Slice& user_key);
  // Deletes older data in [begin_key, end_key), but no entry of the file itself. May be called in
  // any order, before, between or after entries. An empty range adds nothing.
  Status DeleteRange(const Slice& begin_key, const Slice& end_key);

  // Completes the file and makes it durable, except for its name in the directory. file_info may be
  // null.
  Status Finish(ExternalSstFileInfo* file_info = nullptr);

  // The approximate bytes of the file so far. After Finish, the bytes of the last file.
  uint64_t FileSize();

  // Whether a table with these properties was made by an SstFileWriter.
  static bool CreatedBySstFileWriter(const TableProperties& properties);

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace ashlar
