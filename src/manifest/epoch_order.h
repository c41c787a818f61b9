// The order of level 0 by epoch numbers. Since 7.10 RocksDB gives each table one (field 13 of a new
// file). A flush or an ingestion takes the next, a compaction the smallest of its inputs. If all
// tables of a family have one, the level-0 table with the larger number is newer. Otherwise RocksDB
// orders by sequences, as Ashlar always does (LevelFiles::NewerFirst).
//
//   ingest F1 (key 2 @1)   write key 2 @2   ingest F2 (key 5 @3)   compact F1 and F2 in level 0: C
//   flush the write: T     by sequences C (@1 to @3) above T (@2), by epoch numbers T above C
//
// I1: a family is opened only if both orders agree on any two tables with common keys. Then
//     sequences order level 0 correctly, even if other tables have no epoch numbers.
//
// Rejected: ordering by epoch numbers. The logs, merges within level 0 and RocksDB before 7.10 use
// sequences, and Ashlar would have to number its tables as RocksDB does from then on.
//
// Thread safety: pure functions.
#pragma once

#include "ashlar/status.h"
#include "key/key_comparator.h"
#include "manifest/version.h"

namespace ashlar {

// Returns NotSupported, naming two tables that break I1.
Status CheckEpochOrder(const KeyComparator& comparator, const Version& version);

}  // namespace ashlar
