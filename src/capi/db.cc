// Databases: opening and closing, families, flushing and compaction, properties.
#include "ashlar/convenience.h"
#include "ashlar/options_util.h"
#include "ashlar/utilities/db_ttl.h"
#include "capi/handles.h"
#include "capi/transfer.h"

using ashlar::ColumnFamilyDescriptor;
using ashlar::ColumnFamilyHandle;
using ashlar::ColumnFamilyOptions;
using ashlar::DB;
using ashlar::DBOptions;
using ashlar::Range;
using ashlar::Slice;
using ashlar::Status;
using ashlar::capi::Allocate;
using ashlar::capi::Check;
using ashlar::capi::CopyText;
using ashlar::capi::Rep;

namespace {

rocksdb_t* WrapDb(std::unique_ptr<DB> db) {
  DB* const rep = db.get();
  return new rocksdb_t{
      .owned = std::move(db), .rep = rep, .default_family = rep->DefaultColumnFamily()};
}

std::vector<ColumnFamilyDescriptor> Descriptors(int count, const char* const* names,
                                                const rocksdb_options_t* const* options) {
  std::vector<ColumnFamilyDescriptor> families;
  for (int i = 0; i < count; ++i)
    families.emplace_back(names[i], ColumnFamilyOptions(options[i]->rep));
  return families;
}

// Returns the handle of a created family, or null with an error. Writing the OPTIONS file can fail
// after the family exists, so this destroys a handle that the caller does not get.
rocksdb_column_family_handle_t* WrapCreated(const Status& created, ColumnFamilyHandle* handle,
                                            char** errptr) {
  if (Check(errptr, created)) return new rocksdb_column_family_handle_t{handle, true};
  delete handle;
  return nullptr;
}

void WrapHandles(const std::vector<ColumnFamilyHandle*>& handles,
                 rocksdb_column_family_handle_t** out) {
  for (size_t i = 0; i < handles.size(); ++i)
    out[i] = new rocksdb_column_family_handle_t{handles[i], true};
}

std::vector<ColumnFamilyHandle*> UnwrapHandles(rocksdb_column_family_handle_t* const* handles,
                                               size_t count) {
  std::vector<ColumnFamilyHandle*> out;
  for (size_t i = 0; i < count; ++i) out.push_back(handles[i]->rep);
  return out;
}

// The options of a call. Null means the defaults.
template <typename Handle>
auto OptionsOf(const Handle* options) {
  using Value = decltype(Handle::rep);
  return options == nullptr ? Value() : options->rep;
}

// The bounds of a call. A null key is no bound.
class KeyBounds {
 public:
  KeyBounds(const char* start_key, size_t start_key_size, const char* limit_key,
            size_t limit_key_size)
      : start_(start_key, start_key_size),
        limit_(limit_key, limit_key_size),
        has_start_(start_key != nullptr),
        has_limit_(limit_key != nullptr) {}

  const Slice* start() const { return has_start_ ? &start_ : nullptr; }
  const Slice* limit() const { return has_limit_ ? &limit_ : nullptr; }

