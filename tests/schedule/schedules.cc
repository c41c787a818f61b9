#include "tests/schedule/schedules.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <latch>
#include <thread>
#include <vector>

#include "platform/thread.h"
#include "tests/schedule/scheduler.h"
#include "tests/support/from_environment.h"

namespace ashlar::test {
namespace {

// More than the threads of any run.
constexpr uint32_t kThreadSlots = 24;

std::atomic<uint64_t> running_seed{0};

void Write(const char* begin, const char* end) {
  static_cast<void>(!::write(STDERR_FILENO, begin, static_cast<size_t>(end - begin)));
}

// Prints the seed after the message of an assertion or an invalid access, which ends the process.
// Makes only calls that are allowed in a signal handler.
void NameSeed(int signal) {
  static constexpr char kText[] = "in the schedule of seed ";
  char number[24];
  char* const end = std::to_chars(number, std::end(number) - 1, running_seed.load()).ptr;
  *end = '\n';
  Write(kText, std::end(kText) - 1);
  Write(number, end + 1);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

void PrepareSchedules(const std::function<void()>& body) {
  body();
  std::latch all_have_one(kThreadSlots);
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < kThreadSlots; ++i) {
    threads.emplace_back([&] {
      CurrentThreadSlot();
      all_have_one.arrive_and_wait();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void ForEachSchedule(uint64_t schedules, const std::function<void(uint64_t seed)>& body) {
  const uint64_t first = FromEnvironment("ASHLAR_SCHEDULE_SEED", 1);
  const uint64_t effort = FromEnvironment("ASHLAR_SCHEDULE_EFFORT", 1);
  const uint64_t number = std::getenv("ASHLAR_SCHEDULE_ONLY") != nullptr ? 1 : schedules * effort;
  PrepareSchedules([&] { body(first); });
  for (const int signal : {SIGABRT, SIGSEGV}) std::signal(signal, &NameSeed);
  ScheduleResult all;
  for (uint64_t seed = first; seed < first + number && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(::testing::Message() << "ASHLAR_SCHEDULE_ONLY=1 ASHLAR_SCHEDULE_SEED=" << seed
                                      << " repeats this schedule");
    running_seed.store(seed);
    const ScheduleResult result = RunScheduled(seed, [&] { body(seed); });
    all.points += result.points;
    all.switches += result.switches;
    if (::testing::Test::HasFailure()) ADD_FAILURE() << "in the schedule of seed " << seed;
  }
  for (const int signal : {SIGABRT, SIGSEGV}) std::signal(signal, SIG_DFL);
  std::printf(
      "%llu schedules, %llu switches at %llu points\n", static_cast<unsigned long long>(number),
      static_cast<unsigned long long>(all.switches), static_cast<unsigned long long>(all.points));
}

}  // namespace ashlar::test
