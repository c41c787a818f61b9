#include "tools/db_bench/thread_stats.h"

#include <algorithm>

namespace ashlar::bench {
namespace {

double Seconds(ThreadStats::Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

const char* OperationName(Operation operation) {
  switch (operation) {
    case Operation::kRead: return "read";
    case Operation::kWrite: return "write";
    case Operation::kDelete: return "delete";
    case Operation::kSeek: return "seek";
    case Operation::kMerge: return "merge";
    case Operation::kUpdate: return "update";
    case Operation::kCrc: return "crc";
    case Operation::kHash: return "hash";
    case Operation::kOthers: return "op";
  }
  return "op";
}

ThreadStats::ThreadStats(const Settings& settings) : settings_(settings) {
  if (settings_.histogram)
    histograms_ = std::make_unique<std::array<LatencyHistogram, kOperations>>();
  if (settings_.report_ops > 0) next_report_ = settings_.report_ops;
}

void ThreadStats::Begin() {
  begin_ = Clock::now();
  last_ = begin_;
}

void ThreadStats::Record(Operation operation) {
  const Clock::time_point now = Clock::now();
  (*histograms_)[static_cast<size_t>(operation)].Add(static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now - last_).count()));
  last_ = now;
}

void ThreadStats::Report() {
  settings_.report(this);
  next_report_ += settings_.report_ops;
}

void Totals::Add(const ThreadStats& stats) {
  if (stats.is_writer) {
    writer_ops += stats.done();
    writer_seconds += Seconds(stats.end() - stats.begin());
    return;
  }
  ops += stats.done();
  begin_ = std::min(begin_, stats.begin());
  end_ = std::max(end_, stats.end());
  seconds = Seconds(end_ - begin_);
  thread_seconds += Seconds(stats.end() - stats.begin());
  tally.bytes += stats.tally.bytes;
  tally.reads += stats.tally.reads;
  tally.found += stats.tally.found;
  tally.writes += stats.tally.writes;
  if (message.empty()) message = stats.message;
  for (size_t i = 0; i < kOperations; ++i) {
    const LatencyHistogram* const histogram = stats.histogram(static_cast<Operation>(i));
    if (histogram == nullptr) continue;
    if (histograms == nullptr)
      histograms = std::make_unique<std::array<LatencyHistogram, kOperations>>();
    (*histograms)[i].Merge(*histogram);
  }
}

}  // namespace ashlar::bench
