// TrashBin: files that wait for their deletion at a limited rate.
//
//   Delete --no rate, or too much trash, or no rename--> deleted at once
//   Delete --> renamed to *.trash, queued --step--> cut by a chunk, or deleted, then a pause
//                                 \--the file system refuses--> undeleted --period--> queued
//
// A step is a job of the executor that deletes one file or chunk. The bytes that it frees are a
// debt, which the rate pays off before the next step.
//
// I1: at most one step is scheduled or runs. While there is trash or a debt, one is, unless an
//     allocation failed or the executor refused the job. The next Delete then tries again.
// I2: in any time t, steps free at most rate * t bytes and one file or chunk.
// I3: a file is cut only if that is allowed, it has one name and it is trash. So neither a reader
//     nor a hard link of a checkpoint loses bytes.
// I4: no two queued files have the same name. Trash has names that no live file gets.
// I5: trash_bytes_ is the sum over queue_ and undeleted_.
//
// A crash leaves trash, which the next open of the database adopts or deletes.
// Thread safety: all methods; the mutex is a leaf, and not held during calls of the file system.
// Lifetime: steps hold the bin weakly, so it is destroyed by its last owner, which calls End
// before. The Env and the executor may then be destroyed.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "ashlar/env.h"
#include "ashlar/statistics.h"
#include "ashlar/status.h"
#include "ashlar/vfs.h"
#include "platform/mutex.h"

namespace ashlar {

class TrashBin : public std::enable_shared_from_this<TrashBin> {
 public:
  struct Options {
    Env* env = nullptr;
    std::shared_ptr<vfs::FileSystem> file_system;
    std::shared_ptr<Logger> logger;  // may be null
    int64_t bytes_per_second = 0;    // 0 or less: files are deleted at once
    double ratio_max = 0.25;         // largest ratio of trash to all tables and trash
    uint64_t chunk_bytes_max = 0;    // 0: files are deleted in one step
  };
  struct File {
    std::string path;
    bool is_whole = false;      // never cut, because it may be mapped or open
    uint64_t retry_micros = 0;  // delay after a failed deletion
  };

  static std::shared_ptr<TrashBin> Create(Options options);
  TrashBin(const TrashBin&) = delete;
  TrashBin& operator=(const TrashBin&) = delete;

  // OK: the file is deleted, or it is trash. total_bytes: of all tables and trash.
  Status Delete(const File& file, uint64_t total_bytes);
  // Waits for running steps. No step runs afterwards. Queued files stay trash.
  void End();
  // The same as Delete, for a file that an earlier run has made trash.
  Status Adopt(const File& trash, uint64_t total_bytes);

  void SetBytesPerSecond(int64_t bytes_per_second);
  int64_t BytesPerSecond() const;
  void SetRatioMax(double ratio);
  double RatioMax() const;
  void SetStatistics(std::shared_ptr<Statistics> statistics);
  uint64_t TrashBytes() const;
  void AddFiles(std::unordered_map<std::string, uint64_t>* bytes_by_path) const;

 private:
  struct Trash {
    File file;
    uint64_t bytes = 0;
    uint64_t retry_nanos = 0;  // if its deletion failed: when it is tried again
  };
  struct Outcome {
    Status status;
    uint64_t freed_bytes = 0;
    bool has_gone = false;
  };

  explicit TrashBin(Options options);
  // True if the rate and the ratio allow another file to become trash.
  bool TakesMore(uint64_t total_bytes) const;
  Status DeleteAtOnce(const std::string& path);
  // I4. Takes a name for the trash of `path`. Queue uses it, or GiveBack returns it.
  std::string TakeName(const std::string& path);
  void GiveBack(const std::string& name);
  // Requires: the name was taken.
  void Queue(File trash, uint64_t bytes);

  // I1. Schedules a step if none is scheduled.
  void Wake();
  void ScheduleStep(uint64_t delay_micros);
  void RunStep() noexcept;
  void Step();
  // Pays off debt. Returns nothing if no file may be deleted now.
  std::optional<Trash> BeginStep();
  Outcome DeletePart(const Trash& trash) const;
  void EndStep(const Outcome& outcome);
  // Returns nothing if there is nothing to do.
  std::optional<uint64_t> DelayMicros() const ASHLAR_REQUIRES(mutex_);
  void QueueDue(uint64_t now_nanos) ASHLAR_REQUIRES(mutex_);
  void Count(Tickers ticker) const;
  void Warn(const std::string& path, const Status& error) const;
  void CheckInvariants() const ASHLAR_REQUIRES(mutex_);

  const Options options_;
  mutable Mutex mutex_;
  int64_t bytes_per_second_ ASHLAR_GUARDED_BY(mutex_);
  double ratio_max_ ASHLAR_GUARDED_BY(mutex_);
  std::shared_ptr<Statistics> statistics_ ASHLAR_GUARDED_BY(mutex_);
  std::list<Trash> queue_ ASHLAR_GUARDED_BY(mutex_);  // only a step removes its first element
  std::list<Trash> undeleted_ ASHLAR_GUARDED_BY(mutex_);
  std::unordered_set<std::string> names_ ASHLAR_GUARDED_BY(mutex_);  // I4: taken ones
  uint64_t trash_bytes_ ASHLAR_GUARDED_BY(mutex_) = 0;
  uint64_t debt_bytes_ ASHLAR_GUARDED_BY(mutex_) = 0;    // I2
  uint64_t pause_micros_ ASHLAR_GUARDED_BY(mutex_) = 0;  // before the scheduled step
  bool is_scheduled_ ASHLAR_GUARDED_BY(mutex_) = false;  // I1
  // Two for a moment, when the next step begins before the one that scheduled it has returned.
  uint32_t running_steps_ ASHLAR_GUARDED_BY(mutex_) = 0;
  bool has_ended_ ASHLAR_GUARDED_BY(mutex_) = false;
  CondVar step_ended_;
};

}  // namespace ashlar
