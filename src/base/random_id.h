// Random texts from the system's generator. No two calls on any machine return the same text.
//
// Thread safety: any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ashlar {

// Returns `count` random symbols of the alphabet.
std::string RandomText(size_t count, std::string_view alphabet);
// Returns 36 characters: a UUID of version 4, variant 1.
std::string RandomUuid();

}  // namespace ashlar
