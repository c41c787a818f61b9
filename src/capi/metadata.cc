// Metadata of a database's tables, levels and memory.
#include "ashlar/metadata.h"

#include <utility>

#include "capi/accessors.h"
#include "capi/transfer.h"

using ashlar::DB;
using ashlar::LiveFileMetaData;
using ashlar::capi::BorrowText;
using ashlar::capi::Check;
using ashlar::capi::CopyBytes;
using ashlar::capi::CopyText;

namespace {

const LiveFileMetaData& File(const rocksdb_livefiles_t* files, int index) {
  return files->rep[static_cast<size_t>(index)];
}

const ashlar::LiveFileStorageInfo& File(const rocksdb_livefiles_storage_info_t* info,
                                        size_t index) {
  return info->rep[index];
}

char* Copy(const std::string& bytes, size_t* size) {
  *size = bytes.size();
  return CopyBytes(bytes);
}

// Null options mean all tables.
rocksdb_column_family_metadata_t* MetadataOf(
    rocksdb_t* db, ashlar::ColumnFamilyHandle* family,
    const rocksdb_column_family_metadata_options_t* options) {
  auto* const metadata = new rocksdb_column_family_metadata_t();
  if (options == nullptr) {
    db->rep->GetColumnFamilyMetaData(family, &metadata->rep);
  } else {
    db->rep->GetColumnFamilyMetaData(family, options->rep, &metadata->rep);
  }
  return metadata;
}

// A null key means that the range has no such end.
void SetEnd(const char* key, size_t key_size, std::string* kept, ashlar::OptSlice* end) {
  kept->assign(key == nullptr ? "" : key, key == nullptr ? 0 : key_size);
  *end = key == nullptr ? ashlar::OptSlice() : ashlar::OptSlice(*kept);
}

uint64_t SumOf(const rocksdb_memory_consumers_t* consumers, const std::string& property) {
  uint64_t sum = 0;
  for (const rocksdb_t* const db : consumers->databases) {
    uint64_t bytes = 0;
    if (db->rep->GetAggregatedIntProperty(property, &bytes)) sum += bytes;
  }
  return sum;
}

}  // namespace

// ---- The tables of a database.

const rocksdb_livefiles_t* rocksdb_livefiles(rocksdb_t* db) noexcept {
  auto* const files = new rocksdb_livefiles_t();
  db->rep->GetLiveFilesMetaData(&files->rep);
  return files;
}
void rocksdb_livefiles_destroy(const rocksdb_livefiles_t* files) noexcept { delete files; }
int rocksdb_livefiles_count(const rocksdb_livefiles_t* files) noexcept {
  return static_cast<int>(files->rep.size());
}
const char* rocksdb_livefiles_column_family_name(const rocksdb_livefiles_t* files,
                                                 int index) noexcept {
  return File(files, index).column_family_name.c_str();
}
const char* rocksdb_livefiles_name(const rocksdb_livefiles_t* files, int index) noexcept {
  return File(files, index).name.c_str();
}
const char* rocksdb_livefiles_directory(const rocksdb_livefiles_t* files, int index) noexcept {
  return File(files, index).directory.c_str();
}
int rocksdb_livefiles_level(const rocksdb_livefiles_t* files, int index) noexcept {
  return File(files, index).level;
}
size_t rocksdb_livefiles_size(const rocksdb_livefiles_t* files, int index) noexcept {
  return File(files, index).size;
}
const char* rocksdb_livefiles_smallestkey(const rocksdb_livefiles_t* files, int index,
                                          size_t* size) noexcept {
  return BorrowText(&File(files, index).smallestkey, size);
}
const char* rocksdb_livefiles_largestkey(const rocksdb_livefiles_t* files, int index,
                                         size_t* size) noexcept {
  return BorrowText(&File(files, index).largestkey, size);
}
uint64_t rocksdb_livefiles_smallest_seqno(const rocksdb_livefiles_t* files, int index) noexcept {
  return File(files, index).smallest_seqno;
}
uint64_t rocksdb_livefiles_largest_seqno(const rocksdb_livefiles_t* files, int index) noexcept {
  return File(files, index).largest_seqno;
}
uint64_t rocksdb_livefiles_entries(const rocksdb_livefiles_t* files, int index) noexcept {
  return File(files, index).num_entries;
}
uint64_t rocksdb_livefiles_deletions(const rocksdb_livefiles_t* files, int index) noexcept {
  return File(files, index).num_deletions;
}

