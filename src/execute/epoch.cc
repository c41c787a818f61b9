#include "execute/epoch.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "platform/clock.h"

namespace ashlar {

namespace internal {

constinit std::atomic<uint64_t> global_epoch{1};

EpochWord& FindEpochWord(EpochWord* first, const void* domain) {
  EpochWord* word = first;
  while (EpochWord* const next = word->next.load(std::memory_order_relaxed)) {
    word = next;
    if (word->depth == 0 || word->domain.load(std::memory_order_relaxed) == domain) return *word;
  }
  // Never freed, like its slot. Release pairs with the scan's acquire: it sees a constructed word.
  auto* const added = new EpochWord;
  word->next.store(added, std::memory_order_release);
  return *added;
}

}  // namespace internal

// The domains of the process. A visit to a domain holds no lock, so a domain that is being
// destroyed waits for its visitors.
class EpochDomains {
 public:
  // Never destroyed, because static objects may have domains.
  static EpochDomains& Instance() {
    static EpochDomains& domains = *new EpochDomains;
    return domains;
  }

  void Add(EpochDomain* domain) {
    MutexLock lock(mutex_);
    domains_.push_back(domain);
  }
  void Remove(EpochDomain* domain) {
    MutexLock lock(mutex_);
    domains_.erase(std::find(domains_.begin(), domains_.end(), domain));
    while (domain->visitors_ > 0) left_.Wait(mutex_);
  }
  template <typename Visit>
  void VisitAll(const Visit& visit) {
    MutexLock lock(mutex_);
    // Visits only the current domains, because later ones do not concern the caller.
    const std::vector<EpochDomain*> domains = domains_;
    for (EpochDomain* const domain : domains) {
      if (std::find(domains_.begin(), domains_.end(), domain) == domains_.end()) continue;
      ++domain->visitors_;
      lock.Unlock();
      visit(*domain);
      lock.Lock();
      --domain->visitors_;
      left_.SignalAll();
    }
  }

 private:
  Mutex mutex_;
  CondVar left_;
  std::vector<EpochDomain*> domains_ ASHLAR_GUARDED_BY(mutex_);
};

namespace {

// Retire reclaims once this much has accumulated since the last pass. A pass costs a heavy fence,
// which takes some microseconds.
constexpr size_t kPassObjects = 64;
constexpr size_t kPassBytes = size_t{1} << 20;

constexpr uint32_t kYields = 32;
// About 30 ms. On a busy machine, a thread that was preempted inside a guard waits for several
// other threads.
constexpr uint32_t kPatientPauses = 200;

void BackOff(uint32_t attempt) {
  constexpr uint64_t kPauseUs = 100;
  if (attempt < kYields) {
    YieldThread();
  } else {
    SleepForMicros(kPauseUs);
  }
}

// Calls visit(word) for each word of a slot.
template <typename Word, typename Visit>
void ForEachWord(Word* word, const Visit& visit) {
  for (; word != nullptr; word = word->next.load(std::memory_order_acquire)) visit(*word);
}

}  // namespace

EpochDomain::EpochDomain() { EpochDomains::Instance().Add(this); }

EpochDomain::~EpochDomain() {
  do Synchronize();
  while (PendingObjects() > 0);
  EpochDomains::Instance().Remove(this);
}

// The list node of an object that was retired without its own.
struct EpochDomain::RetiredObject : EpochRetired {
  RetiredObject(EpochDeleter delete_object, void* retired_object)
      : EpochRetired{.deleter = &Run}, delete_object_(delete_object), object_(retired_object) {}

  static void Run(EpochRetired* self) {
    const std::unique_ptr<RetiredObject> retired(static_cast<RetiredObject*>(self));
    retired->delete_object_(retired->object_);
  }