 private:
  const Slice start_;
  const Slice limit_;
  const bool has_start_;
  const bool has_limit_;
};

void Compact(rocksdb_t* db, ColumnFamilyHandle* family, const ashlar::CompactRangeOptions& options,
             const KeyBounds& bounds) {
  db->rep->ReportLostError("rocksdb_compact_range",
                           db->rep->CompactRange(options, family, bounds.start(), bounds.limit()));
}

// Copies texts for the caller. `text_of` maps an index to a text.
template <typename TextOf>
char** CopyTexts(size_t count, TextOf text_of) {
  char** const texts = static_cast<char**>(Allocate(count * sizeof(char*)));
  for (size_t i = 0; i < count; ++i) texts[i] = CopyText(text_of(i));
  return texts;
}

struct FilesToCompact {
  const char* const* names;
  size_t count;
};
struct CompactedFiles {
  char*** names;
  size_t* count;
  rocksdb_compactionjobinfo_t* info;
};
void CompactFiles(rocksdb_t* db, ColumnFamilyHandle* family,
                  const rocksdb_compaction_options_t* options, const FilesToCompact& inputs,
                  int output_level, int output_path_id, const CompactedFiles& outputs,
                  char** errptr) {
  const std::vector<std::string> names(inputs.names, inputs.names + inputs.count);
  std::vector<std::string> made;
  if (!Check(errptr, db->rep->CompactFiles(OptionsOf(options), family, names, output_level,
                                           output_path_id, &made, Rep(outputs.info))))
    return;
  if (outputs.count != nullptr) *outputs.count = made.size();
  if (outputs.names == nullptr) return;
  *outputs.names = CopyTexts(made.size(), [&](size_t i) { return made[i]; });
}

char* TextProperty(rocksdb_t* db, ColumnFamilyHandle* family, const char* property) {
  std::string text;
  return db->rep->GetProperty(family, property, &text) ? CopyText(text) : nullptr;
}

int IntProperty(rocksdb_t* db, ColumnFamilyHandle* family, const char* property, uint64_t* value) {
  return db->rep->GetIntProperty(family, property, value) ? 0 : -1;
}

void Sizes(rocksdb_t* db, const ashlar::SizeApproximationOptions& options,
           ColumnFamilyHandle* family, int count, const char* const* starts,
           const size_t* start_sizes, const char* const* limits, const size_t* limit_sizes,
           uint64_t* sizes, char** errptr) {
  std::vector<Range> ranges;
  for (int i = 0; i < count; ++i)
    ranges.emplace_back(Slice(starts[i], start_sizes[i]), Slice(limits[i], limit_sizes[i]));
  Check(errptr, db->rep->GetApproximateSizes(options, family, ranges.data(), count, sizes));
}

std::unordered_map<std::string, std::string> Map(int count, const char* const* keys,
                                                 const char* const* values) {
  std::unordered_map<std::string, std::string> map;
  for (int i = 0; i < count; ++i) map[keys[i]] = values[i];
  return map;
}

void FreeTexts(char** texts, size_t count) {
  if (texts == nullptr) return;
  for (size_t i = 0; i < count; ++i) std::free(texts[i]);
  std::free(static_cast<void*>(texts));
}

}  // namespace

// ---- Opening and closing.

rocksdb_t* rocksdb_open(const rocksdb_options_t* options, const char* name,
                        char** errptr) noexcept {
  std::unique_ptr<DB> db;
  return Check(errptr, DB::Open(options->rep, name, &db)) ? WrapDb(std::move(db)) : nullptr;
}

rocksdb_t* rocksdb_open_for_read_only(const rocksdb_options_t* options, const char* name,
                                      unsigned char error_if_wal_file_exists,
                                      char** errptr) noexcept {
  std::unique_ptr<DB> db;
  return Check(errptr, DB::OpenForReadOnly(options->rep, name, &db, error_if_wal_file_exists != 0))
             ? WrapDb(std::move(db))
             : nullptr;
}

rocksdb_t* rocksdb_open_column_families(const rocksdb_options_t* options, const char* name,
                                        int num_column_families,
                                        const char* const* column_family_names,
                                        const rocksdb_options_t* const* column_family_options,
                                        rocksdb_column_family_handle_t** column_family_handles,
                                        char** errptr) noexcept {
  std::unique_ptr<DB> db;
  std::vector<ColumnFamilyHandle*> handles;
  const std::vector<ColumnFamilyDescriptor> families =
      Descriptors(num_column_families, column_family_names, column_family_options);
  if (!Check(errptr, DB::Open(DBOptions(options->rep), name, families, &handles, &db)))
    return nullptr;
  WrapHandles(handles, column_family_handles);
  return WrapDb(std::move(db));
}

rocksdb_t* rocksdb_open_with_ttl(const rocksdb_options_t* options, const char* name, int ttl,
                                 char** errptr) noexcept {
  ashlar::DBWithTTL* db = nullptr;
  return Check(errptr, ashlar::DBWithTTL::Open(options->rep, name, &db, ttl))
             ? WrapDb(std::unique_ptr<DB>(db))
             : nullptr;
}

