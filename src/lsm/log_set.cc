#include "lsm/log_set.h"

#include "base/result.h"
#include "filesystem/filename.h"

namespace ashlar {

Status LogSet::StartNewLog(const NewLog& log) {
  const uint64_t number = log.number;
  const std::string name = WalFileName(directory_, number);
  std::unique_ptr<WritableFile> file;
  ASHLAR_RETURN_IF_ERROR(file_system_->NewWritableFile(name, file_options_, &file));
  ASHLAR_RETURN_IF_ERROR(log.directory_handle->Sync());
  auto next = std::make_unique<LogWriter>(std::move(file), name, number);
  if (const std::optional<LogHead> head = MakeHead(); head.has_value()) {
    ASHLAR_RETURN_IF_ERROR(next->AddRecord(EncodeLogHead(*head, log.next_sequence)));
  }
  if (current_ != nullptr) {
    // What the buffer still holds goes out now, and a tail of zeros goes: what a table is to be installed after must end with its last record. A
    // failure stays latched in the writer and shows at its sync.
    const bool flushed = current_->Flush().ok();
    const bool unsynced = unsynced_ || !flushed;
    MutexLock lock(mutex_);
    closed_.push_back(ClosedLog{.number = current_number(), .bytes = current_->bytes(), .writer = std::move(current_)});
    closed_bytes_.fetch_add(closed_.back().bytes, std::memory_order_relaxed);
    if (unsynced) closed_unsynced_.store(true, std::memory_order_release);
  }
  current_ = std::move(next);
  // The head counts: without it this log would be too short for the next one.
  unsynced_ = current_->bytes() > 0;
  current_bytes_.store(current_->bytes(), std::memory_order_relaxed);
  current_number_.store(number, std::memory_order_release);
  return Status::OK();
}

std::optional<LogHead> LogSet::MakeHead() const {
  if (current_ != nullptr) return LogHead{.previous_number = current_number(), .previous_bytes = current_->bytes()};
  MutexLock lock(mutex_);
  if (closed_.empty()) return std::nullopt;
  return LogHead{.previous_number = closed_.back().number, .previous_bytes = closed_.back().bytes};
}

Status LogSet::SyncAdopted() {
  MutexLock lock(mutex_);
  for (const ClosedLog& log : closed_) {
    std::unique_ptr<WritableFile> file;
    ASHLAR_RETURN_IF_ERROR(file_system_->ReopenWritableFile(WalFileName(directory_, log.number), FileOptions{}, &file));
    ASHLAR_RETURN_IF_ERROR(file->Sync());
    ASHLAR_RETURN_IF_ERROR(file->Close());
  }
  return Status::OK();
}

void LogSet::AdoptClosed(uint64_t number, uint64_t bytes) {
  MutexLock lock(mutex_);
  closed_.push_back(ClosedLog{.number = number, .bytes = bytes, .writer = nullptr});
  closed_bytes_.fetch_add(bytes, std::memory_order_relaxed);
}

Status LogSet::Append(std::span<const Slice> pieces) {
  ASHLAR_RETURN_IF_ERROR(current_->AddRecord(pieces));
  unsynced_ = true;
  current_bytes_.store(current_->bytes(), std::memory_order_relaxed);
  return Status::OK();
}

Status LogSet::FlushCurrent() { return current_->HandOver(); }

Status LogSet::SyncAll() {
  if (closed_unsynced_.load(std::memory_order_acquire)) ASHLAR_RETURN_IF_ERROR(SyncClosed());
  if (!unsynced_) return current_->HandOver();
  ASHLAR_RETURN_IF_ERROR(current_->Sync());
  unsynced_ = false;
  return Status::OK();
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
  }
  closed_unsynced_.store(false, std::memory_order_release);
  return Status::OK();
}

std::vector<uint64_t> LogSet::ReleaseUpTo(uint64_t number) {
  std::vector<uint64_t> released;
  MutexLock lock(mutex_);
  bool unsynced = false;
  while (!closed_.empty() && closed_.front().number < number) {
    closed_bytes_.fetch_sub(closed_.front().bytes, std::memory_order_relaxed);
    released.push_back(closed_.front().number);
    closed_.pop_front();
  }
  for (const ClosedLog& log : closed_) unsynced |= log.writer != nullptr;
  closed_unsynced_.store(unsynced, std::memory_order_release);
  return released;
}

std::vector<LogSet::LiveLog> LogSet::LiveLogs() const {
  std::vector<LiveLog> logs;
  MutexLock lock(mutex_);
  for (const ClosedLog& log : closed_) logs.push_back({.number = log.number, .bytes = log.bytes});
  if (current_ != nullptr) logs.push_back({.number = current_number(), .bytes = current_->bytes()});
  return logs;
}

Status LogSet::Close() {
  Status status = SyncClosed();
  if (current_ != nullptr) {
    const Status flushed = current_->Flush();
    if (status.ok()) status = flushed;
    const Status synced = unsynced_ ? current_->Sync() : Status::OK();
    if (status.ok()) status = synced;
    const Status closed = current_->Close();
    if (status.ok()) status = closed;
    current_.reset();
  }
  return status;
}

uint64_t LogSet::OldestNumber() const {
  MutexLock lock(mutex_);
  return closed_.empty() ? current_number() : closed_.front().number;
}

}  // namespace ashlar
