#include "pmem/layout.h"

#include "base/random.h"
#include "gtest/gtest.h"

namespace ashlar::pmem {
namespace {

TEST(SpanEntryTest, NoticesEveryBitThatFlipsAndAnotherPage) {
  const SpanEntry entry = {.kind = SpanKind::kRecords, .size_class = 17, .pages = 16};
  const uint64_t word = EncodeSpanEntry(77, entry);
  SpanEntry decoded;
  ASSERT_TRUE(DecodeSpanEntry(77, word, &decoded));
  EXPECT_EQ(decoded.kind, entry.kind);
  EXPECT_EQ(decoded.size_class, entry.size_class);
  EXPECT_EQ(decoded.pages, entry.pages);
  for (int bit = 0; bit < 64; ++bit)
    EXPECT_FALSE(DecodeSpanEntry(77, word ^ uint64_t{1} << bit, &decoded)) << bit;
  // The word is not valid for another page.
  for (uint64_t page = 1; page < 5000; ++page) {
    EXPECT_EQ(DecodeSpanEntry(page, word, &decoded), page == 77) << page;
  }
}

TEST(SlotTest, HoldsTheLargestPoolAndSaturatesTheSize) {
  const PoolOffset last = kPoolBytesMax - kUnitBytes;
  EXPECT_EQ(SlotRecord(EncodeSlot(last, 47)), last);
  EXPECT_EQ(SlotUnits(EncodeSlot(last, 47)), 3U);
  EXPECT_EQ(SlotUnits(EncodeSlot(last, uint64_t{1} << 40)), kSlotUnitsMax);
  EXPECT_EQ(SlotRecord(EncodeSlot(last, uint64_t{1} << 40)), last);
}

// The check has 15 bits, so it misses one of 32,768 random changes.
TEST(CommitWordTest, HoldsItsFieldsAndNoticesOthers) {
  int changes = 0;
  int missed = 0;
  constexpr PoolOffset kLeaf = 0x12400;
  for (uint32_t i = 0; i < 1000; ++i) {
    const uint64_t occupied = uint64_t{i} * 0x9e3779b97f4a7c15u & kOccupiedMask;
    const uint32_t selected = i % 2;
    const PoolOffset next = i % 3 == 0 ? 0 : uint64_t{i} * kLeafBytes;
    const uint64_t commit = EncodeCommit(kLeaf, next, occupied, selected);
    ASSERT_EQ(Occupied(commit), occupied);
    ASSERT_EQ(SelectedNext(commit), selected);
    ASSERT_TRUE(IsCommit(kLeaf, next, commit));
    for (int bit = 0; bit < 64; ++bit) {
      missed += IsCommit(kLeaf, next, commit ^ uint64_t{1} << bit) ? 1 : 0;
      missed += IsCommit(kLeaf, next ^ uint64_t{1} << bit, commit) ? 1 : 0;
      changes += 2;
    }
    missed += IsCommit(kLeaf + kLeafBytes, next, commit) ? 1 : 0;
    ++changes;
  }
  EXPECT_EQ(changes, 129000);
  EXPECT_LT(missed, 16);
}

}  // namespace
}  // namespace ashlar::pmem
