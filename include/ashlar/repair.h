// Repair of a database that cannot be opened, or whose files are damaged.
//
// Found                Result
// a table, intact      stays in its level; a table that the MANIFEST lost comes back
// a table, damaged     the blocks whose checksums are right become a new table
// a log                writes that no table has are kept, even those after damage
// the MANIFEST         is trusted up to its first damage: families, levels, drops and deletions
//                      stay as recorded. Without one, the tables' properties name the families
//
// A table that a sound MANIFEST does not name was deleted, and stays out. If the MANIFEST was
// damaged or is missing, a table comes back if it may hold data that no recorded table has. Tables
// of unknown order are merged by sequence. Deleted data can return if the deletion was lost.
// Without a MANIFEST, sequence numbers show which writes of a log were flushed. If compactions have
// set all of them to zero, an entire log is replayed, and merge operands may count twice. If a
// family has lost parts of tables, its flushed writes come back from logs kept for other families.
// Flushed range deletions do not, so the data that they deleted can return.
//
// Nothing is deleted permanently. Damaged tables, tables that are left out, all logs and the old
// MANIFEST are moved to the folder lost/. DestroyDB removes it.
//
// A repair holds the database's LOCK. After a crash, the repair can be run again.
// Errors: IOError if the database is open or a file cannot be read (nothing is changed then: copy
// the files to a healthy disk first); InvalidArgument if a family's comparator or options are
// missing; NotSupported naming a feature; TryAgain as from DB::Open. Thread safety: any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/export.h"
#include "ashlar/options.h"
#include "ashlar/status.h"

namespace ashlar {

enum class RepairFate : uint8_t {
  kKept,        // unchanged
  kRecovered,   // a table that the MANIFEST lost
  kSalvaged,    // a table of which only a part is readable
  kReplayed,    // a log: its writes go into tables
  kLeftOut,     // not part of the database
  kUnreadable,  // no part of it can be read
  kMissing,     // the MANIFEST names it, but there is no such file
};

struct RepairFile {
  std::string name;  // without the directory
  RepairFate fate = RepairFate::kKept;
  std::string column_family;  // empty: none, or unknown
  uint64_t bytes = 0;
  uint64_t entries = 0;      // those kept; of a log, writes that no table has
  uint64_t lost_blocks = 0;  // of a table
  uint64_t lost_bytes = 0;   // of a log
  std::string reason;        // of the fate; empty: the file is intact
};

struct RepairColumnFamily {
  uint32_t id = 0;
  std::string name;
  uint64_t tables = 0;  // those kept, entirely or in part
  uint64_t entries = 0;
  uint64_t lost_tables = 0;  // unreadable or missing
  uint64_t lost_blocks = 0;
  bool is_merged = false;  // its tables are rewritten into one sorted run
};

struct RepairReport {
  bool needs_repair = false;                        // false: every file is intact
  std::string manifest_reason;                      // why the MANIFEST is not sound; empty: it is
  std::vector<RepairColumnFamily> column_families;  // by id
  std::vector<RepairFile> files;                    // tables, then logs, by number
};

struct RepairOptions {
  bool dry_run = false;  // report only; no file is changed
};

// Families that are not among column_families get unknown_options. report may be null.
ASHLAR_API Status RepairDB(const std::string& name, const DBOptions& db_options,
                           const std::vector<ColumnFamilyDescriptor>& column_families,
                           const ColumnFamilyOptions& unknown_options,
                           const RepairOptions& repair_options, RepairReport* report);

}  // namespace ashlar
