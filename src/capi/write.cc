// Writing: single records and batches.
#include <algorithm>

#include "capi/handles.h"
#include "capi/transfer.h"

using ashlar::Slice;
using ashlar::SliceParts;
using ashlar::Status;
using ashlar::WriteBatch;
using ashlar::capi::Check;

namespace {

// Functions that add a record have no errptr, so the batch stores the error, and rocksdb_write
// returns it.
void Remember(rocksdb_writebatch_t* batch, const Status& added) {
  if (added.ok() || !batch->refused.ok()) return;
  batch->refused = added;
  batch->refused_after = batch->save_points;
}

// Called after the last save point was removed.
void ForgetSavePoint(rocksdb_writebatch_t* batch) {
  --batch->save_points;
  batch->refused_after = std::min(batch->refused_after, batch->save_points);
}

// A key or value in pieces.
class Parts {
 public:
  Parts(int count, const char* const* pieces, const size_t* sizes) {
    for (int i = 0; i < count; ++i) slices_.emplace_back(pieces[i], sizes[i]);
  }
  SliceParts Get() const { return {slices_.data(), static_cast<int>(slices_.size())}; }

 private:
  std::vector<Slice> slices_;
};

using PutFunction = void (*)(void* state, uint32_t cfid, const char* key, size_t key_size,
                             const char* value, size_t value_size);
using DeletedFunction = void (*)(void* state, uint32_t cfid, const char* key, size_t key_size);
using LogDataFunction = void (*)(void* state, const char* blob, size_t blob_size);

// Calls back for the records of every family. Skips records whose function is null.
class AllFamilies final : public WriteBatch::Handler {
 public:
  AllFamilies(void* state, PutFunction put, DeletedFunction deleted, PutFunction merge,
              LogDataFunction log_data)
      : state_(state), put_(put), deleted_(deleted), merge_(merge), log_data_(log_data) {}

  Status PutCF(uint32_t id, const Slice& key, const Slice& value) override {
    if (put_ != nullptr) put_(state_, id, key.data(), key.size(), value.data(), value.size());
    return Status::OK();
  }
  Status DeleteCF(uint32_t id, const Slice& key) override {
    if (deleted_ != nullptr) deleted_(state_, id, key.data(), key.size());
    return Status::OK();
  }
  Status SingleDeleteCF(uint32_t id, const Slice& key) override { return DeleteCF(id, key); }
  Status MergeCF(uint32_t id, const Slice& key, const Slice& value) override {
    if (merge_ != nullptr) merge_(state_, id, key.data(), key.size(), value.data(), value.size());
    return Status::OK();
  }
  Status DeleteRangeCF(uint32_t /*id*/, const Slice& /*begin*/, const Slice& /*end*/) override {
    return Status::OK();
  }
  void LogData(const Slice& blob) override {
    if (log_data_ != nullptr) log_data_(state_, blob.data(), blob.size());
  }

 private:
  void* const state_;
  const PutFunction put_;
  const DeletedFunction deleted_;
  const PutFunction merge_;
  const LogDataFunction log_data_;
};

// Calls back for the records of the default family. A record of another family ends the iteration.
class DefaultFamily final : public WriteBatch::Handler {
 public:
  DefaultFamily(void* state,
                void (*put)(void* state, const char* key, size_t key_size, const char* value,
                            size_t value_size),
                void (*deleted)(void* state, const char* key, size_t key_size),
                LogDataFunction log_data)
      : state_(state), put_(put), deleted_(deleted), log_data_(log_data) {}

  void Put(const Slice& key, const Slice& value) override {
    if (put_ != nullptr) put_(state_, key.data(), key.size(), value.data(), value.size());
  }
  void Delete(const Slice& key) override {
    if (deleted_ != nullptr) deleted_(state_, key.data(), key.size());
  }
  void SingleDelete(const Slice& key) override { Delete(key); }
  Status DeleteRangeCF(uint32_t id, const Slice& begin, const Slice& end) override {
    return id == 0 ? Status::OK() : Handler::DeleteRangeCF(id, begin, end);
  }
  void LogData(const Slice& blob) override {
    if (log_data_ != nullptr) log_data_(state_, blob.data(), blob.size());
  }

 private:
  void* const state_;
  void (*const put_)(void* state, const char* key, size_t key_size, const char* value,
                     size_t value_size);
  void (*const deleted_)(void* state, const char* key, size_t key_size);
  const LogDataFunction log_data_;
};

}  // namespace

// ---- Single records.

