// The flags of RocksDB's db_bench that are known here but not honoured.
//
// Thread safety: constants.
#pragma once

#include <span>
#include <string_view>

namespace ashlar::bench {

struct ForeignFlag {
  enum class Kind {
    kRetired,  // RocksDB itself has dropped it
    // tunes something that does not exist here or is always on; changes no result
    kWithoutEffect,
    // enables something that does not exist here; only `initial`, RocksDB's default, is
    // accepted
    kAbsent,
  };
  std::string_view name;
  Kind kind;
  std::string_view initial;
};

std::span<const ForeignFlag> ForeignFlags();
// Returns null if there is no such flag.
const ForeignFlag* FindForeignFlag(std::string_view name);

}  // namespace ashlar::bench
