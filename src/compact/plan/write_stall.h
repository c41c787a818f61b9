// The permitted speed of writers. It is decided at every change of the tree or of the list of
// memtables, and the commit leader reads it.
//
//   kNone <--> kDelayed <--> kStopped      by the worst of three pressures: memtables to flush,
//                                          level-0 files, pending compaction bytes
//
// The delayed rate follows RocksDB's documentation. It starts at delayed_write_rate. While writers
// are delayed, each change of the pressures multiplies it: by 0.6 near or after a stop, else by
// 1/0.8 if the pending bytes shrank, or 0.8 if not (1 if there were none). It is at most
// delayed_write_rate and at least 16 KiB/s. It is always delayed_write_rate if that is not more, or
// if compactions are off. The next delay starts from 1.4 times the last rate, within the limit.
//
// Thread safety: a pure function; the caller keeps the previous result.
#pragma once

#include <cstdint>

#include "compact/plan/leveled_config.h"

namespace ashlar {

enum class StallState : uint8_t { kNone, kDelayed, kStopped };
enum class StallCause : uint8_t { kNone, kMemtables, kLevel0Files, kPendingBytes };
// "none", "delayed", ...
const char* StallStateName(StallState state);
const char* StallCauseName(StallCause cause);

struct StallInputs {
  int immutable_memtables = 0;  // waiting for their flush
  int level0_files = 0;
  uint64_t pending_bytes = 0;  // EstimatePendingBytes

  friend bool operator==(const StallInputs&, const StallInputs&) = default;
};

struct WriteStall {
  StallState state = StallState::kNone;
  StallCause cause = StallCause::kNone;
  // The rate in force while writers are delayed. It is kept afterwards, so that the next delay
  // starts near where this one ended. 0: writers were never delayed.
  uint64_t bytes_per_second = 0;
  StallInputs inputs = {};
};

WriteStall ComputeStall(const StallInputs& inputs, const LeveledConfig& config,
                        const WriteStall& previous);

// True if more compactions than usual should run at once, because level 0 or the pending bytes
// approach a slowdown.
bool WantsMoreCompactions(const StallInputs& inputs, const LeveledConfig& config);

}  // namespace ashlar
