// Checkpoints, and the tables of exported families.
#include "ashlar/checkpoint.h"

#include <memory>
#include <utility>

#include "capi/accessors.h"
#include "capi/transfer.h"

using ashlar::Checkpoint;
using ashlar::ExportImportFilesMetaData;
using ashlar::capi::Check;
using ashlar::capi::CopyText;
using ashlar::capi::Rep;
using ashlar::capi::Wrap;

rocksdb_checkpoint_t* rocksdb_checkpoint_object_create(rocksdb_t* db, char** errptr) noexcept {
  Checkpoint* checkpoint = nullptr;
  return Check(errptr, Checkpoint::Create(db->rep, &checkpoint)) ? Wrap(checkpoint) : nullptr;
}
void rocksdb_checkpoint_create(rocksdb_checkpoint_t* checkpoint, const char* checkpoint_dir,
                               uint64_t log_size_for_flush, char** errptr) noexcept {
  Check(errptr, Rep(checkpoint)->CreateCheckpoint(checkpoint_dir, log_size_for_flush));
}
rocksdb_export_import_files_metadata_t* rocksdb_checkpoint_export_column_family(
    rocksdb_checkpoint_t* checkpoint, rocksdb_column_family_handle_t* column_family,
    const char* export_dir, char** errptr) noexcept {
  ExportImportFilesMetaData* exported = nullptr;
  if (!Check(errptr,
             Rep(checkpoint)->ExportColumnFamily(column_family->rep, export_dir, &exported)))
    return nullptr;
  const std::unique_ptr<ExportImportFilesMetaData> owned(exported);
  return new rocksdb_export_import_files_metadata_t{std::move(*owned)};
}
void rocksdb_checkpoint_object_destroy(rocksdb_checkpoint_t* checkpoint) noexcept {
  delete Rep(checkpoint);
}

ASHLAR_C_CREATE_AND_DESTROY(import_column_family_options)
ASHLAR_C_ACCESSORS(import_column_family_options, move_files, unsigned char)

rocksdb_export_import_files_metadata_t* rocksdb_export_import_files_metadata_create(void) noexcept {
  return new rocksdb_export_import_files_metadata_t();
}
char* rocksdb_export_import_files_metadata_get_db_comparator_name(
    rocksdb_export_import_files_metadata_t* metadata) noexcept {
  return CopyText(metadata->rep.db_comparator_name);
}
void rocksdb_export_import_files_metadata_set_db_comparator_name(
    rocksdb_export_import_files_metadata_t* metadata, const char* name) noexcept {
  metadata->rep.db_comparator_name = name;
}
rocksdb_livefiles_t* rocksdb_export_import_files_metadata_get_files(
    rocksdb_export_import_files_metadata_t* metadata) noexcept {
  return new rocksdb_livefiles_t{metadata->rep.files};
}
void rocksdb_export_import_files_metadata_set_files(
    rocksdb_export_import_files_metadata_t* metadata, rocksdb_livefiles_t* files) noexcept {
  metadata->rep.files = std::move(files->rep);
  delete files;
}
void rocksdb_export_import_files_metadata_destroy(
    rocksdb_export_import_files_metadata_t* metadata) noexcept {
  delete metadata;
}
