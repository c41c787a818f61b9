#include "tools/db_bench/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include "ashlar/iterator.h"
#include "ashlar/perf_context.h"
#include "base/random.h"
#include "tools/db_bench/interval_report.h"
#include "tools/db_bench/run_monitor.h"
#include "tools/db_bench/starting_gate.h"
#include "tools/db_bench/worker.h"

namespace ashlar::bench {
namespace {

constexpr int kRefillMicros = 100 * 1000;

Status UnknownWorkload(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Workload* const workload : Workloads()) names.push_back(workload->name);
  const std::string nearest = NearestName(name, names);
  return Status::InvalidArgument(fmt::format(
      "unknown benchmark '{}'{}", name, nearest.empty() ? "" : "; did you mean " + nearest + "?"));
}

// Parses the "W1-X3" in brackets.
Status ParseRepetitions(std::string_view text, Step* step) {
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find('-'));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    int count = 0;
    const auto [end, code] =
        word.size() < 2 ? std::from_chars_result{word.data(), std::errc::invalid_argument}
                        : std::from_chars(word.data() + 1, word.data() + word.size(), count);
    const bool number = code == std::errc() && end == word.data() + word.size() &&
                        count >= (word[0] == 'X' ? 1 : 0);
    if (!number || (word[0] != 'X' && word[0] != 'W')) {
      return Status::InvalidArgument(fmt::format(
          "unknown benchmark arguments '[{}]': X3 runs three times, W1 once before to warm up",
          text));
    }
    (word[0] == 'X' ? step->repetitions : step->warm_ups) = count;
  }
  return Status::OK();
}

std::unique_ptr<RateLimiter> LimiterFor(int64_t per_second) {
  return std::unique_ptr<RateLimiter>(
      per_second > 0 ? NewGenericRateLimiter(per_second, kRefillMicros) : nullptr);
}

int ThreadsOf(const Workload& workload, const Flags& flags) {
  switch (workload.threads) {
    case Workload::Threads::kAsAsked: return flags.threads;
    case Workload::Threads::kOne: return 1;
    case Workload::Threads::kWithWriter: return flags.threads + 1;
  }
  return 1;
}

void AppendPerfContext(ThreadStats* stats) {
  if (!stats->message.empty()) stats->message += " ";
  stats->message += "PERF_CONTEXT:\n" + get_perf_context()->ToString();
}

// Runs the measured work of a thread.
Status RunMeasured(const Workload& workload, Worker* worker) {
  const bool perf = worker->flags.perf_level > kDisable;
  SetPerfLevel(static_cast<PerfLevel>(worker->flags.perf_level));
  get_perf_context()->Reset();
  worker->stats.Begin();
  Status s =
      worker->database.tree() != nullptr ? workload.run_on_tree(*worker) : workload.run(*worker);
  worker->stats.End();
  if (perf) AppendPerfContext(&worker->stats);
  return s;
}

std::string MessageOf(const Workload& workload, const Totals& totals) {
  std::string message;
  const auto append = [&](const std::string& text) {
    message += (message.empty() || text.empty() ? "" : " ") + text;
  };
  if (workload.describe != nullptr) append(workload.describe(totals.tally));
  if (totals.writer_seconds > 0) {
    append(fmt::format("( meanwhile: {} writes {:.0f} writes/sec )", totals.writer_ops,
                       static_cast<double>(totals.writer_ops) / totals.writer_seconds));
  }
  append(totals.message);
  return message;
}

}  // namespace

std::string DescribeFound(const Tally& tally) {
  return fmt::format("({} of {} found)", tally.found, tally.reads);
}

Status ParseSteps(const std::string& benchmarks, std::vector<Step>* steps) {
  for (std::string_view rest = benchmarks; !rest.empty();) {
    const std::string_view entry = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
    if (entry.empty()) continue;
    const std::string_view name = entry.substr(0, entry.find('['));
    Step step;
    step.workload = FindWorkload(name);
    if (step.workload == nullptr) return UnknownWorkload(name);
    if (entry.size() > name.size()) {
      if (!entry.ends_with(']'))
        return Status::InvalidArgument(fmt::format("'{}' lacks a ]", entry));
      Status s =
          ParseRepetitions(entry.substr(name.size() + 1, entry.size() - name.size() - 2), &step);
      if (!s.ok()) return s;
    }
    steps->push_back(step);
  }
  return Status::OK();
}

Bench::Bench(const Flags& flags) : flags_(flags), database_(flags_), report_(flags_) {}

Status Bench::Run() {
  std::vector<Step> steps;
  Status s = ParseSteps(flags_.benchmarks, &steps);
  for (const Step& step : steps) {
    if (s.ok() && flags_.engine == "pmem" && step.workload->run_on_tree == nullptr) {
      s = Status::InvalidArgument(
          fmt::format("benchmark '{}' does not run with --engine=pmem", step.workload->name));
    }
  }
  if (s.ok()) s = database_.Prepare();
  if (!s.ok()) return s;
  // Checked before a database is destroyed and hours are measured for nothing.
  if (!flags_.json.empty() && OpenStream(flags_.json, StreamMode::kAppend) == nullptr)
    return Status::IOError("cannot write " + flags_.json);
  if (flags_.seed == 0) {
    flags_.seed = std::chrono::duration_cast<std::chrono::microseconds>(
                      std::chrono::system_clock::now().time_since_epoch())
                      .count();
    fmt::print("Set seed to {} because --seed was 0\n", flags_.seed);
  }
  if (flags_.report_interval_seconds > 0) {
    interval_file_ = OpenStream(flags_.report_file, StreamMode::kWrite);
    if (interval_file_ == nullptr) return Status::IOError("cannot write " + flags_.report_file);
    fmt::print(interval_file_.get(), "secs_elapsed,interval_qps\n");
  }
  s = OpenAtStart();
  if (s.ok() && flags_.use_existing_keys) s = ReadExistingKeys();
  if (!s.ok()) return s;

  report_.PrintHeader(database_.options());
  for (const Step& step : steps) {
    s = RunStep(step);
    if (!s.ok()) {
      (void)fflush(stdout);
      return Status(s).WithContext(step.workload->name);
    }
  }
  if (database_.statistics() != nullptr)
    fmt::print("STATISTICS:\n{}\n", database_.statistics()->ToString());
  s = database_.Close();
  if (s.ok() && !flags_.json.empty()) s = report_.WriteJson(flags_.json);
  return s;
}

