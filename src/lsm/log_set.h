// LogSet: the write-ahead logs of an open database: the current one, which the commit leader appends to, and the closed ones, which wait until every
// column family has flushed what they hold.
//
//   StartNewLog --> CURRENT --StartNewLog--> CLOSED, unsynced --SyncClosed--> CLOSED, synced --ReleaseUpTo--> gone (file deleted by the caller)
//
// A new log begins with a head that says how long the one before it was (log_head.h). The current log may be followed by zeros, a closed one is not.
//
// I1: log numbers ascend; the current log has the highest.
// I2: SyncAll leaves every byte appended before it durable, oldest log first, so that a synced write never stands behind a lost one.
// I3: an error on a log is final for it: every later append or sync answers with it until StartNewLog replaced the log and ReleaseUpTo dropped it.
//
// Thread safety: Append, FlushCurrent, SyncAll, StartNewLog and LiveLogs by the commit leader; SyncClosed, ReleaseUpTo and the counters by any
// thread. mutex_ guards the list; it is held across the sync of closed logs (nobody on the read or write path takes it then, except a leader that has
// to sync as well).
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ashlar/file_system.h"
#include "ashlar/types.h"
#include "lsm/log_head.h"
#include "platform/mutex.h"
#include "wal/log_writer.h"

namespace ashlar {

class LogSet {
 public:
  // file_options: of the logs; they may keep a tail of zeros while they are the current one.
  LogSet(FileSystem* file_system, std::string directory, const FileOptions& file_options)
      : file_system_(file_system), directory_(std::move(directory)), file_options_(file_options) {}
  LogSet(const LogSet&) = delete;
  LogSet& operator=(const LogSet&) = delete;

  struct NewLog {
    uint64_t number = 0;
    SequenceNumber next_sequence = 0;  // of the first write that can go to it
    Directory* directory_handle = nullptr;
  };
  // Creates the log, makes its directory entry durable, and closes the previous one to appends.
  Status StartNewLog(const NewLog& log);
  // A log of an earlier run whose records are in the memtables again; ascending, before the first StartNewLog. bytes: up to the end of its last
  // record.
  void AdoptClosed(uint64_t number, uint64_t bytes);
  // Makes the adopted logs durable: the run that wrote them may have died before it did.
  Status SyncAdopted();
  // One record. It survives kill -9 after FlushCurrent, a power cut after SyncAll.
  Status Append(std::span<const Slice> pieces);
  Status FlushCurrent();
  // Syncs the closed logs and then the current one.
  Status SyncAll();
  // Syncs the closed logs.
  Status SyncClosed();
  // Forgets closed logs with a number below `number`; returns their numbers.
  std::vector<uint64_t> ReleaseUpTo(uint64_t number);
  // The logs that are not released, ascending, and how long they are.
  struct LiveLog {
    uint64_t number = 0;
    uint64_t bytes = 0;
  };
  std::vector<LiveLog> LiveLogs() const;
  // Syncs and closes everything.
  Status Close();

  uint64_t current_number() const { return current_number_.load(std::memory_order_acquire); }
  // Bytes in all live logs.
  uint64_t TotalBytes() const { return closed_bytes_.load(std::memory_order_relaxed) + current_bytes_.load(std::memory_order_relaxed); }
  uint64_t OldestNumber() const;

 private:
  struct ClosedLog {
    uint64_t number = 0;
    uint64_t bytes = 0;
    std::unique_ptr<LogWriter> writer;  // null once synced and closed
  };

  Status SyncClosedLocked() ASHLAR_REQUIRES(mutex_);
  // The log that a new one will continue.
  std::optional<LogHead> MakeHead() const;

  FileSystem* const file_system_;
  const std::string directory_;
  const FileOptions file_options_;

  mutable Mutex mutex_;
  std::deque<ClosedLog> closed_ ASHLAR_GUARDED_BY(mutex_);  // ascending numbers

  std::unique_ptr<LogWriter> current_;        // commit leader only
  bool unsynced_ = false;                     // commit leader only: bytes since the last sync
  std::atomic<uint64_t> current_number_{0};   // written by the leader
  std::atomic<uint64_t> current_bytes_{0};    // written by the leader
  std::atomic<uint64_t> closed_bytes_{0};     // written under mutex_
  std::atomic<bool> closed_unsynced_{false};  // written under mutex_; lets a leader skip the lock
};

}  // namespace ashlar
