#include "bench/driver/fail.h"

#include <cstdio>
#include <cstdlib>

namespace ashlar::bench {

namespace {

// _Exit, because the library's threads may run, and its static destructors must not run under them.
[[noreturn]] void End(int code, const char* kind, const std::string& message) {
  std::fprintf(stderr, "bench_driver: %s: %s\n", kind, message.c_str());
  std::fflush(stderr);
  std::_Exit(code);
}

}  // namespace

void Fail(const std::string& message) { End(kExitFailed, "failed", message); }

void NotAvailable(const std::string& message) { End(kExitNotAvailable, "not available", message); }

}  // namespace ashlar::bench