void rocksdb_put(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key,
                 size_t key_size, const char* value, size_t value_size, char** errptr) noexcept {
  Check(errptr, db->rep->Put(options->rep, db->default_family, Slice(key, key_size),
                             Slice(value, value_size)));
}
void rocksdb_put_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                    rocksdb_column_family_handle_t* column_family, const char* key, size_t key_size,
                    const char* value, size_t value_size, char** errptr) noexcept {
  Check(errptr, db->rep->Put(options->rep, column_family->rep, Slice(key, key_size),
                             Slice(value, value_size)));
}
void rocksdb_delete(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key,
                    size_t key_size, char** errptr) noexcept {
  Check(errptr, db->rep->Delete(options->rep, db->default_family, Slice(key, key_size)));
}
void rocksdb_delete_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                       rocksdb_column_family_handle_t* column_family, const char* key,
                       size_t key_size, char** errptr) noexcept {
  Check(errptr, db->rep->Delete(options->rep, column_family->rep, Slice(key, key_size)));
}
void rocksdb_singledelete(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key,
                          size_t key_size, char** errptr) noexcept {
  Check(errptr, db->rep->SingleDelete(options->rep, db->default_family, Slice(key, key_size)));
}
void rocksdb_singledelete_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                             rocksdb_column_family_handle_t* column_family, const char* key,
                             size_t key_size, char** errptr) noexcept {
  Check(errptr, db->rep->SingleDelete(options->rep, column_family->rep, Slice(key, key_size)));
}
void rocksdb_delete_range_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                             rocksdb_column_family_handle_t* column_family, const char* start_key,
                             size_t start_key_size, const char* end_key, size_t end_key_size,
                             char** errptr) noexcept {
  Check(errptr,
        db->rep->DeleteRange(options->rep, column_family->rep, Slice(start_key, start_key_size),
                             Slice(end_key, end_key_size)));
}
void rocksdb_merge(rocksdb_t* db, const rocksdb_writeoptions_t* options, const char* key,
                   size_t key_size, const char* value, size_t value_size, char** errptr) noexcept {
  Check(errptr, db->rep->Merge(options->rep, db->default_family, Slice(key, key_size),
                               Slice(value, value_size)));
}
void rocksdb_merge_cf(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                      rocksdb_column_family_handle_t* column_family, const char* key,
                      size_t key_size, const char* value, size_t value_size,
                      char** errptr) noexcept {
  Check(errptr, db->rep->Merge(options->rep, column_family->rep, Slice(key, key_size),
                               Slice(value, value_size)));
}

void rocksdb_write(rocksdb_t* db, const rocksdb_writeoptions_t* options,
                   rocksdb_writebatch_t* batch, char** errptr) noexcept {
  if (Check(errptr, batch->refused)) Check(errptr, db->rep->Write(options->rep, &batch->rep));
}

// ---- Batches.

rocksdb_writebatch_t* rocksdb_writebatch_create(void) noexcept {
  return new rocksdb_writebatch_t();
}
rocksdb_writebatch_t* rocksdb_writebatch_create_from(const char* rep, size_t size) noexcept {
  return new rocksdb_writebatch_t{WriteBatch(std::string(rep, size)), Status()};
}
rocksdb_writebatch_t* rocksdb_writebatch_create_with_params(size_t reserved_bytes, size_t max_bytes,
                                                            size_t protection_bytes_per_key,
                                                            size_t default_cf_ts_sz) noexcept {
  return new rocksdb_writebatch_t{
      WriteBatch(reserved_bytes, max_bytes, protection_bytes_per_key, default_cf_ts_sz), Status()};
}
void rocksdb_writebatch_destroy(rocksdb_writebatch_t* batch) noexcept { delete batch; }
void rocksdb_writebatch_clear(rocksdb_writebatch_t* batch) noexcept {
  batch->rep.Clear();
  batch->refused = Status();
  batch->save_points = 0;
}
int rocksdb_writebatch_count(rocksdb_writebatch_t* batch) noexcept {
  return static_cast<int>(batch->rep.Count());
}
const char* rocksdb_writebatch_data(rocksdb_writebatch_t* batch, size_t* size) noexcept {
  *size = batch->rep.GetDataSize();
  return batch->rep.Data().data();
}

