// Decides whether a database may be opened with given options, and makes the messages about them.
//
// Pure functions.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/options.h"
#include "ashlar/status.h"

namespace ashlar {

enum class OpenFor : uint8_t { kWriting, kReading };

// Ok, or the first error. NotSupported: an option would change results or guarantees and is not
// implemented. InvalidArgument: a value or a combination cannot work. The text names the option
// (and the family) and a remedy. For a read-only open, options that only affect writers may have
// any value.
Status ValidateOptions(const DBOptions& db_options,
                       const std::vector<ColumnFamilyDescriptor>& families,
                       OpenFor purpose = OpenFor::kWriting);

// The part of it about the program's objects, for readers of single tables: there is a comparator,
// and none of them lacks its name. Those of the C interface have none if a function is missing.
Status CheckObjects(const ColumnFamilyOptions& options);

// Why recycle_log_file_num has no effect next to the other options. Empty: it has.
std::string WhyLogsAreNotRecycled(const DBOptions& options);

// Every accepted option that is not the default, as "name=value of column family NAME". It has no
// effect, and the operator should know.
std::vector<std::string> ListOptionsWithoutEffect(
    const DBOptions& db_options, const std::vector<ColumnFamilyDescriptor>& families);

// SetOptions and SetDBOptions: applies all changes or none. InvalidArgument naming the option that
// is unknown, fixed at open, or has a bad value. The result still has to pass ValidateOptions.
Status ChangeMutableOptions(const std::unordered_map<std::string, std::string>& changes,
                            ColumnFamilyOptions* options);
Status ChangeMutableOptions(const std::unordered_map<std::string, std::string>& changes,
                            DBOptions* options);

}  // namespace ashlar
