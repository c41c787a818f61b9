// How much a WritableFile keeps in the process before it hands it to the file: the same everywhere,
// so that the in-memory file systems lose the same bytes when a test forgets a Flush.
#pragma once

#include <cstddef>

namespace ashlar {

inline constexpr size_t kWriteBufferBytes = size_t{64} << 10;

}  // namespace ashlar
