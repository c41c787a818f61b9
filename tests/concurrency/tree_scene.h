// TreeScene: the persistent tree on which two calls run at once, and its expected contents.
//
// A pool in memory of class process-crash-only, or of class logged with small bounds, so that
// checkpoints run. Keys, by their first letter:
//
//   m n  the model's: writers put each version of a key under both letters, mostly in one batch; a
//        value begins with its version. Its length changes, so that records move.
//   t    temporary: a call puts some, checks them, and deletes them
//
// Thread safety: any thread, except Open, Reopen and CheckContents. Lifetime: calls end earlier.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>

#include "ashlar/persistent_tree.h"
#include "base/random.h"
#include "tests/support/memory_storage.h"
#include "tests/support/test_pool.h"

namespace ashlar::pmem {

class TreeScene {
 public:
  static constexpr size_t kWriters = 2;
  static constexpr size_t kKeysPerWriter = 60;
  // With class logged, a checkpoint begins before a log has this size.
  static constexpr uint64_t kLogBytesMax = uint64_t{64} << 10;
  // The version of each key of the model. 0: absent.
  using Versions = std::array<std::array<uint64_t, kKeysPerWriter>, kWriters>;

  // kProcessCrashOnly or kLogged.
  explicit TreeScene(DurabilityClass durability);

  void Open();
  // Closes, opens again, and checks the contents.
  void Reopen();
  PersistentTree* tree() const { return tree_.get(); }
  // The number of syncs by checkpoints since the construction.
  uint64_t pool_syncs() const { return pool_syncs_.load(); }

  void WriteOne(size_t writer, Random* random);
  // The lowest versions that reads must find from now on.
  Versions Floor() const;

  // A key of the model, of either letter, and its place in the model.
  struct ModelKey {
    size_t writer = 0;
    size_t i = 0;
    std::string text;
  };
  static ModelKey PickKey(Random* random);
  uint64_t FloorOf(const ModelKey& key) const {
    return acknowledged_[key.writer][key.i].load(std::memory_order_acquire);
  }
  // Returns the version of a value of the model, or 0 if no writer wrote it.
  static uint64_t VersionOf(const Slice& value);

  // Iterates forward or backward over the complete tree. Keys must be in order, and those of the
  // model must have the floor's version or a later one.
  enum class Direction : uint8_t { kForward, kBackward };
  void CheckIteration(Direction direction, const Versions& floor) const;
  // Requires: nothing runs.
  void CheckContents() const;

 private:
  std::unique_ptr<Medium> OpenMedium();

  const DurabilityClass durability_;
  TestPool pool_;
  const std::shared_ptr<MemoryStorage::Log> log_ = std::make_shared<MemoryStorage::Log>();
  std::unique_ptr<PersistentTree> tree_;
  std::atomic<uint64_t> pool_syncs_{0};
  // Written by the writer of each key, read by all.
  std::array<std::array<std::atomic<uint64_t>, kKeysPerWriter>, kWriters> acknowledged_{};
  std::array<uint64_t, kWriters> last_version_{};  // each used by its writer
};

}  // namespace ashlar::pmem
