// SpareLogs: obsolete logs that are kept to be recycled as new ones
// (DBOptions::recycle_log_file_num). A sync of a log that does not grow writes no metadata.
//
//   000012.log, obsolete --Keep--> 000012.dbtmp --Take--> 000017.log, which is empty: what it holds
//                                       |                 has the number 12
//                                       '--Close, or the next open--> deleted
//
// I1: only logs from the number of Start on are kept. Their fragments have numbers, so that no
//     reader of the new log takes the old records for its own.
// I2: at most spares_max logs are kept. A kept log has one name.
// I3: a kept log has the name of a temporary file. No reader of logs, recovery, repair or copy of
//     the database sees it, and an open deletes it.
// I4: a log is kept instead of being deleted, under FileJanitor's lock, and therefore not while
//     deletions are disabled.
//
// Rejected: keeping the name of the log, as RocksDB does. After a crash, a repair would replay the
// kept logs and bring back keys whose deletions were compacted away.
//
// Thread safety: any thread, but at most one thread at a time calls Keep, and at most one Take.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/vfs.h"
#include "platform/mutex.h"

namespace ashlar {

class SpareLogs {
 public:
  SpareLogs(vfs::FileSystem* file_system, std::string directory, size_t spares_max)
      : file_system_(file_system), directory_(std::move(directory)), spares_max_(spares_max) {}
  SpareLogs(const SpareLogs&) = delete;
  SpareLogs& operator=(const SpareLogs&) = delete;

  // Returns false if no log is ever kept.
  bool IsEnabled() const { return spares_max_ > 0; }
  // I1. Requires: every log from `number` on is written by this run.
  void Start(uint64_t number);
  // Stops keeping logs up to `number`, because the file of that log has failed.
  void Exclude(uint64_t number);
  // True: the obsolete log is kept. False: it still has its name, and the caller deletes it.
  bool Keep(uint64_t number);
  // Opens a kept log as the log `number`, to be written from the beginning. Returns null if there
  // is none, or if it could not be opened and was deleted.
  std::unique_ptr<vfs::WritableFile> Take(uint64_t number, const vfs::FileOptions& options);
  // Deletes the kept logs. No log is kept from here on.
  void Close();

  // Asserts I2.
  void CheckInvariants() const;

 private:
  static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

  // Returns false if the log may not be kept. Otherwise reserves the memory to note it.
  bool PrepareKeep(uint64_t number);
  void Delete(const std::string& path);

  vfs::FileSystem* const file_system_;
  const std::string directory_;
  const size_t spares_max_;

  mutable Mutex mutex_;
  uint64_t first_ ASHLAR_GUARDED_BY(mutex_) = kNever;        // I1
  std::vector<uint64_t> numbers_ ASHLAR_GUARDED_BY(mutex_);  // of the kept logs, oldest first
};

}  // namespace ashlar
