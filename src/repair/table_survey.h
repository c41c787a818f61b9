// TableSurvey: the readable contents of a table file, found by reading all of it.
//
// I1: bounds and sequences are those of the readable entries and range tombstones.
//
// Thread safety: TableSurveyor by one thread. Lifetime: its arguments outlive it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/options.h"
#include "ashlar/vfs.h"
#include "base/result.h"
#include "execute/epoch.h"
#include "manifest/version_edit.h"
#include "repair/family_options.h"
#include "repair/flushed_writes.h"
#include "table/open/table_cache.h"
#include "table/table_damage.h"

namespace ashlar {

struct TableSurvey {
  enum class State : uint8_t { kMissing, kUnreadable, kReadable };

  FileNumber number = 0;
  std::string file_name;    // without the directory; empty if missing
  uint64_t file_bytes = 0;  // on disk
  State state = State::kMissing;
  TableDamage damage;  // `first` has the reason of kUnreadable, too

  ColumnFamilyId family = 0;
  std::string family_name;
  uint64_t entries = 0;  // without range tombstones
  bool has_ranges = false;
  std::string smallest;  // internal keys; both empty if nothing is readable
  std::string largest;
  SequenceNumber smallest_sequence = kSequenceNumberMax;
  SequenceNumber largest_sequence = 0;
  std::vector<KeyVersion> logged_keys;  // versions of keys that are also in the logs (TakeVersion)
  uint64_t creation_unix_seconds = 0;
  uint64_t oldest_ancestor_unix_seconds = 0;
  std::string merge_operator_name;  // of its operands; empty: none

  bool is_recorded = false;  // the MANIFEST names it, in the four fields below
  Level level = 0;
  std::string recorded_smallest;  // both empty if they are not trusted
  std::string recorded_largest;
  SequenceNumber recorded_largest_sequence = 0;
  std::string wrong_record;  // a wrong statement in the MANIFEST about it, or empty
  bool is_other = false;     // the MANIFEST, in these four fields, names another table

  bool is_copy = false;  // not recorded, but a recorded table has its newest sequence

  bool IsIntact() const { return state == State::kReadable && damage.first.ok(); }
  // Returns whether its place in the tree is recorded.
  bool IsPlaced() const { return is_recorded && !is_other; }
  bool HasContents() const { return entries > 0 || has_ranges; }
};

// Returns the metadata with which the table is opened, as far as it is readable.
std::unique_ptr<FileMetaData> MetadataOf(const TableSurvey& table);

class TableSurveyor {
 public:
  struct Args {
    vfs::FileSystem* file_system = nullptr;
    std::string directory;
    const DBOptions* options = nullptr;
    const FamilyOptions* families = nullptr;
    const LoggedKeysByFamily* logged_keys = nullptr;  // of all logs, before the first Survey
  };
  explicit TableSurveyor(const Args& args) : args_(args) {}

  // Fills in the rest. Requires number, file_name and file_bytes of an existing file, and family
  // and family_name of a recorded one. Returns InvalidArgument if no comparator fits the table.
  Status Survey(TableSurvey* table);
  // Returns whether a recorded table of the family has the newest sequence of this one, so that the
  // recorded tables have all of its data. Requires that this one is not recorded, and that recorded
  // tables were surveyed after all others.
  bool HasCopy(const TableSurvey& table) const;
  // Opens damaged tables as far as they are readable.
  TableCache* CacheFor(const Comparator* comparator);

 private:
  Status SurveyOrdered(const Comparator* comparator, TableSurvey* table);
  Status Read(TableReader* reader, const KeyComparator& comparator, TableSurvey* table);
  // Returns the logged keys of the table's family, or null if no log has writes of it.
  const LoggedKeys* LoggedKeysOf(const TableSurvey& table) const;
  void TakeSequence(SequenceNumber sequence, TableSurvey* table);
  void TakeRanges(TableReader* reader, const KeyComparator& comparator, TableSurvey* table);

  const Args args_;
  EpochDomain epochs_;
  OpenTables open_tables_{&epochs_, 0};
  std::map<const Comparator*, std::unique_ptr<TableCache>> caches_;
  // The newest sequence of each table that is not recorded, by family, and whether a recorded table
  // has it.
  std::map<std::pair<ColumnFamilyId, SequenceNumber>, bool> newest_;
};

}  // namespace ashlar
