// bench_driver: runs a few workloads on one database of one library, and prints their costs as
// JSON. bench/run.py starts it for every library in turn.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "bench/driver/engine.h"
#include "bench/driver/fail.h"
#include "bench/driver/instruction_counter.h"
#include "bench/driver/latency.h"
#include "bench/driver/steady_state.h"
#include "bench/driver/workloads.h"

#if !defined(__OPTIMIZE__)
#error "A benchmark of a program that is not optimised says nothing: build the release."
#endif

namespace ashlar::bench {
namespace {

using nlohmann::json;

json LatenciesAsJson(const LatencyHistogram& histogram) {
  if (histogram.count() == 0) return nullptr;
  const double ticks_per_us = TicksPerNanosecond() * 1000;
  const auto us = [&](uint64_t ticks) { return static_cast<double>(ticks) / ticks_per_us; };
  json curve = json::array();
  for (const double quantile : {0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.995,
                                0.999, 0.9995, 0.9999, 0.99999}) {
    curve.push_back({quantile, us(histogram.Quantile(quantile))});
  }
  return {{"p50_us", us(histogram.Quantile(0.5))},
          {"p99_us", us(histogram.Quantile(0.99))},
          {"p999_us", us(histogram.Quantile(0.999))},
          {"max_us", us(histogram.max())},
          {"curve", std::move(curve)}};
}

json ResultAsJson(const Result& result) {
  const double operations = static_cast<double>(std::max<uint64_t>(result.operations, 1));
  json samples = json::array();
  for (const Sampler::Sample& sample : result.samples)
    samples.push_back({sample.at_s, sample.operations, sample.flushes, sample.compactions});
  json out = {
      {"workload", result.workload},
      {"operations", result.operations},
      {"wall_s", result.usage.wall_s},
      {"foreground_s", result.foreground_s},
      {"cpu_s", result.usage.cpu_s},
      {"wall_us_per_op", result.usage.wall_s * 1e6 / operations},
      {"cpu_us_per_op", result.usage.cpu_s * 1e6 / operations},
      {"written_bytes", result.usage.written_bytes},
      {"storage_bytes", result.usage.storage_bytes},
      {"read_bytes", result.usage.read_bytes},
      {"folder_bytes", result.folder_bytes},
      {"peak_memory_bytes", result.peak_memory_bytes},
      {"latency", LatenciesAsJson(result.latencies)},
      {"found", result.tally.found},
      {"found_bytes", result.tally.bytes},
      {"checksum", std::to_string(result.tally.checksum)},
      {"contents", std::to_string(result.contents_hash)},
      {"samples", std::move(samples)},
  };
  if (const SteadyFigures& steady = result.steady; steady.rounds > 0) {
    out["rounds"] = steady.rounds;
    out["steady"] = steady.is_steady;
    out["written_bytes_per_put"] = steady.written_bytes_per_put;
    out["written_per_byte"] = steady.written_per_byte;
    out["disk_per_live_byte"] = steady.disk_per_live_byte;
    out["disk_per_live_byte_max"] = steady.disk_per_live_byte_max;
    out["runs_per_get"] = steady.runs_per_get;
    out["runs_per_seek"] = steady.runs_per_seek;
  }
  if (result.side_writes_asked_per_s > 0) {
    out["side_writes_per_s"] = static_cast<double>(result.side_writes) / result.usage.wall_s;
    out["side_writes_asked_per_s"] = result.side_writes_asked_per_s;
  }
  if (result.copies_counted) {
    out["copied_bytes_per_op"] = static_cast<double>(result.copied_bytes) / operations;
    out["copied_values_per_op"] = static_cast<double>(result.copied_values) / operations;
  }
  return out;
}

uint64_t ParseNumber(const std::string& text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0)
    Fail("not a positive number: " + text);
  return number;
}

// Parses "readrandom", "readrandom:100000" or "readrandom:100000:2".
Task ParseTask(const std::string& text, uint64_t operations) {
  const std::vector<std::string> parts = CLI::detail::split(text, ':');
  if (parts.size() > 3) Fail("a workload is name[:operations[:threads]], not " + text);
  const std::vector<std::string> names = Runner::WorkloadNames();
  if (std::find(names.begin(), names.end(), parts[0]) == names.end())
    Fail("no workload is called " + parts[0]);
  return {.workload = parts[0],
          .operations = parts.size() > 1 ? ParseNumber(parts[1]) : operations,
          .threads = parts.size() > 2 ? ParseNumber(parts[2]) : 1};
}

// Sets the engine options that the shape requires.
void FitEngineToShape(RunOptions* run) {
  const uint64_t entry_bytes = run->dataset.key_bytes + run->dataset.value_bytes;
  uint64_t memtable_entries = 0;
  switch (run->shape) {
    case Shape::kEmpty:
    case Shape::kCompacted: return;
    case Shape::kRuns: memtable_entries = run->dataset.num / run->runs + 1; break;
    case Shape::kMemtable:
    case Shape::kMerged: memtable_entries = run->dataset.num; break;
  }
  run->engine.auto_compactions = false;
  run->engine.put_operator = run->shape == Shape::kMerged;
  // Twice the data and 100 bytes per entry, because no library's memtable is less dense.
  run->engine.write_buffer_bytes =
      std::max(run->engine.write_buffer_bytes, memtable_entries * (2 * entry_bytes + 100));
}

int Main(int argc, char** argv) {
  std::string library;
  std::string engine_name = "rocksdb";
  std::vector<std::string> workloads;
  RunOptions run;
  run.dataset.num = 100000;
  bool keep = false;
  double cache_share = 0;

  const std::map<std::string, Reads> reads_names = {{"cache", Reads::kBlockCache},
                                                    {"pagecache", Reads::kPageCache},
                                                    {"mmap", Reads::kMmap},
                                                    {"direct", Reads::kDirect}};
  const std::map<std::string, Shape> shape_names = {{"empty", Shape::kEmpty},
                                                    {"compacted", Shape::kCompacted},
                                                    {"runs", Shape::kRuns},
                                                    {"memtable", Shape::kMemtable},
                                                    {"merged", Shape::kMerged}};
  const std::map<std::string, KeyLayout> layout_names = {{"plain", KeyLayout::kPlain},
                                                         {"prefixed", KeyLayout::kPrefixed},
                                                         {"grouped", KeyLayout::kGrouped},
                                                         {"random", KeyLayout::kRandom}};
  const std::map<std::string, TableKind> table_names = {{"block", TableKind::kBlock},
                                                        {"plain", TableKind::kPlain}};
  const std::map<std::string, CacheKind> cache_names = {{"hyper-clock", CacheKind::kHyperClock},
                                                        {"lru", CacheKind::kLru}};
  const std::map<std::string, MemtableKind> memtable_names = {
      {"default", MemtableKind::kDefault},
      {"vector", MemtableKind::kVector},
      {"prefix_hash", MemtableKind::kPrefixHash}};
  const std::map<std::string, Order> order_names = {
      {"bytewise", Order::kBytewise}, {"reverse", Order::kReverse}, {"custom", Order::kCustom}};
  const std::map<std::string, int> compression_names = {
      {"none", 0}, {"snappy", 1}, {"lz4", 4}, {"zstd", 7}};

  CLI::App app("Runs workloads on one library and prints what they cost as JSON.", "bench_driver");
  app.add_option("--library", library, "shared library to load");
  app.add_option(
      "--engine", engine_name,
      "its interface: rocksdb (also Ashlar's), leveldb, lmdb, or none for the driver alone");
  app.add_option("--workloads", workloads,
                 "one after the other, on one database: name[:operations[:threads]]")
      ->delimiter(',')
      ->required();
  app.add_option("--dir", run.engine.dir, "folder for the database; must not exist")->required();
  app.add_flag("--keep", keep, "do not delete the folder afterwards");
  app.add_option("--shape", run.shape, "what the database looks like before the first workload")
      ->transform(CLI::CheckedTransformer(shape_names));
  app.add_option("--runs", run.runs, "sorted runs of the shape 'runs'")->check(CLI::PositiveNumber);
  app.add_option("--num", run.dataset.num, "keys")->check(CLI::PositiveNumber);
  app.add_option("--write-rate", run.write_rate, "of the writer beside readers, per second");
  app.add_option("--key-bytes", run.dataset.key_bytes);
  app.add_option("--value-bytes", run.dataset.value_bytes);
  app.add_option("--layout", run.dataset.layout, "of keys")
      ->transform(CLI::CheckedTransformer(layout_names));
  app.add_option("--group", run.dataset.group, "keys per prefix");
  app.add_option("--prefix-bytes", run.dataset.prefix_bytes);
  app.add_option("--seed", run.dataset.seed);
  app.add_option("--access", run.engine.reads, "how tables are read")
      ->transform(CLI::CheckedTransformer(reads_names));
  app.add_option("--cache", run.engine.cache_kind, "RocksDB's kind of block cache")
      ->transform(CLI::CheckedTransformer(cache_names));
  app.add_option("--cache-bytes", run.engine.cache_bytes);
  app.add_option("--cache-share", cache_share, "the block cache as a share of the data's bytes")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--order", run.engine.order, "of keys")
      ->transform(CLI::CheckedTransformer(order_names));
  app.add_option("--families", run.engine.families, "column families that the keys are spread over")
      ->check(CLI::PositiveNumber);
  app.add_option("--write-buffer-bytes", run.engine.write_buffer_bytes);
  app.add_option("--options", run.engine.text, "further options: name=value;...");
  app.add_option("--compression", run.engine.compression)
      ->transform(CLI::CheckedTransformer(compression_names));
  app.add_option("--table", run.engine.table)->transform(CLI::CheckedTransformer(table_names));
  app.add_option("--memtable", run.engine.memtable)
      ->transform(CLI::CheckedTransformer(memtable_names));
  app.add_flag("--keep-filter", run.engine.keep_filter,
               "with a compaction filter that keeps every entry");
  app.add_flag("--bulk-load", run.engine.bulk_load, "with the options for bulk loads");
  app.add_flag("!--no-compactions", run.engine.auto_compactions, "without automatic compactions");
  app.add_flag("!--no-log", run.log, "without a write-ahead log");
  app.add_flag("--sync", run.sync, "every write durable before it returns");
  app.add_option("--wait-every", run.wait_every,
                 "writers wait for flushes and compactions after so many operations; 0: never");
  app.add_option("--rounds", run.rounds,
                 "of the workloads that end when they are steady, 8 or more; 0: until they are");
  app.add_option("--sample-ms", run.sample_ms, "period of the samples of throughput; 0: none");
  app.add_flag("!--no-latencies", run.latencies);
  app.add_flag(
      "--cold", run.cold,
      "let the system forget the database's files before reading is measured; nothing is warmed");
  app.add_flag("!--no-warming", run.warm, "do not read everything once before reading is measured");
  app.add_flag("--count-instructions", run.count_instructions,
               "under callgrind: count the measured loop only");
  CLI11_PARSE(app, argc, argv);

  std::vector<Task> tasks;
  for (const std::string& workload : workloads)
    tasks.push_back(ParseTask(workload, run.dataset.num));
  if (run.count_instructions) {
    const std::string reason = WhyInstructionsAreNotCounted();
    if (!reason.empty()) Fail(reason);
    run.latencies = false;
    run.sample_ms = 0;
  }
  if (run.rounds != 0 && run.rounds < SteadyState::kRoundsMin) Fail("--rounds: choose 8 or more");
  run.engine.key_bytes = run.dataset.key_bytes;
  run.engine.prefix_bytes = run.dataset.prefix_bytes;
  FitEngineToShape(&run);
  if (cache_share > 0) {
    const uint64_t data_bytes = run.dataset.num * (run.dataset.key_bytes + run.dataset.value_bytes);
    run.engine.cache_bytes = static_cast<uint64_t>(cache_share * static_cast<double>(data_bytes));
  }
  if (std::filesystem::exists(run.engine.dir)) Fail(run.engine.dir + " exists");
  std::filesystem::create_directories(std::filesystem::absolute(run.engine.dir).parent_path());

  json results = json::array();
  {
    const std::unique_ptr<Engine> engine = OpenEngine(engine_name, library, run.engine);
    Runner runner(run, engine.get());
    runner.Prepare();
    for (const Task& task : tasks) results.push_back(ResultAsJson(runner.Run(task)));
  }
  if (!keep) std::filesystem::remove_all(run.engine.dir);
  std::cout << json{{"engine", engine_name},
                    {"lap_ns", MeasureLapCost()},
                    {"results", std::move(results)}}
                   .dump()
            << "\n";
  return 0;
}

}  // namespace
}  // namespace ashlar::bench

int main(int argc, char** argv) { return ashlar::bench::Main(argc, argv); }
