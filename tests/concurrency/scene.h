// Scene: the database on which two calls run at once, and what its contents must be.
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
//
// Thread safety: any thread, except Open, Reopen and CheckContents. Lifetime: calls end before it.
#pragma once

#include <array>
#include <atomic>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/write_buffer_manager.h"
#include "base/random.h"
#include "platform/mutex.h"

namespace ashlar {

class Scene {
 public:
  static constexpr size_t kWriters = 2;
  static constexpr size_t kKeysPerWriter = 60;
  // Of each key of the model. 0: absent.
  using Versions = std::array<std::array<uint64_t, kKeysPerWriter>, kWriters>;

  // A family that a call works on.
  struct Target {
    std::shared_ptr<ColumnFamilyHandle> handle;
    bool may_be_dropped = false;
    bool loses_old_tables = false;

    ColumnFamilyHandle* get() const { return handle.get(); }
  };

  // recycles_logs: new logs are written over old ones.
  explicit Scene(bool recycles_logs);
  ~Scene();
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  void Open();
  // Closes, opens again, and checks the contents.
  void Reopen();
  DB* db() const { return db_.get(); }
  Env* env() const { return env_.get(); }
  // Of the database, and of the copies and secondaries of it. It has no limit at first.
  WriteBufferManager* write_buffer_manager() const { return options_.write_buffer_manager.get(); }
  // From now until Reopen every call may end with an error.
  void BeginClosing() { is_closing_.store(true); }
  bool is_closing() const { return is_closing_.load(); }

  Target Pick(Random* random) const;
  // The families of the model; the first is "default".
  const std::vector<Target>& families() const { return families_; }
  // Replaces the victim, and drops the old one.
  void DropVictim();
  ColumnFamilyOptions VictimOptions() const;

  // One batch of the model.
  void WriteOne(size_t writer, Random* random);
  // One key of the model from a family, by Get.
  void ReadOne(Random* random) const;
  // What reads must find from now on, at least.
  Versions Floor() const;

  // Of iterators over all families at one state: each key has the floor's version or a later one,
  // the same in all families.
  void CheckIterators(const std::vector<std::unique_ptr<Iterator>>& iterators,
                      const Versions& floor) const;
  // A secondary of the database, with handles for the families of the model.
  Status OpenSecondary(std::unique_ptr<DB>* secondary,
                       std::vector<std::unique_ptr<ColumnFamilyHandle>>* handles) const;
  // The same of a copy of the database.
  void CheckCopy(const std::string& path, const Versions& floor) const;
  // Of the database while nothing runs.
  void CheckContents();

  // False: an error that may be, because the target was dropped, the database is being closed, or
  // the code is one of `expected`. Others fail the test.
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

  const std::unique_ptr<Env> env_;
  Options options_;
  std::unique_ptr<DB> db_;
  std::vector<Target> families_;
  mutable Mutex victim_mutex_;
  Target victim_ ASHLAR_GUARDED_BY(victim_mutex_);
  uint64_t victims_ ASHLAR_GUARDED_BY(victim_mutex_) = 0;
  std::atomic<bool> is_closing_{false};
  // By the writer of each; read by all. attempted_ may be newer after a write that failed.
  std::array<std::array<std::atomic<uint64_t>, kKeysPerWriter>, kWriters> acknowledged_{};
  std::array<std::array<std::atomic<uint64_t>, kKeysPerWriter>, kWriters> attempted_{};
  std::array<uint64_t, kWriters> last_version_{};  // of its writer
};

}  // namespace ashlar
