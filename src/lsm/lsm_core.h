// LsmCore: the parts of an open database that handles, iterators and pinned values may still need
// when the program deletes the DB object before them.
//
//   LsmDB ----owns----> LsmCore <----refers---- FamilyHandle, iterators, pins
//     | deleted first: the database is closed, its core stays
//     v
//   core list (process-wide) ----Reap----> destroyed once nothing refers to it any more
//
// RocksDB forbids deleting a database before its iterators and handles, but programs do it, and a
// forgotten handle is harmless there. Here it is harmless, too, because the handle stays usable.
// The memory is freed when another database of the process is opened or deleted after the last
// handle has ended. The simpler design, a reference count on the core in every pin, would cost each
// pinned Get an atomic operation on one shared cache line.
//
// Thread safety: KeepUntilUnused and ReapUnused from any thread. Lifetime: the list is never
// destroyed.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "ashlar/status.h"
#include "lsm/background_work.h"
#include "lsm/commit_pipeline.h"
#include "lsm/database_state.h"
#include "lsm/reader.h"

namespace ashlar {

struct LsmCore {
  explicit LsmCore(std::unique_ptr<DatabaseState> owned)
      : state(std::move(owned)),
        background(state.get(), [this](auto families) { return StatsText(families); }),
        commit(state.get(), &background),
        reader(state.get(), &background) {}

  const std::unique_ptr<DatabaseState> state;
  BackgroundWork background;
  CommitPipeline commit;
  Reader reader;
  std::unique_ptr<LsmCore> next_kept;  // by KeepUntilUnused

  // Switches the memtables of these families that are not empty, and lets jobs flush them.
  // Returns ShutdownInProgress if no job begins any more, even if there is nothing to flush.
  Status FlushFamilies(const FlushOptions& flush_options,
                       std::span<const std::shared_ptr<ColumnFamily>> families, FlushReason reason);
  Status FlushAll(const FlushOptions& flush_options, FlushReason reason);
  // Returns Ok if the database has no iterator and no pinned value, not even one that a running
  // call uses internally. Otherwise returns Aborted and says which.
  Status CheckNothingIsRead();
  // Whether a handle, an iterator or a pinned value refers to this core.
  bool IsInUse();

 private:
  std::string StatsText(std::span<const std::shared_ptr<ColumnFamily>> families);
};

// Takes over the core of a closed database that is in use. Allocates no memory.
void KeepUntilUnused(std::unique_ptr<LsmCore> core);
// Destroys the cores that are no longer in use.
void ReapUnused();

}  // namespace ashlar
