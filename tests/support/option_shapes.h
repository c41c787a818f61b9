// Option shapes: sets of options that give a database another tree or other tables. The model,
// crash and kill suites, which run one history under several sets of options, share them.
//
// No shape drops written data, because each filter keeps every entry. Levels and tables are so
// small that little data fills several of them. A shape replaces the table factory only if it is
// about tables. It leaves all other options as the suite has set them.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>

#include "ashlar/options.h"
#include "ashlar/table.h"

namespace ashlar {

void SetTinyLevels(Options* options);
// 512-byte blocks, bloom filters and a block cache of this size.
BlockBasedTableOptions SmallBlocks(size_t cache_bytes);

void SetUniversal(Options* options);
// Incremental: limits each compaction to a few tables.
void SetUniversalInParts(Options* options);
void SetFifoWithoutDrops(Options* options);
// Adds a filter to compactions and flushes that keeps all entries.
void SetFilterThatKeepsAll(Options* options);
void SetPartitionsAndRibbonFilters(Options* options);
void SetHashIndexesAndTrainedDictionaries(Options* options);
void SetAlignedBlocksAndFirstKeys(Options* options);

}  // namespace ashlar
