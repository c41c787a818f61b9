#include "ashlar/env.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "execute/executor.h"

namespace ashlar {
namespace {

TEST(Env, TheDefaultIsOneAndRunsJobs) {
  Env* const env = Env::Default();
  ASSERT_EQ(env, Env::Default());
  std::atomic<int> ran = 0;
  for (const Executor::Priority priority : {Executor::Priority::kHigh, Executor::Priority::kLow}) {
    ASSERT_TRUE(env->executor()->Schedule(priority, [&ran] { ran.fetch_add(1); }));
  }
  env->executor()->WaitForIdle();
  EXPECT_EQ(ran.load(), 2);
}

TEST(Env, ThreadsAreRaisedAndNeverLoweredByNeed) {
  Env* const env = Env::Default();
  env->SetBackgroundThreads(2, Env::LOW);
  env->IncBackgroundThreadsIfNeeded(1, Env::LOW);
  EXPECT_EQ(env->GetBackgroundThreads(Env::LOW), 2);
  env->IncBackgroundThreadsIfNeeded(3, Env::LOW);
  EXPECT_EQ(env->GetBackgroundThreads(Env::LOW), 3);
}

TEST(Env, NumbersOfThreadsReadBackForPrioritiesWithoutAQueue) {
  Env* const env = Env::Default();
  const int low = env->GetBackgroundThreads(Env::LOW);
  for (const Env::Priority priority : {Env::BOTTOM, Env::USER}) {
    env->SetBackgroundThreads(5, priority);
    EXPECT_EQ(env->GetBackgroundThreads(priority), 5);
    env->IncBackgroundThreadsIfNeeded(4, priority);
    EXPECT_EQ(env->GetBackgroundThreads(priority), 5);
    env->IncBackgroundThreadsIfNeeded(6, priority);
    EXPECT_EQ(env->GetBackgroundThreads(priority), 6);
    env->SetBackgroundThreads(-1, priority);
    EXPECT_EQ(env->GetBackgroundThreads(priority), 0);
  }
  EXPECT_EQ(env->GetBackgroundThreads(Env::TOTAL), 0);
  EXPECT_EQ(env->GetBackgroundThreads(Env::LOW), low);
}

TEST(Env, FilesInMemoryAreSeenThroughTheirEnvOnly) {
  const std::unique_ptr<Env> one(NewMemEnv(Env::Default()));
  const std::unique_ptr<Env> other(NewMemEnv(nullptr));
  ASSERT_TRUE(one->CreateDir("/only-in-one").ok());
  EXPECT_TRUE(one->FileExists("/only-in-one").ok());
  EXPECT_FALSE(other->FileExists("/only-in-one").ok());
  EXPECT_FALSE(Env::Default()->FileExists("/only-in-one").ok());
  EXPECT_EQ(one->executor(), Env::Default()->executor());
  const std::unique_ptr<Env> composite = NewCompositeEnv(one->EngineFiles());
  EXPECT_TRUE(composite->FileExists("/only-in-one").ok());
}

TEST(Env, ClocksAgree) {
  Env* const env = Env::Default();
  int64_t seconds = 0;
  ASSERT_TRUE(env->GetCurrentTime(&seconds).ok());
  EXPECT_LE(static_cast<uint64_t>(seconds), env->NowMicros() / 1000000);
  EXPECT_GT(seconds, 1600000000);
  const uint64_t before = env->NowNanos();
  EXPECT_LE(before, env->NowNanos());
}

}  // namespace
}  // namespace ashlar
