#include "pmem/layout.h"

#include "base/random.h"
#include "gtest/gtest.h"

namespace ashlar::pmem {
namespace {

TEST(SpanEntryTest, EveryBitThatFlipsIsNoticedOrStaysInTheTiling) {
  const SpanEntry entry = {.kind = SpanKind::kRecords, .size_class = 17, .pages = 16};
  const uint64_t word = EncodeSpanEntry(entry);
  SpanEntry decoded;
  ASSERT_TRUE(DecodeSpanEntry(word, &decoded));
  EXPECT_EQ(decoded.kind, entry.kind);
  EXPECT_EQ(decoded.size_class, entry.size_class);
  EXPECT_EQ(decoded.pages, entry.pages);
  for (int bit = 0; bit < 64; ++bit)
    EXPECT_FALSE(DecodeSpanEntry(word ^ uint64_t{1} << bit, &decoded)) << bit;
}

TEST(SlotTest, HoldsTheLargestPoolAndSaturatesTheSize) {
  const PoolOffset last = kPoolBytesMax - kUnitBytes;
  EXPECT_EQ(SlotRecord(EncodeSlot(last, 47)), last);
  EXPECT_EQ(SlotUnits(EncodeSlot(last, 47)), 3U);
  EXPECT_EQ(SlotUnits(EncodeSlot(last, uint64_t{1} << 40)), kSlotUnitsMax);
  EXPECT_EQ(SlotRecord(EncodeSlot(last, uint64_t{1} << 40)), last);
}

TEST(CommitWordTest, VersionWrapsWithoutTouchingTheRest) {
  uint64_t commit = 0;
  for (uint32_t i = 0; i < 100000; ++i) {
    const bool flip = i % 3 == 0;
    const uint64_t occupied = uint64_t{i} * 0x9e3779b97f4a7c15u & kOccupiedMask;
    const uint64_t next = NextCommit(commit, occupied, flip);
    ASSERT_EQ(Occupied(next), occupied);
    ASSERT_EQ(SelectedNext(next) != SelectedNext(commit), flip);
    ASSERT_NE(next, commit);
    commit = next;
  }
}

}  // namespace
}  // namespace ashlar::pmem
