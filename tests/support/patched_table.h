// The bytes of a block-based table with other properties, as damage, another program or a later
// release could leave them. All checksums are right.
//
// Requires: a table of format_version 2 to 5 whose properties block is not compressed.
// Thread safety: pure functions.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace ashlar {

// By the names and in the bytes that a file has (table_properties.h).
using StoredProperties = std::map<std::string, std::string>;

std::string WithProperties(const std::string& table,
                           const std::function<void(StoredProperties* properties)>& change);
// The metaindex names no properties block.
std::string WithoutProperties(const std::string& table);

}  // namespace ashlar
