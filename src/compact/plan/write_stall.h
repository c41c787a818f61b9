// How fast writers may go: decided whenever the tree or the list of memtables changes, read by the
// commit leader.
//
//   kNone <--> kDelayed <--> kStopped      each by whichever of three pressures is worst: memtables
//                                          to flush, level-0 files, pending compaction bytes
//
// Delayed rate, as RocksDB documents it: starts at delayed_write_rate; while delayed it falls to
// 0.8 when the debt did not shrink, to 0.6 close to or after a stop, and rises by 1/0.8 when the
// debt shrinks, never above delayed_write_rate nor below 16 KiB/s. When the delay ends the next one
// starts from 1.4 times the last rate. Thread safety: a pure function; the caller keeps the
// previous result.
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
};

struct WriteStall {
  StallState state = StallState::kNone;
  StallCause cause = StallCause::kNone;
  // The rate in force when delayed; kept while not, so that the next delay starts near where this
  // one ended. 0: never delayed yet.
  uint64_t bytes_per_second = 0;
  uint64_t pending_bytes = 0;  // of the inputs
};

WriteStall ComputeStall(const StallInputs& inputs, const LeveledConfig& config,
                        const WriteStall& previous);

// Whether more compactions should run at once than usual: level 0 or the debt has come some way
// towards a slowdown.
bool WantsMoreCompactions(const StallInputs& inputs, const LeveledConfig& config);

}  // namespace ashlar
