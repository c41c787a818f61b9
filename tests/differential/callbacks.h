// The comparators and merge operators of the histories, as C functions that all libraries share.
// Where RocksDB has a comparator of the same order, its name is used. So a database can also be
// opened with the built-in one.
#pragma once

#include <string_view>

#include "tests/differential/functions.h"

namespace ashlar::differential {

// Sets a comparator: "bytewise", the default, which needs no option; "reverse"; or "numeric", by
// length and then by bytes. Returns false for an unknown name.
bool SetComparator(const Functions& functions, std::string_view name, Options* options);

// Returns a negative value, zero or a positive value, as the comparator of that name does.
int CompareKeys(std::string_view comparator, std::string_view a, std::string_view b);

// "-": none; "append": operands joined by commas, with partial merges; "full": the same without
// partial merges; "max": the largest in byte order. Returns false for an unknown name.
bool SetMergeOperator(const Functions& functions, std::string_view name, Options* options);

}  // namespace ashlar::differential
