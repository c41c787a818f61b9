// The public face of MemoryBudget.
#include "ashlar/write_buffer_manager.h"

#include <utility>

#include "memtable/memory_budget.h"

namespace ashlar {

WriteBufferManager::WriteBufferManager(size_t buffer_size, std::shared_ptr<Cache> cache,
                                       bool allow_stall)
    : budget_(std::make_unique<MemoryBudget>(buffer_size, std::move(cache), allow_stall)) {}
WriteBufferManager::~WriteBufferManager() = default;

bool WriteBufferManager::cost_to_cache() const { return budget_->has_cache(); }
size_t WriteBufferManager::memory_usage() const { return budget_->used_bytes(); }
size_t WriteBufferManager::mutable_memtable_memory_usage() const { return budget_->active_bytes(); }
size_t WriteBufferManager::dummy_entries_in_cache_usage() const { return budget_->charged_bytes(); }
size_t WriteBufferManager::buffer_size() const { return budget_->limit_bytes(); }
void WriteBufferManager::SetBufferSize(size_t new_size) { budget_->SetLimit(new_size); }
void WriteBufferManager::SetAllowStall(bool new_allow_stall) {
  budget_->SetAllowStall(new_allow_stall);
}
bool WriteBufferManager::ShouldFlush() const { return budget_->WantsFlush(0); }
bool WriteBufferManager::ShouldStall() const {
  return budget_->allows_stall() && budget_->IsFull();
}
bool WriteBufferManager::IsStallActive() const { return budget_->AnyWaits(); }
bool WriteBufferManager::IsStallThresholdExceeded() const {
  return memory_usage() >= buffer_size();
}
void WriteBufferManager::ReserveMem(size_t mem) { budget_->Reserve(mem, nullptr); }
void WriteBufferManager::ScheduleFreeMem(size_t mem) { budget_->ScheduleFree(mem); }
void WriteBufferManager::FreeMem(size_t mem) { budget_->Free(mem); }

}  // namespace ashlar
