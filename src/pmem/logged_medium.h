// LoggedMedium: a pool on an ordinary file. The file is mapped privately, so that the system cannot
// write a page before the log has its changes. The redo log (redo_log.h) makes changes durable;
// only a checkpoint writes pages. docs/persistent-memory.md has the steps and the reasons.
//
//   verbs ──> private memory, and the redo of the operation
//   Commit ──> buffer_, in the order of commits ──> AwaitDurable: one thread writes and syncs for
//   all that wait ──> log file
//   log or changed pages at their bound ──> checkpoint
//
// I1: an operation is one record: after a crash it is there or it is not.
// I2: a word that is stored between two checkpoints is in the log of that generation.
// I3: a page is written to the pool only after every record that stored to it is durable.
// I4: no operation is under way during a checkpoint: the pages are those between two operations.
// I5: a record is written only while log header and link name its generation, durably. So a log
//     without the link's generation, or with records of a later one, is not the log of this pool.
// I6: changed_pages_ counts the pages whose bit is set. Only these and the header's page have
//     private copies. The operations under way may exceed its bound.
//
// A reader may see a committed change that is not yet durable: its writer still waits. A writer
// that finds nothing to change commits too, without a record, and waits for the changes that it has
// seen.
//
// Thread safety: see Medium. One error latch: after a failed write or sync nothing commits.
#pragma once

#include <memory>
#include <vector>

#include "platform/mutex.h"
#include "pmem/medium.h"
#include "pmem/pool_storage.h"
#include "pmem/redo_log.h"

namespace ashlar::pmem {

struct LoggedMediumConfig {
  uint64_t pool_id = 0;
  bool sync = true;
  uint64_t log_bytes_max = 0;
  uint64_t private_bytes_max = 0;  // of changed pages
};

class LoggedMedium final : public Medium {
 public:
  // Takes storage whose log was replayed (log_replay.h); starts a new log.
  static Result<std::unique_ptr<Medium>> Create(std::unique_ptr<PoolStorage> storage,
                                                const LoggedMediumConfig& config);

  DurabilityClass durability_class() const override { return DurabilityClass::kLogged; }
  Status status() const override;
  // A checkpoint, then removes the log.
  Status Close() override;

 private:
  LoggedMedium(std::unique_ptr<PoolStorage> storage, std::unique_ptr<PoolMapping> mapping,
               const LogHeader& log, const LoggedMediumConfig& config);

  void Begin(PoolOperation* operation) override;
  void Store(PoolOperation* operation, PoolOffset to, uint64_t word) override;
  void Copy(PoolOperation* operation, PoolOffset to, const char* from, size_t n) override;
  void Flush(PoolOffset /*from*/, size_t /*n*/) override {}
  void Fence() override { std::atomic_thread_fence(std::memory_order_release); }
  void Commit(PoolOperation* operation) override;
  void End(PoolOperation* operation) override;
  Status AwaitDurable(PoolOperation* operation) override;

  void NoteStore(PoolOperation* operation, PoolOffset to, const char* from, size_t n);
  void WriteBuffered() ASHLAR_REQUIRES(mutex_);
  bool NeedsCheckpoint() const ASHLAR_REQUIRES(mutex_);
  void CheckpointIfNeeded();
  // Calls function(offset, bytes) for each run of changed pages, up to the first error.
  template <typename Function>
  Status ForEachChangedRun(const Function& function) const;
  Status WriteChangedPages();
  void ForgetChangedPages();
  // Asserts I6. Requires: no operation is under way.
  void CheckInvariants() const;
  Status StartGeneration(uint64_t generation);
  Status SetLink(LogState state, uint64_t generation);

  const std::unique_ptr<PoolStorage> storage_;  // by whoever is writing_ or runs the checkpoint
  const std::unique_ptr<PoolMapping> mapping_;
  const LoggedMediumConfig config_;
  // One bit for each page that was stored to since the last checkpoint, and their number. Set
  // relaxed inside an operation, taken when none is under way.
  std::vector<std::atomic<uint64_t>> page_is_changed_;
  std::atomic<uint64_t> changed_pages_{0};

  mutable Mutex mutex_;
  CondVar changed_;
  uint32_t under_way_ ASHLAR_GUARDED_BY(mutex_) = 0;
  bool stopped_ ASHLAR_GUARDED_BY(mutex_) =
      false;  // a checkpoint is waiting or running: nothing begins
  bool writing_ ASHLAR_GUARDED_BY(mutex_) = false;  // a thread writes to the log, without the mutex
  std::string buffer_ ASHLAR_GUARDED_BY(mutex_);
  uint64_t committed_end_ ASHLAR_GUARDED_BY(mutex_) =
      0;  // bytes committed since open, in all generations
  uint64_t durable_end_ ASHLAR_GUARDED_BY(mutex_) = 0;  // of these
  uint64_t generation_start_ ASHLAR_GUARDED_BY(mutex_) =
      0;                                     // where the generation's first record is
  LogHeader log_ ASHLAR_GUARDED_BY(mutex_);  // of the current generation
  uint64_t next_number_ ASHLAR_GUARDED_BY(mutex_) = 0;
  Status error_ ASHLAR_GUARDED_BY(mutex_);
};

}  // namespace ashlar::pmem
