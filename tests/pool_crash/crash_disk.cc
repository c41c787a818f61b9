#include "tests/pool_crash/crash_disk.h"

#include <utility>

#include "base/assert.h"
#include "platform/thread.h"
#include "tests/support/memory_log.h"

namespace ashlar::pmem {
namespace {

void Overwrite(std::string* file, uint64_t offset, const Slice& bytes) {
  if (file->size() < offset + bytes.size()) file->resize(offset + bytes.size(), '\0');
  file->replace(offset, bytes.size(), bytes.data(), bytes.size());
}

void OverwriteLog(std::string* log, uint64_t offset, const Slice& bytes) {
  Overwrite(log, offset, bytes);
  GrowLog(log);
}

}  // namespace

void GrowLog(std::string* log) {
  log->resize((log->size() + kLogGrowthBytes - 1) / kLogGrowthBytes * kLogGrowthBytes, '\0');
}

void DiskContents::Apply(const DiskWrite& write) {
  if (write.file == DiskFile::kPool) return Overwrite(&pool, write.offset, write.bytes);
  if (log) OverwriteLog(&*log, write.offset, write.bytes);
}

void DiskContents::Finish(const DiskEpoch& epoch) {
  using End = DiskEpoch::End;
  if (epoch.end == End::kLogCreated) log = epoch.created;
  if (epoch.end == End::kLogRemoved) log.reset();
  for (const DiskWrite& write : epoch.writes) {
    if (epoch.end == (write.file == DiskFile::kPool ? End::kPoolSynced : End::kLogSynced))
      Apply(write);
  }
}

// ---- The storage.

class CrashDisk::Storage final : public PoolStorage {
 public:
  explicit Storage(CrashDisk* disk) : disk_(*disk) {}

  const std::string& path() const override { return disk_.pool_->path(); }
  const std::string& log_path() const override { return disk_.log_path_; }
  // Each image is the disk after a power cut.
  uint64_t BootId() const override { return 0; }
  uint64_t bytes() const override { return disk_.pool_->bytes(); }
  Result<std::unique_ptr<PoolMapping>> MapPrivate() const override {
    return disk_.pool_->Map(PoolMapMode::kPrivate);
  }

  Status ReadPool(uint64_t offset, size_t n, char* to) const override {
    return disk_.pool_->ReadAt(offset, n, to);
  }
  Status WritePool(uint64_t offset, const Slice& bytes) override {
    MutexLock lock(disk_.mutex_);
    disk_.WriteToPool(offset, bytes);
    disk_.writes_.push_back({.file = DiskFile::kPool, .offset = offset, .bytes = bytes.ToString()});
    return Status::OK();
  }
  Status SyncPool() override {
    MutexLock lock(disk_.mutex_);
    disk_.EndEpoch(DiskEpoch::End::kPoolSynced);
    return Status::OK();
  }

  Status UseLog(const std::function<Status(const LogSource&)>& use) const override {
    std::optional<std::string> log;
    {
      MutexLock lock(disk_.mutex_);
      log = disk_.log_;
    }
    return log ? use(MemoryLog(*log)) : Status::PathNotFound("no log");
  }
  // Nothing reads it before it becomes the log.
  Status PrepareLog(uint64_t offset, const Slice& bytes) override {
    MutexLock lock(disk_.mutex_);
    Overwrite(&prepared_, offset, bytes);
    return Status::OK();
  }
  Status CreateLog(const Slice& head) override {
    MutexLock lock(disk_.mutex_);
    disk_.EndEpoch(DiskEpoch::End::kLogCreated);
    Overwrite(&prepared_, 0, head);
    disk_.log_ = std::exchange(prepared_, {});
    GrowLog(&*disk_.log_);
    disk_.epochs_.back().created = *disk_.log_;
    return Status::OK();
  }
  Status WriteLog(uint64_t offset, const Slice& bytes) override {
    MutexLock lock(disk_.mutex_);
    ASHLAR_ASSERT(disk_.log_.has_value());
    OverwriteLog(&*disk_.log_, offset, bytes);
    disk_.writes_.push_back({.file = DiskFile::kLog, .offset = offset, .bytes = bytes.ToString()});
    return Status::OK();
  }
  Status SyncLog() override {
    disk_.LetOthersCome();
    ASHLAR_RETURN_IF_ERROR(disk_.RunLogSync());
    MutexLock lock(disk_.mutex_);
    disk_.EndEpoch(DiskEpoch::End::kLogSynced);
    return Status::OK();
  }
  Status RemoveLog() override {
    MutexLock lock(disk_.mutex_);
    disk_.log_.reset();
    disk_.EndEpoch(DiskEpoch::End::kLogRemoved);
    return Status::OK();
  }
  Status KeepLog() override {
    {
      MutexLock lock(disk_.mutex_);
      disk_.kept_log_ = disk_.log_;
    }
    return RemoveLog();
  }

