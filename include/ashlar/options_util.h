// Options from the OPTIONS files in every database's directory.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/export.h"
#include "ashlar/options.h"
#include "ashlar/status.h"

namespace ashlar {

// Reads the options with which the database at `dbpath` was last opened or changed. The file has no
// objects that only the program can make (comparators and merge operators that are not built in,
// listeners, caches). Set them again; comparator and merge_operator keep their defaults. `cache`,
// if not null, becomes the block cache of every family. NotFound: no OPTIONS file, or no directory.
// Paths in the file are not followed. wal_dir and db_log_dir are returned as recorded. In a copied
// directory these are the original's, whose logs an open of the copy would delete.
ASHLAR_API Status LoadLatestOptions(const ConfigOptions& config_options, const std::string& dbpath,
                                    DBOptions* db_options,
                                    std::vector<ColumnFamilyDescriptor>* cf_descs,
                                    std::shared_ptr<Cache>* cache = nullptr);
ASHLAR_API Status LoadOptionsFromFile(const ConfigOptions& config_options,
                                      const std::string& options_file_name, DBOptions* db_options,
                                      std::vector<ColumnFamilyDescriptor>* cf_descs,
                                      std::shared_ptr<Cache>* cache = nullptr);

// A recorded option whose value only the program can make, such as a merge operator of its own.
struct UnsupportedOption {
  std::string column_family;  // empty: an option of the database
  std::string name;           // such as "merge_operator"
  std::string value;          // as recorded: the object's name, or "{id=NAME;...}"
  std::vector<std::pair<std::string, std::string>> fields = {};  // of a table factory: its options

  // The object's name.
  ASHLAR_API std::string ObjectName() const;

  friend bool operator==(const UnsupportedOption&, const UnsupportedOption&) = default;
};
// The same, but also lists the options that it left at their defaults because their values are
// unknown. Comparators are not listed, because the MANIFEST records them. DB::Open reads this list
// itself and writes these options into each new OPTIONS file until the program sets them.
ASHLAR_API Status LoadOptionsFromFile(const ConfigOptions& config_options,
                                      const std::string& options_file_name, DBOptions* db_options,
                                      std::vector<ColumnFamilyDescriptor>* cf_descs,
                                      std::shared_ptr<Cache>* cache,
                                      std::vector<UnsupportedOption>* unsupported);

// Sets *options_file_name to the name of the newest OPTIONS file, without its directory.
ASHLAR_API Status GetLatestOptionsFileName(const std::string& dbpath, Env* env,
                                           std::string* options_file_name);

}  // namespace ashlar
