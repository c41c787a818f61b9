// PairRun: two calls that begin together, round after round, while other threads work.
//
//   side 0   wait | call call call call call      | wait |   ...the next round
//   side 1   wait | call----------------------    | wait |
//
// In a round each side makes its call until the other side has ended one (Repeat has exceptions).
// So a short call is repeated until a long one ends, and until the other thread has a processor.
//
// A meeting is a round in which a call began while a call of the other side was running. A call
// is running while its flag is set. The flags are sequentially consistent, so the later one of
// two overlapping calls sees the other. One long call counts once, however many short ones it
// meets.
//
// A side blocks until the next round. On a busy machine, a thread that spins would keep the other
// thread from running.
//
// I1: between two rounds no side is in a call. A call releases all that it takes (a pause, the lock
//     of the log), so a side that waits for the next round blocks nothing.
// I2: one thread decides whether there is another round, so both sides make the same rounds.
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

// Thread safety: each of two threads calls Run once, and any thread calls the rest.
class Rounds {
 public:
  // Called between two rounds with the numbers so far. Returns whether there is another round.
  using Decision = std::function<bool(uint64_t rounds, uint64_t meetings)>;

  explicit Rounds(Decision goes_on) : goes_on_(std::move(goes_on)) {}

  // kOnce: one call in a round, however long the other side takes. kUntilTheyMeet: for a call whose
  // resources the other side may wait for, as Close waits for snapshots. If it were repeated any
  // longer, one call after another could keep the other side waiting forever.
  enum class Repeat : uint8_t { kUntilTheOtherEnds, kUntilTheyMeet, kOnce };
  // Makes the calls of side 0 or 1. Returns after the last round.
  void Run(size_t side, Repeat repeat, const std::function<void()>& call);
  bool HaveEnded() const { return have_ended_.load(); }
  // Whether the calls of the present round have met.
  bool have_met() const { return have_met_.load(); }
  uint64_t meetings() const {
    MutexLock lock(mutex_);
    return meetings_;
  }

 private:
  // Waits for the other side. Returns false if there is no other round.
  bool Begin();

  const Decision goes_on_;
  std::atomic<bool> have_ended_{false};
  // State of the present round.
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
  // Each runs once, on a thread of its own. The rounds continue until all have ended.
  std::vector<std::function<void()>> workers;
  // Runs repeatedly on a thread of its own until the last round or, with one round, until the two
  // calls have met.
  std::function<void()> read;
  // True for calls that end the object they run on, as Close does. Then there is one round. These
  // sides make one call, and the other side repeats its call only until the two have met, because a
  // second call would use an object that has ended.
  std::array<bool, 2> closes = {};

  bool HasOneRound() const { return closes[0] || closes[1]; }
};

// Returns the number of meetings. The test fails if there are too few, except with one round.
uint64_t RunPair(const PairWork& work);

}  // namespace ashlar
