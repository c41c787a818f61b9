// CheckInvariants: asserts the numbered invariants of an open database, from the families and their
// memtables to the state that the MANIFEST records. Debug and sanitizer builds check most of them
// after each install and switch. The suites call this, so that release builds check them too.
#pragma once

#include "ashlar/db.h"

namespace ashlar {

// Requires: the database is open, and no other thread writes to it.
void CheckInvariants(DB* db);

}  // namespace ashlar
