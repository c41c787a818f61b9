// RunPieces: runs a job in pieces, on the calling thread and on others that end with the call.
//
// Used for work that is long enough to pay for starting threads, such as an open. A thread takes
// the next piece when it has finished one, so pieces may differ in length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace ashlar {

// Calls run(piece) once for each piece below `pieces`, on at most `threads` threads including the
// caller's. Returns when all are done, and their writes happen before the return. If the system
// refuses threads, fewer are used. If a piece throws std::bad_alloc, the other threads end after
// their current piece and the exception is thrown to the caller. Hold no lock that `run` takes.
void RunPieces(uint32_t threads, size_t pieces, const std::function<void(size_t piece)>& run);

}  // namespace ashlar
