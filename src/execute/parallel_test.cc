#include "execute/parallel.h"

#include <new>
#include <vector>

#include "gtest/gtest.h"

namespace ashlar {
namespace {

TEST(RunPiecesTest, EachPieceRunsOnceHoweverManyThreadsThereAre) {
  for (const uint32_t threads : {1U, 2U, 5U, 100U}) {
    for (const size_t pieces : {size_t{0}, size_t{1}, size_t{7}, size_t{1000}}) {
      // Not atomic, so that ThreadSanitizer detects two threads in one piece, or a piece that still
      // runs when the call returns.
      std::vector<int> runs(pieces, 0);
      RunPieces(threads, pieces, [&](size_t piece) { runs[piece]++; });
      EXPECT_EQ(runs, std::vector<int>(pieces, 1)) << threads << " threads";
    }
  }
}

TEST(RunPiecesTest, ThrowsInTheCallersThreadWhatAPieceThrew) {
  for (const uint32_t threads : {1U, 3U}) {
    EXPECT_THROW(RunPieces(threads, 100, [](size_t) { throw std::bad_alloc(); }), std::bad_alloc);
  }
}

}  // namespace
}  // namespace ashlar
