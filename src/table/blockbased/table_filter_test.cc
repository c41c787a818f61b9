#include "table/blockbased/table_filter.h"

#include <gtest/gtest.h>

#include "table/blockbased/table_test_kit.h"
#include "table/filter/filter_test_kit.h"

namespace ashlar::test {
namespace {

// Three partitions as RocksDB writes them. A separator above the last key of its partition may have
// the prefix of the next partition (cc5) or be below keys with the prefix of its own (aa5).
class PartitionedFilterTest : public testing::Test {
 protected:
  PartitionedFilterTest() {
    BlockIndex index{KeyComparator(BytewiseComparator())};
    EXPECT_OK(index.Add({"aa5", {0, 95}}, true, 1 << 30));
    EXPECT_OK(index.Add({"cc5", {100, 95}}, true, 1 << 30));
    EXPECT_OK(index.Add({"zz", {200, 95}}, true, 1 << 30));
    index.Seal(false);
    for (const std::string prefix : {"aa", "bb", "cc"}) {
      FilterBuilder builder(
          {.millibits_per_key = 20000, .whole_keys = false, .prefix_extractor = transform_.get()});
      builder.AddKey(prefix + "1");
      blocks_.push_back(FinishFilter(&builder));
    }
    std::vector<TableFilter::Partition> partitions;
    for (const std::string& block : blocks_) {
      partitions.emplace_back();
      partitions.back().reader = FilterReader(block);
    }
    filter_.SetPartitions(std::move(index), std::move(partitions));
    filter_.CheckInvariants();
  }

  bool MayMatch(const std::string& key, bool forward) {
    SeekPrefix seek({.comparator = KeyComparator(BytewiseComparator()),
                     .transform = transform_.get(),
                     .upper_bound = nullptr,
                     .scope_max = SeekScope::kPrefix});
    seek.SetScope(SeekScope::kPrefix);
    seek.Begin(key, forward);
    const HashedPrefix* const prefix = seek.Find(transform_.get());
    EXPECT_NE(prefix, nullptr);
    return filter_.MayMatch(*prefix, MakeInternalKey(key, kSequenceNumberMax, ValueType::kMax),
                            forward);
  }

  const std::shared_ptr<const SliceTransform> transform_{NewFixedPrefixTransform(2)};
  std::vector<std::string> blocks_;
  TableFilter filter_{false, transform_};
};

TEST_F(PartitionedFilterTest, ForwardTheNextPartitionIsAskedToo) {
  EXPECT_TRUE(MayMatch("cc1", true));  // the index leads to the second partition
  EXPECT_TRUE(MayMatch("cc9", true));
  EXPECT_TRUE(MayMatch("aa1", true));
  EXPECT_FALSE(MayMatch("dd1", true));
}

TEST_F(PartitionedFilterTest, BackwardThePartitionBeforeIsAskedToo) {
  EXPECT_TRUE(MayMatch("aa9", false));  // the index leads to the second partition
  EXPECT_TRUE(MayMatch("aa1", false));
  EXPECT_TRUE(MayMatch("cc9", false));
  EXPECT_FALSE(MayMatch("dd1", false));
}

}  // namespace
}  // namespace ashlar::test