rocksdb_t* rocksdb_open_column_families_with_ttl(
    const rocksdb_options_t* options, const char* name, int num_column_families,
    const char* const* column_family_names, const rocksdb_options_t* const* column_family_options,
    rocksdb_column_family_handle_t** column_family_handles, const int* ttls,
    char** errptr) noexcept {
  ashlar::DBWithTTL* db = nullptr;
  std::vector<ColumnFamilyHandle*> handles;
  const std::vector<ColumnFamilyDescriptor> families =
      Descriptors(num_column_families, column_family_names, column_family_options);
  const std::vector<int32_t> ttls_of_families(ttls, ttls + num_column_families);
  if (!Check(errptr, ashlar::DBWithTTL::Open(DBOptions(options->rep), name, families, &handles, &db,
                                             ttls_of_families)))
    return nullptr;
  WrapHandles(handles, column_family_handles);
  return WrapDb(std::unique_ptr<DB>(db));
}

rocksdb_t* rocksdb_open_for_read_only_column_families(
    const rocksdb_options_t* options, const char* name, int num_column_families,
    const char* const* column_family_names, const rocksdb_options_t* const* column_family_options,
    rocksdb_column_family_handle_t** column_family_handles, unsigned char error_if_wal_file_exists,
    char** errptr) noexcept {
  std::unique_ptr<DB> db;
  std::vector<ColumnFamilyHandle*> handles;
  const std::vector<ColumnFamilyDescriptor> families =
      Descriptors(num_column_families, column_family_names, column_family_options);
  if (!Check(errptr, DB::OpenForReadOnly(DBOptions(options->rep), name, families, &handles, &db,
                                         error_if_wal_file_exists != 0)))
    return nullptr;
  WrapHandles(handles, column_family_handles);
  return WrapDb(std::move(db));
}

rocksdb_t* rocksdb_open_as_secondary(const rocksdb_options_t* options, const char* name,
                                     const char* secondary_path, char** errptr) noexcept {
  std::unique_ptr<DB> db;
  return Check(errptr, DB::OpenAsSecondary(options->rep, name, secondary_path, &db))
             ? WrapDb(std::move(db))
             : nullptr;
}

rocksdb_t* rocksdb_open_as_secondary_column_families(
    const rocksdb_options_t* options, const char* name, const char* secondary_path,
    int num_column_families, const char* const* column_family_names,
    const rocksdb_options_t* const* column_family_options,
    rocksdb_column_family_handle_t** column_family_handles, char** errptr) noexcept {
  std::unique_ptr<DB> db;
  std::vector<ColumnFamilyHandle*> handles;
  const std::vector<ColumnFamilyDescriptor> families =
      Descriptors(num_column_families, column_family_names, column_family_options);
  if (!Check(errptr, DB::OpenAsSecondary(DBOptions(options->rep), name, secondary_path, families,
                                         &handles, &db)))
    return nullptr;
  WrapHandles(handles, column_family_handles);
  return WrapDb(std::move(db));
}

void rocksdb_try_catch_up_with_primary(rocksdb_t* db, char** errptr) noexcept {
  Check(errptr, db->rep->TryCatchUpWithPrimary());
}

void ashlar_promote_to_primary(rocksdb_t* db, char** errptr) noexcept {
  Check(errptr, db->rep->PromoteToPrimary());
}

unsigned char ashlar_is_secondary(rocksdb_t* db) noexcept { return db->rep->IsSecondary() ? 1 : 0; }

void rocksdb_close(rocksdb_t* db) noexcept { delete db; }

void rocksdb_destroy_db(const rocksdb_options_t* options, const char* name,
                        char** errptr) noexcept {
  Check(errptr, ashlar::DestroyDB(name, options->rep));
}

void rocksdb_repair_db(const rocksdb_options_t* options, const char* name, char** errptr) noexcept {
  Check(errptr, ashlar::RepairDB(name, options->rep));
}

