// MemoryStorage: a pool of class logged in a file of the test, with its log in memory.
//
// Thread safety: that of PoolStorage. Lifetime: the pool's file must outlive it.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "pmem/pool_storage.h"
#include "tests/support/memory_log.h"

namespace ashlar::pmem {

class MemoryStorage final : public PoolStorage {
 public:
  using Log = std::optional<std::string>;

  explicit MemoryStorage(PoolFile* pool, Log log = {})
      : MemoryStorage(pool, std::make_shared<Log>(std::move(log))) {}
  // The log may outlive the storage, as a file does.
  MemoryStorage(PoolFile* pool, std::shared_ptr<Log> log) : pool_(*pool), log_(std::move(log)) {}

  // Sets a function, which may be empty, that runs in each sync of the pool.
  void SetPoolSync(std::function<void()> pool_sync) { pool_sync_ = std::move(pool_sync); }
  // Makes reads of the log that include this byte fail.
  void SetBadByteOfLog(uint64_t bad_byte) { bad_byte_of_log_ = bad_byte; }

  const std::string& path() const override { return pool_.path(); }
  const std::string& log_path() const override { return log_path_; }
  uint64_t BootId() const override { return 1; }
  uint64_t bytes() const override { return pool_.bytes(); }
  Result<std::unique_ptr<PoolMapping>> MapPrivate() const override {
    return pool_.Map(PoolMapMode::kPrivate);
  }
  Status ReadPool(uint64_t offset, size_t n, char* to) const override {
    return pool_.ReadAt(offset, n, to);
  }
  Status WritePool(uint64_t offset, const Slice& bytes) override {
    return pool_.WriteAt(offset, bytes.data(), bytes.size());
  }
  Status SyncPool() override {
    if (pool_sync_) pool_sync_();
    return Status::OK();
  }
  Status UseLog(const std::function<Status(const LogSource&)>& use) const override {
    return *log_ ? use(MemoryLog(**log_, bad_byte_of_log_)) : Status::PathNotFound("no log");
  }
  Status PrepareLog(uint64_t offset, const Slice& bytes) override {
    Overwrite(&prepared_, offset, bytes);
    return Status::OK();
  }
  Status CreateLog(const Slice& head) override {
    Overwrite(&prepared_, 0, head);
    *log_ = std::exchange(prepared_, {});
    return Status::OK();
  }
  Status WriteLog(uint64_t offset, const Slice& bytes) override {
    Overwrite(&**log_, offset, bytes);
    return Status::OK();
  }
  Status SyncLog() override { return Status::OK(); }
  Status RemoveLog() override {
    log_->reset();
    return Status::OK();
  }
  Status KeepLog() override { return RemoveLog(); }

 private:
  // Grows the log in steps, as the file grows: a log of any other length was truncated.
  static void Overwrite(std::string* log, uint64_t offset, const Slice& bytes) {
    const uint64_t end = offset + bytes.size();
    const uint64_t steps = (end + kLogGrowthBytes - 1) / kLogGrowthBytes;
    log->resize(std::max<size_t>(log->size(), steps * kLogGrowthBytes));
    memcpy(log->data() + offset, bytes.data(), bytes.size());
  }

  PoolFile& pool_;
  const std::string log_path_ = "(log in memory)";
  const std::shared_ptr<Log> log_;
  std::string prepared_;
  std::function<void()> pool_sync_;
  uint64_t bad_byte_of_log_ = MemoryLog::kNoBadByte;
};

}  // namespace ashlar::pmem
