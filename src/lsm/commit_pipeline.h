// CommitPipeline: the only write path. Writers pass the write controller and join the commit queue
// (commit_queue.h). The leader makes room, assigns the group's sequences, appends the group to the
// log, syncs once if a request demands it, applies the group to the memtables, and publishes the
// last sequence with one store.
//
//   Write -> (WaitForWriteController) -> Join -> [lead] MakeRoomForWrite -> FormGroup
//     ^                                               |      -> AppendToLog -> (Sync)
//     +-- alone, if MakeRoomForWrite stopped writers -+      -> Apply -> publish -> Finish
//
// I1: sequences are assigned in queue order without gaps inside a group. A batch's bytes in the log
//     contain its first sequence, and end at its termination point.
// I2: unless disable_wal is set, a batch is applied after its log record was written to the
//     operating system (with manual_wal_flush: into the log's buffer), and synced on demand.
// I3: a sequence is published after all entries up to it were applied, so that a reader never sees
//     half a batch.
// I4: a group that fails in the log is not applied. The error is latched, because the contents of
//     the log are unknown then.
// I5: no write waits for background work while it leads: a write stall never delays syncs, memtable
//     switches or changes of families. Of the exclusive requests an ingestion may wait for a flush.
// I6: each request has an outcome of its own. One that its check refuses takes no sequence and is
//     neither logged nor applied; the others of its group are not affected.
// I7: an acknowledged write is in a family that was alive when its group was committed.
// Operations that need a quiet log (memtable switches, log syncs) are exclusive requests.
//
// Thread safety: every public method from any thread, except LeaderSwitchMemTables.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "lsm/commit_queue.h"
#include "lsm/database_state.h"
#include "observe/perf.h"

namespace ashlar {

class BackgroundWork;

class CommitPipeline {
 public:
  CommitPipeline(DatabaseState* state, BackgroundWork* background);
  CommitPipeline(const CommitPipeline&) = delete;
  CommitPipeline& operator=(const CommitPipeline&) = delete;

  // Checks the batch (well formed, existing families, implemented operations) and commits it.
  Status Write(const WriteOptions& options, WriteBatch* batch);
  // Commits a batch with one entry of the family, which the caller has checked.
  // ColumnFamilyDropped if the family was dropped meanwhile.
  Status WriteEntry(const WriteOptions& options, const ColumnFamily* family, WriteBatch* batch);

  // Runs `task` while no write is in progress and none can begin.
  Status RunExclusive(const std::function<Status()>& task);
  // The same for a task that changes the contents of the database. It waits while writes are locked
  // (LockWrites).
  Status RunExclusiveWrite(const std::function<Status()>& task);
  // Makes the next group of writes compare memtables and logs with changed limits. It does not wait
  // for the lead, because a listener may change them in a flush for which the leader waits.
  void CheckRoomAgain() {
    static_cast<void>(state_->room_check_wanted.exchange(true, std::memory_order_acq_rel));
  }
  // Makes those active memtables of these families immutable that are not empty, and starts a new
  // log for later writes. Requires: no family is named twice.
  Status SwitchMemTables(std::span<const std::shared_ptr<ColumnFamily>> families,
                         FlushReason reason);
  // The body of SwitchMemTables, for exclusive tasks.
  Status LeaderSwitchMemTables(std::span<const std::shared_ptr<ColumnFamily>> families,
                               FlushReason reason);
  // Before a family is created. Its log number is that of the current log, from which a replay must
  // bring no record that was passed over because no family had its id yet.
  Status LeaderPrepareLogForFamily();
  // Makes all committed writes durable. Writers wait while their bytes are handed to the operating
  // system, not for the medium. An error is latched.
  Status SyncLog();
  // The second half of it: makes bytes that the operating system has durable, so that a leader's
  // next sync is short. Leads only after an error.
  Status SyncDuringWrites();
  // SyncLog by the leader.
  Status LeaderSyncLog();
  Status FlushLog();
  // Stops the writers, and hands their bytes to the operating system. After Ok no group is
  // committed until UnlockWrites was called as often. Exclusive tasks still run, except those that
  // write.
  Status LockWrites();
  // False: there is no lock.
  bool UnlockWrites();

