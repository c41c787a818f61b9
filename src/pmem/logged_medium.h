// LoggedMedium: a pool on an ordinary file, mapped privately, so that the system cannot write a
// page before the log (redo_log.h) has its changes. docs/persistent-memory.md has the reasons.
//
//   verbs ──> private memory, and the redo of the operation
//   Commit ──> buffer_, in the order of commits ──> AwaitDurable: one thread writes and syncs for
//   all that wait ──> log file
//   log or changed pages at their bound ──> checkpoint, in steps between the changes of writers
//
//   checkpoint   begin: changed pages become due; redo from here on also goes to next_redo_
//                step:  copy some due pages | sync the log | write the copies | sync the pool
//                end:   the next log, which begins with next_redo_, replaces the log
//
// I1: an operation is one record, so after a crash it is there completely or not at all.
// I2: the log has every word that was stored after the last completed checkpoint began.
// I3: a page is written to the pool only after every record that stored to it is durable.
// I4: no operation is under way while pages are copied or discarded. Because of I2, replay makes
//     one consistent state of pages from different times.
// I5: a record is written only while the log header and the link durably name its generation. At
//     the end of a checkpoint the link names two generations.
// I6: changed_pages_ counts the bits of is_changed_, and due_pages_ those of is_due_. Only pages of
//     these sets, pages of the step under way, the header's page and locked pages have private
//     copies. A private copy is never older than its page in the file.
// I7: only one thread at a time takes a step (is_stepping_).
//
// Thread safety: see Medium. One error latch: after a failed write, sync or commit nothing commits.
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
  // Pages that one checkpoint step writes and syncs. One writer waits for it, some milliseconds.
  uint64_t pages_per_step = 256;
};

class LoggedMedium final : public Medium {
 public:
  // Requires: the log of `storage` was replayed (log_replay.h). Starts a new log.
  static Result<std::unique_ptr<Medium>> Create(std::unique_ptr<PoolStorage> storage,
                                                const LoggedMediumConfig& config);

  DurabilityClass durability_class() const override { return DurabilityClass::kLogged; }
  Status status() const override;
  // Writes all changed pages to the pool, then removes the log.
  Status Close() override;

 private:
  LoggedMedium(std::unique_ptr<PoolStorage> storage, std::unique_ptr<PoolMapping> mapping,
               const LogHeader& log, const LoggedMediumConfig& config);

  void Begin(PoolOperation* operation) override;
  void ReserveStores(PoolOperation* operation, size_t stores) override;
  void Store(PoolOperation* operation, PoolOffset to, uint64_t word) override;
  void Copy(PoolOperation* operation, PoolOffset to, const char* from, size_t n) override;
  void Flush(PoolOffset /*from*/, size_t /*n*/) override {}
  void Fence() override { std::atomic_thread_fence(std::memory_order_release); }
  void Commit(PoolOperation* operation) override;
  void End(PoolOperation* operation) override;
  Status AwaitDurable(PoolOperation* operation) override;

  // A set of pages.
  class PageSet {
   public:
    explicit PageSet(uint64_t pages) : words_((pages + 63) / 64) {}
    // Safe from any thread. Returns true if the page was not in the set.
    bool Add(uint64_t page);
    bool Has(uint64_t page) const;
    void Remove(uint64_t page);
    // The first page of the set from `page` on, or else the page count of the pool, rounded up.
    uint64_t FirstFrom(uint64_t page) const;
    uint64_t Count() const;
    void Swap(PageSet* other) { words_.swap(other->words_); }

   private:
    std::vector<std::atomic<uint64_t>> words_;
  };
  // The contents of a run of pages at the time of the copy.
  struct PageCopy {
    uint64_t page;
    std::string bytes;
  };

  void NoteStore(PoolOperation* operation, PoolOffset to, const char* from, size_t n);
  void AppendRedo(const std::string& redo) noexcept ASHLAR_REQUIRES(mutex_);
  enum class SyncOfLog : uint8_t { kAsConfigured, kAlways };
  void WriteBuffered(SyncOfLog sync) ASHLAR_REQUIRES(mutex_);
  // Returns when everything committed is durable, or when there is an error.
  void MakeDurable() ASHLAR_REQUIRES(mutex_);
  // Waits for the operations under way, and lets none begin until ResumeOperations.
  void StopOperations() ASHLAR_REQUIRES(mutex_);
  void ResumeOperations() ASHLAR_REQUIRES(mutex_);
  void SetError(const Status& status) noexcept ASHLAR_REQUIRES(mutex_);

