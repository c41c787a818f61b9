// The names of a table's blocks in its metaindex.
#pragma once

namespace ashlar {

inline constexpr char kMetaProperties[] = "rocksdb.properties";
inline constexpr char kMetaDictionary[] = "rocksdb.compression_dict";
inline constexpr char kMetaRangeDeletions[] = "rocksdb.range_del";
// For IndexKind::kHash: the prefixes one after another, and the positions of their blocks.
inline constexpr char kMetaHashIndexPrefixes[] = "rocksdb.hashindex.prefixes";
inline constexpr char kMetaHashIndexMetadata[] = "rocksdb.hashindex.metadata";

}  // namespace ashlar
