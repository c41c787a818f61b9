// The flags of RocksDB's db_bench that are known here and not honoured.
//
// Thread safety: constants.
#pragma once

#include <span>
#include <string_view>

namespace ashlar::bench {

struct ForeignFlag {
  enum class Kind {
    kRetired,  // RocksDB itself has dropped it
    // tunes something that does not exist here, or that is always so; changes no result
    kWithoutEffect,
    // switches on something that does not exist here: only `initial`, RocksDB's default, is
    // accepted
    kAbsent,
  };
  std::string_view name;
  Kind kind;
  std::string_view initial;
};

std::span<const ForeignFlag> ForeignFlags();
// Null: there is no such flag.
const ForeignFlag* FindForeignFlag(std::string_view name);

}  // namespace ashlar::bench
