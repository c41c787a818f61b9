#include "tests/support/places.h"

namespace ashlar {

const char kSourceDir[] = ASHLAR_SOURCE_DIR;
const char kBuildDir[] = ASHLAR_BUILD_DIR;

}  // namespace ashlar
