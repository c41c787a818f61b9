// Converts the options that users set into the small structs that the parts get. No layer below
// src/lsm reads Options.
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

// Replaces options that contradict each other by values that work. The options themselves stay as
// they are, so that SetOptions of one does not change another permanently.
// default_delayed_write_rate: see below. Requires: FillDefaults.
CompactionConfig ResolveCompactionConfig(const ColumnFamilyOptions& options,
                                         const DBOptions& db_options,
                                         uint64_t default_delayed_write_rate);
// The meaning of a delayed_write_rate of 0: the rate of the rate limiter, or a default if it has
// none. Requires: no lock is held, because the limiter may be the program's.
uint64_t ResolveDefaultDelayedWriteRate(const DBOptions& db_options);
// Returns the defaults if the factory is not block-based, to read tables that may exist.
BlockBasedTableConfig ResolveTableConfig(const ColumnFamilyOptions& options);
// The same for PlainTables.
PlainTableConfig ResolvePlainTableConfig(const ColumnFamilyOptions& options);
// The length of every user key if new tables do not store it, or 0 for keys of any length.
uint32_t ResolveUserKeyBytes(const ColumnFamilyOptions& options);
// Whether new tables are read back.
bool VerifiesOutput(const ColumnFamilyOptions& options);
// Whether tables are written as PlainTables.
bool WritesPlainTables(const ColumnFamilyOptions& options);
// The shape of the next memtable. It is a tree if it needs prefixes but there is no extractor.
MemTableShape ResolveMemTableShape(const ColumnFamilyOptions& options);
// bottommost: uses bottommost_compression_opts if they are enabled.
CompressionParameters ResolveCompressionParameters(const ColumnFamilyOptions& options,
                                                   bool bottommost);
// bottommost: as above. If bytes_max is 0, there is no dictionary.
DictionaryParameters ResolveDictionary(const ColumnFamilyOptions& options, bool bottommost);
// The levels of a flush, and of a table of unknown level, which counts as one of the last level,
// for filter policies that distinguish levels.
inline constexpr int kFlushFilterLevel = -1;
inline constexpr int kUnknownFilterLevel = INT_MAX - 1;  // INT_MAX of a policy: never Ribbon
// The filter kind of a table that is written to the level. With FIFO and kCompactionStyleNone,
// tables stay where they are, so each counts as one of the last level.
FilterKind ResolveFilterKind(const ColumnFamilyOptions& options, int level);
// The codecs of level 0 and of tables that are flushed to it.
CompressionType ResolveLevel0Compression(const ColumnFamilyOptions& options);
CompressionType ResolveFlushCompression(const ColumnFamilyOptions& options);
// The maximum numbers of concurrent jobs.
int ResolveFlushJobs(const DBOptions& options);
int ResolveCompactionJobs(const DBOptions& options);
// The maximum number of open tables; 0 means unlimited. "All" means three quarters of the open
// files that the process may have, because more would make reads fail.
size_t ResolveOpenTablesMax(const DBOptions& options);
// The maximum number of obsolete logs that are kept to be recycled.
size_t ResolveSpareLogsMax(const DBOptions& options);
// Returns the family's cache. It is the one in its table options, or a new one of the default size,
// which is then stored in the options. Returns null for PlainTables, which have no blocks, and for
// no_block_cache, whose options then have no cache.
std::shared_ptr<Cache> ResolveBlockCache(ColumnFamilyOptions* options);
// How the blocks of a family's tables are read: from a mapping, the page cache or the block cache.
TableReads ResolveTableReads(const DBOptions& options, const ColumnFamilyOptions& family);
// The block-based options inside a family's factory; null when it has none.
const BlockBasedTableOptions* TableOptionsOf(const ColumnFamilyOptions& options);
// True if the last level is for files that are ingested behind. No compaction then reads or writes
// it.
bool ReservesLastLevel(const ColumnFamilyOptions& options, const DBOptions& db_options);
// Sets the part of a new table's settings that the options determine. The caller adds the settings
// of the database and the job.
void ResolveOutput(const DBOptions& db_options, const ColumnFamilyOptions& options,
                   CompactionOutputArgs* output);
// Replaces a null table factory, and every other value that means "the default", by the default. No
// default depends on an option that may change later, except that of max_compaction_bytes.
void FillDefaults(ColumnFamilyOptions* options);

}  // namespace ashlar
