// PairRun: two calls that begin together, round after round, while other threads work.
//
//   side 0   wait | call call call call call      | wait |   ...the next round
//   side 1   wait | call----------------------    | wait |
//
// In a round each side makes its call until the other side has ended one (Repeat has exceptions).
// So a short call is repeated until a long one ends, and until the other thread has a processor.
//
// A meeting is a round in which a call began while one of the other side was under way. A call is
// under way from a flag before it to the same flag after it, which are sequentially consistent: of
// two calls that overlap, the one that begins later sees the other. One long call counts once,
// however many short ones it meets.
//
// A side waits for the next round without a processor. On a busy machine a thread that spins for
// the other one would keep it from running.
//
// I1: between two rounds no side is in a call. A call gives back all that it takes (a pause, the
//     lock of the log), so a side that waits for the next round holds up nothing.
// I2: one thread decides whether there is another round, so both sides make the same ones.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "platform/mutex.h"

namespace ashlar {

// Thread safety: Run once by each of two threads; the rest by any.
class Rounds {
 public:
  // Called between two rounds with the numbers so far: whether there is another one.
  using Decision = std::function<bool(uint64_t rounds, uint64_t meetings)>;

  explicit Rounds(Decision goes_on) : goes_on_(std::move(goes_on)) {}

  // kOnce: one call in a round, however long the other side takes. kUntilTheyMeet: the call of the
  // other side may wait for what this side's call has taken, as Close does for snapshots; repeated
  // any longer, one call after another could keep it waiting for ever.
  enum class Repeat : uint8_t { kUntilTheOtherEnds, kUntilTheyMeet, kOnce };
  // The calls of side 0 or 1. Returns after the last round.
  void Run(size_t side, Repeat repeat, const std::function<void()>& call);
  bool HaveEnded() const { return have_ended_.load(); }
  // In the round that is under way.
  bool have_met() const { return have_met_.load(); }
  uint64_t meetings() const {
    MutexLock lock(mutex_);
    return meetings_;
  }

 private:
  // Waits for the other side. False: there is no other round.
  bool Begin();

  const Decision goes_on_;
  std::atomic<bool> have_ended_{false};
  // Of the round.
  std::array<std::atomic<bool>, 2> under_way_{};
  std::array<std::atomic<bool>, 2> has_ended_one_{};
  std::atomic<bool> have_met_{false};

  mutable Mutex mutex_;
  CondVar begun_;
  uint64_t begun_rounds_ ASHLAR_GUARDED_BY(mutex_) = 0;
  uint64_t waiting_ ASHLAR_GUARDED_BY(mutex_) = 0;
  uint64_t meetings_ ASHLAR_GUARDED_BY(mutex_) = 0;
};

struct PairWork {
  std::string name;  // of the pair, in failures
  std::function<void(size_t side)> call;
  // Each runs once, on a thread of its own. The rounds go on until all have ended.
  std::vector<std::function<void()>> workers;
  // Runs on a thread of its own, again and again until the last round; with one round, until the
  // two have met.
  std::function<void()> read;
  // For calls that end the object they run on, as Close does. There is one round, in which these
  // sides make one call, and the other side repeats its call only until the two have met. A second
  // call would use an object that has ended.
  std::array<bool, 2> closes = {};

  bool HasOneRound() const { return closes[0] || closes[1]; }
};

// Returns the meetings. The test fails if there are too few, except with one round.
uint64_t RunPair(const PairWork& work);

}  // namespace ashlar
