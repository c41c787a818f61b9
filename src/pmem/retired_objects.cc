#include "pmem/retired_objects.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/out_of_memory.h"
#include "platform/thread.h"

namespace ashlar::pmem {

namespace {
// A batch is handed to the epoch domain at one of these limits. Open batches have 256 KiB at most.
constexpr size_t kBatchObjects = 64;
constexpr uint64_t kBatchBytes = uint64_t{32} << 10;
}  // namespace

struct RetiredObjects::Batch : EpochRetired {
  explicit Batch(RetiredObjects* of) : EpochRetired{.deleter = &Run}, owner(of) {
    objects.reserve(kBatchObjects * (1 + kAskedPerObject));  // and pinned ones are added
  }

  static void Run(EpochRetired* self) {
    const std::unique_ptr<Batch> batch(static_cast<Batch*>(self));
    batch->owner->EpochIsOver(&batch->objects);
  }

  RetiredObjects* const owner;
  std::vector<PoolOffset> objects;
  uint64_t bytes = 0;
};

RetiredObjects::RetiredObjects(const PinTable* pins, EpochDomain* epochs, Free free)
    : pins_(pins), epochs_(epochs), free_(std::move(free)) {}

RetiredObjects::~RetiredObjects() {
  for (OpenBatch& open : open_) {
    MutexLock lock(open.mutex);
    ASHLAR_ASSERT(open.batch == nullptr);  // Reclaim
  }
}

std::unique_ptr<RetiredObjects::Batch> RetiredObjects::NewBatch() noexcept try {
  return std::make_unique<Batch>(this);
} catch (const std::bad_alloc&) {
  return nullptr;
}

void RetiredObjects::Add(PoolOffset object, uint64_t bytes) noexcept {
  std::unique_ptr<Batch> full;
  {
    OpenBatch& open = open_[CurrentThreadSlot().index % kBatches];
    MutexLock lock(open.mutex);
    if (open.batch == nullptr) open.batch = NewBatch();
    if (open.batch == nullptr) return;                                           // I3
    ASHLAR_DCHECK(open.batch->objects.size() < open.batch->objects.capacity());  // I3
    open.batch->objects.push_back(object);
    open.batch->bytes += bytes;
    if (open.batch->objects.size() >= kBatchObjects || open.batch->bytes >= kBatchBytes)
      full = std::move(open.batch);
  }
  if (full != nullptr) HandOver(std::move(full));
}

void RetiredObjects::HandOver(std::unique_ptr<Batch> batch) noexcept {
  const uint64_t bytes = batch->bytes;
  epochs_->RetireUnderLock(batch.release(), bytes);
  epochs_->ReclaimIfDue();
}

void RetiredObjects::AskLater(PoolOffset pinned) noexcept {
  try {
    pinned_.push_back(pinned);
  } catch (const std::bad_alloc&) {
    return;  // I3
  }
}

void RetiredObjects::TakeUnpinned(size_t pinned_max, std::vector<PoolOffset>* unpinned) noexcept {
  for (size_t i = std::min(pinned_max, pinned_.size()); i > 0; --i) {
    const PoolOffset object = pinned_.front();
    pinned_.pop_front();
    if (pins_->IsPinned(object)) {
      AskLater(object);
    } else {
      unpinned->push_back(object);
    }
  }
}

void RetiredObjects::EpochIsOver(std::vector<PoolOffset>* objects) noexcept {
  {
    MutexLock lock(mutex_);
    const size_t asked = std::min(kAskedPerObject * objects->size(), pinned_.size());  // I2
    ASHLAR_DCHECK(objects->capacity() >= objects->size() + asked);                     // I3
    size_t unpinned = 0;
    for (const PoolOffset object : *objects) {
      if (pins_->IsPinned(object)) {
        AskLater(object);
      } else {
        (*objects)[unpinned++] = object;
      }
    }
    objects->resize(unpinned);
    TakeUnpinned(asked, objects);
  }
  free_(*objects);
}

void RetiredObjects::FinishBatches() noexcept {
  for (OpenBatch& open : open_) {
    std::unique_ptr<Batch> batch;
    {
      MutexLock lock(open.mutex);
      batch = std::move(open.batch);
    }
    if (batch != nullptr) HandOver(std::move(batch));
  }
  epochs_->Synchronize();
}

void RetiredObjects::Reclaim() noexcept {
  FinishBatches();
  std::vector<PoolOffset> unpinned;
  {
    MutexLock lock(mutex_);
    // If the allocation fails, they are checked another time.
    IgnoreBadAlloc([&, count = pinned_.size()] { unpinned.reserve(count); });
    TakeUnpinned(unpinned.capacity(), &unpinned);
  }
  free_(unpinned);
}

void RetiredObjects::CheckInvariants() const {
  for (const OpenBatch& open : open_) {
    MutexLock lock(open.mutex);
    if (open.batch == nullptr) continue;
    const Batch& batch = *open.batch;
    ASHLAR_ASSERT(batch.owner == this && !batch.objects.empty());                      // by Add
    ASHLAR_ASSERT(batch.objects.size() < kBatchObjects && batch.bytes < kBatchBytes);  // not full
    ASHLAR_ASSERT(batch.objects.capacity() >= kBatchObjects * (1 + kAskedPerObject));  // I3
  }
}

uint64_t RetiredObjects::VolatileBytes() const {
  MutexLock lock(mutex_);
  return pinned_.size() * sizeof(PoolOffset);
}

}  // namespace ashlar::pmem