rocksdb_livefiles_t* rocksdb_livefiles_create(void) noexcept { return new rocksdb_livefiles_t(); }
void rocksdb_livefiles_add(rocksdb_livefiles_t* files, rocksdb_livefile_t* file) noexcept {
  files->rep.push_back(std::move(file->rep));
  delete file;
}
rocksdb_livefile_t* rocksdb_livefile_create(void) noexcept { return new rocksdb_livefile_t(); }
void rocksdb_livefile_set_column_family_name(rocksdb_livefile_t* file, const char* name) noexcept {
  file->rep.column_family_name = name;
}
void rocksdb_livefile_set_level(rocksdb_livefile_t* file, int level) noexcept {
  file->rep.level = level;
}
void rocksdb_livefile_set_name(rocksdb_livefile_t* file, const char* name) noexcept {
  file->rep.name = name;
}
void rocksdb_livefile_set_directory(rocksdb_livefile_t* file, const char* directory) noexcept {
  file->rep.directory = directory;
  file->rep.db_path = directory;
}
void rocksdb_livefile_set_size(rocksdb_livefile_t* file, size_t size) noexcept {
  file->rep.size = size;
}
void rocksdb_livefile_set_smallest_key(rocksdb_livefile_t* file, const char* key,
                                       size_t keylen) noexcept {
  file->rep.smallestkey.assign(key, keylen);
}
void rocksdb_livefile_set_largest_key(rocksdb_livefile_t* file, const char* key,
                                      size_t keylen) noexcept {
  file->rep.largestkey.assign(key, keylen);
}
void rocksdb_livefile_set_smallest_seqno(rocksdb_livefile_t* file, uint64_t seqno) noexcept {
  file->rep.smallest_seqno = seqno;
}
void rocksdb_livefile_set_largest_seqno(rocksdb_livefile_t* file, uint64_t seqno) noexcept {
  file->rep.largest_seqno = seqno;
}
void rocksdb_livefile_set_num_entries(rocksdb_livefile_t* file, uint64_t entries) noexcept {
  file->rep.num_entries = entries;
}
void rocksdb_livefile_set_num_deletions(rocksdb_livefile_t* file, uint64_t deletions) noexcept {
  file->rep.num_deletions = deletions;
}
void rocksdb_livefile_destroy(rocksdb_livefile_t* file) noexcept { delete file; }

// ---- The files of a database.

ASHLAR_C_CREATE_AND_DESTROY(livefiles_storage_info_options)
ASHLAR_C_ACCESSORS(livefiles_storage_info_options, include_checksum_info, unsigned char)
ASHLAR_C_ACCESSORS(livefiles_storage_info_options, wal_size_for_flush, uint64_t)
ASHLAR_C_ACCESSORS(livefiles_storage_info_options, atomic_flush, unsigned char)

rocksdb_livefiles_storage_info_t* rocksdb_get_livefiles_storage_info(
    rocksdb_t* db, const rocksdb_livefiles_storage_info_options_t* options,
    char** errptr) noexcept {
  auto info = std::make_unique<rocksdb_livefiles_storage_info_t>();
  const ashlar::LiveFilesStorageInfoOptions defaults;
  const ashlar::Status status =
      db->rep->GetLiveFilesStorageInfo(options == nullptr ? defaults : options->rep, &info->rep);
  return Check(errptr, status) ? info.release() : nullptr;
}
void rocksdb_livefiles_storage_info_destroy(rocksdb_livefiles_storage_info_t* info) noexcept {
  delete info;
}
size_t rocksdb_livefiles_storage_info_count(const rocksdb_livefiles_storage_info_t* info) noexcept {
  return info->rep.size();
}
const char* rocksdb_livefiles_storage_info_relative_filename(
    const rocksdb_livefiles_storage_info_t* info, size_t index) noexcept {
  return File(info, index).relative_filename.c_str();
}
const char* rocksdb_livefiles_storage_info_directory(const rocksdb_livefiles_storage_info_t* info,
                                                     size_t index) noexcept {
  return File(info, index).directory.c_str();
}
uint64_t rocksdb_livefiles_storage_info_file_number(const rocksdb_livefiles_storage_info_t* info,
                                                    size_t index) noexcept {
  return File(info, index).file_number;
}
int rocksdb_livefiles_storage_info_file_type(const rocksdb_livefiles_storage_info_t* info,
                                             size_t index) noexcept {
  return File(info, index).file_type;
}
uint64_t rocksdb_livefiles_storage_info_size(const rocksdb_livefiles_storage_info_t* info,
                                             size_t index) noexcept {
  return File(info, index).size;
}
int rocksdb_livefiles_storage_info_temperature(const rocksdb_livefiles_storage_info_t* info,
                                               size_t index) noexcept {
  return static_cast<int>(File(info, index).temperature);
}
const char* rocksdb_livefiles_storage_info_file_checksum(
    const rocksdb_livefiles_storage_info_t* info, size_t index) noexcept {
  return File(info, index).file_checksum.c_str();
}
const char* rocksdb_livefiles_storage_info_file_checksum_func_name(
    const rocksdb_livefiles_storage_info_t* info, size_t index) noexcept {
  return File(info, index).file_checksum_func_name.c_str();
}
unsigned char rocksdb_livefiles_storage_info_trim_to_size(
    const rocksdb_livefiles_storage_info_t* info, size_t index) noexcept {
  return static_cast<unsigned char>(File(info, index).trim_to_size);
}
const char* rocksdb_livefiles_storage_info_replacement_contents(
    const rocksdb_livefiles_storage_info_t* info, size_t index, size_t* size) noexcept {
  return BorrowText(&File(info, index).replacement_contents, size);
}

