// Citations of the first definition in this file, which must be complete, in order, and exclusive.
#include "tests/weak_memory/cited_code.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>

namespace ashlar {
namespace {

[[maybe_unused]] int Cited(std::atomic<int>* word, std::atomic<int>* flag) {
  if (flag->load(std::memory_order_acquire) != 0) {
    word->store(1, std::memory_order_relaxed);
  }
  return 7;
}

[[maybe_unused]] void NotCited(std::atomic<int>* flag) {
  flag->store(2, std::memory_order_release);
}

constexpr char kPath[] = "tests/weak_memory/cited_code_test.cc";
constexpr char kFrom[] = "int Cited(";
constexpr char kLoad[] = "flag->load(std::memory_order_acquire)";
constexpr char kStore[] = "word->store(1,   std::memory_order_relaxed);";  // with other blanks

TEST(CitedCodeTest, StepsAreThereInTheirOrder) {
  EXPECT_TRUE(CitedCode(kPath, kFrom, {kLoad, kStore}));
  EXPECT_TRUE(CitedCode(kPath, kFrom, {kLoad, "{", kStore, "return 7;"}));
  EXPECT_FALSE(CitedCode(kPath, kFrom, {kStore, kLoad}));
  EXPECT_FALSE(CitedCode(kPath, kFrom, {kLoad, kStore, kStore}));
}

TEST(CitedCodeTest, AStepOfALaterDefinitionIsNone) {
  EXPECT_FALSE(
      CitedCode(kPath, kFrom, {kLoad, kStore, "flag->store(2, std::memory_order_release)"}));
}

TEST(CitedCodeTest, AnAtomicOperationThatIsNotCitedIsFound) {
  EXPECT_FALSE(CitedCode(kPath, kFrom, {kLoad}));
  EXPECT_FALSE(CitedCode(kPath, kFrom, {kStore}));
  EXPECT_FALSE(CitedCode(kPath, kFrom, {"return 7;"}));
}

TEST(CitedCodeTest, ADefinitionThatIsNotThereIsNone) {
  EXPECT_FALSE(CitedCode(kPath, std::string("int ") + "Absent(", {}));
  EXPECT_FALSE(CitedCode("tests/weak_memory/absent.cc", kFrom, {}));
}

}  // namespace
}  // namespace ashlar
