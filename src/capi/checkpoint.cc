// Checkpoints.
#include "ashlar/checkpoint.h"

#include "capi/accessors.h"
#include "capi/transfer.h"

using ashlar::Checkpoint;
using ashlar::capi::Check;
using ashlar::capi::Rep;
using ashlar::capi::Wrap;

rocksdb_checkpoint_t* rocksdb_checkpoint_object_create(rocksdb_t* db, char** errptr) noexcept {
  Checkpoint* checkpoint = nullptr;
  return Check(errptr, Checkpoint::Create(db->rep.get(), &checkpoint)) ? Wrap(checkpoint) : nullptr;
}
void rocksdb_checkpoint_create(rocksdb_checkpoint_t* checkpoint, const char* checkpoint_dir,
                               uint64_t log_size_for_flush, char** errptr) noexcept {
  Check(errptr, Rep(checkpoint)->CreateCheckpoint(checkpoint_dir, log_size_for_flush));
}
void rocksdb_checkpoint_object_destroy(rocksdb_checkpoint_t* checkpoint) noexcept {
  delete Rep(checkpoint);
}
