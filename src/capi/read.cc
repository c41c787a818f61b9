// Reading: values, iterators, snapshots. These functions are thin. They cost one or two arguments
// more than the C++ call.
#include <algorithm>
#include <memory>
#include <new>

#include "capi/handles.h"
#include "capi/transfer.h"

using ashlar::ColumnFamilyHandle;
using ashlar::Iterator;
using ashlar::PinnableSlice;
using ashlar::Slice;
using ashlar::Status;
using ashlar::capi::Check;
using ashlar::capi::CopyError;
using ashlar::capi::CopyValue;
using ashlar::capi::Rep;
using ashlar::capi::ScratchArray;
using ashlar::capi::SetError;
using ashlar::capi::TryCopyBytes;
using ashlar::capi::Wrap;

namespace {

// Sets no error for NotFound, which the result reports.
void SetReadError(char** errptr, const Status& status) {
  if (!status.IsNotFound()) SetError(errptr, status);
}

char* GetCopy(rocksdb_t* db, const rocksdb_readoptions_t* options, ColumnFamilyHandle* family,
              const Slice& key, size_t* value_size, char** errptr) {
  PinnableSlice value;
  const Status status = db->rep->Get(options->rep, family, key, &value);
  if (!status.ok()) {
    *value_size = 0;
    SetReadError(errptr, status);
    return nullptr;
  }
  return CopyValue(value, value_size, errptr);
}

template <typename Pinned>
Pinned* GetPinned(rocksdb_t* db, const rocksdb_readoptions_t* options, ColumnFamilyHandle* family,
                  const Slice& key, char** errptr) {
  auto* const pinned = new Pinned;
  const Status status = db->rep->Get(options->rep, family, key, &pinned->rep);
  if (status.ok()) [[likely]] {
    return pinned;
  }
  delete pinned;
  SetReadError(errptr, status);
  return nullptr;
}

unsigned char GetInto(rocksdb_t* db, const rocksdb_readoptions_t* options,
                      ColumnFamilyHandle* family, const Slice& key, char* buffer,
                      size_t buffer_size, size_t* value_size, unsigned char* found, char** errptr) {
  PinnableSlice value;
  const Status status = db->rep->Get(options->rep, family, key, &value);
  *found = status.ok() ? 1 : 0;
  *value_size = value.size();
  if (!status.ok()) {
    *value_size = 0;
    SetReadError(errptr, status);
    return 0;
  }
  if (value.size() > buffer_size) return 0;
  if (!value.empty()) memcpy(buffer, value.data(), value.size());
  return 1;
}

unsigned char MayExist(rocksdb_t* db, const rocksdb_readoptions_t* options,
                       ColumnFamilyHandle* family, const Slice& key, char** value,
                       size_t* value_size, const char* timestamp, unsigned char* value_found) {
  if (value_found != nullptr) *value_found = 0;
  if (timestamp != nullptr) return 1;
  std::string copy;
  bool found = false;
  const bool may_exist = db->rep->KeyMayExist(options->rep, family, key, &copy, &found);
  // If the allocation for the value fails, the value is reported as not found.
  char* const bytes = found && value_found != nullptr ? TryCopyBytes(copy) : nullptr;
  if (bytes != nullptr) {
    *value_found = 1;
    *value_size = copy.size();
    *value = bytes;
  }
  return may_exist ? 1 : 0;
}

// Keys, values and outcomes of one MultiGet.
struct ManyKeys {
  explicit ManyKeys(size_t n) : keys(n), values(n), statuses(n) {}
  ManyKeys(size_t n, const char* const* key_list, const size_t* key_sizes) : ManyKeys(n) {
    for (size_t i = 0; i < n; ++i) keys[i] = Slice(key_list[i], key_sizes[i]);
  }

