// kDatabaseMutex, kManifestMutex: the names of the two mutexes of an open database for the
// compiler's analysis (docs/locking.md).
//
// A member of any class of the engine is ASHLAR_GUARDED_BY(kDatabaseMutex), a function
// ASHLAR_REQUIRES(kDatabaseMutex), and DatabaseState::mutex() returns the mutex under that name. So
// the analysis needs no path from an object to the state of its database. It does not distinguish
// two databases, but no code of the engine has two. The names are in this folder because
// VersionSet, the lowest class that they guard, is in it.
#pragma once

#include "platform/thread_annotations.h"

namespace ashlar {

class ASHLAR_CAPABILITY("mutex") LockName {
 public:
  // Tells the analysis that the lock is held, where a lambda hides it. Checks nothing at run time.
  void AssertHeld() const ASHLAR_ASSERT_CAPABILITY(this) {}
};

inline constexpr LockName kDatabaseMutex;
inline constexpr LockName kManifestMutex;

}  // namespace ashlar
