// External table files: the options of their files, their writers and their ingestion.
#include "capi/accessors.h"
#include "capi/transfer.h"

using ashlar::Slice;
using ashlar::capi::Check;
using ashlar::capi::Rep;

ASHLAR_C_CREATE_AND_DESTROY(envoptions)
void rocksdb_envoptions_set_rate_limiter(rocksdb_envoptions_t* options,
                                         rocksdb_ratelimiter_t* limiter) noexcept {
  options->rate_limiter = limiter == nullptr ? nullptr : limiter->rep;
  options->rep.rate_limiter = options->rate_limiter.get();
}
ASHLAR_C_ACCESSORS(envoptions, use_mmap_reads, unsigned char)
ASHLAR_C_ACCESSORS(envoptions, use_mmap_writes, unsigned char)
ASHLAR_C_ACCESSORS(envoptions, use_direct_reads, unsigned char)
ASHLAR_C_ACCESSORS(envoptions, use_direct_writes, unsigned char)
ASHLAR_C_ACCESSORS(envoptions, allow_fallocate, unsigned char)
ASHLAR_C_ACCESSORS_OF(envoptions, fd_cloexec, unsigned char, set_fd_cloexec)
ASHLAR_C_ACCESSORS(envoptions, strict_bytes_per_sync, unsigned char)
ASHLAR_C_ACCESSORS(envoptions, fallocate_with_keep_size, unsigned char)
ASHLAR_C_ACCESSORS(envoptions, bytes_per_sync, uint64_t)
ASHLAR_C_ACCESSORS(envoptions, compaction_readahead_size, size_t)
ASHLAR_C_ACCESSORS(envoptions, writable_file_max_buffer_size, size_t)

rocksdb_sstfilewriter_t* rocksdb_sstfilewriter_create(
    const rocksdb_envoptions_t* env, const rocksdb_options_t* io_options) noexcept {
  return new rocksdb_sstfilewriter_t{.rep = ashlar::SstFileWriter(env->rep, io_options->rep),
                                     .rate_limiter = env->rate_limiter};
}
rocksdb_sstfilewriter_t* rocksdb_sstfilewriter_create_with_comparator(
    const rocksdb_envoptions_t* env, const rocksdb_options_t* io_options,
    const rocksdb_comparator_t* comparator) noexcept {
  if (comparator == nullptr) return rocksdb_sstfilewriter_create(env, io_options);
  return new rocksdb_sstfilewriter_t{
      .rep = ashlar::SstFileWriter(env->rep, io_options->rep, Rep(comparator)),
      .rate_limiter = env->rate_limiter};
}
void rocksdb_sstfilewriter_open(rocksdb_sstfilewriter_t* writer, const char* name,
                                char** errptr) noexcept {
  Check(errptr, writer->rep.Open(name));
}
void rocksdb_sstfilewriter_add(rocksdb_sstfilewriter_t* writer, const char* key, size_t keylen,
                               const char* val, size_t vallen, char** errptr) noexcept {
  Check(errptr, writer->rep.Put(Slice(key, keylen), Slice(val, vallen)));
}
void rocksdb_sstfilewriter_put(rocksdb_sstfilewriter_t* writer, const char* key, size_t keylen,
                               const char* val, size_t vallen, char** errptr) noexcept {
  Check(errptr, writer->rep.Put(Slice(key, keylen), Slice(val, vallen)));
}
void rocksdb_sstfilewriter_merge(rocksdb_sstfilewriter_t* writer, const char* key, size_t keylen,
                                 const char* val, size_t vallen, char** errptr) noexcept {
  Check(errptr, writer->rep.Merge(Slice(key, keylen), Slice(val, vallen)));
}
void rocksdb_sstfilewriter_delete(rocksdb_sstfilewriter_t* writer, const char* key, size_t keylen,
                                  char** errptr) noexcept {
  Check(errptr, writer->rep.Delete(Slice(key, keylen)));
}
void rocksdb_sstfilewriter_delete_range(rocksdb_sstfilewriter_t* writer, const char* begin_key,
                                        size_t begin_keylen, const char* end_key, size_t end_keylen,
                                        char** errptr) noexcept {
  Check(errptr,
        writer->rep.DeleteRange(Slice(begin_key, begin_keylen), Slice(end_key, end_keylen)));
}
void rocksdb_sstfilewriter_finish(rocksdb_sstfilewriter_t* writer, char** errptr) noexcept {
  Check(errptr, writer->rep.Finish());
}
void rocksdb_sstfilewriter_file_size(rocksdb_sstfilewriter_t* writer,
                                     uint64_t* file_size) noexcept {
  *file_size = writer->rep.FileSize();
}
void rocksdb_sstfilewriter_destroy(rocksdb_sstfilewriter_t* writer) noexcept { delete writer; }

ASHLAR_C_CREATE_AND_DESTROY(ingestexternalfileoptions)
ASHLAR_C_ACCESSORS(ingestexternalfileoptions, move_files, unsigned char)
ASHLAR_C_ACCESSORS(ingestexternalfileoptions, link_files, unsigned char)
ASHLAR_C_ACCESSORS(ingestexternalfileoptions, failed_move_fall_back_to_copy, unsigned char)
ASHLAR_C_ACCESSORS(ingestexternalfileoptions, snapshot_consistency, unsigned char)
ASHLAR_C_ACCESSORS(ingestexternalfileoptions, allow_global_seqno, unsigned char)
ASHLAR_C_ACCESSORS(ingestexternalfileoptions, allow_blocking_flush, unsigned char)
ASHLAR_C_ACCESSORS(ingestexternalfileoptions, ingest_behind, unsigned char)
ASHLAR_C_ACCESSORS(ingestexternalfileoptions, write_global_seqno, unsigned char)
ASHLAR_C_ACCESSORS(ingestexternalfileoptions, fail_if_not_bottommost_level, unsigned char)
ASHLAR_C_ACCESSORS(ingestexternalfileoptions, allow_db_generated_files, unsigned char)
ASHLAR_C_ACCESSORS(ingestexternalfileoptions, fill_cache, unsigned char)
ASHLAR_C_ACCESSORS(ingestexternalfileoptions, prefetch_lmax_index_and_filter_blocks, unsigned char)
ASHLAR_C_ACCESSORS(ingestexternalfileoptions, file_opening_threads, int)
ASHLAR_C_ACCESSORS(ingestexternalfileoptions, verify_checksums_before_ingest, unsigned char)
ASHLAR_C_ACCESSORS(ingestexternalfileoptions, verify_checksums_readahead_size, size_t)
ASHLAR_C_ACCESSORS(ingestexternalfileoptions, verify_file_checksum, unsigned char)

void rocksdb_ingest_external_file(rocksdb_t* db, const char* const* file_list, size_t list_len,
                                  const rocksdb_ingestexternalfileoptions_t* options,
                                  char** errptr) noexcept {
  const std::vector<std::string> files(file_list, file_list + list_len);
  Check(errptr, db->rep->IngestExternalFile(db->default_family, files, options->rep));
}
void rocksdb_ingest_external_file_cf(rocksdb_t* db, rocksdb_column_family_handle_t* handle,
                                     const char* const* file_list, size_t list_len,
                                     const rocksdb_ingestexternalfileoptions_t* options,
                                     char** errptr) noexcept {
  const std::vector<std::string> files(file_list, file_list + list_len);
  Check(errptr, db->rep->IngestExternalFile(handle->rep, files, options->rep));
}
