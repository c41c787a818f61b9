// CompactionFilter: code of the program that may remove or change entries while flushes and
// compactions rewrite them. CompactionFilterFactory makes one for each part of a job.
//
// A filter is called for the newest version of a key among the files of the job, if that is a value
// that no snapshot sees, and for every merge operand that no snapshot sees. It is not called for
// files that are only moved. The next compaction calls it for the result of a merge. A snapshot
// that is taken while a job runs sees the job's result.
//
// Failure: a filter that throws or returns an impossible decision ends the job with an error that
// names the filter. The database becomes read-only. Nothing is lost, because the job leaves its
// input files as they were. Thread safety: a filter that a factory made is used by one thread at a
// time, ColumnFamilyOptions::compaction_filter by several at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/slice.h"
#include "ashlar/table_properties.h"
#include "ashlar/types.h"

namespace ashlar {

// RocksDB's wide-column entities, which Ashlar does not have: the pointers are always null.
class WideColumn;
using WideColumns = std::vector<WideColumn>;

class ASHLAR_API CompactionFilter : public Customizable {
 public:
  static const char* Type() { return "CompactionFilter"; }

  // The kind of the entry. The last two do not occur.
  enum ValueType { kValue, kMergeOperand, kBlobIndex, kWideColumnEntity };

  enum class Decision {
    kKeep,
    // The entry is removed. A value becomes a deletion if older versions of the key may exist; a
    // merge operand is dropped.
    kRemove,
    // The value of the entry is replaced by *new_value.
    kChangeValue,
    // Drops all entries that no snapshot sees from this key to *skip_until, exclusive. The filter
    // is not called for them and, if there are no snapshots, they are not read. Older versions of
    // these keys in files outside the job become visible again, so use it for keys that are written
    // once. Same as kKeep if *skip_until is not after the key. With max_subcompactions above 1 a
    // skip ends with its subcompaction. The next subcompaction calls its filter again, perhaps for
    // keys before *skip_until.
    kRemoveAndSkipUntil,
    kChangeBlobIndex,  // not possible: there are no blob files
    kIOError,          // the job ends with IOError
    // Like kRemove, but a value becomes a single deletion. Use it for keys that are written once.
    kPurge,
    kChangeWideColumnEntity,  // not possible: there are no wide-column entities
    kUndetermined,            // not possible
  };

  struct Context {
    // Every file of the column family is an input.
    bool is_full_compaction = false;
    // The program started the compaction with CompactRange or CompactFiles.
    bool is_manual_compaction = false;
    // The first level of the inputs; kUnknownStartLevel: memtables.
    static constexpr int kUnknownStartLevel = -1;
    int input_start_level = kUnknownStartLevel;
    uint32_t column_family_id = 0;
    TableFileCreationReason reason = TableFileCreationReason::kMisc;
    // Properties of the input tables by path. Empty for a flush, or if a table cannot be read.
    TablePropertiesCollection input_table_properties = {};
  };

  // For a filter that overrides neither FilterV2 nor FilterV3. Returns true to remove the value.
  // Returns false to keep it or, if it sets *value_changed, to replace it by *new_value. level,
  // here and below: the first level of the compaction's inputs, 0 for a flush.
  virtual bool Filter(int level, const Slice& key, const Slice& existing_value,
                      std::string* new_value, bool* value_changed) const;
  // The same for a merge operand: returns true to remove it.
  virtual bool FilterMergeOperand(int level, const Slice& key, const Slice& operand) const;
  // For values and operands. *new_value and *skip_until are empty at the call. The default calls
  // the two methods above.
  virtual Decision FilterV2(int level, const Slice& key, ValueType value_type,
                            const Slice& existing_value, std::string* new_value,
                            std::string* skip_until) const;
  // The method that the engine calls. The default calls FilterV2.
  virtual Decision FilterV3(int level, const Slice& key, ValueType value_type,
                            const Slice* existing_value, const WideColumns* existing_columns,
                            std::string* new_value,
                            std::vector<std::pair<std::string, std::string>>* new_columns,
                            std::string* skip_until) const;

  // RocksDB calls it before it reads a value from a blob file. Ashlar never calls it, because it
  // has no blob files. It is declared for filters that override it.
  virtual Decision FilterBlobByKey(int level, const Slice& key, std::string* new_value,
                                   std::string* skip_until) const;

  // Has no effect: a filter is never called for versions that a snapshot sees. RocksDB refuses
  // filters that return false, and calls the others for such versions, too.
  virtual bool IgnoreSnapshots() const { return true; }

  // Appears in the OPTIONS file and in errors.
  const char* Name() const override = 0;
};

// Thread safety: all methods may be called from any thread.
class ASHLAR_API CompactionFilterFactory : public Customizable {
 public:
  static const char* Type() { return "CompactionFilterFactory"; }

  // True if the filter applies to tables that are written for this reason: kFlush, kCompaction, or
  // kRecovery (a flush while the database is opened).
  virtual bool ShouldFilterTableFileCreation(TableFileCreationReason reason) const {
    return reason == TableFileCreationReason::kCompaction;
  }
  // Returns a filter for one part of a job; null: that part is not filtered.
  virtual std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) = 0;

  const char* Name() const override = 0;
};

}  // namespace ashlar
