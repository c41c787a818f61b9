// Options of a database from the flags of the command line.
#pragma once

#include "ashlar/options.h"
#include "ashlar/status.h"
#include "tools/db_bench/flags.h"

namespace ashlar::bench {

// InvalidArgument naming the flag that makes no sense. Features that the library lacks are refused
// by DB::Open.
Status OptionsFromFlags(const Flags& flags, Options* options);

// How reads and writes of a workload behave.
ReadOptions ReadOptionsFromFlags(const Flags& flags);
WriteOptions WriteOptionsFromFlags(const Flags& flags);

}  // namespace ashlar::bench
