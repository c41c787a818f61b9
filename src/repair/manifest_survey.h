// ManifestSurvey: the readable contents of the MANIFESTs of a damaged database.
//
//   CURRENT's MANIFEST is tried first, then the others, newest first. The first usable one is read
//   up to its end or its first damage.
//
// I1: nothing after damage is used, because an edit is meaningful only after all edits before it.
// I2: `deleted` has every table that the edits read have removed from the database for good.
//
// Thread safety: pure functions of the files.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ashlar/vfs.h"
#include "base/result.h"
#include "manifest/published_state.h"
#include "manifest/version_edit.h"

namespace ashlar {

struct RecordedTable {
  Level level = 0;
  std::unique_ptr<FileMetaData> file;
};

struct RecordedFamily {
  std::string name;
  std::string comparator;
  uint64_t log_number = 0;
  // A lower bound of the flushed sequences: the largest sequence of any table the family ever had.
  // Tables whose entries all have one sequence do not count. They may be ingested, with a sequence
  // that is newer than writes that were not flushed.
  SequenceNumber flushed_sequence = 0;
  std::map<FileNumber, RecordedTable> tables;
};

struct ManifestSurvey {
  FileNumber number = 0;  // 0 if none is usable
  Status damage;          // Ok if CURRENT names it and it was read to its end
  std::map<ColumnFamilyId, RecordedFamily> families;
  std::set<FileNumber> deleted;
  std::string database_id;
  FileNumber next_file_number = 2;
  SequenceNumber last_sequence = 0;
  ColumnFamilyId max_column_family = 0;
  uint64_t min_log_number_to_keep = 0;
  RecordedLogs recorded_logs;

  bool IsSound() const { return damage.ok(); }
};

// `numbers` are those of the MANIFESTs in the directory. Errors: those of the file system, and
// NotSupported that names a feature of an undamaged edit.
Result<ManifestSurvey> SurveyManifests(vfs::FileSystem* file_system, const std::string& directory,
                                       std::vector<FileNumber> numbers);

}  // namespace ashlar
