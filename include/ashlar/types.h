// Small types that several public headers share.
#pragma once

#include <cstdint>

#include "ashlar/data_structure.h"

namespace ashlar {

// The position of a write in the order of all writes of a database. 0 is "nothing written yet";
// values stay below 2^56.
using SequenceNumber = uint64_t;

// For RocksDB's events about blob files, which Ashlar does not write.
enum class BlobFileCreationReason { kFlush, kCompaction, kRecovery };

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

// Whether writers of a column family are delayed or stopped at the moment.
enum class WriteStallCondition { kDelayed, kStopped, kNormal };

// A hint about how often a file will be read. Ashlar keeps it, and treats all files alike.
enum class Temperature : uint8_t {
  kUnknown = 0,
  kHot = 0x04,
  kWarm = 0x08,
  kCool = 0x0A,
  kCold = 0x0C,
  kIce = 0x10
};

// The kinds of files in a database's directory.
enum FileType {
  kWalFile,
  kDBLockFile,
  kTableFile,
  kDescriptorFile,
  kCurrentFile,
  kTempFile,
  kInfoLogFile,
  kMetaDatabase,
  kIdentityFile,
  kOptionsFile,
  kBlobFile,
  kCompactionProgressFile
};
using FileTypeSet = SmallEnumSet<FileType, kCompactionProgressFile>;

}  // namespace ashlar
