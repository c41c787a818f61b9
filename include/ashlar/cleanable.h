// Cleanable: an object that runs registered functions once, when it is destroyed or reset. A
// PinnableSlice or an Iterator uses it to release the objects that keep its bytes alive.
//
// Thread safety: none; one thread at a time.
#pragma once

#include "ashlar/export.h"

namespace ashlar {

class ASHLAR_API Cleanable {
 public:
  using CleanupFunction = void (*)(void* arg1, void* arg2);

  Cleanable() = default;
  ~Cleanable() { DoCleanup(); }
  Cleanable(const Cleanable&) = delete;
  Cleanable& operator=(const Cleanable&) = delete;
  Cleanable(Cleanable&& other) noexcept : head_(other.head_) { other.head_ = {}; }
  Cleanable& operator=(Cleanable&& other) noexcept {
    if (this != &other) {
      DoCleanup();
      head_ = other.head_;
      other.head_ = {};
    }
    return *this;
  }

  // Registers a call of function(arg1, arg2), made once, at Reset or destruction. Calls run in
  // reverse order of registration. function must not be null.
  void RegisterCleanup(CleanupFunction function, void* arg1, void* arg2);
  // Moves every registered clean-up to `other`, which runs them instead.
  void DelegateCleanupsTo(Cleanable* other);
  // Runs and removes every registered clean-up.
  void Reset() { DoCleanup(); }

 protected:
  bool HasCleanups() const { return head_.function != nullptr; }

 private:
  struct Cleanup {
    CleanupFunction function = nullptr;
    void* arg1 = nullptr;
    void* arg2 = nullptr;
    Cleanup* next = nullptr;  // heap, owned
  };
  void DoCleanup() {
    if (head_.function != nullptr) RunAll();
  }
  void RunAll();

  Cleanup head_;  // the first is stored inline: the common case allocates nothing
};

}  // namespace ashlar
