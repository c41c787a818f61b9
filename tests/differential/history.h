// Random histories: lines of database.h, and lines for the runner.
//
// Runner lines:
//   exchange          every database is closed, and the next library takes over its directory
//   kill              every process is killed, and the next library takes over
// "@" as a directory means the database's own.
//
// Never generated, because RocksDB defines no result: SingleDelete of a key that was written more
// than once or merged; iteration beyond a prefix; bounds or sizes of inverted ranges; writes
// without log before a kill, a secondary, or a copy of the logs.
//
// Never generated, because the result depends on the tables or on the clock:
// - DeleteFilesInRange: libraries delete different keys of a range. Every later read would differ.
// - Compaction filters: a key is filtered if a compaction meets it. Results would be equal only in
//   histories without snapshots, merges and automatic compactions.
// - Opens with TTL: values in files end with the time of their write, which RocksDB's batched
//   MultiGet returns. The C interface has no read-only open with TTL.
// - Ingestions that fail if a file needs a sequence number or a flush, or that snapshots can see.
// - Secondaries during background work, which may delete a file that RocksDB's is about to read.
// Backups of tables in a custom order are not generated either, because RocksDB ends the process
// when it looks for their identity.
//
// Keys for SingleDelete are written once, so a history stays defined when lines
// are removed from it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ashlar::differential {

using History = std::vector<std::string>;

struct HistoryLimits {
  size_t operations = 250;
};

// Returns the same history for the same seed and limits.
History MakeHistory(uint64_t seed, const HistoryLimits& limits);

}  // namespace ashlar::differential
