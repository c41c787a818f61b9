// One table file outside of any database, and its properties. Ashlar's own functions.
#include <utility>

#include "capi/handles.h"
#include "capi/transfer.h"

using ashlar::PinnableSlice;
using ashlar::Slice;
using ashlar::Status;
using ashlar::capi::Check;
using ashlar::capi::CopyText;
using ashlar::capi::CopyValue;
using ashlar::capi::SetError;
using ashlar::capi::Wrap;

ashlar_sstfilereader_t* ashlar_sstfilereader_create(const rocksdb_options_t* options) noexcept {
  return new ashlar_sstfilereader_t{.rep = ashlar::SstFileReader(options->rep)};
}
void ashlar_sstfilereader_destroy(ashlar_sstfilereader_t* reader) noexcept { delete reader; }
void ashlar_sstfilereader_open(ashlar_sstfilereader_t* reader, const char* name,
                               char** errptr) noexcept {
  Check(errptr, reader->rep.Open(name));
}
char* ashlar_sstfilereader_get(ashlar_sstfilereader_t* reader, const rocksdb_readoptions_t* options,
                               const char* key, size_t keylen, size_t* vallen,
                               char** errptr) noexcept {
  PinnableSlice value;
  const Status status = reader->rep.Get(options->rep, Slice(key, keylen), &value);
  if (status.ok()) return CopyValue(value, vallen, errptr);
  *vallen = 0;
  if (!status.IsNotFound()) SetError(errptr, status);
  return nullptr;
}
rocksdb_iterator_t* ashlar_sstfilereader_new_iterator(
    ashlar_sstfilereader_t* reader, const rocksdb_readoptions_t* options) noexcept {
  return Wrap(reader->rep.NewIterator(options->rep));
}
void ashlar_sstfilereader_verify_checksum(ashlar_sstfilereader_t* reader,
                                          const rocksdb_readoptions_t* options,
                                          char** errptr) noexcept {
  Check(errptr, reader->rep.VerifyChecksum(options->rep));
}
ashlar_tableproperties_t* ashlar_sstfilereader_get_table_properties(
    ashlar_sstfilereader_t* reader) noexcept {
  auto properties = reader->rep.GetTableProperties();
  if (properties == nullptr) return nullptr;
  return new ashlar_tableproperties_t{.rep = std::move(properties)};
}

void ashlar_tableproperties_destroy(ashlar_tableproperties_t* properties) noexcept {
  delete properties;
}
#define ASHLAR_C_NUMBER(name)                                \
  uint64_t ashlar_tableproperties_get_##name(                \
      const ashlar_tableproperties_t* properties) noexcept { \
    return properties->rep->name;                            \
  }
ASHLAR_C_NUMBER(num_entries)
ASHLAR_C_NUMBER(num_deletions)
ASHLAR_C_NUMBER(num_range_deletions)
ASHLAR_C_NUMBER(num_merge_operands)
ASHLAR_C_NUMBER(data_size)
ASHLAR_C_NUMBER(index_size)
ASHLAR_C_NUMBER(filter_size)
ASHLAR_C_NUMBER(raw_key_size)
ASHLAR_C_NUMBER(raw_value_size)
ASHLAR_C_NUMBER(column_family_id)
ASHLAR_C_NUMBER(creation_time)
#undef ASHLAR_C_NUMBER
#define ASHLAR_C_TEXT(name)                                  \
  const char* ashlar_tableproperties_get_##name(             \
      const ashlar_tableproperties_t* properties) noexcept { \
    return properties->rep->name.c_str();                    \
  }
ASHLAR_C_TEXT(column_family_name)
ASHLAR_C_TEXT(comparator_name)
ASHLAR_C_TEXT(compression_name)
ASHLAR_C_TEXT(filter_policy_name)
#undef ASHLAR_C_TEXT
const char* ashlar_tableproperties_get_user_collected(const ashlar_tableproperties_t* properties,
                                                      const char* name, size_t* size) noexcept {
  const auto& collected = properties->rep->user_collected_properties;
  const auto found = collected.find(name);
  *size = found == collected.end() ? 0 : found->second.size();
  return found == collected.end() ? nullptr : found->second.data();
}
char* ashlar_tableproperties_to_text(const ashlar_tableproperties_t* properties) noexcept {
  return CopyText(properties->rep->ToString());
}
