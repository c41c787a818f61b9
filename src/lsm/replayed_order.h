// The order of the writes that logs give back and the tables of level 0.
//
// I1: a write that is replayed is newer than each table of level 0 that may have its key. Then the
//     flush of the memtable puts it above them: level 0 is ordered by sequences.
//
// Ashlar, and RocksDB before its epoch numbers, keep I1: a memtable is flushed before newer writes
// of its family are, before a file with one of its keys is ingested, and before level 0 is merged
// with newer files (I3 of file_ingestion.h). RocksDB from 7.10 on does not wait with such a merge:
// the epoch number puts the later flush above (manifest/epoch_order.h). A reader shows memtables
// above tables, so only an open for writing and a promotion are refused.
//
// Thread safety: pure functions.
#pragma once

#include "ashlar/status.h"
#include "lsm/column_family.h"

namespace ashlar {

// NotSupported naming a family and a table that break I1. Requires: the logs are replayed into
// these families, and no other thread knows them.
Status CheckReplayedOrder(const FamilyTable& families);

}  // namespace ashlar
