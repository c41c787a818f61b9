#include "key/merge_helper.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace ashlar {
namespace {

// Runs the body that a test sets.
class ScriptedOperator final : public MergeOperator {
 public:
  using Body = std::function<bool(const MergeOperationInput&, MergeOperationOutput*)>;
  explicit ScriptedOperator(Body body) : body_(std::move(body)) {}
  const char* Name() const override { return "test.Scripted"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    return body_(in, out);
  }

 private:
  const Body body_;
};

const std::vector<Slice> kOperands = {"new", "mid", "old"};
const Slice kBase("base");

Status Merge(const MergeOperator* merge_operator, const Slice* base, MergeResult* result) {
  return FullMerge({.merge_operator = merge_operator,
                    .user_key = "key",
                    .base = base,
                    .operands_newest_first = kOperands},
                   result, nullptr);
}

TEST(MergeHelperTest, OperatorGetsOperandsOldestFirst) {
  const auto append = MergeOperators::CreateStringAppendOperator(',');
  MergeResult result;
  ASSERT_TRUE(Merge(append.get(), &kBase, &result).ok());
  EXPECT_EQ(result.kind, MergeResult::Kind::kComputed);
  EXPECT_EQ(result.value().ToString(), "base,old,mid,new");
  ASSERT_TRUE(Merge(append.get(), nullptr, &result).ok());
  EXPECT_EQ(result.value().ToString(), "old,mid,new");
}

TEST(MergeHelperTest, ExistingBytesAreTracedToTheirOwner) {
  MergeResult result;
  const ScriptedOperator takes_base(
      [](const auto& in, auto* out) { return out->existing_operand = *in.existing_value, true; });
  ASSERT_TRUE(Merge(&takes_base, &kBase, &result).ok());
  EXPECT_EQ(result.kind, MergeResult::Kind::kBase);
  EXPECT_EQ(result.value().data(), kBase.data());

  const ScriptedOperator takes_middle(
      [](const auto& in, auto* out) { return out->existing_operand = in.operand_list[1], true; });
  ASSERT_TRUE(Merge(&takes_middle, &kBase, &result).ok());
  EXPECT_EQ(result.kind, MergeResult::Kind::kOperand);
  EXPECT_EQ(result.operand, 1u);
  EXPECT_EQ(result.value().data(), kOperands[1].data());

  const ScriptedOperator takes_a_part([](const auto& in, auto* out) {
    return out->existing_operand = Slice(in.operand_list[2].data() + 1, 2), true;
  });
  ASSERT_TRUE(Merge(&takes_a_part, &kBase, &result).ok());
  EXPECT_EQ(result.kind, MergeResult::Kind::kOperand);
  EXPECT_EQ(result.operand, 0u);
  EXPECT_EQ(result.value().ToString(), "ew");
}

TEST(MergeHelperTest, BytesOfUnknownOwnerAreCopied) {
  static std::string own = "own bytes";
  const ScriptedOperator takes_own(
      [](const auto&, auto* out) { return out->existing_operand = own, true; });
  MergeResult result;
  ASSERT_TRUE(Merge(&takes_own, nullptr, &result).ok());
  EXPECT_EQ(result.kind, MergeResult::Kind::kComputed);
  EXPECT_EQ(result.value().ToString(), "own bytes");
  EXPECT_NE(result.value().data(), own.data());
}

TEST(MergeHelperTest, AResultThatIsEmptyIsAResult) {
  const ScriptedOperator computes_nothing([](const auto&, auto*) { return true; });
  MergeResult result;
  result.computed = "left from before";
  ASSERT_TRUE(Merge(&computes_nothing, &kBase, &result).ok());
  EXPECT_EQ(result.kind, MergeResult::Kind::kComputed);
  EXPECT_TRUE(result.value().empty());
}

TEST(MergeHelperTest, ErrorsNameTheRemedyAndHoldNoData) {
  MergeResult result;
  const Status missing = Merge(nullptr, &kBase, &result);
  EXPECT_TRUE(missing.IsInvalidArgument());
  EXPECT_NE(missing.ToString().find("merge_operator"), std::string::npos);

  const ScriptedOperator fails([](const auto&, auto* out) {
    return out->op_failure_scope = MergeOperator::OpFailureScope::kMustMerge, false;
  });
  MergeOperator::OpFailureScope scope = MergeOperator::OpFailureScope::kDefault;
  const Status failed = FullMerge({.merge_operator = &fails,
                                   .user_key = "key",
                                   .base = &kBase,
                                   .operands_newest_first = kOperands},
                                  &result, &scope);
  EXPECT_TRUE(failed.IsCorruption());
  EXPECT_EQ(failed.subcode(), Status::kMergeOperatorFailed);
  EXPECT_EQ(scope, MergeOperator::OpFailureScope::kMustMerge);
  EXPECT_NE(failed.ToString().find("test.Scripted"), std::string::npos);
  for (const char* data : {"base", "mid"})
    EXPECT_EQ(failed.ToString().find(data), std::string::npos);
}

TEST(MergeHelperTest, PartialMergeCombinesInWritingOrder) {
  const auto append = MergeOperators::CreateStringAppendOperator(',');
  std::string result;
  ASSERT_TRUE(PartialMerge({.merge_operator = append.get(),
                            .user_key = "key",
                            .base = nullptr,
                            .operands_newest_first = kOperands},
                           &result));
  EXPECT_EQ(result, "old,mid,new");
}

TEST(MergeHelperTest, PartialMergeIsOptional) {
  std::string result;
  const ScriptedOperator full_only([](const auto&, auto*) { return true; });
  EXPECT_FALSE(PartialMerge({.merge_operator = &full_only,
                             .user_key = "key",
                             .base = nullptr,
                             .operands_newest_first = kOperands},
                            &result));
  EXPECT_FALSE(PartialMerge({.merge_operator = nullptr,
                             .user_key = "key",
                             .base = nullptr,
                             .operands_newest_first = kOperands},
                            &result));
  const auto append = MergeOperators::CreateStringAppendOperator(',');
  const std::vector<Slice> one = {"one"};
  EXPECT_FALSE(PartialMerge({.merge_operator = append.get(),
                             .user_key = "key",
                             .base = nullptr,
                             .operands_newest_first = one},
                            &result));
}

}  // namespace
}  // namespace ashlar
