// Log replay: brings a pool up to date with the log that a crash left, before the pool is mapped.
//
//   link in the pool's header   log next to the pool                     answer
//   closed, generation g        none                                     the pool is whole
//                               of generation g, or of a later one       remove it: a crash hit
//                                 as an open makes it                      a close or an open
//                               of another pool, older, or unreadable    keep it aside
//                               later, with records, a part of one,      damaged
//                                 or cut
//   open, generation g          of generation g                          replay, up to the end
//                               none, anything else                      damaged
//   next, generation g          of generation g or g + 1                 replay: a crash hit the
//                                                                          end of a checkpoint
//                               none, anything else                      damaged
//
// A log that is replayed is removed, or kept aside if it has a part of a record after its end.
// Damaged: Corruption, and nothing is changed; or, on request, the records before the damage are
// replayed and the log is kept aside as <log>.lost-N.
//
// I1: a log is removed only if the pool holds every change in it, as far as its bytes show one.
// I2: replay over any mixture of pages from before and after a checkpoint, or of a replay that was
//     cut off, gives the state at the log's end.
// I3: the link says closed only after everything that was replayed is durable.
#pragma once

#include "pmem/layout.h"
#include "pmem/pool_storage.h"

namespace ashlar::pmem {

struct ReplayConfig {
  uint64_t pool_id = 0;
  bool accept_damage = false;
  // Makes durable what earlier sessions have left in caches, of the system or of processors. The
  // logged medium does so itself: its first link syncs the pool.
  bool sync_pool = false;
};

// Requires: nothing is mapped, and the pool's header was checked. Afterwards there is no log under
// the log's name.
Status ReplayLog(PoolStorage* storage, const ReplayConfig& config);

// Writes the link to the pool's file, durably.
Status WriteLogLink(PoolStorage* storage, LogState state, uint64_t generation);

}  // namespace ashlar::pmem
