#include "tests/kill/killed_child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/assert.h"

extern char** environ;

namespace ashlar {

namespace {

constexpr uint64_t kForever = std::numeric_limits<uint64_t>::max();

// The environment without the test framework's variables for shards and output files.
std::vector<std::string> ChildEnvironment(const LoadPlan& plan, int pipe) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (!text.starts_with("GTEST_") && !text.starts_with("TEST_")) variables.emplace_back(text);
  }
  variables.push_back("ASHLAR_KILL_DIRECTORY=" + plan.directory);
  variables.push_back("ASHLAR_KILL_THREADS=" + std::to_string(plan.threads));
  variables.push_back("ASHLAR_KILL_SYNC=" + std::to_string(plan.sync ? 1 : 0));
  variables.push_back("ASHLAR_KILL_PIPE=" + std::to_string(pipe));
  variables.push_back("ASHLAR_KILL_VARIANT=" + plan.variant);
  std::string commits;
  for (const uint64_t n : plan.commits) commits += std::to_string(n) + " ";
  variables.push_back("ASHLAR_KILL_COMMITS=" + commits);
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>* strings) {
  std::vector<char*> pointers;
  for (std::string& string : *strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

KilledChild::KilledChild(const LoadPlan& plan) {
  int ends[2];
  ASHLAR_ASSERT(pipe(ends) == 0);
  pipe_ = ends[0];
  ASHLAR_ASSERT(fcntl(pipe_, F_SETFD, FD_CLOEXEC) == 0);
  std::vector<std::string> environment = ChildEnvironment(plan, ends[1]);
  std::vector<std::string> arguments = {"kill_test", "--gtest_filter=" + plan.load,
                                        "--gtest_also_run_disabled_tests", "--gtest_brief=1"};
  const int started = posix_spawn(&process_, "/proc/self/exe", nullptr, nullptr,
                                  Pointers(&arguments).data(), Pointers(&environment).data());
  ASHLAR_ASSERT(started == 0);
  close(ends[1]);
}

KilledChild::~KilledChild() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  close(pipe_);
}

bool KilledChild::Read(LoadReport* report, uint64_t micros) {
  struct pollfd ready = {.fd = pipe_, .events = POLLIN, .revents = 0};
  const int timeout_ms = micros == kForever ? -1 : static_cast<int>((micros + 999) / 1000);
  if (poll(&ready, 1, timeout_ms) <= 0) return false;
  return read(pipe_, report, sizeof(*report)) == static_cast<ssize_t>(sizeof(*report));
}

void KilledChild::Note(const LoadReport& report) {
  switch (report.kind) {
    case LoadReport::kOpened: opened_ = true; break;
    case LoadReport::kCommitted: acknowledged_[report.thread] = report.commit; break;
    case LoadReport::kFailed: failed_ = true; break;
    default: break;
  }
}

bool KilledChild::Await(uint64_t reports, LoadReport::Kind kind) {
  LoadReport report;
  uint64_t seen = 0;
  while (seen < reports && Read(&report, kForever)) {
    Note(report);
    if (report.kind == kind) ++seen;
  }
  return seen == reports && !failed_;
}

void KilledChild::ReadWaiting() {
  LoadReport report;
  while (Read(&report, 0)) Note(report);
}

bool KilledChild::KillAt(const Moment& moment) {
  LoadReport report;
  const bool in_time = Await(moment.reports, moment.kind);
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(moment.micros);
  // Meanwhile, reads the reports from the pipe, so that the child does not wait for the parent.
  while (std::chrono::steady_clock::now() < end) {
    if (Read(&report, 0)) Note(report);
  }
  kill(process_, SIGKILL);
  while (Read(&report, kForever)) Note(report);
  int status = 0;
  waitpid(process_, &status, 0);
  process_ = -1;
  return in_time && !failed_ && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

bool KilledChild::AwaitEnd() {
  LoadReport report;
  while (Read(&report, kForever)) Note(report);
  int status = 0;
  waitpid(process_, &status, 0);
  process_ = -1;
  return !failed_ && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool PlanOfThisChild(LoadPlan* plan, int* pipe) {
  const char* const directory = std::getenv("ASHLAR_KILL_DIRECTORY");
  if (directory == nullptr) return false;
  plan->directory = directory;
  plan->threads = std::atoi(std::getenv("ASHLAR_KILL_THREADS"));
  plan->sync = std::atoi(std::getenv("ASHLAR_KILL_SYNC")) != 0;
  *pipe = std::atoi(std::getenv("ASHLAR_KILL_PIPE"));
  plan->variant = std::getenv("ASHLAR_KILL_VARIANT");
  std::istringstream commits(std::getenv("ASHLAR_KILL_COMMITS"));
  for (uint64_t n = 0; commits >> n;) plan->commits.push_back(n);
  return true;
}

void SendReport(int pipe, const LoadReport& report) {
  ASHLAR_ASSERT(write(pipe, &report, sizeof(report)) == static_cast<ssize_t>(sizeof(report)));
}

}  // namespace ashlar
