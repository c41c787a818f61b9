#include "ashlar/cleanable.h"

#include <utility>

#include "base/assert.h"

namespace ashlar {

void Cleanable::RegisterCleanup(CleanupFunction function, void* arg1, void* arg2) {
  ASHLAR_ASSERT(function != nullptr);  // Requires
  Cleanup* next = head_.function != nullptr ? new Cleanup(head_) : nullptr;
  head_ = {.function = function, .arg1 = arg1, .arg2 = arg2, .next = next};
}

void Cleanable::DelegateCleanupsTo(Cleanable* other) {
  ASHLAR_ASSERT(other != this);  // nothing moves to itself
  if (head_.function == nullptr) return;
  if (other->head_.function == nullptr) {
    other->head_ = std::exchange(head_, {});
    return;
  }
  Cleanup* const behind = new Cleanup(other->head_);
  other->head_ = std::exchange(head_, {});
  Cleanup* last = &other->head_;
  while (last->next != nullptr) last = last->next;
  last->next = behind;
}

void Cleanable::RunAll() {
  // Removed first, because a clean-up may destroy or reuse the owner of this object.
  const Cleanup first = std::exchange(head_, {});
  first.function(first.arg1, first.arg2);
  for (Cleanup* cleanup = first.next; cleanup != nullptr;) {
    cleanup->function(cleanup->arg1, cleanup->arg2);
    delete std::exchange(cleanup, cleanup->next);
  }
}

}  // namespace ashlar
