// Iteration over the log, and lists of its files.
#include <utility>

#include "ashlar/transaction_log.h"
#include "capi/accessors.h"
#include "capi/transfer.h"

using ashlar::BatchResult;
using ashlar::TransactionLogIterator;
using ashlar::VectorWalPtr;
using ashlar::WalFile;
using ashlar::capi::Check;
using ashlar::capi::Rep;
using ashlar::capi::Wrap;

namespace {

rocksdb_wal_file_t ToHandle(std::unique_ptr<WalFile> file) {
  rocksdb_wal_file_t handle;
  handle.path = file->PathName();
  handle.rep = std::move(file);
  return handle;
}

}  // namespace

rocksdb_wal_readoptions_t* rocksdb_wal_readoptions_create() noexcept {
  return new rocksdb_wal_readoptions_t;
}
void rocksdb_wal_readoptions_destroy(rocksdb_wal_readoptions_t* options) noexcept {
  delete options;
}
void rocksdb_wal_readoptions_set_verify_checksums(rocksdb_wal_readoptions_t* options,
                                                  unsigned char verify_checksums) noexcept {
  options->rep.verify_checksums_ = verify_checksums != 0;
}
unsigned char rocksdb_wal_readoptions_get_verify_checksums(
    rocksdb_wal_readoptions_t* options) noexcept {
  return static_cast<unsigned char>(options->rep.verify_checksums_);
}

rocksdb_wal_iterator_t* rocksdb_get_updates_since(rocksdb_t* db, uint64_t seq_number,
                                                  const rocksdb_wal_readoptions_t* options,
                                                  char** errptr) noexcept {
  std::unique_ptr<TransactionLogIterator> iterator;
  const TransactionLogIterator::ReadOptions defaults;
  const ashlar::Status status =
      db->rep->GetUpdatesSince(seq_number, &iterator, options != nullptr ? options->rep : defaults);
  return Check(errptr, status) ? Wrap(iterator.release()) : nullptr;
}
void rocksdb_wal_iter_next(rocksdb_wal_iterator_t* iter) noexcept { Rep(iter)->Next(); }
unsigned char rocksdb_wal_iter_valid(const rocksdb_wal_iterator_t* iter) noexcept {
  return static_cast<unsigned char>(Rep(iter)->Valid());
}
void rocksdb_wal_iter_status(const rocksdb_wal_iterator_t* iter, char** errptr) noexcept {
  Check(errptr, Rep(iter)->status());
}
rocksdb_writebatch_t* rocksdb_wal_iter_get_batch(const rocksdb_wal_iterator_t* iter,
                                                 uint64_t* seq) noexcept {
  BatchResult result = Rep(const_cast<rocksdb_wal_iterator_t*>(iter))->GetBatch();
  if (seq != nullptr) *seq = result.sequence;
  return new rocksdb_writebatch_t{.rep = std::move(*result.writeBatchPtr), .refused = {}};
}
void rocksdb_wal_iter_destroy(const rocksdb_wal_iterator_t* iter) noexcept { delete Rep(iter); }

rocksdb_wal_files_t* rocksdb_get_sorted_wal_files(rocksdb_t* db, char** errptr) noexcept {
  VectorWalPtr files;
  if (!Check(errptr, db->rep->GetSortedWalFiles(files))) return nullptr;
  auto* const handles = new rocksdb_wal_files_t;
  for (std::unique_ptr<WalFile>& file : files) handles->rep.push_back(ToHandle(std::move(file)));
  return handles;
}
rocksdb_wal_file_t* rocksdb_get_current_wal_file(rocksdb_t* db, char** errptr) noexcept {
  std::unique_ptr<WalFile> file;
  if (!Check(errptr, db->rep->GetCurrentWalFile(&file))) return nullptr;
  return new rocksdb_wal_file_t(ToHandle(std::move(file)));
}
size_t rocksdb_wal_files_count(const rocksdb_wal_files_t* files) noexcept {
  return files->rep.size();
}
const rocksdb_wal_file_t* rocksdb_wal_files_get_wal_file(const rocksdb_wal_files_t* files,
                                                         size_t index) noexcept {
  return index < files->rep.size() ? &files->rep[index] : nullptr;
}
void rocksdb_wal_files_destroy(rocksdb_wal_files_t* files) noexcept { delete files; }

const char* rocksdb_wal_file_path_name(const rocksdb_wal_file_t* file) noexcept {
  return file->path.c_str();
}
uint64_t rocksdb_wal_file_log_number(const rocksdb_wal_file_t* file) noexcept {
  return file->rep->LogNumber();
}
int rocksdb_wal_file_type(const rocksdb_wal_file_t* file) noexcept { return file->rep->Type(); }
uint64_t rocksdb_wal_file_start_sequence(const rocksdb_wal_file_t* file) noexcept {
  return file->rep->StartSequence();
}
uint64_t rocksdb_wal_file_size_file_bytes(const rocksdb_wal_file_t* file) noexcept {
  return file->rep->SizeFileBytes();
}
void rocksdb_wal_file_destroy(rocksdb_wal_file_t* file) noexcept { delete file; }
