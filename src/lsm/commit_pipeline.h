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
// I2: unless disable_wal is set, a batch is applied only after its log record has been written to
//     the operating system (with manual_wal_flush: to the log's buffer), and synced if requested.
// I3: a sequence is published only after all entries up to it have been applied, so that a reader
//     never sees half a batch.
// I4: a group that fails in the log is not applied. The error is latched, because the contents of
//     the log are then unknown.
// I5: no write waits for background work while it leads, so a write stall never delays syncs,
//     memtable switches or family changes. An ingestion, which is exclusive, may wait for a flush.
// I6: each request has its own outcome. One that its check refuses takes no sequence and is neither
//     logged nor applied. The others of its group are not affected.
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
  // Commits a batch with one entry of the family, which the caller has checked. Returns
  // ColumnFamilyDropped if the family was dropped meanwhile.
  Status WriteEntry(const WriteOptions& options, const ColumnFamily* family, WriteBatch* batch);

  // Runs `task` while no write is in progress and none can begin.
  Status RunExclusive(const std::function<Status()>& task);
  // The same for a task that changes the contents of the database. Waits while writes are locked
  // (LockWrites).
  Status RunExclusiveWrite(const std::function<Status()>& task);
  // Makes the next group of writes check memtables and logs against changed limits. Does not wait
  // for the lead, because a listener may change them during a flush for which the leader waits.
  void CheckRoomAgain() {
    static_cast<void>(state_->room_check_wanted.exchange(true, std::memory_order_acq_rel));
  }
  // Makes the non-empty active memtables of these families immutable and starts a new log for later
  // writes. Requires: no family is named twice.
  Status SwitchMemTables(std::span<const std::shared_ptr<ColumnFamily>> families,
                         FlushReason reason);
  // The body of SwitchMemTables, for exclusive tasks.
  Status LeaderSwitchMemTables(std::span<const std::shared_ptr<ColumnFamily>> families,
                               FlushReason reason);
  // Call before a family is created. The family's log number will be that of the current log, whose
  // replay must not apply records to it that were skipped because no family had its id yet.
  Status LeaderPrepareLogForFamily();
  // Makes all committed writes durable. Writers wait while their bytes are handed to the operating
  // system, but not for the device. An error is latched.
  Status SyncLog();
  // The second half of SyncLog. Makes bytes that the operating system has durable, so that a
  // leader's next sync is short. Leads only after an error.
  Status SyncDuringWrites();
  // SyncLog by the leader.
  Status LeaderSyncLog();
  Status FlushLog();
  // Stops the writers and hands their bytes to the operating system. After OK no group is committed
  // until each call is matched by an UnlockWrites. Exclusive tasks still run, except for those that
  // write.
  Status LockWrites();
  // Returns false if writes are not locked.
  bool UnlockWrites();

 private:
  // Returns ShutdownInProgress if the database is being closed.
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
  // The sum over all live families. Requires: the caller leads.
  uint64_t ActiveMemTableBytes() const;
  Status SwitchWhatIsFull();
  // Adds families of `others` to `full`, largest memtables first, until the active memtables are
  // within db_write_buffer_size and within the memory budget. If other databases alone exceed the
  // budget, a family is left out until its last flush has ended, because a memtable and a flush for
  // each write would stop the writers. Returns true if it has added a family.
  bool AddLargest(std::vector<std::shared_ptr<ColumnFamily>> others,
                  std::vector<std::shared_ptr<ColumnFamily>>* full) ASHLAR_REQUIRES(kDatabaseMutex);
  // Stops the writers while the memory budget demands it.
  void StopWritersForMemory();
  // Lets the writers continue once the memory budget no longer demands a stop.
  void EndStopForMemory() ASHLAR_REQUIRES(kDatabaseMutex);
  Status WaitForWriteController(const CommitRequest& request);
  Status WaitForTurn(const CommitRequest& request);
  // Returns the error that ends a writer's wait, or OK if it may continue to wait.
  Status WaitingIsInVain() const ASHLAR_REQUIRES(kDatabaseMutex);
  uint64_t NowMicros() const { return state_->clock->NowNanos() / 1000; }
  Status CommitGroupOfWrites(const CommitGroup& group);
  // Asserts I1 and I6 for a group whose sequences are assigned. `end` is one past the last one.
  void CheckInvariants(const CommitGroup& group, SequenceNumber end) const;
  // Notes that records of a request go into memtables but into no log.
  void NoteUnloggedWrite();
  // Records statistics of the requests that were not refused. They wrote `keys` keys.
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
  // Set if a batch with records of missing families was accepted. Never cleared, because another
  // may be on its way. Written before the writer joins the queue, which orders it for the leader.
  std::atomic<bool> log_has_missing_families_{false};

  // Accessed by the commit leader only. The transfer of the lead orders the accesses.
  uint64_t wal_limit_requested_for_ = 0;  // the oldest log for which a flush was requested
  // With db_write_buffer_size: an upper bound of ActiveMemTableBytes, which is made exact when it
  // exceeds the limit. Families that are created or dropped later, and memtables that a flush
  // switches, make it inexact.
  uint64_t active_bytes_;
  uint64_t next_wal_check_bytes_;  // the total log bytes at which the limit is checked again
};

}  // namespace ashlar
