// The real epochs with simulated store buffers. This binary replaces the two fences of
// src/platform, so that a test decides when the stores of a thread reach the others. The stores of
// an entered guard reach them at the next fence, and no sooner.
#include <gtest/gtest.h>

#include <functional>

#include "execute/epoch.h"
#include "execute/shared_count.h"
#include "platform/asymmetric_fence.h"

namespace ashlar {

namespace {
std::function<void()> at_light_fence;
std::function<void()> at_heavy_fence;
}  // namespace

namespace internal {
// If false, a light fence calls FullFence.
constinit std::atomic<bool> light_fence_is_free{false};
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wtsan"
#endif
void FullFence() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (at_light_fence) at_light_fence();
}
}  // namespace internal

void HeavyFence() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (at_heavy_fence) at_heavy_fence();
}

namespace {

class StoreBuffer : public testing::Test {
 protected:
  ~StoreBuffer() override {
    at_light_fence = nullptr;
    at_heavy_fence = nullptr;
  }

  // Moves the epoch that this thread has entered into its store buffer.
  void Buffer() { epoch_ = CurrentThreadSlot().epoch.epoch.exchange(0); }
  void Drain() {
    if (epoch_ != 0) CurrentThreadSlot().epoch.epoch.store(std::exchange(epoch_, 0));
  }

  static void Increment(void* counter) { ++*static_cast<int*>(counter); }

  EpochDomain epochs_;
  uint64_t epoch_ = 0;
};

TEST_F(StoreBuffer, APassSeesTheEpochThatAReaderHasNotShownYet) {
  at_heavy_fence = [this] { Drain(); };
  int deleted = 0;
  {
    const EpochGuard guard(epochs_);
    Buffer();
    epochs_.RetireUnderLock(&Increment, &deleted, 0);
    epochs_.Reclaim();
    EXPECT_EQ(deleted, 0);
  }
  epochs_.Reclaim();
  EXPECT_EQ(deleted, 1);
}

// The fence is after the tag, so a guard that is entered in between does not keep the object.
TEST_F(StoreBuffer, AGuardEnteredAtTheFenceIsInALaterEpoch) {
  int deleted = 0;
  EpochEntry entry;
  epochs_.RetireUnderLock(&Increment, &deleted, 0);
  at_heavy_fence = [&] { entry.Enter(epochs_); };
  epochs_.Reclaim();
  at_heavy_fence = nullptr;
  EXPECT_EQ(deleted, 1);
  entry.Leave();
}

TEST_F(StoreBuffer, AGuardIsVisibleAtItsLightFence) {
  uint64_t seen = 0;
  const void* domain = nullptr;
  int fences = 0;
  at_light_fence = [&] {
    ++fences;
    seen = CurrentThreadSlot().epoch.epoch.load();
    domain = CurrentThreadSlot().epoch.domain.load();
  };
  const EpochGuard guard(epochs_);
  at_light_fence = nullptr;
  EXPECT_EQ(fences, 1);
  EXPECT_NE(seen, 0U);
  EXPECT_EQ(domain, &epochs_);
}

// The count is folded after the grace period, so the buffered guard's Acquire is counted.
TEST_F(StoreBuffer, ACountIsFoldedAfterTheGuardThatAcquiresIt) {
  at_heavy_fence = [this] { Drain(); };
  int freed = 0;
  SharedCount count(&epochs_, &Increment, &freed);
  {
    const EpochGuard guard(epochs_);
    Buffer();
    count.Kill();
    epochs_.Reclaim();
    count.Acquire();  // as a thread that found the object before it was unlinked
    EXPECT_EQ(freed, 0);
  }
  epochs_.Reclaim();
  EXPECT_EQ(freed, 0);
  count.Release();
  EXPECT_EQ(freed, 1);
}

}  // namespace
}  // namespace ashlar
