// TestEpochs: the epoch domain of a test that opens no database.
//
// Thread safety: any thread. Lifetime: never destroyed, so that static objects of a test can be
// retired into it.
#pragma once

#include "execute/epoch.h"

namespace ashlar {

inline EpochDomain& TestEpochs() {
  static EpochDomain& epochs = *new EpochDomain;
  return epochs;
}

}  // namespace ashlar
