// The names by which the compiler's thread-safety analysis knows the locks of a pool. The order is
// in docs/locking.md.
//
// I1: an operation of the medium begins before the heap's mutex is taken. Beginning may wait for a
//     checkpoint, which waits for the operations under way, and these take the heap's mutex.
// I2: a thread has at most one operation at a time, and allocates outside of it.
//
// PoolOperation and Heap carry the annotations, so clang refuses a violation in one function and in
// those that declare what they hold.
#pragma once

#include "platform/thread_annotations.h"

namespace ashlar::pmem {

class ASHLAR_CAPABILITY("pool lock") PoolLockName {
 public:
  // Tells the analysis that the lock is held, where a lambda hides it. Checks nothing at run time.
  void AssertHeld() const ASHLAR_ASSERT_CAPABILITY(this) {}
};

inline constexpr PoolLockName kPoolOperation;
inline constexpr PoolLockName kHeapMutex;

}  // namespace ashlar::pmem