  bool NeedsCheckpoint() const ASHLAR_REQUIRES(mutex_);
  // The share of the checkpoint under way that is due. 1: all of it. 2: the checkpoint is late.
  double ShareDue() const ASHLAR_REQUIRES(mutex_);
  void CheckpointAsDue() ASHLAR_EXCLUDES(mutex_);
  void BeginCheckpoint() ASHLAR_REQUIRES(mutex_);
  // Returns false if an allocation for the step fails.
  bool TakeStep() ASHLAR_REQUIRES(mutex_);
  bool CopyDuePages(std::vector<PageCopy>* copies) noexcept ASHLAR_REQUIRES(mutex_);
  Status WriteCopies(const std::vector<PageCopy>& copies);
  Status DiscardUnchanged(const std::vector<PageCopy>& copies) noexcept ASHLAR_REQUIRES(mutex_);
  Status PrepareNextLog(const std::string& redo);
  void EndCheckpoint() ASHLAR_REQUIRES(mutex_);
  Status SwitchLog(const LogHeader& next, const std::string& redo);
  Status WriteAllPages() ASHLAR_REQUIRES(mutex_);
  // Asserts I6. Requires: no operation is under way.
  void CheckInvariants() const ASHLAR_REQUIRES(mutex_);
  Status SetLink(LogState state, uint64_t generation);

  // The pool belongs to the thread that set is_stepping_, the log to the one that set is_writing_.
  const std::unique_ptr<PoolStorage> storage_;
  const std::unique_ptr<PoolMapping> mapping_;
  const LoggedMediumConfig config_;
  const uint64_t pages_;
  // Pages that operations may change between the begin of a checkpoint and the bound.
  const uint64_t pages_of_checkpoint_;
  // The pages stored to since the last checkpoint began. Operations add pages with relaxed order.
  // Pages are removed only while no operation is under way.
  PageSet is_changed_;
  std::atomic<uint64_t> changed_pages_{0};

  // Acquired last, because an operation may commit under the heap's mutex.
  mutable Mutex mutex_ ASHLAR_ACQUIRED_AFTER(kHeapMutex);
  CondVar changed_;
  uint32_t under_way_ ASHLAR_GUARDED_BY(mutex_) = 0;
  bool stopped_ ASHLAR_GUARDED_BY(mutex_) = false;      // no operation begins
  bool is_writing_ ASHLAR_GUARDED_BY(mutex_) = false;   // a thread uses the log without the mutex
  bool is_stepping_ ASHLAR_GUARDED_BY(mutex_) = false;  // I7
  std::string buffer_ ASHLAR_GUARDED_BY(mutex_);
  // Bytes committed since open, in all generations.
  uint64_t committed_end_ ASHLAR_GUARDED_BY(mutex_) = 0;
  // The ends of the bytes that are as durable as configured, and of those that are synced.
  uint64_t durable_end_ ASHLAR_GUARDED_BY(mutex_) = 0;
  uint64_t synced_end_ ASHLAR_GUARDED_BY(mutex_) = 0;
  // The start of the generation's first record, in the same count.
  uint64_t generation_start_ ASHLAR_GUARDED_BY(mutex_) = 0;
  LogHeader log_ ASHLAR_GUARDED_BY(mutex_);  // of the current generation
  uint64_t next_number_ ASHLAR_GUARDED_BY(mutex_) = 0;
  Status error_ ASHLAR_GUARDED_BY(mutex_);

  // ---- The checkpoint under way.
  bool in_checkpoint_ ASHLAR_GUARDED_BY(mutex_) = false;
  PageSet is_due_ ASHLAR_GUARDED_BY(mutex_);  // to be written by it
  uint64_t due_pages_ ASHLAR_GUARDED_BY(mutex_) = 0;
  uint64_t due_at_begin_ ASHLAR_GUARDED_BY(mutex_) = 0;
  uint64_t next_due_ ASHLAR_GUARDED_BY(mutex_) = 0;          // no due page is before it
  uint64_t checkpoint_start_ ASHLAR_GUARDED_BY(mutex_) = 0;  // committed_end_ at its begin
  std::string next_redo_ ASHLAR_GUARDED_BY(mutex_);          // records that are not prepared yet
  uint64_t next_records_ ASHLAR_GUARDED_BY(mutex_) = 0;
  uint64_t prepared_end_ = kLogHeaderBytes;  // in the next log; for the stepping thread only
};

}  // namespace ashlar::pmem
