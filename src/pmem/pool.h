// The creation and recognition of pools. layout.h has the bytes of the header.
//
// A new pool is formatted under a temporary name and linked to its own name when it is complete. So
// a crash leaves no incomplete pool under the right name, and no pool replaces another one.
//
// I1: the temporary file is locked from its creation until its temporary name is removed. So only
//     one process at a time is between its search for the pool and its naming of a new one.
#pragma once

#include <memory>

#include "ashlar/comparator.h"
#include "base/result.h"
#include "platform/pool_file.h"
#include "pmem/layout.h"
#include "pmem/medium.h"

namespace ashlar::pmem {

// The header's page for a new pool of this many bytes (a multiple of kPageBytes).
std::string EncodePoolHeader(uint64_t pool_bytes, uint64_t pool_id, const Comparator& comparator);

// Creates a pool of at least `pool_bytes` bytes. Returns false, and creates nothing, if a file of
// this name exists. Returns IOError if another process is creating the pool.
Result<bool> CreatePool(const std::string& path, uint64_t pool_bytes, double huge_pages_effort_max,
                        const Comparator& comparator);

// Stores header, span map and first leaf into a pool of zeros. The first line of the header becomes
// durable last.
void FormatPool(Medium* medium, uint64_t pool_id, const Comparator& comparator);

// Reads the header's page. The errors, in this order: not a pool (InvalidArgument), another byte
// order or version (NotSupported), damage (Corruption), a file of another size (Corruption),
// another comparator (InvalidArgument).
Result<PoolHeader> DecodePoolHeader(const std::string& path, const Slice& page, uint64_t file_bytes,
                                    const Comparator& comparator);

std::string EncodeLogLink(LogState state, uint64_t generation);
// Requires: `bytes` begins with the link. Returns Corruption if the link is damaged.
Result<LogLink> DecodeLogLink(const std::string& path, const Slice& bytes);

// The offset of the first span of leaves, and of its first leaf, in a new pool.
PoolOffset FirstLeafOf(uint64_t pool_bytes);

}  // namespace ashlar::pmem
