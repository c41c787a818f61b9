// From the options that users set to the small structs that the parts get. No folder below src/lsm
// reads Options.
//
// Thread safety: pure functions.
#pragma once

#include <climits>
#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/options.h"
#include "ashlar/table.h"
#include "base/compression.h"
#include "cache/block_cache.h"
#include "compact/plan/compaction_config.h"
#include "compact/run/compaction_output.h"
#include "memtable/memtable.h"
#include "table/blockbased/table_config.h"
#include "table/plain/plain_table_config.h"

namespace ashlar {

// Options that contradict each other count as values that work. The options stay as they are, so
// that SetOptions of one does not change another for good. default_delayed_write_rate: see below.
// Requires: FillDefaults.
CompactionConfig ResolveCompactionConfig(const ColumnFamilyOptions& options,
                                         const DBOptions& db_options,
                                         uint64_t default_delayed_write_rate);
// Of a delayed_write_rate of 0: the rate of the rate limiter, if it names one. Asks the limiter,
// which may be the program's: hold no lock.
uint64_t ResolveDefaultDelayedWriteRate(const DBOptions& db_options);
// For a factory other than the block-based one: the defaults, to read tables that may exist.
BlockBasedTableConfig ResolveTableConfig(const ColumnFamilyOptions& options);
// The same for PlainTables.
PlainTableConfig ResolvePlainTableConfig(const ColumnFamilyOptions& options);
// The length of every user key if new tables do not store it; 0: keys of any length.
uint32_t ResolveUserKeyBytes(const ColumnFamilyOptions& options);
// Whether new tables are read back.
bool VerifiesOutput(const ColumnFamilyOptions& options);
// Whether tables are written as PlainTables.
bool WritesPlainTables(const ColumnFamilyOptions& options);
// Of the next memtable: a shape that needs prefixes is a tree when there is no prefix extractor.
MemTableShape ResolveMemTableShape(const ColumnFamilyOptions& options);
// bottommost: the bottommost_compression_opts where they are enabled.
CompressionParameters ResolveCompressionParameters(const ColumnFamilyOptions& options,
                                                   bool bottommost);
// Likewise; bytes_max 0: no dictionary.
DictionaryParameters ResolveDictionary(const ColumnFamilyOptions& options, bool bottommost);
// For filter policies that distinguish levels: a flush, or a table of unknown level, which counts
// as one of the last level.
inline constexpr int kFlushFilterLevel = -1;
inline constexpr int kUnknownFilterLevel = INT_MAX - 1;  // INT_MAX of a policy: never Ribbon
// The kind of the filter of a table that is written to a level. With FIFO and kCompactionStyleNone
// tables stay where they are, so each is one of the last level.
FilterKind ResolveFilterKind(const ColumnFamilyOptions& options, int level);
// The codec of level 0, and that of tables which are flushed to it.
CompressionType ResolveLevel0Compression(const ColumnFamilyOptions& options);
CompressionType ResolveFlushCompression(const ColumnFamilyOptions& options);
// Jobs at once.
int ResolveFlushJobs(const DBOptions& options);
int ResolveCompactionJobs(const DBOptions& options);
// The number of open tables; 0: unlimited. "All" means three quarters of the limit of the process;
// more would make reads fail.
size_t ResolveOpenTablesMax(const DBOptions& options);
// Obsolete logs that are kept to be written over.
size_t ResolveSpareLogsMax(const DBOptions& options);
// The family's cache: the one that its table options name, or a new one of the default size, which
// is then put into the options; null for no_block_cache, whose options then have no cache, and for
// PlainTables, which have no blocks.
std::shared_ptr<Cache> ResolveBlockCache(ColumnFamilyOptions* options);
// The cache and the settings by which the blocks of a family's tables are read.
TableReads ResolveTableReads(const DBOptions& options, const ColumnFamilyOptions& family);
// The block-based options inside a family's factory; null when it has none.
const BlockBasedTableOptions* TableOptionsOf(const ColumnFamilyOptions& options);
// True if no compaction reads or writes the last level, which is for files that are ingested
// behind.
bool ReservesLastLevel(const ColumnFamilyOptions& options, const DBOptions& db_options);
// The part of a new table's settings that the options determine. The caller adds those of the
// database and the job.
void ResolveOutput(const DBOptions& db_options, const ColumnFamilyOptions& options,
                   CompactionOutputArgs* output);
// Replaces a null table factory, and every other value that means "the default", by the default. A
// value depends on no option that may change later, except that of max_compaction_bytes.
void FillDefaults(ColumnFamilyOptions* options);

}  // namespace ashlar
