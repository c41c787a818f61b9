// The members of FileMetaData that the database mutex guards, under the name of that lock.
// FileMetaData is in a folder below the name, so the engine uses these functions, and clang checks
// the lock. The pickers in compact/plan read the members through a TreeView, which is made and used
// under the lock. Only FindRangeCoverage runs without the lock. Of these members it reads only
// coverage.hidden_since, which is atomic. tests/structure allows no other user.
//
// Thread safety: under the database mutex.
#pragma once

#include <algorithm>

#include "base/assert.h"
#include "manifest/database_locks.h"
#include "manifest/version_edit.h"
#include "table/file_metadata.h"

namespace ashlar {

inline bool IsBeingCompacted(const FileMetaData& file) ASHLAR_REQUIRES(kDatabaseMutex) {
  return file.being_compacted;
}

// True if the covered bytes of the file were not counted at this level.
inline bool MustCountCoveredBytes(const FileMetaData& file, Level level)
    ASHLAR_REQUIRES(kDatabaseMutex) {
  return file.coverage.counted_at_level != level;
}
inline void RecordCoveredBytes(FileMetaData* file, Level level, uint64_t bytes)
    ASHLAR_REQUIRES(kDatabaseMutex) {
  file->coverage.counted_at_level = level;
  file->coverage.covered_bytes = bytes;
}

// Records that tombstones hide the file since this sequence. A smaller known one stays.
inline void RecordHidden(FileMetaData* file, SequenceNumber since) ASHLAR_REQUIRES(kDatabaseMutex) {
  ASHLAR_ASSERT(since > 0);  // 0 means that a file is not hidden
  std::atomic<SequenceNumber>& known = file->coverage.hidden_since;
  known = known == 0 ? since : std::min(known.load(), since);
}
inline void ForgetHidden(FileMetaData* file) ASHLAR_REQUIRES(kDatabaseMutex) {
  file->coverage.hidden_since = 0;
}

}  // namespace ashlar