char* rocksdb_get_db_identity(rocksdb_t* db, size_t* id_size) noexcept {
  std::string identity;
  const bool is_known = db->rep->GetDbIdentity(identity).ok();
  *id_size = is_known ? identity.size() : 0;
  return is_known ? CopyText(identity) : nullptr;
}

uint64_t rocksdb_get_latest_sequence_number(rocksdb_t* db) noexcept {
  return db->rep->GetLatestSequenceNumber();
}

// ---- Column families.

char** rocksdb_list_column_families(const rocksdb_options_t* options, const char* name,
                                    size_t* count, char** errptr) noexcept {
  std::vector<std::string> names;
  *count = 0;
  if (!Check(errptr, DB::ListColumnFamilies(DBOptions(options->rep), name, &names))) return nullptr;
  *count = names.size();
  return CopyTexts(names.size(), [&](size_t i) { return names[i]; });
}

void rocksdb_list_column_families_destroy(char** list, size_t size) noexcept {
  FreeTexts(list, size);
}

rocksdb_column_family_handle_t* rocksdb_create_column_family(
    rocksdb_t* db, const rocksdb_options_t* column_family_options, const char* column_family_name,
    char** errptr) noexcept {
  ColumnFamilyHandle* handle = nullptr;
  const Status created = db->rep->CreateColumnFamily(
      ColumnFamilyOptions(column_family_options->rep), column_family_name, &handle);
  return WrapCreated(created, handle, errptr);
}

rocksdb_column_family_handle_t* rocksdb_create_column_family_with_import(
    rocksdb_t* db, rocksdb_options_t* column_family_options, const char* column_family_name,
    rocksdb_import_column_family_options_t* import_options,
    rocksdb_export_import_files_metadata_t* metadata, char** errptr) noexcept {
  ColumnFamilyHandle* handle = nullptr;
  const Status created = db->rep->CreateColumnFamilyWithImport(
      ColumnFamilyOptions(column_family_options->rep), column_family_name, import_options->rep,
      metadata->rep, &handle);
  return WrapCreated(created, handle, errptr);
}

rocksdb_column_family_handle_t* rocksdb_create_column_family_with_ttl(
    rocksdb_t* db, const rocksdb_options_t* column_family_options, const char* column_family_name,
    int ttl, char** errptr) noexcept {
  ColumnFamilyHandle* handle = nullptr;
  auto* const with_ttl = dynamic_cast<ashlar::DBWithTTL*>(db->rep);
  const Status created =
      with_ttl == nullptr
          ? Status::InvalidArgument(
                "rocksdb_create_column_family_with_ttl needs a database opened with a ttl")
          : with_ttl->CreateColumnFamilyWithTtl(ColumnFamilyOptions(column_family_options->rep),
                                                column_family_name, &handle, ttl);
  return WrapCreated(created, handle, errptr);
}

rocksdb_column_family_handle_t** rocksdb_create_column_families(
    rocksdb_t* db, const rocksdb_options_t* column_family_options, int num_column_families,
    const char* const* column_family_names, size_t* count, char** errptr) noexcept {
  std::vector<ColumnFamilyHandle*> handles;
  const std::vector<std::string> names(column_family_names,
                                       column_family_names + num_column_families);
  Check(errptr, db->rep->CreateColumnFamilies(ColumnFamilyOptions(column_family_options->rep),
                                              names, &handles));
  *count = handles.size();
  auto** const list = static_cast<rocksdb_column_family_handle_t**>(
      Allocate(handles.size() * sizeof(rocksdb_column_family_handle_t*)));
  WrapHandles(handles, list);
  return list;
}

void rocksdb_create_column_families_destroy(rocksdb_column_family_handle_t** list) noexcept {
  std::free(static_cast<void*>(list));
}

void rocksdb_drop_column_family(rocksdb_t* db, rocksdb_column_family_handle_t* handle,
                                char** errptr) noexcept {
  Check(errptr, db->rep->DropColumnFamily(handle->rep));
}

