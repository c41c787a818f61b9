#include "platform/asymmetric_fence.h"

#include <gtest/gtest.h>

#include <atomic>

#include "platform/cpu.h"
#include "platform/thread.h"

namespace ashlar {
namespace {

// The store-buffer litmus: without the pair of fences, both loads read 0 now and then on every processor with a store buffer.
TEST(AsymmetricFence, OneOfTheTwoLoadsSeesTheOtherStore) {
  constexpr uint32_t kRounds = 20000;
  struct alignas(kCacheLineBytes) Cell {
    std::atomic<uint32_t> value{0};
  };
  Cell x, y, light_saw, light_round, heavy_round;
  Result<Thread> light = Thread::Start({.name = "light"}, [&] {
    for (uint32_t round = 1; round <= kRounds; round++) {
      while (heavy_round.value.load(std::memory_order_acquire) < round) CpuRelax();
      x.value.store(round, std::memory_order_relaxed);
      LightFence();
      light_saw.value.store(y.value.load(std::memory_order_relaxed), std::memory_order_relaxed);
      light_round.value.store(round, std::memory_order_release);
    }
  });
  ASSERT_TRUE(light.ok());
  uint32_t both_missed = 0;
  for (uint32_t round = 1; round <= kRounds; round++) {
    heavy_round.value.store(round, std::memory_order_release);
    y.value.store(round, std::memory_order_relaxed);
    HeavyFence();
    const uint32_t heavy_saw = x.value.load(std::memory_order_relaxed);
    while (light_round.value.load(std::memory_order_acquire) < round) YieldThread();
    if (heavy_saw != round && light_saw.value.load(std::memory_order_relaxed) != round) both_missed++;
  }
  light->Join();
  EXPECT_EQ(both_missed, 0u);
}

}  // namespace
}  // namespace ashlar
