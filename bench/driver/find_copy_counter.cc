#include <dlfcn.h>

#include "bench/driver/copies.h"

namespace ashlar::bench {

const CopyCounter* FindCopyCounter() {
  return static_cast<const CopyCounter*>(::dlsym(RTLD_DEFAULT, kCopyCounterName));
}

}  // namespace ashlar::bench
