// Metadata of a database, and checks of single tables, without opening the database.
//
// For programs that inspect databases of other programs: comparators and merge operators need not
// be known, options need not be valid, and tables may be damaged or missing. Nothing is changed and
// no lock is taken, so another process may be writing. Errors: Corruption and IOError name the
// file; NotSupported names the feature. Thread safety: any thread; the functions share no state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ashlar/export.h"
#include "ashlar/metadata.h"
#include "ashlar/options.h"
#include "ashlar/status.h"
#include "ashlar/table_properties.h"

namespace ashlar {

struct ColumnFamilyInventory {
  uint32_t id = 0;
  std::string comparator;         // its name
  ColumnFamilyMetaData metadata;  // name, levels and tables, without the numbers of entries
};

struct DatabaseInventory {
  std::string identity;                                // empty: the MANIFEST has none
  std::vector<ColumnFamilyInventory> column_families;  // by id
};

// Reads the state that the MANIFEST records. Tables are not opened.
ASHLAR_API Status ReadInventory(const DBOptions& db_options, const std::string& name,
                                DatabaseInventory* inventory);

// Opens a table of the inventory and returns its properties. `comparator` is the name of its
// family's comparator. Corruption: the table is missing.
ASHLAR_API Status ReadTableProperties(const DBOptions& db_options, const SstFileMetaData& table,
                                      const std::string& comparator, TableProperties* properties);

// Reads the whole table. Verifies the checksum of every block, the number of entries and, if the
// comparator is one of the library's, the order of the keys. The first error names file and offset.
ASHLAR_API Status VerifyTable(const DBOptions& db_options, const SstFileMetaData& table,
                              const std::string& comparator);

}  // namespace ashlar
