// The time of an Env as a SystemClock, and a program's SystemClock as the time of an Env.
#include "ashlar/system_clock.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/file_system.h"
#include "tests/support/expect_ok.h"

namespace ashlar {
namespace {

constexpr uint64_t kSeconds = 1700000000;

// A clock that always returns the same time.
class StandingClock final : public SystemClockWrapper {
 public:
  StandingClock() : SystemClockWrapper(SystemClock::Default()) {}
  static const char* kClassName() { return "StandingClock"; }
  const char* Name() const override { return kClassName(); }
  uint64_t NowMicros() override { return kSeconds * 1000000; }
  Status GetCurrentTime(int64_t* unix_seconds) override {
    *unix_seconds = static_cast<int64_t>(kSeconds);
    return Status::OK();
  }
};

class EnvWithOwnTime final : public EnvWrapper {
 public:
  EnvWithOwnTime() : EnvWrapper(Env::Default()) {}
  uint64_t NowMicros() override { return 42; }
  uint64_t NowNanos() override { return 42001; }
  uint64_t NowCPUNanos() override { return 7000; }
  void SleepForMicroseconds(int micros) override { slept_micros += micros; }
  std::string TimeToString(uint64_t) override { return "noon"; }
  int slept_micros = 0;
};

TEST(SystemClockTest, TheDefaultIsTheTimeOfTheDefaultEnv) {
  const std::shared_ptr<SystemClock>& clock = SystemClock::Default();
  EXPECT_EQ(Env::Default()->GetSystemClock(), clock);
  EXPECT_TRUE(clock->IsInstanceOf(SystemClock::kDefaultName()));
  int64_t seconds = 0;
  ASSERT_OK(clock->GetCurrentTime(&seconds));
  EXPECT_LE(static_cast<uint64_t>(seconds), clock->NowMicros() / 1000000);
  EXPECT_GT(seconds, 1600000000);
  const uint64_t before = clock->NowNanos();
  EXPECT_LE(before, clock->NowNanos());
  EXPECT_EQ(clock->TimeToString(kSeconds), Env::Default()->TimeToString(kSeconds));
  const std::unique_ptr<Env> memory(NewMemEnv(nullptr));
  EXPECT_EQ(memory->GetSystemClock(), clock);
}

TEST(SystemClockTest, OnlyTheDefaultIsMadeFromText) {
  const ConfigOptions options;
  std::shared_ptr<SystemClock> clock;
  ASSERT_OK(SystemClock::CreateFromString(options, "", &clock));
  EXPECT_EQ(clock, SystemClock::Default());
  clock.reset();
  ASSERT_OK(SystemClock::CreateFromString(options, "DefaultClock", &clock));
  EXPECT_EQ(clock, SystemClock::Default());
  EXPECT_TRUE(SystemClock::CreateFromString(options, "StandingClock", &clock).IsNotSupported());
}

TEST(SystemClockTest, TheTimeOfAnEnvIsSeenThroughItsClock) {
  EnvWithOwnTime env;
  SystemClock& clock = *env.GetSystemClock();
  EXPECT_EQ(clock.NowMicros(), 42u);
  EXPECT_EQ(clock.NowNanos(), 42001u);
  EXPECT_EQ(clock.CPUNanos(), 7000u);
  EXPECT_EQ(clock.CPUMicros(), 7u);
  clock.SleepForMicroseconds(11);
  EXPECT_EQ(env.slept_micros, 11);
  EXPECT_EQ(clock.TimeToString(0), "noon");
  // An Env around it has the same time.
  EXPECT_EQ(NewCompositeEnv(env.GetFileSystem(), &env)->NowMicros(), 42u);
}

TEST(SystemClockTest, ADatabaseTakesTheTimeOfTheProgramsClock) {
  const auto clock = std::make_shared<StandingClock>();
  const std::unique_ptr<Env> memory(NewMemEnv(nullptr));
  const std::unique_ptr<Env> env = NewCompositeEnv(memory->GetFileSystem(), clock, memory.get());
  EXPECT_EQ(env->GetSystemClock(), clock);
  EXPECT_EQ(env->NowMicros(), kSeconds * 1000000);
  int64_t seconds = 0;
  ASSERT_OK(env->GetCurrentTime(&seconds));
  EXPECT_EQ(seconds, static_cast<int64_t>(kSeconds));
  EXPECT_EQ(env->GetSystemClock()->CheckedCast<StandingClock>(), clock.get());

  Options options;
  options.env = env.get();
  options.create_if_missing = true;
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, "/db", &db));
  ASSERT_OK(db->Put(WriteOptions(), "key", "value"));
  ASSERT_OK(db->Flush(FlushOptions()));
  TablePropertiesCollection tables;
  ASSERT_OK(db->GetPropertiesOfAllTables(&tables));
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables.begin()->second->file_creation_time, kSeconds);
}

}  // namespace
}  // namespace ashlar