  ScratchArray<Slice> keys;
  ScratchArray<PinnableSlice> values;
  ScratchArray<Status> statuses;
};

char* ErrorOf(const Status& status) {
  return status.ok() || status.IsNotFound() ? nullptr : CopyError(status);
}

void CopyOut(ManyKeys* many, size_t n, char** values, size_t* value_sizes, char** errors) {
  for (size_t i = 0; i < n; ++i) {
    values[i] = nullptr;
    value_sizes[i] = 0;
    errors[i] = ErrorOf(many->statuses[i]);
    if (many->statuses[i].ok()) values[i] = CopyValue(many->values[i], &value_sizes[i], &errors[i]);
  }
}

// Room for the handles of one MultiGet: PinnedBatch, then the handles.
constexpr size_t kBatchHeaderBytes =
    std::max(sizeof(PinnedBatch), alignof(rocksdb_pinnableslice_t));

void PinOut(ManyKeys* many, size_t n, rocksdb_pinnableslice_t** values, char** errors) {
  size_t found = 0;
  for (size_t i = 0; i < n; ++i) {
    if (many->statuses[i].ok()) ++found;
    errors[i] = ErrorOf(many->statuses[i]);
    values[i] = nullptr;
  }
  if (found == 0) return;
  char* const memory = static_cast<char*>(
      ::operator new(kBatchHeaderBytes + found * sizeof(rocksdb_pinnableslice_t)));
  auto* const batch = new (memory) PinnedBatch{found};
  char* next = memory + kBatchHeaderBytes;
  for (size_t i = 0; i < n; ++i) {
    if (!many->statuses[i].ok()) continue;
    values[i] = new (next) rocksdb_pinnableslice_t{std::move(many->values[i]), batch};
    next += sizeof(rocksdb_pinnableslice_t);
  }
}

rocksdb_slice_t ToC(const Slice& slice) { return {slice.data(), slice.size()}; }

}  // namespace

// ---- Values.

char* rocksdb_get(rocksdb_t* db, const rocksdb_readoptions_t* options, const char* key,
                  size_t key_size, size_t* value_size, char** errptr) noexcept {
  return GetCopy(db, options, db->default_family, Slice(key, key_size), value_size, errptr);
}
char* rocksdb_get_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                     rocksdb_column_family_handle_t* column_family, const char* key,
                     size_t key_size, size_t* value_size, char** errptr) noexcept {
  return GetCopy(db, options, column_family->rep, Slice(key, key_size), value_size, errptr);
}

rocksdb_pinnableslice_t* rocksdb_get_pinned(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                            const char* key, size_t key_size,
                                            char** errptr) noexcept {
  return GetPinned<rocksdb_pinnableslice_t>(db, options, db->default_family, Slice(key, key_size),
                                            errptr);
}
rocksdb_pinnableslice_t* rocksdb_get_pinned_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                               rocksdb_column_family_handle_t* column_family,
                                               const char* key, size_t key_size,
                                               char** errptr) noexcept {
  return GetPinned<rocksdb_pinnableslice_t>(db, options, column_family->rep, Slice(key, key_size),
                                            errptr);
}
const char* rocksdb_pinnableslice_value(const rocksdb_pinnableslice_t* slice,
                                        size_t* value_size) noexcept {
  if (slice == nullptr) {
    *value_size = 0;
    return nullptr;
  }
  *value_size = slice->rep.size();
  return slice->rep.data();
}
void rocksdb_pinnableslice_destroy(rocksdb_pinnableslice_t* value) noexcept {
  PinnedBatch* const batch = value == nullptr ? nullptr : value->batch;
  if (batch == nullptr) {
    delete value;
    return;
  }
  std::destroy_at(value);
  if (batch->handles.fetch_sub(1, std::memory_order_acq_rel) == 1) ::operator delete(batch);
}

rocksdb_pinnable_handle_t* rocksdb_get_pinned_v2(rocksdb_t* db,
                                                 const rocksdb_readoptions_t* options,
                                                 const char* key, size_t key_size,
                                                 char** errptr) noexcept {
  return GetPinned<rocksdb_pinnable_handle_t>(db, options, db->default_family, Slice(key, key_size),
                                              errptr);
}
rocksdb_pinnable_handle_t* rocksdb_get_pinned_cf_v2(rocksdb_t* db,
                                                    const rocksdb_readoptions_t* options,
                                                    rocksdb_column_family_handle_t* column_family,
                                                    const char* key, size_t key_size,
                                                    char** errptr) noexcept {
  return GetPinned<rocksdb_pinnable_handle_t>(db, options, column_family->rep, Slice(key, key_size),
                                              errptr);
}
const char* rocksdb_pinnable_handle_get_value(const rocksdb_pinnable_handle_t* handle,
                                              size_t* value_size) noexcept {
  if (handle == nullptr) {
    *value_size = 0;
    return nullptr;
  }
  *value_size = handle->rep.size();
  return handle->rep.data();
}
void rocksdb_pinnable_handle_destroy(rocksdb_pinnable_handle_t* handle) noexcept { delete handle; }

