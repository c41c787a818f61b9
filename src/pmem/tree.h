// Tree: the implementation of PersistentTree. It checks arguments, passes each job to one part, and
// owns the parts.
//
// I1: only the process that opened the tree closes it. A forked child that exits calls the
//     destructors of static objects, while its parent continues to use pool and log.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "ashlar/persistent_tree.h"
#include "platform/thread.h"
#include "pmem/recovery.h"
#include "pmem/tree_state.h"

namespace ashlar::pmem {

// The mark runs on a thread of its own, or ends before OpenTree returns. Tests that count stores
// and crashes need one thread.
enum class MarkRun : uint8_t { kBackground, kAtOpen };

struct TreeConfig {
  RecoveryConfig recovery;
  MarkRun mark = MarkRun::kBackground;
  std::function<void()> before_marked_leaf = {};  // for tests; called without locks and guards
};

// Recovers the medium's pool. Tests have media of their own.
Result<std::unique_ptr<PersistentTree>> OpenTree(std::unique_ptr<Medium> medium, TreeConfig config);

// PersistentTree::Open, with a strategy for splits.
Result<std::unique_ptr<PersistentTree>> OpenTreeAt(const PersistentTreeOptions& options,
                                                   const std::string& path, SplitStrategy strategy);

class Tree final : public PersistentTree {
 public:
  Tree(std::unique_ptr<TreeState> state, const Comparator* comparator);
  ~Tree() override;

  // Call once, before all other calls.
  Status StartMark(MarkRun run, std::function<void()> before_leaf);
  // Asserts the invariants of heap, span map, pins and index, for tests. Requires: Verify found
  // nothing. Changes may run concurrently.
  void CheckInvariants() const;

  Status Close() override;
  Status Put(const Slice& key, const Slice& value) override;
  Status Delete(const Slice& key) override;
  Status Write(const WriteBatch& updates) override;
  Status DeleteRange(const KeyRange& range) override;
  Status Get(const ReadOptions& options, const Slice& key, PinnableSlice* value) override;
  Status Get(const ReadOptions& options, const Slice& key, std::string* value) override;
  bool Exists(const Slice& key) override;
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                               std::vector<PinnableSlice>* values) override;
  using PersistentTree::NewIterator;
  std::unique_ptr<Iterator> NewIterator(const ReadOptions& options, const KeyRange& range) override;
  uint64_t Count(const KeyRange& range) override;
  PersistentTreeStats Stats() override;
  Status Defragment() override;
  Status Verify() override;
  DurabilityClass durability_class() const override { return durability_class_; }
  const Comparator* comparator() const override { return comparator_; }
  const std::string& path() const override { return path_; }

 private:
  void Abandon() noexcept;

  const uint64_t process_ = CurrentProcessId();  // that opened the tree (I1)
  const std::string path_;
  const Comparator* const comparator_;
  const DurabilityClass durability_class_;
  std::unique_ptr<TreeState> state_;  // null when closed
  std::atomic<bool> stop_mark_{false};
  // Written by the mark's thread, read after FinishMark or the join. The heap has the damage.
  Status mark_status_;
  std::unique_ptr<Thread> mark_thread_;
  uint64_t open_micros_ = 0;

  friend Result<std::unique_ptr<PersistentTree>> OpenTree(std::unique_ptr<Medium> medium,
                                                          TreeConfig config);
};

}  // namespace ashlar::pmem
