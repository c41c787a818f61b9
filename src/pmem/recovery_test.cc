// Tests damage to single fields that only recovery can notice, because they look right to every
// other check.
#include "pmem/recovery.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/coding.h"
#include "gtest/gtest.h"
#include "pmem/layout.h"
#include "pmem/leaf.h"
#include "pmem/pool.h"
#include "tests/support/test_pool.h"

namespace ashlar::pmem {
namespace {

class RecoveryTest : public ::testing::Test {
 protected:
  RecoveryTest() {
    std::unique_ptr<PersistentTree> tree = OpenTestTree(&pool_);
    for (int i = 1000; i < 1300; ++i)
      EXPECT_TRUE(tree->Put(std::to_string(i), std::string(20, 'v')).ok());
    EXPECT_TRUE(tree->Close().ok());
    raw_ = pool_.file()->Map(PoolMapMode::kShared).value();
    const std::unique_ptr<Medium> medium = CountingMedium::Create(pool_.file());
    for (PoolOffset leaf = FirstLeafOf(raw_->bytes()); leaf != 0;) {
      leaves_.push_back(leaf);
      const LeafView view(*medium, leaf);
      leaf = view.Next(view.Commit());
    }
    EXPECT_GT(leaves_.size(), 3U);
    EXPECT_EQ(leaves_[0], kFirstLeaf);
  }

  uint64_t WordAt(PoolOffset offset) const { return DecodeFixed64(raw_->data() + offset); }
  void Store(PoolOffset offset, uint64_t word) { EncodeFixed64(raw_->data() + offset, word); }
  std::string Recover() {
    RecoveryConfig config;
    config.comparator = BytewiseComparator();
    const auto recovered = RecoverTree(CountingMedium::Create(pool_.file()), std::move(config));
    return recovered.status().ToString();
  }
  void ExpectRefused(const std::string& reason) {
    const std::string recovered = Recover();
    EXPECT_TRUE(recovered.starts_with("Corruption: ")) << recovered;
    EXPECT_NE(recovered.find(reason), std::string::npos) << recovered;
  }

  // Commits a batch whose word is not stored yet. Returns its mark.
  uint64_t CommitBatch(PoolOffset word = kChangedWord) {
    const std::unique_ptr<Medium> medium = CountingMedium::Create(pool_.file());
    PoolOperation op(*medium);
    const std::vector<BatchWord> words = {{.offset = word, .word = kChanged}};
    const std::vector<PoolObject> pieces = {
        {.offset = kSmallBatchLogOffset, .bytes = kSmallBatchLogBytes}};
    const uint64_t mark = WriteBatchLog(&op, pieces, words);
    op.Store(kBatchMarkOffset, mark);
    op.Commit();
    return mark;
  }

  // The header and the map have a page each.
  static constexpr PoolOffset kFirstLeaf = 2 * kPageBytes;
  // After its tag, where nothing is stored.
  static constexpr PoolOffset kChangedWord = kFirstLeaf + kLeafTag + 8;
  static constexpr uint64_t kChanged = 4711;

