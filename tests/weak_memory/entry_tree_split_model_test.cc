// A split of memtable/entry_tree_insert.cc under the memory model. A writer replaces the only child
// of a parent with two children, and then fills the dead child for another place in the tree. A
// reader goes from the parent to a child once.
//
//   before   parent [C]      C has the keys 1 and 2
//   after    parent [L | R]  L has 1, R has 2, and C a key of another place
#include <gtest/gtest.h>

#include <array>

#include "tests/support/memory_model.h"
#include "tests/weak_memory/cited_code.h"

namespace ashlar {
namespace {

using enum ModelOrder;

// Nodes, and the values of a child's slot.
constexpr int64_t kOld = 0;
constexpr int64_t kLeft = 1;
constexpr int64_t kRight = 2;
constexpr int64_t kNodes = 3;

// Keys of a node, a bit each.
constexpr int64_t kKey1 = 1;
constexpr int64_t kKey2 = 2;
constexpr int64_t kElsewhere = 4;

// States count the changes. The state of a live child is odd. A parent has its separator from its
// first change on.
constexpr bool IsDead(int64_t state) { return state % 2 == 0; }
constexpr int64_t kKilled = 2;
constexpr int64_t kUsedAgain = 3;

enum class Bug {
  kNone,
  kSwapIsRelaxed,
  kParentKeepsItsState,
  kKilledBeforeTheParentChanges,
  kUsedAgainWithoutAFence,
  kChildStateTakesNothingOver,
  kNoCheckOfTheParent,
  kNoCheckOfTheChild,
};

MemoryModel::Outcome ExploreSplit(Bug bug, int64_t key) {
  return MemoryModel::Explore([bug, key](MemoryModel* setup) {
    using Place = MemoryModel::Place;
    const Place parent = setup->NewPlace("parent's state", 0);
    const std::array<Place, 2> children = {setup->NewPlace("first child", kOld),
                                           setup->NewPlace("second child", kOld)};
    std::array<Place, kNodes> states;
    std::array<Place, kNodes> keys;
    for (size_t node = 0; node < kNodes; ++node) {
      states[node] = setup->NewPlace("state", node == kOld ? 1 : 0);
      keys[node] = setup->NewPlace("keys", node == kOld ? kKey1 | kKey2 : 0);
    }

    setup->Start("writer", [=](MemoryModel* m) -> ModelThread {
      // Fill, for both halves.
      for (const int64_t node : {kLeft, kRight}) {
        const auto at = static_cast<size_t>(node);
        co_await m->Fence(kRelease);
        co_await m->Store(keys[at], node == kLeft ? kKey1 : kKey2, kRelaxed);
        co_await m->Store(states[at], 1, kRelease);
      }
      // InsertAt, for the separator and the right half.
      co_await m->Fence(kRelease);
      co_await m->Store(children[1], kRight, kRelaxed);
      co_await m->Store(parent, 1, kRelease);
      if (bug == Bug::kKilledBeforeTheParentChanges) {
        co_await m->Store(states[kOld], kKilled, kRelease);
        co_await m->Fence(kRelease);
        co_await m->Store(keys[kOld], kElsewhere, kRelaxed);
        co_await m->Store(states[kOld], kUsedAgain, kRelease);
      }
      // SwapChild, for the left half.
      co_await m->Store(children[0], kLeft, bug == Bug::kSwapIsRelaxed ? kRelaxed : kRelease);
      if (bug != Bug::kParentKeepsItsState) co_await m->Store(parent, 2, kRelease);
      if (bug == Bug::kKilledBeforeTheParentChanges) co_return;
      // Kill, and Fill for another place.
      co_await m->Store(states[kOld], kKilled, kRelease);
      if (bug != Bug::kUsedAgainWithoutAFence) co_await m->Fence(kRelease);
      co_await m->Store(keys[kOld], kElsewhere, kRelaxed);
      co_await m->Store(states[kOld], kUsedAgain, kRelease);
    });

    setup->Start("reader", [=](MemoryModel* m) -> ModelThread {
      const int64_t seen = co_await m->Load(parent, kAcquire);
      // StepDown.
      const int64_t child = co_await m->Load(children[key == kKey2 && seen != 0 ? 1 : 0], kAcquire);
      const auto at = static_cast<size_t>(child);
      co_await m->Fence(kAcquire);
      if (co_await m->Load(parent, kRelaxed) != seen) co_return;
      const int64_t state = co_await m->Load(
          states[at], bug == Bug::kChildStateTakesNothingOver ? kRelaxed : kAcquire);
      if (IsDead(state)) co_return;
      if (bug != Bug::kNoCheckOfTheParent) {
        if (bug != Bug::kChildStateTakesNothingOver) co_await m->Fence(kAcquire);
        if (co_await m->Load(parent, kRelaxed) != seen) co_return;
      }
      const int64_t found = co_await m->Load(keys[at], kRelaxed);
      co_await m->Fence(kAcquire);
      if (co_await m->Load(states[at], kRelaxed) != state && bug != Bug::kNoCheckOfTheChild)
        co_return;
      m->Expect((found & key) != 0);
    });
  });
}

TEST(EntryTreeSplitModel, AReaderFindsItsKeyOrStartsAgain) {
  for (const int64_t key : {kKey1, kKey2}) {
    const MemoryModel::Outcome outcome = ExploreSplit(Bug::kNone, key);
    EXPECT_EQ(outcome.failures, 0U) << outcome.first_failure;
    EXPECT_GT(outcome.executions, 50U);
  }
}

TEST(EntryTreeSplitModel, EverySeededBugIsFound) {
  for (const Bug bug :
       {Bug::kSwapIsRelaxed, Bug::kParentKeepsItsState, Bug::kKilledBeforeTheParentChanges,
        Bug::kUsedAgainWithoutAFence, Bug::kChildStateTakesNothingOver, Bug::kNoCheckOfTheParent,
        Bug::kNoCheckOfTheChild}) {
    EXPECT_GT(ExploreSplit(bug, kKey1).failures + ExploreSplit(bug, kKey2).failures, 0U)
        << static_cast<int>(bug);
  }
}

// InsertAt, StepDown and Unchanged are cited by entry_tree_model_test.cc.
TEST(EntryTreeSplitModel, ItsStepsAreThoseOfTheCode) {
  const char* const file = "src/memtable/entry_tree_insert.cc";
  EXPECT_TRUE(CitedCode(
      file, "void EntryTree::Fill(",
      {"std::atomic_thread_fence(std::memory_order_release);",
       "fresh->prefix_bytes.store(prefix_bytes, std::memory_order_relaxed);",
       "fresh->SetSlot(i, items.heads[i], items.entries[i]);",
       "fresh->children()[i].store(items.children[i], std::memory_order_relaxed);",
       "fresh->state.store(NextState(fresh->state.load(std::memory_order_relaxed), items.count,"
       " 0), std::memory_order_release);"}));
  EXPECT_TRUE(
      CitedCode(file, "void EntryTree::SwapChild(",
                {"parent->state.load(std::memory_order_relaxed);",
                 ".store(child, std::memory_order_release);",
                 "parent->state.store(NextState(state, StateCount(state), StateOrderIndex(state)),"
                 " std::memory_order_release);"}));
  EXPECT_TRUE(CitedCode(
      file, "void EntryTree::Kill(",
      {"node->state.load(std::memory_order_relaxed);",
       "node->state.store(NextState(state, 0, 0) | kStateDeadBit, std::memory_order_release);",
       "node->next.store(dead, std::memory_order_release);"}));
  EXPECT_TRUE(CitedCode(
      file, "void EntryTree::SplitLeaf(",
      {"leaf->prefix_bytes.load(std::memory_order_relaxed);",
       "leaf->prev.load(std::memory_order_relaxed)", "leaf->next.load(std::memory_order_relaxed)",
       "ReplaceChild(path,", "Kill(leaf);"}));
  EXPECT_TRUE(CitedCode(file, "void EntryTree::ReplaceChild(",
                        {"root_.store(root, std::memory_order_release);",
                         "parent->state.load(std::memory_order_relaxed);",
                         "InsertAt(parent, rank, pair.separator, pair.right);",
                         "SwapChild(parent, rank, pair.left);"}));
}

}  // namespace
}  // namespace ashlar
