// LogSet: the write-ahead logs of an open database. The commit leader appends to the current one.
// The closed ones wait until every column family has flushed their records.
//
//   StartNewLog --> CURRENT --StartNewLog--> CLOSED, unsynced --SyncClosed--> CLOSED, synced
//   CURRENT --any error--> FAILED, cut to its good bytes --StartNewLog--> CLOSED, never synced
//   CLOSED --ReleaseUpTo--> gone; the caller deletes the file
//
// A new log begins with its predecessor's length (predecessor_record.h). The current log may be
// followed by zeros, or the rest of an older one (spare_logs.h); a closed one is not.
//
// I1: log numbers ascend; the current log has the highest.
// I2: SyncAll leaves every byte appended before it durable, oldest log first.
// I3: an error is final for the current log: later appends and syncs fail with it until StartNewLog
//     replaced the log, and SyncClosed fails with it until ReleaseUpTo dropped the log.
// I4: a failed log is cut back to its good bytes (LogWriter::good_bytes), at the error or before
//     another log continues it. So it ends with a whole record, and no failed group is read again.
// I5: a length that is recorded, in a log or in the MANIFEST, is one that the file has: the bytes
//     were written, or synced, before.
// I6: the length of a log of an earlier run is recorded only if this run has synced the log:
//     otherwise a power cut may take its end, and the record would make damage of that.
// I7: LogProgress::good_bytes is the end of a committed record in the file, and never shrinks. A
//     log is closed after its last record was counted, and after the next log exists, if one comes.
// I8: a log is written to after its name is durable: a file may have been an older log's.
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
    size_t spares_max = 0;                         // obsolete logs that are kept to be written over
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
  // A log of an earlier run whose records are in the memtables again; ascending, before the first
  // StartNewLog. bytes: up to the end of its last record.
  void AdoptClosed(uint64_t number, uint64_t bytes);
  // Makes the adopted logs durable, because the run that wrote them may have died before it did so.
  // Truncates each after its last record.
  Status SyncAdopted();
  // From now on a released log may be kept. Requires: the orphans are deleted.
  void StartKeeping() { spares_.Start(current_number()); }
  // A released log: SpareLogs::Keep. Any thread.
  bool KeepReleased(uint64_t number) { return spares_.Keep(number); }
  // A group: one Append per record, then FlushCurrent or SyncAll or neither (the records wait in
  // memory), then EndGroup. A group whose calls did not all succeed is not in the log.
  Status Append(std::span<const Slice> pieces);
  // The write-back of the current log begins each time that so many bytes have been written; 0: it
  // is left to the operating system. Any thread.
  void SetWriteBackBytes(uint64_t bytes) {
    write_back_bytes_.store(bytes, std::memory_order_relaxed);
  }
  // Appended records survive kill -9.
  Status FlushCurrent();
  // Syncs the closed logs and then the current one: appended records survive a power cut.
  Status SyncAll();
  void EndGroup();
  // The group failed with this error, in a call of the log or between two.
  void Fail(const Status& error);
  // Syncs the closed logs.
  Status SyncClosed();
  // Makes the bytes that the operating system has of all logs durable, while the leader appends; a
  // log switch waits for it. After an error the current log fails in the leader's sync that runs at
  // the same time, or in its next sync or switch (I3). An error of the leader's sync at the same
  // time is its error, too.
  Status SyncDuringAppends();
  // Whether a log that is not released has failed (I3).
  bool HasFailedLog() const;
  // Forgets closed logs with a number below `number`; returns their numbers.
  std::vector<uint64_t> ReleaseUpTo(uint64_t number);
  // After a promotion that failed: as before the first AdoptClosed. The files stay, and mean
  // the same to a recovery. Requires: there is no commit leader.
  void Forget() noexcept;
  // The logs that are not released, ascending, and how long they are.
  struct LiveLog {
    uint64_t number = 0;
    uint64_t bytes = 0;
    bool synced = false;    // by this run, and all of it is durable
    bool is_empty = false;  // nothing follows its head: the loss of the file loses no write
  };
  std::vector<LiveLog> LiveLogs() const;
  // Those of them that are closed and synced by this run. Any thread.
  std::vector<LiveLog> SyncedClosedLogs() const;
  // Of the current log. Null before the first StartNewLog and after Close.
  std::shared_ptr<const LogProgress> CurrentProgress() const {
    MutexLock lock(mutex_);
    return progress_;
  }
  // Syncs and closes everything. The current log becomes a closed one.
  Status Close();

  // Append takes no longer record.
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
  // Before the file of the current log is closed. error: that the log has failed with, or Ok; later
  // calls of SyncDuringAppends return it (I3).
  void EndSyncsDuringAppends(const Status& error) {
    MutexLock lock(mutex_);
    current_file_ = nullptr;
    if (error_during_appends_.ok()) error_during_appends_ = error;
  }
  // The error of SyncDuringAppends, for the leader. Waits for one that is under way.
  Status ErrorDuringAppends() const {
    MutexLock lock(mutex_);
    return error_during_appends_;
  }
  void CheckClosedLogs() const ASHLAR_REQUIRES(mutex_);
  Status SyncCurrent();
  // The file of the current log alone.
  Status SyncCurrentFile();
  // Of SyncDuringAppends, after its sync: waits for the leader's sync that began before the end of
  // that, and returns the error of the log.
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
  // Before another log continues the current one: the file has all of its bytes, and nothing else.
  Status FinishCurrent();
  Result<std::unique_ptr<vfs::WritableFile>> CreateLogFile(uint64_t number);
  // A writer of the file with the beginning of a log. failures_before: of the directory, before the
  // file was created.
  Result<std::unique_ptr<LogWriter>> BeginLog(std::unique_ptr<vfs::WritableFile> file,
                                              const NewLog& log, uint64_t failures_before);
  void RetireCurrent(bool synced);
  // The log that a new one will continue. None if it is a log of an earlier run that is not synced;
  // its records go to tables before anything is written to the new one.
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
  // Of the current log, for SyncDuringAppends. Null: it is closed, or has failed.
  vfs::WritableFile* current_file_ ASHLAR_GUARDED_BY(mutex_) = nullptr;
  // Of the current log: the first error of SyncDuringAppends, or of the leader's sync, or the
  // leader's that closed the file.
  Status error_during_appends_ ASHLAR_GUARDED_BY(mutex_);
  CondVar leader_synced_;
  uint64_t leader_syncs_ended_ ASHLAR_GUARDED_BY(mutex_) = 0;  // of the current logs
  // The leader syncs the current log. Set by the leader before, and cleared under mutex_ after its
  // error is noted; read under mutex_ after another sync, which it is compared with.
  std::atomic<bool> leader_syncs_{false};

  std::unique_ptr<LogWriter> current_;      // commit leader only
  LogProgress* leader_progress_ = nullptr;  // commit leader only: that of current_
  bool unsynced_ = false;                   // commit leader only: bytes since the last sync
  uint64_t bytes_in_write_back_ = 0;        // commit leader only: of current_
  uint64_t head_bytes_ = 0;                 // commit leader only: of current_
  std::atomic<uint64_t> write_back_bytes_{0};
  bool current_is_cut_ = false;  // commit leader only: I4 holds of the failed current log
  std::atomic<uint64_t> current_number_{0};   // written by the leader
  std::atomic<uint64_t> current_bytes_{0};    // written by the leader
  std::atomic<uint64_t> closed_bytes_{0};     // written under mutex_
  std::atomic<bool> closed_unsynced_{false};  // written under mutex_; lets a leader skip the lock
};

}  // namespace ashlar
