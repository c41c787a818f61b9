// The names by which the compiler's thread-safety analysis knows the locks of a pool. The order is
// in docs/locking.md.
//
// I1: an operation of the medium begins before the heap's mutex is taken. Beginning may wait for a
//     checkpoint, which waits for the operations under way, and these take the heap's mutex.
// I2: a thread has at most one operation at a time, and allocates outside of it.
// I3: the same holds for the structure mutex and for leaves: operations under way take them. So an
//     operation begins before them, and space is allocated, which may begin one, before them too.
// I4: no operation is waited for (AwaitDurable) under the mutex of the structure or of the heap:
//     it may take a step of a checkpoint, which waits for the operations under way.
//
//   TreeState::scarce_mutex -> kPoolOperation -> kStructureMutex -> kLeafLock -> kHeapMutex
//
// PoolOperation, TreeState, LeafLock and Heap carry the annotations, so clang refuses a violation
// in one function and in those that declare what they hold. A batch and Verify hold the locks of
// many leaves, which no annotation says.
#pragma once

#include "platform/thread_annotations.h"

namespace ashlar::pmem {

class ASHLAR_CAPABILITY("pool lock") PoolLockName {
 public:
  // Tells the analysis that the lock is held, where a lambda hides it. Checks nothing at run time.
  void AssertHeld() const ASHLAR_ASSERT_CAPABILITY(this) {}
};

inline constexpr PoolLockName kPoolOperation;
inline constexpr PoolLockName kStructureMutex;
inline constexpr PoolLockName kLeafLock;
inline constexpr PoolLockName kHeapMutex;

}  // namespace ashlar::pmem
