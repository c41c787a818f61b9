// SstFileManager: the disk space of one or more databases. It counts their tables, refuses writes
// beyond a limit, paces the deletion of files, and resumes databases when there is space again.
//
//   auto manager = std::shared_ptr<SstFileManager>(NewSstFileManager(Env::Default()));
//   manager->SetMaxAllowedSpaceUsage(uint64_t{200} << 30);
//   options.sst_file_manager = manager;
//
// Trash: with a deletion rate, an obsolete table or log in the database's folder is renamed, for
// example to 000012.sst.trash, and deleted later. Trash that is left when the process ends is
// deleted by the next open, with or without a manager.
//
// Thread safety: any thread. Lifetime: a database keeps its manager; the Env outlives the manager.
// The manager deletes trash until it ends, even after the database is closed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "ashlar/env.h"
#include "ashlar/export.h"
#include "ashlar/statistics.h"
#include "ashlar/status.h"

namespace ashlar {

// Made by NewSstFileManager only; not for subclassing.
class ASHLAR_API SstFileManager {
 public:
  virtual ~SstFileManager() = default;
  SstFileManager(const SstFileManager&) = delete;
  SstFileManager& operator=(const SstFileManager&) = delete;

  // Bytes of tables and trash, in all databases together; 0 (the default): no limit. If a flush
  // finds the limit reached, writes to its database return SpaceLimit from then on. Reads continue
  // and nothing is lost. The database resumes by itself once the total is below the limit.
  virtual void SetMaxAllowedSpaceUsage(uint64_t max_allowed_space) = 0;
  // Bytes that a compaction leaves free below the limit. One that would not fit is not started: a
  // manual one returns CompactionTooLarge, and an automatic one is retried later.
  virtual void SetCompactionBufferSize(uint64_t compaction_buffer_size) = 0;
  virtual bool IsMaxAllowedSpaceReached() = 0;
  // Also counts the bytes that running compactions may add, which are those of their inputs.
  virtual bool IsMaxAllowedSpaceReachedIncludingCompactions() = 0;

  // Bytes of the tables of open databases, and of trash.
  virtual uint64_t GetTotalSize() = 0;
  // The files that GetTotalSize counts, by path, with their bytes.
  virtual std::unordered_map<std::string, uint64_t> GetTrackedFiles() = 0;

  // Bytes deleted per second. 0 or less: files are deleted at once. Takes effect within a second.
  virtual int64_t GetDeleteRateBytesPerSecond() = 0;
  virtual void SetDeleteRateBytesPerSecond(int64_t delete_rate) = 0;
  // While the trash is more than this fraction of the total, files are deleted at once.
  virtual double GetMaxTrashDBRatio() = 0;
  virtual void SetMaxTrashDBRatio(double ratio) = 0;
  virtual uint64_t GetTotalTrashSize() = 0;

  // Sets where FILES_MARKED_TRASH, FILES_DELETED_FROM_TRASH_QUEUE and FILES_DELETED_IMMEDIATELY are
  // counted; null: nowhere. DB::Open sets the statistics of its options, if there are any.
  virtual void SetStatisticsPtr(const std::shared_ptr<Statistics>& stats) = 0;

 protected:
  SstFileManager() = default;
};

// The caller owns the result. file_system: that of the databases. info_log: receives errors of
// deletions; may be null. trash_dir: a folder of old RocksDB releases, whose files are deleted if
// delete_existing_trash is set. status: the first error of that deletion; may be null.
// bytes_max_delete_chunk: a larger file is truncated by this much at a time; 0: files are not
// truncated. Some are never truncated: files with another hard link, logs, which a
// TransactionLogIterator may have open, and all files of a database with allow_mmap_reads. Set it
// to 0 if another process reads the database (OpenForReadOnly, OpenAsSecondary), because that
// process may have the truncated file open.
ASHLAR_API SstFileManager* NewSstFileManager(
    Env* env, const std::shared_ptr<FileSystem>& file_system,
    std::shared_ptr<Logger> info_log = nullptr, const std::string& trash_dir = "",
    int64_t rate_bytes_per_sec = 0, bool delete_existing_trash = true, Status* status = nullptr,
    double max_trash_db_ratio = 0.25, uint64_t bytes_max_delete_chunk = 64 * 1024 * 1024);
// With the file system of env.
ASHLAR_API SstFileManager* NewSstFileManager(
    Env* env, std::shared_ptr<Logger> info_log = nullptr, const std::string& trash_dir = "",
    int64_t rate_bytes_per_sec = 0, bool delete_existing_trash = true, Status* status = nullptr,
    double max_trash_db_ratio = 0.25, uint64_t bytes_max_delete_chunk = 64 * 1024 * 1024);

}  // namespace ashlar
