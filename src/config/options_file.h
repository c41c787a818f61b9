// The OPTIONS file: the options of a database, in its directory, in the format of RocksDB's tools.
//
//   [Version]
//     rocksdb_version=7.8.3
//     options_file_version=1.1
//   [DBOptions]
//     create_if_missing=true
//     ...
//   [CFOptions "default"]
//     ...
//   [TableOptions/BlockBasedTable "default"]
//     ...
//
// '#' begins a comment. Values and names are escaped (option_text.h). The order of sections is
// fixed: Version, DBOptions, then for each family CFOptions and its TableOptions, "default" first.
//
// I1: only names of the release in rocksdb_version are written, because an unknown one makes its
//     tools refuse the database.
// I2: a file under its final name is complete, because it is written under a temporary name, synced
//     and renamed.
// I3: the recorded value of an option that only the program can make is printed again, unless the
//     option differs from its default.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/options.h"
#include "ashlar/options_util.h"
#include "ashlar/table.h"
#include "ashlar/vfs.h"
#include "base/result.h"

namespace ashlar {

// Returns the recorded options that have their defaults in these options, which means that the
// program has not set them.
std::vector<UnsupportedOption> SelectUnset(const std::vector<UnsupportedOption>& recorded,
                                           const DBOptions& db_options,
                                           const std::vector<ColumnFamilyDescriptor>& families);

// Requires at least one family. "default" is moved to the front. `unsupported`: see I3.
std::string PrintOptionsFile(const DBOptions& db_options,
                             const std::vector<ColumnFamilyDescriptor>& families,
                             const std::vector<UnsupportedOption>& unsupported);
inline std::string PrintOptionsFile(const DBOptions& db_options,
                                    const std::vector<ColumnFamilyDescriptor>& families) {
  return PrintOptionsFile(db_options, families, {});
}
// Prints the same as lines for the LOG, in the form that tools expect of RocksDB: "Options.name:
// value" for a database and its families, "name: value" for tables. True and false are 1 and 0.
std::string PrintOptionsForLog(const DBOptions& options);
std::string PrintOptionsForLog(const ColumnFamilyOptions& options);
std::string PrintOptionsForLog(const DBOptions& db_options,
                               const std::vector<ColumnFamilyDescriptor>& families);

struct ParsedOptionsFile {
  bool by_ashlar = false;  // its first line says so
  std::string rocksdb_version;
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  // The skipped options, as "name=value: reason".
  std::vector<std::string> ignored;
  // Those of them that only the program can make, except for comparators.
  std::vector<UnsupportedOption> unsupported;
};

struct OptionsFileRules {
  bool ignore_unknown = false;     // unknown names; those of newer releases are always skipped
  bool ignore_unsupported = true;  // objects that only the program can make
  // Ignores values that cannot be parsed if a newer release wrote the file. Such an option keeps
  // its default. For readers that need only a part of the file.
  bool ignore_newer_values = false;
};

// `source` names the text in errors, which give the line.
Result<ParsedOptionsFile> ParseOptionsFile(std::string_view text, const std::string& source,
                                           const OptionsFileRules& rules);

Result<ParsedOptionsFile> ReadOptionsFile(vfs::FileSystem* file_system, const std::string& path,
                                          const OptionsFileRules& rules);

// Creates OPTIONS-<number>, which is durable on return.
Status WriteOptionsFile(vfs::FileSystem* file_system, const std::string& directory, uint64_t number,
                        std::string_view text);

// Returns the numbers of the OPTIONS files, newest first.
Result<std::vector<uint64_t>> ListOptionsFiles(vfs::FileSystem* file_system,
                                               const std::string& directory);

// Returns the number of the newest OPTIONS file, or NotFound if there is none.
Result<uint64_t> FindNewestOptionsFile(vfs::FileSystem* file_system, const std::string& directory);

}  // namespace ashlar
