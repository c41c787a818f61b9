// No test runs on DAX, so only these tests cover the choice there.
#include "pmem/durability_choice.h"

#include "gtest/gtest.h"

namespace ashlar::pmem {
namespace {

constexpr CacheFacts kVolatile = {.are_persistent = false, .best = FlushInstruction::kClwb};
constexpr CacheFacts kPersistent = {.are_persistent = true, .best = FlushInstruction::kClwb};
// A processor whose flush instruction the library does not know.
constexpr CacheFacts kUnknown = {.are_persistent = false, .best = FlushInstruction::kNone};

// Returns the class and the instruction, or the code of the refusal.
std::string Choose(const PersistentTreeOptions& options, PoolBacking backing,
                   const CacheFacts& caches) {
  const Result<DurabilityChoice> choice = ChooseDurability(options, backing, caches, "pool");
  if (!choice.ok()) return choice.status().IsNotSupported() ? "refused" : "another code";
  return std::string(DurabilityClassName(choice->durability)) + " " +
         FlushInstructionName(choice->instruction);
}

PersistentTreeOptions With(std::optional<DurabilityClass> durability, bool caches_are_durable) {
  PersistentTreeOptions options;
  options.durability = durability;
  options.caches_are_durable = caches_are_durable;
  return options;
}

TEST(DurabilityChoiceTest, OnDaxLinesAreFlushedUnlessTheSystemSaysThatCachesArePersistent) {
  for (const bool is_told : {false, true}) {
    for (const bool is_asked : {false, true}) {
      std::optional<DurabilityClass> durability;
      if (is_asked) durability = DurabilityClass::kCpuFlush;
      const PersistentTreeOptions options = With(durability, is_told);
      EXPECT_EQ(Choose(options, PoolBacking::kDax, kVolatile), "cpu-flush clwb")
          << is_told << is_asked;
      EXPECT_EQ(Choose(options, PoolBacking::kDax, kPersistent), "cpu-flush none")
          << is_told << is_asked;
    }
  }
}

// Nothing can be flushed there, so the tree must not claim cpu-flush.
TEST(DurabilityChoiceTest, OnDaxAProcessorWithoutAFlushGetsALog) {
  for (const bool is_told : {false, true}) {
    EXPECT_EQ(Choose(With({}, is_told), PoolBacking::kDax, kUnknown), "logged none");
    EXPECT_EQ(Choose(With(DurabilityClass::kCpuFlush, is_told), PoolBacking::kDax, kUnknown),
              "refused");
    EXPECT_EQ(
        Choose(With(DurabilityClass::kProcessCrashOnly, is_told), PoolBacking::kDax, kUnknown),
        "process-crash-only none");
  }
  CacheFacts caches = kUnknown;
  caches.are_persistent = true;
  EXPECT_EQ(Choose(With({}, false), PoolBacking::kDax, caches), "cpu-flush none");
}

TEST(DurabilityChoiceTest, InSharedMemoryTheProgramMayLeaveFlushesOut) {
  const auto choose = [](bool is_told, const CacheFacts& caches) {
    return Choose(With(DurabilityClass::kCpuFlush, is_told), PoolBacking::kSharedMemory, caches);
  };
  EXPECT_EQ(choose(false, kVolatile), "cpu-flush clwb");
  EXPECT_EQ(choose(true, kVolatile), "cpu-flush none");
  EXPECT_EQ(choose(false, kPersistent), "cpu-flush none");
  EXPECT_EQ(choose(false, kUnknown), "cpu-flush none");
  EXPECT_EQ(Choose(With({}, false), PoolBacking::kSharedMemory, kVolatile),
            "process-crash-only none");
}

TEST(DurabilityChoiceTest, OnStorageFlushesAreRefused) {
  EXPECT_EQ(Choose(With({}, false), PoolBacking::kStorage, kVolatile), "logged none");
  EXPECT_EQ(Choose(With(DurabilityClass::kCpuFlush, true), PoolBacking::kStorage, kPersistent),
            "refused");
}

}  // namespace
}  // namespace ashlar::pmem