rocksdb_column_family_handle_t* rocksdb_get_default_column_family_handle(rocksdb_t* db) noexcept {
  return new rocksdb_column_family_handle_t{db->default_family, false};
}

void rocksdb_column_family_handle_destroy(rocksdb_column_family_handle_t* handle) noexcept {
  if (handle->owned) delete handle->rep;
  delete handle;
}

uint32_t rocksdb_column_family_handle_get_id(rocksdb_column_family_handle_t* handle) noexcept {
  return handle->rep->GetID();
}

char* rocksdb_column_family_handle_get_name(rocksdb_column_family_handle_t* handle,
                                            size_t* name_size) noexcept {
  const std::string& name = handle->rep->GetName();
  *name_size = name.size();
  return CopyText(name);
}

// ---- Flushing and compaction.

void rocksdb_flush(rocksdb_t* db, const rocksdb_flushoptions_t* options, char** errptr) noexcept {
  Check(errptr, db->rep->Flush(options->rep, db->default_family));
}

void rocksdb_flush_cf(rocksdb_t* db, const rocksdb_flushoptions_t* options,
                      rocksdb_column_family_handle_t* column_family, char** errptr) noexcept {
  Check(errptr, db->rep->Flush(options->rep, column_family->rep));
}

void rocksdb_flush_cfs(rocksdb_t* db, const rocksdb_flushoptions_t* options,
                       rocksdb_column_family_handle_t** column_family, int num_column_families,
                       char** errptr) noexcept {
  Check(errptr,
        db->rep->Flush(options->rep,
                       UnwrapHandles(column_family, static_cast<size_t>(num_column_families))));
}

void rocksdb_flush_wal(rocksdb_t* db, unsigned char sync, char** errptr) noexcept {
  Check(errptr, db->rep->FlushWAL(sync != 0));
}
void rocksdb_flush_wal_with_options(rocksdb_t* db, const rocksdb_flushwaloptions_t* options,
                                    char** errptr) noexcept {
  Check(errptr, db->rep->FlushWAL(OptionsOf(options)));
}

void rocksdb_compact_range(rocksdb_t* db, const char* start_key, size_t start_key_size,
                           const char* limit_key, size_t limit_key_size) noexcept {
  Compact(db, db->default_family, ashlar::CompactRangeOptions(),
          {start_key, start_key_size, limit_key, limit_key_size});
}

void rocksdb_compact_range_cf(rocksdb_t* db, rocksdb_column_family_handle_t* column_family,
                              const char* start_key, size_t start_key_size, const char* limit_key,
                              size_t limit_key_size) noexcept {
  Compact(db, column_family->rep, ashlar::CompactRangeOptions(),
          {start_key, start_key_size, limit_key, limit_key_size});
}

void rocksdb_compact_range_opt(rocksdb_t* db, rocksdb_compactoptions_t* options,
                               const char* start_key, size_t start_key_size, const char* limit_key,
                               size_t limit_key_size) noexcept {
  Compact(db, db->default_family, options->rep,
          {start_key, start_key_size, limit_key, limit_key_size});
}

void rocksdb_compact_range_cf_opt(rocksdb_t* db, rocksdb_column_family_handle_t* column_family,
                                  rocksdb_compactoptions_t* options, const char* start_key,
                                  size_t start_key_size, const char* limit_key,
                                  size_t limit_key_size) noexcept {
  Compact(db, column_family->rep, options->rep,
          {start_key, start_key_size, limit_key, limit_key_size});
}

