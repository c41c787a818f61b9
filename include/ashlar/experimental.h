// Functions that RocksDB declares in namespace experimental, as methods of DB here.
//
// RocksDB's header has more: filters of SstQueryFilterConfigs, and functions on the files of a
// closed database (inspect.h has some of these). They are not here.
#pragma once

#include "ashlar/db.h"

namespace ashlar::experimental {

// InvalidArgument: the database is null; otherwise as DB::SuggestCompactRange.
inline Status SuggestCompactRange(DB* db, ColumnFamilyHandle* column_family, const Slice* begin,
                                  const Slice* end) {
  if (db == nullptr) return Status::InvalidArgument("the database is null");
  return db->SuggestCompactRange(column_family, begin, end);
}
inline Status SuggestCompactRange(DB* db, const Slice* begin, const Slice* end) {
  if (db == nullptr) return Status::InvalidArgument("the database is null");
  return db->SuggestCompactRange(begin, end);
}
// InvalidArgument: the database is null; otherwise as DB::PromoteL0.
inline Status PromoteL0(DB* db, ColumnFamilyHandle* column_family, int target_level = 1) {
  if (db == nullptr) return Status::InvalidArgument("the database is null");
  return db->PromoteL0(column_family, target_level);
}

}  // namespace ashlar::experimental
