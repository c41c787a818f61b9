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

// I1 for random requests.
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

TEST_F(RateLimiterTest, ARequestOfAllPrioritiesPassesAtOnce) {
  limiter_.Request(1'000'000, IO_TOTAL);
  EXPECT_EQ(limiter_.RequestToken(1'000'000, 0, IO_TOTAL, nullptr, RateLimiter::OpType::kWrite),
            1'000'000u);
  EXPECT_EQ(clock_->NowNanos(), 0u);
  EXPECT_EQ(limiter_.GetTotalRequests(IO_TOTAL), 0);
}

TEST_F(RateLimiterTest, ATokenIsAtMostOneBurst) {
  using enum RateLimiter::OpType;
  EXPECT_EQ(limiter_.RequestToken(10'000, 0, IO_LOW, nullptr, kWrite), 1000u);
  EXPECT_EQ(limiter_.GetTotalBytesThrough(IO_LOW), 1000);
  EXPECT_EQ(limiter_.RequestToken(10, 0, IO_LOW, nullptr, kWrite), 10u);
  // With an alignment, a token is a multiple of it, and at least one.
  EXPECT_EQ(limiter_.RequestToken(10'000, 300, IO_LOW, nullptr, kWrite), 900u);
  EXPECT_EQ(limiter_.RequestToken(10'000, 4096, IO_LOW, nullptr, kWrite), 4096u);
  // By default reads are not limited.
  EXPECT_EQ(limiter_.RequestToken(10'000, 0, IO_LOW, nullptr, kRead), 10'000u);
  EXPECT_EQ(limiter_.GetTotalRequests(IO_TOTAL), 4);
}

TEST_F(RateLimiterTest, ASingleBurstOfItsOwnLeavesTheRateAsItIs) {
  EXPECT_TRUE(limiter_.SetSingleBurstBytes(-1).IsInvalidArgument());
  ASSERT_TRUE(limiter_.SetSingleBurstBytes(5000).ok());
  EXPECT_EQ(limiter_.GetSingleBurstBytes(), 5000);
  EXPECT_EQ(limiter_.RequestToken(9000, 0, IO_LOW, nullptr, RateLimiter::OpType::kWrite), 5000u);
  EXPECT_EQ(clock_->NowNanos(), 4'000'000u);
  limiter_.SetBytesPerSecond(3'000'000);
  EXPECT_EQ(limiter_.GetSingleBurstBytes(), 5000);
  ASSERT_TRUE(limiter_.SetSingleBurstBytes(0).ok());
  EXPECT_EQ(limiter_.GetSingleBurstBytes(), 3000);
}

TEST(RateLimiter, TheModeDecidesWhichOperationsWait) {
  using Mode = RateLimiter::Mode;
  using OpType = RateLimiter::OpType;
  const auto passes_at_once = [](Mode mode, OpType op) {
    const auto clock = std::make_shared<ManualClock>(0);
    GenericRateLimiter limiter({.bytes_per_second = 1'000'000,
                                .refill_period_us = 1000,
                                .fairness = 10,
                                .mode = mode,
                                .clock = clock});
    limiter.Request(1'000'000, IO_LOW, nullptr, op);
    EXPECT_EQ(limiter.IsRateLimited(op), clock->NowNanos() > 0);
    EXPECT_EQ(limiter.GetTotalRequests(IO_TOTAL), clock->NowNanos() > 0 ? 1 : 0);
    return clock->NowNanos() == 0;
  };
  EXPECT_FALSE(passes_at_once(Mode::kReadsOnly, OpType::kRead));
  EXPECT_TRUE(passes_at_once(Mode::kReadsOnly, OpType::kWrite));
  EXPECT_TRUE(passes_at_once(Mode::kWritesOnly, OpType::kRead));
  EXPECT_FALSE(passes_at_once(Mode::kWritesOnly, OpType::kWrite));
  EXPECT_FALSE(passes_at_once(Mode::kAllIo, OpType::kRead));
  EXPECT_FALSE(passes_at_once(Mode::kAllIo, OpType::kWrite));
}

TEST_F(RateLimiterTest, WaitsAreCountedForTheirOperation) {
  const std::shared_ptr<Statistics> statistics = CreateDBStatistics();
  const Recorder recorder(statistics.get());
  WaitForLimiter({.limiter = &limiter_}, 2500, recorder);
  EXPECT_EQ(clock_->NowNanos(), 2'000'000u);
  EXPECT_EQ(statistics->getTickerCount(RATE_LIMITER_BYTES_WRITE), 2500u);
  EXPECT_EQ(statistics->getTickerCount(RATE_LIMITER_REQUESTS_WRITE), 3u);
  EXPECT_EQ(statistics->getTickerCount(NUMBER_RATE_LIMITER_DRAINS), 2u);
  // The mode lets reads pass.
  WaitForLimiter({.limiter = &limiter_, .op = RateLimiter::OpType::kRead}, 2500, recorder);
  EXPECT_EQ(statistics->getTickerCount(RATE_LIMITER_BYTES_READ), 0u);
  GenericRateLimiter of_reads({.bytes_per_second = 1'000'000,
                               .refill_period_us = 1000,
                               .fairness = 10,
                               .mode = RateLimiter::Mode::kReadsOnly,
                               .clock = clock_});
  WaitForLimiter({.limiter = &of_reads, .op = RateLimiter::OpType::kRead}, 2500, recorder);
  EXPECT_EQ(statistics->getTickerCount(RATE_LIMITER_BYTES_READ), 2500u);
  EXPECT_EQ(statistics->getTickerCount(RATE_LIMITER_REQUESTS_READ), 3u);
  EXPECT_EQ(statistics->getTickerCount(RATE_LIMITER_BYTES_WRITE), 2500u);
  WaitForLimiter({}, 2500, recorder);
}

TEST(RateLimiter, TheTimeOfWaitsIsCountedAtALevelWithoutTimes) {
  const std::shared_ptr<Statistics> statistics = CreateDBStatistics();
  statistics->set_stats_level(kExceptTimers);
  GenericRateLimiter limiter({.bytes_per_second = 1'000'000,
                              .refill_period_us = 1000,
                              .fairness = 10,
                              .clock = MachineClock()});
  WaitForLimiter({.limiter = &limiter}, 20'000, Recorder(statistics.get()));
  EXPECT_GT(statistics->getTickerCount(RATE_LIMITER_TOTAL_WAIT_MICROS_WRITE), 10'000u);
  HistogramData waits;
  statistics->histogramData(RATE_LIMITER_WAIT_MICROS_WRITE, &waits);
  EXPECT_EQ(waits.count, 0u);
}

// A program's class whose bursts are 10 bytes.
class CountingLimiter : public RateLimiter {
 public:
  using RateLimiter::Request;
  void SetBytesPerSecond(int64_t /*bytes_per_second*/) override {}
  int64_t GetBytesPerSecond() const override { return 1; }
  int64_t GetSingleBurstBytes() const override { return 10; }
  int64_t GetTotalBytesThrough(IORequestPriority /*priority*/) const override { return bytes_; }
  int64_t GetTotalRequests(IORequestPriority /*priority*/) const override { return requests_; }

 protected:
  void Count(int64_t bytes) {
    EXPECT_LE(bytes, 10);
    bytes_ += bytes;
    requests_++;
  }

 private:
  int64_t bytes_ = 0;
  int64_t requests_ = 0;
};
class OverridesTheShortForm final : public CountingLimiter {
 public:
  using RateLimiter::Request;
  void Request(int64_t bytes, IORequestPriority /*priority*/) override { Count(bytes); }
};
class OverridesTheFormWithStatistics final : public CountingLimiter {
 public:
  using RateLimiter::Request;
  void Request(int64_t bytes, IORequestPriority /*priority*/, Statistics* /*statistics*/) override {
    Count(bytes);
  }
};
class OverridesTheFormWithTheOperation final : public CountingLimiter {
 public:
  using RateLimiter::Request;
  void Request(int64_t bytes, IORequestPriority /*priority*/, Statistics* /*statistics*/,
               OpType /*op*/) override {
    Count(bytes);
  }
};

template <typename Limiter>
void ExpectThatTheEngineAsks() {
  Limiter limiter;
  WaitForLimiter({.limiter = &limiter}, 25, Recorder());
  EXPECT_EQ(limiter.GetTotalBytesThrough(IO_TOTAL), 25);
  EXPECT_EQ(limiter.GetTotalRequests(IO_TOTAL), 3);
  EXPECT_TRUE(limiter.SetSingleBurstBytes(1).IsNotSupported());
  int64_t pending = 0;
  EXPECT_TRUE(limiter.GetTotalPendingRequests(&pending).IsNotSupported());
}

TEST(RateLimiter, AClassOfTheProgramMayOverrideAnyFormOfRequest) {
  ExpectThatTheEngineAsks<OverridesTheShortForm>();
  ExpectThatTheEngineAsks<OverridesTheFormWithStatistics>();
  ExpectThatTheEngineAsks<OverridesTheFormWithTheOperation>();
}

// At most 2,000,000 bytes per second, in periods of 1 ms. Only the test and sleepers move the
// clock.
class TunedRateLimiterTest : public testing::Test {
 protected:
  // Passes 100 periods. In each of the first `drained` a request waits for the refill.
  void PassWindow(int drained) {
    for (int period = 0; period < 100; period++) {
      if (period < drained) {
        limiter_.Request(limiter_.GetSingleBurstBytes() + 1, IO_LOW);
      } else {
        clock_->AdvanceMicros(1000);
      }
    }
    // The refill for this request ends the window.
    limiter_.Request(1, IO_LOW);
  }

  const std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>(0);
  GenericRateLimiter limiter_{{.bytes_per_second = 2'000'000,
                               .refill_period_us = 1000,
                               .fairness = 10,
                               .auto_tuned = true,
                               .clock = clock_}};
};

TEST_F(TunedRateLimiterTest, TheRateBeginsInTheMiddleOfItsRange) {
  EXPECT_EQ(limiter_.GetBytesPerSecond(), 1'000'000);
}

TEST_F(TunedRateLimiterTest, ABucketThatIsOftenDrainedRaisesTheRate) {
  PassWindow(91);
  EXPECT_EQ(clock_->NowNanos(), 100'000'000u);
  EXPECT_EQ(limiter_.GetBytesPerSecond(), 1'050'000);
  EXPECT_EQ(limiter_.GetSingleBurstBytes(), 1050);
}

TEST_F(TunedRateLimiterTest, ABucketThatIsSeldomDrainedLowersTheRate) {
  PassWindow(49);
  EXPECT_EQ(limiter_.GetBytesPerSecond(), 952'381);
}

TEST_F(TunedRateLimiterTest, BetweenTheMarksTheRateStays) {
  PassWindow(90);
  EXPECT_EQ(limiter_.GetBytesPerSecond(), 1'000'000);
  PassWindow(50);
  EXPECT_EQ(limiter_.GetBytesPerSecond(), 1'000'000);
}

TEST_F(TunedRateLimiterTest, AnIdleWindowTakesTheRateToItsLeast) {
  PassWindow(0);
  EXPECT_EQ(limiter_.GetBytesPerSecond(), 100'000);
  PassWindow(1);
  EXPECT_EQ(limiter_.GetBytesPerSecond(), 100'000);
}

TEST_F(TunedRateLimiterTest, DemandRaisesTheRateToItsMostAndNoFurther) {
  for (int window = 0; window < 20; window++) {
    const int64_t before = limiter_.GetBytesPerSecond();
    PassWindow(100);
    EXPECT_LE(limiter_.GetBytesPerSecond(), 2'000'000);
    EXPECT_TRUE(limiter_.GetBytesPerSecond() > before || before == 2'000'000);
  }
  EXPECT_EQ(limiter_.GetBytesPerSecond(), 2'000'000);
}

TEST_F(TunedRateLimiterTest, ARateOutsideOfTheRangeIsBroughtBackByTheNextTuning) {
  limiter_.SetBytesPerSecond(50'000'000);
  EXPECT_EQ(limiter_.GetBytesPerSecond(), 50'000'000);
  PassWindow(40);
  EXPECT_EQ(limiter_.GetBytesPerSecond(), 2'000'000);
  limiter_.SetBytesPerSecond(50'000'000);
  PassWindow(95);
  EXPECT_EQ(limiter_.GetBytesPerSecond(), 2'000'000);
}

// A clock whose sleeper sleeps until the test wakes it, so that the test controls the waiters at a
// refill.
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

// Returns the priority that gets the first refill when a high and a low request wait for it.
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
  // Both requests are made. The first one sleeps, and the second one is queued.
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

TEST(RateLimiter, RequestsThatWaitAreReported) {
  const auto clock = std::make_shared<SteppedClock>();
  GenericRateLimiter limiter(
      {.bytes_per_second = 1'000'000, .refill_period_us = 1000, .fairness = 10, .clock = clock});
  limiter.Request(1000, IO_LOW);
  Result<Thread> thread = Thread::Start({.name = "request"}, [&] { limiter.Request(1, IO_HIGH); });
  ASSERT_TRUE(thread.ok());
  clock->WaitForASleeper();
  int64_t pending = -1;
  EXPECT_TRUE(limiter.GetTotalPendingRequests(&pending, IO_TOTAL).ok());
  EXPECT_EQ(pending, 1);
  EXPECT_TRUE(limiter.GetTotalPendingRequests(&pending, IO_HIGH).ok());
  EXPECT_EQ(pending, 1);
  EXPECT_TRUE(limiter.GetTotalPendingRequests(&pending, IO_LOW).ok());
  EXPECT_EQ(pending, 0);
  clock->AdvanceMicros(1000);
  thread.value().Join();
  EXPECT_TRUE(limiter.GetTotalPendingRequests(&pending, IO_TOTAL).ok());
  EXPECT_EQ(pending, 0);
  EXPECT_TRUE(limiter.GetTotalPendingRequests(nullptr, IO_TOTAL).IsInvalidArgument());
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

// A period in which the rate amounts to less than a byte must not grant a byte.
TEST(RateLimiter, ALowRateIsKeptWhateverThePeriod) {
  for (const int64_t rate : {1, 3, 1000, 1500}) {
    SCOPED_TRACE(rate);
    const auto clock = std::make_shared<ManualClock>(0);
    GenericRateLimiter limiter(
        {.bytes_per_second = rate, .refill_period_us = 1, .fairness = 10, .clock = clock});
    limiter.Request(1 + 3 * rate, IO_LOW);
    EXPECT_GE(clock->NowNanos(), 3'000'000'000u);
    EXPECT_LE(clock->NowNanos(), 3'100'000'000u);
  }
}

TEST(RateLimiter, ARateThatIsNotPositiveIsRefusedWhereItIsUsed) {
  EXPECT_TRUE(CheckRateLimiter(nullptr).ok());
  for (const bool tuned : {false, true}) {
    for (const int64_t rate : {int64_t{0}, int64_t{-5}, INT64_MIN}) {
      const std::unique_ptr<RateLimiter> limiter(
          NewGenericRateLimiter(rate, 100'000, 10, RateLimiter::Mode::kWritesOnly, tuned));
      EXPECT_EQ(limiter->GetBytesPerSecond(), rate);
      const Status checked = CheckRateLimiter(limiter.get());
      EXPECT_TRUE(checked.IsInvalidArgument()) << checked.ToString();
      limiter->SetBytesPerSecond(1000);
      EXPECT_TRUE(CheckRateLimiter(limiter.get()).ok());
    }
  }
  OverridesTheShortForm of_the_program;
  EXPECT_TRUE(CheckRateLimiter(&of_the_program).ok());
}

TEST(RateLimiter, ARateThatIsNotPositiveDoesNotReplaceOne) {
  const std::unique_ptr<RateLimiter> limiter(NewGenericRateLimiter(1000));
  for (const int64_t rate : {int64_t{0}, int64_t{-1}, INT64_MIN}) {
    limiter->SetBytesPerSecond(rate);
    EXPECT_EQ(limiter->GetBytesPerSecond(), 1000);
  }
}

TEST(RateLimiter, OtherValuesOutOfRangeAreReplaced) {
  const std::unique_ptr<RateLimiter> tiny(NewGenericRateLimiter(0, -1, 0));
  EXPECT_EQ(tiny->GetSingleBurstBytes(), 1);
  const std::unique_ptr<RateLimiter> default_period(NewGenericRateLimiter(1'000'000, 0));
  EXPECT_EQ(default_period->GetSingleBurstBytes(), 100'000);
  const std::unique_ptr<RateLimiter> huge(NewGenericRateLimiter(INT64_MAX));
  EXPECT_GT(huge->GetSingleBurstBytes(), 0);
  const std::unique_ptr<RateLimiter> tuned(
      NewGenericRateLimiter(0, -1, 0, RateLimiter::Mode::kAllIo, true, -5));
  EXPECT_EQ(tuned->GetSingleBurstBytes(), 1);
  huge->Request(1 << 30, IO_LOW);
}

}  // namespace
}  // namespace ashlar
