#include "pmem/logged_medium.h"

#include <bit>
#include <utility>

#include "base/coding.h"
#include "base/crc32c.h"
#include "base/format.h"
#include "platform/clock.h"

namespace ashlar::pmem {
namespace {

constexpr size_t kPredecessorRecord = kPageBytes;
constexpr size_t kRecordHead = 40;
constexpr size_t kPieceHead = 16;
constexpr size_t kChecksumEnd = 16;  // of the head: what follows is summed

struct PredecessorRecord {
  uint64_t bytes;
  uint64_t generation;
  uint64_t number;
};

// The record at the start of `rest`, if it is whole and of this pool.
bool ReadHead(const Slice& rest, uint64_t pool_id, PredecessorRecord* head) {
  if (rest.size() < kRecordHead) return false;
  head->bytes = DecodeFixed64(rest.data());
  if (head->bytes < kRecordHead || head->bytes > rest.size()) return false;
  const uint32_t crc = crc32c::Value(rest.data() + kChecksumEnd, head->bytes - kChecksumEnd);
  if (crc32c::Mask(crc) != DecodeFixed64(rest.data() + 8)) return false;
  head->generation = DecodeFixed64(rest.data() + 24);
  head->number = DecodeFixed64(rest.data() + 32);
  return DecodeFixed64(rest.data() + 16) == pool_id;
}

std::string EncodePredecessorRecord(uint64_t pool_id, uint64_t generation) {
  std::string head(kPredecessorRecord, '\0');
  EncodeFixed64(head.data() + 8, pool_id);
  EncodeFixed64(head.data() + 16, generation);
  EncodeFixed64(head.data(), crc32c::Mask(crc32c::Value(head.data() + 8, 16)));
  return head;
}

// Whether the log is this pool's and has a generation to replay.
bool ReadPredecessorRecord(const Slice& log, uint64_t pool_id, uint64_t* generation) {
  if (log.size() < kPredecessorRecord ||
      crc32c::Mask(crc32c::Value(log.data() + 8, 16)) != DecodeFixed64(log.data()))
    return false;
  *generation = DecodeFixed64(log.data() + 16);
  return DecodeFixed64(log.data() + 8) == pool_id;
}

Status StartGeneration(PoolStorage* storage, uint64_t pool_id, uint64_t generation) {
  ASHLAR_RETURN_IF_ERROR(storage->WriteLog(0, EncodePredecessorRecord(pool_id, generation)));
  return storage->SyncLog();
}

Status StorePieces(PoolStorage* storage, Slice pieces) {
  while (!pieces.empty()) {
    const uint64_t offset = pieces.size() < kPieceHead ? 0 : DecodeFixed64(pieces.data());
    const uint64_t bytes =
        pieces.size() < kPieceHead ? ~uint64_t{0} : DecodeFixed64(pieces.data() + 8);
    if (bytes > pieces.size() - kPieceHead || offset > storage->bytes() ||
        bytes > storage->bytes() - offset) {
      return Status::Corruption(LogPath(storage->path()),
                                "a record with a good checksum stores outside of the pool");
    }
    ASHLAR_RETURN_IF_ERROR(storage->WritePool(offset, Slice(pieces.data() + kPieceHead, bytes)));
    pieces.remove_prefix(kPieceHead + bytes);
  }
  return Status::OK();
}

Status StoreRecords(PoolStorage* storage, Slice log, uint64_t pool_id) {
  uint64_t generation = 0;
  if (!ReadPredecessorRecord(log, pool_id, &generation)) return Status::OK();
  log.remove_prefix(kPredecessorRecord);
  PredecessorRecord head;
  for (uint64_t number = 0;
       ReadHead(log, pool_id, &head) && head.generation == generation && head.number == number;
       ++number) {
    ASHLAR_RETURN_IF_ERROR(
        StorePieces(storage, Slice(log.data() + kRecordHead, head.bytes - kRecordHead)));
    log.remove_prefix(head.bytes);
  }
  return storage->SyncPool();
}

}  // namespace

Status ReplayLog(PoolStorage* storage, uint64_t pool_id) {
  const Status replayed =
      storage->UseLog([&](const Slice& log) { return StoreRecords(storage, log, pool_id); });
  if (replayed.IsPathNotFound()) return Status::OK();
  ASHLAR_RETURN_IF_ERROR(replayed);
  return storage->RemoveLog();
}

Result<std::unique_ptr<Medium>> LoggedMedium::Create(std::unique_ptr<PoolStorage> storage,
                                                     const LoggedMediumConfig& config) {
  ASHLAR_ASSIGN_OR_RETURN(std::unique_ptr<PoolMapping> mapping, storage->MapPrivate());
  // The log is new, but the blocks under it may be old: time keeps generations apart.
  const uint64_t generation = UnixMicros();
  ASHLAR_RETURN_IF_ERROR(storage->CreateLog(EncodePredecessorRecord(config.pool_id, generation)));
  return std::unique_ptr<Medium>(
      new LoggedMedium(std::move(storage), std::move(mapping), generation, config));
}

LoggedMedium::LoggedMedium(std::unique_ptr<PoolStorage> storage,
                           std::unique_ptr<PoolMapping> mapping, uint64_t generation,
                           const LoggedMediumConfig& config)
    : Medium(storage->path(), mapping->data(), mapping->bytes()),
      storage_(std::move(storage)),
      mapping_(std::move(mapping)),
      config_(config),
      changed_pages_((bytes() / kPageBytes + 63) / 64),
      generation_(generation) {}

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
    changed_pages_[page / 64].fetch_or(uint64_t{1} << (page % 64), std::memory_order_relaxed);
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

void LoggedMedium::Commit(PoolOperation* operation) {
  std::string head(kRecordHead, '\0');
  const std::string& redo = operation->redo;
  MutexLock lock(mutex_);
  under_way_--;
  if (under_way_ == 0) changed_.SignalAll();
  EncodeFixed64(head.data(), kRecordHead + redo.size());
  EncodeFixed64(head.data() + 16, config_.pool_id);
  EncodeFixed64(head.data() + 24, generation_);
  EncodeFixed64(head.data() + 32, next_number_++);
  const uint32_t crc =
      crc32c::Extend(crc32c::Value(head.data() + kChecksumEnd, kRecordHead - kChecksumEnd),
                     redo.data(), redo.size());
  EncodeFixed64(head.data() + 8, crc32c::Mask(crc));
  buffer_.append(head);
  buffer_.append(redo);
  committed_end_ += head.size() + redo.size();
  operation->log_end = committed_end_;
}

void LoggedMedium::End(PoolOperation* /*operation*/) {
  MutexLock lock(mutex_);
  under_way_--;
  if (under_way_ == 0) changed_.SignalAll();
}

// Writes what is buffered, and syncs, for everybody who waits for it.
void LoggedMedium::WriteBuffered() {
  ASHLAR_DCHECK(!writing_);
  std::string records;
  records.swap(buffer_);
  const uint64_t end = committed_end_;
  const uint64_t at = kPredecessorRecord + end - records.size() - generation_start_;
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
    if (committed_end_ - generation_start_ < config_.log_bytes_max) return Status::OK();
  }
  CheckpointIfLong();
  return status();
}

