#include "ashlar/system_clock.h"

#include "observe/info_log.h"
#include "platform/clock.h"

namespace ashlar {
namespace {

class DefaultClock final : public SystemClock {
 public:
  const char* Name() const override { return kDefaultName(); }
  uint64_t NowMicros() override { return UnixMicros(); }
  uint64_t NowNanos() override { return MonotonicNanos(); }
  uint64_t CPUMicros() override { return ThreadCpuNanos() / 1000; }
  uint64_t CPUNanos() override { return ThreadCpuNanos(); }
  void SleepForMicroseconds(int micros) override {
    if (micros > 0) SleepForMicros(static_cast<uint64_t>(micros));
  }
  Status GetCurrentTime(int64_t* unix_seconds) override {
    *unix_seconds = static_cast<int64_t>(UnixMicros() / 1000000);
    return Status::OK();
  }
  std::string TimeToString(uint64_t unix_seconds) override {
    return FormatUnixMicros(unix_seconds * 1000000);
  }
};

}  // namespace

const std::shared_ptr<SystemClock>& SystemClock::Default() {
  // Never destroyed, because the last jobs may run after static destructors have begun.
  static const std::shared_ptr<SystemClock>& clock =
      *new std::shared_ptr<SystemClock>(std::make_shared<DefaultClock>());
  return clock;
}

Status SystemClock::CreateFromString(const ConfigOptions&, const std::string& value,
                                     std::shared_ptr<SystemClock>* result) {
  if (!value.empty() && value != kDefaultName())
    return Status::NotSupported("only its program can make the clock", value);
  *result = Default();
  return Status::OK();
}

SystemClockWrapper::SystemClockWrapper(const std::shared_ptr<SystemClock>& target)
    : target_(target) {}

}  // namespace ashlar
