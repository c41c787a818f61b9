// CompactionFilter: code of the program that may remove or change entries while flushes and
// compactions rewrite them. CompactionFilterFactory makes one for each part of a job.
//
// A filter sees the newest version of a key among the files of the job, if it is a value that no
// snapshot sees. It also sees every merge operand that no snapshot sees. It does not see files that
// only move. It sees the result of a merge at the next compaction. A snapshot that is taken while a
// job runs sees the job's result.
//
// Failure: a filter that throws or returns an impossible decision ends the job with an error that
// names the filter. The database becomes read-only. Nothing is lost, because the job leaves its
// input files as they were. Thread safety: one thread at a time uses a filter that a factory made;
// several at once use ColumnFamilyOptions::compaction_filter.
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
    // merge operand is left out.
    kRemove,
    // The entry gets *new_value.
    kChangeValue,
    // Drops all entries that no snapshot sees from this key to *skip_until, exclusive. The filter
    // is not called for them and, if there are no snapshots, they are not read. Older versions of
    // these keys in files outside the job become visible again, so use it for keys that are written
    // once. Same as kKeep if *skip_until is not after the key. With max_subcompactions above 1 a
    // skip ends where the part of the job ends that one thread works on. The next part asks again,
    // maybe about keys before *skip_until.
    kRemoveAndSkipUntil,
    kChangeBlobIndex,  // not possible: there are no blob files
    kIOError,          // the job ends with IOError
    // Like kRemove, but a value becomes a single deletion. For keys that are written once.
    kPurge,
    kChangeWideColumnEntity,  // not possible: there are no wide-column entities
    kUndetermined,            // not possible
  };

  struct Context {
    // Every file of the column family takes part.
    bool is_full_compaction = false;
    // The program asked for the compaction: CompactRange or CompactFiles.
    bool is_manual_compaction = false;
    // The first level of the inputs; kUnknownStartLevel: memtables.
    static constexpr int kUnknownStartLevel = -1;
    int input_start_level = kUnknownStartLevel;
    uint32_t column_family_id = 0;
    TableFileCreationReason reason = TableFileCreationReason::kMisc;
    // Those of the input tables, by path. Empty for a flush, and if one of them cannot be read.
    TablePropertiesCollection input_table_properties = {};
  };

  // For a filter that implements neither FilterV2 nor FilterV3. True: the value is removed. False:
  // it is kept, or replaced by *new_value if *value_changed is set. level: the first level of the
  // compaction's inputs, 0 for a flush; here and below.
  virtual bool Filter(int level, const Slice& key, const Slice& existing_value,
                      std::string* new_value, bool* value_changed) const;
  // The same for a merge operand. True: it is removed.
  virtual bool FilterMergeOperand(int level, const Slice& key, const Slice& operand) const;
  // Values and operands. *new_value and *skip_until are empty at the call. The default calls the
  // two above.
  virtual Decision FilterV2(int level, const Slice& key, ValueType value_type,
                            const Slice& existing_value, std::string* new_value,
                            std::string* skip_until) const;
  // The method that is called. The default calls FilterV2.
  virtual Decision FilterV3(int level, const Slice& key, ValueType value_type,
                            const Slice* existing_value, const WideColumns* existing_columns,
                            std::string* new_value,
                            std::vector<std::pair<std::string, std::string>>* new_columns,
                            std::string* skip_until) const;

  // RocksDB's question about a value in a blob file, before it reads the value. Never called: there
  // are no blob files. Here for filters that override it.
  virtual Decision FilterBlobByKey(int level, const Slice& key, std::string* new_value,
                                   std::string* skip_until) const;

  // Without effect: versions that a snapshot sees are never asked about. RocksDB refuses filters
  // that return false, and asks about versions that snapshots see.
  virtual bool IgnoreSnapshots() const { return true; }

  // Written into the OPTIONS file and into errors.
  const char* Name() const override = 0;
};

// Thread safety: all methods, from any thread.
class ASHLAR_API CompactionFilterFactory : public Customizable {
 public:
  static const char* Type() { return "CompactionFilterFactory"; }

  // True if the filter applies to tables that are written for this reason: kFlush, kCompaction, or
  // kRecovery (a flush while the database is opened).
  virtual bool ShouldFilterTableFileCreation(TableFileCreationReason reason) const {
    return reason == TableFileCreationReason::kCompaction;
  }
  // A filter for one part of a job; null: none.
  virtual std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) = 0;

  const char* Name() const override = 0;
};

}  // namespace ashlar
