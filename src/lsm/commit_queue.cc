#include "lsm/commit_queue.h"

#include "base/assert.h"
#include "platform/cpu.h"
#include "platform/futex.h"

namespace ashlar {

namespace {
// A short commit by another thread ends within this many loads of the state. Sleeping costs two
// system calls and a context switch.
constexpr int kSpinLooks = 150;
}  // namespace

// Does not use std::atomic::wait, because it loses wake-ups in GCC 12 of mingw-w64.
uint32_t CommitQueue::Wait(CommitRequest* request) {
  uint32_t state = CommitRequest::kWaiting;
  for (int i = 0; i < kSpinLooks; ++i) {
    state = request->state.load(std::memory_order_acquire);
    if (state != CommitRequest::kWaiting) return state;
    CpuRelax();
  }
  if (!request->state.compare_exchange_strong(state, CommitRequest::kSleeps,
                                              std::memory_order_acquire))
    return state;
  do {
    FutexWait(request->state, CommitRequest::kSleeps);
    state = request->state.load(std::memory_order_acquire);
  } while (state == CommitRequest::kSleeps);
  return state;
}

void CommitQueue::Wake(CommitRequest* request, uint32_t state) {
  const bool sleeps =
      request->state.exchange(state, std::memory_order_release) == CommitRequest::kSleeps;
  // Only the address is used from here on, because the request may no longer exist (I3).
  if (sleeps) FutexWakeOne(request->state);
}

bool CommitQueue::Join(CommitRequest* request) {
  ASHLAR_DCHECK(request->newer == nullptr);  // new, or Reset
  CommitRequest* newest = newest_.load(std::memory_order_relaxed);
  do {
    request->older = newest;
  } while (!newest_.compare_exchange_weak(newest, request, std::memory_order_acq_rel,
                                          std::memory_order_relaxed));
  if (newest == nullptr) return true;
  return Wait(request) == CommitRequest::kLeads;
}

void CommitQueue::LinkNewer(CommitRequest* newest) {
  for (CommitRequest* r = newest; r->older != nullptr && r->older->newer != r; r = r->older)
    r->older->newer = r;
}

void CommitQueue::CheckInvariants(const CommitRequest& leader) const {
  const CommitRequest* request = newest_.load(std::memory_order_acquire);
  ASHLAR_ASSERT(request != nullptr);  // I1: the leader is in the queue
  for (; request->older != nullptr; request = request->older) {
    const uint32_t state = request->state.load(std::memory_order_relaxed);
    ASHLAR_ASSERT(state == CommitRequest::kWaiting || state == CommitRequest::kSleeps);   // I1
    ASHLAR_ASSERT(request->older->newer == nullptr || request->older->newer == request);  // I2
  }
  ASHLAR_ASSERT(request == &leader);  // I1: the oldest request leads
}

CommitGroup CommitQueue::FormGroup(CommitRequest* leader, size_t bytes_max) {
  ASHLAR_DCHECK(leader->older == nullptr);  // I1: nothing is before it
  if constexpr (kDebugChecks) CheckInvariants(*leader);
  CommitGroup group{.first = leader,
                    .last = leader,
                    .requests = 1,
                    .bytes = leader->batch_bytes,
                    .sync = leader->sync};
  if (leader->kind == CommitRequest::Kind::kExclusive) return group;
  CommitRequest* const newest = newest_.load(std::memory_order_acquire);
  if (newest == leader) return group;
  LinkNewer(newest);
  while (group.last != newest) {
    CommitRequest* const next = group.last->newer;
    ASHLAR_DCHECK(next->older == group.last);  // I2
    if (next->kind == CommitRequest::Kind::kExclusive ||
        group.bytes + next->batch_bytes > bytes_max)
      break;
    group.bytes += next->batch_bytes;
    group.sync |= next->sync;
    group.last = next;
    ++group.requests;
  }
  return group;
}

void CommitQueue::Finish(const CommitGroup& group) {
  if constexpr (kDebugChecks) CheckInvariants(*group.first);
  CommitRequest* const last = group.last;
  CommitRequest* newest = last;
  CommitRequest* next_leader = nullptr;
  if (!newest_.compare_exchange_strong(newest, nullptr, std::memory_order_acq_rel,
                                       std::memory_order_acquire)) {
    LinkNewer(newest);
    next_leader = last->newer;
    ASHLAR_ASSERT(next_leader != nullptr && next_leader->older == last);  // I1
    next_leader->older = nullptr;
  }
  for (CommitRequest* r = group.first; r != last;) {
    CommitRequest* const after = r->newer;
    ASHLAR_DCHECK(after != nullptr);  // I2: the run goes on to the last request
    if (r != group.first) Wake(r, CommitRequest::kDone);
    r = after;
  }
  if (last != group.first) Wake(last, CommitRequest::kDone);
  if (next_leader != nullptr) Wake(next_leader, CommitRequest::kLeads);
}

}  // namespace ashlar
