// CatchBadAlloc: turns std::bad_alloc into a Status. Like a full disk, an allocation failure is an
// error that fails only the call in which it occurs.
//
// Thread safety: pure functions.
#pragma once

#include <new>
#include <utility>

#include "ashlar/status.h"

namespace ashlar {

// Returns the result of f, or MemoryLimit if f throws std::bad_alloc. That Status has no text,
// because its allocation could fail as well.
template <typename Function>
Status CatchBadAlloc(Function&& f) {
  try {
    return std::forward<Function>(f)();
  } catch (const std::bad_alloc&) {
    return Status::MemoryLimit();
  }
}

// Runs f and ignores std::bad_alloc. Used for notifications and for removing files, whose failure
// changes no result.
template <typename Function>
void IgnoreBadAlloc(Function&& f) {
  static_cast<void>(CatchBadAlloc([&] {
                      f();
                      return Status::OK();
                    }).ok());
}

}  // namespace ashlar
