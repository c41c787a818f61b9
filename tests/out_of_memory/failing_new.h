// FailingNew: makes operator new of this test binary throw std::bad_alloc at a chosen allocation of
// the calling thread. Allocations of other threads and outside a Scope succeed.
//
// Thread safety: the state belongs to the thread.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <new>

#include "ashlar/status.h"

namespace ashlar {

class FailingNew {
 public:
  enum class Kind {
    kOnce,       // the allocation fails, the next ones succeed
    kUntilEnds,  // it and all later ones in the same Scope fail
  };

  // Resets the counts. The allocation `number` (from 1) inside scopes fails; 0: none. May be called
  // inside a scope, for the rest of its allocations.
  static void Arm(uint64_t number, Kind kind);
  // True once an allocation has failed.
  static bool HasFailed();
  // Allocations counted since Arm.
  static uint64_t Count();

  // Counts allocations while it exists. Scopes do not nest.
  class Scope {
   public:
    Scope();
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
  };
};

// Runs a call of the public interface in a Scope. A std::bad_alloc that escapes it fails the test.
template <typename Function>
Status Call(const char* name, const Function& function) {
  try {
    const FailingNew::Scope scope;
    return function();
  } catch (const std::bad_alloc&) {
    ADD_FAILURE() << "std::bad_alloc left " << name;
  }
  return Status::MemoryLimit();
}

}  // namespace ashlar
