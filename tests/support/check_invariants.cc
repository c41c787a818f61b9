#include "tests/support/check_invariants.h"

#include "lsm/lsm_db.h"

namespace ashlar {

void CheckInvariants(DB* db) {
  static_cast<LsmDB*>(db)->life_cycle()->CheckInvariants();
  LsmCore* const core = static_cast<LsmDB*>(db)->core();
  DatabaseState* const state = core->state.get();
  state->logs.CheckInvariants();
  MutexLock installers(state->manifest_mutex());
  MutexLock lock(state->mutex());
  state->CheckInvariants();
  state->versions->CheckInvariants();
  core->background.CheckInvariants();
  for (const std::shared_ptr<ColumnFamily>& family : state->LiveFamilies()) {
    family->ActiveLocked()->CheckInvariants();
    for (const MemTableEntry& entry : family->immutable()) entry.table->CheckInvariants();
  }
}

}  // namespace ashlar
