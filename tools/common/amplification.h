// Amplification: the costs of a workload in each compaction style, in bytes written, sorted runs
// read, bytes on disk, and time. Each setting has a database of its own, which is made and deleted
// in a folder, with the same operations in the same order.
//
//   load (every key once, in random order) -> rounds of keys / 2 operations -> figures
//
// Rounds end when the bytes written per byte of user data change by less than 5 % from one to the
// next, and at kRoundsMax. The figures do not include the load. Each round waits for its
// compactions. The bytes written do not include the log, which is the same in each style.
//
// The databases are scaled down: memtable, tables and levels are a fraction of RocksDB's defaults,
// so that a tree with little data has the levels of a large one. Figures of bytes and runs carry
// over. Times are those of a database that fits in memory.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ashlar/options.h"
#include "ashlar/status.h"

namespace ashlar::amplification {

inline constexpr int kRoundsMax = 12;
inline constexpr double kSteady = 0.05;

struct Workload {
  uint64_t keys = 200000;
  uint64_t key_bytes = 16;  // at least 8
  uint64_t value_bytes = 100;
  uint64_t overwrite_percent = 100;  // of the writes; the others write new keys
  uint64_t read_percent = 50;        // of the operations, half Gets and half Seeks
  uint64_t seed = 1;
};
// Returns InvalidArgument that names the change to make.
Status Validate(const Workload& workload);

struct Setting {
  std::string name;
  std::function<void(Options* options)> set;
};
// Leveled, universal and FIFO, the default of each first.
std::vector<Setting> Settings();
// The base of every setting.
Options ScaledOptions(const Workload& workload);

struct Figures {
  std::string setting;
  double written_per_byte = 0;  // by flushes and compactions, per byte of keys and values written
  double runs_per_get = 0;      // tables of which a Get read a block
  double runs_per_seek = 0;     // sorted runs that a Seek has to read, including memtables
  double disk_per_live_byte = 0;
  double peak_per_live_byte = 0;  // during the rounds, with the files of running compactions
  double us_per_operation = 0;
  int rounds = 0;
  bool steady = false;  // the last two rounds agreed
};

// Measures one setting. Creates `folder`, and deletes it with its contents.
Status Measure(const Workload& workload, const Setting& setting, const std::string& folder,
               Figures* figures);

// A table for people, with a line that names the workload and the scale.
std::string Table(const Workload& workload, const std::vector<Figures>& figures);
// Bars for the three amplifications, as shares of the largest figure.
std::string Plot(const std::vector<Figures>& figures);
std::string Json(const Workload& workload, const std::vector<Figures>& figures);

}  // namespace ashlar::amplification
