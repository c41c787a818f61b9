// Replaces the properties in the bytes of a block-based table, as damage, another program or a
// later release could. All checksums are correct.
//
// Requires: a table of format_version 2 to 5 whose properties block is not compressed.
// Thread safety: pure functions.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace ashlar {

// By the names and with the encoding of a file (table_properties.h).
using StoredProperties = std::map<std::string, std::string>;

std::string WithProperties(const std::string& table,
                           const std::function<void(StoredProperties* properties)>& change);
// The metaindex refers to no properties block.
std::string WithoutProperties(const std::string& table);

}  // namespace ashlar
