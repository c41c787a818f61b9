// The names of a pool's locks for the compiler's thread-safety analysis. docs/locking.md has their
// order.
//
// I1: an operation of the medium begins before the heap's mutex is taken. A begin may wait for a
//     checkpoint, which waits for the operations under way, and those take the heap's mutex.
// I2: a thread has at most one operation at a time, and allocates outside of it.
// I3: the same holds for the structure mutex and for leaf locks, because operations under way take
//     them. So operations begin before these locks, and so do allocations, which may begin one.
// I4: AwaitDurable is not called under the structure mutex or the heap's mutex, because it may take
//     a step of a checkpoint, which waits for the operations under way.
//
//   kScarceMutex -> kPoolOperation -> kStructureMutex -> kLeafLock -> kHeapMutex -> log's mutex
//
// PoolOperation, TreeState, LeafLock, Heap and the writers carry the annotations, so clang rejects
// a violation within a function and across functions that declare their locks (tests/lock_order).
// No annotation says that a batch and Verify hold the locks of many leaves.
#pragma once

#include "platform/thread_annotations.h"

namespace ashlar::pmem {

class ASHLAR_CAPABILITY("pool lock") PoolLockName {
 public:
  // Tells the analysis that the lock is held, where a lambda hides it. Checks nothing at run time.
  void AssertHeld() const ASHLAR_ASSERT_CAPABILITY(this) {}
};

// clang checks the order of two names with -Wthread-safety-beta, which the build sets.
inline constexpr PoolLockName kHeapMutex;
inline constexpr PoolLockName kLeafLock ASHLAR_ACQUIRED_BEFORE(kHeapMutex);
inline constexpr PoolLockName kStructureMutex ASHLAR_ACQUIRED_BEFORE(kLeafLock);
inline constexpr PoolLockName kPoolOperation ASHLAR_ACQUIRED_BEFORE(kStructureMutex);
inline constexpr PoolLockName kScarceMutex ASHLAR_ACQUIRED_BEFORE(kPoolOperation);

// For a function that begins an operation, and for one that takes kScarceMutex before that. The
// caller must hold none of the listed locks.
#define ASHLAR_BEGINS_OPERATION \
  ASHLAR_EXCLUDES(kPoolOperation, kStructureMutex, kLeafLock, kHeapMutex)
#define ASHLAR_TAKES_SCARCE_MUTEX \
  ASHLAR_EXCLUDES(kScarceMutex, kPoolOperation, kStructureMutex, kLeafLock, kHeapMutex)

}  // namespace ashlar::pmem
