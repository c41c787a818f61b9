#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "base/assert.h"

namespace ashlar {
namespace {

Result<std::unique_ptr<int>> MakeBox(int value) {
  if (value < 0) return Status::InvalidArgument("negative");
  return std::make_unique<int>(value);
}

Status AddBoxes(int a, int b, int* sum) {
  ASHLAR_ASSIGN_OR_RETURN(const std::unique_ptr<int> first, MakeBox(a));
  std::unique_ptr<int> second;
  ASHLAR_ASSIGN_OR_RETURN(second, MakeBox(b));
  *sum = *first + *second;
  return Status::OK();
}

Result<int> SumOfBoxes(int a, int b) {
  int sum = 0;
  ASHLAR_RETURN_IF_ERROR(AddBoxes(a, b, &sum));
  return sum;
}

TEST(ResultTest, HoldsAValueThatCanOnlyMove) {
  Result<std::unique_ptr<int>> box = MakeBox(7);
  ASSERT_TRUE(box.ok());
  EXPECT_TRUE(box.status().ok());
  EXPECT_EQ(**box, 7);
  const std::unique_ptr<int> taken = std::move(box).value();
  EXPECT_EQ(*taken, 7);
}

TEST(ResultTest, ErrorsPassThroughBothMacros) {
  EXPECT_EQ(*SumOfBoxes(2, 3), 5);
  const Result<int> failed = SumOfBoxes(2, -3);
  EXPECT_FALSE(failed.ok());
  EXPECT_EQ(failed.status().ToString(), "Invalid argument: negative");
}

TEST(ResultTest, ConvertsWhatConvertsToItsValue) {
  struct Base {
    virtual ~Base() = default;
  };
  struct Derived final : Base {};
  const Result<std::unique_ptr<Base>> object = std::make_unique<Derived>();
  EXPECT_TRUE(object.ok());
  const Result<std::string> text = "literal";
  EXPECT_EQ(text->size(), 7u);
}

TEST(ResultDeathTest, MisuseIsStopped) {
  EXPECT_DEATH(static_cast<void>(MakeBox(-1).value()), "assertion failed");
  EXPECT_DEATH(static_cast<void>(Result<int>(Status::OK())), "assertion failed");
}

TEST(AssertDeathTest, NamesTheConditionAndThePlace) {
  const int two = 2;
  ASHLAR_ASSERT(two == 2);
  EXPECT_DEATH(ASHLAR_ASSERT(two == 3), "two == 3, .*result_test\\.cc:.+");
}

}  // namespace
}  // namespace ashlar