void LoggedMedium::CheckpointIfLong() {
  MutexLock lock(mutex_);
  if (stopped_ || committed_end_ - generation_start_ < config_.log_bytes_max) return;
  stopped_ = true;
  while (under_way_ > 0 || writing_) changed_.Wait(mutex_);
  if (durable_end_ < committed_end_) WriteBuffered();
  Status status = error_;
  if (status.ok()) {
    const uint64_t next_generation = generation_ + 1;
    lock.Unlock();
    status = WriteChangedPages();
    if (status.ok()) status = StartGeneration(storage_.get(), config_.pool_id, next_generation);
    lock.Lock();
  }
  if (status.ok()) {
    generation_++;
    next_number_ = 0;
    generation_start_ = committed_end_;
  } else if (error_.ok()) {
    error_ = status.WithContext("the pool is read-only");
  }
  stopped_ = false;
  changed_.SignalAll();
}

// Changed pages, in runs. Afterwards the mapping shows the file again, so that the private copies
// can go.
Status LoggedMedium::WriteChangedPages() {
  if (!config_.sync) ASHLAR_RETURN_IF_ERROR(storage_->SyncLog());
  const uint64_t pages = bytes() / kPageBytes;
  const auto is_changed = [this](uint64_t page) {
    return (changed_pages_[page / 64].load(std::memory_order_relaxed) >> (page % 64) & 1) != 0;
  };
  for (uint64_t page = 0; page < pages; ++page) {
    if (!is_changed(page)) continue;
    uint64_t end = page + 1;
    while (end < pages && is_changed(end)) end++;
    ASHLAR_RETURN_IF_ERROR(storage_->WritePool(
        page * kPageBytes, Slice(mapping_->data() + page * kPageBytes, (end - page) * kPageBytes)));
    page = end;
  }
  ASHLAR_RETURN_IF_ERROR(storage_->SyncPool());
  for (std::atomic<uint64_t>& word : changed_pages_) word.store(0, std::memory_order_relaxed);
  return mapping_->DiscardPages(0, bytes());
}

Status LoggedMedium::Close() {
  MutexLock lock(mutex_);
  ASHLAR_ASSERT(under_way_ == 0);
  stopped_ = true;
  while (writing_) changed_.Wait(mutex_);
  if (durable_end_ < committed_end_) WriteBuffered();
  if (!error_.ok()) return error_;
  lock.Unlock();
  ASHLAR_RETURN_IF_ERROR(WriteChangedPages());
  return storage_->RemoveLog();
}

}  // namespace ashlar::pmem