void rocksdb_compact_files(rocksdb_t* db, const rocksdb_compaction_options_t* options,
                           const char* const* input_file_names, size_t num_input_file_names,
                           int output_level, int output_path_id, char*** output_file_names,
                           size_t* num_output_file_names,
                           rocksdb_compactionjobinfo_t* compaction_job_info,
                           char** errptr) noexcept {
  CompactFiles(db, db->default_family, options, {input_file_names, num_input_file_names},
               output_level, output_path_id,
               {output_file_names, num_output_file_names, compaction_job_info}, errptr);
}
void rocksdb_compact_files_cf(rocksdb_t* db, rocksdb_column_family_handle_t* column_family,
                              const rocksdb_compaction_options_t* options,
                              const char* const* input_file_names, size_t num_input_file_names,
                              int output_level, int output_path_id, char*** output_file_names,
                              size_t* num_output_file_names,
                              rocksdb_compactionjobinfo_t* compaction_job_info,
                              char** errptr) noexcept {
  CompactFiles(db, column_family == nullptr ? db->default_family : column_family->rep, options,
               {input_file_names, num_input_file_names}, output_level, output_path_id,
               {output_file_names, num_output_file_names, compaction_job_info}, errptr);
}
void rocksdb_compact_files_output_file_names_destroy(char** output_file_names,
                                                     size_t num_output_file_names) noexcept {
  FreeTexts(output_file_names, num_output_file_names);
}

void rocksdb_suggest_compact_range(rocksdb_t* db, const char* start_key, size_t start_key_size,
                                   const char* limit_key, size_t limit_key_size,
                                   char** errptr) noexcept {
  const KeyBounds bounds(start_key, start_key_size, limit_key, limit_key_size);
  Check(errptr, db->rep->SuggestCompactRange(db->default_family, bounds.start(), bounds.limit()));
}
void rocksdb_suggest_compact_range_cf(rocksdb_t* db, rocksdb_column_family_handle_t* column_family,
                                      const char* start_key, size_t start_key_size,
                                      const char* limit_key, size_t limit_key_size,
                                      char** errptr) noexcept {
  const KeyBounds bounds(start_key, start_key_size, limit_key, limit_key_size);
  Check(errptr, db->rep->SuggestCompactRange(column_family->rep, bounds.start(), bounds.limit()));
}
void rocksdb_delete_file_in_range(rocksdb_t* db, const char* start_key, size_t start_key_size,
                                  const char* limit_key, size_t limit_key_size,
                                  char** errptr) noexcept {
  const KeyBounds bounds(start_key, start_key_size, limit_key, limit_key_size);
  Check(errptr,
        ashlar::DeleteFilesInRange(db->rep, db->default_family, bounds.start(), bounds.limit()));
}
void rocksdb_delete_file_in_range_cf(rocksdb_t* db, rocksdb_column_family_handle_t* column_family,
                                     const char* start_key, size_t start_key_size,
                                     const char* limit_key, size_t limit_key_size,
                                     char** errptr) noexcept {
  const KeyBounds bounds(start_key, start_key_size, limit_key, limit_key_size);
  Check(errptr,
        ashlar::DeleteFilesInRange(db->rep, column_family->rep, bounds.start(), bounds.limit()));
}
void rocksdb_disable_manual_compaction(rocksdb_t* db) noexcept {
  db->rep->DisableManualCompaction();
}
void rocksdb_enable_manual_compaction(rocksdb_t* db) noexcept { db->rep->EnableManualCompaction(); }
void rocksdb_abort_all_compactions(rocksdb_t* db) noexcept { db->rep->AbortAllCompactions(); }
void rocksdb_resume_all_compactions(rocksdb_t* db) noexcept { db->rep->ResumeAllCompactions(); }

void rocksdb_wait_for_compact(rocksdb_t* db, rocksdb_wait_for_compact_options_t* options,
                              char** errptr) noexcept {
  Check(errptr, db->rep->WaitForCompact(options->rep));
}

void rocksdb_pause_background_work(rocksdb_t* db, char** errptr) noexcept {
  Check(errptr, db->rep->PauseBackgroundWork());
}
void rocksdb_continue_background_work(rocksdb_t* db, char** errptr) noexcept {
  Check(errptr, db->rep->ContinueBackgroundWork());
}
void rocksdb_cancel_all_background_work(rocksdb_t* db, unsigned char wait) noexcept {
  ashlar::CancelAllBackgroundWork(db->rep, wait != 0);
}
void rocksdb_disable_file_deletions(rocksdb_t* db, char** errptr) noexcept {
  Check(errptr, db->rep->DisableFileDeletions());
}
void rocksdb_enable_file_deletions(rocksdb_t* db, char** errptr) noexcept {
  Check(errptr, db->rep->EnableFileDeletions());
}

