// LogSurvey: the readable contents of a write-ahead log. It reads the whole log, past damage too.
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
  Status damage;              // the first; Ok: it was read to its end
  bool is_torn_tail = false;  // the only damage is the end that a crash leaves
  std::optional<PredecessorRecord> predecessor = {};               // the log that it continues
  std::map<ColumnFamilyId, std::vector<LoggedWrite>> writes = {};  // filled in by SurveyLog
  // A table of level 0 that has a key of a write, and a newer sequence than it, by family. Filled
  // in by the repair if the MANIFEST is sound.
  std::map<ColumnFamilyId, FileNumber> misplaced = {};
};

using LogVisitor = FunctionRef<Status(const BatchRecord& record, SequenceNumber sequence)>;

// Calls `visit` for every readable write, in the order of the log. An error of `visit` ends it.
// Errors: those of the file system, NotSupported naming a feature, and Corruption of a batch whose
// checksum is right.
Result<LogSurvey> ReadLog(vfs::FileSystem* file_system, const std::string& path, FileNumber number,
                          const LogVisitor& visit);
Result<LogSurvey> SurveyLog(vfs::FileSystem* file_system, const std::string& path,
                            FileNumber number);

}  // namespace ashlar
