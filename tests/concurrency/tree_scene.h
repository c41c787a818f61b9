// TreeScene: the persistent tree on which two calls run at once, and what its contents must be.
//
// A pool in memory of class process-crash-only, or of class logged with small bounds, so that
// checkpoints run. Keys, by their first letter:
//
//   m n  the model's: writers put each version of a key under both letters, mostly in one batch; a
//        value begins with its version. Its length changes, so that records move.
//   t    temporary: a call puts some, checks them, and deletes them
//
// Thread safety: any thread, except Open, Reopen and CheckContents. Lifetime: calls end before it.
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
  // A checkpoint of class logged begins before a log has so many bytes.
  static constexpr uint64_t kLogBytesMax = uint64_t{64} << 10;
  // Of each key of the model. 0: absent.
  using Versions = std::array<std::array<uint64_t, kKeysPerWriter>, kWriters>;

  // kProcessCrashOnly or kLogged.
  explicit TreeScene(DurabilityClass durability);

  void Open();
  // Closes, opens again, and checks the contents.
  void Reopen();
  PersistentTree* tree() const { return tree_.get(); }
  // Of checkpoints, since the construction.
  uint64_t pool_syncs() const { return pool_syncs_.load(); }

  void WriteOne(size_t writer, Random* random);
  // The least that reads must find from now on.
  Versions Floor() const;

  // A key of the model, of either letter, and what it is the key of.
  struct ModelKey {
    size_t writer = 0;
    size_t i = 0;
    std::string text;
  };
  static ModelKey PickKey(Random* random);
  uint64_t FloorOf(const ModelKey& key) const {
    return acknowledged_[key.writer][key.i].load(std::memory_order_acquire);
  }
  // The version of a value of the model. 0: no writer wrote it.
  static uint64_t VersionOf(const Slice& value);

  // Forward or backward over the whole tree: keys are in order, and the model's have the floor's
  // version or a later one.
  enum class Direction : uint8_t { kForward, kBackward };
  void CheckIteration(Direction direction, const Versions& floor) const;
  // While nothing runs.
  void CheckContents() const;

 private:
  std::unique_ptr<Medium> OpenMedium();

  const DurabilityClass durability_;
  TestPool pool_;
  const std::shared_ptr<MemoryStorage::Log> log_ = std::make_shared<MemoryStorage::Log>();
  std::unique_ptr<PersistentTree> tree_;
  std::atomic<uint64_t> pool_syncs_{0};
  // By the writer of each; read by all.
  std::array<std::array<std::atomic<uint64_t>, kKeysPerWriter>, kWriters> acknowledged_{};
  std::array<uint64_t, kWriters> last_version_{};  // of its writer
};

}  // namespace ashlar::pmem
