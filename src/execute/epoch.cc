#include "execute/epoch.h"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "platform/clock.h"
#include "platform/mutex.h"

namespace ashlar {

namespace internal {
constinit std::atomic<uint64_t> global_epoch{1};
}  // namespace internal

namespace {

// Retire reclaims when so much came together since the last pass: a pass costs a heavy fence, some microseconds.
constexpr size_t kPassObjects = 64;
constexpr size_t kPassBytes = size_t{1} << 20;

struct Retired {
  EpochDeleter deleter;
  void* object;
  Retired* next;
};

// Objects that were retired before global_epoch became `tag`.
struct Batch {
  uint64_t tag;
  Retired* first;
};

struct Reclaimer {
  std::atomic<Retired*> newest{nullptr};  // pushed with release, taken as a whole with acquire: unlinking happens before taking
  std::atomic<size_t> fresh_objects{0};   // since the last pass; relaxed: only decide when to start one
  std::atomic<size_t> fresh_bytes{0};
  std::atomic<size_t> pending_objects{0};

  Mutex mutex;
  CondVar pass_finished;
  std::deque<Batch> batches ASHLAR_GUARDED_BY(mutex);             // ascending tags
  std::vector<uint64_t> running_passes ASHLAR_GUARDED_BY(mutex);  // the lowest tag of each pass that is running deleters
};

// Never destroyed: objects may be retired by destructors of static objects.
Reclaimer& TheReclaimer() {
  static Reclaimer& reclaimer = *new Reclaimer;
  return reclaimer;
}

void Push(EpochDeleter deleter, void* object, size_t bytes) {
  Reclaimer& reclaimer = TheReclaimer();
  Retired* retired = new Retired{deleter, object, reclaimer.newest.load(std::memory_order_relaxed)};
  reclaimer.pending_objects.fetch_add(1, std::memory_order_relaxed);
  reclaimer.fresh_bytes.fetch_add(bytes, std::memory_order_relaxed);
  reclaimer.fresh_objects.fetch_add(1, std::memory_order_relaxed);
  while (!reclaimer.newest.compare_exchange_weak(retired->next, retired, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

// Steps (1) and (2) of the header's picture. Returns the newest tag.
uint64_t CloseBatch(Reclaimer& reclaimer) ASHLAR_REQUIRES(reclaimer.mutex) {
  reclaimer.fresh_objects.store(0, std::memory_order_relaxed);
  reclaimer.fresh_bytes.store(0, std::memory_order_relaxed);
  Retired* first = reclaimer.newest.exchange(nullptr, std::memory_order_acquire);
  if (first == nullptr) return reclaimer.batches.empty() ? 0 : reclaimer.batches.back().tag;
  const uint64_t tag = internal::global_epoch.fetch_add(1, std::memory_order_acq_rel) + 1;
  reclaimer.batches.push_back({.tag = tag, .first = first});
  return tag;
}

// Step (4). Acquire pairs with the releases in EpochGuard.
uint64_t OldestEpochInUse() {
  uint64_t oldest = ~uint64_t{0};
  for (const ThreadSlot* slot = FirstThreadSlot(); slot != nullptr; slot = slot->next) {
    const uint64_t epoch = slot->epoch.load(std::memory_order_acquire);
    if (epoch != 0) oldest = std::min(oldest, epoch);
  }
  return oldest;
}

void RunDeleters(Reclaimer& reclaimer, const std::vector<Batch>& batches) {
  ThreadSlot& slot = CurrentThreadSlot();
  slot.running_deleters++;
  for (const Batch& batch : batches) {
    Retired* next = nullptr;
    for (Retired* retired = batch.first; retired != nullptr; retired = next) {
      next = retired->next;
      retired->deleter(retired->object);
      delete retired;
      reclaimer.pending_objects.fetch_sub(1, std::memory_order_relaxed);
    }
  }
  slot.running_deleters--;
}

// One time through the picture; false when nothing could be deleted.
bool RunPass(Reclaimer& reclaimer) {
  uint64_t newest_tag = 0;
  {
    MutexLock lock(reclaimer.mutex);
    newest_tag = CloseBatch(reclaimer);
  }
  if (newest_tag == 0) return false;
  HeavyFence();
  // Batches closed after the fence wait for one of their own.
  const uint64_t safe_tag = std::min(newest_tag, OldestEpochInUse());

  std::vector<Batch> safe;
  MutexLock lock(reclaimer.mutex);
  while (!reclaimer.batches.empty() && reclaimer.batches.front().tag <= safe_tag) {
    safe.push_back(reclaimer.batches.front());
    reclaimer.batches.pop_front();
  }
  if (safe.empty()) return false;
  const uint64_t pass = safe.front().tag;
  reclaimer.running_passes.push_back(pass);
  lock.Unlock();
  RunDeleters(reclaimer, safe);
  lock.Lock();
  reclaimer.running_passes.erase(std::find(reclaimer.running_passes.begin(), reclaimer.running_passes.end(), pass));
  reclaimer.pass_finished.SignalAll();
  return true;
}

// Waits for passes on other threads that took batches up to `tag`; false when such batches are still waiting for guards.
bool WaitForPasses(Reclaimer& reclaimer, uint64_t tag) {
  MutexLock lock(reclaimer.mutex);
  const auto is_running = [&]() ASHLAR_REQUIRES(reclaimer.mutex) {
    return std::any_of(reclaimer.running_passes.begin(), reclaimer.running_passes.end(), [tag](uint64_t pass) { return pass <= tag; });
  };
  while (is_running()) reclaimer.pass_finished.Wait(reclaimer.mutex);
  return reclaimer.batches.empty() || reclaimer.batches.front().tag > tag;
}

constexpr uint32_t kYields = 32;
// Some 30 ms: on a machine whose processors are all busy a thread that was put off inside a guard waits for several others.
constexpr uint32_t kPatientPauses = 200;

void BackOff(uint32_t attempt) {
  constexpr uint64_t kPauseUs = 100;
  if (attempt < kYields) {
    YieldThread();
  } else {
    SleepForMicros(kPauseUs);
  }
}

}  // namespace

void RetireUnderLock(EpochDeleter deleter, void* object, size_t bytes) { Push(deleter, object, bytes); }

void Retire(EpochDeleter deleter, void* object, size_t bytes) {
  Push(deleter, object, bytes);
  const Reclaimer& reclaimer = TheReclaimer();
  const bool enough =
      reclaimer.fresh_objects.load(std::memory_order_relaxed) >= kPassObjects || reclaimer.fresh_bytes.load(std::memory_order_relaxed) >= kPassBytes;
  if (enough) EpochReclaim();
}

void EpochReclaim() {
  // The pass that runs the caller, a deleter, goes on with what deleters retire.
  if (CurrentThreadSlot().running_deleters > 0) return;
  Reclaimer& reclaimer = TheReclaimer();
  while (RunPass(reclaimer) && reclaimer.newest.load(std::memory_order_relaxed) != nullptr) {
  }
}

void EpochReclaimPatiently() {
  EpochReclaim();
  for (uint32_t attempt = 0; attempt < kYields + kPatientPauses && EpochPendingObjects() > 0; attempt++) {
    BackOff(attempt);
    EpochReclaim();
  }
}

void EpochSynchronize() {
  const ThreadSlot& slot = CurrentThreadSlot();
  ASHLAR_ASSERT(slot.depth == 0);
  ASHLAR_ASSERT(slot.running_deleters == 0);
  Reclaimer& reclaimer = TheReclaimer();
  // There may be nothing to delete, but there are guards to wait for.
  Push([](void*) {}, nullptr, 0);
  uint64_t tag = 0;
  {
    MutexLock lock(reclaimer.mutex);
    // When another thread has taken the push just now, its tag is at most the current epoch.
    tag = std::max(CloseBatch(reclaimer), internal::global_epoch.load(std::memory_order_acquire));
  }
  for (uint32_t attempt = 0;; attempt++) {
    RunPass(reclaimer);
    if (WaitForPasses(reclaimer, tag)) return;
    BackOff(attempt);
  }
}

size_t EpochPendingObjects() { return TheReclaimer().pending_objects.load(std::memory_order_relaxed); }

}  // namespace ashlar