void rocksdb_verify_checksum(rocksdb_t* db, char** errptr) noexcept {
  Check(errptr, db->rep->VerifyChecksum());
}
void rocksdb_verify_checksum_with_options(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                          char** errptr) noexcept {
  Check(errptr, db->rep->VerifyChecksum(OptionsOf(options)));
}
void rocksdb_verify_file_checksums(rocksdb_t* db, char** errptr) noexcept {
  Check(errptr, db->rep->VerifyFileChecksums(ashlar::ReadOptions()));
}
void rocksdb_verify_file_checksums_with_options(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                                char** errptr) noexcept {
  Check(errptr, db->rep->VerifyFileChecksums(OptionsOf(options)));
}
void rocksdb_delete_file(rocksdb_t* db, const char* name) noexcept {
  db->rep->ReportLostError("rocksdb_delete_file", db->rep->DeleteFile(name));
}

// ---- Properties and sizes.

char* rocksdb_property_value(rocksdb_t* db, const char* property) noexcept {
  return TextProperty(db, db->default_family, property);
}
char* rocksdb_property_value_cf(rocksdb_t* db, rocksdb_column_family_handle_t* column_family,
                                const char* property) noexcept {
  return TextProperty(db, column_family->rep, property);
}
int rocksdb_property_int(rocksdb_t* db, const char* property, uint64_t* value) noexcept {
  return IntProperty(db, db->default_family, property, value);
}
int rocksdb_property_int_cf(rocksdb_t* db, rocksdb_column_family_handle_t* column_family,
                            const char* property, uint64_t* value) noexcept {
  return IntProperty(db, column_family->rep, property, value);
}

void rocksdb_approximate_sizes(rocksdb_t* db, int num_ranges, const char* const* range_start_keys,
                               const size_t* range_start_key_sizes,
                               const char* const* range_limit_keys,
                               const size_t* range_limit_key_sizes, uint64_t* sizes,
                               char** errptr) noexcept {
  Sizes(db, {}, db->default_family, num_ranges, range_start_keys, range_start_key_sizes,
        range_limit_keys, range_limit_key_sizes, sizes, errptr);
}

void rocksdb_approximate_sizes_cf(rocksdb_t* db, rocksdb_column_family_handle_t* column_family,
                                  int num_ranges, const char* const* range_start_keys,
                                  const size_t* range_start_key_sizes,
                                  const char* const* range_limit_keys,
                                  const size_t* range_limit_key_sizes, uint64_t* sizes,
                                  char** errptr) noexcept {
  Sizes(db, {}, column_family->rep, num_ranges, range_start_keys, range_start_key_sizes,
        range_limit_keys, range_limit_key_sizes, sizes, errptr);
}

void rocksdb_approximate_sizes_cf_with_flags(
    rocksdb_t* db, rocksdb_column_family_handle_t* column_family, int num_ranges,
    const char* const* range_start_keys, const size_t* range_start_key_sizes,
    const char* const* range_limit_keys, const size_t* range_limit_key_sizes, uint8_t include_flags,
    uint64_t* sizes, char** errptr) noexcept {
  ashlar::SizeApproximationOptions options;
  options.include_memtables =
      (include_flags & rocksdb_size_approximation_flags_include_memtable) != 0;
  options.include_files = (include_flags & rocksdb_size_approximation_flags_include_files) != 0;
  options.include_blob_files =
      (include_flags & rocksdb_size_approximation_flags_include_blob_files) != 0;
  Sizes(db, options, column_family->rep, num_ranges, range_start_keys, range_start_key_sizes,
        range_limit_keys, range_limit_key_sizes, sizes, errptr);
}

