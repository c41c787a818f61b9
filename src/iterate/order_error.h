// OrderError: the error of an iteration that would never end, because the entries of a table are
// out of order. Checksums do not detect that. For the cursors of this folder.
#pragma once

#include "ashlar/status.h"

namespace ashlar {

inline Status OrderError() {
  return Status::Corruption("the entries of a table are not in order; 'ashlar verify' names it");
}

}  // namespace ashlar
