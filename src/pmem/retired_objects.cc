#include "pmem/retired_objects.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace ashlar::pmem {

namespace {
// A batch is given to the epoch when it has this much.
constexpr size_t kBatchObjects = 64;
constexpr uint64_t kBatchBytes = uint64_t{256} << 10;
}  // namespace

struct RetiredObjects::Batch {
  explicit Batch(RetiredObjects* of) : owner(of) { objects.reserve(kBatchObjects); }

  RetiredObjects* const owner;
  std::vector<PoolOffset> objects;
  uint64_t bytes = 0;
};

RetiredObjects::RetiredObjects(const PinTable* pins, EpochDomain* epochs, Free free)
    : pins_(pins), epochs_(epochs), free_(std::move(free)) {}

RetiredObjects::~RetiredObjects() { ASHLAR_ASSERT(batch_ == nullptr); }  // Reclaim

void RetiredObjects::Add(PoolOffset object, uint64_t bytes) {
  std::unique_ptr<Batch> full;
  {
    MutexLock lock(mutex_);
    if (batch_ == nullptr) batch_ = std::make_unique<Batch>(this);
    batch_->objects.push_back(object);
    batch_->bytes += bytes;
    if (batch_->objects.size() >= kBatchObjects || batch_->bytes >= kBatchBytes)
      full = std::move(batch_);
  }
  if (full != nullptr) HandOver(std::move(full));
}

void RetiredObjects::HandOver(std::unique_ptr<Batch> batch) {
  const uint64_t bytes = batch->bytes;
  const auto deleter = [](void* object) {
    const std::unique_ptr<Batch> owned(static_cast<Batch*>(object));
    owned->owner->EpochIsOver(owned.get());
  };
  epochs_->Retire(deleter, batch.release(), bytes);
}

void RetiredObjects::TakeUnpinned(size_t pinned_max, std::vector<PoolOffset>* unpinned) {
  for (size_t i = std::min(pinned_max, pinned_.size()); i > 0; --i) {
    const PoolOffset object = pinned_.front();
    pinned_.pop_front();
    if (pins_->IsPinned(object)) {
      pinned_.push_back(object);
    } else {
      unpinned->push_back(object);
    }
  }
}

void RetiredObjects::EpochIsOver(Batch* batch) {
  std::vector<PoolOffset> unpinned;
  {
    MutexLock lock(mutex_);
    TakeUnpinned(kAskedPerObject * batch->objects.size(), &unpinned);  // I2
    for (const PoolOffset object : batch->objects) {
      if (pins_->IsPinned(object)) {
        pinned_.push_back(object);
      } else {
        unpinned.push_back(object);
      }
    }
  }
  free_(unpinned);
}

void RetiredObjects::Reclaim() {
  std::unique_ptr<Batch> batch;
  {
    MutexLock lock(mutex_);
    batch = std::move(batch_);
  }
  if (batch != nullptr) HandOver(std::move(batch));
  epochs_->Synchronize();
  std::vector<PoolOffset> unpinned;
  {
    MutexLock lock(mutex_);
    TakeUnpinned(pinned_.size(), &unpinned);
  }
  free_(unpinned);
}

uint64_t RetiredObjects::VolatileBytes() const {
  MutexLock lock(mutex_);
  return pinned_.size() * sizeof(PoolOffset);
}

}  // namespace ashlar::pmem
