// CrashDisk: the storage of a logged pool as a power cut sees it. It tracks the durable bytes of
// the pool and of its log, and the writes since.
//
//   WritePool, WriteLog ──> contents, as reads see them, and the writes that are not durable
//   SyncPool, SyncLog ──> ends an epoch: the writes that were not durable are kept, and those to
//                         the synced file become durable
//   CreateLog, RemoveLog ──> ends an epoch too: the name is durable when the call returns
//
// A crash in an epoch leaves each sector of 512 bytes as it was after any of its writes, or before
// them, independently of the other sectors.
//
// Thread safety: any thread. Lifetime: outlives the storages on it.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "platform/mutex.h"
#include "pmem/pool_storage.h"
#include "tests/pool_crash/progress.h"

namespace ashlar::pmem {

inline constexpr uint64_t kSectorBytes = 512;

enum class DiskFile : uint8_t { kPool, kLog };

struct DiskWrite {
  DiskFile file;
  uint64_t offset;
  std::string bytes;
};

struct DiskEpoch {
  enum class End : uint8_t { kPoolSynced, kLogSynced, kLogCreated, kLogRemoved, kOpen };
  std::vector<DiskWrite> writes;  // those that are not durable, in order
  End end = End::kOpen;
  std::string created;  // the log, at kLogCreated
  Progress progress;    // when it ended, with several writers
};

// Extends a log to the next length that a storage gives it.
void GrowLog(std::string* log);

// The durable contents.
struct DiskContents {
  std::string pool;
  std::optional<std::string> log;

  void Apply(const DiskWrite& write);
  // Adds the writes that become durable at the epoch's end.
  void Finish(const DiskEpoch& epoch);
};

class CrashDisk {
 public:
  explicit CrashDisk(uint64_t pool_bytes);

  // A storage on this disk, for one medium.
  std::unique_ptr<PoolStorage> NewStorage();
  std::string ReadPool() const;
  // Returns the log that was kept aside most recently since SetContents.
  std::optional<std::string> KeptLog() const;

  // Returns the epochs since the last call, including an unfinished last one that has writes.
  std::vector<DiskEpoch> TakeEpochs();
  // Replaces the log's syncs. `sync` may be empty. A sync that fails makes nothing durable.
  void SetLogSync(std::function<Status()> sync);
  // `progress` is called at the end of each epoch, and may be empty.
  void SetProgress(std::function<Progress()> progress);

  // Makes the contents durable at once, without a write, and forgets earlier writes. Requires:
  // `contents` equals those of the last call except in `differing_sectors`.
  void SetContents(const DiskContents& contents,
                   const std::map<uint64_t, std::string>& differing_sectors,
                   const std::optional<std::string>& log);
  void SetPoolSector(uint64_t sector, const std::string& bytes);

 private:
  class Storage;

  void WriteToPool(uint64_t offset, const Slice& bytes) ASHLAR_REQUIRES(mutex_);
  void LetOthersCome();
  Status RunLogSync();
  void EndEpoch(DiskEpoch::End end) ASHLAR_REQUIRES(mutex_);

  const std::unique_ptr<PoolFile> pool_;
  const std::string log_path_ = "(log of the crash disk)";
  mutable Mutex mutex_;
  std::optional<std::string> log_ ASHLAR_GUARDED_BY(mutex_);
  std::optional<std::string> kept_log_ ASHLAR_GUARDED_BY(mutex_);
  std::vector<DiskWrite> writes_ ASHLAR_GUARDED_BY(mutex_);
  std::vector<DiskEpoch> epochs_ ASHLAR_GUARDED_BY(mutex_);
  std::set<uint64_t> touched_sectors_ ASHLAR_GUARDED_BY(mutex_);  // of the pool, since SetContents
  std::function<Status()> log_sync_ ASHLAR_GUARDED_BY(mutex_);
  std::function<Progress()> progress_ ASHLAR_GUARDED_BY(mutex_);
};

}  // namespace ashlar::pmem
