// WalArchive: old logs that are kept for readers (GetUpdatesSince), in <wal_dir>/archive, as
// RocksDB keeps them.
//
//   no family needs the log --SyncClosed--> durable --Add--> archive/000012.log
//   archive/000012.log --Purge: kept longer than WAL_ttl_seconds, or the oldest while all together
//                        have more bytes than WAL_size_limit_MB--> deleted
//
// I1: a log is durable before its writes are in tables (I2 of flush_runner.h), unless it failed. So
//     a power cut leaves no gap in the archive.
// I2: the age of a log is measured with the monotonic clock, from the time at which this process
//     moved or found it. A wall clock that jumps deletes nothing. The time during which a database
//     is closed does not count, because no reader could have followed it. A database that is never
//     open for all of WAL_ttl_seconds keeps its logs, which only WAL_size_limit_MB bounds.
// I3: Purge deletes logs oldest first, so that the rest has no gap. Only the program makes gaps.
// I4: no log that a recovery needs is here. The MANIFEST says that archived logs may be missing.
// A log that is being read stays open in its reader; nothing waits for readers.
//
// The simpler design, which compares the file's time with the wall clock as RocksDB does, deletes
// everything when the clock jumps forward.
//
// Thread safety: one thread at a time (FileJanitor::deletion_mutex_).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ashlar/status.h"

namespace ashlar {

struct DatabaseState;

class WalArchive {
 public:
  explicit WalArchive(const DatabaseState* state);
  WalArchive(const WalArchive&) = delete;
  WalArchive& operator=(const WalArchive&) = delete;

  // If false, logs are deleted as soon as no family needs them, and the archive is left alone.
  static bool IsEnabled(const DatabaseState& state);
  bool IsEnabled() const { return IsEnabled(*state_); }
  // Registers the existing logs. Requires: the lock is taken. After an error it may be called
  // again, even if logs have been added since.
  Status Find();
  // Moves the log. Returns PathNotFound if there is no such log.
  Status Add(uint64_t number);
  // Deletes the logs beyond the limits. Stops at an error, and the next call tries that log again.
  Status Purge();

  // Returns PathNotFound if the log is not in the archive.
  Status Delete(uint64_t number);

  uint64_t bytes() const { return bytes_; }
  // Asserts that bytes() is the sum over the logs.
  void CheckInvariants() const;

 private:
  struct Log {
    uint64_t bytes = 0;
    uint64_t since_nanos = 0;  // I2
  };

  bool IsTooMuch(const Log& oldest, uint64_t now_nanos) const;

  const DatabaseState* const state_;
  const std::string directory_;
  const uint64_t ttl_nanos_;  // 0: no limit
  const uint64_t bytes_max_;  // 0: no limit
  std::map<uint64_t, Log> logs_;
  uint64_t bytes_ = 0;
};

}  // namespace ashlar
