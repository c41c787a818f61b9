// CacheUsageOptions: which memory is charged to the block cache.
//
// Pure functions.
#pragma once

#include "ashlar/cache.h"
#include "ashlar/status.h"
#include "ashlar/table.h"

namespace ashlar {

bool IsCharged(const CacheUsageOptions& usage, CacheEntryRole role);

// Only kBlockBasedTableReader can be charged, and only to a cache.
Status CheckCacheUsage(const BlockBasedTableOptions& options);

}  // namespace ashlar
