// A LeafRef of pmem/leaf_index.h under the memory model: a writer that changes the leaf, drops it,
// and reuses the LeafRef for another leaf, and a reader that reads the leaf once.
#include <gtest/gtest.h>

#include "tests/support/memory_model.h"
#include "tests/weak_memory/cited_code.h"

namespace ashlar {
namespace {

using enum ModelOrder;

// The versions, in their order.
constexpr int64_t kBefore = 0;
constexpr int64_t kLocked = 1;
constexpr int64_t kAfter = 2;
constexpr int64_t kDead = 3;
constexpr int64_t kReused = 4;

constexpr int64_t kLeaf = 1;
constexpr int64_t kOtherLeaf = 2;
constexpr int64_t kOldWord = 10;
constexpr int64_t kNewWord = 11;

enum class Bug {
  kNone,
  kUnlockIsRelaxed,
  kNoFenceBeforeTheOffset,
  kOffsetAfterTheVersion,
  kReuseIsRelaxed,
  kReaderLoadsRelaxed,
  kNoFenceBeforeTheCheck,
  kNoCheck,
};

MemoryModel::Outcome ExploreLeafRef(Bug bug) {
  return MemoryModel::Explore([bug](MemoryModel* setup) {
    using Place = MemoryModel::Place;
    const Place version = setup->NewPlace("version", kBefore);
    const Place offset = setup->NewPlace("offset", kLeaf);
    const Place word = setup->NewPlace("word of the leaf", kOldWord);

    setup->Start("writer", [=](MemoryModel* m) -> ModelThread {
      // TryLock, a store to the leaf, Unlock.
      co_await m->Exchange(version, kLocked, kAcquire);
      co_await m->Fence(kRelease);
      co_await m->Store(word, kNewWord, kRelease);
      co_await m->Store(version, kAfter, bug == Bug::kUnlockIsRelaxed ? kRelaxed : kRelease);
      // Kill, NewRef.
      co_await m->Store(version, kDead, kRelease);
      if (bug != Bug::kNoFenceBeforeTheOffset) co_await m->Fence(kRelease);
      if (bug != Bug::kOffsetAfterTheVersion) co_await m->Store(offset, kOtherLeaf, kRelaxed);
      co_await m->Store(version, kReused, bug == Bug::kReuseIsRelaxed ? kRelaxed : kRelease);
      if (bug == Bug::kOffsetAfterTheVersion) co_await m->Store(offset, kOtherLeaf, kRelaxed);
    });
    setup->Start("reader", [=](MemoryModel* m) -> ModelThread {
      const int64_t seen =
          co_await m->Load(version, bug == Bug::kReaderLoadsRelaxed ? kRelaxed : kAcquire);
      const int64_t leaf = co_await m->Load(offset, kRelaxed);
      const int64_t found = co_await m->Load(word, kAcquire);
      if (bug != Bug::kNoFenceBeforeTheCheck) co_await m->Fence(kAcquire);
      const int64_t again = co_await m->Load(version, kRelaxed);
      const bool is_taken = seen == kLocked || seen == kDead;
      if (is_taken || (again != seen && bug != Bug::kNoCheck)) co_return;
      m->Expect(leaf == (seen == kReused ? kOtherLeaf : kLeaf));
      if (seen == kBefore) m->Expect(found == kOldWord);
      if (seen == kAfter) m->Expect(found == kNewWord);
    });
  });
}

TEST(LeafRefModel, AReaderUsesOneStateOfOneLeaf) {
  const MemoryModel::Outcome outcome = ExploreLeafRef(Bug::kNone);
  EXPECT_EQ(outcome.failures, 0U) << outcome.first_failure;
  EXPECT_GT(outcome.executions, 50U);
}

TEST(LeafRefModel, EverySeededBugIsFound) {
  for (const Bug bug : {Bug::kUnlockIsRelaxed, Bug::kNoFenceBeforeTheOffset,
                        Bug::kOffsetAfterTheVersion, Bug::kReuseIsRelaxed, Bug::kReaderLoadsRelaxed,
                        Bug::kNoFenceBeforeTheCheck, Bug::kNoCheck}) {
    EXPECT_GT(ExploreLeafRef(bug).failures, 0U) << static_cast<int>(bug);
  }
}

// The model leaves out the nodes of the index.
TEST(LeafRefModel, ItsStepsAreThoseOfTheCode) {
  const std::string header = "src/pmem/leaf_index.h";
  EXPECT_TRUE(CitedCode(header, "bool Unchanged(uint64_t seen)",
                        {"std::atomic_thread_fence(std::memory_order_acquire);",
                         "return version.load(std::memory_order_relaxed) == seen;"}));
  EXPECT_TRUE(CitedCode(header, "bool TryLock(",
                        {"version.compare_exchange_strong(seen, seen | kLocked,"
                         " std::memory_order_acquire, std::memory_order_relaxed)",
                         "std::atomic_thread_fence(std::memory_order_release);"}));
  EXPECT_TRUE(CitedCode(header, "void Unlock() {",
                        {"version.store((version.load(std::memory_order_relaxed) & ~kLocked) +"
                         " kChange, std::memory_order_release);"}));
  EXPECT_TRUE(CitedCode(header, "void Kill() {",
                        {"version.store(((version.load(std::memory_order_relaxed) & ~kLocked) +"
                         " kChange) | kDead, std::memory_order_release);"}));
  const std::string source = "src/pmem/leaf_index.cc";
  EXPECT_TRUE(CitedCode(
      source, "LeafRef* LeafIndex::NewRef(",
      {"std::atomic_thread_fence(std::memory_order_release);",
       "ref->offset.store(leaf, std::memory_order_relaxed);",
       "ref->version.store( (ref->version.load(std::memory_order_relaxed) & ~LeafRef::kDead) +"
       " LeafRef::kChange, std::memory_order_release);"}));
  EXPECT_TRUE(CitedCode(source, "ASHLAR_ALWAYS_INLINE Found LeafIndex::Descend(",
                        {"root_.load(std::memory_order_acquire)",
                         "found.version = found.ref->version.load(std::memory_order_acquire);",
                         "found.offset = found.ref->offset.load(std::memory_order_relaxed);"}));
  EXPECT_TRUE(CitedCode("src/pmem/medium.h", "uint64_t Load(PoolOffset offset)",
                        {"WordAt(view_, offset).load(std::memory_order_acquire)"}));
  EXPECT_TRUE(CitedCode("src/pmem/mapped_medium.h", "void Store(PoolOperation*",
                        {"WordAt(mapping_->data(), to).store(word, std::memory_order_release);"}));
}

}  // namespace
}  // namespace ashlar
