// ReadWithoutLock: reads a database that another process may be writing.
//
// Such a reader may find a CURRENT that names a MANIFEST that was just replaced, a MANIFEST that
// names a table that was just deleted, or a half-written record. The next attempt, from CURRENT on,
// finds none of these again, because deleted files are no longer named. Damage stays. So attempts
// are repeated until one fails a second time in the same way. The file of that failure was then
// missing or damaged before the second attempt began.
//
// I1: each attempt except the last fails in a new way, which requires progress of the writer.
//     Without a writer there are at most two attempts.
// I2: there is no sleep.
// I3: it ends whatever the writer does. After kReadAttemptsMax attempts it returns TryAgain.
//
// Thread safety: one thread.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "ashlar/status.h"

namespace ashlar {

inline constexpr size_t kReadAttemptsMax = 1000;

// attempt: a function that returns a Status. Its text must name the file and the place in it.
template <typename Attempt>
Status ReadWithoutLock(Attempt attempt) {
  std::set<std::string> failures;
  for (;;) {
    Status status = attempt();
    if (status.ok() || !failures.insert(status.ToString()).second) return status;
    if (failures.size() == kReadAttemptsMax)
      return Status::TryAgain("the database changes faster than it can be read", status.ToString());
  }
}

}  // namespace ashlar
