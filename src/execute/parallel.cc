#include "execute/parallel.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <vector>

#include "base/out_of_memory.h"
#include "platform/thread.h"

namespace ashlar {

void RunPieces(uint32_t threads, size_t pieces, const std::function<void(size_t piece)>& run) {
  // Relaxed, because it only hands out numbers. Join orders the writes of the pieces.
  std::atomic<size_t> next{0};
  std::atomic<bool> no_memory{false};
  const auto work = [&] {
    try {
      for (size_t piece = next.fetch_add(1, std::memory_order_relaxed); piece < pieces;
           piece = next.fetch_add(1, std::memory_order_relaxed))
        run(piece);
    } catch (const std::bad_alloc&) {
      no_memory.store(true, std::memory_order_relaxed);
      next.store(pieces, std::memory_order_relaxed);
    }
  };
  std::vector<Thread> others;
  const size_t wanted = std::min<size_t>(threads, pieces);
  others.reserve(wanted);
  // If an allocation fails, the threads that have started do the work.
  IgnoreBadAlloc([&] {
    while (others.size() + 1 < wanted) {
      Result<Thread> other = Thread::Start({.name = "ashlar-piece"}, work);
      if (!other.ok()) break;
      others.push_back(std::move(other).value());
    }
  });
  work();
  for (Thread& other : others) other.Join();
  if (no_memory.load(std::memory_order_relaxed)) throw std::bad_alloc();
}

}  // namespace ashlar
