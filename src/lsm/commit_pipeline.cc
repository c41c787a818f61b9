#include "lsm/commit_pipeline.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/result.h"
#include "key/write_batch_internal.h"
#include "lsm/background_work.h"
#include "lsm/memtable_inserter.h"
#include "observe/perf.h"

namespace ashlar {

namespace {
// What a low-priority writer gets while compaction is behind.
constexpr uint64_t kLowPriorityBytesPerSecond = uint64_t{1} << 20;
constexpr uint64_t kLowPriorityWaitUsMax = 1000000;
}  // namespace

CommitPipeline::CommitPipeline(DatabaseState* state, BackgroundWork* background)
    : state_(state),
      background_(background),
      group_bytes_max_(static_cast<size_t>(state->options.max_write_batch_group_size_bytes)),
      next_wal_check_bytes_(WalBytesMax()) {}

Status CommitPipeline::Write(const WriteOptions& options, WriteBatch* batch) {
  if (batch == nullptr) return Status::InvalidArgument("the batch is null");
  {
    const EpochGuard guard;
    ASHLAR_RETURN_IF_ERROR(CheckBatch(*batch, state_->Families(), options.ignore_missing_column_families));
  }
  return WriteTrusted(options, batch);
}

Status CommitPipeline::WriteTrusted(const WriteOptions& options, WriteBatch* batch) {
  if (options.sync && options.disableWAL) return Status::InvalidArgument("WriteOptions::sync needs the log; unset disableWAL");
  if (options.no_slowdown && state_->gate.state() != WriteGate::State::kOpen) return Status::Incomplete("writes are slowed down or stopped");
  if (options.low_pri && state_->gate.CompactionBehind()) ASHLAR_RETURN_IF_ERROR(GiveWay(options, batch->GetDataSize()));
  CommitRequest request;
  request.sync = options.sync;
  request.disable_wal = options.disableWAL;
  request.no_slowdown = options.no_slowdown;
  request.batch = batch;
  request.batch_bytes = batch->GetDataSize();
  const StopWatch watch(state_->recorder, DB_WRITE);
  return Commit(&request);
}

Status CommitPipeline::GiveWay(const WriteOptions& options, uint64_t bytes) {
  if (options.no_slowdown) return Status::Incomplete("low-priority writes wait while compaction is behind");
  state_->clock->SleepForMicros(std::min(bytes * 1000000 / kLowPriorityBytesPerSecond, kLowPriorityWaitUsMax));
  return Status::OK();
}

Status CommitPipeline::RunExclusive(const std::function<Status()>& task) {
  CommitRequest request;
  request.kind = CommitRequest::Kind::kExclusive;
  request.exclusive = [](void* arg) { return (*static_cast<const std::function<Status()>*>(arg))(); };
  request.exclusive_arg = const_cast<void*>(static_cast<const void*>(&task));
  return Commit(&request);
}

bool CommitPipeline::Join(CommitRequest* request) {
  const PerfTimer timer(&PerfContext::write_thread_wait_nanos);
  return queue_.Join(request);
}

Status CommitPipeline::Commit(CommitRequest* request) {
  if (!Join(request)) return std::move(request->status);
  if (request->kind == CommitRequest::Kind::kExclusive) {
    request->status = request->exclusive(request->exclusive_arg);
    queue_.Finish(queue_.FormGroup(request, 0));
    return std::move(request->status);
  }
  Status status = MakeRoom(*request);
  const CommitGroup group = queue_.FormGroup(request, status.ok() ? group_bytes_max_ : 0);
  if (status.ok()) status = CommitGroupOfWrites(group);
  if (group.requests > 1 && !status.ok()) {
    for (CommitRequest* r = group.first->newer;; r = r->newer) {
      r->status = status;
      if (r == group.last) break;
    }
  }
  queue_.Finish(group);
  return status;
}

// ---- Room.

Status CommitPipeline::MakeRoom(const CommitRequest& leader) {
  if (state_->latch.IsSet()) return state_->latch.status();
  if (room_check_wanted_) ASHLAR_RETURN_IF_ERROR(SwitchWhatIsFull());
  if (state_->gate.state() != WriteGate::State::kOpen) return WaitAtGate(leader);
  return Status::OK();
}

uint64_t CommitPipeline::WalBytesMax() const {
  if (const uint64_t set = state_->log_bytes_max.load(std::memory_order_relaxed); set != 0) return set;
  uint64_t buffers = 0;
  const EpochGuard guard;
  for (const auto& family : state_->Families().by_id) {
    if (family != nullptr) buffers += family->MemTableLimitBytes();
  }
  return 4 * buffers;
}

bool CommitPipeline::MemTablesTakeTooMuch() const {
  const uint64_t bytes_max = state_->options.db_write_buffer_size;
  if (bytes_max == 0) [[likely]]
    return false;
  uint64_t bytes = 0;
  const EpochGuard guard;
  for (const auto& family : state_->Families().by_id) {
    if (family != nullptr) bytes += family->active()->ApproximateMemoryUsed();
  }
  return bytes > bytes_max;
}

Status CommitPipeline::SwitchWhatIsFull() {
  room_check_wanted_ = false;
  std::vector<std::shared_ptr<ColumnFamily>> full;
  FlushReason reason = FlushReason::kWriteBufferFull;
  {
    const uint64_t log_bytes = state_->logs.TotalBytes();
    const uint64_t log_bytes_max = WalBytesMax();
    const bool logs_too_long = log_bytes > log_bytes_max;
    next_wal_check_bytes_ = logs_too_long ? log_bytes + log_bytes_max / 16 : log_bytes_max;
    const uint64_t oldest_log = state_->logs.OldestNumber();
    const bool too_much_memory = MemTablesTakeTooMuch();
    MutexLock lock(state_->mutex);
    const bool ask_old = logs_too_long && wal_limit_requested_for_ != oldest_log;
    if (ask_old) reason = FlushReason::kWalFull;
    if (ask_old) wal_limit_requested_for_ = oldest_log;
    std::shared_ptr<ColumnFamily> largest;
    for (std::shared_ptr<ColumnFamily>& family : state_->LiveFamilies()) {
      if (largest == nullptr || family->active()->ApproximateMemoryUsed() > largest->active()->ApproximateMemoryUsed()) largest = family;
      const bool holds_old_log = ask_old && family->OldestLogNumber() <= oldest_log;
      if (holds_old_log) family->flush_wanted = true;
      if (family->IsFull() || (holds_old_log && !family->active()->IsEmpty())) full.push_back(std::move(family));
    }
    if (too_much_memory && full.empty() && largest != nullptr && !largest->active()->IsEmpty()) {
      reason = FlushReason::kWriteBufferManager;
      largest->flush_wanted = true;
      full.push_back(std::move(largest));
    }
  }
  if (full.empty()) return Status::OK();
  return LeaderSwitchMemTables(full, reason);
}

Status CommitPipeline::LeaderSwitchMemTables(std::span<const std::shared_ptr<ColumnFamily>> families, FlushReason reason) {
  const uint64_t log_number = state_->versions->NewFileNumber();
  const Status started = state_->logs.StartNewLog(
      {.number = log_number, .next_sequence = state_->PublishedSequence() + 1, .directory_handle = state_->wal_directory_handle.get()});
  if (!started.ok()) {
    background_->LatchError(BackgroundErrorReason::kMemTable, "start of a new log", started);
    return started;
  }
  {
    MutexLock lock(state_->mutex);
    background_->AssertMutexHeld();
    for (const std::shared_ptr<ColumnFamily>& family : families) {
      if (family->active()->IsEmpty()) continue;
      background_->MemTableSealed(*family);
      family->flush_reason = reason;
      family->SwitchMemTable(log_number);
      family->InstallView();
      background_->ViewChanged(family);
    }
    // Also where older memtables wait: once they are in tables, no old log may be replayed on top of them.
    for (const std::shared_ptr<ColumnFamily>& family : state_->LiveFamilies()) family->AdvanceEmptyMemTable(log_number);
  }
  EpochReclaim();
  return Status::OK();
}

Status CommitPipeline::WaitAtGate(const CommitRequest& leader) {
  if (leader.no_slowdown) return Status::Incomplete("writes are slowed down or stopped");
  const PerfTimer timer(&PerfContext::write_delay_time);
  StopWatch watch(state_->recorder, WRITE_STALL);
  const Status passed = PassGate(leader);
  state_->recorder.Tick(STALL_MICROS, watch.Stop());
  return passed;
}

Status CommitPipeline::PassGate(const CommitRequest& leader) {
  if (state_->gate.state() == WriteGate::State::kDelayed) {
    const uint64_t delay_us = state_->gate.DelayMicros(state_->clock->NowNanos() / 1000, leader.batch_bytes);
    if (delay_us > 0) state_->clock->SleepForMicros(delay_us);
    return Status::OK();
  }
  MutexLock lock(state_->mutex);
  while (state_->gate.state() == WriteGate::State::kStopped && !state_->latch.IsSet() && !state_->closing.load(std::memory_order_relaxed)) {
    state_->WaitForChange();
  }
  if (state_->latch.IsSet()) return state_->latch.status();
  if (state_->closing.load(std::memory_order_relaxed)) return Status::ShutdownInProgress("the database is being closed");
  return Status::OK();
}

// ---- The group.

Status CommitPipeline::CommitGroupOfWrites(const CommitGroup& group) {
  SequenceNumber next = state_->PublishedSequence() + 1;
  for (CommitRequest* r = group.first;; r = r->newer) {
    r->first_sequence = next;
    WriteBatchInternal::SetSequence(r->batch, next);
    next += WriteBatchInternal::Count(r->batch);
    if (r == group.last) break;
  }
  if (const Status logged = AppendToLog(group); !logged.ok()) {
    background_->LatchError(BackgroundErrorReason::kWriteCallback, "write to the log", logged);
    return logged;
  }
  if (const Status applied = Apply(group); !applied.ok()) {
    background_->LatchError(BackgroundErrorReason::kMemTable, "application of a logged batch", applied);
    return applied;
  }
  const SequenceNumber before = state_->published_sequence.exchange(next - 1, std::memory_order_release);
  if (state_->recorder.IsOn()) {
    state_->recorder.Tick(NUMBER_KEYS_WRITTEN, next - 1 - before);
    state_->recorder.Tick(BYTES_WRITTEN, group.bytes);
    state_->recorder.Tick(WRITE_DONE_BY_SELF);
    state_->recorder.Tick(WRITE_DONE_BY_OTHER, group.requests - 1);
    state_->recorder.Record(BYTES_PER_WRITE, group.bytes);
  }
  return Status::OK();
}

Status CommitPipeline::AppendToLog(const CommitGroup& group) {
  const PerfTimer timer(&PerfContext::write_wal_time);
  bool logged = false;
  for (const CommitRequest* r = group.first;; r = r->newer) {
    if (r->disable_wal) {
      if (!state_->unlogged_writes.load(std::memory_order_relaxed)) state_->unlogged_writes.store(true, std::memory_order_relaxed);
    } else {
      const Slice contents = r->batch->Data();
      ASHLAR_RETURN_IF_ERROR(state_->logs.Append(std::span<const Slice>(&contents, 1)));
      state_->recorder.Tick(WAL_FILE_BYTES, contents.size());
      state_->recorder.Tick(WRITE_WITH_WAL);
      logged = true;
    }
    if (r == group.last) break;
  }
  if (group.sync) return SyncLogs();
  if (!logged) return Status::OK();
  if (!state_->options.manual_wal_flush) ASHLAR_RETURN_IF_ERROR(state_->logs.FlushCurrent());
  return Status::OK();
}

Status CommitPipeline::SyncLogs() {
  const StopWatch watch(state_->recorder, WAL_FILE_SYNC_MICROS);
  state_->recorder.Tick(WAL_FILE_SYNCED);
  return state_->logs.SyncAll();
}

Status CommitPipeline::Apply(const CommitGroup& group) {
  const PerfTimer timer(&PerfContext::write_memtable_time);
  const EpochGuard guard;
  MemTableInserter inserter(MemTableInserter::Args{.families = &state_->Families()});
  for (const CommitRequest* r = group.first;; r = r->newer) {
    ASHLAR_RETURN_IF_ERROR(inserter.Apply(r->batch->Data(), r->first_sequence));
    if (r == group.last) break;
  }
  if (inserter.TakeFoundFull() || state_->logs.TotalBytes() > next_wal_check_bytes_ || MemTablesTakeTooMuch()) room_check_wanted_ = true;
  return Status::OK();
}

// ---- Exclusive tasks.

Status CommitPipeline::SwitchMemTables(std::span<const std::shared_ptr<ColumnFamily>> families, FlushReason reason) {
  return RunExclusive([=, this] { return LeaderSwitchMemTables(families, reason); });
}

Status CommitPipeline::SyncLog() {
  return RunExclusive([this] {
    if (state_->latch.IsSet()) return state_->latch.status();
    const Status synced = SyncLogs();
    if (!synced.ok()) background_->LatchError(BackgroundErrorReason::kWriteCallback, "sync of the log", synced);
    return synced;
  });
}

Status CommitPipeline::FlushLog() {
  return RunExclusive([this] {
    if (state_->latch.IsSet()) return state_->latch.status();
    const Status flushed = state_->logs.FlushCurrent();
    if (!flushed.ok()) background_->LatchError(BackgroundErrorReason::kWriteCallback, "flush of the log", flushed);
    return flushed;
  });
}

}  // namespace ashlar
