// LogSet: the write-ahead logs of an open database. The commit leader appends to the current one.
// The closed ones wait until every column family has flushed their records.
//
//   StartNewLog --> CURRENT --StartNewLog--> CLOSED, unsynced --SyncClosed--> CLOSED, synced
//   CURRENT --any error--> FAILED, cut to its good bytes --StartNewLog--> CLOSED, never synced
//   CLOSED --ReleaseUpTo--> gone; the caller deletes the file
//
// A new log begins with its predecessor's length (predecessor_record.h). In its file, zeros or the
// rest of an older log (spare_logs.h) may follow the current log, but not a closed one.
//
// I1: log numbers ascend; the current log has the highest.
// I2: SyncAll leaves every byte appended before it durable, oldest log first.
// I3: an error of the current log is final. Later appends and syncs fail with it until StartNewLog
//     has replaced the log, and SyncClosed fails with it until ReleaseUpTo has dropped the log.
// I4: a failed log is truncated to its good bytes (LogWriter::good_bytes), at the error or before
//     another log continues it. So it ends with a complete record, and no failed group is replayed.
// I5: a log and the MANIFEST record only lengths that the file has, because the bytes were written,
//     or synced, before.
// I6: the length of a log of an earlier run is recorded only if this run has synced the log.
//     Otherwise a power cut may remove its end, which the record would turn into damage.
// I7: LogProgress::good_bytes is the end of a committed record in the file, and never decreases. A
//     log is closed after its last record was counted, and after the next log, if any, exists.
// I8: a log is written only after its name is durable, because its file may have been an older log.
//
// Thread safety: SyncClosed, SyncDuringAppends, ReleaseUpTo, counters: any thread; others: leader.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/compression_type.h"
#include "ashlar/types.h"
#include "ashlar/vfs.h"
#include "base/compression.h"
#include "base/result.h"
#include "filesystem/synced_directory.h"
#include "lsm/predecessor_record.h"
#include "lsm/spare_logs.h"
#include "platform/mutex.h"
#include "wal/log_writer.h"
#include "wal/record_compression.h"

namespace ashlar {

// The length up to which a log of this run may be read while it is written (I7). The commit leader
// writes it (release, after the file); any thread reads it (acquire, before the file).
struct LogProgress {
  explicit LogProgress(uint64_t log_number) : number(log_number) {}
  const uint64_t number;
  std::atomic<uint64_t> good_bytes{0};
  std::atomic<bool> closed{false};  // nothing is appended any more
};

class LogSet {
 public:
  struct Args {
    vfs::FileSystem* file_system = nullptr;
    std::string directory;
    vfs::FileOptions file_options;  // they may keep a tail of zeros while a log is the current one
    CompressionType compression = kNoCompression;  // none if CompressesLogs refuses it
    size_t spares_max = 0;                         // obsolete logs that are kept to be recycled
  };
  explicit LogSet(Args args)
      : file_system_(args.file_system),
        directory_(std::move(args.directory)),
        file_options_(args.file_options),
        compression_(CompressesLogs(args.compression) ? args.compression : kNoCompression),
        spares_(file_system_, directory_, args.spares_max),
        record_bytes_max_(compression_ == kNoCompression ? std::numeric_limits<uint64_t>::max()
                                                         : kCompressedRecordBytesMax) {}
  LogSet(const LogSet&) = delete;
  LogSet& operator=(const LogSet&) = delete;

