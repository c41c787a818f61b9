#include "lsm/flush_runner.h"

#include <optional>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/out_of_memory.h"
#include "base/result.h"
#include "filesystem/filename.h"
#include "lsm/resolve_options.h"
#include "lsm/wal_archive.h"
#include "memtable/memtable_cursor.h"

namespace ashlar {

std::unique_ptr<FlushRunner::Flush> FlushRunner::Start(
    const std::shared_ptr<ColumnFamily>& family) {
  auto flush = std::make_unique<Flush>();
  *flush = Begin(family, TableFileCreationReason::kFlush, parts_.interrupt);
  return flush;
}

FlushRunner::Flush FlushRunner::Begin(const std::shared_ptr<ColumnFamily>& family,
                                      TableFileCreationReason reason,
                                      const std::atomic<bool>* interrupt) {
  Flush flush{.family = family,
              .reason = reason,
              .interrupt = interrupt,
              .settings = TakeJobSettings(*state_, *family),
              .switched_for = family->flush_reason,
              .pending = state_->memory.BeginFlush()};
  flush.edit.column_family = family->id();
  flush.releases_log = family->log_release_wanted;
  flush.tables = family->StartFlush();
  for (size_t i = 1; i < flush.tables.size(); ++i)
    ASHLAR_ASSERT(flush.tables[i - 1]->id() < flush.tables[i]->id());  // I2 of column_family.h
  return flush;
}

void FlushRunner::Cancel(const Flush& flush) {
  flush.family->EndFlush(0);
  flush.family->flush_wanted = true;
  if (flush.releases_log) flush.family->log_release_wanted = true;
}

Status FlushRunner::Run(Flush* flush) { return RunAll({flush, 1}, Status::OK()); }

Status FlushRunner::RunTogether(std::span<const std::shared_ptr<ColumnFamily>> families,
                                TableFileCreationReason reason) {
  parts_.outbox->Notify();
  std::vector<Flush> flushes;
  flushes.reserve(families.size());
  Status status;
  {
    MutexLock lock(state_->mutex());
    ASHLAR_ASSERT(state_->jobs_held);  // I1: no job of the pool takes these memtables
    ASHLAR_RETURN_IF_ERROR(state_->CheckNotClosing());
    ++running_together_;
    status = CatchBadAlloc([&] {
      kDatabaseMutex.AssertHeld();
      // Neither a pause nor a cancel stops it. Otherwise the database would stay read-only, or lose
      // writes that no log has.
      for (const std::shared_ptr<ColumnFamily>& family : families)
        flushes.push_back(Begin(family, reason, &state_->closing));
      return Status::OK();
    });
  }
  status = RunAll(flushes, status);
  MutexLock lock(state_->mutex());
  ASHLAR_ASSERT(running_together_ > 0);  // counted above
  --running_together_;
  state_->NotifyChange();
  return status;
}

Status FlushRunner::RunAll(std::span<Flush> flushes, const Status& begun) {
  Status status = begun.ok() ? CatchBadAlloc([&] { return BuildAndInstall(flushes); }) : begun;
  for (Flush& flush : flushes) {
    if (flush.events != nullptr)
      IgnoreBadAlloc([&] { flush.events->FlushEnded(flush.tables, flush.statistics, status); });
  }
  if (status.ok())
    EndReports(flushes);
  else
    Abandon(flushes);
  // These references are usually the last ones, so the next memtable can reuse the memory at once.
  for (Flush& flush : flushes) flush.tables.clear();
  state_->epochs.ReclaimPatiently();
  return status;
}

Status FlushRunner::BuildAndInstall(std::span<Flush> flushes) {
  const uint64_t failures_before = state_->directory_handle->failures();
  for (Flush& flush : flushes) ASHLAR_RETURN_IF_ERROR(Build(&flush));
  ASHLAR_RETURN_IF_ERROR(state_->directory_handle->Sync(failures_before));
  if (SetLogNumbers(flushes)) {
    ASHLAR_RETURN_IF_ERROR(state_->logs.SyncClosed());  // I2
  } else if (WalArchive::IsEnabled(*state_)) {
    // I2. A log that failed stays as it is, because flushes save its writes.
    static_cast<void>(state_->logs.SyncClosed().ok());
  }
  return Install(flushes);
}

bool FlushRunner::SetLogNumbers(std::span<Flush> flushes) {
  MutexLock lock(state_->mutex());
  size_t live = 0;  // of the families that are flushed
  for (Flush& flush : flushes) {
    ASHLAR_ASSERT(flush.edit.column_family == flush.family->id());  // Begin
    flush.edit.log_number = flush.family->LogNumberAfterFlush(flush.tables.size());
    ASHLAR_ASSERT(*flush.edit.log_number <= state_->logs.current_number());  // I2
    if (!flush.family->dropped()) ++live;
  }
  return state_->Families().families.size() > live;
}

Status FlushRunner::Build(Flush* flush) {
  if (flush->tables.empty()) return Status::OK();
  ASHLAR_ASSERT(flush->events == nullptr);  // a flush runs once
  flush->events = std::make_unique<JobEvents>(state_, *flush->family, flush->reason);
  flush->events->FlushBegun(flush->tables, flush->switched_for);
  return BuildTable(flush);
}

Status FlushRunner::BuildTable(Flush* flush) {
  FlushJobArgs args{.job = MakeJobArgs(*state_, *flush->family, flush->settings, flush->interrupt),
                    .memtables = {},
                    .ranges = {}};
  args.job.output.observer = flush->events.get();
  args.job.output.sync_histogram = TABLE_SYNC_MICROS;
  args.job.output.table.priority = IO_HIGH;
  args.job.filter.factory = flush->settings.options.compaction_filter_factory.get();
  args.job.filter.context.column_family_id = flush->family->id();
  args.job.filter.context.reason = flush->reason;
  args.job.output.table.level = 0;
  args.job.output.table.config.filter_kind =
      ResolveFilterKind(flush->settings.options, kFlushFilterLevel);
  args.job.output.table.compression = ResolveFlushCompression(flush->settings.options);
  std::vector<SequenceNumber> readers = args.job.snapshots;
  readers.push_back(kSequenceNumberMax);
  for (auto table = flush->tables.rbegin(); table != flush->tables.rend(); ++table) {
    if ((*table)->HasRangeDeletions()) args.ranges.push_back((*table)->Ranges(readers));
    args.memtables.push_back(std::make_unique<MemTableCursor>(
        table->get(), MemTableCursor::PinMode::kBorrowed, nullptr));
    args.expected_entries += (*table)->entries();
  }
  ASHLAR_ASSERT(args.memtables.size() == flush->tables.size());  // I1
  const TableJobArgs job = args.job;
  TableJobResult result;
  ASHLAR_RETURN_IF_ERROR(RunFlush(std::move(args), &result));
  const Status kept = CatchBadAlloc([&] {
    flush->statistics = result.statistics;
    result.AddFilesTo(0, &flush->edit);
    return Status::OK();
  });
  if (!kept.ok()) DiscardTableJob(job, &result);
  return kept;
}

Status FlushRunner::Install(std::span<Flush> flushes) {
  std::vector<VersionEdit> edits;
  edits.reserve(flushes.size());
  for (Flush& flush : flushes) {
    if (flush.events != nullptr) flush.events->Installing();
    edits.push_back(std::move(flush.edit));
  }
  std::optional<uint64_t> oldest_log;  // 0: RocksDB made a family and never flushed it
  const auto end_flushes = [&] {
    kDatabaseMutex.AssertHeld();
    for (Flush& flush : flushes) {
      flush.family->EndFlush(flush.tables.size());
      if (IsReported(flush)) flush.family->BeginFlushReport(flush.tables.front()->id());
      if (!flush.tables.empty()) flush.family->totals.CountJob(0, flush.statistics);
      if (flush.statistics.entries.filter_skipped)
        flush.family->ActiveLocked()->EndGaps();  // G2 of docs/range-deletions.md
    }
    oldest_log = parts_.files->OldestRecordedLog();
  };
  ASHLAR_RETURN_IF_ERROR(parts_.installer->Install(std::move(edits), end_flushes));
  ASHLAR_ASSERT(oldest_log.has_value());  // end_flushes ran
  parts_.files->ReleaseLogs(*oldest_log);
  return Status::OK();
}

void FlushRunner::Abandon(std::span<Flush> flushes) {
  for (Flush& flush : flushes) state_->versions->DiscardNewFiles({&flush.edit, 1});
  MutexLock lock(state_->mutex());
  // Threads that wait for the flush get ErrorHandler's error. A resume starts the flush again.
  for (const Flush& flush : flushes) Cancel(flush);
}

void FlushRunner::EndReports(std::span<const Flush> flushes) {
  if (state_->options.listeners.empty()) return;
  MutexLock lock(state_->mutex());
  for (const Flush& flush : flushes) {
    if (IsReported(flush)) flush.family->EndFlushReport(flush.tables.front()->id());
  }
  state_->NotifyChange();
}

}  // namespace ashlar
