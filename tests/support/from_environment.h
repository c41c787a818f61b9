// FromEnvironment: the number in an environment variable. Used for seeds, and for runs that check
// more than ./dev test does.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace ashlar {

inline uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace ashlar
