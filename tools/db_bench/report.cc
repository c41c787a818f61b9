#include "tools/db_bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>

#include "ashlar/memtablerep.h"
#include "ashlar/version.h"
#include "platform/program.h"
#include "tools/db_bench/machine.h"

namespace ashlar::bench {
namespace {

constexpr double kMegabyte = 1048576;

std::string_view CompressionName(CompressionType type) {
  switch (type) {
    case kNoCompression: return "NoCompression";
    case kSnappyCompression: return "Snappy";
    case kZlibCompression: return "Zlib";
    case kBZip2Compression: return "Bzip2";
    case kLZ4Compression: return "LZ4";
    case kLZ4HCCompression: return "LZ4HC";
    case kXpressCompression: return "Xpress";
    case kZSTD: return "ZSTD";
    case kDisableCompressionOption: return "DisableOption";
  }
  return "?";
}

double Average(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Returns half the width of the 95 % confidence interval of the average, as if values were
// distributed normally.
double Confidence95(const std::vector<double>& values) {
  const double average = Average(values);
  double squares = 0;
  for (const double value : values) squares += (value - average) * (value - average);
  const auto n = static_cast<double>(values.size());
  return 1.959964 * std::sqrt(squares / (n - 1)) / std::sqrt(n);
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

int64_t Whole(double number) { return static_cast<int64_t>(number); }

using Json = nlohmann::ordered_json;

Json MachineJson() {
  const Machine machine = ThisMachine();
  return {{"cpu", machine.cpu},
          {"cpus", machine.cpus},
          {"cpu_cache", machine.cpu_cache},
          {"memory_bytes", machine.memory_bytes}};
}

Json HistogramJson(const LatencyHistogram& histogram) {
  return {{"count", histogram.count()},
          {"average", histogram.Average()},
          {"deviation", histogram.StandardDeviation()},
          {"p50", histogram.Percentile(50)},
          {"p75", histogram.Percentile(75)},
          {"p95", histogram.Percentile(95)},
          {"p99", histogram.Percentile(99)},
          {"p99.9", histogram.Percentile(99.9)},
          {"p99.99", histogram.Percentile(99.99)},
          {"max", histogram.Max()}};
}

// Visits the histograms that have values.
template <typename Visitor>
void ForEachHistogram(const Totals& totals, Visitor visit) {
  if (totals.histograms == nullptr) return;
  for (size_t i = 0; i < kOperations; ++i) {
    if ((*totals.histograms)[i].count() > 0)
      visit(OperationName(static_cast<Operation>(i)), (*totals.histograms)[i]);
  }
}

Json ResultJson(const RunResult& result) {
  const Totals& totals = result.totals;
  Json json = {{"workload", result.workload},
               {"repetition", result.repetition},
               {"threads", result.threads},
               {"micros_per_op", result.MicrosPerOp()},
               {"ops_per_second", result.OpsPerSecond()},
               {"seconds", totals.seconds},
               {"operations", totals.ops},
               {"megabytes_per_second", result.MegabytesPerSecond()},
               {"bytes", totals.tally.bytes},
               {"reads", totals.tally.reads},
               {"found", totals.tally.found},
               {"message", result.message}};
  if (totals.writer_seconds > 0) {
    json["writer"] = {
        {"operations", totals.writer_ops},
        {"ops_per_second", static_cast<double>(totals.writer_ops) / totals.writer_seconds}};
  }
  ForEachHistogram(totals, [&](const char* operation, const LatencyHistogram& histogram) {
    json["latency_micros"][operation] = HistogramJson(histogram);
  });
  return json;
}

}  // namespace

double RunResult::MicrosPerOp() const {
  return totals.thread_seconds * 1e6 / static_cast<double>(std::max<uint64_t>(1, totals.ops));
}

double RunResult::OpsPerSecond() const {
  return static_cast<double>(std::max<uint64_t>(1, totals.ops)) / std::max(totals.seconds, 1e-9);
}

double RunResult::MegabytesPerSecond() const {
  return static_cast<double>(totals.tally.bytes) / kMegabyte / std::max(totals.seconds, 1e-9);
}

std::string ResultLine(const RunResult& result) {
  const Totals& totals = result.totals;
  std::string line =
      fmt::format("{:<12} : {:11.3f} micros/op {} ops/sec {:.3f} seconds {} operations;",
                  result.workload, result.MicrosPerOp(), Whole(result.OpsPerSecond()),
                  totals.seconds, std::max<uint64_t>(1, totals.ops));
  if (totals.tally.bytes > 0) line += fmt::format(" {:6.1f} MB/s", result.MegabytesPerSecond());
  if (!result.message.empty()) line += " " + result.message;
  return line;
}

std::string RepetitionsText(const std::vector<const RunResult*>& results, bool final,
                            bool confidence_only) {
  if (results.size() < 2) return {};
  std::vector<double> ops;
  std::vector<double> megabytes;
  for (const RunResult* const result : results) {
    ops.push_back(result->OpsPerSecond());
    if (result->totals.tally.bytes > 0) megabytes.push_back(result->MegabytesPerSecond());
  }
  const std::string& name = results.front()->workload;
  const bool with_bytes = megabytes.size() == ops.size();
  const size_t runs = results.size();
  const double ops_average = Average(ops);
  const double ops_confidence = Confidence95(ops);
  if (confidence_only && !final) {
    std::string text =
        fmt::format("{} [CI95 {} runs] : ({}, {}) ops/sec", name, runs,
                    Whole(ops_average - ops_confidence), Whole(ops_average + ops_confidence));
    if (with_bytes) {
      const double average = Average(megabytes);
      const double confidence = Confidence95(megabytes);
      text += fmt::format("; ({:.1f}, {:.1f}) MB/sec", average - confidence, average + confidence);
    }
    return text + "\n";
  }
  std::string text = fmt::format("{} [AVG{} {} runs] : {} (± {}) ops/sec", name, final ? "   " : "",
                                 runs, Whole(ops_average), Whole(ops_confidence));
  if (final) text += fmt::format("; {:.3f} ms/op", 1000 / ops_average);
  if (with_bytes)
    text += fmt::format("; {:6.1f} (± {:.1f}) MB/sec", Average(megabytes), Confidence95(megabytes));
  text += "\n";
  if (!final) return text;
  text += fmt::format("{} [MEDIAN {} runs] : {} ops/sec", name, runs, Whole(Median(ops)));
  if (with_bytes) text += fmt::format("; {:6.1f} MB/sec", Median(megabytes));
  return text + "\n";
}

void Report::PrintHeader(const Options& options) const {
  const Machine machine = ThisMachine();
  fmt::print(stderr,
             "Ashlar:     version {}\nDate:       {}\nCPU:        {} * {}\nCPUCache:   {}\n",
             GetAshlarVersionAsString(), TimeNow(), machine.cpus, machine.cpu, machine.cpu_cache);

  const bool fixed = flags_.value_size_distribution_type == "fixed";
  const int value_bytes =
      fixed ? flags_.value_size
            : static_cast<int>((int64_t{flags_.value_size_min} + flags_.value_size_max) / 2);
  const double compressed_bytes = value_bytes * flags_.compression_ratio;
  const auto entries = static_cast<double>(flags_.num);
  fmt::print("Keys:       {} bytes each (+ 0 bytes user-defined timestamp)\n", flags_.key_size);
  fmt::print("Values:     {} {}bytes each ({} bytes after compression)\n", value_bytes,
             fixed ? "" : "avg ", Whole(compressed_bytes + 0.5));
  if (!fixed) {
    fmt::print("Values Distribution: {} (min: {}, max: {})\n", flags_.value_size_distribution_type,
               flags_.value_size_min, flags_.value_size_max);
  }
  fmt::print("Entries:    {}\nPrefix:    {} bytes\nKeys per prefix:    {}\n", flags_.num,
             flags_.prefix_size, flags_.keys_per_prefix);
  fmt::print("RawSize:    {:.1f} MB (estimated)\n",
             (flags_.key_size + value_bytes) * entries / kMegabyte);
  fmt::print("FileSize:   {:.1f} MB (estimated)\n",
             (flags_.key_size + compressed_bytes) * entries / kMegabyte);
  fmt::print("Write rate: {} bytes/second\nRead rate: {} ops/second\n",
             flags_.benchmark_write_rate_limit, flags_.benchmark_read_rate_limit);
  if (flags_.engine == "pmem") {
    fmt::print("Engine:     pmem\n------------------------------------------------\n");
    return;
  }
  fmt::print("Compression: {}\nCompression sampling rate: {}\n",
             CompressionName(options.compression), flags_.sample_for_compression);
  fmt::print("Memtablerep: {}\nPerf Level: {}\n", options.memtable_factory->GetId(),
             flags_.perf_level);
  fmt::print("------------------------------------------------\n");
}

void Report::PrintSkipped(std::string_view workload) const {
  fmt::print("{:<12} : skipped (--use_existing_db is true)\n", workload);
}

void Report::Add(RunResult result) {
  fmt::print("{}\n", ResultLine(result));
  ForEachHistogram(result.totals, [](const char* operation, const LatencyHistogram& histogram) {
    fmt::print("Microseconds per {}:\n{}\n", operation, histogram.ToString());
  });
  (void)fflush(stdout);
  results_.push_back(std::move(result));
}

void Report::PrintRepetitions(size_t count, bool final) const {
  std::vector<const RunResult*> results;
  for (size_t i = results_.size() - count; i < results_.size(); ++i)
    results.push_back(&results_[i]);
  if (final) fmt::print("\n");
  fmt::print("{}", RepetitionsText(results, final, flags_.confidence_interval_only));
  (void)fflush(stdout);
}

Status Report::WriteJson(const std::string& file_name) const {
  Json flags;
  for (const auto& [name, value] : FlagValues(flags_)) flags[name] = value;
  Json results = Json::array();
  for (const RunResult& result : results_) results.push_back(ResultJson(result));
  const Json whole = {{"program", "ashlar db_bench"},
                      {"version", GetAshlarVersionAsString()},
                      {"date", TimeNow()},
                      {"machine", MachineJson()},
                      {"flags", flags},
                      {"results", results}};
  const std::string text = whole.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  const UniqueStream file = OpenStream(file_name, StreamMode::kWrite);
  const bool written = file != nullptr &&
                       fwrite(text.data(), 1, text.size(), file.get()) == text.size() &&
                       fflush(file.get()) == 0;
  return written ? Status::OK() : Status::IOError("cannot write " + file_name);
}

}  // namespace ashlar::bench
