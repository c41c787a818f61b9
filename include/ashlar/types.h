// Small types that several public headers share.
#pragma once

#include <cstdint>

namespace ashlar {

// The position of a write in the order of all writes of a database. 0 is "nothing written yet";
// values stay below 2^56.
using SequenceNumber = uint64_t;

// Why a table file was made.
enum class TableFileCreationReason { kFlush, kCompaction, kRecovery, kMisc };

// The type of a table entry.
enum EntryType {
  kEntryPut,
  kEntryDelete,
  kEntrySingleDelete,
  kEntryMerge,
  kEntryRangeDeletion,
  kEntryBlobIndex,
  kEntryDeleteWithTimestamp,
  kEntryWideColumnEntity,
  kEntryTimedPut,
  kEntryOther
};

// How writers of a column family fare at the moment.
enum class WriteStallCondition { kDelayed, kStopped, kNormal };

// A hint about how often a file will be read. Ashlar keeps it, and treats all files alike.
enum class Temperature : uint8_t { kUnknown = 0, kHot = 0x04, kWarm = 0x08, kCold = 0x0C };

}  // namespace ashlar
