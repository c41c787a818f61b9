// db_bench: measures the store, with the command lines, workloads and output of RocksDB's db_bench.
// docs/tools.md is the manual.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "ashlar/version.h"
#include "platform/program.h"
#include "tools/db_bench/bench.h"
#include "tools/db_bench/flags.h"
#include "tools/db_bench/workload.h"

namespace ashlar::bench {
namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;
constexpr int kNoMeasuringBuild = 3;

// Returns why figures of this build would mislead people who quote them, or null if they would not.
constexpr const char* WhyNotMeasured() {
#if !defined(NDEBUG)
  return "a debug build";
#elif defined(ASHLAR_SANITIZED)
  return "a sanitizer build";
#elif defined(__GNUC__) && !defined(__OPTIMIZE__)
  return "a build without optimisation";
#else
  return nullptr;
#endif
}

std::string Help() {
  std::string text =
      "db_bench [--flag=value]...\n"
      "Measures the store. Flags are those of RocksDB's db_bench.\n"
      "WITHOUT --use_existing_db=1 A DATABASE IN --db IS DESTROYED.\n"
      "\nWorkloads, for --benchmarks=NAME,NAME[X3],...:\n";
  for (const Workload* const workload : Workloads())
    text += fmt::format("  {:<24}{}\n", workload->name, workload->summary);
  text += FlagsHelp();
  text +=
      "\nExit codes: 0 done, 1 a workload or the database failed, 2 the command line makes no "
      "sense, 3 this build does not measure.\n";
  return text;
}

int Main(const std::vector<std::string>& arguments) {
  CommandLine command_line;
  Status s = ParseCommandLine(arguments, &command_line);
  std::vector<Step> steps;
  if (s.ok()) s = ParseSteps(command_line.flags.benchmarks, &steps);
  if (!s.ok()) {
    fmt::print(stderr, "db_bench: {}\n          see db_bench --help\n", s.getState());
    return kUsage;
  }
  if (command_line.help) {
    fmt::print("{}", Help());
    return 0;
  }
  if (command_line.version) {
    fmt::print("db_bench version {}\n", GetAshlarVersionAsString());
    return 0;
  }
  if (WhyNotMeasured() != nullptr) {
    fmt::print(stderr,
               "db_bench: {} measures nothing worth knowing; build with the release preset\n",
               WhyNotMeasured());
    if (!command_line.flags.any_build) return kNoMeasuringBuild;
  }
  for (const std::string& notice : command_line.notices)
    fmt::print(stderr, "db_bench: {}\n", notice);
  s = Bench(command_line.flags).Run();
  if (s.ok()) return fflush(stdout) == 0 ? 0 : kFailed;
  fmt::print(stderr, "db_bench: {}\n", s.ToString());
  return kFailed;
}

}  // namespace
}  // namespace ashlar::bench

int main(int argc, char** argv) {
  return ashlar::bench::Main(ashlar::ProgramArguments(argc, argv));
}
