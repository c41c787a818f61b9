// Whether a source has a key within bounds: an entry of any kind, or a part of a range deletion.
//
// Thread safety: any thread. The caller keeps the source alive. Memtables may be written meanwhile.
// A write that is published before the call is seen.
#pragma once

#include "compact/plan/plan_builder.h"
#include "key/key_comparator.h"
#include "lsm/read_view.h"
#include "table/open/table_cache.h"

namespace ashlar {

// Whether one of the view's memtables has such a key.
bool HasUnflushedKey(const ReadView& view, const KeyComparator& comparator,
                     const FileBounds& bounds);
// The same, but only for writes that are not newer than the newest entry of the table `file`.
bool HasOlderUnflushedKey(const ReadView& view, const KeyComparator& comparator,
                          const FileMetaData& file);
// Whether a table has such a key. Returns true if the table cannot be read.
bool HasKey(FileMetaData* file, TableCache* tables, const KeyComparator& comparator,
            const FileBounds& bounds);

}  // namespace ashlar
