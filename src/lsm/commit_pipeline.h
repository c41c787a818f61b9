// CommitPipeline: the one way into the database. Writers pass the write gate and queue
// (commit_queue.h); the leader makes room, gives the group its sequences, appends it to the log,
// syncs once if a request of the group asks for it, applies it to the memtables, and publishes the
// last sequence with one store.
//
//   Write -> (WaitAtGate) -> Join -> [lead] MakeRoomForWrite -> FormGroup -> AppendToLog -> (Sync)
//                ^                            |                -> Apply -> publish -> Finish
//                +-- alone, if MakeRoomForWrite closed the gate
//
// I1: sequences are given in queue order without gaps inside a group; a batch's bytes in the log
//     carry its first sequence.
// I2: nothing is applied before its log record was handed to the operating system (and synced, if
//     asked), unless disable_wal.
// I3: a sequence is published after everything up to it was applied, so that a reader never sees
//     half a batch.
// I4: a group that fails in the log is not applied; the error is latched, because what the log
//     holds now is not known.
// I5: no request waits for background work while it leads: syncs, memtable switches and families
//     are never held up by a write stall.
// Memtable switches, log syncs and whatever else needs a quiet log run as exclusive requests in the
// same queue: there is no second path.
//
// Thread safety: every public method from any thread, except LeaderSwitchMemTables.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "lsm/commit_queue.h"
#include "lsm/database_state.h"

namespace ashlar {

class BackgroundWork;

class CommitPipeline {
 public:
  CommitPipeline(DatabaseState* state, BackgroundWork* background);
  CommitPipeline(const CommitPipeline&) = delete;
  CommitPipeline& operator=(const CommitPipeline&) = delete;

  // Checks the batch (well formed, families that exist, operations that are implemented) and
  // commits it.
  Status Write(const WriteOptions& options, WriteBatch* batch);
  // A batch that the engine built itself: not checked again.
  Status WriteTrusted(const WriteOptions& options, WriteBatch* batch);

  // Runs `task` while no write is in progress and none can begin.
  Status RunExclusive(const std::function<Status()>& task);
  // Makes the active memtables of these families immutable (those that are not empty) and starts a
  // new log for what follows.
  Status SwitchMemTables(std::span<const std::shared_ptr<ColumnFamily>> families,
                         FlushReason reason);
  // The body of SwitchMemTables, for exclusive tasks.
  Status LeaderSwitchMemTables(std::span<const std::shared_ptr<ColumnFamily>> families,
                               FlushReason reason);
  Status SyncLog();
  Status FlushLog();

 private:
  // Waits until a low-priority write gets its turn.
  Status ThrottleLowPriority(const CommitRequest& request);
  bool Join(CommitRequest* request);
  Status Commit(CommitRequest* request);
  Status MakeRoomForWrite();
  // Of all live families. In the leader's thread.
  uint64_t ActiveMemTableBytes() const;
  Status SwitchWhatIsFull();
  Status WaitAtGate(const CommitRequest& request);
  Status PassGate(const CommitRequest& request);
  // The error that a waiting writer gets instead of its turn; OK: it may wait.
  Status WaitingIsInVain() const ASHLAR_REQUIRES(kDatabaseMutex);
  uint64_t NowMicros() const { return state_->clock->NowNanos() / 1000; }
  Status CommitGroupOfWrites(const CommitGroup& group);
  Status AppendToLog(const CommitGroup& group);
  Status SyncLogs();
  // *has_applied: true once a memtable has taken a record, whatever comes after.
  Status Apply(const CommitGroup& group, bool* has_applied);
  uint64_t WalBytesMax() const;

  DatabaseState* const state_;
  BackgroundWork* const background_;
  const size_t group_bytes_max_;
  CommitQueue queue_;

  // The commit leader's own; the hand-over of the lead orders the accesses.
  bool room_check_wanted_ =
      // a memtable is full, the logs are too long, or memtables take more than db_write_buffer_size
      false;
  uint64_t wal_limit_requested_for_ = 0;  // the oldest log for which a flush was already asked
  // With db_write_buffer_size: an upper bound of ActiveMemTableBytes, made exact when it exceeds
  // the limit. Only families that came or went since then, and memtables switched by a flush, make
  // it inexact.
  uint64_t active_bytes_;
  uint64_t next_wal_check_bytes_;  // the total of log bytes at which the limit is looked at again
};

}  // namespace ashlar
