// SteadyState: decides when a workload of rounds has run long enough. The bytes written per Put
// since round 0, which fills the tree, must change by less than 5 % from one round to the next.
//
//   round 0 (not counted) -> round 1 -> round 2 ... -> steady, or kRoundsMax
//
// The mean since round 0 decides, not that of one round, because compactions of most of the data
// occur in one round and not in the next. Two compared libraries run the same number of rounds, the
// larger of what each needs (run.py), so that they write the same.
//
// Thread safety: one thread.
#pragma once

#include <cmath>
#include <cstdint>

namespace ashlar::bench {

class SteadyState {
 public:
  static constexpr uint64_t kRoundsMin = 8;
  static constexpr uint64_t kRoundsMax = 16;
  static constexpr double kMove = 0.05;

  // rounds: the number of rounds, at least kRoundsMin. 0: until steady.
  explicit SteadyState(uint64_t rounds) : rounds_wanted_(rounds) {}

  void AddRound(uint64_t written_bytes, uint64_t puts) {
    if (rounds_++ == 0) return;
    written_bytes_ += written_bytes;
    puts_ += puts;
    const double before = written_per_put_;
    written_per_put_ = static_cast<double>(written_bytes_) / static_cast<double>(puts_);
    steady_ = rounds_ >= kRoundsMin && std::abs(written_per_put_ - before) <= kMove * before;
  }
  bool Ended() const {
    return rounds_wanted_ != 0 ? rounds_ >= rounds_wanted_ : steady_ || rounds_ >= kRoundsMax;
  }

  uint64_t rounds() const { return rounds_; }
  bool steady() const { return steady_; }  // the last two rounds agree
  double written_per_put() const { return written_per_put_; }

 private:
  const uint64_t rounds_wanted_;
  uint64_t rounds_ = 0;
  uint64_t written_bytes_ = 0;
  uint64_t puts_ = 0;
  double written_per_put_ = 0;
  bool steady_ = false;
};

}  // namespace ashlar::bench
