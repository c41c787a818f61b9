// The properties block of a table: encoding and decoding of ashlar/table_properties.h, with the
// names that RocksDB gives the properties.
//
//   a block of (name, value), sorted by name, restart interval 1. Numbers are varint64; texts are
//   bytes; these few differ:
//   rocksdb.block.based.table.index.type            fixed32
//   rocksdb.block.based.table.whole.key.filtering   "1" or "0"     (prefix.filtering likewise)
//   rocksdb.external_sst_file.global_seqno          fixed64
//   rocksdb.external_sst_file.version               fixed32
//
// I1: a property that has no field is kept in user_collected_properties, byte for byte.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ashlar/slice.h"
#include "ashlar/table_properties.h"
#include "base/result.h"

namespace ashlar {

inline constexpr char kPropertyIndexType[] = "rocksdb.block.based.table.index.type";
inline constexpr char kPropertyWholeKeyFiltering[] =
    "rocksdb.block.based.table.whole.key.filtering";
inline constexpr char kPropertyPrefixFiltering[] = "rocksdb.block.based.table.prefix.filtering";
inline constexpr char kPropertyExternalVersion[] = "rocksdb.external_sst_file.version";
inline constexpr char kPropertyGlobalSequence[] = "rocksdb.external_sst_file.global_seqno";

// The contents of a properties block. User-collected properties are written beside the others.
std::string EncodeTableProperties(const TableProperties& properties);

// Takes the contents of a properties block. Corruption for what cannot be parsed; the caller adds
// file and offset.
Result<TableProperties> DecodeTableProperties(const Slice& block);

// Texts for tools: "rocksdb.num.entries" -> "123", one per known property in the order of their
// names. Unknown ones follow as they are.
UserCollectedProperties TablePropertiesByName(const TableProperties& properties);

}  // namespace ashlar
