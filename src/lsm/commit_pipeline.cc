#include "lsm/commit_pipeline.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "base/result.h"
#include "execute/read_guard.h"
#include "key/write_batch_internal.h"
#include "lsm/background_work.h"
#include "lsm/memtable_inserter.h"
#include "lsm/predecessor_record.h"
#include "lsm/reader.h"
#include "observe/perf.h"
#include "platform/clock.h"

namespace ashlar {

namespace {

// A writer's check of its batch stays valid as long as the families are the same.
struct BatchCheck {
  const WriteBatch* batch = nullptr;
  bool ignore_missing = false;
  uint64_t families_number = 0;  // of the table that the writer checked the batch against

  static Status Run(void* arg, const FamilyTable& families) {
    const BatchCheck& check = *static_cast<const BatchCheck*>(arg);
    if (families.number == check.families_number) [[likely]]
      return Status::OK();
    bool has_missing = false;  // unused: newly missing families were dropped, and no id is reused
    return CheckBatch(*check.batch, families, check.ignore_missing, &has_missing);
  }
};

Status CheckIsNotDropped(void* arg, const FamilyTable&) {
  return static_cast<const ColumnFamily*>(arg)->CheckNotDropped();
}

}  // namespace

CommitPipeline::CommitPipeline(DatabaseState* state, BackgroundWork* background)
    : state_(state),
      background_(background),
      group_bytes_max_(static_cast<size_t>(state->options.max_write_batch_group_size_bytes)),
      active_bytes_(ActiveMemTableBytes()),
      next_wal_check_bytes_(WalBytesMax()) {}

Status CommitPipeline::Write(const WriteOptions& options, WriteBatch* batch) {
  if (batch == nullptr) return Status::InvalidArgument("the batch is null");
  ASHLAR_RETURN_IF_ERROR(batch->VerifyChecksum());  // hashes all bytes, so outside the guard
  BatchCheck check{.batch = batch, .ignore_missing = options.ignore_missing_column_families};
  {
    const EpochGuard guard(state_->epochs);
    const FamilyTable& families = state_->Families();
    check.families_number = families.number;
    bool has_missing = false;
    ASHLAR_RETURN_IF_ERROR(CheckBatch(*batch, families, check.ignore_missing, &has_missing));
    if (has_missing) log_has_missing_families_.store(true, std::memory_order_relaxed);
  }
  CommitRequest request;
  request.check = &BatchCheck::Run;
  request.check_arg = &check;
  return Submit(options, batch, &request);
}

Status CommitPipeline::WriteEntry(const WriteOptions& options, const ColumnFamily* family,
                                  WriteBatch* batch) {
  ASHLAR_DCHECK(WriteBatchInternal::Count(batch) == 1);  // Requires
  CommitRequest request;
  request.check = &CheckIsNotDropped;
  request.check_arg = const_cast<ColumnFamily*>(family);
  return Submit(options, batch, &request);
}

Status CommitPipeline::Submit(const WriteOptions& options, WriteBatch* batch,
                              CommitRequest* request) {
  if (options.sync && options.disableWAL)
    return Status::InvalidArgument("WriteOptions::sync needs the log; unset disableWAL");
  request->sync = options.sync;
  request->disable_wal = options.disableWAL;
  request->no_slowdown = options.no_slowdown;
  request->log_only = WriteBatchInternal::Count(batch) == 0;
  request->batch = batch;
  request->batch_bytes = batch->GetDataSize();
  ASHLAR_DCHECK(request->batch_bytes >= WriteBatchInternal::kHeaderBytes);  // each batch has one
  if (request->batch_bytes > state_->logs.record_bytes_max() && !options.disableWAL &&
      LoggedPart(*batch).bytes() > state_->logs.record_bytes_max()) [[unlikely]]
    return Status::InvalidArgument(StrCat("a batch of ", LoggedPart(*batch).bytes(),
                                          " bytes is too long for a compressed log (at most ",
                                          state_->logs.record_bytes_max(),
                                          "); divide it, or open without wal_compression"));
  const StopWatch watch(state_->recorder, DB_WRITE);
  if (options.low_pri && state_->write_controller.CompactionBehind())
    ASHLAR_RETURN_IF_ERROR(ThrottleLowPriority(*request));
  return Commit(request);
}

Status CommitPipeline::RunExclusive(const std::function<Status()>& task) {
  CommitRequest request;
  request.kind = CommitRequest::Kind::kExclusive;
  request.exclusive = [](void* arg) {
    return (*static_cast<const std::function<Status()>*>(arg))();
  };
  request.exclusive_arg = const_cast<void*>(static_cast<const void*>(&task));
  if (!Join(&request)) return std::move(request.status);
  const Status status = CatchBadAlloc([&] { return request.exclusive(request.exclusive_arg); });
  queue_.Finish(queue_.FormGroup(&request, 0));
  return status;
}

Status CommitPipeline::RunExclusiveWrite(const std::function<Status()>& task) {
  bool is_locked = true;
  while (is_locked) {
    ASHLAR_RETURN_IF_ERROR(WaitForUnlock());
    ASHLAR_RETURN_IF_ERROR(RunExclusive([&]() -> Status {
      {
        MutexLock lock(state_->mutex());
        is_locked = state_->write_controller.IsLocked();
      }
      return is_locked ? Status::OK() : task();
    }));
  }
  return Status::OK();
}

Status CommitPipeline::Commit(CommitRequest* request) {
  for (;;) {
    if (state_->write_controller.state() != WriteController::State::kOpen)
      ASHLAR_RETURN_IF_ERROR(WaitForWriteController(*request));
    if (!Join(request)) return std::move(request->status);
    Status status = CatchBadAlloc([this] { return MakeRoomForWrite(); });
    if (status.ok() && state_->write_controller.state() == WriteController::State::kStopped) {
      // The writes were stopped after WaitForWriteController. A writer that waited here would be
      // the leader, and would also block syncs and memtable switches.
      queue_.Finish(queue_.FormGroup(request, 0));
      request->Reset();
      continue;
    }
    const CommitGroup group = queue_.FormGroup(request, status.ok() ? group_bytes_max_ : 0);
    if (status.ok()) status = CatchBadAlloc([&] { return CommitGroupOfWrites(group); });
    if (!status.ok()) [[unlikely]] {
      for (CommitRequest& r : group) {
        if (r.status.ok()) r.status = status;
      }
    }
    queue_.Finish(group);
    return std::move(request->status);
  }
}

// ---- Room.

uint64_t CommitPipeline::WalBytesMax() const {
  if (const uint64_t set = state_->log_bytes_max.load(std::memory_order_relaxed); set != 0)
    return set;
  // The program may set the families' limits to any size, so the sum must not overflow.
  constexpr uint64_t kBuffersMax = UINT64_MAX / 4;
  uint64_t buffers = 0;
  const EpochGuard guard(state_->epochs);
  for (const auto& family : state_->Families().families)
    buffers += std::min(family->MemTableLimitBytes(), kBuffersMax - buffers);
  return 4 * buffers;
}

uint64_t CommitPipeline::ActiveMemTableBytes() const {
  uint64_t bytes = 0;
  const EpochGuard guard(state_->epochs);
  for (const auto& family : state_->Families().families)
    bytes += family->LeaderActive()->ApproximateMemoryUsed();
  return bytes;
}

Status CommitPipeline::SwitchWhatIsFull() {
  static_cast<void>(state_->room_check_wanted.exchange(false, std::memory_order_acq_rel));
  std::vector<std::shared_ptr<ColumnFamily>> full;
  FlushReason reason = FlushReason::kWriteBufferFull;
  const uint64_t oldest_log = state_->logs.OldestNumber();
  bool ask_old = false;
  bool is_spent = false;  // no memtable has a write of the oldest log
  {
    const uint64_t log_bytes = state_->logs.TotalBytes();
    const uint64_t log_bytes_max = WalBytesMax();
    const bool logs_too_long = log_bytes > log_bytes_max;
    next_wal_check_bytes_ = logs_too_long ? log_bytes + log_bytes_max / 16 : log_bytes_max;
    const MemoryBudget* const budget = state_->memory.budget();
    const bool memory_is_full = budget != nullptr && budget->IsFull();
    MutexLock lock(state_->mutex());
    ask_old = logs_too_long && wal_limit_requested_for_ != oldest_log;
    if (ask_old) reason = FlushReason::kWalFull;
    is_spent = ask_old;
    std::vector<std::shared_ptr<ColumnFamily>> others;
    for (std::shared_ptr<ColumnFamily>& family : state_->LiveFamilies()) {
      const bool holds_old_log = ask_old && family->OldestLogNumber() <= oldest_log;
      if (holds_old_log && !(family->LeaderActive()->IsEmpty() && family->immutable().empty()))
        is_spent = false;
      const bool must_flush = holds_old_log || (memory_is_full && !family->immutable().empty());
      if (must_flush) family->flush_wanted = true;
      if (family->IsFull() || (holds_old_log && !family->LeaderActive()->IsEmpty())) {
        full.push_back(std::move(family));
        continue;
      }
      if (must_flush) {
        background_->ViewChanged(family);  // its immutable memtables wait for more of them
      }
      if (!family->LeaderActive()->IsEmpty()) others.push_back(std::move(family));
    }
    const bool none_is_full = full.empty();
    if (AddLargest(std::move(others), &full) && none_is_full)
      reason = FlushReason::kWriteBufferManager;
  }
  // Log data, and writes that left no entry, are in no memtable whose flush would release the log.
  const bool ends_log = is_spent && oldest_log == state_->logs.current_number();
  if (!full.empty() || ends_log) ASHLAR_RETURN_IF_ERROR(LeaderSwitchMemTables(full, reason));
  if (is_spent) {
    MutexLock lock(state_->mutex());
    const std::shared_ptr<ColumnFamily>& family = state_->Families().families.front();
    family->log_release_wanted = true;
    background_->ViewChanged(family);
  }
  // Set after all that can fail, so that a failure does not cancel the request to flush this log.
  if (ask_old) wal_limit_requested_for_ = oldest_log;
  StopWritersForMemory();
  return Status::OK();
}

bool CommitPipeline::AddLargest(std::vector<std::shared_ptr<ColumnFamily>> others,
                                std::vector<std::shared_ptr<ColumnFamily>>* full) {
  const uint64_t bytes_max = state_->options.db_write_buffer_size;
  const MemoryBudget* const budget = state_->memory.budget();
  uint64_t staying_bytes = bytes_max > 0 ? ActiveMemTableBytes() : 0;
  size_t leaving_bytes = 0;  // of the budget
  const auto count_leaving = [&](const MemTable& table) {
    staying_bytes -= std::min<uint64_t>(staying_bytes, table.ApproximateMemoryUsed());
    leaving_bytes += table.ArenaBytes();
  };
  for (const std::shared_ptr<ColumnFamily>& family : *full) count_leaving(*family->LeaderActive());
  bool others_exceed = false;
  if (budget != nullptr) {
    size_t own_bytes = 0;
    for (const std::shared_ptr<ColumnFamily>& family : state_->Families().families)
      own_bytes += family->LeaderActive()->ArenaBytes();
    others_exceed = budget->OthersExceed(own_bytes);
  }
  const auto is_smaller = [](const auto& a, const auto& b) {
    return a->LeaderActive()->ApproximateMemoryUsed() < b->LeaderActive()->ApproximateMemoryUsed();
  };
  bool any = false;
  bool is_heap = false;  // built when needed: mostly one of thousands of families is added
  while (!others.empty()) {
    const bool own_too_much = bytes_max > 0 && staying_bytes > bytes_max;
    if (!own_too_much && (budget == nullptr || !budget->WantsFlush(leaving_bytes))) break;
    if (!is_heap) std::make_heap(others.begin(), others.end(), is_smaller);
    is_heap = true;
    std::pop_heap(others.begin(), others.end(), is_smaller);
    std::shared_ptr<ColumnFamily> family = std::move(others.back());
    others.pop_back();
    if (!own_too_much && others_exceed && !family->immutable().empty()) continue;
    count_leaving(*family->LeaderActive());
    family->flush_wanted = true;
    full->push_back(std::move(family));
    any = true;
  }
  active_bytes_ = staying_bytes;
  return any;
}

void CommitPipeline::StopWritersForMemory() {
  const MemoryBudget* const budget = state_->memory.budget();
  if (budget == nullptr || !budget->StopsWriters()) return;
  MutexLock lock(state_->mutex());
  state_->write_controller.SetAwaitsMemory(true);
}

void CommitPipeline::EndStopForMemory() {
  WriteController& controller = state_->write_controller;
  if (controller.AwaitsMemory() && !state_->memory.budget()->StopsWriters())
    controller.SetAwaitsMemory(false);
}

Status CommitPipeline::LeaderSwitchMemTables(
    std::span<const std::shared_ptr<ColumnFamily>> families, FlushReason reason) {
  const uint64_t log_number = state_->versions->NewFileNumber();
  const Status started = CatchBadAlloc([&] {
    return state_->logs.StartNewLog({.number = log_number,
                                     .next_sequence = state_->PublishedSequence() + 1,
                                     .directory_handle = state_->wal_directory_handle.get()});
  });
  if (!started.ok()) {
    background_->LatchError(BackgroundErrorReason::kWriteCallback, "start of a new log", started);
    return started;
  }
  ASHLAR_ASSERT(state_->logs.current_number() == log_number);  // StartNewLog
  std::vector<std::pair<ColumnFamily*, ColumnFamily::PreparedSwitch>> switches;
  switches.reserve(families.size());
  {
    MutexLock lock(state_->mutex());
    for (const std::shared_ptr<ColumnFamily>& family : families) {
      if (family->LeaderActive()->IsEmpty()) continue;
      switches.emplace_back(family.get(), family->PrepareSwitch());
      background_->outbox().AddSealedMemTable(*family);
    }
    // Nothing is allocated from here on until all families have switched.
    for (auto& [family, prepared] : switches) {
      family->flush_reason = reason;
      family->SwitchMemTable(std::move(prepared), log_number);
      ASHLAR_ASSERT(family->LeaderLogNumber() == log_number);  // I3 of column_family.h
    }
    // Includes families whose older memtables wait for a flush. Once those are in tables, no old
    // log may be replayed on top of them.
    for (const std::shared_ptr<ColumnFamily>& family : state_->Families().families)
      family->AdvanceEmptyMemTable(log_number);
    for (const std::shared_ptr<ColumnFamily>& family : families) {
      ASHLAR_DCHECK(family->dropped() || family->LeaderActive()->IsEmpty());  // switched above
      background_->ViewChanged(family);
    }
  }
  state_->epochs.Reclaim();
  return Status::OK();
}

Status CommitPipeline::LeaderPrepareLogForFamily() {
  if (!log_has_missing_families_.load(std::memory_order_relaxed)) return Status::OK();
  return LeaderSwitchMemTables({}, FlushReason::kOthers);
}

Status CommitPipeline::ThrottleLowPriority(const CommitRequest& request) {
  if (request.no_slowdown)
    return Status::Incomplete(
        "a low-priority write has to wait while compaction is behind, and "
        "WriteOptions::no_slowdown is set; try again later, or unset it");
  MutexLock lock(state_->mutex());
  const uint64_t turn_us =
      state_->write_controller.ReserveLowPriority(NowMicros(), request.batch_bytes);
  while (state_->write_controller.CompactionBehind()) {
    ASHLAR_RETURN_IF_ERROR(WaitingIsInVain());
    const uint64_t now_us = NowMicros();
    if (now_us >= turn_us) break;
    state_->clock->WaitForMicros(state_->changed, state_->mutex(), turn_us - now_us);
  }
  return Status::OK();
}

Status CommitPipeline::WaitForWriteController(const CommitRequest& request) {
  ASHLAR_ASSERT(request.older == nullptr && request.newer == nullptr);                      // I5
  ASHLAR_ASSERT(request.state.load(std::memory_order_relaxed) == CommitRequest::kWaiting);  // I5
  if (request.no_slowdown) {
    MutexLock lock(state_->mutex());
    EndStopForMemory();  // there may be no waiting writer that does it
    if (state_->write_controller.state() == WriteController::State::kOpen) return Status::OK();
    return Status::Incomplete(
        "writes are slowed down or stopped, and WriteOptions::no_slowdown is set; try again later, "
        "or unset it");
  }
  const PerfTimer timer(&PerfContext::write_delay_time, kEnableWait);
  const Recorder& recorder = state_->recorder;
  const uint64_t start_nanos = recorder.IsOn() ? MonotonicNanos() : 0;
  const Status passed = WaitForTurn(request);
  if (!recorder.IsOn()) return passed;
  const uint64_t micros = (MonotonicNanos() - start_nanos) / 1000;
  recorder.Tick(STALL_MICROS, micros);  // also at the levels without times
  recorder.RecordTime(WRITE_STALL, micros);
  return passed;
}

Status CommitPipeline::WaitForTurn(const CommitRequest& request) {
  MutexLock lock(state_->mutex());
  WriteController& controller = state_->write_controller;
  uint64_t bytes = request.batch_bytes;  // the bytes for which the writer has not waited yet
  uint64_t reserved_us = 0;
  std::optional<uint64_t> turn_us;
  uint64_t generation = 0;
  const MemoryBudget* const budget = state_->memory.budget();
  for (;;) {
    const uint64_t wakes = budget == nullptr ? 0 : budget->Wakes();
    ASHLAR_RETURN_IF_ERROR(WaitingIsInVain());
    EndStopForMemory();
    if (controller.state() == WriteController::State::kOpen) return Status::OK();
    if (controller.state() == WriteController::State::kStopped) {
      if (controller.AwaitsJobs()) ASHLAR_RETURN_IF_ERROR(state_->CheckRunsJobs());
      if (controller.AwaitsMemory()) {
        state_->WaitForMemory(wakes);
      } else {
        state_->WaitForChange();
      }
      continue;
    }
    const uint64_t now_us = NowMicros();
    if (turn_us.has_value() && now_us >= *turn_us) return Status::OK();
    if (!turn_us.has_value() || generation != controller.generation()) {
      // The time already waited counts. Otherwise a rate that changes often could delay the writer
      // forever.
      if (turn_us.has_value()) {
        ASHLAR_DCHECK(reserved_us <= now_us);  // the clock is monotonic
        // As doubles, because bytes times microseconds overflows 64 bits at slow rates.
        const auto left = static_cast<double>(*turn_us - now_us);
        const auto whole = static_cast<double>(std::max<uint64_t>(*turn_us - reserved_us, 1));
        bytes = static_cast<uint64_t>(static_cast<double>(bytes) * (left / whole));
      }
      turn_us = controller.Reserve(now_us, bytes);
      reserved_us = now_us;
      generation = controller.generation();
      continue;
    }
    state_->clock->WaitForMicros(state_->changed, state_->mutex(), *turn_us - now_us);
  }
}

Status CommitPipeline::WaitingIsInVain() const {
  ASHLAR_RETURN_IF_ERROR(state_->CheckNotClosing());
  return state_->error_handler.WriteStatus();
}

// ---- The group.

Status CommitPipeline::CommitGroupOfWrites(const CommitGroup& group) {
  const FamilyTable& families = state_->Families();  // I2 of FamilyTable
  SequenceNumber next = state_->PublishedSequence() + 1;
  for (CommitRequest& r : group) {
    ASHLAR_DCHECK(r.kind == CommitRequest::Kind::kWrite);  // exclusive requests are alone
    ASHLAR_DCHECK(r.status.ok());                          // none is refused yet
    if (r.check != nullptr) {
      if (Status refusal = r.check(r.check_arg, families); !refusal.ok()) [[unlikely]] {
        r.status = std::move(refusal);  // I6
        continue;
      }
    }
    r.first_sequence = next;
    WriteBatchInternal::SetSequence(r.batch, next);
    if (!r.log_only) next += WriteBatchInternal::Count(r.batch);
  }
  if constexpr (kDebugChecks) CheckInvariants(group, next);
  if (const Status logged = CatchBadAlloc([&] { return AppendToLog(group); }); !logged.ok()) {
    state_->logs.Fail(logged);
    background_->LatchError(BackgroundErrorReason::kWriteCallback, "write to the log", logged);
    ASHLAR_ASSERT(state_->error_handler.IsSet());  // I4: a resume needs the lead
    return logged;
  }
  bool has_applied = false;
  if (const Status applied = CatchBadAlloc([&] { return Apply(group, &has_applied); });
      !applied.ok()) {
    // If no memtable has a part of the group, only the log contains it, as after a failed append.
    background_->LatchError(
        has_applied ? BackgroundErrorReason::kMemTable : BackgroundErrorReason::kWriteCallback,
        "application of a logged batch", applied);
    ASHLAR_ASSERT(state_->error_handler.IsSet());  // I3: what is applied is not published
    return applied;
  }
  ASHLAR_DCHECK(&state_->Families() == &families);  // I7: none has come or gone since the checks
  const SequenceNumber before =
      state_->published_sequence.exchange(next - 1, std::memory_order_release);
  ASHLAR_DCHECK(before <= next - 1);  // I3
  if (state_->recorder.IsOn()) RecordGroup(group, next - 1 - before);
  return Status::OK();
}

void CommitPipeline::CheckInvariants(const CommitGroup& group, SequenceNumber end) const {
  SequenceNumber next = state_->PublishedSequence() + 1;
  for (const CommitRequest& r : group) {
    if (!r.status.ok()) {
      ASHLAR_ASSERT(r.first_sequence == 0);  // I6
      continue;
    }
    ASHLAR_ASSERT(r.first_sequence == next);                                 // I1
    ASHLAR_ASSERT(WriteBatchInternal::Sequence(r.batch) == next);            // I1: the log gets it
    ASHLAR_ASSERT(r.log_only == (WriteBatchInternal::Count(r.batch) == 0));  // Submit
    next += WriteBatchInternal::Count(r.batch);
  }
  ASHLAR_ASSERT(next == end && end <= kSequenceNumberMax + 1);  // I1
}

void CommitPipeline::RecordGroup(const CommitGroup& group, uint64_t keys) {
  uint64_t bytes = 0;
  uint64_t requests = 0;
  for (const CommitRequest& r : group) {
    if (!r.status.ok()) continue;  // refused: I6
    bytes += r.batch_bytes;
    ++requests;
  }
  if (requests == 0) return;
  const uint64_t by_leader = (*group.begin()).status.ok() ? 1 : 0;
  state_->recorder.Tick(NUMBER_KEYS_WRITTEN, keys);
  state_->recorder.Tick(BYTES_WRITTEN, bytes);
  state_->recorder.Tick(WRITE_DONE_BY_SELF, by_leader);
  state_->recorder.Tick(WRITE_DONE_BY_OTHER, requests - by_leader);
  state_->recorder.Record(BYTES_PER_WRITE, bytes);
}

void CommitPipeline::NoteUnloggedWrite() {
  if (!state_->unlogged_writes.load(std::memory_order_relaxed))
    state_->unlogged_writes.store(true, std::memory_order_relaxed);
}

Status CommitPipeline::AppendToLog(const CommitGroup& group) {
  const PerfTimer timer(&PerfContext::write_wal_time);
  uint64_t logged_batches = 0;
  uint64_t logged_bytes = 0;
  for (const CommitRequest& r : group) {
    if (!r.status.ok()) continue;
    if (r.disable_wal) {
      NoteUnloggedWrite();
      continue;
    }
    if (r.batch->GetWalTerminationPoint().is_cleared() && !r.log_only) [[likely]] {
      const Slice contents = r.batch->Data();
      ASHLAR_RETURN_IF_ERROR(state_->logs.Append(std::span<const Slice>(&contents, 1)));
      logged_bytes += contents.size();
    } else {
      const LoggedPart logged(*r.batch);
      if (!logged.IsWhole()) NoteUnloggedWrite();
      std::vector<Slice> pieces(logged.pieces().begin(), logged.pieces().end());
      if (ReadsAsPredecessorRecord(pieces))
        pieces.emplace_back(kEmptyLogData.data(), kEmptyLogData.size());
      ASHLAR_RETURN_IF_ERROR(state_->logs.Append(pieces));
      logged_bytes += logged.bytes();
    }
    ++logged_batches;
  }
  if (group.sync) {
    ASHLAR_RETURN_IF_ERROR(SyncLogs());
  } else if (logged_batches > 0 && !state_->options.manual_wal_flush) {
    ASHLAR_RETURN_IF_ERROR(state_->logs.FlushCurrent());
  }
  if (state_->recorder.IsOn() && logged_batches > 0) {
    state_->recorder.Tick(WAL_FILE_BYTES, logged_bytes);
    state_->recorder.Tick(WRITE_WITH_WAL, logged_batches);
  }
  ASHLAR_DCHECK(logged_batches <= group.requests);  // I2
  state_->logs.EndGroup();
  return Status::OK();
}

Status CommitPipeline::SyncLogs() {
  const StopWatch watch(state_->recorder, WAL_FILE_SYNC_MICROS);
  state_->recorder.Tick(WAL_FILE_SYNCED);
  return state_->logs.SyncAll();
}

Status CommitPipeline::Apply(const CommitGroup& group, bool* has_applied) {
  const PerfTimer timer(&PerfContext::write_memtable_time, kEnableWait);
  ReadGuard guard(state_->epochs);
  const uint64_t memory_max = state_->options.db_write_buffer_size;
  const Reader reader(state_, background_);
  MemTableInserter inserter(MemTableInserter::Args{.families = &state_->Families(),
                                                   .counts_bytes = memory_max > 0,
                                                   .reader = &reader,
                                                   .logger = state_->logger.get(),
                                                   .guard = &guard});
  for (const CommitRequest& r : group) {
    if (!r.status.ok() || r.log_only) continue;
    ASHLAR_DCHECK(r.first_sequence > state_->PublishedSequence());  // I3
    ASHLAR_RETURN_IF_ERROR(inserter.Apply(r.batch->Data(), r.first_sequence, has_applied));
  }
  if (memory_max > 0) active_bytes_ += inserter.GrownBytes();
  const bool too_much_memory = memory_max > 0 && active_bytes_ > memory_max;
  if (inserter.TakeFoundFull() || state_->logs.TotalBytes() > next_wal_check_bytes_ ||
      too_much_memory)
    CheckRoomAgain();
  return Status::OK();
}

// ---- Exclusive tasks.

Status CommitPipeline::SwitchMemTables(std::span<const std::shared_ptr<ColumnFamily>> families,
                                       FlushReason reason) {
  return RunExclusive([=, this] {
    // Close latches before it closes the logs, so that no log is created after LOCK is released.
    ASHLAR_RETURN_IF_ERROR(state_->error_handler.WriteStatus());
    return LeaderSwitchMemTables(families, reason);
  });
}

Status CommitPipeline::SyncLog() {
  ASHLAR_RETURN_IF_ERROR(FlushLog());
  return SyncDuringWrites();
}

Status CommitPipeline::SyncDuringWrites() {
  const StopWatch watch(state_->recorder, WAL_FILE_SYNC_MICROS);
  state_->recorder.Tick(WAL_FILE_SYNCED);
  const Status synced = state_->logs.SyncDuringAppends();
  if (synced.ok()) return synced;
  // If a writer has met the same error since and a resume has cured it, the failed log is gone.
  static_cast<void>(RunExclusive([&] {
                      return state_->logs.HasFailedLog() ? LatchSyncError(synced) : Status::OK();
                    }).ok());
  return synced;
}

Status CommitPipeline::LeaderSyncLog() { return LatchSyncError(SyncLogs()); }

Status CommitPipeline::LatchSyncError(Status synced) {
  if (!synced.ok())
    background_->LatchError(BackgroundErrorReason::kWriteCallback, "sync of the log", synced);
  return synced;
}

Status CommitPipeline::FlushLog() {
  return RunExclusive([this] {
    ASHLAR_RETURN_IF_ERROR(state_->error_handler.WriteStatus());
    const Status flushed = state_->logs.FlushCurrent();
    if (flushed.ok()) {
      state_->logs.EndGroup();
    } else {
      background_->LatchError(BackgroundErrorReason::kWriteCallback, "flush of the log", flushed);
    }
    return flushed;
  });
}

Status CommitPipeline::LockWrites() {
  {
    MutexLock lock(state_->mutex());
    ASHLAR_RETURN_IF_ERROR(state_->CheckNotClosing());
    state_->write_controller.Lock();
  }
  // Groups that passed the controller earlier are committed before this request leads. Later
  // leaders find the writes stopped (Commit).
  const Status flushed = FlushLog();
  if (!flushed.ok()) static_cast<void>(UnlockWrites());
  return flushed;
}

Status CommitPipeline::WaitForUnlock() {
  MutexLock lock(state_->mutex());
  while (state_->write_controller.IsLocked()) {
    ASHLAR_RETURN_IF_ERROR(state_->CheckNotClosing());
    state_->WaitForChange();
  }
  return Status::OK();
}

bool CommitPipeline::UnlockWrites() {
  MutexLock lock(state_->mutex());
  if (!state_->write_controller.Unlock()) return false;
  state_->NotifyChange();
  return true;
}

}  // namespace ashlar
