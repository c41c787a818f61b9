// ColumnFamilyState: the state of a column family that the MANIFEST records.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "key/key_comparator.h"
#include "manifest/version.h"
#include "manifest/version_edit.h"

namespace ashlar {

inline constexpr ColumnFamilyId kDefaultFamilyId = 0;
inline constexpr const char* kDefaultFamilyName = "default";
// RocksDB keeps statistics in a family that its users never name.
inline constexpr const char* kStatisticsFamilyName = "___rocksdb_stats_history___";

// How a column family is to be opened.
struct ColumnFamilySpec {
  std::string name;
  KeyComparator comparator;
  Level levels = 7;
};

struct ColumnFamilyState {
  ColumnFamilyState(ColumnFamilyId family_id, const ColumnFamilySpec& spec)
      : id(family_id), name(spec.name), comparator(spec.comparator), levels(spec.levels) {}

  const ColumnFamilyId id;
  const std::string name;
  const KeyComparator comparator;
  const Level levels;
  uint64_t log_number = 0;     // logs below it hold nothing that this family still needs
  Version* current = nullptr;  // the set holds one count
  // Where compactions of a level continue (kRoundRobin): internal keys.
  std::map<Level, std::string> compact_cursors;
};

}  // namespace ashlar
