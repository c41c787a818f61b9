#include "tests/concurrency/pair_run.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace ashlar {
namespace {

// The wanted number of meetings, and the minimum if the calls of a pair are so slow that more would
// take longer than kPairTimeMax.
constexpr uint64_t kMeetingsWanted = 20;
constexpr uint64_t kMeetingsMin = 3;
constexpr std::chrono::milliseconds kPairTimeMax{15};
// A pair with too few meetings fails after this many rounds.
constexpr uint64_t kRoundsMax = 2000;

}  // namespace

void Rounds::Run(size_t side, Repeat repeat, const std::function<void()>& call) {
  while (Begin()) {
    do {
      under_way_[side] = true;
      if (under_way_[1 - side]) have_met_ = true;
      call();
      under_way_[side] = false;
      has_ended_one_[side] = true;
    } while (repeat != Repeat::kOnce && !has_ended_one_[1 - side] &&
             !(repeat == Repeat::kUntilTheyMeet && have_met_));
  }
}

bool Rounds::Begin() {
  MutexLock lock(mutex_);
  const uint64_t round = begun_rounds_;
  if (++waiting_ < 2) {
    while (begun_rounds_ == round) begun_.Wait(mutex_);
    return !have_ended_;
  }
  waiting_ = 0;
  if (have_met_.exchange(false)) ++meetings_;
  for (std::atomic<bool>& ended : has_ended_one_) ended = false;
  if (!goes_on_(round, meetings_)) have_ended_ = true;
  ++begun_rounds_;
  begun_.SignalAll();
  return !have_ended_;
}

namespace {

Rounds::Repeat RepeatOf(const PairWork& work, size_t side) {
  if (work.closes[side]) return Rounds::Repeat::kOnce;
  return work.HasOneRound() ? Rounds::Repeat::kUntilTheyMeet : Rounds::Repeat::kUntilTheOtherEnds;
}

}  // namespace

uint64_t RunPair(const PairWork& work) {
  SCOPED_TRACE(work.name);
  const auto start = std::chrono::steady_clock::now();
  std::atomic<size_t> workers_ended{0};
  Rounds rounds([&](uint64_t made, uint64_t meetings) {
    if (::testing::Test::HasFailure()) return false;
    if (work.HasOneRound()) return made == 0;
    if (workers_ended < work.workers.size()) return true;
    if (meetings < kMeetingsMin) return made < kRoundsMax;
    return meetings < kMeetingsWanted && std::chrono::steady_clock::now() < start + kPairTimeMax;
  });
  std::vector<std::thread> threads;
  for (const std::function<void()>& worker : work.workers) {
    threads.emplace_back([&] {
      SCOPED_TRACE(work.name);
      worker();
      ++workers_ended;
    });
  }
  threads.emplace_back([&] {
    SCOPED_TRACE(work.name);
    // Close waits for a read's pinned values, too.
    while (!rounds.HaveEnded() && !(work.HasOneRound() && rounds.have_met())) work.read();
  });
  for (size_t side = 0; side < 2; ++side) {
    threads.emplace_back([&, side] {
      SCOPED_TRACE(work.name);
      rounds.Run(side, RepeatOf(work, side), [&] { work.call(side); });
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (!work.HasOneRound() && !::testing::Test::HasFailure()) {
    EXPECT_GE(rounds.meetings(), kMeetingsMin) << "the calls do not run at once";
  }
  return rounds.meetings();
}

}  // namespace ashlar
