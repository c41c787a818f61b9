// FileMetaData::being_compacted, under the name of the lock that guards it. The folder of
// FileMetaData is below that name, so the engine uses the flag through these functions, and clang
// checks the lock. The pickers in compact/plan see it through a TreeView, which is made under the
// lock; tests/structure knows no other reader.
//
// Thread safety: under the database mutex.
#pragma once

#include "manifest/database_locks.h"
#include "table/file_metadata.h"

namespace ashlar {

inline bool IsBeingCompacted(const FileMetaData& file) ASHLAR_REQUIRES(kDatabaseMutex) {
  return file.being_compacted;
}

}  // namespace ashlar
