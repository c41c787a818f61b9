// Encodes and decodes the properties block of a table: the fields of ashlar/table_properties.h
// under RocksDB's names.
//
//   a block of (name, value), sorted by name, restart interval 1. Numbers are varint64, texts are
//   bytes, except these:
//   rocksdb.block.based.table.index.type            fixed32
//   rocksdb.block.based.table.whole.key.filtering   "1" or "0"     (prefix.filtering likewise)
//   rocksdb.external_sst_file.global_seqno          fixed64
//   rocksdb.external_sst_file.version               fixed32
//   ashlar.snapshot.versions                        varint64, absent: 0 or not known
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
// The version of external tables that are written. Version 1 has no global sequence number.
inline constexpr uint32_t kExternalVersion = 2;

// The contents of a properties block, user-collected properties included.
std::string EncodeTableProperties(const TableProperties& properties);

// Decodes the contents of a properties block. Returns Corruption if they cannot be parsed. The
// caller adds file and offset to the error.
Result<TableProperties> DecodeTableProperties(const Slice& block);

// Snapshot versions are entries that a table keeps only for snapshots: each follows a newer version
// of its user key, and a snapshot is between the two. RocksDB passes the property on but does not
// write it. RecordSnapshotVersions requires count > 0.
void RecordSnapshotVersions(uint64_t count, TableProperties* properties);
// Returns 0 if there are none, the writer did not count them, or the number is damaged.
uint64_t SnapshotVersions(const TableProperties& properties);

// Returns the properties as texts for tools, such as "rocksdb.num.entries" -> "123", sorted by
// name: all known properties, and the unknown ones unchanged.
UserCollectedProperties TablePropertiesByName(const TableProperties& properties);

}  // namespace ashlar