unsigned char rocksdb_get_into_buffer(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                      const char* key, size_t key_size, char* buffer,
                                      size_t buffer_size, size_t* value_size, unsigned char* found,
                                      char** errptr) noexcept {
  return GetInto(db, options, db->default_family, Slice(key, key_size), buffer, buffer_size,
                 value_size, found, errptr);
}
unsigned char rocksdb_get_into_buffer_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                         rocksdb_column_family_handle_t* column_family,
                                         const char* key, size_t key_size, char* buffer,
                                         size_t buffer_size, size_t* value_size,
                                         unsigned char* found, char** errptr) noexcept {
  return GetInto(db, options, column_family->rep, Slice(key, key_size), buffer, buffer_size,
                 value_size, found, errptr);
}

unsigned char rocksdb_key_may_exist(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                    const char* key, size_t key_size, char** value,
                                    size_t* value_size, const char* timestamp,
                                    size_t /*timestamp_size*/,
                                    unsigned char* value_found) noexcept {
  return MayExist(db, options, db->default_family, Slice(key, key_size), value, value_size,
                  timestamp, value_found);
}
unsigned char rocksdb_key_may_exist_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                       rocksdb_column_family_handle_t* column_family,
                                       const char* key, size_t key_size, char** value,
                                       size_t* value_size, const char* timestamp,
                                       size_t /*timestamp_size*/,
                                       unsigned char* value_found) noexcept {
  return MayExist(db, options, column_family->rep, Slice(key, key_size), value, value_size,
                  timestamp, value_found);
}

// ---- Many values.

void rocksdb_multi_get(rocksdb_t* db, const rocksdb_readoptions_t* options, size_t num_keys,
                       const char* const* keys, const size_t* key_sizes, char** values,
                       size_t* value_sizes, char** errors) noexcept {
  ManyKeys many(num_keys, keys, key_sizes);
  db->rep->MultiGet(options->rep, db->default_family, num_keys, many.keys.data(),
                    many.values.data(), many.statuses.data());
  CopyOut(&many, num_keys, values, value_sizes, errors);
}

void rocksdb_multi_get_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                          const rocksdb_column_family_handle_t* const* column_families,
                          size_t num_keys, const char* const* keys, const size_t* key_sizes,
                          char** values, size_t* value_sizes, char** errors) noexcept {
  ManyKeys many(num_keys, keys, key_sizes);
  ScratchArray<ColumnFamilyHandle*> families(num_keys);
  for (size_t i = 0; i < num_keys; ++i) families[i] = column_families[i]->rep;
  db->rep->MultiGet(options->rep, num_keys, families.data(), many.keys.data(), many.values.data(),
                    many.statuses.data());
  CopyOut(&many, num_keys, values, value_sizes, errors);
}

void rocksdb_batched_multi_get_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                  rocksdb_column_family_handle_t* column_family, size_t num_keys,
                                  const char* const* keys, const size_t* key_sizes,
                                  rocksdb_pinnableslice_t** values, char** errors,
                                  const bool sorted_input) noexcept {
  ManyKeys many(num_keys, keys, key_sizes);
  db->rep->MultiGet(options->rep, column_family->rep, num_keys, many.keys.data(),
                    many.values.data(), many.statuses.data(), sorted_input);
  PinOut(&many, num_keys, values, errors);
}

void rocksdb_batched_multi_get_cf_slice(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                        rocksdb_column_family_handle_t* column_family,
                                        size_t num_keys, const rocksdb_slice_t* keys,
                                        rocksdb_pinnableslice_t** values, char** errors,
                                        const bool sorted_input) noexcept {
  ManyKeys many(num_keys);
  for (size_t i = 0; i < num_keys; ++i) many.keys[i] = Slice(keys[i].data, keys[i].size);
  db->rep->MultiGet(options->rep, column_family->rep, num_keys, many.keys.data(),
                    many.values.data(), many.statuses.data(), sorted_input);
  PinOut(&many, num_keys, values, errors);
}

