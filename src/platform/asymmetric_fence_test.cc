#include "platform/asymmetric_fence.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "platform/clock.h"
#include "platform/cpu.h"
#include "platform/thread.h"

namespace ashlar {
namespace {

struct alignas(kCacheLineBytes) Cell {
  std::atomic<uint32_t> value{0};
};

// One run of the store-buffer litmus test. Two threads visit the places concurrently. At each, a
// thread stores to its own cell and then loads the other's.
struct Litmus {
  static constexpr size_t kPlaces = 2000;
  std::vector<Cell> x{kPlaces};
  std::vector<Cell> y{kPlaces};
  std::vector<uint32_t> light_saw = std::vector<uint32_t>(kPlaces);
  std::vector<uint32_t> heavy_saw = std::vector<uint32_t>(kPlaces);
  std::atomic<uint32_t> present{0};

  void Meet() {
    present.fetch_add(1);
    while (present.load() < 2) CpuRelax();
  }
  void RunLight() {
    Meet();
    for (size_t i = 0; i < kPlaces; i++) {
      x[i].value.store(1, std::memory_order_relaxed);
      LightFence();
      light_saw[i] = y[i].value.load(std::memory_order_relaxed);
    }
  }
  void RunHeavy() {
    Meet();
    for (size_t i = 0; i < kPlaces; i++) {
      y[i].value.store(1, std::memory_order_relaxed);
      HeavyFence();
      heavy_saw[i] = x[i].value.load(std::memory_order_relaxed);
    }
  }
};

// Without the fences, both loads read 0 now and then on every processor that has a store buffer.
TEST(AsymmetricFence, OneOfTheTwoLoadsSeesTheOtherStore) {
  constexpr int kRuns = 30;
  // On a busy machine the threads seldom run concurrently, so the number of attempts is bounded.
  constexpr uint64_t kNanosMax = 1'000'000'000;
  const uint64_t start = MonotonicNanos();
  size_t both_missed = 0;
  for (int run = 0; run < kRuns && MonotonicNanos() - start < kNanosMax; run++) {
    Litmus litmus;
    Result<Thread> light = Thread::Start({.name = "light"}, [&] { litmus.RunLight(); });
    ASSERT_TRUE(light.ok());
    litmus.RunHeavy();
    light->Join();
    for (size_t i = 0; i < Litmus::kPlaces; i++)
      both_missed += litmus.light_saw[i] == 0 && litmus.heavy_saw[i] == 0 ? 1u : 0u;
  }
  EXPECT_EQ(both_missed, 0u);
}

}  // namespace
}  // namespace ashlar