  TestPool pool_{uint64_t{1} << 20};
  std::unique_ptr<PoolMapping> raw_;
  std::vector<PoolOffset> leaves_;
};

TEST_F(RecoveryTest, AWholePoolIsAccepted) { EXPECT_EQ(Recover(), "OK"); }

// The last byte of the record's value is wrong, but its key and lengths are right.
TEST_F(RecoveryTest, ADamagedSeparatorIsRefused) {
  const std::unique_ptr<Medium> medium = CountingMedium::Create(pool_.file());
  const PoolOffset separator = LeafView(*medium, leaves_[1]).Separator();
  const auto record = ReadRecord(*medium, separator);
  ASSERT_TRUE(record.has_value());
  const PoolOffset last =
      separator +
      static_cast<PoolOffset>(record->value().data() + record->value().size() - 1 - record->start);
  raw_->data()[last] ^= 1;
  ExpectRefused("a damaged separator");
  raw_->data()[last] ^= 1;
  EXPECT_EQ(Recover(), "OK");
}

// The commit word is right for the changed link.
TEST_F(RecoveryTest, AChainThatLeadsBackIsRefused) {
  for (const PoolOffset back : {leaves_[0], leaves_[1], leaves_[2]}) {
    const PoolOffset leaf = leaves_[2];
    const uint64_t commit = WordAt(leaf + kLeafCommit);
    const PoolOffset link = leaf + LeafNext(SelectedNext(commit));
    const PoolOffset next = WordAt(link);
    Store(link, back);
    Store(leaf + kLeafCommit, EncodeCommit(leaf, back, Occupied(commit), SelectedNext(commit)));
    ExpectRefused("a link that leads to no leaf, or back");
    Store(link, next);
    Store(leaf + kLeafCommit, commit);
  }
  EXPECT_EQ(Recover(), "OK");
}

// Otherwise a change of the valid slots or of the selected link would go unnoticed.
TEST_F(RecoveryTest, ACommitWordWithAFlippedBitIsRefused) {
  const PoolOffset word = leaves_[1] + kLeafCommit;
  const uint64_t commit = WordAt(word);
  for (uint32_t bit = 0; bit < 64; ++bit) {
    SCOPED_TRACE(bit);
    Store(word, commit ^ uint64_t{1} << bit);
    ExpectRefused("a wrong check in its commit word");
  }
  Store(word, commit);
  EXPECT_EQ(Recover(), "OK");
}

// The pool's id contradicts nothing else.
TEST_F(RecoveryTest, AChangedHeaderIsRefused) {
  raw_->data()[offsetof(PoolHeader, pool_id)] ^= 1;
  ExpectRefused("the pool's header is damaged");
}

TEST_F(RecoveryTest, AChangedLinkToTheLogIsRefused) {
  std::string link = EncodeLogLink(LogState::kOpen, 7);
  EXPECT_TRUE(DecodeLogLink("pool", link).ok());
  link[offsetof(LogLink, generation)] ^= 1;
  const Status damaged = DecodeLogLink("pool", link).status();
  EXPECT_TRUE(damaged.IsCorruption()) << damaged.ToString();
}

TEST_F(RecoveryTest, ACommittedBatchIsCompleted) {
  CommitBatch();
  EXPECT_EQ(Recover(), "OK");
  EXPECT_EQ(WordAt(kChangedWord), kChanged);
  EXPECT_EQ(WordAt(kBatchMarkOffset), kNoBatchMark);
}

// The checks of the mark and the log are right. A stored word of the span map, which has been read
// before, would end the process at a later allocation.
TEST_F(RecoveryTest, ABatchLogThatStoresOutsideOfLeavesIsRefused) {
  const std::vector<PoolOffset> places = {kPageBytes - 8, kPageBytes, kFirstLeaf - 8,
                                          kFirstLeaf + kSpanBytes};
  for (const PoolOffset place : places) {
    SCOPED_TRACE(place);
    CommitBatch(place);
    ExpectRefused("where no leaf can be");
    EXPECT_NE(WordAt(place), kChanged);
  }
}

TEST_F(RecoveryTest, ABatchMarkWithAFlippedBitIsRefused) {
  for (const uint64_t mark : {CommitBatch(), kNoBatchMark}) {
    for (uint32_t bit = 0; bit < 64; ++bit) {
      SCOPED_TRACE(bit);
      Store(kBatchMarkOffset, mark ^ uint64_t{1} << bit);
      ExpectRefused("the batch mark at offset 2048");
      EXPECT_NE(WordAt(kChangedWord), kChanged);
    }
  }
}

TEST_F(RecoveryTest, ABatchMarkThatBecameZeroIsRefused) {
  CommitBatch();
  Store(kBatchMarkOffset, 0);
  ExpectRefused("the batch mark at offset 2048");
  EXPECT_NE(WordAt(kChangedWord), kChanged);
}

// The log that takes its place is valid. It is the first log without its word.
TEST_F(RecoveryTest, ABatchMarkOfAnotherLogIsRefused) {
  const uint64_t mark = CommitBatch();
  const std::unique_ptr<Medium> medium = CountingMedium::Create(pool_.file());
  PoolOperation op(*medium);
  const std::vector<PoolObject> pieces = {
      {.offset = kSmallBatchLogOffset, .bytes = kSmallBatchLogBytes}};
  EXPECT_NE(WriteBatchLog(&op, pieces, {}), mark);
  op.Commit();
  ExpectRefused("the batch mark at offset 2048");
}

}  // namespace
}  // namespace ashlar::pmem
