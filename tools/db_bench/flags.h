// Flags: the command line of db_bench, in RocksDB's words.
//
//   --name=value  --name value  -name=value      numbers and texts
//   --name  --noname  --name=0|1|true|false      booleans
//   --help  --version
//
// flag_table.h is the only table. It has type, default, meaning and group of every honoured flag.
// Three other kinds of RocksDB's flags are known by name: retired ones, those that tune a missing
// feature (both accepted, with one notice that names them), and those that would enable such a
// feature (accepted with RocksDB's default, refused otherwise). Any other flag is refused, with the
// nearest name.
//
// Thread safety: plain values, and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ashlar/status.h"
#include "tools/db_bench/flag_table.h"

namespace ashlar::bench {

struct Flags {
#define FLAG(group, type, name, initial, meaning) type name = initial;
  ASHLAR_BENCH_FLAGS(FLAG)
#undef FLAG
};

struct CommandLine {
  Flags flags;
  bool help = false;
  bool version = false;
  // Texts for standard error, one line each.
  std::vector<std::string> notices;
};

// Returns InvalidArgument with a text for people. Without --help and --version, also checks that
// the flags make sense together.
Status ParseCommandLine(const std::vector<std::string>& arguments, CommandLine* command_line);

// Name and value of every honoured flag, in the order of the table.
std::vector<std::pair<std::string, std::string>> FlagValues(const Flags& flags);

// The flags' part of --help.
std::string FlagsHelp();

// Returns the one of `names` that becomes `name` with the fewest changes of a letter, or empty if
// none is close.
std::string NearestName(std::string_view name, const std::vector<std::string_view>& names);

}  // namespace ashlar::bench
