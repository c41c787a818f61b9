// Texts that are drawn at random, from the system's generator: no two calls return the same, on any
// machine.
//
// Thread safety: any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ashlar {

// `count` symbols of the alphabet.
std::string RandomText(size_t count, std::string_view alphabet);
// 36 characters: a UUID of version 4, variant 1.
std::string RandomUuid();

}  // namespace ashlar
