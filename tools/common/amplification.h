// Amplification: what a workload costs in each style of compaction: bytes written, sorted runs
// read, bytes on disk, time. One database for each setting, made and deleted in a folder, with the
// same operations in the same order.
//
//   load (every key once, in random order) -> rounds of keys / 2 operations -> figures
//
// Rounds end when the bytes written per byte of user data move less than 5 % from one to the next,
// and at kRoundsMax. The load is not in the figures; each round waits for its compactions. The log
// is not in the bytes written: each style writes the same.
//
// It scales down: memtable, tables and levels are a fraction of RocksDB's defaults, so that a tree
// of little data has the levels of a large one. Figures of bytes and runs carry over; times are
// those of a database that fits in memory.
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
  uint64_t read_percent = 50;        // of the operations: Gets and Seeks by turns
  uint64_t seed = 1;
};
// InvalidArgument that names the change to make.
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
  double runs_per_seek = 0;  // sorted runs that a Seek has to look at when it runs, memtables too
  double disk_per_live_byte = 0;
  double peak_per_live_byte = 0;  // during the rounds, with the files of running compactions
  double us_per_operation = 0;
  int rounds = 0;
  bool steady = false;  // the last two rounds agreed
};

// One setting. folder is created, and deleted with its contents.
Status Measure(const Workload& workload, const Setting& setting, const std::string& folder,
               Figures* figures);

// For people, with a line that names the workload and the scale.
std::string Table(const Workload& workload, const std::vector<Figures>& figures);
// Bars for the three amplifications, as shares of the largest figure.
std::string Plot(const std::vector<Figures>& figures);
std::string Json(const Workload& workload, const std::vector<Figures>& figures);

}  // namespace ashlar::amplification
