#include "tests/support/shared_library.h"

#include <dlfcn.h>

#include "tests/support/places.h"

namespace ashlar {

SharedLibrary::SharedLibrary(const std::string& path)
    : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) error_ = dlerror();
}

std::string SharedLibrary::AshlarPath() { return kSharedLibrary; }

void* SharedLibrary::Find(const std::string& name) const { return dlsym(handle_, name.c_str()); }

}  // namespace ashlar
