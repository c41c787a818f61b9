// PoolMemory: a pool as a power cut sees it. It tracks, for every cache line, the durable bytes and
// the stores since.
//
//   verbs ──> contents, as the processor sees them
//             PendingLine: durable bytes | store | store | flush | store     for lines with
//                                                                            stores that are not
//                                                                            durable
//   Fence ──> ends an epoch: the lines as they were before it are kept; of each line, the stores
//             that this thread flushed become durable
//
// A crash in an epoch leaves any prefix of the stores to each of its lines, independently of the
// other lines. That includes a crash between two stores, which leaves shorter prefixes. A Copy is a
// store for each aligned word that it touches, upwards or downwards.
//
// The view is mapped read-only, so that a store other than by a verb faults. The lint reports a
// flush of a line without stores since its last flush, a fence without a flush, and a commit of an
// operation with a store that is not durable.
//
// Between BeginTogether and EndTogether several threads store at once. They wait for each other at
// random verbs, so that their stores and fences interleave in many ways. No thread waits long,
// because the others may be waiting for it.
//
// Thread safety: several threads may call verbs between BeginTogether and EndTogether; otherwise
// one thread. Lifetime: outlives its media.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "platform/mutex.h"
#include "platform/pool_file.h"
#include "pmem/medium.h"
#include "tests/pool_crash/progress.h"

namespace ashlar::pmem {

using LineBytes = std::array<char, kLineBytes>;

struct LineStore {
  uint8_t at;
  uint8_t bytes;
  std::array<char, 8> data;
};

// The maximum of threads that store at once.
inline constexpr size_t kActorsMax = 4;

struct PendingLine {
  LineBytes durable;
  std::vector<LineStore> stores;
  // For each actor, the number of first stores that its next fence makes durable.
  std::array<size_t, kActorsMax> flushed{};
  uint64_t operation = 0;  // the last one that stored here

  LineBytes After(size_t stores_kept) const;
};

struct PendingAt {
  PoolOffset offset;
  PendingLine line;
  LineBytes durable_after;  // when the epoch has ended
};
struct Epoch {
  std::vector<PendingAt> lines;
  Progress progress;  // when it ended, with several writers
};

struct OperationCost {
  uint64_t fences = 0;
  uint64_t lines_flushed = 0;
  bool is_span_entry = false;  // it stored only to the span map
};

enum class Verb : uint8_t { kFlush, kFence };

class PoolMemory {
 public:
  enum class CopyOrder : uint8_t { kUp, kDown };

  explicit PoolMemory(uint64_t bytes, CopyOrder copy_order = CopyOrder::kUp);

  const std::string& path() const { return file_->path(); }
  const char* view() const { return view_->data(); }
  uint64_t bytes() const { return view_->bytes(); }

  // ---- For the medium.
  void Begin();
  void Store(PoolOffset to, uint64_t word);
  void Copy(PoolOffset to, const char* from, size_t n);
  void Flush(PoolOffset from, size_t n);
  void Fence();
  void Commit();

  // ---- For the proof. From now on each thread is an actor of its own, at most kActorsMax.
  // `progress` is called at each fence.
  void BeginTogether(std::function<Progress()> progress, uint64_t seed);
  void EndTogether();
  // Returns the epochs since the last call, including an unfinished last one that has stores.
  std::vector<Epoch> TakeEpochs();
  // Returns the costs of the committed operations since the last call.
  std::vector<OperationCost> TakeCosts();
  // Returns the findings of the lint since the last call.
  std::vector<std::string> TakeFindings();
  // Makes the n-th call of a verb from now on, counted from 0, do nothing, to test the proof.
  // WasOmitted: that call was made. OmissionMatters: its operation was committed, and no later
  // flush before the next fence made up for it.
  void Omit(Verb verb, uint64_t n);
  bool WasOmitted() const { return omitted_; }
  bool OmissionMatters() const {
    return omission_committed_ && (omitted_verb_ == Verb::kFence || !omitted_lines_.empty());
  }

  // Makes the bytes durable at once, without a store.
  void SetLine(PoolOffset line, const LineBytes& bytes);
  void CopyFrom(const PoolMemory& other);
  // Rollback undoes everything since the mark, and leaves nothing pending. Marks nest.
  size_t Mark() const { return undo_.size(); }
  void Rollback(size_t mark);
  void KeepUndo() { keeps_undo_ = true; }
  void ForgetUndo() { undo_.clear(); }

 private:
  // A thread that stores.
  struct Actor {
    uint64_t operation = 0;
    OperationCost cost;
    bool stored_outside_map = false;
    bool flushed_since_fence = false;
  };

  size_t Here() ASHLAR_REQUIRES(mutex_);
  void MaybeWaitForOthers();
  LineBytes LineAt(PoolOffset line) const;
  void StoreBytes(PoolOffset to, const char* from, size_t n) ASHLAR_REQUIRES(mutex_);
  bool IsOmitted(Verb verb) ASHLAR_REQUIRES(mutex_);
  void Find(const std::string& what, PoolOffset offset);

  const std::unique_ptr<PoolFile> file_;
  const std::unique_ptr<PoolMapping> view_;
  const std::unique_ptr<PoolMapping> writable_;
  const CopyOrder copy_order_;
  Mutex mutex_;
  std::map<PoolOffset, PendingLine> pending_;
  std::vector<Epoch> epochs_;
  bool stored_since_fence_ = false;
  std::vector<std::pair<PoolOffset, LineBytes>> undo_;
  bool keeps_undo_ = false;

  bool together_ = false;
  std::function<Progress()> progress_;
  std::vector<uint64_t> threads_;  // the thread of each actor
  std::array<Actor, kActorsMax> actors_;
  uint64_t turns_seed_ = 0;
  std::atomic<uint64_t> verbs_{0};

  uint64_t operation_ = 0;
  std::vector<OperationCost> costs_;
  std::vector<std::string> findings_;

  Verb omitted_verb_ = Verb::kFlush;
  uint64_t calls_until_omission_ = ~uint64_t{0};
  bool omitted_ = false;
  bool omission_committed_ = false;
  uint64_t omission_operation_ = 0;
  std::set<PoolOffset> omitted_lines_;  // not flushed since
  bool fenced_since_omission_ = false;
};

// A medium on memory that outlives it, as memory outlives a process.
class RecordingMedium final : public Medium {
 public:
  explicit RecordingMedium(PoolMemory* memory)
      : Medium(memory->path(), memory->view(), memory->bytes()), memory_(*memory) {}

  DurabilityClass durability_class() const override { return DurabilityClass::kCpuFlush; }

 private:
  void Begin(PoolOperation* /*operation*/) override { memory_.Begin(); }
  void Store(PoolOperation* /*operation*/, PoolOffset to, uint64_t word) override {
    memory_.Store(to, word);
  }
  void Copy(PoolOperation* /*operation*/, PoolOffset to, const char* from, size_t n) override {
    memory_.Copy(to, from, n);
  }
  void Flush(PoolOffset from, size_t n) override { memory_.Flush(from, n); }
  void Fence() override { memory_.Fence(); }
  void Commit(PoolOperation* /*operation*/) override { memory_.Commit(); }
  void End(PoolOperation* /*operation*/) override {}
  Status AwaitDurable(PoolOperation* /*operation*/) override { return Status::OK(); }

  PoolMemory& memory_;
};

}  // namespace ashlar::pmem
