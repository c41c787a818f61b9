// LogSurvey: the readable contents of a write-ahead log. The survey also reads past damage.
//
// Thread safety: pure functions of the file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/vfs.h"
#include "base/function_ref.h"
#include "base/result.h"
#include "lsm/predecessor_record.h"
#include "manifest/version_edit.h"
#include "repair/flushed_writes.h"

namespace ashlar {

struct LogSurvey {
  FileNumber number = 0;
  uint64_t file_bytes = 0;
  uint64_t good_bytes = 0;  // the end of the last record
  uint64_t lost_bytes = 0;
  Status damage;              // the first one; Ok if the log was read to its end
  bool is_torn_tail = false;  // the only damage is the end that a crash leaves
  std::optional<PredecessorRecord> predecessor = {};               // the log that it continues
  std::map<ColumnFamilyId, std::vector<LoggedWrite>> writes = {};  // filled in by SurveyLog
  // By family: a level-0 table whose bounds contain the key of a write, and whose newest sequence
  // is not older than the write's. Filled in by the repair if the MANIFEST is sound.
  std::map<ColumnFamilyId, FileNumber> misplaced = {};
};

using LogVisitor = FunctionRef<Status(const BatchRecord& record, SequenceNumber sequence)>;

// Calls `visit` for every readable write, in the order of the log, and returns its first error.
// Other errors are those of the file system, NotSupported that names a feature, and Corruption for
// a batch whose checksum is right.
Result<LogSurvey> ReadLog(vfs::FileSystem* file_system, const std::string& path, FileNumber number,
                          const LogVisitor& visit);
Result<LogSurvey> SurveyLog(vfs::FileSystem* file_system, const std::string& path,
                            FileNumber number);

}  // namespace ashlar
