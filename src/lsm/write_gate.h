// WriteGate: whether writers may go on, slow down, or have to wait, as the tree's shape demands. The decision is made where views change
// (compact/plan, ComputeStall); the commit leader only reads it.
//
//   kOpen  <-->  kDelayed (a byte rate)  <-->  kStopped (until the background work catches up)
//
// Thread safety: Set under the database mutex; the rest by the commit leader.
#pragma once

#include <atomic>
#include <cstdint>

namespace ashlar {

class WriteGate {
 public:
  enum class State : uint8_t { kOpen, kDelayed, kStopped };

  void Set(State state, uint64_t bytes_per_second) {
    bytes_per_second_.store(bytes_per_second, std::memory_order_relaxed);
    state_.store(state, std::memory_order_release);
  }
  void SetCompactionBehind(bool behind) { behind_.store(behind, std::memory_order_relaxed); }
  // Low-priority writers give way.
  bool CompactionBehind() const { return behind_.load(std::memory_order_relaxed); }
  State state() const { return state_.load(std::memory_order_acquire); }
  uint64_t bytes_per_second() const { return bytes_per_second_.load(std::memory_order_relaxed); }

  // How long the leader has to wait before it may write `bytes` more at the delayed rate. Time that no write used is credited up to kCreditUs.
  uint64_t DelayMicros(uint64_t now_us, uint64_t bytes) {
    const uint64_t rate = bytes_per_second();
    if (rate == 0) return 0;
    if (next_us_ + kCreditUs < now_us) next_us_ = now_us - kCreditUs;
    next_us_ += bytes * 1000000 / rate;
    return next_us_ > now_us ? next_us_ - now_us : 0;
  }

 private:
  static constexpr uint64_t kCreditUs = 1000;

  std::atomic<State> state_{State::kOpen};
  std::atomic<bool> behind_{false};
  std::atomic<uint64_t> bytes_per_second_{0};
  uint64_t next_us_ = 0;  // commit leader only: when the bytes written so far are paid for
};

}  // namespace ashlar
