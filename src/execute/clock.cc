#include "execute/clock.h"

#include "platform/clock.h"

namespace ashlar {
namespace {

class RealClock final : public Clock {
 public:
  uint64_t NowNanos() override { return MonotonicNanos(); }
  uint64_t NowUnixMicros() override { return UnixMicros(); }
  void SleepForMicros(uint64_t micros) override { ashlar::SleepForMicros(micros); }
  void WaitForMicros(CondVar& condition, Mutex& mutex, uint64_t micros) override
      ASHLAR_REQUIRES(mutex) {
    condition.TimedWait(mutex, micros);
  }
};

}  // namespace

std::shared_ptr<Clock> MachineClock() {
  static const std::shared_ptr<Clock>& clock =
      *new std::shared_ptr<Clock>(std::make_shared<RealClock>());
  return clock;
}

}  // namespace ashlar
