// Workload: one thing that db_bench can do, by the name it has in --benchmarks. Each has a file in
// workloads/, and a line in workloads/registry.cc.
//
// Thread safety: constants.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ashlar/status.h"
#include "tools/db_bench/database.h"
#include "tools/db_bench/flags.h"
#include "tools/db_bench/thread_stats.h"
#include "tools/db_bench/worker.h"

namespace ashlar::bench {

struct Workload {
  enum class Needs {
    kDatabase,          // as it is
    kFreshDatabase,     // a new one; skipped with --use_existing_db
    kBulkLoadDatabase,  // a new one, opened with Options::PrepareForBulkLoad
  };
  enum class Threads {
    kAsAsked,     // --threads
    kOne,         // always one
    kWithWriter,  // --threads, and one more that writes and is not measured: the worker with id 0
  };

  std::string_view name;
  std::string_view summary;
  Needs needs = Needs::kDatabase;
  Threads threads = Threads::kAsAsked;
  // Changes the flags of the run; may be null.
  void (*adjust)(Flags* flags) = nullptr;
  // The work of every thread; an error ends db_bench. Null: see act.
  Status (*run)(Worker& worker) = nullptr;
  // The same for a persistent tree. Null: it cannot do that.
  Status (*run_on_tree)(Worker& worker) = nullptr;
  // The text after the result, such as "(7 of 10 found)"; may be null.
  std::string (*describe)(const Tally& tally) = nullptr;
  // Replaces run: done once, without a result line.
  Status (*act)(const Flags& flags, Database& database) = nullptr;
};

// Describes workloads that read: "(found of reads found)".
std::string DescribeFound(const Tally& tally);

// Returns the workloads in the order of --help.
std::span<const Workload* const> Workloads();
// Returns null if there is no such workload.
const Workload* FindWorkload(std::string_view name);

}  // namespace ashlar::bench