// ---- The levels of a family.

rocksdb_column_family_metadata_t* rocksdb_get_column_family_metadata(rocksdb_t* db) noexcept {
  return MetadataOf(db, db->default_family, nullptr);
}
rocksdb_column_family_metadata_t* rocksdb_get_column_family_metadata_cf(
    rocksdb_t* db, rocksdb_column_family_handle_t* column_family) noexcept {
  return MetadataOf(db, column_family->rep, nullptr);
}
rocksdb_column_family_metadata_t* rocksdb_get_column_family_metadata_with_options(
    rocksdb_t* db, const rocksdb_column_family_metadata_options_t* options) noexcept {
  return MetadataOf(db, db->default_family, options);
}
rocksdb_column_family_metadata_t* rocksdb_get_column_family_metadata_cf_with_options(
    rocksdb_t* db, rocksdb_column_family_handle_t* column_family,
    const rocksdb_column_family_metadata_options_t* options) noexcept {
  return MetadataOf(db, column_family->rep, options);
}
ASHLAR_C_CREATE_AND_DESTROY(column_family_metadata_options)
ASHLAR_C_ACCESSORS(column_family_metadata_options, level, int)
void rocksdb_column_family_metadata_options_set_start_key(
    rocksdb_column_family_metadata_options_t* options, const char* key, size_t key_size) noexcept {
  SetEnd(key, key_size, &options->start_key, &options->rep.range.start);
}
const char* rocksdb_column_family_metadata_options_get_start_key(
    const rocksdb_column_family_metadata_options_t* options, size_t* size) noexcept {
  return BorrowText(options->rep.range.start ? &options->start_key : nullptr, size);
}
void rocksdb_column_family_metadata_options_set_end_key(
    rocksdb_column_family_metadata_options_t* options, const char* key, size_t key_size) noexcept {
  SetEnd(key, key_size, &options->end_key, &options->rep.range.limit);
}
const char* rocksdb_column_family_metadata_options_get_end_key(
    const rocksdb_column_family_metadata_options_t* options, size_t* size) noexcept {
  return BorrowText(options->rep.range.limit ? &options->end_key : nullptr, size);
}

void rocksdb_column_family_metadata_destroy(rocksdb_column_family_metadata_t* metadata) noexcept {
  delete metadata;
}
uint64_t rocksdb_column_family_metadata_get_size(
    rocksdb_column_family_metadata_t* metadata) noexcept {
  return metadata->rep.size;
}
size_t rocksdb_column_family_metadata_get_file_count(
    rocksdb_column_family_metadata_t* metadata) noexcept {
  return metadata->rep.file_count;
}
char* rocksdb_column_family_metadata_get_name(rocksdb_column_family_metadata_t* metadata) noexcept {
  return CopyText(metadata->rep.name);
}
size_t rocksdb_column_family_metadata_get_level_count(
    rocksdb_column_family_metadata_t* metadata) noexcept {
  return metadata->rep.levels.size();
}

