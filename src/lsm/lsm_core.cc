#include "lsm/lsm_core.h"

#include <optional>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/out_of_memory.h"
#include "base/result.h"
#include "lsm/properties.h"
#include "platform/mutex.h"

namespace ashlar {

namespace {

struct KeptCores {
  Mutex mutex;
  std::unique_ptr<LsmCore> first ASHLAR_GUARDED_BY(mutex);
};

// Never destroyed: static objects of the program may hold values.
KeptCores& Kept() {
  static KeptCores* const kKept = new KeptCores;
  return *kKept;
}

}  // namespace

Status LsmCore::FlushFamilies(const FlushOptions& flush_options,
                              std::span<const std::shared_ptr<ColumnFamily>> families,
                              FlushReason reason) {
  ASHLAR_RETURN_IF_ERROR(state->error_handler.WriteStatus());
  if (!flush_options.allow_write_stall)
    ASHLAR_RETURN_IF_ERROR(background.WaitUntilSwitchIsFree(families, std::nullopt));
  bool any = false;
  {
    MutexLock lock(state->mutex());
    ASHLAR_RETURN_IF_ERROR(state->CheckRunsJobs());
    for (const std::shared_ptr<ColumnFamily>& family : families)
      any |= !family->ActiveLocked()->IsEmpty();
  }
  if (any) ASHLAR_RETURN_IF_ERROR(commit.SwitchMemTables(families, reason));
  if (!flush_options.wait) {
    MutexLock lock(state->mutex());
    for (const std::shared_ptr<ColumnFamily>& family : families) {
      family->flush_wanted = !family->immutable().empty();
      background.ViewChanged(family);
    }
    return Status::OK();
  }
  return background.WaitForFlush(families, flush_options.listener_wait
                                               ? BackgroundWork::FlushWait::kListeners
                                               : BackgroundWork::FlushWait::kTables);
}

Status LsmCore::FlushAll(const FlushOptions& flush_options, FlushReason reason) {
  std::vector<std::shared_ptr<ColumnFamily>> families;
  {
    MutexLock lock(state->mutex());
    families = state->LiveFamilies();
  }
  return FlushFamilies(flush_options, families, reason);
}

Status LsmCore::CheckNothingIsRead() {
  if (state->live_iterators.load(std::memory_order_acquire) > 0)
    return Status::Aborted("iterators are still alive; delete them before Close");
  if (AnyValuePinned(state.get()))
    return Status::Aborted(
        "values are pinned, or a call still reads; reset them, or wait for it, before Close");
  return Status::OK();
}

bool LsmCore::IsInUse() {
  if (state->live_handles.load(std::memory_order_acquire) > 0) return true;
  // If the check cannot allocate, in the destructor of a database, something may still be read.
  return !CatchBadAlloc([this] { return CheckNothingIsRead(); }).ok();
}

std::string LsmCore::StatsText(std::span<const std::shared_ptr<ColumnFamily>> families) {
  return PropertyReader(state.get(), &background).Dump(families);
}

void KeepUntilUnused(std::unique_ptr<LsmCore> core) {
  KeptCores& kept = Kept();
  MutexLock lock(kept.mutex);
  core->next_kept = std::move(kept.first);
  kept.first = std::move(core);
}

void ReapUnused() {
  KeptCores& kept = Kept();
  std::unique_ptr<LsmCore> rest;
  {
    MutexLock lock(kept.mutex);
    rest = std::move(kept.first);
  }
  while (rest != nullptr) {
    std::unique_ptr<LsmCore> core = std::move(rest);
    rest = std::move(core->next_kept);
    ASHLAR_ASSERT(core->state->lock == nullptr);  // it was closed
    if (core->IsInUse()) KeepUntilUnused(std::move(core));
  }
}

}  // namespace ashlar