  struct NewLog {
    uint64_t number = 0;
    SequenceNumber next_sequence = 0;  // of the first write that can go to it
    SyncedDirectory* directory_handle = nullptr;
  };
  // Hands the rest of the current log to the operating system, creates the log, makes its directory
  // entry durable, and closes the current one to appends. After an error the current log stays; the
  // new one is deleted.
  Status StartNewLog(const NewLog& log);
  // Adds a log of an earlier run whose records are in the memtables again. bytes: up to the end of
  // its last record. Requires: numbers ascend; before the first StartNewLog.
  void AdoptClosed(uint64_t number, uint64_t bytes);
  // Makes the adopted logs durable, because the run that wrote them may have died before it did so.
  // Truncates each after its last record.
  Status SyncAdopted();
  // From now on a released log may be kept. Requires: the orphans are deleted.
  void StartKeeping() { spares_.Start(current_number()); }
  // Passes a released log to SpareLogs::Keep. Any thread.
  bool KeepReleased(uint64_t number) { return spares_.Keep(number); }
  // A group: one Append per record, then FlushCurrent or SyncAll or neither (the records wait in
  // memory), then EndGroup. A group whose calls did not all succeed is not in the log.
  Status Append(std::span<const Slice> pieces);
  // Write-back of the current log begins each time that this many bytes have been written. 0 leaves
  // it to the operating system. Any thread.
  void SetWriteBackBytes(uint64_t bytes) {
    write_back_bytes_.store(bytes, std::memory_order_relaxed);
  }
  // Appended records survive kill -9.
  Status FlushCurrent();
  // Syncs the closed logs and then the current one: appended records survive a power cut.
  Status SyncAll();
  void EndGroup();
  // The group failed with this error, in a call of the log or between two calls.
  void Fail(const Status& error);
  // Syncs the closed logs.
  Status SyncClosed();
  // Makes durable what the operating system has of all logs, concurrently with the leader's
  // appends. A log switch waits for it. After an error, the current log fails in a concurrent sync
  // of the leader, or in the leader's next sync or switch (I3). An error of a concurrent sync of
  // the leader is returned, too.
  Status SyncDuringAppends();
  // Whether a log that was not released has failed (I3).
  bool HasFailedLog() const;
  // Forgets closed logs with a number below `number`; returns their numbers.
  std::vector<uint64_t> ReleaseUpTo(uint64_t number);
  // After a failed promotion, restores the state before the first AdoptClosed. The files stay, and
  // mean the same to a recovery. Requires: there is no commit leader.
  void Forget() noexcept;
  // The logs that were not released, ascending, with their lengths.
  struct LiveLog {
    uint64_t number = 0;
    uint64_t bytes = 0;
    bool synced = false;    // by this run, and all of it is durable
    bool is_empty = false;  // nothing follows its head, so the file's loss loses no write
  };
  std::vector<LiveLog> LiveLogs() const;
  // The live logs that are closed and were synced by this run. Any thread.
  std::vector<LiveLog> SyncedClosedLogs() const;
  // The progress of the current log. Null before the first StartNewLog and after Close.
  std::shared_ptr<const LogProgress> CurrentProgress() const {
    MutexLock lock(mutex_);
    return progress_;
  }
  // Syncs and closes everything. The current log becomes a closed one.
  Status Close();

  // The size of the longest record that Append accepts.
  uint64_t record_bytes_max() const { return record_bytes_max_; }
  uint64_t current_number() const { return current_number_.load(std::memory_order_acquire); }
  // Bytes in all live logs.
  uint64_t TotalBytes() const {
    return closed_bytes_.load(std::memory_order_relaxed) +
           current_bytes_.load(std::memory_order_relaxed);
  }
  uint64_t OldestNumber() const;
  // Asserts I1, the counters of the closed logs, and the invariants of the spare ones.
  void CheckInvariants() const {
    spares_.CheckInvariants();
    MutexLock lock(mutex_);
    CheckClosedLogs();
  }

 private:
  struct ClosedLog {
    uint64_t number = 0;
    uint64_t bytes = 0;
    std::unique_ptr<LogWriter> writer;  // null once synced and closed, and of an adopted log
    bool synced = false;                // by this run, and all of it is durable
    bool is_empty = false;              // nothing follows its head
  };