 private:
  // ShutdownInProgress: the database is being closed.
  Status WaitForUnlock();
  // Completes the request from the options and the batch, and commits it.
  Status Submit(const WriteOptions& options, WriteBatch* batch, CommitRequest* request);
  // Waits until a low-priority write gets its turn.
  Status ThrottleLowPriority(const CommitRequest& request);
  bool Join(CommitRequest* request) {
    const PerfTimer timer(&PerfContext::write_thread_wait_nanos, kEnableWait);
    return queue_.Join(request);
  }
  Status Commit(CommitRequest* request);
  Status MakeRoomForWrite() {
    ASHLAR_RETURN_IF_ERROR(state_->error_handler.WriteStatus());
    return state_->room_check_wanted.load(std::memory_order_relaxed) ? SwitchWhatIsFull()
                                                                     : Status::OK();
  }
  // Of all live families. Requires: the caller leads.
  uint64_t ActiveMemTableBytes() const;
  Status SwitchWhatIsFull();
  // Adds families of `others` to `full`, largest memtables first, until the memory that takes
  // writes is within db_write_buffer_size and within the memory budget. Where other databases
  // exceed that alone, a family is left out until its last flush has ended: a memtable and a flush
  // for each write would stop the writers. True if it has added one.
  bool AddLargest(std::vector<std::shared_ptr<ColumnFamily>> others,
                  std::vector<std::shared_ptr<ColumnFamily>>* full) ASHLAR_REQUIRES(kDatabaseMutex);
  // Stops the writers while the memory budget asks for it.
  void StopWritersForMemory();
  // Lets them go on when it no longer does.
  void EndStopForMemory() ASHLAR_REQUIRES(kDatabaseMutex);
  Status WaitForWriteController(const CommitRequest& request);
  Status WaitForTurn(const CommitRequest& request);
  // The error that ends a writer's wait. OK: it may continue to wait.
  Status WaitingIsInVain() const ASHLAR_REQUIRES(kDatabaseMutex);
  uint64_t NowMicros() const { return state_->clock->NowNanos() / 1000; }
  Status CommitGroupOfWrites(const CommitGroup& group);
  // Asserts I1 and I6 of a group whose sequences are assigned; `end` is the one after the last.
  void CheckInvariants(const CommitGroup& group, SequenceNumber end) const;
  // Records of a request go into memtables and into no log.
  void NoteUnloggedWrite();
  // The statistics of the requests that were not refused, which wrote so many keys.
  void RecordGroup(const CommitGroup& group, uint64_t keys);
  Status AppendToLog(const CommitGroup& group);
  Status SyncLogs();
  Status LatchSyncError(Status synced);
  // *has_applied: true once a memtable contains a record of the group, even after an error.
  Status Apply(const CommitGroup& group, bool* has_applied);
  uint64_t WalBytesMax() const;

  DatabaseState* const state_;
  BackgroundWork* const background_;
  const size_t group_bytes_max_;
  CommitQueue queue_;
  // A batch with records of families that do not exist was let pass. Never cleared: another may be
  // on its way. Stored by writers before they join the queue, which orders it for the leader.
  std::atomic<bool> log_has_missing_families_{false};

  // Accessed by the commit leader only. The transfer of the lead orders the accesses.
  uint64_t wal_limit_requested_for_ = 0;  // the oldest log for which a flush was requested
  // With db_write_buffer_size: an upper bound of ActiveMemTableBytes. It is made exact when it
  // exceeds the limit. Later created or dropped families, and memtables that a flush switches, make
  // it inexact.
  uint64_t active_bytes_;
  uint64_t next_wal_check_bytes_;  // the total of log bytes at which the limit is checked again
};

}  // namespace ashlar
