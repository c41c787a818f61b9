// SystemClock: the time of an Env. A program with its own time derives from it, or from
// SystemClockWrapper, and makes an Env with it by NewCompositeEnv or the constructor of Env.
//
// I1: an Env and its SystemClock have the same time. GetSystemClock() of an Env that was made
//     without a clock returns a clock that calls the methods of the Env.
//
// RocksDB's TimedWait is not here, because the engine waits for conditions by the system's time. A
// clock must not call the database, because the database also reads the time under its locks.
//
// Thread safety: every method may be called by several threads at once. Lifetime: an Env shares its
// clock. The clock of an Env that was made without one may be called as long as the Env lives.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/status.h"

namespace ashlar {

class ASHLAR_API SystemClock : public Customizable {
 public:
  static const char* Type() { return "SystemClock"; }
  static const char* kDefaultName() { return "DefaultClock"; }
  // For "DefaultClock" or an empty text, *result is Default(). NotSupported: other clocks, which
  // only their programs can make.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 std::shared_ptr<SystemClock>* result);
  // The operating system's time; lives as long as the process.
  static const std::shared_ptr<SystemClock>& Default();

  const char* Name() const override = 0;

  // NowMicros: microseconds since 1970. NowNanos: nanoseconds of a monotonic clock with an
  // unspecified start; the default calls NowMicros.
  virtual uint64_t NowMicros() = 0;
  virtual uint64_t NowNanos() { return NowMicros() * 1000; }
  // Processor time of the calling thread. Defaults: CPUMicros is 0 (unknown); CPUNanos calls it.
  virtual uint64_t CPUMicros() { return 0; }
  virtual uint64_t CPUNanos() { return CPUMicros() * 1000; }
  virtual void SleepForMicroseconds(int micros) = 0;
  // Seconds since 1970; unchanged after an error.
  virtual Status GetCurrentTime(int64_t* unix_seconds) = 0;
  // Seconds since 1970 as text.
  virtual std::string TimeToString(uint64_t unix_seconds) = 0;
};

// Passes every call on to its target, except Name.
class ASHLAR_API SystemClockWrapper : public SystemClock {
 public:
  explicit SystemClockWrapper(const std::shared_ptr<SystemClock>& target);

  uint64_t NowMicros() override { return target_->NowMicros(); }
  uint64_t NowNanos() override { return target_->NowNanos(); }
  uint64_t CPUMicros() override { return target_->CPUMicros(); }
  uint64_t CPUNanos() override { return target_->CPUNanos(); }
  void SleepForMicroseconds(int micros) override { target_->SleepForMicroseconds(micros); }
  Status GetCurrentTime(int64_t* unix_seconds) override {
    return target_->GetCurrentTime(unix_seconds);
  }
  std::string TimeToString(uint64_t unix_seconds) override {
    return target_->TimeToString(unix_seconds);
  }
  const Customizable* Inner() const override { return target_.get(); }

 protected:
  std::shared_ptr<SystemClock> target_;
};

}  // namespace ashlar
