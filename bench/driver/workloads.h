// Workloads: the operations of a run on a database, and their results.
//
// A run prepares a database in a shape, then runs workloads on it one after the other. Each is
// measured on its own. Preparations of a workload (access patterns, warm caches) end before its
// clock starts. Background work of a writing workload (flush, compactions) ends before its clock
// stops.
//
// Thread safety: one thread. Workloads start threads of their own and join them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/driver/dataset.h"
#include "bench/driver/engine.h"
#include "bench/driver/latency.h"
#include "bench/driver/meter.h"
#include "bench/driver/tally.h"

namespace ashlar::bench {

enum class Shape {
  kEmpty,
  kCompacted,  // one sorted run
  kRuns,       // several runs that overlap everywhere, automatic compactions off
  kMemtable,   // everything in the memtable
  kMerged,     // one run of values, a second of merge operands
};

struct RunOptions {
  EngineOptions engine;
  DatasetOptions dataset;
  Shape shape = Shape::kEmpty;
  uint64_t runs = 5;
  uint64_t write_rate = 0;  // of the writer concurrent with readers, operations per second
  bool log = true;
  bool sync = false;
  // A writer waits for flushes and compactions after this many operations. 0: it does not wait.
  uint64_t wait_every = 0;
  uint64_t rounds = 0;  // of the workloads that end when they are steady; 0: until they are
  uint64_t sample_ms = 100;
  bool latencies = true;
  bool warm = true;
  bool cold = false;
  bool count_instructions = false;  // lets callgrind count the measured loop only
};

struct Task {
  std::string workload;
  // Of all threads together. A load ignores this and writes every key, and so does each round of a
  // workload that ends when it is steady.
  uint64_t operations = 0;
  uint64_t threads = 1;
};

// Figures of a workload that ends when it is steady (steady_state.h), in a run without a log.
// Sorted runs and the largest size of the tables are counted only with reads.
struct SteadyFigures {
  uint64_t rounds = 0;  // 0: another workload
  bool is_steady = false;
  double written_bytes_per_put = 0;
  double written_per_byte = 0;  // of keys and values
  double disk_per_live_byte = 0;
  double disk_per_live_byte_max = 0;  // with the files of running compactions
  double runs_per_get = 0;            // of which a Get read a block
  double runs_per_seek = 0;           // that a seek has to read
};

struct Result {
  std::string workload;
  uint64_t operations = 0;
  Usage usage;              // from the first operation until nothing is left to do
  double foreground_s = 0;  // wall time until the last operation returned
  uint64_t folder_bytes = 0;
  uint64_t peak_memory_bytes = 0;
  LatencyHistogram latencies;
  Tally tally;
  uint64_t contents_hash = 0;  // of a writing workload; 0 otherwise
  uint64_t side_writes = 0;    // by the writer concurrent with readers
  // The rate that was requested from it. 0: no such writer.
  uint64_t side_writes_asked_per_s = 0;
  uint64_t copied_bytes = 0;   // by memcpy and memmove; counted if the preloaded counter is there
  uint64_t copied_values = 0;  // copies of at least a value's size
  bool copies_counted = false;
  std::vector<Sampler::Sample> samples;
  SteadyFigures steady;
};

class Runner {
 public:
  Runner(const RunOptions& options, Engine* engine);

  // Brings the empty database into the shape.
  void Prepare();
  Result Run(const Task& task);

  static std::vector<std::string> WorkloadNames();

 private:
  struct Workload;
  static std::span<const Workload> Workloads();

  // An operation on the i-th number of the access pattern.
  using Operation = void (*)(const Dataset& dataset, Session* session, uint32_t number, char* key,
                             Tally* tally);

  void Load(std::span<const uint32_t> order, bool merge);
  void Warm();

  void FillSequential(Result* result);
  void FillRandom(Result* result);
  void Overwrite(Result* result);
  void Compact(Result* result);
  void Flush(Result* result);
  void PutBuffered(Result* result);
  void DeleteRanges(Result* result);
  void DeleteWide(Result* result);
  void DeleteFront(Result* result);
  void DeleteAdjacent(Result* result);
  void DeleteBeginning(Result* result);
  void DeleteRandom(Result* result);
  void FirstSeek(Result* result);
  void FirstSeekFlushed(Result* result);
  void DeleteAndSeek(bool flush, Result* result);
  void PopQueue(Result* result);
  void PutAndTail(Result* result);
  void Write(std::span<const uint32_t> order, uint64_t generation, Result* result);

  // In steady_workloads.cc.
  void OverwriteUntilSteady(Result* result);
  void MixUntilSteady(Result* result);
  void RunUntilSteady(bool reads, Result* result);
  struct ReadCounts;
  // Null `counts` means no reads.
  void RunRound(uint64_t round, ReadCounts* counts, Result* result);
  void ReadCounted(const std::string& key, uint64_t number, Session* session, Tally* tally,
                   ReadCounts* counts);

  // In file_workloads.cc.
  void WriteTablesOnly(Result* result);
  void Ingest(Result* result);
  void WriteBesideIngestion(Result* result);
  void Checkpoint(Result* result);
  void ReadLogs(Result* result);
  void OpenSecondary(Result* result);
  void CatchUp(Result* result);
  void CreateFamilies(Result* result);
  void CreateFamiliesAtOnce(Result* result);
  void MakeFamilies(bool at_once, Result* result);
  void OpenFamilies(Result* result);
  FileCalls* Files() const;
  std::string SideFolder(const std::string& name) const;
  // Writes a table per operation. Together they have the first `keys` keys, with new values.
  std::vector<std::string> WriteTables(uint64_t keys) const;
  // Calls `one` with 0, 1, … once per operation of the task, and measures each call.
  void Repeat(const std::function<void(uint64_t number, Tally* tally)>& one, Result* result);

  void ReadRandom(Result* result);
  void ReadCopied(Result* result);
  void ReadMissing(Result* result);
  void ReadSkewed(Result* result);
  void MultiGet(Result* result);
  void SeekOnly(Result* result);
  void SeekNew(Result* result);
  void SeekFirst(Result* result);
  void SeekTen(Result* result);
  void SeekTenKept(Result* result);
  void ReadForward(Result* result);
  void ReadBackward(Result* result);
  void ReadWhileWriting(Result* result);
  void PrefixWhileWriting(Result* result);
  void Read(std::span<const uint32_t> order, Operation operation, Result* result);
  // The same with existing keys.
  void ReadExisting(std::span<const uint32_t> order, Operation operation, Result* result);
  // Returns as many keys as the task has operations, each once, in a random order.
  std::vector<uint32_t> SomeShuffled() const;
  // Runs operations that change the database, all in one memtable, without a flush.
  void Change(std::span<const uint32_t> order, Operation operation, Result* result);
  void Scan(uint64_t (Session::*scan)(uint64_t, Tally*), Result* result);
  void BesideWriter(Operation operation, Result* result);

  // Starts the threads, lets `body` run in each, and measures from the first to the last.
  using Body = std::function<void(uint64_t thread, Session* session, LapClock* laps,
                                  Progress* progress, Tally* tally)>;
  // The measured work after the threads have ended.
  using Rest = std::function<void()>;
  void Measure(const Body& body, const Rest& rest, Result* result);

  const RunOptions options_;
  const Dataset dataset_;
  Engine* const engine_;
  Task task_;  // the current one
  bool warm_ = false;
};

}  // namespace ashlar::bench
