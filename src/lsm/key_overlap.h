// Whether a source has a key within bounds: an entry of any kind, or a part of a range deletion.
//
// Thread safety: any thread; the caller keeps the source alive. Memtables may be written meanwhile:
// a write that is published before the call is seen.
#pragma once

#include "compact/plan/plan_builder.h"
#include "key/key_comparator.h"
#include "lsm/read_view.h"
#include "table/open/table_cache.h"

namespace ashlar {

// In one of the view's memtables.
bool HasUnflushedKey(const ReadView& view, const KeyComparator& comparator,
                     const FileBounds& bounds);
// In one of the view's memtables, by a write that is not newer than the table's newest entry.
bool HasOlderUnflushedKey(const ReadView& view, const KeyComparator& comparator,
                          const FileMetaData& file);
// In a table. True if it cannot be read.
bool HasKey(FileMetaData* file, TableCache* tables, const KeyComparator& comparator,
            const FileBounds& bounds);

}  // namespace ashlar