void rocksdb_approximate_sizes_with_options(rocksdb_t* db,
                                            const rocksdb_size_approximation_options_t* options,
                                            int num_ranges, const char* const* range_start_keys,
                                            const size_t* range_start_key_sizes,
                                            const char* const* range_limit_keys,
                                            const size_t* range_limit_key_sizes, uint64_t* sizes,
                                            char** errptr) noexcept {
  Sizes(db, OptionsOf(options), db->default_family, num_ranges, range_start_keys,
        range_start_key_sizes, range_limit_keys, range_limit_key_sizes, sizes, errptr);
}

void rocksdb_approximate_sizes_cf_with_options(rocksdb_t* db,
                                               rocksdb_column_family_handle_t* column_family,
                                               const rocksdb_size_approximation_options_t* options,
                                               int num_ranges, const char* const* range_start_keys,
                                               const size_t* range_start_key_sizes,
                                               const char* const* range_limit_keys,
                                               const size_t* range_limit_key_sizes, uint64_t* sizes,
                                               char** errptr) noexcept {
  Sizes(db, OptionsOf(options), column_family->rep, num_ranges, range_start_keys,
        range_start_key_sizes, range_limit_keys, range_limit_key_sizes, sizes, errptr);
}

// ---- Options of an open database, and of one on disk.

void rocksdb_set_options(rocksdb_t* db, int count, const char* const keys[],
                         const char* const values[], char** errptr) noexcept {
  Check(errptr, db->rep->SetOptions(db->default_family, Map(count, keys, values)));
}
void rocksdb_set_options_cf(rocksdb_t* db, rocksdb_column_family_handle_t* handle, int count,
                            const char* const keys[], const char* const values[],
                            char** errptr) noexcept {
  Check(errptr, db->rep->SetOptions(handle->rep, Map(count, keys, values)));
}
void rocksdb_set_db_options(rocksdb_t* db, int count, const char* const keys[],
                            const char* const values[], char** errptr) noexcept {
  Check(errptr, db->rep->SetDBOptions(Map(count, keys, values)));
}

void rocksdb_load_latest_options(const char* db_path, rocksdb_env_t* env,
                                 bool ignore_unknown_options, rocksdb_cache_t* cache,
                                 rocksdb_options_t** db_options, size_t* num_column_families,
                                 char*** column_family_names,
                                 rocksdb_options_t*** column_family_options,
                                 char** errptr) noexcept {
  *db_options = nullptr;
  *num_column_families = 0;
  *column_family_names = nullptr;
  *column_family_options = nullptr;
  ashlar::ConfigOptions config;
  config.ignore_unknown_options = ignore_unknown_options;
  if (env != nullptr) config.env = env->rep;
  DBOptions loaded;
  std::vector<ColumnFamilyDescriptor> families;
  if (!Check(errptr, ashlar::LoadLatestOptions(config, db_path, &loaded, &families,
                                               cache == nullptr ? nullptr : &cache->rep)))
    return;
  *db_options = new rocksdb_options_t{ashlar::Options(loaded, ColumnFamilyOptions())};
  *num_column_families = families.size();
  *column_family_names = CopyTexts(families.size(), [&](size_t i) { return families[i].name; });
  *column_family_options =
      static_cast<rocksdb_options_t**>(Allocate(families.size() * sizeof(rocksdb_options_t*)));
  for (size_t i = 0; i < families.size(); ++i) {
    (*column_family_options)[i] =
        new rocksdb_options_t{ashlar::Options(DBOptions(), families[i].options)};
  }
}

void rocksdb_load_latest_options_destroy(rocksdb_options_t* db_options,
                                         char** list_column_family_names,
                                         rocksdb_options_t** list_column_family_options,
                                         size_t size) noexcept {
  delete db_options;
  FreeTexts(list_column_family_names, size);
  if (list_column_family_options == nullptr) return;
  for (size_t i = 0; i < size; ++i) delete list_column_family_options[i];
  std::free(static_cast<void*>(list_column_family_options));
}
