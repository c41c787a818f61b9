// The parts of MergeOperator that hold for every operator: default forms that call other forms.
#include "ashlar/merge_operator.h"

namespace ashlar {

bool MergeOperator::FullMergeV2(const MergeOperationInput& merge_in,
                                MergeOperationOutput* merge_out) const {
  std::deque<std::string> operands;
  for (const Slice& operand : merge_in.operand_list)
    operands.emplace_back(operand.data(), operand.size());
  return FullMerge(merge_in.key, merge_in.existing_value, operands, &merge_out->new_value,
                   merge_in.logger);
}

bool MergeOperator::FullMerge(const Slice& /*key*/, const Slice* /*existing_value*/,
                              const std::deque<std::string>& /*operand_list*/,
                              std::string* /*new_value*/, Logger* /*logger*/) const {
  return false;
}

bool MergeOperator::PartialMerge(const Slice& /*key*/, const Slice& /*left_operand*/,
                                 const Slice& /*right_operand*/, std::string* /*new_value*/,
                                 Logger* /*logger*/) const {
  return false;
}

bool MergeOperator::PartialMergeMulti(const Slice& key, const std::deque<Slice>& operand_list,
                                      std::string* new_value, Logger* logger) const {
  if (operand_list.size() < 2) return false;
  std::string folded;
  Slice left = operand_list[0];
  for (size_t i = 1; i < operand_list.size(); ++i) {
    new_value->clear();
    if (!PartialMerge(key, left, operand_list[i], new_value, logger)) return false;
    // `left` may point into `folded`, but is no longer used.
    std::swap(folded, *new_value);
    left = Slice(folded);
  }
  *new_value = std::move(folded);
  return true;
}

bool MergeOperator::ShouldMerge(const std::vector<Slice>& /*operands*/) const { return false; }

bool AssociativeMergeOperator::FullMergeV2(const MergeOperationInput& merge_in,
                                           MergeOperationOutput* merge_out) const {
  std::string folded;
  Slice left;
  const Slice* existing = merge_in.existing_value;
  for (const Slice& operand : merge_in.operand_list) {
    merge_out->new_value.clear();
    if (!Merge(merge_in.key, existing, operand, &merge_out->new_value, merge_in.logger))
      return false;
    std::swap(folded, merge_out->new_value);
    left = Slice(folded);
    existing = &left;
  }
  merge_out->new_value = std::move(folded);
  return true;
}

bool AssociativeMergeOperator::PartialMerge(const Slice& key, const Slice& left_operand,
                                            const Slice& right_operand, std::string* new_value,
                                            Logger* logger) const {
  return Merge(key, &left_operand, right_operand, new_value, logger);
}

}  // namespace ashlar
