// PoolStorage: the two files of a logged pool, the pool itself and the log next to it. Until the
// sync of a file has returned, any part of its written bytes may be lost, in any order. The tests
// have a storage of their own that loses them.
//
// I1: the length of the log is always a multiple of kLogGrowthBytes. So a log of another length was
//     truncated, and not by a crash.
//
// Thread safety: one thread at a time for WritePool and SyncPool, for WriteLog and SyncLog, and for
// PrepareLog. No other call for the log runs concurrently with CreateLog.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "platform/clock.h"
#include "platform/file.h"
#include "platform/pool_file.h"
#include "pmem/redo_log.h"

namespace ashlar::pmem {

// A log grows by this much before it is written beyond its end.
inline constexpr uint64_t kLogGrowthBytes = uint64_t{64} << 10;

class PoolStorage {
 public:
  virtual ~PoolStorage() = default;
  PoolStorage(const PoolStorage&) = delete;
  PoolStorage& operator=(const PoolStorage&) = delete;

  // The path of the pool, which names it in errors.
  virtual const std::string& path() const = 0;
  // The path of the log, which names it in errors.
  virtual const std::string& log_path() const = 0;
  // See platform/clock.h.
  virtual uint64_t BootId() const = 0;
  virtual uint64_t bytes() const = 0;
  virtual Result<std::unique_ptr<PoolMapping>> MapPrivate() const = 0;
  virtual Status ReadPool(uint64_t offset, size_t n, char* to) const = 0;
  virtual Status WritePool(uint64_t offset, const Slice& bytes) = 0;
  virtual Status SyncPool() = 0;

  // Calls `use` with the log and returns its status. Returns PathNotFound if there is no log.
  virtual Status UseLog(const std::function<Status(const LogSource&)>& use) const = 0;
  // Writes a part of the log that CreateLog will name. It may become durable before that.
  virtual Status PrepareLog(uint64_t offset, const Slice& bytes) = 0;
  // Durably creates a log of these bytes and of the prepared ones. The log gets its name only after
  // all of them are durable. It replaces a log that is being written.
  virtual Status CreateLog(const Slice& head) = 0;
  virtual Status WriteLog(uint64_t offset, const Slice& bytes) = 0;
  virtual Status SyncLog() = 0;
  // Removes the log durably.
  virtual Status RemoveLog() = 0;
  // Renames the log to <log>.lost-N, durably. Requires: the log is not being written.
  virtual Status KeepLog() = 0;

 protected:
  PoolStorage() = default;
};

// Files of the operating system.
class FileStorage final : public PoolStorage {
 public:
  // The log is next to the pool itself, even if the pool was opened through a link.
  explicit FileStorage(std::unique_ptr<PoolFile> pool)
      : pool_(std::move(pool)), log_path_(pool_->RealPath() + ".log") {}
  // Hands over the pool's file. No other call may follow.
  std::unique_ptr<PoolFile> Release() { return std::move(pool_); }

  const std::string& path() const override { return pool_->path(); }
  const std::string& log_path() const override { return log_path_; }
  uint64_t BootId() const override { return ashlar::BootId(); }
  uint64_t bytes() const override { return pool_->bytes(); }
  Result<std::unique_ptr<PoolMapping>> MapPrivate() const override {
    return pool_->Map(PoolMapMode::kPrivate);
  }
  Status ReadPool(uint64_t offset, size_t n, char* to) const override {
    return pool_->ReadAt(offset, n, to);
  }
  Status WritePool(uint64_t offset, const Slice& bytes) override {
    return pool_->WriteAt(offset, bytes.data(), bytes.size());
  }
  Status SyncPool() override { return pool_->SyncData(); }

  Status UseLog(const std::function<Status(const LogSource&)>& use) const override;
  Status PrepareLog(uint64_t offset, const Slice& bytes) override;
  Status CreateLog(const Slice& head) override;
  Status WriteLog(uint64_t offset, const Slice& bytes) override;
  Status SyncLog() override { return log_->file.SyncData(); }
  Status RemoveLog() override;
  Status KeepLog() override;

 private:
  // A log that is being written, and its length.
  struct Log {
    OsFile file;
    uint64_t bytes = 0;

    Status Write(uint64_t offset, const Slice& bytes);
  };

  std::string next_path() const { return log_path_ + ".creating"; }
  std::string spare_path() const { return log_path_ + ".spare"; }
  void KeepSpare();
  // Closes the logs, and removes the files of a checkpoint.
  Status RemoveLeftovers();

  std::unique_ptr<PoolFile> pool_;
  const std::string log_path_;
  std::optional<Log> log_;
  std::optional<Log> next_;           // written by PrepareLog
  uint64_t next_unsynced_bytes_ = 0;  // of next_
};

}  // namespace ashlar::pmem
