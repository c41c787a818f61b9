#include "ttl/ttl_merge_operator.h"

#include <algorithm>

#include "base/format.h"
#include "ttl/ttl_value.h"

namespace ashlar {

namespace {

// Returns false if a value does not end in a write time.
template <typename Slices>
bool RemoveSuffixes(Slices* values) {
  for (Slice& value : *values) {
    if (!HasTtlSuffix(value)) return false;
    value = WithoutTtlSuffix(value);
  }
  return true;
}

}  // namespace

bool TtlMergeOperator::FullMergeV2(const MergeOperationInput& merge_in,
                                   MergeOperationOutput* merge_out) const {
  std::vector<Slice> operands = merge_in.operand_list;
  Slice base;
  if (merge_in.existing_value != nullptr) {
    if (!HasTtlSuffix(*merge_in.existing_value)) return false;
    base = WithoutTtlSuffix(*merge_in.existing_value);
  }
  if (!RemoveSuffixes(&operands)) return false;
  MergeOperationOutput merged(merge_out->new_value, merge_out->existing_operand);
  const bool ok = user_->FullMergeV2(
      MergeOperationInput(merge_in.key, merge_in.existing_value != nullptr ? &base : nullptr,
                          operands, merge_in.logger),
      &merged);
  merge_out->op_failure_scope = merged.op_failure_scope;
  if (!ok) return false;
  if (merge_out->existing_operand.data() != nullptr) {
    merge_out->new_value = merge_out->existing_operand.ToString();
    merge_out->existing_operand = Slice(nullptr, 0);
  }
  AppendTtlSuffix(TtlNow(env_), &merge_out->new_value);
  return true;
}

bool TtlMergeOperator::PartialMergeMulti(const Slice& key, const std::deque<Slice>& operand_list,
                                         std::string* new_value, Logger* logger) const {
  std::deque<Slice> operands = operand_list;
  if (!RemoveSuffixes(&operands) || !user_->PartialMergeMulti(key, operands, new_value, logger))
    return false;
  AppendTtlSuffix(TtlNow(env_), new_value);
  return true;
}

bool TtlMergeOperator::ShouldMerge(const std::vector<Slice>& operands) const {
  std::vector<Slice> without = operands;
  return RemoveSuffixes(&without) && user_->ShouldMerge(without);
}

std::string TtlMergeOperator::GetId() const {
  return StrCat("{id=", Name(), ";user_operator=", user_->GetId(), ";}");
}

}  // namespace ashlar
