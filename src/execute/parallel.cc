#include "execute/parallel.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "platform/thread.h"

namespace ashlar {

void RunPieces(uint32_t threads, size_t pieces, const std::function<void(size_t piece)>& run) {
  // Relaxed: it only deals out numbers; Join orders the writes of the pieces.
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t piece = next.fetch_add(1, std::memory_order_relaxed); piece < pieces;
         piece = next.fetch_add(1, std::memory_order_relaxed))
      run(piece);
  };
  std::vector<Thread> others;
  const size_t wanted = std::min<size_t>(threads, pieces);
  while (others.size() + 1 < wanted) {
    Result<Thread> other = Thread::Start({.name = "ashlar-piece"}, work);
    if (!other.ok()) break;
    others.push_back(std::move(other).value());
  }
  work();
  for (Thread& other : others) other.Join();
}

}  // namespace ashlar
