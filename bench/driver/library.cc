#include "bench/driver/library.h"

#include <dlfcn.h>

#include "bench/driver/fail.h"

namespace ashlar::bench {

Library::Library(const std::string& path)
    : path_(path), handle_(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) Fail(std::string("cannot open the library: ") + ::dlerror());
}

void* Library::Find(const char* function) const { return ::dlsym(handle_, function); }

void* Library::Require(const char* function) const {
  void* const found = Find(function);
  if (found == nullptr) NotAvailable(path_ + " does not export " + function);
  return found;
}

}  // namespace ashlar::bench
