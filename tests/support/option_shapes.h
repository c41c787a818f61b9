// Option shapes: sets of options that give a database another tree or other tables. The suites that
// run one history under several sets of options share them: model, crash, kill.
//
// No shape drops written data, and each filter keeps every entry. Levels and tables are so small
// that little data fills several of them. A shape replaces the table factory only if it is about
// tables. Options that it does not name stay as the suite has set them.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>

#include "ashlar/options.h"
#include "ashlar/table.h"

namespace ashlar {

void SetTinyLevels(Options* options);
// Blocks of 512 bytes, bloom filters, a cache of this size.
BlockBasedTableOptions SmallBlocks(size_t cache_bytes);

void SetUniversal(Options* options);
// Incremental, each compaction limited to a few tables.
void SetUniversalInParts(Options* options);
void SetFifoWithoutDrops(Options* options);
// A filter that keeps all entries, of compactions and flushes.
void SetFilterThatKeepsAll(Options* options);
void SetPartitionsAndRibbonFilters(Options* options);
void SetHashIndexesAndTrainedDictionaries(Options* options);
void SetAlignedBlocksAndFirstKeys(Options* options);

}  // namespace ashlar
