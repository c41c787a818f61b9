#include "tests/differential/functions.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace ashlar::differential {

namespace {

[[noreturn]] void Fail(const std::string& text) {
  std::fprintf(stderr, "differential: %s\n", text.c_str());
  std::exit(1);
}

}  // namespace

Functions::Functions(const std::string& library) {
  void* const handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) Fail(::dlerror());
  const auto require = [&](const char* function) {
    void* const found = ::dlsym(handle, function);
    if (found == nullptr) Fail(library + " does not export " + function);
    return found;
  };
#define ASHLAR_DIFFERENTIAL_REQUIRE(name, result, parameters) \
  name = reinterpret_cast<decltype(name)>(require("rocksdb_" #name));
#define ASHLAR_DIFFERENTIAL_FIND(name, result, parameters) \
  name = reinterpret_cast<decltype(name)>(::dlsym(handle, "rocksdb_" #name));
  ASHLAR_DIFFERENTIAL_REQUIRED(ASHLAR_DIFFERENTIAL_REQUIRE)
  ASHLAR_DIFFERENTIAL_OPTIONAL(ASHLAR_DIFFERENTIAL_FIND)
#undef ASHLAR_DIFFERENTIAL_FIND
#undef ASHLAR_DIFFERENTIAL_REQUIRE
}

}  // namespace ashlar::differential
