// The order of replayed writes and the tables of level 0.
//
// I1: a replayed write is newer than each table of level 0 that may have its key. So the flush of
//     its memtable is above these tables, because level 0 is ordered by sequences.
//
// Ashlar, and RocksDB before its epoch numbers, maintain I1. They flush a memtable before newer
// writes of its family, before they ingest a file with one of its keys, and before they merge level
// 0 with newer files (I3 of file_ingestion.h). RocksDB from 7.10 on does not delay such a merge,
// because the epoch number places the later flush above (manifest/epoch_order.h). A reader shows
// memtables above tables, so only an open for writing and a promotion are refused.
//
// Thread safety: pure functions.
#pragma once

#include "ashlar/status.h"
#include "lsm/column_family.h"

namespace ashlar {

// Returns NotSupported, naming a family and a table that break I1. Requires: the logs are replayed
// into these families, and no other thread uses them.
Status CheckReplayedOrder(const FamilyTable& families);

}  // namespace ashlar
