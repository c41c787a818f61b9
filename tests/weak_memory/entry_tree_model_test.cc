// A node of memtable/entry_tree_node.h under the memory model: a writer that inserts three entries,
// and a reader that iterates over the node once.
#include <gtest/gtest.h>

#include <array>

#include "tests/support/memory_model.h"
#include "tests/weak_memory/cited_code.h"

namespace ashlar {
namespace {

using enum ModelOrder;

constexpr int64_t kInserts = 3;  // the third one writes the order that a first reader may still use
constexpr int64_t kFirstEntry = 100;

// Count of slots, and which order is in use.
constexpr int64_t StateOf(int64_t count, int64_t order) { return 2 * count + order; }

enum class Bug {
  kNone,
  kStateBeforeTheOrder,
  kStateBeforeTheSlot,
  kStateIsRelaxed,
  kNoFenceBeforeTheChange,
  kOrderInUseIsChanged,
  kReaderLoadsRelaxed,
  kNoFenceBeforeTheCheck,
  kNoCheck,
};

MemoryModel::Outcome ExploreNode(Bug bug) {
  return MemoryModel::Explore([bug](MemoryModel* setup) {
    using Place = MemoryModel::Place;
    const Place state = setup->NewPlace("state", StateOf(1, 0));
    // An order has several words. Each holds the number of entries for which the order was written.
    const std::array<Place, 2> first = {setup->NewPlace("order 0, first word", 1),
                                        setup->NewPlace("order 1, first word", 0)};
    const std::array<Place, 2> last = {setup->NewPlace("order 0, last word", 1),
                                       setup->NewPlace("order 1, last word", 0)};
    std::array<Place, kInserts + 1> slots;
    for (size_t i = 0; i < slots.size(); ++i)
      slots[i] = setup->NewPlace("slot", i == 0 ? kFirstEntry : 0);

    setup->Start("writer", [=](MemoryModel* m) -> ModelThread {
      for (int64_t count = 1; count <= kInserts; ++count) {
        const int64_t used = (count - 1) % 2;
        const int64_t other = bug == Bug::kOrderInUseIsChanged ? used : 1 - used;
        const auto order = static_cast<size_t>(other);
        const int64_t next = StateOf(count + 1, 1 - used);
        const auto slot = static_cast<size_t>(count);
        if (bug != Bug::kNoFenceBeforeTheChange) co_await m->Fence(kRelease);
        if (bug == Bug::kStateBeforeTheSlot) co_await m->Store(state, next, kRelease);
        co_await m->Store(slots[slot], kFirstEntry + count, kRelaxed);
        if (bug == Bug::kStateBeforeTheOrder) co_await m->Store(state, next, kRelease);
        co_await m->Store(first[order], count + 1, kRelaxed);
        co_await m->Store(last[order], count + 1, kRelaxed);
        if (bug != Bug::kStateBeforeTheOrder && bug != Bug::kStateBeforeTheSlot)
          co_await m->Store(state, next, bug == Bug::kStateIsRelaxed ? kRelaxed : kRelease);
      }
    });
    setup->Start("reader", [=](MemoryModel* m) -> ModelThread {
      const int64_t seen =
          co_await m->Load(state, bug == Bug::kReaderLoadsRelaxed ? kRelaxed : kAcquire);
      const int64_t count = seen / 2;
      const auto order = static_cast<size_t>(seen % 2);
      const int64_t first_word = co_await m->Load(first[order], kRelaxed);
      const int64_t last_word = co_await m->Load(last[order], kRelaxed);
      const int64_t entry = co_await m->Load(slots[static_cast<size_t>(count - 1)], kRelaxed);
      if (bug != Bug::kNoFenceBeforeTheCheck) co_await m->Fence(kAcquire);
      const int64_t again = co_await m->Load(state, kRelaxed);
      if (again == seen || bug == Bug::kNoCheck)
        m->Expect(first_word == count && last_word == count && entry == kFirstEntry + count - 1);
    });
  });
}

TEST(EntryTreeModel, AReaderUsesOneStateWholly) {
  const MemoryModel::Outcome outcome = ExploreNode(Bug::kNone);
  EXPECT_EQ(outcome.failures, 0U) << outcome.first_failure;
  EXPECT_GT(outcome.executions, 50U);
}

TEST(EntryTreeModel, EverySeededBugIsFound) {
  for (const Bug bug : {Bug::kStateBeforeTheOrder, Bug::kStateBeforeTheSlot, Bug::kStateIsRelaxed,
                        Bug::kNoFenceBeforeTheChange, Bug::kOrderInUseIsChanged,
                        Bug::kReaderLoadsRelaxed, Bug::kNoFenceBeforeTheCheck, Bug::kNoCheck}) {
    EXPECT_GT(ExploreNode(bug).failures, 0U) << static_cast<int>(bug);
  }
}

// The model leaves out a node's prefix and children.
TEST(EntryTreeModel, ItsStepsAreThoseOfTheCode) {
  EXPECT_TRUE(CitedCode(
      "src/memtable/entry_tree_insert.cc", "void EntryTree::InsertAt(",
      {"node->state.load(std::memory_order_relaxed);", "const uint32_t slot = StateCount(state);",
       "const uint32_t other = 1 - StateOrderIndex(state);",
       "std::atomic_thread_fence(std::memory_order_release);",
       "node->SetSlot(slot, Head(UserKeyOf(entry),"
       " node->prefix_bytes.load(std::memory_order_relaxed)), entry);",
       "node->children()[1 + slot].store(right_child, std::memory_order_relaxed);",
       "order.Store(node->order(other), node->slots);",
       "node->state.store(NextState(state, slot + 1, other), std::memory_order_release);"}));
  const std::string node = "src/memtable/entry_tree_node.h";
  EXPECT_TRUE(
      CitedCode(node, "void Load(const Word* from", {"from[i].load(std::memory_order_relaxed);"}));
  EXPECT_TRUE(
      CitedCode(node, "void Store(Word* to", {"to[i].store(word, std::memory_order_relaxed);"}));
  EXPECT_TRUE(CitedCode(node, "bool Unchanged(",
                        {"std::atomic_thread_fence(std::memory_order_acquire);",
                         "return state.load(std::memory_order_relaxed) == seen;"}));
  EXPECT_TRUE(CitedCode(node, "const char* Entry(",
                        {"entries_high()[slot].load(std::memory_order_relaxed)",
                         "entries_low()[slot].load(std::memory_order_relaxed)"}));
  EXPECT_TRUE(CitedCode(
      node, "void SetSlot(",
      {"heads()[slot].store(head, std::memory_order_relaxed);",
       "entries_low()[slot].store(static_cast<uint32_t>(address), std::memory_order_relaxed);",
       "entries_high()[slot].store(static_cast<uint16_t>(address >> 32),"
       " std::memory_order_relaxed);"}));
  EXPECT_TRUE(CitedCode(
      "src/memtable/entry_tree.cc", "bool EntryTree::StepDown(",
      {"inner->ChildAt(order, rank).load(std::memory_order_acquire);",
       "if (!inner->Unchanged(place->state))", "child->state.load(std::memory_order_acquire);",
       "!inner->Unchanged(place->state)"}));
  EXPECT_TRUE(CitedCode("src/memtable/entry_tree.cc", "bool EntryTree::Walk::Copy(",
                        {"LoadOrder(place);", "place.node->Entry(order.Slot(i));",
                         "if (!place.node->Unchanged(place.state))"}));
}

}  // namespace
}  // namespace ashlar
