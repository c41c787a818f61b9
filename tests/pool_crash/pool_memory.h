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
// A crash in an epoch leaves each of its lines as any prefix of the line's stores, independent of
// the other lines. That holds for a crash between two stores too: it leaves shorter prefixes. A
// Copy is a store for each aligned word it touches, upwards or downwards.
//
// The view is mapped read-only: a store that is not one of the verbs faults. Lint: a flush of a
// line without stores since its last flush, a fence without a flush, a commit of an operation with
// a store that is not durable.
//
// Between BeginTogether and EndTogether several threads store at once. They are made to wait for
// each other at verbs drawn at random, so that their stores and fences interleave in ever new ways;
// a thread that the others wait for in turn is not waited for long.
//
// Thread safety: verbs, between BeginTogether and EndTogether, from several threads; otherwise one
// thread. Lifetime: outlives its media.
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

// Threads that store at once.
inline constexpr size_t kActorsMax = 4;

struct PendingLine {
  LineBytes durable;
  std::vector<LineStore> stores;
  // By each actor: the first so many are durable after its next fence.
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
  bool is_span_entry = false;  // it stored to the span map only
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

  // ---- For the proof. Threads that come now are actors of their own; at most kActorsMax.
  // `progress` is asked at each fence.
  void BeginTogether(std::function<Progress()> progress, uint64_t seed);
  void EndTogether();
  // The epochs since the last call, the one that has not ended last, if it has stores.
  std::vector<Epoch> TakeEpochs();
  // Of the committed operations since the last call.
  std::vector<OperationCost> TakeCosts();
  // The findings of the lint since the last call.
  std::vector<std::string> TakeFindings();
  // The n-th call of a verb from now on, counted from 0, does nothing: for testing the proof.
  // WasOmitted: it came to that. OmissionMatters: in an operation that was committed, and no later
  // flush before the next fence made up for it.
  void Omit(Verb verb, uint64_t n);
  bool WasOmitted() const { return omitted_; }
  bool OmissionMatters() const {
    return omission_committed_ && (omitted_verb_ == Verb::kFence || !omitted_lines_.empty());
  }

  // Durable at once, without a store.
  void SetLine(PoolOffset line, const LineBytes& bytes);
  void CopyFrom(const PoolMemory& other);
  // Everything since the mark is undone by Rollback, which leaves nothing pending. Marks nest.
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
  std::vector<uint64_t> threads_;  // of each actor, its thread
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
