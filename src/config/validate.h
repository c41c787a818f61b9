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

// Returns Ok or the first error: NotSupported for an option that would change results or guarantees
// and is not implemented, InvalidArgument for a value or a combination that cannot work. The text
// names the option, its family if it has one, and a remedy. For a read-only open, options that only
// affect writers may have any value.
Status ValidateOptions(const DBOptions& db_options,
                       const std::vector<ColumnFamilyDescriptor>& families,
                       OpenFor purpose = OpenFor::kWriting);

// Checks only the program's objects, for readers of single tables. A comparator must be set, and
// each object must have a name. An object of the C interface has none if a function is missing.
Status CheckObjects(const ColumnFamilyOptions& options);

// Returns why recycle_log_file_num has no effect with the other options, or empty if it has one.
std::string WhyLogsAreNotRecycled(const DBOptions& options);

// Returns every accepted option that is not the default, as "name=value of column family NAME".
// Such an option has no effect, which the operator should know.
std::vector<std::string> ListOptionsWithoutEffect(
    const DBOptions& db_options, const std::vector<ColumnFamilyDescriptor>& families);

// Applies all changes of SetOptions or SetDBOptions, or none. Returns InvalidArgument that names an
// option that is unknown, fixed at open, or has a bad value. The result must pass ValidateOptions.
Status ChangeMutableOptions(const std::unordered_map<std::string, std::string>& changes,
                            ColumnFamilyOptions* options);
Status ChangeMutableOptions(const std::unordered_map<std::string, std::string>& changes,
                            DBOptions* options);

}  // namespace ashlar
