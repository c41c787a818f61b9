// Scene: the database on which two calls run at once, and its expected contents.
//
// Families "default" (leveled), "universal", "fifo" (drops its oldest tables) and "filtered" (a
// compaction filter for flushes and compactions), with tiny memtables and levels, and "victim",
// which DropFamily replaces while others use it. Keys, by their first letter:
//
//   m  the model's: writers put each into all four families in one batch; a value begins with its
//      version. "fifo" may have lost one. In "filtered" the filter changes odd versions.
//   t  temporary: a call puts one, checks it, and deletes it
//   g  of DeleteFilesInRanges: present or not
//   x  of the filter, which removes them: present or not
//   u  of family "unlogged": the number of the thread's last write
//
// Thread safety: any thread, except Open, Reopen, Settle, CheckContents and CheckSharedBackups.
// Lifetime: calls end before the scene does.
#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/backup_engine.h"
#include "ashlar/cache.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/rate_limiter.h"
#include "ashlar/write_buffer_manager.h"
#include "base/random.h"
#include "platform/mutex.h"
#include "tests/support/fault_file_system.h"

namespace ashlar {

struct SceneKind {
  // New logs are written over old ones.
  bool recycles_logs = false;
  // FailAWriteThenResume makes writes fail, and every call may return IOError.
  bool has_faults = false;
  // DBOptions::manual_wal_flush.
  bool flushes_log_by_hand = false;
  // WriteUnlogged writes without a log.
  bool writes_without_log = false;
};

class Scene {
 public:
  static constexpr size_t kWriters = 2;
  static constexpr size_t kKeysPerWriter = 60;
  // The version of each key of the model. 0: absent.
  using Versions = std::array<std::array<uint64_t, kKeysPerWriter>, kWriters>;

  // A family that a call works on.
  struct Target {
    std::shared_ptr<ColumnFamilyHandle> handle;
    bool may_be_dropped = false;
    bool loses_old_tables = false;

    ColumnFamilyHandle* get() const { return handle.get(); }
  };

  // A backup that a call makes.
  struct RunningBackup {
    std::unique_ptr<BackupEngine> engine;
    std::atomic<bool> is_stopped{false};
  };
  // The directory of backups of all threads.
  static constexpr char kSharedBackups[] = "/backups";

  explicit Scene(const SceneKind& kind);
  ~Scene();
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  void Open();
  // Closes, opens again, and checks the contents.
  void Reopen();
  const SceneKind& kind() const { return kind_; }
  DB* db() const { return db_.get(); }
  Env* env() const { return env_.get(); }
  // Shared by the database, its copies and its secondaries. The manager has no limit at first.
  WriteBufferManager* write_buffer_manager() const { return options_.write_buffer_manager.get(); }
  Cache* cache() const { return cache_.get(); }
  RateLimiter* rate_limiter() const { return options_.rate_limiter.get(); }
  // From now until Reopen every call may end with an error.
  void BeginClosing() { is_closing_.store(true); }
  bool is_closing() const { return is_closing_.load(); }

  Target Pick(Random* random) const;
  // The families of the model; the first is "default".
  const std::vector<Target>& families() const { return families_; }
  // Replaces the victim, and drops the old one.
  void DropVictim();
  ColumnFamilyOptions VictimOptions() const;

  // Writes one batch of the model.
  void WriteOne(size_t writer, Random* random);
  // Reads one key of the model from a family with Get.
  void ReadOne(Random* random) const;
  // Writes the number, which is above that of the thread's last call, and checks it. Some of the
  // calls flush it.
  void WriteUnlogged(size_t thread, uint64_t number);
  // Makes one write of a file fail, a different one in each call, and resumes the database.
  // Requires: has_faults.
  void FailAWriteThenResume();
  // Waits for jobs in which a write failed, resumes, and removes the temporary keys whose deletion
  // failed. Requires: has_faults.
  void Settle();
  uint64_t FaultsInjected() const { return faults_ == nullptr ? 0 : faults_->FaultsInjected(); }
  // The lowest versions that reads must find from now on.
  Versions Floor() const;

  // Checks iterators over all families at one state. Each key must have the floor's version or a
  // later one, the same in all families.
  void CheckIterators(const std::vector<std::unique_ptr<Iterator>>& iterators,
                      const Versions& floor) const;
  // Opens a secondary of the database, with handles for the families of the model.
  Status OpenSecondary(std::unique_ptr<DB>* secondary,
                       std::vector<std::unique_ptr<ColumnFamilyHandle>>* handles) const;
  // Checks a copy of the database in the same way, and then removes it.
  void CheckAndRemoveCopy(const std::string& path, const Versions& floor) const;
  // Checks the database. Requires: nothing runs.
  void CheckContents();
  // Checks the backups in kSharedBackups. Requires: nothing runs.
  void CheckSharedBackups() const;

  // Lets another thread stop the backup. Null: there is none.
  void SetRunningBackup(std::shared_ptr<RunningBackup> backup);
  std::shared_ptr<RunningBackup> running_backup() const;

  // Records which levels of the first family have tables.
  void NoteLevels();
  // The number of levels that had tables in a call of NoteLevels.
  size_t LevelsSeen() const { return std::bitset<64>(levels_seen_.load()).count(); }

  // Returns false for an allowed error: the target was dropped, the database is being closed, the
  // code is one of `expected`, or a write of a file was made to fail. Other errors fail the test.
  bool Succeeded(const Status& status, const Target& target,
                 std::initializer_list<Status::Code> expected = {}) const;
  bool Succeeded(const Status& status, std::initializer_list<Status::Code> expected = {}) const {
    return Succeeded(status, families_.front(), expected);
  }

 private:
  std::vector<ColumnFamilyDescriptor> ModelFamilies() const;
  void CreateVictim();
  void CloseHandles();
  void RemoveTemporaryKeys();
  // After calls that Close cut off, adds those failed writes to the model that the database
  // contains.
  void AdoptContents();
  // Returns 0 if there is no number.
  uint64_t ReadUnlogged(size_t thread) const;

  const SceneKind kind_;
  const std::shared_ptr<FaultFileSystem> faults_;  // null: no faults
  const std::unique_ptr<Env> env_;
  const std::shared_ptr<Cache> cache_;
  Options options_;
  std::unique_ptr<DB> db_;
  std::vector<Target> families_;
  Target unlogged_;
  mutable Mutex backup_mutex_;
  std::shared_ptr<RunningBackup> running_backup_ ASHLAR_GUARDED_BY(backup_mutex_);
  mutable Mutex victim_mutex_;
  Target victim_ ASHLAR_GUARDED_BY(victim_mutex_);
  uint64_t victims_ ASHLAR_GUARDED_BY(victim_mutex_) = 0;
  std::atomic<bool> is_closing_{false};
  // Written by the writer of each key, read by all. attempted_ may be newer after a failed write.
  std::array<std::array<std::atomic<uint64_t>, kKeysPerWriter>, kWriters> acknowledged_{};
  std::array<std::array<std::atomic<uint64_t>, kKeysPerWriter>, kWriters> attempted_{};
  std::array<uint64_t, kWriters> last_version_{};  // each used by its writer
  // Written by the thread of each WriteUnlogged call. Flushed data survive every close.
  std::array<std::atomic<uint64_t>, 2> unlogged_acknowledged_{};
  std::array<std::atomic<uint64_t>, 2> unlogged_flushed_{};
  std::atomic<uint64_t> faults_made_{0};
  std::atomic<uint64_t> levels_seen_{0};  // one bit per level
};

}  // namespace ashlar
