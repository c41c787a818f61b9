// Options of a database from the flags of the command line.
#pragma once

#include "ashlar/options.h"
#include "ashlar/status.h"
#include "tools/db_bench/flags.h"

namespace ashlar::bench {

// Returns InvalidArgument that names a wrong flag. DB::Open refuses features that the library
// lacks.
Status OptionsFromFlags(const Flags& flags, Options* options);

// The options of the reads and writes of a workload.
ReadOptions ReadOptionsFromFlags(const Flags& flags);
WriteOptions WriteOptionsFromFlags(const Flags& flags);

}  // namespace ashlar::bench