// ---- Iterators.

rocksdb_iterator_t* rocksdb_create_iterator(rocksdb_t* db,
                                            const rocksdb_readoptions_t* options) noexcept {
  return Wrap(db->rep->NewIterator(options->rep, db->default_family));
}
rocksdb_iterator_t* rocksdb_create_iterator_cf(
    rocksdb_t* db, const rocksdb_readoptions_t* options,
    rocksdb_column_family_handle_t* column_family) noexcept {
  return Wrap(db->rep->NewIterator(options->rep, column_family->rep));
}
void rocksdb_create_iterators(rocksdb_t* db, rocksdb_readoptions_t* options,
                              rocksdb_column_family_handle_t** column_families,
                              rocksdb_iterator_t** iterators, size_t size, char** errptr) noexcept {
  std::vector<ColumnFamilyHandle*> families;
  for (size_t i = 0; i < size; ++i) families.push_back(column_families[i]->rep);
  std::vector<Iterator*> made;
  if (!Check(errptr, db->rep->NewIterators(options->rep, families, &made))) return;
  for (size_t i = 0; i < size; ++i) iterators[i] = Wrap(made[i]);
}

void rocksdb_iter_destroy(rocksdb_iterator_t* iterator) noexcept { delete Rep(iterator); }
unsigned char rocksdb_iter_valid(const rocksdb_iterator_t* iterator) noexcept {
  return Rep(iterator)->Valid() ? 1 : 0;
}
void rocksdb_iter_seek_to_first(rocksdb_iterator_t* iterator) noexcept {
  Rep(iterator)->SeekToFirst();
}
void rocksdb_iter_seek_to_last(rocksdb_iterator_t* iterator) noexcept {
  Rep(iterator)->SeekToLast();
}
void rocksdb_iter_seek(rocksdb_iterator_t* iterator, const char* key, size_t key_size) noexcept {
  Rep(iterator)->Seek(Slice(key, key_size));
}
void rocksdb_iter_seek_for_prev(rocksdb_iterator_t* iterator, const char* key,
                                size_t key_size) noexcept {
  Rep(iterator)->SeekForPrev(Slice(key, key_size));
}
void rocksdb_iter_next(rocksdb_iterator_t* iterator) noexcept { Rep(iterator)->Next(); }
void rocksdb_iter_prev(rocksdb_iterator_t* iterator) noexcept { Rep(iterator)->Prev(); }

const char* rocksdb_iter_key(const rocksdb_iterator_t* iterator, size_t* key_size) noexcept {
  const Slice key = Rep(iterator)->key();
  *key_size = key.size();
  return key.data();
}
const char* rocksdb_iter_value(const rocksdb_iterator_t* iterator, size_t* value_size) noexcept {
  const Slice value = Rep(iterator)->value();
  *value_size = value.size();
  return value.data();
}
rocksdb_slice_t rocksdb_iter_key_slice(const rocksdb_iterator_t* iter) noexcept {
  return ToC(Rep(iter)->key());
}
rocksdb_slice_t rocksdb_iter_value_slice(const rocksdb_iterator_t* iter) noexcept {
  return ToC(Rep(iter)->value());
}

void rocksdb_iter_get_error(const rocksdb_iterator_t* iterator, char** errptr) noexcept {
  Check(errptr, Rep(iterator)->status());
}

void rocksdb_iter_refresh(const rocksdb_iterator_t* iter, char** errptr) noexcept {
  // The const in the declaration refers to the handle.
  Check(errptr, Rep(const_cast<rocksdb_iterator_t*>(iter))->Refresh());
}

// ---- Snapshots.

const rocksdb_snapshot_t* rocksdb_create_snapshot(rocksdb_t* db) noexcept {
  return Wrap(db->rep->GetSnapshot());
}
void rocksdb_release_snapshot(rocksdb_t* db, const rocksdb_snapshot_t* snapshot) noexcept {
  db->rep->ReleaseSnapshot(Rep(snapshot));
}
uint64_t rocksdb_snapshot_get_sequence_number(const rocksdb_snapshot_t* snapshot) noexcept {
  return Rep(snapshot)->GetSequenceNumber();
}
