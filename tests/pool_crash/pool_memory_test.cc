// Tests of the memory that the crash proof relies on: its lint, its crash images, and the fault of
// a store that bypasses it.
#include "tests/pool_crash/pool_memory.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ashlar::pmem {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kPoolBytes = uint64_t{1} << 20;
constexpr PoolOffset kAt = 64 * kPageBytes;

TEST(PoolMemoryTest, AnOrderlyOperationPassesTheLint) {
  PoolMemory memory(kPoolBytes);
  RecordingMedium medium(&memory);
  PoolOperation op(medium);
  op.Store(kAt, 1);
  op.Flush(kAt, 8);
  op.Fence();
  op.Commit();
  EXPECT_THAT(memory.TakeFindings(), IsEmpty());
  const std::vector<OperationCost> costs = memory.TakeCosts();
  ASSERT_EQ(costs.size(), 1U);
  EXPECT_EQ(costs[0].fences, 1U);
  EXPECT_EQ(costs[0].lines_flushed, 1U);
}

TEST(PoolMemoryTest, TheLintNoticesWhatIsTooMuchAndWhatIsMissing) {
  PoolMemory memory(kPoolBytes);
  RecordingMedium medium(&memory);
  {
    PoolOperation op(medium);
    op.Flush(kAt, 8);
    op.Fence();
    EXPECT_THAT(memory.TakeFindings(), ElementsAre(HasSubstr("a flush of a line without stores")));
    op.Store(kAt, 1);
    op.Flush(kAt, 8);
    op.Flush(kAt, 8);
    EXPECT_THAT(memory.TakeFindings(), ElementsAre(HasSubstr("a flush of a line without stores")));
    op.Fence();
    op.Fence();
    EXPECT_THAT(memory.TakeFindings(), ElementsAre(HasSubstr("a fence without a flush")));
    op.Store(kAt, 2);
    op.Flush(kAt, 8);
    op.Commit();
    EXPECT_THAT(memory.TakeFindings(),
                ElementsAre(HasSubstr("a commit before the store is durable")));
  }
}

TEST(PoolMemoryTest, AnEpochHoldsEachLineWithItsStoresAndWhatOfThemIsDurableAfterwards) {
  PoolMemory memory(kPoolBytes);
  RecordingMedium medium(&memory);
  PoolOperation op(medium);
  op.Store(kAt, 1);
  op.Store(kAt + 8, 2);
  op.Flush(kAt, 16);
  op.Store(kAt + 8, 3);
  op.Store(kAt + kLineBytes, 4);
  op.Fence();
  const std::vector<Epoch> epochs = memory.TakeEpochs();
  ASSERT_EQ(epochs.size(), 1U);
  ASSERT_EQ(epochs[0].lines.size(), 2U);
  const auto word = [](const LineBytes& line, size_t at) {
    uint64_t value;
    memcpy(&value, line.data() + at, sizeof(value));
    return value;
  };
  const PendingAt& flushed = epochs[0].lines[0];
  EXPECT_EQ(flushed.line.stores.size(), 3U);
  EXPECT_EQ(word(flushed.line.After(3), 8), 3U);
  EXPECT_EQ(word(flushed.durable_after, 0), 1U);
  EXPECT_EQ(word(flushed.durable_after, 8), 2U);
  EXPECT_EQ(word(epochs[0].lines[1].durable_after, 0), 0U);
}

TEST(PoolMemoryDeathTest, AStoreThatIsNotAVerbFaults) {
  PoolMemory memory(kPoolBytes);
  EXPECT_DEATH(*const_cast<volatile char*>(memory.view() + kAt) = 1, "");
}

}  // namespace
}  // namespace ashlar::pmem
