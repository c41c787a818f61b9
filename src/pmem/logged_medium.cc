#include "pmem/logged_medium.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/coding.h"
#include "platform/clock.h"
#include "pmem/log_replay.h"
#include "pmem/pool.h"

namespace ashlar::pmem {

Result<std::unique_ptr<Medium>> LoggedMedium::Create(std::unique_ptr<PoolStorage> storage,
                                                     const LoggedMediumConfig& config) {
  ASHLAR_ASSIGN_OR_RETURN(std::unique_ptr<PoolMapping> mapping, storage->MapPrivate());
  ASHLAR_ASSIGN_OR_RETURN(
      const LogLink link,
      DecodeLogLink(storage->path(), Slice(mapping->data() + kLogLinkOffset, sizeof(LogLink))));
  ASHLAR_ASSERT(link.state == static_cast<uint64_t>(LogState::kClosed));
  // Copies of a pool that go on separately have the same id: time tells their logs apart.
  const LogHeader log = {.pool_id = config.pool_id,
                         .generation = std::max(UnixMicros(), link.generation + 1),
                         .boot_id = storage->BootId()};
  ASHLAR_RETURN_IF_ERROR(storage->CreateLog(EncodeLogHeader(log)));
  std::unique_ptr<LoggedMedium> medium(
      new LoggedMedium(std::move(storage), std::move(mapping), log, config));
  ASHLAR_RETURN_IF_ERROR(medium->SetLink(LogState::kOpen, log.generation));
  return std::unique_ptr<Medium>(std::move(medium));
}

LoggedMedium::LoggedMedium(std::unique_ptr<PoolStorage> storage,
                           std::unique_ptr<PoolMapping> mapping, const LogHeader& log,
                           const LoggedMediumConfig& config)
    : Medium(storage->path(), mapping->data(), mapping->bytes()),
      storage_(std::move(storage)),
      mapping_(std::move(mapping)),
      config_(config),
      page_is_changed_((bytes() / kPageBytes + 63) / 64),
      log_(log) {}

Status LoggedMedium::status() const {
  MutexLock lock(mutex_);
  return error_;
}

void LoggedMedium::Begin(PoolOperation* /*operation*/) {
  MutexLock lock(mutex_);
  while (stopped_) changed_.Wait(mutex_);
  under_way_++;
}

void LoggedMedium::NoteStore(PoolOperation* operation, PoolOffset to, const char* from, size_t n) {
  PutFixed64(&operation->redo, to);
  PutFixed64(&operation->redo, n);
  operation->redo.append(from, n);
  for (uint64_t page = to / kPageBytes; page <= (to + n - 1) / kPageBytes; ++page) {
    std::atomic<uint64_t>& word = page_is_changed_[page / 64];
    const uint64_t bit = uint64_t{1} << (page % 64);
    if ((word.load(std::memory_order_relaxed) & bit) != 0) continue;
    if ((word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0)
      changed_pages_.fetch_add(1, std::memory_order_relaxed);
  }
}

void LoggedMedium::Store(PoolOperation* operation, PoolOffset to, uint64_t word) {
  WordAt(mapping_->data(), to).store(word, std::memory_order_release);
  char bytes[sizeof(word)];
  memcpy(bytes, &word, sizeof(word));
  NoteStore(operation, to, bytes, sizeof(word));
}

void LoggedMedium::Copy(PoolOperation* operation, PoolOffset to, const char* from, size_t n) {
  if (n == 0) return;
  memcpy(mapping_->data() + to, from, n);
  NoteStore(operation, to, from, n);
}

// An operation without stores has no record: it waits for the changes that it may have seen.
void LoggedMedium::Commit(PoolOperation* operation) {
  MutexLock lock(mutex_);
  under_way_--;
  if (under_way_ == 0) changed_.SignalAll();
  if (!operation->redo.empty()) {
    AppendRecord(log_, next_number_++, operation->redo, &buffer_);
    committed_end_ += RecordBytesFor(operation->redo);
  }
  operation->log_end = committed_end_;
}

void LoggedMedium::End(PoolOperation* /*operation*/) {
  MutexLock lock(mutex_);
  under_way_--;
  if (under_way_ == 0) changed_.SignalAll();
}

// Writes the buffer and syncs, for all waiting threads.
void LoggedMedium::WriteBuffered() {
  ASHLAR_DCHECK(!writing_);
  std::string records;
  records.swap(buffer_);
  const uint64_t end = committed_end_;
  const uint64_t at = kLogHeaderBytes + end - records.size() - generation_start_;
  // The write before this one has synced all earlier records.
  if (config_.sync && !records.empty()) SetSyncedEnd(records.data(), at);
  Status status = error_;
  if (status.ok()) {
    writing_ = true;
    mutex_.Unlock();
    status = storage_->WriteLog(at, records);
    if (status.ok() && config_.sync) status = storage_->SyncLog();
    mutex_.Lock();
    writing_ = false;
  }
  if (status.ok()) {
    durable_end_ = end;
  } else if (error_.ok()) {
    error_ = status.WithContext("the pool is read-only");
  }
  changed_.SignalAll();
}

Status LoggedMedium::AwaitDurable(PoolOperation* operation) {
  {
    MutexLock lock(mutex_);
    while (durable_end_ < operation->log_end && error_.ok()) {
      if (writing_) {
        changed_.Wait(mutex_);
      } else {
        WriteBuffered();
      }
    }
    if (!error_.ok()) return error_;
    if (!NeedsCheckpoint()) return Status::OK();
  }
  CheckpointIfNeeded();
  return status();
}

bool LoggedMedium::NeedsCheckpoint() const {
  return committed_end_ - generation_start_ >= config_.log_bytes_max ||
         changed_pages_.load(std::memory_order_relaxed) * kPageBytes >= config_.private_bytes_max;
}

void LoggedMedium::CheckpointIfNeeded() {
  MutexLock lock(mutex_);
  if (stopped_ || !NeedsCheckpoint()) return;
  stopped_ = true;
  while (under_way_ > 0 || writing_) changed_.Wait(mutex_);
  if (durable_end_ < committed_end_) WriteBuffered();
  Status status = error_;
  if (status.ok()) {
    const uint64_t next_generation = log_.generation + 1;
    lock.Unlock();
    status = WriteChangedPages();
    if (status.ok()) status = StartGeneration(next_generation);
    lock.Lock();
  }
  if (status.ok()) {
    log_.generation++;
    next_number_ = 0;
    generation_start_ = committed_end_;
  } else if (error_.ok()) {
    error_ = status.WithContext("the pool is read-only");
  }
  stopped_ = false;
  changed_.SignalAll();
}

Status LoggedMedium::StartGeneration(uint64_t generation) {
  const LogHeader log = {
      .pool_id = config_.pool_id, .generation = generation, .boot_id = storage_->BootId()};
  ASHLAR_RETURN_IF_ERROR(storage_->WriteLog(0, EncodeLogHeader(log)));
  ASHLAR_RETURN_IF_ERROR(storage_->SyncLog());
  return SetLink(LogState::kOpen, generation);
}

// In the mapping too: a checkpoint may write the link's page.
Status LoggedMedium::SetLink(LogState state, uint64_t generation) {
  ASHLAR_RETURN_IF_ERROR(WriteLogLink(storage_.get(), state, generation));
  const std::string link = EncodeLogLink(state, generation);
  memcpy(mapping_->data() + kLogLinkOffset, link.data(), link.size());
  return Status::OK();
}

template <typename Function>
Status LoggedMedium::ForEachChangedRun(const Function& function) const {
  const uint64_t pages = bytes() / kPageBytes;
  const auto is_changed = [this](uint64_t page) {
    return (page_is_changed_[page / 64].load(std::memory_order_relaxed) >> (page % 64) & 1) != 0;
  };
  uint64_t page = 0;
  while (page < pages) {
    if (page_is_changed_[page / 64].load(std::memory_order_relaxed) >> (page % 64) == 0) {
      page = (page / 64 + 1) * 64;
      continue;
    }
    while (!is_changed(page)) page++;
    const uint64_t begin = page;
    while (page < pages && is_changed(page)) page++;
    ASHLAR_RETURN_IF_ERROR(function(begin * kPageBytes, (page - begin) * kPageBytes));
  }
  return Status::OK();
}

// The private copies are discarded after the sync: a page whose write fails later stays readable.
// The other pages stay mapped, so that reads after a checkpoint do not fault.
Status LoggedMedium::WriteChangedPages() {
  CheckInvariants();
  if (!config_.sync) ASHLAR_RETURN_IF_ERROR(storage_->SyncLog());
  ASHLAR_RETURN_IF_ERROR(ForEachChangedRun([this](uint64_t offset, uint64_t n) {
    return storage_->WritePool(offset, Slice(mapping_->data() + offset, n));
  }));
  ASHLAR_RETURN_IF_ERROR(storage_->SyncPool());
  ASHLAR_RETURN_IF_ERROR(ForEachChangedRun(
      [this](uint64_t offset, uint64_t n) { return mapping_->DiscardPages(offset, n); }));
  ForgetChangedPages();
  return Status::OK();
}

void LoggedMedium::ForgetChangedPages() {
  for (std::atomic<uint64_t>& word : page_is_changed_) word.store(0, std::memory_order_relaxed);
  changed_pages_.store(0, std::memory_order_relaxed);
}

void LoggedMedium::CheckInvariants() const {
  uint64_t bits = 0;
  for (const std::atomic<uint64_t>& word : page_is_changed_)
    bits += static_cast<uint64_t>(std::popcount(word.load(std::memory_order_relaxed)));
  ASHLAR_ASSERT(bits == changed_pages_.load(std::memory_order_relaxed));  // I6
}

Status LoggedMedium::Close() {
  MutexLock lock(mutex_);
  ASHLAR_ASSERT(under_way_ == 0);
  stopped_ = true;
  while (writing_) changed_.Wait(mutex_);
  if (durable_end_ < committed_end_) WriteBuffered();
  if (!error_.ok()) return error_;
  const uint64_t generation = log_.generation;
  lock.Unlock();
  ASHLAR_RETURN_IF_ERROR(WriteChangedPages());
  ASHLAR_RETURN_IF_ERROR(SetLink(LogState::kClosed, generation));
  return storage_->RemoveLog();
}

}  // namespace ashlar::pmem
