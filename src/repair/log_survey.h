// LogSurvey: what a write-ahead log still holds, found by reading all of it, past damage too.
//
// Thread safety: pure functions of the file.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ashlar/vfs.h"
#include "base/result.h"
#include "manifest/version_edit.h"

namespace ashlar {

struct LogSurvey {
  uint64_t number = 0;
  uint64_t file_bytes = 0;
  uint64_t records = 0;
  uint64_t good_bytes = 0;  // the end of the last record
  uint64_t lost_bytes = 0;
  Status damage;              // the first; Ok: it was read to its end
  bool is_torn_tail = false;  // the only damage is the end that a crash leaves
  std::map<ColumnFamilyId, SequenceNumber> last_sequences;  // by family
};

// The file system's errors, and NotSupported naming a feature.
Result<LogSurvey> SurveyLog(vfs::FileSystem* file_system, const std::string& path, uint64_t number);

}  // namespace ashlar
