// The durability class of an open, and the instruction by which it empties the caches.
//
//   backing         class by default     lines are flushed
//   DAX             cpu-flush; logged    unless the system says that its caches are persistent
//                   if nothing flushes
//   shared memory   process-crash-only   with cpu-flush, unless that is said, by the program too
//   storage         logged               never: cpu-flush is refused
//
// I1: on DAX no change of class cpu-flush stays in caches that a power failure empties. The
//     program's word is no proof, and a processor whose flush the library does not know has none.
//
// Rejected: PersistentTreeOptions::caches_are_durable on DAX too, for systems that have eADR and do
// not say so. Where it is set by mistake every acknowledged change may be lost, without an error.
//
// Thread safety: a pure function.
#pragma once

#include <string>

#include "ashlar/persistent_tree.h"
#include "base/result.h"
#include "platform/cache_flush.h"
#include "platform/pool_file.h"

namespace ashlar::pmem {

// Of the machine.
struct CacheFacts {
  bool are_persistent = false;  // the system says so (CachesArePersistent)
  FlushInstruction best = FlushInstruction::kNone;
};

struct DurabilityChoice {
  DurabilityClass durability = DurabilityClass::kLogged;
  FlushInstruction instruction = FlushInstruction::kNone;  // of class cpu-flush; kNone: none needed
};

// NotSupported: the options ask for a class that the backing, or the processor, does not offer.
// `path` names the pool in errors.
Result<DurabilityChoice> ChooseDurability(const PersistentTreeOptions& options, PoolBacking backing,
                                          const CacheFacts& caches, const std::string& path);

}  // namespace ashlar::pmem