Status Bench::OpenAtStart() {
  if (!flags_.use_existing_db) {
    Status s = database_.Destroy();
    if (!s.ok()) return s;
  }
  return database_.Open(/*for_bulk_load=*/false);
}

Status Bench::ReadExistingKeys() {
  const std::unique_ptr<Iterator> iterator(database_.db().NewIterator(ReadOptions()));
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next())
    existing_keys_.push_back(iterator->key().ToString());
  if (iterator->status().ok() && existing_keys_.empty())
    return Status::InvalidArgument("--use_existing_keys: the database has no keys");
  flags_.num = static_cast<int64_t>(existing_keys_.size());
  return iterator->status();
}

Status Bench::MakeFresh(bool for_bulk_load) {
  Status s = database_.Close();
  if (s.ok()) s = database_.Destroy();
  return s.ok() ? database_.Open(for_bulk_load) : s;
}

Status Bench::RunStep(const Step& step) {
  const Workload& workload = *step.workload;
  if (workload.needs != Workload::Needs::kDatabase) {
    if (flags_.use_existing_db) {
      report_.PrintSkipped(workload.name);
      return Status::OK();
    }
    Status s = MakeFresh(workload.needs == Workload::Needs::kBulkLoadDatabase);
    if (!s.ok()) return s;
  }
  if (workload.act != nullptr) return workload.act(flags_, database_);

  Flags flags = flags_;
  if (workload.adjust != nullptr) workload.adjust(&flags);
  fmt::print("DB path: [{}]\n", database_.path());
  if (step.warm_ups > 0) fmt::print("Warming up benchmark by running {} times\n", step.warm_ups);
  for (int i = 0; i < step.warm_ups; ++i) {
    RunResult result;
    Status s = RunThreads(workload, flags, &result);
    if (!s.ok()) return s;
    fmt::print("{}\n", ResultLine(result));
  }
  if (step.repetitions > 1) fmt::print("Running benchmark for {} times\n", step.repetitions);
  for (int i = 0; i < step.repetitions; ++i) {
    RunResult result;
    Status s = RunThreads(workload, flags, &result);
    if (!s.ok()) return s;
    result.repetition = i;
    report_.Add(std::move(result));
    if (step.repetitions > 1) report_.PrintRepetitions(static_cast<size_t>(i) + 1, /*final=*/false);
  }
  if (step.repetitions > 1)
    report_.PrintRepetitions(static_cast<size_t>(step.repetitions), /*final=*/true);
  return Status::OK();
}

Status Bench::RunThreads(const Workload& workload, const Flags& flags, RunResult* result) {
  const int threads = ThreadsOf(workload, flags);
  const bool with_writer = workload.threads == Workload::Threads::kWithWriter;
  SharedRun shared;
  shared.write_limiter = LimiterFor(flags.benchmark_write_rate_limit);
  shared.read_limiter = LimiterFor(flags.benchmark_read_rate_limit);
  shared.measured_at_work = with_writer ? threads - 1 : threads;

  Random seeds(static_cast<uint64_t>(flags.seed) + ++runs_);
  std::vector<std::unique_ptr<Worker>> workers;
  for (int id = 0; id < threads; ++id) {
    const auto interval_report = std::make_shared<IntervalReport>(flags, database_, id);
    const ThreadStats::Settings stats_settings = {
        .histogram = flags.histogram,
        .report_ops = OpsBetweenIntervalReports(flags),
        .report = [interval_report](ThreadStats* stats) { interval_report->Write(*stats); }};
    workers.push_back(std::make_unique<Worker>(flags, &database_, &shared,
                                               existing_keys_.empty() ? nullptr : &existing_keys_,
                                               id, seeds.Next(), stats_settings));
  }

  RunMonitor monitor(flags, workload.name, workers, interval_file_.get(), start_);
  std::vector<Status> statuses(workers.size());
  {
    StartingGate start(workers.size());
    std::vector<std::jthread> running;
    for (size_t i = 0; i < workers.size(); ++i) {
      running.emplace_back([&, i] {
        start.Pass();
        statuses[i] = RunMeasured(workload, workers[i].get());
        if (!statuses[i].ok()) shared.failed.store(true, std::memory_order_relaxed);
        if (!workers[i]->stats.is_writer)
          shared.measured_at_work.fetch_sub(1, std::memory_order_relaxed);
        monitor.Ended();
      });
    }
    monitor.WatchUntilAllEnded();
  }
  for (const Status& s : statuses) {
    if (!s.ok()) return s;
  }

  result->workload = workload.name;
  result->threads = flags.threads;
  for (const auto& worker : workers) result->totals.Add(worker->stats);
  result->message = MessageOf(workload, result->totals);
  return Status::OK();
}

}  // namespace ashlar::bench