 private:
  const EpochDeleter delete_object_;
  void* const object_;
};

void EpochDomain::Push(EpochRetired* retired, size_t bytes) noexcept {
  pending_objects_.fetch_add(1, std::memory_order_relaxed);
  fresh_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  fresh_objects_.fetch_add(1, std::memory_order_relaxed);
  retired->next = newest_.load(std::memory_order_relaxed);
  while (!newest_.compare_exchange_weak(retired->next, retired, std::memory_order_release,
                                        std::memory_order_relaxed)) {
  }
}

// Steps (1) and (2) of the header's picture. Returns the newest tag.
uint64_t EpochDomain::CloseBatch() {
  fresh_objects_.store(0, std::memory_order_relaxed);
  fresh_bytes_.store(0, std::memory_order_relaxed);
  EpochRetired* const first = newest_.exchange(nullptr, std::memory_order_acquire);
  if (first == nullptr) return batch_count_ == 0 ? 0 : batches_[batch_count_ - 1].tag;
  const uint64_t tag = internal::global_epoch.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (batch_count_ < kBatchesMax) {
    batches_[batch_count_++] = {.tag = tag, .oldest_tag = tag, .first = first};
    if constexpr (kDebugChecks) CheckInvariants();
    return tag;
  }
  Batch& newest = batches_.back();
  EpochRetired* last = first;
  while (last->next != nullptr) last = last->next;
  last->next = newest.first;
  // oldest_tag is unchanged, because Synchronize may wait for the batch's earlier objects.
  newest.tag = tag;
  newest.first = first;
  if constexpr (kDebugChecks) CheckInvariants();
  return tag;
}

// Step (4). Acquire pairs with the releases in EpochGuard.
uint64_t EpochDomain::OldestEpochInUse() const {
  uint64_t oldest = ~uint64_t{0};
  for (const ThreadSlot* slot = FirstThreadSlot(); slot != nullptr; slot = slot->next) {
    ForEachWord(&slot->epoch, [&](const EpochWord& word) {
      const uint64_t epoch = word.epoch.load(std::memory_order_acquire);
      if (epoch != 0 && word.domain.load(std::memory_order_acquire) == this)
        oldest = std::min(oldest, epoch);
    });
  }
  return oldest;
}

void EpochDomain::RunDeleters(std::span<const Batch> batches) {
  ThreadSlot& slot = CurrentThreadSlot();
  slot.running_deleters++;
  for (const Batch& batch : batches) {
    EpochRetired* next = nullptr;
    for (EpochRetired* retired = batch.first; retired != nullptr; retired = next) {
      next = retired->next;
      retired->deleter(retired);
      pending_objects_.fetch_sub(1, std::memory_order_relaxed);
    }
  }
  slot.running_deleters--;
}

// Runs the picture's steps once. Returns false if nothing could be deleted.
bool EpochDomain::RunPass() {
  uint64_t newest_tag = 0;
  {
    MutexLock lock(mutex_);
    newest_tag = CloseBatch();
  }
  if (newest_tag == 0) return false;
  HeavyFence();
  // Batches that are closed after the fence wait for a later fence.
  const uint64_t safe_tag = std::min(newest_tag, OldestEpochInUse());

  std::array<Batch, kBatchesMax> safe;
  size_t count = 0;
  MutexLock lock(mutex_);
  while (count < batch_count_ && batches_[count].tag <= safe_tag) {
    safe[count] = batches_[count];
    ++count;
  }
  if (count == 0) return false;
  std::move(batches_.begin() + static_cast<ptrdiff_t>(count),
            batches_.begin() + static_cast<ptrdiff_t>(batch_count_), batches_.begin());
  batch_count_ -= count;
  if constexpr (kDebugChecks) CheckInvariants();
  Pass pass{.oldest_tag = safe.front().oldest_tag, .next = running_passes_};
  running_passes_ = &pass;
  lock.Unlock();
  RunDeleters(std::span<const Batch>(safe.data(), count));
  lock.Lock();
  Pass** link = &running_passes_;
  while (*link != &pass) link = &(*link)->next;
  *link = pass.next;
  pass_finished_.SignalAll();
  return true;
}

// Waits for passes on other threads that took objects of batches up to `tag`. Returns false if such
// objects are still waiting for guards.
bool EpochDomain::WaitForPasses(uint64_t tag) {
  MutexLock lock(mutex_);
  const auto is_running = [&]() ASHLAR_REQUIRES(mutex_) {
    for (const Pass* pass = running_passes_; pass != nullptr; pass = pass->next) {
      if (pass->oldest_tag <= tag) return true;
    }
    return false;
  };
  while (is_running()) pass_finished_.Wait(mutex_);
  return batch_count_ == 0 || batches_.front().oldest_tag > tag;
}

void EpochDomain::CheckInvariants() const {
  ASHLAR_ASSERT(batch_count_ <= kBatchesMax);  // the size of batches_
  const uint64_t global = internal::global_epoch.load(std::memory_order_acquire);
  for (size_t i = 0; i < batch_count_; ++i) {
    ASHLAR_ASSERT(batches_[i].first != nullptr);               // I2: its deleters have not run
    ASHLAR_ASSERT(batches_[i].tag <= global);                  // the epoch reached it
    ASHLAR_ASSERT(batches_[i].oldest_tag <= batches_[i].tag);  // later objects were added
    ASHLAR_ASSERT(i == 0 || batches_[i - 1].tag < batches_[i].oldest_tag);  // I3
  }
  // A running pass took batches that are older than the remaining ones.
  for (const Pass* pass = running_passes_; pass != nullptr; pass = pass->next)
    ASHLAR_ASSERT(batch_count_ == 0 || pass->oldest_tag < batches_.front().oldest_tag);  // I3
}

bool EpochDomain::IsEnteredByThisThread() const {
  bool entered = false;
  ForEachWord(&std::as_const(CurrentThreadSlot()).epoch, [&](const EpochWord& word) {
    entered |= word.depth > 0 && word.domain.load(std::memory_order_relaxed) == this;
  });
  return entered;
}

void EpochDomain::RetireUnderLock(EpochDeleter deleter, void* object, size_t bytes) {
  Push(new RetiredObject(deleter, object), bytes);
}

void EpochDomain::RetireUnderLock(EpochRetired* object, size_t bytes) noexcept {
  ASHLAR_DCHECK(object->deleter != nullptr);  // Requires
  Push(object, bytes);
}

void EpochDomain::Retire(EpochDeleter deleter, void* object, size_t bytes) {
  RetireUnderLock(deleter, object, bytes);
  ReclaimIfDue();
}

void EpochDomain::ReclaimIfDue() {
  const bool enough = fresh_objects_.load(std::memory_order_relaxed) >= kPassObjects ||
                      fresh_bytes_.load(std::memory_order_relaxed) >= kPassBytes;
  if (enough) Reclaim();
}

void EpochDomain::Reclaim() {
  // The caller is a deleter. The pass that runs it also deletes the objects that deleters retire.
  if (CurrentThreadSlot().running_deleters > 0) return;
  while (RunPass() && newest_.load(std::memory_order_relaxed) != nullptr) {
  }
}

void EpochDomain::ReclaimPatiently() {
  Reclaim();
  for (uint32_t attempt = 0; attempt < kYields + kPatientPauses && PendingObjects() > 0;
       attempt++) {
    BackOff(attempt);
    Reclaim();
  }
}

void EpochDomain::Synchronize() {
  ASHLAR_ASSERT(!IsEnteredByThisThread());                   // Requires
  ASHLAR_ASSERT(CurrentThreadSlot().running_deleters == 0);  // Requires
  // Even if there is nothing to delete, there may be guards to wait for. The wait below ends only
  // after the pass that takes `nothing` has ended.
  EpochRetired nothing{.deleter = [](EpochRetired*) {}};
  RetireUnderLock(&nothing, 0);
  uint64_t tag = 0;
  {
    MutexLock lock(mutex_);
    // If another thread has already taken `nothing`, its tag is at most the current epoch.
    tag = std::max(CloseBatch(), internal::global_epoch.load(std::memory_order_acquire));
  }
  for (uint32_t attempt = 0;; attempt++) {
    RunPass();
    if (WaitForPasses(tag)) return;
    BackOff(attempt);
  }
}

void EpochReclaimAll() {
  EpochDomains::Instance().VisitAll([](EpochDomain& domain) { domain.Reclaim(); });
}

void EpochSynchronizeAll() {
  EpochDomains::Instance().VisitAll([](EpochDomain& domain) { domain.Synchronize(); });
}

size_t EpochPendingObjects() {
  size_t objects = 0;
  EpochDomains::Instance().VisitAll(
      [&](const EpochDomain& domain) { objects += domain.PendingObjects(); });
  return objects;
}

}  // namespace ashlar
