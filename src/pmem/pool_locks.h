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
//   kScarceMutex -> kPoolOperation -> kStructureMutex -> kLeafLock -> kHeapMutex -> log's mutex
//
// PoolOperation, TreeState, LeafLock, Heap and the writers carry the annotations, so clang refuses
// a violation in one function and in those that declare their locks (tests/lock_order). A batch
// and Verify hold the locks of many leaves, which no annotation says.
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

// Of a function that begins an operation, and of one that takes kScarceMutex before: its caller
// holds none of the locks from there on.
#define ASHLAR_BEGINS_OPERATION \
  ASHLAR_EXCLUDES(kPoolOperation, kStructureMutex, kLeafLock, kHeapMutex)
#define ASHLAR_TAKES_SCARCE_MUTEX \
  ASHLAR_EXCLUDES(kScarceMutex, kPoolOperation, kStructureMutex, kLeafLock, kHeapMutex)

}  // namespace ashlar::pmem
