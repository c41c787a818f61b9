#include "pmem/logged_medium.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/coding.h"
#include "base/out_of_memory.h"
#include "platform/clock.h"
#include "pmem/log_replay.h"
#include "pmem/pool.h"

namespace ashlar::pmem {
namespace {

// A checkpoint begins when a quarter of the log's bound is left, and is late when nothing is left.
constexpr uint64_t kLogShareOfCheckpoint = 4;

constexpr size_t kRedoHeadBytes = 16;  // of a store: offset and length

// The same for private pages. If one step can write them, a begin before the bound is not needed.
uint64_t PagesOfCheckpoint(const LoggedMediumConfig& config) {
  const uint64_t share = config.private_bytes_max / kPageBytes / 4;
  return share < config.pages_per_step ? 0 : share;
}

}  // namespace

// ---- Sets of pages.

bool LoggedMedium::PageSet::Add(uint64_t page) {
  std::atomic<uint64_t>& word = words_[page / 64];
  const uint64_t bit = uint64_t{1} << (page % 64);
  if ((word.load(std::memory_order_relaxed) & bit) != 0) return false;
  return (word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
}

bool LoggedMedium::PageSet::Has(uint64_t page) const {
  return (words_[page / 64].load(std::memory_order_relaxed) >> (page % 64) & 1) != 0;
}

void LoggedMedium::PageSet::Remove(uint64_t page) {
  words_[page / 64].fetch_and(~(uint64_t{1} << (page % 64)), std::memory_order_relaxed);
}

uint64_t LoggedMedium::PageSet::FirstFrom(uint64_t page) const {
  for (uint64_t word = page / 64; word < words_.size(); ++word) {
    uint64_t bits = words_[word].load(std::memory_order_relaxed);
    if (word == page / 64) bits = bits >> (page % 64) << (page % 64);
    if (bits != 0) return word * 64 + static_cast<uint64_t>(std::countr_zero(bits));
  }
  return words_.size() * 64;
}

uint64_t LoggedMedium::PageSet::Count() const {
  uint64_t bits = 0;
  for (const std::atomic<uint64_t>& word : words_)
    bits += static_cast<uint64_t>(std::popcount(word.load(std::memory_order_relaxed)));
  return bits;
}

// ---- Opening.

Result<std::unique_ptr<Medium>> LoggedMedium::Create(std::unique_ptr<PoolStorage> storage,
                                                     const LoggedMediumConfig& config) {
  ASHLAR_ASSIGN_OR_RETURN(std::unique_ptr<PoolMapping> mapping, storage->MapPrivate());
  ASHLAR_ASSIGN_OR_RETURN(
      const LogLink link,
      DecodeLogLink(storage->path(), Slice(mapping->data() + kLogLinkOffset, sizeof(LogLink))));
  ASHLAR_ASSERT(link.state == static_cast<uint64_t>(LogState::kClosed));  // Requires
  // Copies of a pool that are used separately have the same id, so the time identifies their logs.
  const LogHeader log = {.pool_id = config.pool_id,
                         .generation = std::max(UnixMicros(), link.generation + 1),
                         .boot_id = storage->BootId(),
                         .whole_end = kLogHeaderBytes};
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
      pages_(bytes() / kPageBytes),
      pages_of_checkpoint_(PagesOfCheckpoint(config)),
      is_changed_(pages_),
      log_(log),
      is_due_(pages_) {}

Status LoggedMedium::status() const {
  MutexLock lock(mutex_);
  return error_;
}

// ---- Operations.

void LoggedMedium::Begin(PoolOperation* /*operation*/) {
  MutexLock lock(mutex_);
  while (stopped_) changed_.Wait(mutex_);
  under_way_++;
}

void LoggedMedium::ReserveStores(PoolOperation* operation, size_t stores) {
  operation->redo.reserve(operation->redo.size() + stores * (kRedoHeadBytes + sizeof(uint64_t)));
}

// Called before the store, because it may throw (I5 of medium.h).
void LoggedMedium::NoteStore(PoolOperation* operation, PoolOffset to, const char* from, size_t n) {
  PutFixed64(&operation->redo, to);
  PutFixed64(&operation->redo, n);
  operation->redo.append(from, n);
  for (uint64_t page = to / kPageBytes; page <= (to + n - 1) / kPageBytes; ++page) {
    if (is_changed_.Add(page)) changed_pages_.fetch_add(1, std::memory_order_relaxed);
  }
}

void LoggedMedium::Store(PoolOperation* operation, PoolOffset to, uint64_t word) {
  char bytes[sizeof(word)];
  memcpy(bytes, &word, sizeof(word));
  NoteStore(operation, to, bytes, sizeof(word));
  WordAt(mapping_->data(), to).store(word, std::memory_order_release);
}

void LoggedMedium::Copy(PoolOperation* operation, PoolOffset to, const char* from, size_t n) {
  if (n == 0) return;
  NoteStore(operation, to, from, n);
  memcpy(mapping_->data() + to, from, n);
}

// An operation without stores has no record, but waits for the changes that it may have seen.
void LoggedMedium::Commit(PoolOperation* operation) {
  MutexLock lock(mutex_);
  under_way_--;
  if (under_way_ == 0) changed_.SignalAll();
  if (!operation->redo.empty()) AppendRedo(operation->redo);
  operation->log_end = committed_end_;
}

// Readers already see the change, and later changes may depend on it. If the log cannot get it, the
// latched error keeps those changes out of the log too.
void LoggedMedium::AppendRedo(const std::string& redo) noexcept try {
  AppendRecord(log_, next_number_++, redo, &buffer_);
  if (in_checkpoint_) {
    LogHeader next = log_;
    next.generation++;
    AppendRecord(next, next_records_++, redo, &next_redo_);
  }
  committed_end_ += RecordBytesFor(redo);
} catch (const std::bad_alloc&) {
  SetError(Status::MemoryLimit());
}

void LoggedMedium::End(PoolOperation* /*operation*/) {
  MutexLock lock(mutex_);
  under_way_--;
  if (under_way_ == 0) changed_.SignalAll();
}

// ---- The log.

// Never NoSpace, because NoSpace means that a full pool was not changed, and callers try again.
void LoggedMedium::SetError(const Status& status) noexcept {
  if (!error_.ok()) return;
  error_ = status.IsMemoryLimit() ? Status::MemoryLimit() : CatchBadAlloc([&] {
    return Status::IOError("the pool is read-only", status.ToString());
  });
}

// Writes the buffer and syncs, for all waiting threads.
void LoggedMedium::WriteBuffered(SyncOfLog sync) {
  ASHLAR_DCHECK(!is_writing_);  // one writer: the callers wait
  std::string records;
  records.swap(buffer_);
  const uint64_t end = committed_end_;
  const uint64_t at = kLogHeaderBytes + end - records.size() - generation_start_;
  // Also set without syncs, because pages that a checkpoint wrote need the records before it.
  if (!records.empty())
    SetSyncedEnd(records.data(), kLogHeaderBytes + synced_end_ - generation_start_);
  const bool syncs = config_.sync || sync == SyncOfLog::kAlways;
  Status status = error_;
  if (status.ok()) {
    is_writing_ = true;
    mutex_.Unlock();
    status = CatchBadAlloc([&]() -> Status {
      if (!records.empty()) ASHLAR_RETURN_IF_ERROR(storage_->WriteLog(at, records));
      return syncs ? storage_->SyncLog() : Status::OK();
    });
    mutex_.Lock();
    is_writing_ = false;
  }
  if (status.ok()) {
    durable_end_ = end;
    if (syncs) synced_end_ = end;
  } else {
    SetError(status);
  }
  changed_.SignalAll();
}

Status LoggedMedium::AwaitDurable(PoolOperation* operation) try {
  {
    MutexLock lock(mutex_);
    while (durable_end_ < operation->log_end && error_.ok()) {
      if (is_writing_) {
        changed_.Wait(mutex_);
      } else {
        WriteBuffered(SyncOfLog::kAsConfigured);
      }
    }
    if (!error_.ok()) return error_;
    if (!in_checkpoint_ && !NeedsCheckpoint()) return Status::OK();
  }
  CheckpointAsDue();
  return status();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();  // no memory for the error's text
}

void LoggedMedium::MakeDurable() {
  while (is_writing_) changed_.Wait(mutex_);
  if (error_.ok() && (durable_end_ < committed_end_ || !config_.sync))
    WriteBuffered(SyncOfLog::kAlways);
}

// ---- The checkpoint.

void LoggedMedium::StopOperations() {
  ASHLAR_DCHECK(is_stepping_ && !stopped_);  // I7
  stopped_ = true;
  while (under_way_ > 0) changed_.Wait(mutex_);
}

void LoggedMedium::ResumeOperations() {
  stopped_ = false;
  changed_.SignalAll();
}

bool LoggedMedium::NeedsCheckpoint() const {
  const uint64_t log_bytes = committed_end_ - generation_start_;
  const uint64_t pages = changed_pages_.load(std::memory_order_relaxed) + pages_of_checkpoint_;
  return log_bytes >= config_.log_bytes_max - config_.log_bytes_max / kLogShareOfCheckpoint ||
         pages * kPageBytes >= config_.private_bytes_max;
}

double LoggedMedium::ShareDue() const {
  const auto share = [](uint64_t done, uint64_t of) {
    return static_cast<double>(done) / static_cast<double>(std::max<uint64_t>(of, 1));
  };
  return 2 * std::max(share(committed_end_ - checkpoint_start_,
                            config_.log_bytes_max / kLogShareOfCheckpoint),
                      share(changed_pages_.load(std::memory_order_relaxed), pages_of_checkpoint_));
}

// Takes the step that the growth of the log and of the changed pages requires. Takes at most one
// step, unless the checkpoint is late.
void LoggedMedium::CheckpointAsDue() {
  MutexLock lock(mutex_);
  while (error_.ok()) {
    if (!in_checkpoint_ && !NeedsCheckpoint()) return;
    const double due = in_checkpoint_ ? ShareDue() : 0;
    const bool is_late = due >= 2;
    if (is_stepping_) {
      if (!is_late) return;
      changed_.Wait(mutex_);
      continue;
    }
    if (in_checkpoint_ &&
        static_cast<double>(due_at_begin_ - due_pages_) > due * static_cast<double>(due_at_begin_))
      return;
    is_stepping_ = true;
    if (!in_checkpoint_) BeginCheckpoint();
    const bool is_taken = TakeStep();
    is_stepping_ = false;
    changed_.SignalAll();
    if (!is_late || !is_taken) return;
  }
}

void LoggedMedium::BeginCheckpoint() {
  StopOperations();
  CheckInvariants();
  is_changed_.Swap(&is_due_);
  due_pages_ = changed_pages_.exchange(0, std::memory_order_relaxed);
  due_at_begin_ = due_pages_;
  next_due_ = 0;
  checkpoint_start_ = committed_end_;
  next_redo_.clear();
  next_records_ = 0;
  prepared_end_ = kLogHeaderBytes;
  in_checkpoint_ = true;
  ResumeOperations();
}

bool LoggedMedium::TakeStep() {
  std::vector<PageCopy> copies;
  StopOperations();
  const bool is_copied = CopyDuePages(&copies);
  ResumeOperations();
  if (!is_copied) return false;
  MakeDurable();  // I3
  if (!error_.ok()) return true;
  std::string redo;
  redo.swap(next_redo_);
  mutex_.Unlock();
  Status status = CatchBadAlloc([&]() -> Status {
    ASHLAR_RETURN_IF_ERROR(WriteCopies(copies));
    return PrepareNextLog(redo);
  });
  mutex_.Lock();
  if (status.ok()) {
    StopOperations();
    status = DiscardUnchanged(copies);
    ResumeOperations();
  }
  if (!status.ok()) {
    SetError(status);
  } else if (due_pages_ == 0) {
    EndCheckpoint();
  }
  return true;
}

// Makes all copies before a page counts as copied. Returns false if an allocation fails.
bool LoggedMedium::CopyDuePages(std::vector<PageCopy>* copies) noexcept try {
  uint64_t left = std::min(config_.pages_per_step, due_pages_);
  for (uint64_t page = next_due_; left > 0;) {
    const uint64_t first = is_due_.FirstFrom(page);
    ASHLAR_ASSERT(first < pages_);  // I6
    for (page = first; page < pages_ && left > 0 && is_due_.Has(page); ++page) left--;
    copies->push_back(
        {.page = first,
         .bytes = std::string(mapping_->data() + first * kPageBytes, (page - first) * kPageBytes)});
  }
  for (const PageCopy& copy : *copies) {
    next_due_ = copy.page + copy.bytes.size() / kPageBytes;
    for (uint64_t page = copy.page; page < next_due_; ++page) {
      is_due_.Remove(page);
      due_pages_--;
      // The copy contains these changes too.
      if (!is_changed_.Has(page)) continue;
      is_changed_.Remove(page);
      changed_pages_.fetch_sub(1, std::memory_order_relaxed);
    }
  }
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

Status LoggedMedium::WriteCopies(const std::vector<PageCopy>& copies) {
  if (copies.empty()) return Status::OK();
  for (const PageCopy& copy : copies)
    ASHLAR_RETURN_IF_ERROR(storage_->WritePool(copy.page * kPageBytes, copy.bytes));
  return storage_->SyncPool();
}

// Runs after the sync, so that a page whose write fails later stays readable. All other pages stay
// mapped, so that reads after a checkpoint do not fault. A copy stays if it shares a system page
// with changes, or if the program has locked its page. It then equals the page in the file.
Status LoggedMedium::DiscardUnchanged(const std::vector<PageCopy>& copies) noexcept try {
  for (const PageCopy& copy : copies) {
    const uint64_t end = copy.page + copy.bytes.size() / kPageBytes;
    for (uint64_t page = copy.page; page < end;) {
      const uint64_t first = page;
      while (page < end && !is_changed_.Has(page)) page++;
      if (page > first)
        ASHLAR_RETURN_IF_ERROR(
            mapping_->DiscardPages(first * kPageBytes, (page - first) * kPageBytes));
      while (page < end && is_changed_.Has(page)) page++;
    }
  }
  return Status::OK();
} catch (const std::bad_alloc&) {
  return Status::MemoryLimit();
}

Status LoggedMedium::PrepareNextLog(const std::string& redo) {
  if (redo.empty()) return Status::OK();
  ASHLAR_RETURN_IF_ERROR(storage_->PrepareLog(prepared_end_, redo));
  prepared_end_ += redo.size();
  return Status::OK();
}

// The pool has every change from before the begin, and the next log has the rest.
void LoggedMedium::EndCheckpoint() {
  StopOperations();
  while (is_writing_) changed_.Wait(mutex_);
  // After a failed allocation, next_redo_ may end with a part of a record.
  if (!error_.ok()) return ResumeOperations();
  is_writing_ = true;
  const std::string redo = std::exchange(next_redo_, {});
  LogHeader next = log_;
  next.generation++;
  mutex_.Unlock();
  const Status status = CatchBadAlloc([&] { return SwitchLog(next, redo); });
  mutex_.Lock();
  is_writing_ = false;
  if (status.ok()) {
    log_ = next;
    next_number_ = next_records_;
    generation_start_ = checkpoint_start_;
    buffer_.clear();
    durable_end_ = committed_end_;
    synced_end_ = committed_end_;
    in_checkpoint_ = false;
  } else {
    SetError(status);
  }
  ResumeOperations();
}

Status LoggedMedium::SwitchLog(const LogHeader& next, const std::string& redo) {
  ASHLAR_RETURN_IF_ERROR(SetLink(LogState::kNext, next.generation - 1));  // I5
  ASHLAR_RETURN_IF_ERROR(PrepareNextLog(redo));
  LogHeader header = next;
  header.whole_end = prepared_end_;
  ASHLAR_RETURN_IF_ERROR(storage_->CreateLog(EncodeLogHeader(header)));
  return SetLink(LogState::kOpen, next.generation);
}

// Also stores the link in the mapping, because a step may write the link's page.
Status LoggedMedium::SetLink(LogState state, uint64_t generation) {
  ASHLAR_RETURN_IF_ERROR(WriteLogLink(storage_.get(), state, generation));
  const std::string link = EncodeLogLink(state, generation);
  memcpy(mapping_->data() + kLogLinkOffset, link.data(), link.size());
  return Status::OK();
}

void LoggedMedium::CheckInvariants() const {
  ASHLAR_ASSERT(is_changed_.Count() == changed_pages_.load(std::memory_order_relaxed));  // I6
  ASHLAR_ASSERT(is_due_.Count() == due_pages_);                                          // I6
}

// ---- Closing.

Status LoggedMedium::WriteAllPages() {
  for (const PageSet* set : {&is_due_, &is_changed_}) {
    for (uint64_t page = set->FirstFrom(0); page < pages_; page = set->FirstFrom(page)) {
      const uint64_t first = page;
      while (page < pages_ && set->Has(page)) page++;
      ASHLAR_RETURN_IF_ERROR(storage_->WritePool(
          first * kPageBytes,
          Slice(mapping_->data() + first * kPageBytes, (page - first) * kPageBytes)));
    }
  }
  return storage_->SyncPool();
}

Status LoggedMedium::Close() {
  MutexLock lock(mutex_);
  ASHLAR_ASSERT(under_way_ == 0 && !is_stepping_);  // Requires
  stopped_ = true;
  CheckInvariants();
  MakeDurable();
  if (!error_.ok()) return error_;
  ASHLAR_RETURN_IF_ERROR(WriteAllPages());
  ASHLAR_RETURN_IF_ERROR(SetLink(LogState::kClosed, log_.generation));
  return storage_->RemoveLog();
}

}  // namespace ashlar::pmem
