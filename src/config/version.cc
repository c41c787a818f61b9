#include "ashlar/version.h"

#include "base/format.h"

namespace ashlar {

std::string GetAshlarVersionAsString() {
  return StrCat(kMajorVersion, ".", kMinorVersion, ".", kPatchVersion);
}

}  // namespace ashlar