  static LiveLog Live(const ClosedLog& log) {
    return {
        .number = log.number, .bytes = log.bytes, .synced = log.synced, .is_empty = log.is_empty};
  }
  Status SyncClosedLocked() ASHLAR_REQUIRES(mutex_);
  // Called before the file of the current log is closed. error: why the log has failed, or Ok.
  // Later calls of SyncDuringAppends return it (I3).
  void EndSyncsDuringAppends(const Status& error) {
    MutexLock lock(mutex_);
    current_file_ = nullptr;
    if (error_during_appends_.ok()) error_during_appends_ = error;
  }
  // Returns the error of SyncDuringAppends to the leader. Waits for a call in progress.
  Status ErrorDuringAppends() const {
    MutexLock lock(mutex_);
    return error_during_appends_;
  }
  void CheckClosedLogs() const ASHLAR_REQUIRES(mutex_);
  Status SyncCurrent();
  // Syncs only the file of the current log.
  Status SyncCurrentFile();
  // SyncDuringAppends calls this after its sync. Waits for a leader's sync that began before that
  // one ended, and returns the error of the log.
  Status AwaitLeadersSync() ASHLAR_REQUIRES(mutex_);
  void StartWriteBack();
  // I7.
  void PublishProgress() {
    leader_progress_->good_bytes.store(current_->good_bytes(), std::memory_order_release);
  }
  // Fails the current log if `status` is an error; returns it. Inline for the writes of each group.
  Status FailCurrentOn(Status status) {
    return status.ok() ? Status::OK() : FailCurrent(std::move(status));
  }
  Status FailCurrent(Status status);
  // I4. The current log has failed.
  Status CutFailedCurrent();
  // Makes the file contain exactly the bytes of the current log, before another log continues it.
  Status FinishCurrent();
  Result<std::unique_ptr<vfs::WritableFile>> CreateLogFile(uint64_t number);
  // Returns a writer that has written the beginning of a log to the file. failures_before: the
  // failures of the directory before the file was created.
  Result<std::unique_ptr<LogWriter>> BeginLog(std::unique_ptr<vfs::WritableFile> file,
                                              const NewLog& log, uint64_t failures_before);
  void RetireCurrent(bool synced);
  // The log that a new one will continue. None if it is an unsynced log of an earlier run, whose
  // records go to tables before anything is written to the new one.
  std::optional<PredecessorRecord> MakeHead() const;

  vfs::FileSystem* const file_system_;
  const std::string directory_;
  const vfs::FileOptions file_options_;
  const CompressionType compression_;
  SpareLogs spares_;
  const uint64_t record_bytes_max_;

  // Held across the sync of closed logs and of SyncDuringAppends. On the write path a leader takes
  // it to sync a closed log, after each sync of the current log, and to switch logs.
  mutable Mutex mutex_;
  std::deque<ClosedLog> closed_ ASHLAR_GUARDED_BY(mutex_);           // ascending numbers
  std::shared_ptr<LogProgress> progress_ ASHLAR_GUARDED_BY(mutex_);  // of the current log
  // The file of the current log, for SyncDuringAppends. Null if the log is closed or has failed.
  vfs::WritableFile* current_file_ ASHLAR_GUARDED_BY(mutex_) = nullptr;
  // The first error of the current log: of SyncDuringAppends, of the leader's sync, or the one with
  // which the leader closed the file.
  Status error_during_appends_ ASHLAR_GUARDED_BY(mutex_);
  CondVar leader_synced_;
  uint64_t leader_syncs_ended_ ASHLAR_GUARDED_BY(mutex_) = 0;  // of current logs
  // True while the leader syncs the current log. The leader sets it before, and clears it under
  // mutex_ as it notes its error. SyncDuringAppends reads it under mutex_ after its own sync.
  std::atomic<bool> leader_syncs_{false};

  std::unique_ptr<LogWriter> current_;      // commit leader only
  LogProgress* leader_progress_ = nullptr;  // commit leader only: the progress of current_
  bool unsynced_ = false;                   // commit leader only: bytes since the last sync
  uint64_t bytes_in_write_back_ = 0;        // commit leader only: of current_
  uint64_t head_bytes_ = 0;                 // commit leader only: of current_
  std::atomic<uint64_t> write_back_bytes_{0};
  bool current_is_cut_ = false;  // commit leader only: I4 holds for the failed current log
  std::atomic<uint64_t> current_number_{0};   // written by the leader
  std::atomic<uint64_t> current_bytes_{0};    // written by the leader
  std::atomic<uint64_t> closed_bytes_{0};     // written under mutex_
  std::atomic<bool> closed_unsynced_{false};  // written under mutex_; lets a leader skip the lock
};

}  // namespace ashlar
