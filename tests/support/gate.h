// Gate: threads wait in front of it until another one opens it. Closed at first; open for good.
//
// std::latch and the waits of std::atomic are not for tests: under Windows, libstdc++ 12 loses
// their wake-ups.
//
// Thread safety: all methods. The gate outlives every call.
#pragma once

#include <condition_variable>
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

}  // namespace ashlar