rocksdb_level_metadata_t* rocksdb_column_family_metadata_get_level_metadata(
    rocksdb_column_family_metadata_t* metadata, size_t i) noexcept {
  return i < metadata->rep.levels.size() ? new rocksdb_level_metadata_t{&metadata->rep.levels[i]}
                                         : nullptr;
}
void rocksdb_level_metadata_destroy(rocksdb_level_metadata_t* level) noexcept { delete level; }
int rocksdb_level_metadata_get_level(rocksdb_level_metadata_t* level) noexcept {
  return level->rep->level;
}
uint64_t rocksdb_level_metadata_get_size(rocksdb_level_metadata_t* level) noexcept {
  return level->rep->size;
}
size_t rocksdb_level_metadata_get_file_count(rocksdb_level_metadata_t* level) noexcept {
  return level->rep->files.size();
}

rocksdb_sst_file_metadata_t* rocksdb_level_metadata_get_sst_file_metadata(
    rocksdb_level_metadata_t* level, size_t i) noexcept {
  return i < level->rep->files.size() ? new rocksdb_sst_file_metadata_t{&level->rep->files[i]}
                                      : nullptr;
}
void rocksdb_sst_file_metadata_destroy(rocksdb_sst_file_metadata_t* file) noexcept { delete file; }
char* rocksdb_sst_file_metadata_get_relative_filename(rocksdb_sst_file_metadata_t* file) noexcept {
  return CopyText(file->rep->relative_filename);
}
char* rocksdb_sst_file_metadata_get_directory(rocksdb_sst_file_metadata_t* file) noexcept {
  return CopyText(file->rep->directory);
}
uint64_t rocksdb_sst_file_metadata_get_size(rocksdb_sst_file_metadata_t* file) noexcept {
  return file->rep->size;
}
char* rocksdb_sst_file_metadata_get_smallestkey(rocksdb_sst_file_metadata_t* file,
                                                size_t* size) noexcept {
  return Copy(file->rep->smallestkey, size);
}
char* rocksdb_sst_file_metadata_get_largestkey(rocksdb_sst_file_metadata_t* file,
                                               size_t* size) noexcept {
  return Copy(file->rep->largestkey, size);
}

// ---- Memory.

rocksdb_memory_consumers_t* rocksdb_memory_consumers_create(void) noexcept {
  return new rocksdb_memory_consumers_t();
}
void rocksdb_memory_consumers_add_db(rocksdb_memory_consumers_t* consumers,
                                     rocksdb_t* db) noexcept {
  consumers->databases.insert(db);
}
void rocksdb_memory_consumers_add_cache(rocksdb_memory_consumers_t* consumers,
                                        rocksdb_cache_t* cache) noexcept {
  consumers->caches.insert(cache->rep);
}
void rocksdb_memory_consumers_destroy(rocksdb_memory_consumers_t* consumers) noexcept {
  delete consumers;
}

rocksdb_memory_usage_t* rocksdb_approximate_memory_usage_create(
    rocksdb_memory_consumers_t* consumers, char** /*errptr*/) noexcept {
  auto* const usage = new rocksdb_memory_usage_t();
  usage->mem_table_total = SumOf(consumers, DB::Properties::kSizeAllMemTables);
  usage->mem_table_unflushed = SumOf(consumers, DB::Properties::kCurSizeAllMemTables);
  usage->mem_table_readers_total = SumOf(consumers, DB::Properties::kEstimateTableReadersMem);
  for (const auto& cache : consumers->caches) usage->cache_total += cache->GetUsage();
  return usage;
}
void rocksdb_approximate_memory_usage_destroy(rocksdb_memory_usage_t* usage) noexcept {
  delete usage;
}
uint64_t rocksdb_approximate_memory_usage_get_mem_table_total(
    rocksdb_memory_usage_t* memory_usage) noexcept {
  return memory_usage->mem_table_total;
}
uint64_t rocksdb_approximate_memory_usage_get_mem_table_unflushed(
    rocksdb_memory_usage_t* memory_usage) noexcept {
  return memory_usage->mem_table_unflushed;
}
uint64_t rocksdb_approximate_memory_usage_get_mem_table_readers_total(
    rocksdb_memory_usage_t* memory_usage) noexcept {
  return memory_usage->mem_table_readers_total;
}
uint64_t rocksdb_approximate_memory_usage_get_cache_total(
    rocksdb_memory_usage_t* memory_usage) noexcept {
  return memory_usage->cache_total;
}