void rocksdb_writebatch_put(rocksdb_writebatch_t* batch, const char* key, size_t key_size,
                            const char* value, size_t value_size) noexcept {
  Remember(batch, batch->rep.Put(Slice(key, key_size), Slice(value, value_size)));
}
void rocksdb_writebatch_put_cf(rocksdb_writebatch_t* batch,
                               rocksdb_column_family_handle_t* column_family, const char* key,
                               size_t key_size, const char* value, size_t value_size) noexcept {
  Remember(batch,
           batch->rep.Put(column_family->rep, Slice(key, key_size), Slice(value, value_size)));
}
void rocksdb_writebatch_delete(rocksdb_writebatch_t* batch, const char* key,
                               size_t key_size) noexcept {
  Remember(batch, batch->rep.Delete(Slice(key, key_size)));
}
void rocksdb_writebatch_delete_cf(rocksdb_writebatch_t* batch,
                                  rocksdb_column_family_handle_t* column_family, const char* key,
                                  size_t key_size) noexcept {
  Remember(batch, batch->rep.Delete(column_family->rep, Slice(key, key_size)));
}
void rocksdb_writebatch_singledelete(rocksdb_writebatch_t* batch, const char* key,
                                     size_t key_size) noexcept {
  Remember(batch, batch->rep.SingleDelete(Slice(key, key_size)));
}
void rocksdb_writebatch_singledelete_cf(rocksdb_writebatch_t* batch,
                                        rocksdb_column_family_handle_t* column_family,
                                        const char* key, size_t key_size) noexcept {
  Remember(batch, batch->rep.SingleDelete(column_family->rep, Slice(key, key_size)));
}
void rocksdb_writebatch_delete_range(rocksdb_writebatch_t* batch, const char* start_key,
                                     size_t start_key_size, const char* end_key,
                                     size_t end_key_size) noexcept {
  Remember(batch,
           batch->rep.DeleteRange(Slice(start_key, start_key_size), Slice(end_key, end_key_size)));
}
void rocksdb_writebatch_delete_range_cf(rocksdb_writebatch_t* batch,
                                        rocksdb_column_family_handle_t* column_family,
                                        const char* start_key, size_t start_key_size,
                                        const char* end_key, size_t end_key_size) noexcept {
  Remember(batch, batch->rep.DeleteRange(column_family->rep, Slice(start_key, start_key_size),
                                         Slice(end_key, end_key_size)));
}
void rocksdb_writebatch_merge(rocksdb_writebatch_t* batch, const char* key, size_t key_size,
                              const char* value, size_t value_size) noexcept {
  Remember(batch, batch->rep.Merge(Slice(key, key_size), Slice(value, value_size)));
}
void rocksdb_writebatch_merge_cf(rocksdb_writebatch_t* batch,
                                 rocksdb_column_family_handle_t* column_family, const char* key,
                                 size_t key_size, const char* value, size_t value_size) noexcept {
  Remember(batch,
           batch->rep.Merge(column_family->rep, Slice(key, key_size), Slice(value, value_size)));
}
void rocksdb_writebatch_put_log_data(rocksdb_writebatch_t* batch, const char* blob,
                                     size_t size) noexcept {
  Remember(batch, batch->rep.PutLogData(Slice(blob, size)));
}

void rocksdb_writebatch_putv(rocksdb_writebatch_t* batch, int num_keys, const char* const* keys,
                             const size_t* key_sizes, int num_values, const char* const* values,
                             const size_t* value_sizes) noexcept {
  Remember(batch, batch->rep.Put(Parts(num_keys, keys, key_sizes).Get(),
                                 Parts(num_values, values, value_sizes).Get()));
}
void rocksdb_writebatch_putv_cf(rocksdb_writebatch_t* batch,
                                rocksdb_column_family_handle_t* column_family, int num_keys,
                                const char* const* keys, const size_t* key_sizes, int num_values,
                                const char* const* values, const size_t* value_sizes) noexcept {
  Remember(batch, batch->rep.Put(column_family->rep, Parts(num_keys, keys, key_sizes).Get(),
                                 Parts(num_values, values, value_sizes).Get()));
}
void rocksdb_writebatch_deletev(rocksdb_writebatch_t* batch, int num_keys, const char* const* keys,
                                const size_t* key_sizes) noexcept {
  Remember(batch, batch->rep.Delete(Parts(num_keys, keys, key_sizes).Get()));
}
void rocksdb_writebatch_deletev_cf(rocksdb_writebatch_t* batch,
                                   rocksdb_column_family_handle_t* column_family, int num_keys,
                                   const char* const* keys, const size_t* key_sizes) noexcept {
  Remember(batch, batch->rep.Delete(column_family->rep, Parts(num_keys, keys, key_sizes).Get()));
}
void rocksdb_writebatch_delete_rangev(rocksdb_writebatch_t* batch, int num_keys,
                                      const char* const* start_keys, const size_t* start_key_sizes,
                                      const char* const* end_keys,
                                      const size_t* end_key_sizes) noexcept {
  Remember(batch, batch->rep.DeleteRange(Parts(num_keys, start_keys, start_key_sizes).Get(),
                                         Parts(num_keys, end_keys, end_key_sizes).Get()));
}
void rocksdb_writebatch_delete_rangev_cf(rocksdb_writebatch_t* batch,
                                         rocksdb_column_family_handle_t* column_family,
                                         int num_keys, const char* const* start_keys,
                                         const size_t* start_key_sizes, const char* const* end_keys,
                                         const size_t* end_key_sizes) noexcept {
  Remember(batch, batch->rep.DeleteRange(column_family->rep,
                                         Parts(num_keys, start_keys, start_key_sizes).Get(),
                                         Parts(num_keys, end_keys, end_key_sizes).Get()));
}
void rocksdb_writebatch_mergev(rocksdb_writebatch_t* batch, int num_keys, const char* const* keys,
                               const size_t* key_sizes, int num_values, const char* const* values,
                               const size_t* value_sizes) noexcept {
  Remember(batch, batch->rep.Merge(Parts(num_keys, keys, key_sizes).Get(),
                                   Parts(num_values, values, value_sizes).Get()));
}
void rocksdb_writebatch_mergev_cf(rocksdb_writebatch_t* batch,
                                  rocksdb_column_family_handle_t* column_family, int num_keys,
                                  const char* const* keys, const size_t* key_sizes, int num_values,
                                  const char* const* values, const size_t* value_sizes) noexcept {
  Remember(batch, batch->rep.Merge(column_family->rep, Parts(num_keys, keys, key_sizes).Get(),
                                   Parts(num_values, values, value_sizes).Get()));
}

