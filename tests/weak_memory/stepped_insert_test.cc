// The real entry tree, with its writer stopped after each machine instruction of an insert. A
// reader that runs at that point finds memory that a reader on another processor may find, because
// x86 makes stores visible in order. Together with the memory model's tests, which cover other
// processors, this finds reliably the races that threads hit by chance.
#if defined(__x86_64__)

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "memtable/entry_tree.h"

namespace ashlar {
namespace {

constexpr uint64_t kTrapFlag = 0x100;

// Runs after each instruction, inside the signal handler. Must neither allocate nor lock.
const std::function<void()>* after_each = nullptr;

void OnTrap(int) { (*after_each)(); }

// Leaves the red zone of the caller's frame unchanged.
inline void SetTrapFlag() {
  asm volatile(
      "lea -128(%%rsp), %%rsp\n\tpushfq\n\torq %0, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp" ::"i"(
          kTrapFlag)
      : "memory", "cc");
}
inline void ClearTrapFlag() {
  asm volatile(
      "lea -128(%%rsp), %%rsp\n\tpushfq\n\tandq %0, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp" ::
          "i"(~kTrapFlag)
      : "memory", "cc");
}

class SteppedInsert : public testing::Test {
 protected:
  SteppedInsert() {
    struct sigaction action = {};
    action.sa_handler = &OnTrap;
    sigaction(SIGTRAP, &action, &before_);
    after_each = &check_;
  }
  ~SteppedInsert() override {
    sigaction(SIGTRAP, &before_, nullptr);
    after_each = nullptr;
  }

  void Insert(const std::string& key) {
    newcomer_ = NewEntry(&arena_, key, PackTag(++inserts_, ValueType::kValue), "value");
    SetTrapFlag();
    tree_.Insert(newcomer_);
    ClearTrapFlag();
    const auto less = [](const char* a, const char* b) {
      return DecodeEntry(a).user_key().compare(DecodeEntry(b).user_key()) < 0;
    };
    expected_.insert(std::upper_bound(expected_.begin(), expected_.end(), newcomer_, less),
                     newcomer_);
    newcomer_ = nullptr;
  }

  // Expects every entry in order, forwards and backwards. The newcomer may be present or not.
  void Check() {
    ++steps_;
    EntryTree::Walk walk(&tree_);
    size_t found = 0;
    for (walk.SeekToFirst(); walk.Valid(); walk.Next()) {
      if (walk.entry() == newcomer_) continue;
      if (found == expected_.size() || walk.entry() != expected_[found]) return NoteWrong();
      ++found;
    }
    if (found != expected_.size()) return NoteWrong();
    for (walk.SeekToLast(); walk.Valid(); walk.Prev()) {
      if (walk.entry() == newcomer_) continue;
      if (found == 0 || walk.entry() != expected_[--found]) return NoteWrong();
    }
    if (found != 0) return NoteWrong();
    if (expected_.empty()) return;
    const char* const sought = expected_[steps_ % expected_.size()];
    walk.Seek(DecodeEntry(sought).user_key(), DecodeEntry(sought).tag());
    if (!walk.Valid() || walk.entry() != sought) NoteWrong();
  }
  void NoteWrong() {
    if (wrong_++ == 0) first_wrong_ = inserts_;
  }

  ArenaBlockPool blocks_{{}};
  Arena arena_{&blocks_};
  EntryTree tree_{KeyComparator(BytewiseComparator()), &arena_};
  std::vector<const char*> expected_;
  const char* newcomer_ = nullptr;
  uint64_t inserts_ = 0;
  uint64_t steps_ = 0;
  uint64_t wrong_ = 0;
  uint64_t first_wrong_ = 0;
  const std::function<void()> check_ = [this] { Check(); };
  struct sigaction before_ = {};
};

TEST_F(SteppedInsert, EveryEntryIsFoundAfterEachInstructionOfAnInsert) {
  constexpr uint64_t kInserts = 60;  // several leaves grow and split
  expected_.reserve(kInserts);
  Random random(20261125);
  for (uint64_t i = 0; i < kInserts; ++i) Insert("key" + std::to_string(random.Next()));
  EXPECT_EQ(wrong_, 0U) << "first in insert " << first_wrong_;
  EXPECT_GT(steps_, 100 * kInserts);
}

TEST_F(SteppedInsert, EveryEntryIsFoundWhileRunsOfKeysFillLeaves) {
  constexpr uint64_t kInserts = 60;
  expected_.reserve(kInserts);
  for (uint64_t i = 0; i < kInserts; ++i) {
    const uint64_t number = i % 2 == 0 ? 1000 + i : 9000 - i;
    Insert("key" + std::to_string(number));
  }
  EXPECT_EQ(wrong_, 0U) << "first in insert " << first_wrong_;
}

// Each key shortens the prefix that all share, which rebuilds the tree's edges.
TEST_F(SteppedInsert, EveryEntryIsFoundWhileTheCommonPrefixGetsShorter) {
  constexpr uint64_t kInserts = 30;
  expected_.reserve(kInserts);
  for (uint64_t i = 0; i < kInserts; ++i) Insert(std::string(kInserts - i, 'p') + "q");
  EXPECT_EQ(wrong_, 0U) << "first in insert " << first_wrong_;
}

}  // namespace
}  // namespace ashlar

#endif
