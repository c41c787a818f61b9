// Random: a fast generator (xoshiro256**) whose sequence is a function of its seed alone, on every
// machine. Not for secrets.
//
// Thread safety: one thread at a time.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "base/compiler.h"

namespace ashlar {

class Random {
 public:
  explicit Random(uint64_t seed) {
    // splitmix64 spreads the seed: neighbouring seeds give unrelated states, and none is all zero.
    for (uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15u;
      uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      word = z ^ (z >> 31);
    }
  }

  uint64_t Next() {
    const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // Returns a number in [0, n). Requires: n > 0. The bias is at most n / 2^64.
  uint64_t Uniform(uint64_t n) {
    ASHLAR_DCHECK(n > 0);  // Requires
    uint64_t high;
    static_cast<void>(MultiplyFull(Next(), n, &high));
    return high;
  }
  // Returns a number in [low, high]. Requires: low <= high.
  uint64_t Between(uint64_t low, uint64_t high) {
    return high - low == ~uint64_t{0} ? Next() : low + Uniform(high - low + 1);
  }
  // Returns true once in n calls on average.
  bool OneIn(uint64_t n) { return Uniform(n) == 0; }
  // Returns a number in [0, 1).
  double NextDouble() { return static_cast<double>(Next() >> 11) * 0x1p-53; }
  // Returns small numbers often and numbers up to 2^bits_max - 1 sometimes: it draws a size in
  // bits, then a number of that size. bits_max is at most 63.
  uint64_t Skewed(uint32_t bits_max) {
    return Uniform(uint64_t{1} << Uniform(uint64_t{bits_max} + 1));
  }

  // Returns n bytes of any value.
  std::string Bytes(size_t n) {
    std::string out(n, '\0');
    for (char& c : out) c = static_cast<char>(Next() >> 56);
    return out;
  }

 private:
  uint64_t state_[4];
};

}  // namespace ashlar
