// Operators whose result is one of the operands: the last, or the largest. The result is never
// copied.
#include <algorithm>

#include "ashlar/merge_operator.h"

namespace ashlar {
namespace {

class PutOperator final : public MergeOperator {
 public:
  const char* Name() const override { return "PutOperator"; }

  bool FullMergeV2(const MergeOperationInput& merge_in,
                   MergeOperationOutput* merge_out) const override {
    merge_out->existing_operand = merge_in.operand_list.back();
    return true;
  }
  bool PartialMergeMulti(const Slice& /*key*/, const std::deque<Slice>& operand_list,
                         std::string* new_value, Logger* /*logger*/) const override {
    new_value->assign(operand_list.back().data(), operand_list.back().size());
    return true;
  }
  bool PartialMerge(const Slice& key, const Slice& left_operand, const Slice& right_operand,
                    std::string* new_value, Logger* logger) const override {
    return PartialMergeMulti(key, {left_operand, right_operand}, new_value, logger);
  }
  // Older values cannot matter.
  bool ShouldMerge(const std::vector<Slice>& operands) const override { return !operands.empty(); }
};

class MaxOperator final : public MergeOperator {
 public:
  const char* Name() const override { return "MaxOperator"; }

  bool FullMergeV2(const MergeOperationInput& merge_in,
                   MergeOperationOutput* merge_out) const override {
    const Slice largest =
        *std::max_element(merge_in.operand_list.begin(), merge_in.operand_list.end());
    const Slice* existing = merge_in.existing_value;
    merge_out->existing_operand =
        existing != nullptr && !(*existing < largest) ? *existing : largest;
    return true;
  }
  bool PartialMergeMulti(const Slice& /*key*/, const std::deque<Slice>& operand_list,
                         std::string* new_value, Logger* /*logger*/) const override {
    const Slice largest = *std::max_element(operand_list.begin(), operand_list.end());
    new_value->assign(largest.data(), largest.size());
    return true;
  }
  bool PartialMerge(const Slice& key, const Slice& left_operand, const Slice& right_operand,
                    std::string* new_value, Logger* logger) const override {
    return PartialMergeMulti(key, {left_operand, right_operand}, new_value, logger);
  }
};

}  // namespace

std::shared_ptr<MergeOperator> MergeOperators::CreatePutOperator() {
  return std::make_shared<PutOperator>();
}
std::shared_ptr<MergeOperator> MergeOperators::CreateMaxOperator() {
  return std::make_shared<MaxOperator>();
}

}  // namespace ashlar
