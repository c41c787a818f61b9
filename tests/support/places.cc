#include "tests/support/places.h"

namespace ashlar {

const char kSourceDir[] = ASHLAR_SOURCE_DIR;
const char kBuildDir[] = ASHLAR_BUILD_DIR;
const char kSharedLibrary[] = ASHLAR_SHARED_LIBRARY;

}  // namespace ashlar
