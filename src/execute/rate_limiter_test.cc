#include "execute/rate_limiter.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/format.h"
#include "base/random.h"
#include "platform/thread.h"

namespace ashlar {
namespace {

// 1,000 bytes per period of 1 ms, on a clock that only sleepers move.
class RateLimiterTest : public testing::Test {
 protected:
  const std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>(0);
  GenericRateLimiter limiter_{
      {.bytes_per_second = 1'000'000, .refill_period_us = 1000, .fairness = 10, .clock = clock_}};
};

TEST_F(RateLimiterTest, ABurstPassesAtOnce) {
  EXPECT_EQ(limiter_.GetSingleBurstBytes(), 1000);
  limiter_.Request(600, IO_LOW);
  limiter_.Request(400, IO_HIGH);
  EXPECT_EQ(clock_->NowNanos(), 0u);
}

TEST_F(RateLimiterTest, MoreThanABurstWaitsForRefills) {
  limiter_.Request(1000, IO_LOW);
  limiter_.Request(1, IO_LOW);
  EXPECT_EQ(clock_->NowNanos(), 1'000'000u);
  limiter_.Request(10'000, IO_LOW);
  EXPECT_GE(clock_->NowNanos(), 10'000'000u);
  EXPECT_LE(clock_->NowNanos(), 12'000'000u);
}

TEST_F(RateLimiterTest, TimeWithoutRequestsSavesUpOneBurstOnly) {
  clock_->AdvanceMicros(1'000'000);
  limiter_.Request(1000, IO_LOW);
  EXPECT_EQ(clock_->NowNanos(), 1'000'000'000u);
  limiter_.Request(1000, IO_LOW);
  EXPECT_GT(clock_->NowNanos(), 1'000'000'000u);
}

// I1 over random requests.
TEST_F(RateLimiterTest, NeverExceedsTheRateByMoreThanABurst) {
  constexpr uint64_t kSeed = 11;
  SCOPED_TRACE(StrCat("seed ", kSeed));
  Random random(kSeed);
  int64_t bytes = 0;
  for (int i = 0; i < 2000; i++) {
    const int64_t request = static_cast<int64_t>(random.Skewed(12));
    limiter_.Request(request, static_cast<IORequestPriority>(random.Uniform(IO_TOTAL)));
    bytes += request;
    ASSERT_LE(bytes, static_cast<int64_t>(clock_->NowNanos() / 1000) + 1000);
    if (random.OneIn(20)) clock_->AdvanceMicros(random.Uniform(3000));
  }
  EXPECT_EQ(limiter_.GetTotalBytesThrough(IO_TOTAL), bytes);
}

TEST_F(RateLimiterTest, TheRateCanBeChanged) {
  limiter_.Request(1000, IO_LOW);
  limiter_.SetBytesPerSecond(10'000'000);
  EXPECT_EQ(limiter_.GetBytesPerSecond(), 10'000'000);
  EXPECT_EQ(limiter_.GetSingleBurstBytes(), 10'000);
  limiter_.Request(20'000, IO_LOW);
  EXPECT_LE(clock_->NowNanos(), 3'000'000u);
  limiter_.SetBytesPerSecond(1000);
  EXPECT_EQ(limiter_.GetSingleBurstBytes(), 1);
  const uint64_t before = clock_->NowNanos();
  limiter_.Request(100, IO_LOW);
  EXPECT_GE(clock_->NowNanos() - before, 98'000'000u);
}

TEST_F(RateLimiterTest, StatisticsAreByPriority) {
  limiter_.Request(10, IO_LOW);
  limiter_.Request(20, IO_USER);
  limiter_.Request(0, IO_USER);
  limiter_.Request(-5, IO_USER);
  EXPECT_EQ(limiter_.GetTotalBytesThrough(IO_LOW), 10);
  EXPECT_EQ(limiter_.GetTotalBytesThrough(IO_USER), 20);
  EXPECT_EQ(limiter_.GetTotalBytesThrough(IO_TOTAL), 30);
  EXPECT_EQ(limiter_.GetTotalRequests(IO_USER), 1);
  EXPECT_EQ(limiter_.GetTotalRequests(IO_TOTAL), 2);
}

// A clock on which the sleeper sleeps until the test wakes it, so that the test controls the
// waiters at a refill.
class SteppedClock final : public Clock {
 public:
  uint64_t NowNanos() override {
    MutexLock lock(mutex_);
    return now_ns_;
  }
  uint64_t NowUnixMicros() override { return NowNanos() / 1000; }
  void SleepForMicros(uint64_t micros) override {
    MutexLock lock(mutex_);
    const uint64_t until = now_ns_ + micros * 1000;
    sleepers_++;
    changed_.SignalAll();
    while (now_ns_ < until) changed_.Wait(mutex_);
    sleepers_--;
  }
  void WaitForASleeper() {
    MutexLock lock(mutex_);
    while (sleepers_ == 0) changed_.Wait(mutex_);
  }
  void AdvanceMicros(uint64_t micros) {
    MutexLock lock(mutex_);
    now_ns_ += micros * 1000;
    changed_.SignalAll();
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  uint64_t now_ns_ ASHLAR_GUARDED_BY(mutex_) = 0;
  int sleepers_ ASHLAR_GUARDED_BY(mutex_) = 0;
};

// The request that gets the first refill, when a high and a low request wait for it.
IORequestPriority FirstServed(int32_t fairness) {
  const auto clock = std::make_shared<SteppedClock>();
  GenericRateLimiter limiter({.bytes_per_second = 1'000'000,
                              .refill_period_us = 1000,
                              .fairness = fairness,
                              .clock = clock});
  limiter.Request(1000, IO_LOW);
  Mutex mutex;
  CondVar changed;
  std::vector<IORequestPriority> served;
  std::vector<Thread> threads;
  for (const IORequestPriority priority : {IO_LOW, IO_HIGH}) {
    Result<Thread> thread = Thread::Start({.name = "request"}, [&, priority] {
      limiter.Request(1000, priority);
      MutexLock lock(mutex);
      served.push_back(priority);
      changed.SignalAll();
    });
    EXPECT_TRUE(thread.ok());
    threads.push_back(std::move(thread).value());
  }
  // Both have requested: the first sleeps, the second is queued.
  clock->WaitForASleeper();
  while (limiter.GetTotalRequests(IO_TOTAL) < 3) YieldThread();
  for (size_t wanted = 1; wanted <= 2; wanted++) {
    clock->WaitForASleeper();
    clock->AdvanceMicros(1000);
    MutexLock lock(mutex);
    while (served.size() < wanted) changed.Wait(mutex);
  }
  for (Thread& thread : threads) thread.Join();
  return served.front();
}

TEST(RateLimiter, TheHigherPriorityIsServedFirst) {
  for (int i = 0; i < 20; i++) EXPECT_EQ(FirstServed(1000), IO_HIGH);
}

TEST(RateLimiter, NowAndThenTheLowestIsServedFirst) {
  for (int i = 0; i < 20; i++) EXPECT_EQ(FirstServed(1), IO_LOW);
}

TEST(RateLimiter, ManyThreadsAreAllServed) {
  const auto clock = std::make_shared<ManualClock>(0);
  GenericRateLimiter limiter(
      {.bytes_per_second = 1'000'000, .refill_period_us = 1000, .fairness = 10, .clock = clock});
  std::vector<Thread> threads;
  for (int t = 0; t < 4; t++) {
    Result<Thread> thread = Thread::Start({.name = "request"}, [&, t] {
      for (int i = 0; i < 500; i++)
        limiter.Request(100 + i % 2000, static_cast<IORequestPriority>(t));
    });
    ASSERT_TRUE(thread.ok());
    threads.push_back(std::move(thread).value());
  }
  for (Thread& thread : threads) thread.Join();
  EXPECT_EQ(limiter.GetTotalRequests(IO_TOTAL), 2000);
}

TEST(RateLimiter, ValuesOutOfRangeAreRaised) {
  const std::unique_ptr<RateLimiter> tiny(NewGenericRateLimiter(0, -1, 0));
  EXPECT_EQ(tiny->GetBytesPerSecond(), 1);
  EXPECT_EQ(tiny->GetSingleBurstBytes(), 1);
  const std::unique_ptr<RateLimiter> huge(NewGenericRateLimiter(INT64_MAX));
  EXPECT_GT(huge->GetSingleBurstBytes(), 0);
  huge->Request(1 << 30, IO_LOW);
}

}  // namespace
}  // namespace ashlar
