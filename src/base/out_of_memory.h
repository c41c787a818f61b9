// CatchBadAlloc: turns std::bad_alloc into a Status. Allocation failure is an error like a full
// disk: it fails only the call that met it.
//
// Thread safety: pure.
#pragma once

#include <new>
#include <utility>

#include "ashlar/status.h"

namespace ashlar {

// The result of f, or MemoryLimit if f throws std::bad_alloc. That Status has no text: making one
// could fail as well.
template <typename Function>
Status CatchBadAlloc(Function&& f) {
  try {
    return std::forward<Function>(f)();
  } catch (const std::bad_alloc&) {
    return Status::MemoryLimit();
  }
}

// Runs f until memory runs out. For notifications and for removing files, whose failure changes no
// result.
template <typename Function>
void IgnoreBadAlloc(Function&& f) {
  static_cast<void>(CatchBadAlloc([&] {
                      f();
                      return Status::OK();
                    }).ok());
}

}  // namespace ashlar
