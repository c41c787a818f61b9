#include "memtable/memory_budget.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/out_of_memory.h"

namespace ashlar {

namespace {

size_t ChargeOf(size_t used) {
  constexpr size_t kStep = MemoryBudget::kChargeBytes;
  return (used + kStep - 1) / kStep * kStep;
}

}  // namespace

MemoryBudget::MemoryBudget(size_t limit_bytes, std::shared_ptr<Cache> cache, bool allow_stall)
    : keeps_cache_(std::move(cache)),
      cache_(static_cast<BlockCache*>(keeps_cache_.get())),
      limit_bytes_(limit_bytes),
      allow_stall_(allow_stall) {}

MemoryBudget::~MemoryBudget() {
  {
    MutexLock lock(mutex_);
    ASHLAR_ASSERT(databases_.empty());  // a database holds a reference to its manager
  }
  ASHLAR_ASSERT(flushes_.load() == 0 && waiting_.load() == 0);  // Requires
  if (cache_ != nullptr) cache_->ReleaseMetadata(charged_bytes());
}

void MemoryBudget::CheckInvariants() const {
  ASHLAR_ASSERT(charged_bytes() % kChargeBytes == 0);        // I4
  ASHLAR_ASSERT(cache_ != nullptr || charged_bytes() == 0);  // I4
  MutexLock lock(mutex_);
  for (const std::atomic<bool>* const database : databases_) {
    const auto joined = std::count(databases_.begin(), databases_.end(), database);
    ASHLAR_ASSERT(joined == 1);  // a database joins once
  }
}

void MemoryBudget::SetLimit(size_t bytes) {
  limit_bytes_.store(bytes);
  AskAll();
  Wake();
}

void MemoryBudget::SetAllowStall(bool allow) {
  allow_stall_.store(allow);
  AskAll();
  Wake();
}

void MemoryBudget::Reserve(size_t bytes, std::atomic<bool>* room_check_wanted) noexcept {
  used_bytes_.fetch_add(bytes);
  active_bytes_.fetch_add(bytes);
  RaiseCharge();
  if (room_check_wanted != nullptr && (IsFull() || WantsFlush(0)))
    static_cast<void>(room_check_wanted->exchange(true, std::memory_order_acq_rel));  // I2
  if (StopsWriters()) AskAll();
}

void MemoryBudget::ReserveForReads(size_t bytes) noexcept {
  used_bytes_.fetch_add(bytes);
  RaiseCharge();
  if (IsFull()) AskAll();  // I2
}

void MemoryBudget::Free(size_t bytes) noexcept {
  used_bytes_.fetch_sub(bytes);
  LowerCharge();
  Wake();
}

bool MemoryBudget::WantsFlush(size_t leaving) const {
  const size_t limit = limit_bytes();
  if (limit == 0) return false;
  const size_t active = active_bytes();
  const size_t staying = active > leaving ? active - leaving : 0;
  return staying > limit - limit / 8 || (IsFull() && staying >= limit / 2 && staying > 0);
}

bool MemoryBudget::OthersExceed(size_t own) const {
  const size_t limit = limit_bytes();
  const size_t active = active_bytes();
  return limit > 0 && active > own && active - own > limit - limit / 8;
}

uint64_t MemoryBudget::Wakes() const {
  MutexLock lock(mutex_);
  return wakes_;
}

void MemoryBudget::WaitForWake(uint64_t seen) {
  MutexLock lock(mutex_);
  waiting_.fetch_add(1);
  while (wakes_ == seen) woken_.Wait(mutex_);
  waiting_.fetch_sub(1);
}

void MemoryBudget::Wake() noexcept {
  MutexLock lock(mutex_);
  ++wakes_;
  woken_.SignalAll();
}

void MemoryBudget::BeginFlush() noexcept {
  flushes_.fetch_add(1);
  if (StopsWriters()) AskAll();
}

void MemoryBudget::EndFlush() noexcept {
  const size_t before = flushes_.fetch_sub(1);
  ASHLAR_ASSERT(before > 0);  // BeginFlush
  Wake();
}

void MemoryBudget::Join(std::atomic<bool>* room_check_wanted) {
  MutexLock lock(mutex_);
  databases_.push_back(room_check_wanted);
  static_cast<void>(room_check_wanted->exchange(true, std::memory_order_acq_rel));
}

void MemoryBudget::Leave(std::atomic<bool>* room_check_wanted) {
  MutexLock lock(mutex_);
  const size_t left = std::erase(databases_, room_check_wanted);
  ASHLAR_ASSERT(left == 1);  // Join
}

void MemoryBudget::AskAll() noexcept {
  MutexLock lock(mutex_);
  for (std::atomic<bool>* const room_check_wanted : databases_)
    static_cast<void>(room_check_wanted->exchange(true, std::memory_order_acq_rel));
}

// Concurrent calls may charge one step too much, which one of them then releases.
void MemoryBudget::RaiseCharge() noexcept {
  if (cache_ == nullptr) return;
  IgnoreBadAlloc([this] {
    while (charged_bytes() < ChargeOf(used_bytes()) && cache_->ReserveMetadata(kChargeBytes))
      charged_bytes_.fetch_add(kChargeBytes);
  });
  LowerCharge();
}

void MemoryBudget::LowerCharge() noexcept {
  if (cache_ == nullptr) return;
  for (size_t charged = charged_bytes();;) {
    const size_t wanted = ChargeOf(used_bytes());
    if (charged <= wanted) return;
    if (charged_bytes_.compare_exchange_weak(charged, wanted)) {
      cache_->ReleaseMetadata(charged - wanted);
      charged = wanted;
    }
  }
}

DatabaseMemory::DatabaseMemory(WriteBufferManager* manager, std::atomic<bool>* room_check_wanted)
    : budget_(manager == nullptr ? nullptr : manager->budget_.get()),
      room_check_wanted_(room_check_wanted) {
  if (budget_ != nullptr) budget_->Join(room_check_wanted_);
}

DatabaseMemory::~DatabaseMemory() {
  if (budget_ != nullptr) budget_->Leave(room_check_wanted_);
}

}  // namespace ashlar
