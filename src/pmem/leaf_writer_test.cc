// Tests changes of leaves from inside: the leaves that other threads find when a change commits.
#include "pmem/leaf_writer.h"

#include <memory>
#include <string>
#include <utility>

#include "ashlar/write_batch.h"
#include "base/format.h"
#include "base/function_ref.h"
#include "gtest/gtest.h"
#include "pmem/batch_writer.h"
#include "pmem/recovery.h"
#include "tests/support/expect_ok.h"
#include "tests/support/test_pool.h"

namespace ashlar::pmem {
namespace {

class LeafWriterTest : public ::testing::Test {
 protected:
  LeafWriterTest() {
    std::unique_ptr<CountingMedium> medium = CountingMedium::Create(pool_.file());
    medium_ = medium.get();
    RecoveryConfig config;
    config.comparator = BytewiseComparator();
    state_ = RecoverTree(std::move(medium), std::move(config)).value();
    state_->heap.FinishMark(true);
  }

  // Fills the first leaf with key100, key101, ... in slots 0, 1, ...
  void FillLeaf(LeafWriter* writer) {
    for (uint32_t i = 0; i < LeafWriter::kSlotsFilled; ++i)
      ASSERT_OK(writer->Put(StrCat("key", 100 + i), "v"));
  }
  LeafRef* LeafOf(const std::string& key) const {
    EpochGuard guard(state_->epochs);
    return state_->index.Peek(key).ref;
  }

  TestPool pool_{uint64_t{1} << 20};
  CountingMedium* medium_ = nullptr;
  std::unique_ptr<TreeState> state_;
};

TEST_F(LeafWriterTest, ASlotThatLeadsNowhereIsDamage) {
  LeafWriter writer(state_.get());
  FillLeaf(&writer);
  {
    const LeafView leaf(*medium_, state_->first_leaf);
    PoolOperation op(*medium_);
    PublishSlot(&op, leaf.SlotOffset(10), 0);
    op.Commit();
    ASSERT_OK(op.AwaitDurable());
  }
  EXPECT_TRUE(writer.Put("key110", "w").IsCorruption());
  EXPECT_TRUE(writer.Delete("key110").IsCorruption());
  EXPECT_TRUE(writer.Put("key1", "v").IsCorruption());  // it would split the leaf
  EXPECT_EQ(state_->leaves.load(), 1U);
}

TEST_F(LeafWriterTest, ABatchWhoseBytesWereChangedIsNotWritten) {
  WriteBatch batch(0, 0, 8, 0);
  ASSERT_OK(batch.Put("key", "value"));
  const_cast<char*>(batch.Data().data())[batch.GetDataSize() - 1] ^= 1;
  EXPECT_TRUE(BatchWriter(state_.get()).Write(batch).IsCorruption());
  EXPECT_EQ(state_->entries.load(), 0U);
}

// Readers wait for the lock of a leaf, so they see only durable changes.
TEST_F(LeafWriterTest, ALeafIsLockedUntilTheLastFenceOfItsChange) {
  LeafWriter writer(state_.get());
  // Its span has room for the other records, which are of one size.
  ASSERT_OK(writer.Put("a", "1"));
  const LeafRef* const leaf = LeafOf("a");
  uint64_t fences = 0;
  medium_->set_on_fence([&] {
    ++fences;
    EXPECT_NE(leaf->version.load() & LeafRef::kLocked, 0U);
  });
  ASSERT_OK(writer.Put("a", "2"));
  ASSERT_OK(writer.Put("b", "1"));
  ASSERT_OK(writer.Delete("a"));
  medium_->set_on_fence({});
  EXPECT_EQ(fences, 5U);
}

// A thread that finds a new leaf before the commit of the change that made it could change the leaf
// and commit first. The log would have its change before the leaf, and a replay would lose it.
class CommitTest : public LeafWriterTest {
 protected:
  // `change` gives `key` to a new leaf. Until it has committed, the key leads to the old leaf,
  // which it has locked.
  void ExpectTheOldLeafUntilTheCommit(const std::string& key, FunctionRef<void()> change) {
    LeafRef* const old = LeafOf(key);
    uint64_t commits = 0;
    medium_->set_on_commit([&] {
      // The heap commits its operations without a leaf.
      if ((old->version.load() & LeafRef::kLocked) == 0) return;
      ++commits;
      EXPECT_EQ(LeafOf(key), old);
    });
    change();
    medium_->set_on_commit({});
    EXPECT_EQ(commits, 1U);
    EXPECT_NE(LeafOf(key), old);
  }
};

TEST_F(CommitTest, NoThreadFindsTheNewLeafOfASplitBefore) {
  LeafWriter writer(state_.get());
  FillLeaf(&writer);
  ExpectTheOldLeafUntilTheCommit(StrCat("key", 99 + LeafWriter::kSlotsFilled),
                                 [&] { ASSERT_OK(writer.Put("key1", "v")); });
}

TEST_F(CommitTest, NoThreadFindsTheNewLeavesOfABatchBefore) {
  ASSERT_OK(LeafWriter(state_.get()).Put("last", "v"));
  WriteBatch batch;
  for (uint32_t i = 0; i < 100; ++i) ASSERT_OK(batch.Put(StrCat("key", 100 + i), "v"));
  ExpectTheOldLeafUntilTheCommit("last",
                                 [&] { ASSERT_OK(BatchWriter(state_.get()).Write(batch)); });
}

}  // namespace
}  // namespace ashlar::pmem