 private:
  CrashDisk& disk_;
  std::string prepared_;
};

CrashDisk::CrashDisk(uint64_t pool_bytes) : pool_(PoolFile::CreateAnonymous(pool_bytes).value()) {}

std::unique_ptr<PoolStorage> CrashDisk::NewStorage() { return std::make_unique<Storage>(this); }

std::optional<std::string> CrashDisk::KeptLog() const {
  MutexLock lock(mutex_);
  return kept_log_;
}

std::string CrashDisk::ReadPool() const {
  std::string bytes(pool_->bytes(), '\0');
  const Status read = pool_->ReadAt(0, bytes.size(), bytes.data());
  ASHLAR_ASSERT(read.ok());
  return bytes;
}

void CrashDisk::WriteToPool(uint64_t offset, const Slice& bytes) {
  const Status written = pool_->WriteAt(offset, bytes.data(), bytes.size());
  ASHLAR_ASSERT(written.ok());
  for (uint64_t sector = offset / kSectorBytes; sector * kSectorBytes < offset + bytes.size();
       ++sector)
    touched_sectors_.insert(sector);
}

// A sync takes time. In the meantime the other writers commit, and then wait for the next
// sync.
void CrashDisk::LetOthersCome() {
  constexpr int kTurns = 100;
  {
    MutexLock lock(mutex_);
    if (!progress_) return;
  }
  for (int i = 0; i < kTurns; ++i) YieldThread();
}

Status CrashDisk::RunLogSync() {
  std::function<Status()> sync;
  {
    MutexLock lock(mutex_);
    sync = log_sync_;
  }
  return sync ? sync() : Status::OK();
}

void CrashDisk::SetLogSync(std::function<Status()> sync) {
  MutexLock lock(mutex_);
  log_sync_ = std::move(sync);
}

void CrashDisk::EndEpoch(DiskEpoch::End end) {
  DiskEpoch epoch = {.writes = writes_,
                     .end = end,
                     .created = {},
                     .progress = progress_ ? progress_() : Progress()};
  epochs_.push_back(std::move(epoch));
  const bool is_pools = end == DiskEpoch::End::kPoolSynced;
  std::erase_if(
      writes_, [&](const DiskWrite& write) { return (write.file == DiskFile::kPool) == is_pools; });
}

std::vector<DiskEpoch> CrashDisk::TakeEpochs() {
  MutexLock lock(mutex_);
  std::vector<DiskEpoch> epochs = std::exchange(epochs_, {});
  if (!writes_.empty())
    epochs.push_back({.writes = writes_,
                      .end = DiskEpoch::End::kOpen,
                      .created = {},
                      .progress = progress_ ? progress_() : Progress()});
  return epochs;
}

void CrashDisk::SetProgress(std::function<Progress()> progress) {
  MutexLock lock(mutex_);
  progress_ = std::move(progress);
}

void CrashDisk::SetContents(const DiskContents& contents,
                            const std::map<uint64_t, std::string>& differing_sectors,
                            const std::optional<std::string>& log) {
  MutexLock lock(mutex_);
  for (const uint64_t sector : std::exchange(touched_sectors_, {})) {
    const Status written = pool_->WriteAt(
        sector * kSectorBytes, contents.pool.data() + sector * kSectorBytes, kSectorBytes);
    ASHLAR_ASSERT(written.ok());
  }
  for (const auto& [sector, bytes] : differing_sectors) WriteToPool(sector * kSectorBytes, bytes);
  log_ = log;
  if (log_) GrowLog(&*log_);
  kept_log_.reset();
  writes_.clear();
  epochs_.clear();
}

void CrashDisk::SetPoolSector(uint64_t sector, const std::string& bytes) {
  MutexLock lock(mutex_);
  const Status written = pool_->WriteAt(sector * kSectorBytes, bytes.data(), bytes.size());
  ASHLAR_ASSERT(written.ok());
}

}  // namespace ashlar::pmem
