// ReadWithoutLock: reads a database that another process may be writing.
//
// Such a reader may find a CURRENT that names a MANIFEST that was just replaced, a MANIFEST that
// names a table that was just deleted, or a record that is half written. An attempt from CURRENT on
// meets none of these again, because deleted files are no longer named. Damage stays. So an attempt
// is repeated until it fails a second time in the same way: then the file of the failure was
// missing or damaged before the second attempt began.
//
// I1: each attempt but the last fails in its own way, which needs progress of the writer. Without a
//     writer there are at most two attempts.
// I2: there is no sleep.
// I3: it ends, whatever the writer does: after kReadAttemptsMax attempts with TryAgain.
//
// Thread safety: one thread.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "ashlar/status.h"

namespace ashlar {

inline constexpr size_t kReadAttemptsMax = 1000;

// attempt: Status(). Its text must name the file, and the place in it.
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
