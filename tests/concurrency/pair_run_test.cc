// Tests the rounds of a pair with calls that are made for this purpose.
#include "tests/concurrency/pair_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <utility>

#include "tests/support/gate.h"

namespace ashlar {
namespace {

constexpr Rounds::Repeat kRepeats = Rounds::Repeat::kUntilTheOtherEnds;

PairWork WorkOf(std::function<void(size_t side)> call) {
  return {.name = "a pair", .call = std::move(call), .workers = {}, .read = [] {}};
}

TEST(PairRunTest, CallsThatDoNothingMeet) {
  EXPECT_GE(RunPair(WorkOf([](size_t) {})), 3U);
}

// Short calls begin during a long one, which ends after a thousand of them. It counts none of an
// earlier round, because it could then end before any short one, be repeated, and wait.
TEST(PairRunTest, AShortCallIsRepeatedUntilALongOneEnds) {
  Gate long_call;
  std::atomic<uint64_t> short_calls{0};
  uint64_t long_calls = 0;
  PairWork work = WorkOf([&](size_t side) {
    if (side == 0) {
      long_call.Wait();
      ++short_calls;
    } else {
      ++long_calls;
      long_call.Open();
      const uint64_t enough = short_calls + 1000;
      while (short_calls < enough) std::this_thread::yield();
    }
  });
  EXPECT_GE(RunPair(work), 3U);
  EXPECT_GE(long_calls, 3U);
}

// Close waits until the other side has no snapshot, so that side must not take one after another.
TEST(PairRunTest, ACallIsNotRepeatedWhileTheOneThatClosesWaits) {
  for (int pair = 0; pair < 100; ++pair) {
    std::atomic<uint64_t> begun{0};
    PairWork work = WorkOf([&](size_t side) {
      if (side == 0) {
        ++begun;
        return;
      }
      while (begun == 0) std::this_thread::yield();
      const uint64_t met = begun;
      for (int i = 0; i < 100; ++i) std::this_thread::yield();
      EXPECT_LE(begun, met + 1);
    });
    work.closes[1] = true;
    RunPair(work);
    if (HasFailure()) return;
  }
}

// Close waits until no read has pinned a value, so one read must not follow another.
TEST(PairRunTest, NothingIsReadAnewWhileTheCallThatClosesWaits) {
  for (int pair = 0; pair < 100; ++pair) {
    Gate closing;
    Gate other;
    std::atomic<uint64_t> reads{0};
    PairWork work = WorkOf([&](size_t side) {
      (side == 0 ? other : closing).Open();
      (side == 0 ? closing : other).Wait();
      if (side == 0) return;
      const uint64_t met = reads;
      for (int i = 0; i < 100; ++i) std::this_thread::yield();
      EXPECT_LE(reads, met + 1);
    });
    work.read = [&] { ++reads; };
    work.closes[1] = true;
    RunPair(work);
    if (HasFailure()) return;
  }
}

// The other side ends its call long after the one that closes.
TEST(PairRunTest, ACallThatClosesIsMadeOnce) {
  Gate closed;
  std::atomic<uint64_t> closes{0};
  PairWork work = WorkOf([&](size_t side) {
    if (side == 0) {
      closed.Wait();
    } else {
      ++closes;
      closed.Open();
    }
  });
  work.closes[1] = true;
  EXPECT_LE(RunPair(work), 1U);
  EXPECT_EQ(closes, 1U);
}

TEST(PairRunTest, NoCallOfARoundRunsInTheNextOne) {
  std::atomic<uint64_t> under_way{0};
  uint64_t rounds = 0;
  Rounds run([&](uint64_t made, uint64_t meetings) {
    EXPECT_EQ(under_way, 0U);
    EXPECT_EQ(made, rounds);
    EXPECT_LE(meetings, made);
    return ++rounds <= 200;
  });
  const auto call = [&] {
    ++under_way;
    --under_way;
  };
  std::thread other([&] { run.Run(1, kRepeats, call); });
  run.Run(0, kRepeats, call);
  other.join();
  EXPECT_EQ(rounds, 201U);
  EXPECT_TRUE(run.HaveEnded());
  EXPECT_GT(run.meetings(), 0U);
}

TEST(PairRunTest, NoSideBeginsARoundAlone) {
  std::array<std::atomic<uint64_t>, 2> calls{};
  Rounds run([&](uint64_t made, uint64_t) { return made < 100; });
  Gate gate;
  std::thread first([&] { run.Run(0, kRepeats, [&] { ++calls[0]; }); });
  std::thread late([&] {
    gate.Wait();
    run.Run(1, kRepeats, [&] { ++calls[1]; });
  });
  EXPECT_EQ(calls[0], 0U);
  gate.Open();
  first.join();
  late.join();
  EXPECT_GE(std::min(calls[0].load(), calls[1].load()), 100U);
}

TEST(PairRunTest, TheRoundsGoOnUntilTheWorkersHaveEnded) {
  std::atomic<uint64_t> calls{0};
  std::atomic<uint64_t> reads{0};
  Tickets made;
  PairWork work = WorkOf([&](size_t) {
    ++calls;
    made.Add();
  });
  work.read = [&] { ++reads; };
  work.workers = {[&] { EXPECT_TRUE(made.Take(100'000)); }};
  RunPair(work);
  EXPECT_GE(calls, 100'000U);
  EXPECT_GT(reads, 0U);
}

}  // namespace
}  // namespace ashlar
