// PoolStorage: the two files of a logged pool, the pool itself and the log beside it. What is
// written may be lost, in any part and in any order, until the file's sync has returned. Tests have
// one of their own, which is cut off.
//
// Thread safety: WritePool and SyncPool one thread at a time; the log's calls likewise.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "platform/file.h"
#include "platform/pool_file.h"

namespace ashlar::pmem {

std::string LogPath(const std::string& pool_path);

class PoolStorage {
 public:
  virtual ~PoolStorage() = default;
  PoolStorage(const PoolStorage&) = delete;
  PoolStorage& operator=(const PoolStorage&) = delete;

  // The pool's; names it in errors.
  virtual const std::string& path() const = 0;
  virtual uint64_t bytes() const = 0;
  virtual Result<std::unique_ptr<PoolMapping>> MapPrivate() const = 0;
  virtual Status WritePool(uint64_t offset, const Slice& bytes) = 0;
  virtual Status SyncPool() = 0;

  // Hands the log's bytes to `use`, and its answer back. PathNotFound: there is no log.
  virtual Status UseLog(const std::function<Status(const Slice&)>& use) const = 0;
  // A log that begins with these bytes, durably: it has its name when they are there, and not
  // before.
  virtual Status CreateLog(const Slice& head) = 0;
  virtual Status WriteLog(uint64_t offset, const Slice& bytes) = 0;
  virtual Status SyncLog() = 0;
  // Durably.
  virtual Status RemoveLog() = 0;

 protected:
  PoolStorage() = default;
};

// Files of the operating system.
class FileStorage final : public PoolStorage {
 public:
  explicit FileStorage(std::unique_ptr<PoolFile> pool) : pool_(std::move(pool)) {}
  // Gives the pool's file away; nothing else may be asked for then.
  std::unique_ptr<PoolFile> Release() { return std::move(pool_); }

  const std::string& path() const override { return pool_->path(); }
  uint64_t bytes() const override { return pool_->bytes(); }
  Result<std::unique_ptr<PoolMapping>> MapPrivate() const override {
    return pool_->Map(PoolMapMode::kPrivate);
  }
  Status WritePool(uint64_t offset, const Slice& bytes) override {
    return pool_->WriteAt(offset, bytes.data(), bytes.size());
  }
  Status SyncPool() override { return pool_->SyncData(); }

  Status UseLog(const std::function<Status(const Slice&)>& use) const override;
  Status CreateLog(const Slice& head) override;
  Status WriteLog(uint64_t offset, const Slice& bytes) override {
    return log_->WriteAt(offset, bytes);
  }
  Status SyncLog() override { return log_->SyncData(); }
  Status RemoveLog() override;

 private:
  std::unique_ptr<PoolFile> pool_;
  std::optional<OsFile> log_;  // while it is written
};

}  // namespace ashlar::pmem
