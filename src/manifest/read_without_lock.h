// ReadWithoutLock: reads a database that another process may be writing.
//
// Such a reader may find CURRENT naming a MANIFEST that was just replaced, a MANIFEST naming a
// table that was just deleted, or a record that is half written. Read again from CURRENT on, all of
// these are gone: files that were deleted are not named any more. Damage is still there. So an
// attempt is repeated until it fails a second time in the same way: what one failure names was
// missing or damaged before the second attempt began to read.
//
// I1: each attempt but the last fails in a way of its own, which takes progress of the writer:
//     without a writer there are at most two.
// I2: nothing sleeps.
//
// Thread safety: one thread.
#pragma once

#include <set>
#include <string>

#include "ashlar/status.h"

namespace ashlar {

// attempt: Status(). Its text must name the file, and the place in it.
template <typename Attempt>
Status ReadWithoutLock(Attempt attempt) {
  std::set<std::string> failures;
  for (;;) {
    Status status = attempt();
    if (status.ok() || !failures.insert(status.ToString()).second) return status;
  }
}

}  // namespace ashlar
