// RunPieces: one job in pieces, on the calling thread and on some others that end with the call.
//
// For work that is long enough to pay for starting threads, such as an open. A thread takes the
// next piece when it has finished one, so pieces may differ in length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace ashlar {

// Calls run(piece) once for each piece below `pieces`, on at most `threads` threads at once, the
// caller's among them. Returns when all are done. Their writes happen before the return. Threads
// that the system refuses are done without. A std::bad_alloc of a piece ends the others after their
// current piece and is thrown to the caller. Hold no lock that `run` takes.
void RunPieces(uint32_t threads, size_t pieces, const std::function<void(size_t piece)>& run);

}  // namespace ashlar
