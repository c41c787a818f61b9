// differential: runs random histories on several libraries with RocksDB's C interface (README.md).
#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/differential/history.h"
#include "tests/differential/known_differences.h"
#include "tests/differential/peer.h"
#include "tests/differential/reducer.h"
#include "tests/differential/runner.h"

namespace ashlar::differential {

namespace {

const char* const kUsage =
    "usage: differential [--histories N] [--operations N] [--seed S] [--seconds N] [--scratch "
    "DIR]\n"
    "                    [--keep-going] [--no-reduction] [--keep]\n"
    "                    [--replay FILE | --print SEED] NAME=LIBRARY...\n"
    "       differential --peer LIBRARY\n";

struct Settings {
  uint64_t histories = 100;
  uint64_t seed = 1;
  uint64_t seconds = 0;  // 0: no limit
  HistoryLimits limits;
  std::string scratch;
  std::string replay;
  bool print = false;
  bool keep_going = false;
  bool reduction = true;
  bool keep = false;
  std::vector<std::unique_ptr<Peer>> peers;
};

[[noreturn]] void FailUsage(const std::string& text) {
  std::fprintf(stderr, "differential: %s\n%s", text.c_str(), kUsage);
  std::exit(2);
}

uint64_t ParseNumber(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty())
    FailUsage("not a number: '" + std::string(text) + "'");
  return number;
}

Settings ParseArguments(int count, char** arguments) {
  Settings settings;
  settings.scratch = (std::filesystem::temp_directory_path() /
                      ("ashlar-differential-" + std::to_string(::getpid())))
                         .string();
  for (int i = 1; i < count; i++) {
    const std::string argument = arguments[i];
    const auto next = [&]() -> std::string {
      if (i + 1 == count) FailUsage(argument + " takes a value");
      return arguments[++i];
    };
    if (argument == "--histories") {
      settings.histories = ParseNumber(next());
    } else if (argument == "--operations") {
      settings.limits.operations = ParseNumber(next());
    } else if (argument == "--seed") {
      settings.seed = ParseNumber(next());
    } else if (argument == "--seconds") {
      settings.seconds = ParseNumber(next());
    } else if (argument == "--scratch") {
      settings.scratch = next();
    } else if (argument == "--replay") {
      settings.replay = next();
    } else if (argument == "--print") {
      settings.print = true;
      settings.seed = ParseNumber(next());
    } else if (argument == "--keep-going") {
      settings.keep_going = true;
    } else if (argument == "--no-reduction") {
      settings.reduction = false;
    } else if (argument == "--keep") {
      settings.keep = true;
    } else if (const size_t equals = argument.find('='); equals != std::string::npos) {
      settings.peers.push_back(
          std::make_unique<Peer>(argument.substr(0, equals), argument.substr(equals + 1)));
    } else {
      FailUsage("unknown argument '" + argument + "'");
    }
  }
  if (settings.peers.empty() && !settings.print) FailUsage("no library");
  return settings;
}

History ReadHistory(const std::string& file) {
  std::ifstream input(file);
  if (!input) FailUsage("cannot read " + file);
  History history;
  for (std::string line; std::getline(input, line);) {
    if (!line.empty() && line[0] != '#') history.push_back(line);
  }
  return history;
}

// The runner closes the database after the last line.
std::string LineAt(const History& history, size_t line) {
  return line < history.size() ? history[line] : "close";
}

std::string VerbOf(const std::string& line) { return line.substr(0, line.find(' ')); }

void PrintDivergence(const Runner& runner, const History& history, const Divergence& divergence) {
  std::printf("differ at line %zu: %s\n", divergence.line + 1,
              LineAt(history, divergence.line).c_str());
  for (size_t i = 0; i < divergence.answers.size(); i++)
    std::printf("  %-16s %s\n", runner.peers()[i]->name().c_str(), divergence.answers[i].c_str());
}

// Prints the divergence, then reduces the history and prints it.
void Report(Runner* runner, const History& history, const Divergence& divergence, bool reduction) {
  PrintDivergence(*runner, history, divergence);
  if (!reduction) return;
  // A line with the same verb must differ, because a shorter history may differ for another reason.
  const std::string verb = VerbOf(LineAt(history, divergence.line));
  const auto diverges = [&](const History& candidate) {
    const std::optional<Divergence> found = runner->Run(candidate);
    return found && VerbOf(LineAt(candidate, found->line)) == verb;
  };
  const History reduced = Reduce(history, diverges, std::chrono::seconds(60));
  const std::optional<Divergence> again = runner->Run(reduced);
  std::printf("reduced from %zu to %zu lines%s:\n", history.size(), reduced.size(),
              again ? "" : ", which agree when run once more");
  for (const std::string& line : reduced) std::printf("    %s\n", line.c_str());
  if (again) PrintDivergence(*runner, reduced, *again);
}

bool IsRocksDB(const Peer& peer) { return peer.name().starts_with("rocksdb-"); }

bool Died(const std::string& answer) { return answer.starts_with("died"); }

// Whether the answer to `line` refuses a directory as corrupt.
bool RefusesDirectory(const std::string& line, const std::string& answer) {
  const bool opens = line.starts_with("open @") || line.starts_with("families @");
  return opens && answer.starts_with("error Corruption");
}

// The only library that died or refused a directory, if it is a RocksDB and all others agree.
std::optional<size_t> OnlyFailedRocksDB(const Runner& runner, const std::string& line,
                                        const std::vector<std::string>& answers) {
  std::optional<size_t> failed;
  std::string common;
  for (size_t i = 0; i < answers.size(); i++) {
    const std::string answer = Comparable(answers[i]);
    if (Died(answer) || RefusesDirectory(line, answer)) {
      if (failed || !IsRocksDB(*runner.peers()[i])) return {};
      failed = i;
    } else if (common.empty()) {
      common = answer;
    } else if (answer != common) {
      return {};
    }
  }
  return failed;
}

// Returns whether only one RocksDB failed, and also fails without Ashlar: it dies when it runs the
// history alone, or refuses a directory on the same line when only RocksDBs run the history.
bool FailsWithoutAshlar(const Runner& runner, const History& history, const Divergence& divergence,
                        const std::string& scratch) {
  const std::string line = LineAt(history, divergence.line);
  const std::optional<size_t> failed = OnlyFailedRocksDB(runner, line, divergence.answers);
  if (!failed) return false;
  const bool died = Died(divergence.answers[*failed]);
  size_t failed_again = 0;
  std::vector<std::unique_ptr<Peer>> peers;
  for (size_t i = 0; i < runner.peers().size(); i++) {
    const Peer& peer = *runner.peers()[i];
    if (i == *failed) failed_again = peers.size();
    if (i == *failed || (!died && IsRocksDB(peer)))
      peers.push_back(std::make_unique<Peer>(peer.name(), peer.library()));
  }
  Runner without(std::move(peers), scratch + "-without");
  const std::optional<Divergence> again = without.Run(history);
  if (!again) return false;
  const std::string& answer = again->answers[failed_again];
  return died ? Died(answer) : again->line == divergence.line && RefusesDirectory(line, answer);
}

void PrintCounts(const Counts& counts, uint64_t divergences, uint64_t failures) {
  std::printf(
      "%llu histories, %llu operations, %llu directories exchanged, of these %llu after a kill; "
      "%llu divergences\n",
      static_cast<unsigned long long>(counts.histories),
      static_cast<unsigned long long>(counts.operations),
      static_cast<unsigned long long>(counts.exchanges),
      static_cast<unsigned long long>(counts.kills), static_cast<unsigned long long>(divergences));
  for (const auto& [reason, count] : counts.known_differences)
    std::printf("  known difference, %llu times: %s\n", static_cast<unsigned long long>(count),
                std::string(reason).c_str());
  if (failures != 0)
    std::printf("  %llu histories were cut off: one RocksDB fails in them without Ashlar, too\n",
                static_cast<unsigned long long>(failures));
}

int RunHistories(Settings* settings) {
  Runner runner(std::move(settings->peers), settings->scratch);
  if (settings->keep) runner.keep_directories();
  const auto start = std::chrono::steady_clock::now();
  uint64_t divergences = 0;
  uint64_t failures = 0;  // of one RocksDB that also fails without Ashlar
  Counts counts;          // without the runs of reductions
  const uint64_t histories = settings->replay.empty() ? settings->histories : 1;
  for (uint64_t i = 0; i < histories; i++) {
    if (settings->seconds > 0 &&
        std::chrono::steady_clock::now() - start > std::chrono::seconds(settings->seconds))
      break;
    const uint64_t seed = settings->seed + i;
    const History history = settings->replay.empty() ? MakeHistory(seed, settings->limits)
                                                     : ReadHistory(settings->replay);
    const std::optional<Divergence> divergence = runner.Run(history);
    counts = runner.counts();
    if (!divergence) continue;
    if (FailsWithoutAshlar(runner, history, *divergence, settings->scratch)) {
      failures++;
      continue;
    }
    divergences++;
    if (settings->replay.empty())
      std::printf("\nseed %llu: ", static_cast<unsigned long long>(seed));
    Report(&runner, history, *divergence, settings->reduction);
    std::fflush(stdout);
    if (!settings->keep_going) break;
  }
  PrintCounts(counts, divergences, failures);
  return divergences == 0 ? 0 : 1;
}

int Main(int count, char** arguments) {
  if (count == 3 && std::string_view(arguments[1]) == "--peer") return RunPeer(arguments[2]);
  // Peer::Receive reports a peer that died.
  ::signal(SIGPIPE, SIG_IGN);
  Settings settings = ParseArguments(count, arguments);
  if (!settings.print) return RunHistories(&settings);
  for (const std::string& line : MakeHistory(settings.seed, settings.limits))
    std::printf("%s\n", line.c_str());
  return 0;
}

}  // namespace

}  // namespace ashlar::differential

int main(int count, char** arguments) { return ashlar::differential::Main(count, arguments); }