void rocksdb_writebatch_set_save_point(rocksdb_writebatch_t* batch) noexcept {
  batch->rep.SetSavePoint();
  ++batch->save_points;
}
void rocksdb_writebatch_rollback_to_save_point(rocksdb_writebatch_t* batch,
                                               char** errptr) noexcept {
  if (!Check(errptr, batch->rep.RollbackToSavePoint())) return;
  // A record that was refused after the save point is rolled back, too.
  if (batch->refused_after == batch->save_points) batch->refused = Status();
  ForgetSavePoint(batch);
}
void rocksdb_writebatch_pop_save_point(rocksdb_writebatch_t* batch, char** errptr) noexcept {
  if (Check(errptr, batch->rep.PopSavePoint())) ForgetSavePoint(batch);
}
void rocksdb_writebatch_verify_checksum(rocksdb_writebatch_t* batch, char** errptr) noexcept {
  Check(errptr, batch->rep.VerifyChecksum());
}

void rocksdb_writebatch_iterate(rocksdb_writebatch_t* batch, void* state,
                                void (*put)(void* state, const char* key, size_t key_size,
                                            const char* value, size_t value_size),
                                void (*deleted)(void* state, const char* key,
                                                size_t key_size)) noexcept {
  rocksdb_writebatch_iterate_ld(batch, state, put, deleted, nullptr);
}
void rocksdb_writebatch_iterate_ld(rocksdb_writebatch_t* batch, void* state,
                                   void (*put)(void* state, const char* key, size_t key_size,
                                               const char* value, size_t value_size),
                                   void (*deleted)(void* state, const char* key, size_t key_size),
                                   void (*log_data)(void* state, const char* blob,
                                                    size_t blob_size)) noexcept {
  DefaultFamily handler(state, put, deleted, log_data);
  static_cast<void>(batch->rep.Iterate(&handler).ok());  // the interface has no place for an error
}
void rocksdb_writebatch_iterate_cf(
    rocksdb_writebatch_t* batch, void* state,
    void (*put_cf)(void* state, uint32_t cfid, const char* key, size_t key_size, const char* value,
                   size_t value_size),
    void (*deleted_cf)(void* state, uint32_t cfid, const char* key, size_t key_size),
    void (*merge_cf)(void* state, uint32_t cfid, const char* key, size_t key_size,
                     const char* value, size_t value_size)) noexcept {
  rocksdb_writebatch_iterate_cf_ld(batch, state, put_cf, deleted_cf, merge_cf, nullptr);
}
void rocksdb_writebatch_iterate_cf_ld(
    rocksdb_writebatch_t* batch, void* state,
    void (*put_cf)(void* state, uint32_t cfid, const char* key, size_t key_size, const char* value,
                   size_t value_size),
    void (*deleted_cf)(void* state, uint32_t cfid, const char* key, size_t key_size),
    void (*merge_cf)(void* state, uint32_t cfid, const char* key, size_t key_size,
                     const char* value, size_t value_size),
    void (*log_data)(void* state, const char* blob, size_t blob_size)) noexcept {
  AllFamilies handler(state, put_cf, deleted_cf, merge_cf, log_data);
  static_cast<void>(batch->rep.Iterate(&handler).ok());
}
