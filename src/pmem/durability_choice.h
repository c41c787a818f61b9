// The choice of an open's durability class and of the instruction that flushes its cache lines.
//
//   backing         class by default     lines are flushed
//   DAX             cpu-flush; logged    unless the system says that its caches are persistent
//                   if nothing flushes
//   shared memory   process-crash-only   with cpu-flush, unless the system or the program says so
//   storage         logged               never: cpu-flush is refused
//
// I1: on DAX no change of class cpu-flush stays in caches that a power failure empties. The word of
//     the program is no proof, and a processor without a known flush does not get this class.
//
// Rejected: PersistentTreeOptions::caches_are_durable also on DAX, for systems that have eADR and
// do not report it. If set by mistake, it may lose every acknowledged change without an error.
//
// Thread safety: a pure function.
#pragma once

#include <string>

#include "ashlar/persistent_tree.h"
#include "base/result.h"
#include "platform/cache_flush.h"
#include "platform/pool_file.h"

namespace ashlar::pmem {

// Properties of the machine.
struct CacheFacts {
  bool are_persistent = false;  // the system says so (CachesArePersistent)
  FlushInstruction best = FlushInstruction::kNone;
};

struct DurabilityChoice {
  DurabilityClass durability = DurabilityClass::kLogged;
  FlushInstruction instruction = FlushInstruction::kNone;  // of class cpu-flush; kNone: none needed
};

// Returns NotSupported if the options demand a class that the backing or the processor does not
// offer. `path` names the pool in errors.
Result<DurabilityChoice> ChooseDurability(const PersistentTreeOptions& options, PoolBacking backing,
                                          const CacheFacts& caches, const std::string& path);

}  // namespace ashlar::pmem
