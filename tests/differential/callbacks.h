// The comparators and merge operators of the histories, as C functions that every library gets
// alike. The names are RocksDB's where it has an object of the same order, so that a database can
// be opened with the built-in one too.
#pragma once

#include <string_view>

#include "tests/differential/functions.h"

namespace ashlar::differential {

// "bytewise": the library's own, set by nothing; "reverse"; "numeric": by length, then bytes.
// Sets the comparator on `options`; false for an unknown name.
bool SetComparator(const Functions& functions, std::string_view name, Options* options);

// Negative, zero or positive, by the comparator of that name.
int CompareKeys(std::string_view comparator, std::string_view a, std::string_view b);

// "-": none; "append": operands joined by commas, with partial merges; "full": the same without
// partial merges; "max": the largest in byte order. False for an unknown name.
bool SetMergeOperator(const Functions& functions, std::string_view name, Options* options);

}  // namespace ashlar::differential
