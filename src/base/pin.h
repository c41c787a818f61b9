// Pin: one count on the owner of some bytes (a memtable, a cached block, a mapped table). A value
// that outlives the call that found it holds a pin. PinSource: the means to take such a count
// later.
//
// A reader that finds bytes inside an epoch guard (execute/epoch.h) returns {bytes, PinSource}.
// While the guard exists, the bytes are valid without a count. To keep them longer, call Acquire
// before the guard ends.
//
// I1: PinSource::Acquire is called while the owner is protected by the caller's epoch guard or by a
//     Pin on the same owner.
// I2: every acquired Pin releases exactly once.
#pragma once

#include <utility>

#include "ashlar/slice.h"

namespace ashlar {

// The two operations of an owner. There is one constant object per kind of owner.
struct PinOps {
  void (*acquire)(void* owner);
  void (*release)(void* owner, void* unused);  // matches Cleanable::CleanupFunction
};

class Pin {
 public:
  Pin() = default;
  Pin(const PinOps* ops, void* owner) : ops_(ops), owner_(owner) {}  // adopts a count
  Pin(Pin&& other) noexcept
      : ops_(std::exchange(other.ops_, nullptr)), owner_(std::exchange(other.owner_, nullptr)) {}
  Pin& operator=(Pin&& other) noexcept {
    if (this != &other) {
      Release();
      ops_ = std::exchange(other.ops_, nullptr);
      owner_ = std::exchange(other.owner_, nullptr);
    }
    return *this;
  }
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;
  ~Pin() { Release(); }

  void Release() {
    if (ops_ != nullptr) {
      ops_->release(owner_, nullptr);
      ops_ = nullptr;
      owner_ = nullptr;
    }
  }
  bool held() const { return ops_ != nullptr; }

  // Moves the count to `out`, which then refers to `bytes`. Without a count, the bytes are assumed
  // to live for ever.
  void MoveTo(PinnableSlice* out, Slice bytes) {
    if (ops_ == nullptr) {
      out->PinSlice(bytes, nullptr);
      return;
    }
    out->PinSlice(bytes, ops_->release, owner_, nullptr);
    ops_ = nullptr;
    owner_ = nullptr;
  }

 private:
  const PinOps* ops_ = nullptr;
  void* owner_ = nullptr;
};

struct PinSource {
  const PinOps* ops = nullptr;  // null: the bytes live for ever
  void* owner = nullptr;

  Pin Acquire() const {
    if (ops == nullptr) return Pin();
    ops->acquire(owner);
    return Pin(ops, owner);
  }
};

}  // namespace ashlar
