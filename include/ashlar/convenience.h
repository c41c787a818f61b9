// Options from text and to text.
//
// Text is "name=value;name=value"; a value that is a structure is enclosed in braces:
// "compression_opts={level=3;window_bits=-14}". Names are those of the members. Errors:
// InvalidArgument naming the option and the reason; *new_options is then unchanged.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "ashlar/compression_type.h"
#include "ashlar/export.h"
#include "ashlar/options.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/table.h"

namespace ashlar {

class ColumnFamilyHandle;
class DB;
struct RangePtr;

struct ConfigOptions {
  // Unknown names are ignored instead of refused.
  bool ignore_unknown_options = false;
  // Values of known options that this release cannot make (a merge operator of the program, say)
  // are ignored instead of refused.
  bool ignore_unsupported_options = true;
  // In maps: values are escaped as in an OPTIONS file.
  bool input_strings_escaped = true;
  // Only options that SetOptions may change.
  bool mutable_options_only = false;
  // Between two options of printed text.
  std::string delimiter = ";";
  Env* env = Env::Default();
};

ASHLAR_API Status GetDBOptionsFromMap(const ConfigOptions& config_options,
                                      const DBOptions& base_options,
                                      const std::unordered_map<std::string, std::string>& opts_map,
                                      DBOptions* new_options);
ASHLAR_API Status GetColumnFamilyOptionsFromMap(
    const ConfigOptions& config_options, const ColumnFamilyOptions& base_options,
    const std::unordered_map<std::string, std::string>& opts_map, ColumnFamilyOptions* new_options);
ASHLAR_API Status GetBlockBasedTableOptionsFromMap(
    const ConfigOptions& config_options, const BlockBasedTableOptions& table_options,
    const std::unordered_map<std::string, std::string>& opts_map,
    BlockBasedTableOptions* new_table_options);
ASHLAR_API Status GetPlainTableOptionsFromMap(
    const ConfigOptions& config_options, const PlainTableOptions& table_options,
    const std::unordered_map<std::string, std::string>& opts_map,
    PlainTableOptions* new_table_options);

ASHLAR_API Status GetDBOptionsFromString(const ConfigOptions& config_options,
                                         const DBOptions& base_options, const std::string& opts_str,
                                         DBOptions* new_options);
ASHLAR_API Status GetColumnFamilyOptionsFromString(const ConfigOptions& config_options,
                                                   const ColumnFamilyOptions& base_options,
                                                   const std::string& opts_str,
                                                   ColumnFamilyOptions* new_options);
ASHLAR_API Status GetBlockBasedTableOptionsFromString(const ConfigOptions& config_options,
                                                      const BlockBasedTableOptions& table_options,
                                                      const std::string& opts_str,
                                                      BlockBasedTableOptions* new_table_options);
ASHLAR_API Status GetPlainTableOptionsFromString(const ConfigOptions& config_options,
                                                 const PlainTableOptions& table_options,
                                                 const std::string& opts_str,
                                                 PlainTableOptions* new_table_options);
// Options of a database and of its one column family, mixed.
ASHLAR_API Status GetOptionsFromString(const ConfigOptions& config_options,
                                       const Options& base_options, const std::string& opts_str,
                                       Options* new_options);

// With the defaults of ConfigOptions.
ASHLAR_API Status GetDBOptionsFromString(const DBOptions& base_options, const std::string& opts_str,
                                         DBOptions* new_options);
ASHLAR_API Status GetColumnFamilyOptionsFromString(const ColumnFamilyOptions& base_options,
                                                   const std::string& opts_str,
                                                   ColumnFamilyOptions* new_options);
ASHLAR_API Status GetBlockBasedTableOptionsFromString(const BlockBasedTableOptions& table_options,
                                                      const std::string& opts_str,
                                                      BlockBasedTableOptions* new_table_options);
ASHLAR_API Status GetPlainTableOptionsFromString(const PlainTableOptions& table_options,
                                                 const std::string& opts_str,
                                                 PlainTableOptions* new_table_options);
ASHLAR_API Status GetOptionsFromString(const Options& base_options, const std::string& opts_str,
                                       Options* new_options);

// Every option, in text that the functions above understand.
ASHLAR_API Status GetStringFromDBOptions(const ConfigOptions& config_options,
                                         const DBOptions& db_options, std::string* opts_str);
ASHLAR_API Status GetStringFromColumnFamilyOptions(const ConfigOptions& config_options,
                                                   const ColumnFamilyOptions& cf_options,
                                                   std::string* opts_str);
ASHLAR_API Status GetStringFromDBOptions(std::string* opts_str, const DBOptions& db_options,
                                         const std::string& delimiter = ";  ");
ASHLAR_API Status GetStringFromColumnFamilyOptions(std::string* opts_str,
                                                   const ColumnFamilyOptions& cf_options,
                                                   const std::string& delimiter = ";  ");

// "kSnappyCompression" and so on.
ASHLAR_API Status GetStringFromCompressionType(std::string* compression_str,
                                               CompressionType compression_type);
// The compression types that this build supports.
ASHLAR_API std::vector<CompressionType> GetSupportedCompressions();

// Cuts "a=1;b={c=2}" into {a: "1", b: "c=2"}.
ASHLAR_API Status StringToMap(const std::string& opts_str,
                              std::unordered_map<std::string, std::string>* opts_map);

// Ends background work of the database for good; ContinueBackgroundWork does not undo it. With
// `wait` no job runs when it returns. From then on Flush, CompactRange, CompactFiles, PromoteL0 and
// WaitForCompact return ShutdownInProgress, and so does every other call that needs a flush or a
// compaction: an ingestion over keys of a memtable, a checkpoint or backup that flushes. Calls that
// wait for one are woken, and return the same. Writes succeed while a memtable has room; one that
// would wait for a flush or a compaction is refused with ShutdownInProgress, and no part of it is
// visible. Reads, iterators, DeleteFilesInRanges, changes of options and families, Resume and Close
// work as before.
//
// If a write has left out the log, and avoid_flush_during_shutdown is false, everything that was
// written before the call is flushed first, in the calling thread, also while background work is
// paused. An error of this flush is a background error. Such writes after the call are flushed by
// Close.
//
// Any thread may call it, as often as it likes, also concurrently with Close. Not to be called from
// a listener or a compaction filter with `wait` or after a write that left out the log: it would
// wait for the job that it is in. On a read-only database and on a secondary it does nothing, as
// these have no background work.
ASHLAR_API void CancelAllBackgroundWork(DB* db, bool wait = false);

// Gives the space of whole tables back at once: removes each table of levels 1 and deeper of which
// every key is in one of the ranges [*start, *limit] (null: unbounded; without include_end:
// [*start, *limit)). Reads and writes no table. Nothing else of the ranges is deleted:
//   - keys in memtables, in level 0, and in tables that reach out of the range, stay
//   - a table in a running compaction stays, and so does one that shares a user key with a table
//     that stays
//   - where a removed table has hidden older versions of a key, or was deleting keys, and a deeper
//     level keeps a table with these, the older versions are visible again
//   - snapshots do not protect the tables: reads at a snapshot miss their keys. An iterator that
//     was created before keeps seeing them.
// So call DeleteRange, too, where the keys have to be gone. InvalidArgument: a range ends before it
// begins.
ASHLAR_API Status DeleteFilesInRange(DB* db, ColumnFamilyHandle* column_family, const Slice* begin,
                                     const Slice* end, bool include_end = true);
ASHLAR_API Status DeleteFilesInRanges(DB* db, ColumnFamilyHandle* column_family,
                                      const RangePtr* ranges, size_t n, bool include_end = true);

}  // namespace ashlar
