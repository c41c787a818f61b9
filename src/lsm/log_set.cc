#include "lsm/log_set.h"

#include <algorithm>

#include "base/assert.h"
#include "base/compiler.h"
#include "base/out_of_memory.h"
#include "base/result.h"
#include "filesystem/filename.h"

namespace ashlar {

void LogSet::CheckClosedLogs() const {
  uint64_t bytes = 0;
  for (size_t i = 0; i < closed_.size(); ++i) {
    ASHLAR_ASSERT(i == 0 || closed_[i - 1].number < closed_[i].number);  // I1
    ASHLAR_ASSERT(!closed_[i].synced || closed_[i].writer == nullptr);   // synced and closed
    ASHLAR_ASSERT(closed_[i].writer == nullptr ||
                  closed_[i].bytes <= closed_[i].writer->bytes());  // I5
    bytes += closed_[i].bytes;
  }
  ASHLAR_ASSERT(bytes == closed_bytes_.load(std::memory_order_relaxed));  // the sum over closed_
  ASHLAR_ASSERT(current_number() == 0 || closed_.empty() ||
                closed_.back().number <= current_number());  // I1
}

Status LogSet::StartNewLog(const NewLog& log) {
  ASHLAR_ASSERT(log.number > current_number());  // I1
  ASHLAR_RETURN_IF_ERROR(FinishCurrent());
  auto progress = std::make_shared<LogProgress>(log.number);
  const uint64_t failures_before = log.directory_handle->failures();
  ASHLAR_ASSIGN_OR_RETURN(std::unique_ptr<vfs::WritableFile> file, CreateLogFile(log.number));
  std::unique_ptr<LogWriter> next;
  const Status begun = CatchBadAlloc([&]() -> Status {
    ASHLAR_ASSIGN_OR_RETURN(next, BeginLog(std::move(file), log, failures_before));
    if (current_ != nullptr) RetireCurrent(/*synced=*/false);
    return Status::OK();
  });
  if (!begun.ok()) {
    // The recovery modes that accept no torn tail would treat a torn head as damage. If the
    // deletion fails too, the first error is returned.
    next.reset();
    IgnoreBadAlloc([&] {
      static_cast<void>(file_system_->DeleteFile(WalFileName(directory_, log.number)).ok());
    });
    return begun;
  }
  ASHLAR_ASSERT(current_ == nullptr);  // retired
  current_ = std::move(next);
  current_is_cut_ = false;
  bytes_in_write_back_ = 0;
  leader_progress_ = progress.get();
  PublishProgress();
  {
    MutexLock lock(mutex_);
    progress_ = std::move(progress);
    current_file_ = current_->file();
  }
  // The head needs a sync, too: without it, this log would be shorter than the next one records.
  unsynced_ = current_->bytes() > 0;
  head_bytes_ = current_->bytes();
  current_bytes_.store(current_->bytes(), std::memory_order_relaxed);
  current_number_.store(log.number, std::memory_order_release);
  return Status::OK();
}

Status LogSet::FinishCurrent() {
  if (current_ == nullptr) return Status::OK();
  if (const Status failed = ErrorDuringAppends(); !failed.ok()) current_->Fail(failed);
  if (!current_->status().ok()) return CutFailedCurrent();
  // The flush also truncates a tail, because a closed log ends with its last record.
  ASHLAR_RETURN_IF_ERROR(FailCurrentOn(current_->Flush()));
  ASHLAR_ASSERT(current_->good_bytes() == current_->bytes());  // I5
  PublishProgress();
  return Status::OK();
}

Result<std::unique_ptr<vfs::WritableFile>> LogSet::CreateLogFile(uint64_t number) {
  std::unique_ptr<vfs::WritableFile> file = spares_.Take(number, file_options_);
  if (file == nullptr) {
    ASHLAR_RETURN_IF_ERROR(
        file_system_->NewWritableFile(WalFileName(directory_, number), file_options_, &file));
  }
  return file;
}

Result<std::unique_ptr<LogWriter>> LogSet::BeginLog(std::unique_ptr<vfs::WritableFile> file,
                                                    const NewLog& log, uint64_t failures_before) {
  auto writer =
      std::make_unique<LogWriter>(std::move(file), WalFileName(directory_, log.number), log.number);
  if (spares_.IsEnabled()) writer->NumberFragments();
  ASHLAR_RETURN_IF_ERROR(log.directory_handle->Sync(failures_before));  // I8
  if (compression_ != kNoCompression) ASHLAR_RETURN_IF_ERROR(writer->CompressRecords(compression_));
  if (const std::optional<PredecessorRecord> head = MakeHead(); head.has_value()) {
    ASHLAR_RETURN_IF_ERROR(writer->AddRecord(EncodePredecessorRecord(*head, log.next_sequence)));
    ASHLAR_RETURN_IF_ERROR(writer->HandOver());
  }
  writer->MarkCommitted();
  return writer;
}

void LogSet::RetireCurrent(bool synced) {
  ASHLAR_ASSERT(current_ != nullptr);  // the callers checked
  MutexLock lock(mutex_);
  if (!error_during_appends_.ok()) current_->Fail(std::exchange(error_during_appends_, {}));  // I3
  const bool failed = !current_->status().ok();
  if (failed) spares_.Exclude(current_number());
  closed_.push_back(ClosedLog{.number = current_number(),
                              .bytes = current_->good_bytes(),
                              .writer = nullptr,
                              .synced = synced,
                              .is_empty = current_->good_bytes() <= head_bytes_});
  // No exception from here on. If the allocation above fails, the log stays the current one.
  current_file_ = nullptr;
  closed_bytes_.fetch_add(closed_.back().bytes, std::memory_order_relaxed);
  current_bytes_.store(0, std::memory_order_relaxed);
  if (!synced) closed_.back().writer = std::move(current_);
  current_.reset();
  ASHLAR_ASSERT(leader_progress_->good_bytes.load(std::memory_order_relaxed) <=
                closed_.back().bytes);  // I7
  std::exchange(leader_progress_, nullptr)->closed.store(true, std::memory_order_release);
  progress_.reset();
  if (unsynced_ || failed) closed_unsynced_.store(true, std::memory_order_release);
  if constexpr (kDebugChecks) CheckClosedLogs();
}

ASHLAR_NO_INLINE Status LogSet::FailCurrent(Status status) {
  current_->Fail(status);
  // A failed truncation is repeated, and its error is returned, when the next log is started.
  static_cast<void>(CatchBadAlloc([this] { return CutFailedCurrent(); }).ok());
  return status;
}

Status LogSet::CutFailedCurrent() {
  if (current_is_cut_) return Status::OK();
  ASHLAR_ASSERT(!current_->status().ok() && current_->good_bytes() <= current_->bytes());  // I4
  EndSyncsDuringAppends(current_->status());
  // The file is closed before it is cut. The error that Close returns is the one that the log
  // failed with.
  static_cast<void>(current_->Close().ok());
  ASHLAR_RETURN_IF_ERROR(file_system_->Truncate(current_->file_name(), current_->good_bytes()));
  current_is_cut_ = true;  // I4
  return Status::OK();
}

std::optional<PredecessorRecord> LogSet::MakeHead() const {
  if (current_ != nullptr)
    return PredecessorRecord{.previous_number = current_number(),
                             .previous_bytes = current_->good_bytes()};
  MutexLock lock(mutex_);
  if (closed_.empty() || !closed_.back().synced) return std::nullopt;
  return PredecessorRecord{.previous_number = closed_.back().number,
                           .previous_bytes = closed_.back().bytes};
}

Status LogSet::SyncAdopted() {
  MutexLock lock(mutex_);
  for (ClosedLog& log : closed_) {
    const std::string name = WalFileName(directory_, log.number);
    std::unique_ptr<vfs::WritableFile> file;
    ASHLAR_RETURN_IF_ERROR(file_system_->ReopenWritableFile(name, vfs::FileOptions{}, &file));
    // Extra bytes are the rest of an older log. A log with other bytes after its end is flushed
    // instead.
    if (file->Size() > log.bytes) ASHLAR_RETURN_IF_ERROR(file_system_->Truncate(name, log.bytes));
    ASHLAR_RETURN_IF_ERROR(file->Sync());
    ASHLAR_RETURN_IF_ERROR(file->Close());
    log.synced = true;
  }
  return Status::OK();
}

void LogSet::AdoptClosed(uint64_t number, uint64_t bytes) {
  ASHLAR_ASSERT(current_ == nullptr);  // before the first StartNewLog
  MutexLock lock(mutex_);
  ASHLAR_ASSERT(closed_.empty() || closed_.back().number < number);  // I1
  closed_.push_back(
      ClosedLog{.number = number, .bytes = bytes, .writer = nullptr, .is_empty = bytes == 0});
  closed_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  if constexpr (kDebugChecks) CheckClosedLogs();
}

void LogSet::Forget() noexcept {
  EndSyncsDuringAppends(Status::OK());
  // Nothing is left to write, because the head of the log, if any, is in the file.
  if (current_ != nullptr)
    static_cast<void>(CatchBadAlloc([this] { return current_->Close(); }).ok());
  current_.reset();
  leader_progress_ = nullptr;
  unsynced_ = false;
  current_bytes_.store(0, std::memory_order_relaxed);
  current_number_.store(0, std::memory_order_release);
  MutexLock lock(mutex_);
  error_during_appends_ = Status::OK();
  closed_.clear();
  progress_.reset();
  closed_bytes_.store(0, std::memory_order_relaxed);
  closed_unsynced_.store(false, std::memory_order_release);
}

Status LogSet::Append(std::span<const Slice> pieces) {
  ASHLAR_DCHECK(current_ != nullptr);  // StartNewLog
  unsynced_ = true;
  return FailCurrentOn(current_->StageRecord(pieces));
}

Status LogSet::FlushCurrent() {
  ASHLAR_DCHECK(current_ != nullptr);  // StartNewLog
  ASHLAR_RETURN_IF_ERROR(FailCurrentOn(current_->HandOver()));
  if (write_back_bytes_.load(std::memory_order_relaxed) != 0) [[unlikely]]
    StartWriteBack();
  return Status::OK();
}

void LogSet::StartWriteBack() {
  const uint64_t bytes = current_->bytes();
  if (bytes - bytes_in_write_back_ < write_back_bytes_.load(std::memory_order_relaxed)) return;
  current_->StartWriteBack(bytes_in_write_back_);
  bytes_in_write_back_ = bytes;
}

Status LogSet::SyncAll() {
  ASHLAR_DCHECK(current_ != nullptr);  // StartNewLog
  ASHLAR_RETURN_IF_ERROR(FailCurrentOn(SyncCurrent()));
  PublishProgress();
  return Status::OK();
}

Status LogSet::SyncCurrent() {
  if (closed_unsynced_.load(std::memory_order_acquire)) ASHLAR_RETURN_IF_ERROR(SyncClosed());
  ASHLAR_DCHECK(!closed_unsynced_.load(std::memory_order_relaxed));  // I2: the leader alone sets it
  if (!unsynced_) return current_->HandOver();
  ASHLAR_RETURN_IF_ERROR(SyncCurrentFile());
  unsynced_ = false;
  return Status::OK();
}

// The error is checked afterwards, because the system reports lost bytes to only one of two
// concurrent syncs, and the other one succeeds.
Status LogSet::SyncCurrentFile() {
  leader_syncs_.store(true, std::memory_order_seq_cst);
  Status synced = current_->Sync();  // throws nothing
  MutexLock lock(mutex_);
  leader_syncs_.store(false, std::memory_order_relaxed);
  ++leader_syncs_ended_;
  leader_synced_.SignalAll();
  if (synced.ok()) return error_during_appends_;
  current_file_ = nullptr;
  if (error_during_appends_.ok()) error_during_appends_ = std::move(synced);
  return error_during_appends_;
}

Status LogSet::AwaitLeadersSync() {
  if (!leader_syncs_.load(std::memory_order_seq_cst)) return Status::OK();
  for (const uint64_t ended = leader_syncs_ended_; leader_syncs_ended_ == ended;)
    leader_synced_.Wait(mutex_);
  ASHLAR_RETURN_IF_ERROR(SyncClosedLocked());  // the log may be closed by now
  return error_during_appends_;
}

void LogSet::Fail(const Status& error) { static_cast<void>(FailCurrentOn(error).ok()); }

void LogSet::EndGroup() {
  ASHLAR_DCHECK(current_->status().ok());  // a group that failed does not end
  current_->MarkCommitted();
  PublishProgress();
  current_bytes_.store(current_->bytes(), std::memory_order_relaxed);
}

Status LogSet::SyncClosed() {
  MutexLock lock(mutex_);
  return SyncClosedLocked();
}

Status LogSet::SyncClosedLocked() {
  for (ClosedLog& log : closed_) {
    if (log.writer == nullptr) continue;
    ASHLAR_RETURN_IF_ERROR(log.writer->Sync());
    ASHLAR_RETURN_IF_ERROR(log.writer->Close());
    log.writer.reset();
    log.synced = true;
  }
  closed_unsynced_.store(false, std::memory_order_release);
  if constexpr (kDebugChecks) CheckClosedLogs();
  return Status::OK();
}

Status LogSet::SyncDuringAppends() {
  MutexLock lock(mutex_);
  ASHLAR_RETURN_IF_ERROR(SyncClosedLocked());  // I2
  if (!error_during_appends_.ok()) return error_during_appends_;
  if (current_file_ == nullptr) return Status::OK();
  Status synced = CatchBadAlloc([this] {
    mutex_.AssertHeld();
    return current_file_->Sync();
  });
  if (synced.ok()) return AwaitLeadersSync();
  current_file_ = nullptr;
  error_during_appends_ = synced;
  return synced;
}

bool LogSet::HasFailedLog() const {
  if (current_ != nullptr && !current_->status().ok()) return true;
  MutexLock lock(mutex_);
  return !error_during_appends_.ok() ||
         std::any_of(closed_.begin(), closed_.end(), [](const ClosedLog& log) {
           return log.writer != nullptr && !log.writer->status().ok();
         });
}

std::vector<uint64_t> LogSet::ReleaseUpTo(uint64_t number) {
  std::vector<uint64_t> released;
  MutexLock lock(mutex_);
  bool unsynced = false;
  while (!closed_.empty() && closed_.front().number < number) {
    released.push_back(closed_.front().number);  // may throw, so it is first
    closed_bytes_.fetch_sub(closed_.front().bytes, std::memory_order_relaxed);
    closed_.pop_front();
  }
  for (const ClosedLog& log : closed_) {
    ASHLAR_DCHECK(log.number >= number);  // I1
    unsynced |= log.writer != nullptr;
  }
  // Never set here: a closed log that was synced as the current one still has its writer.
  if (!unsynced) closed_unsynced_.store(false, std::memory_order_release);
  if constexpr (kDebugChecks) CheckClosedLogs();
  return released;
}

std::vector<LogSet::LiveLog> LogSet::LiveLogs() const {
  std::vector<LiveLog> logs;
  MutexLock lock(mutex_);
  for (const ClosedLog& log : closed_) logs.push_back(Live(log));
  if (current_ != nullptr) {
    logs.push_back({.number = current_number(),
                    .bytes = current_->bytes(),
                    .synced = !unsynced_,
                    .is_empty = current_->bytes() <= head_bytes_});
  }
  return logs;
}

std::vector<LogSet::LiveLog> LogSet::SyncedClosedLogs() const {
  std::vector<LiveLog> logs;
  MutexLock lock(mutex_);
  for (const ClosedLog& log : closed_) {
    if (log.synced) logs.push_back(Live(log));
  }
  return logs;
}

Status LogSet::Close() {
  spares_.Close();
  Status status = SyncClosed();
  if (current_ == nullptr) return status;
  // A tail of zeros is cut before the sync, which then makes the length durable.
  Status closed = FinishCurrent();
  if (closed.ok() && current_->status().ok())
    closed = FailCurrentOn(unsynced_ ? SyncCurrentFile() : Status::OK());
  EndSyncsDuringAppends(current_->status());
  if (closed.ok()) closed = current_->Close();
  if (status.ok()) status = closed;
  RetireCurrent(closed.ok());
  return status;
}

uint64_t LogSet::OldestNumber() const {
  MutexLock lock(mutex_);
  return closed_.empty() ? current_number() : closed_.front().number;
}

}  // namespace ashlar
