// Gate: threads wait at it until another thread opens it. It starts closed and, once opened, stays
// open. Tickets: one thread pays for the work of another, so that the amount of that work is the
// same on fast and slow systems.
//
// Tests use neither std::latch nor the waits of std::atomic, because libstdc++ 12 loses their
// wake-ups under Windows.
//
// Thread safety: all methods. The object must outlive every call.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace ashlar {

class Gate {
 public:
  void Open() {
    const std::scoped_lock lock(mutex_);
    is_open_ = true;
    opened_.notify_all();
  }
  void Wait() {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [this] { return is_open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool is_open_ = false;
};

class Tickets {
 public:
  void Add() {
    const std::scoped_lock lock(mutex_);
    ++tickets_;
    changed_.notify_all();
  }
  // Waits for `count` tickets. Returns false once End was called.
  bool Take(uint64_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_ || tickets_ >= count; });
    if (ended_) return false;
    tickets_ -= count;
    return true;
  }
  void End() {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t tickets_ = 0;
  bool ended_ = false;
};

}  // namespace ashlar
