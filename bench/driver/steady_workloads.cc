// The workloads of Runner that overwrite until the bytes written per Put are steady.
#include <algorithm>
#include <string>

#include "bench/driver/fail.h"
#include "bench/driver/steady_state.h"
#include "bench/driver/workloads.h"

namespace ashlar::bench {

namespace {

// Seeds of the access patterns. The number of a round is added.
constexpr uint64_t kPutOrder = 1000;
constexpr uint64_t kReadOrder = 2000;

constexpr uint64_t kPutsPerLook = 4096;  // between two reads of the tables' size
constexpr uint64_t kSeeksPerCount = 32;  // between two counts of the sorted runs

double Ratio(uint64_t a, uint64_t b) {
  return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

void AddRound(const Result& round, Result* sum) {
  sum->operations += round.operations;
  sum->usage = Sum(sum->usage, round.usage);
  sum->foreground_s += round.foreground_s;
  sum->peak_memory_bytes = std::max(sum->peak_memory_bytes, round.peak_memory_bytes);
  sum->latencies.Add(round.latencies);
  sum->tally.Add(round.tally);
}

}  // namespace

struct Runner::ReadCounts {
  uint64_t gets = 0;
  uint64_t blocks = 0;  // that the Gets read
  uint64_t seeks = 0;
  uint64_t runs = 0;  // at one seek in kSeeksPerCount
  uint64_t table_bytes_max = 0;
};

void Runner::OverwriteUntilSteady(Result* result) { RunUntilSteady(false, result); }

void Runner::MixUntilSteady(Result* result) { RunUntilSteady(true, result); }

void Runner::RunUntilSteady(bool reads, Result* result) {
  if (task_.threads != 1) Fail(task_.workload + " has one thread");
  SteadyState steady(options_.rounds);
  ReadCounts counts;
  while (!steady.Ended()) {
    Result round;
    RunRound(steady.rounds(), reads ? &counts : nullptr, &round);
    steady.AddRound(std::max(round.usage.written_bytes, round.usage.storage_bytes), dataset_.num());
    AddRound(round, result);
  }
  const uint64_t entry_bytes = dataset_.options().key_bytes + dataset_.options().value_bytes;
  const uint64_t live_bytes = dataset_.num() * entry_bytes;
  const uint64_t table_bytes = TableBytes(options_.engine.dir);
  result->steady = {
      .rounds = steady.rounds(),
      .is_steady = steady.steady(),
      .written_bytes_per_put = steady.written_per_put(),
      .written_per_byte = steady.written_per_put() / static_cast<double>(entry_bytes),
      .disk_per_live_byte = Ratio(table_bytes, live_bytes),
      .disk_per_live_byte_max = Ratio(std::max(table_bytes, counts.table_bytes_max), live_bytes),
      .runs_per_get = Ratio(counts.blocks, counts.gets),
      .runs_per_seek = Ratio(counts.runs, counts.seeks / kSeeksPerCount)};
  result->contents_hash = engine_->NewSession({})->HashContents();
}

// Does a Put per key and, with `counts`, as many reads, alternately Gets and Seeks.
void Runner::RunRound(uint64_t round, ReadCounts* counts, Result* result) {
  const std::vector<uint32_t> puts = Uniform(dataset_.num(), dataset_.num(), kPutOrder + round);
  const std::vector<uint32_t> reads = Uniform(dataset_.num(), dataset_.num(), kReadOrder + round);
  std::string key(dataset_.options().key_bytes, '\0');
  const auto body = [&](uint64_t /*thread*/, Session* session, LapClock* laps, Progress* progress,
                        Tally* tally) {
    for (uint64_t i = 0; i < puts.size(); ++i) {
      dataset_.MakeKey(puts[i], key.data());
      session->Put(key, dataset_.Value(puts[i], round + 1));
      laps->Lap();
      progress->operations.store(i + 1, std::memory_order_relaxed);
      if (counts != nullptr) {
        dataset_.MakeKey(reads[i], key.data());
        ReadCounted(key, i, session, tally, counts);
        laps->Lap();
      }
      if (options_.wait_every != 0 && (i + 1) % options_.wait_every == 0)
        engine_->WaitForBackgroundWork();
    }
  };
  result->operations = (counts != nullptr ? 2 : 1) * puts.size();
  const auto rest = [this] {
    engine_->Flush();
    engine_->WaitForBackgroundWork();
  };
  Measure(body, rest, result);
}

void Runner::ReadCounted(const std::string& key, uint64_t number, Session* session, Tally* tally,
                         ReadCounts* counts) {
  if (number % kPutsPerLook == 0)
    counts->table_bytes_max = std::max(counts->table_bytes_max, TableBytes(options_.engine.dir));
  if (number % 2 == 0) {
    const uint64_t before = engine_->BlocksRead();
    session->Get(key, tally);
    counts->blocks += engine_->BlocksRead() - before;
    ++counts->gets;
  } else {
    if (++counts->seeks % kSeeksPerCount == 0) counts->runs += engine_->SortedRuns();
    session->Seek(key, 0, tally);
  }
}

}  // namespace ashlar::bench
