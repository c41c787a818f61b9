// Converts options from text and to text.
//
// Text is "name=value;name=value"; a value that is a structure is enclosed in braces:
// "compression_opts={level=3;window_bits=-14}". Names are those of the members. Errors:
// InvalidArgument names the option and the reason, and *new_options is unchanged.
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
#include "ashlar/types.h"

namespace ashlar {

class ColumnFamilyHandle;
class DB;
struct RangePtr;

struct ConfigOptions {
  // Ignores unknown names, and values that cannot be parsed, instead of refusing them. In an
  // OPTIONS file: unknown names, and values of accepted options that cannot be parsed.
  bool ignore_unknown_options = false;
  // Ignores values of known options that this release cannot create, such as a merge operator of
  // the program, instead of refusing them.
  bool ignore_unsupported_options = true;
  // Values, in maps and in strings, are escaped as in an OPTIONS file.
  bool input_strings_escaped = true;
  // Only options that SetOptions may change: refuses the others in text, and does not print them.
  bool mutable_options_only = false;
  // Separates the options in printed text.
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
// The text may have options of a database and of its one column family, in any order.
ASHLAR_API Status GetOptionsFromString(const ConfigOptions& config_options,
                                       const Options& base_options, const std::string& opts_str,
                                       Options* new_options);

// The same with the defaults of ConfigOptions.
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

// Print every option as text that the functions above parse, except caches and other objects that
// OPTIONS files do not have. Those functions take these from their base options.
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

// Splits "a=1;b={c=2}" into {a: "1", b: "c=2"}.
ASHLAR_API Status StringToMap(const std::string& opts_str,
                              std::unordered_map<std::string, std::string>* opts_map);

// Stops the background work of the database for good; ContinueBackgroundWork does not undo it. With
// `wait` no job is running when the call returns. From then on Flush, CompactRange, CompactFiles,
// PromoteL0 and WaitForCompact return ShutdownInProgress. So does every other call that needs a
// flush or a compaction: an ingestion over keys of a memtable, or a checkpoint or backup that
// flushes. Calls that are already waiting wake and return the same. Writes succeed while a memtable
// has room. A write that would have to wait for a flush or a compaction returns ShutdownInProgress,
// and no part of it is visible. Reads, iterators, DeleteFilesInRanges, changes of options and
// families, Resume and Close work as before.
//
// If a write has skipped the log and avoid_flush_during_shutdown is false, the calling thread first
// flushes everything that was written before the call, even if background work is paused. An error
// of this flush is a background error. Close flushes later writes that skip the log.
//
// Any thread may call it any number of times, also concurrently with Close. A listener or a
// compaction filter must not call it with `wait`, nor after a write that skipped the log, because
// the call would wait for the job that it runs in. It does nothing for a read-only database and a
// secondary, which have no background work.
ASHLAR_API void CancelAllBackgroundWork(DB* db, bool wait = false);

// Frees the space of whole tables at once. It removes each table of levels 1 and deeper whose keys
// are all in one of the ranges [*start, *limit] (null: unbounded; without include_end: [*start,
// *limit)). It reads and writes no table. Nothing else in the ranges is deleted:
//   - keys in memtables, in level 0, and in tables that extend beyond the range, stay
//   - a table in a running compaction stays, and so does one that shares a user key with a table
//     that stays
//   - if a removed table hid or deleted older versions of a key that a deeper level still has, they
//     become visible again
//   - snapshots do not protect the tables: a read at a snapshot misses their keys. An iterator that
//     was created before the call still sees them.
// To delete every key of a range, call DeleteRange as well. InvalidArgument: a range ends before it
// begins.
ASHLAR_API Status DeleteFilesInRange(DB* db, ColumnFamilyHandle* column_family, const Slice* begin,
                                     const Slice* end, bool include_end = true);
ASHLAR_API Status DeleteFilesInRanges(DB* db, ColumnFamilyHandle* column_family,
                                      const RangePtr* ranges, size_t n, bool include_end = true);

// SstFileReader::VerifyChecksum of one table file, with the Env and the comparator of the options.
// The other parameters are accepted.
ASHLAR_API Status VerifySstFileChecksum(const Options& options, const EnvOptions& env_options,
                                        const std::string& file_path);
ASHLAR_API Status VerifySstFileChecksum(const Options& options, const EnvOptions& env_options,
                                        const ReadOptions& read_options,
                                        const std::string& file_path,
                                        const SequenceNumber& largest_seqno = 0);

}  // namespace ashlar
