// Log replay: brings a pool up to date with the log that a crash left, before the pool is mapped.
//
//   link in the pool's header   log next to the pool                     result
//   closed, generation g        none                                     the pool is complete
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
// A replayed log is removed, or kept aside if a part of a record follows its end. If the result is
// "damaged", ReplayLog returns Corruption and changes nothing. On request it instead replays the
// records before the damage and keeps the log aside as <log>.lost-N.
//
// I1: a log is removed only if the pool has every change in it, as far as the log's bytes show.
// I2: replay gives the state at the log's end from any mixture of pages from before and after a
//     checkpoint, or from before and after an interrupted replay.
// I3: the link says closed only after everything that was replayed is durable.
#pragma once

#include "pmem/layout.h"
#include "pmem/pool_storage.h"

namespace ashlar::pmem {

struct ReplayConfig {
  uint64_t pool_id = 0;
  bool accept_damage = false;
  // Makes durable the bytes that earlier sessions left in caches, of the system or of processors.
  // The logged medium does so itself, because its first link syncs the pool.
  bool sync_pool = false;
};

// Requires: nothing is mapped, and the pool's header was checked. On success no log is left under
// the log's name.
Status ReplayLog(PoolStorage* storage, const ReplayConfig& config);

// Writes the link to the pool's file, durably.
Status WriteLogLink(PoolStorage* storage, LogState state, uint64_t generation);

}  // namespace ashlar::pmem
