// The number of bytes that a WritableFile buffers before it writes them to the file. It is the same
// for all file systems, so that those in memory lose the same bytes if a test forgets a Flush.
#pragma once

#include <cstddef>

namespace ashlar {

inline constexpr size_t kWriteBufferBytes = size_t{64} << 10;

}  // namespace ashlar
