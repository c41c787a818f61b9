// Random histories: lines of database.h, and lines for the runner.
//
// Runner lines:
//   exchange          every database is closed, and the next library takes over its directory
//   kill              every process is killed, and the next library takes over
// "@" as a directory is the database's own.
//
// Never generated, because RocksDB defines no result: SingleDelete of a key that was written more
// than once, or merged; a walk beyond a prefix; bounds or sizes of inverted ranges; writes without
// log before a kill, a secondary, or a copy of the logs.
//
// Never generated, because the result depends on the tables or on the clock:
// - DeleteFilesInRange: which keys of the range it deletes. Every later read would differ.
// - Compaction filters: whether a compaction has met a key. Results would be equal only in
//   histories without snapshots, merges and automatic compactions.
// - Opens with TTL: values in files end in the time of their write, which RocksDB's batched
//   MultiGet returns. The C interface has no such open that is read-only.
// - Ingestions that fail if a file needs a sequence number or a flush, or that snapshots see.
// - Secondaries next to background work, which may delete a file that RocksDB's is about to read.
// Nor are backups of tables in a custom order: RocksDB ends the process when it looks for their
// identity.
//
// Keys for SingleDelete are written once, so a history from which lines are
// removed stays defined.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ashlar::differential {

using History = std::vector<std::string>;

struct HistoryLimits {
  size_t operations = 250;
};

// The same for the same seed and limits.
History MakeHistory(uint64_t seed, const HistoryLimits& limits);

}  // namespace ashlar::differential
