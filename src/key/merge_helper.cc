#include "key/merge_helper.h"

#include <algorithm>
#include <functional>

#include "base/format.h"
#include "key/unknown_merge_operator.h"
#include "observe/perf.h"

namespace ashlar {

namespace {

std::vector<Slice> OldestFirst(std::span<const Slice> newest_first) {
  return std::vector<Slice>(newest_first.rbegin(), newest_first.rend());
}

// Whether `part` is inside the bytes of `whole`.
bool Within(const Slice& part, const Slice& whole) {
  // This is a total order even for pointers into different objects.
  const std::less_equal<const char*> at_or_before;
  return at_or_before(whole.begin(), part.begin()) && at_or_before(part.end(), whole.end());
}

Status OperatorFailed(const MergeOperator& merge_operator) {
  return Status::Error(Status::kCorruption, Status::kMergeOperatorFailed, "Merge operator failed",
                       StrCat(merge_operator.Name(), " could not combine the operands of a key"));
}

bool CallOperator(const MergeInput& input, const MergeOperator::MergeOperationInput& merge_in,
                  MergeOperator::MergeOperationOutput* merge_out) {
  PerfCount(&PerfContext::internal_merge_count, input.operands_newest_first.size());
  const PerfTimer timer(&PerfContext::merge_operator_time_nanos);
  const bool timed = input.recorder.WantsDetailedTimes();
  const uint64_t start_nanos = timed ? MonotonicNanos() : 0;
  const bool merged = input.merge_operator->FullMergeV2(merge_in, merge_out);
  if (timed) input.recorder.Tick(MERGE_OPERATION_TOTAL_TIME, MonotonicNanos() - start_nanos);
  return merged;
}

// Finds the owner of the bytes that the operator returned.
void ResolveExisting(const MergeInput& input, const Slice& existing, MergeResult* result) {
  result->existing = existing;
  if (input.base != nullptr && Within(existing, *input.base)) {
    result->kind = MergeResult::Kind::kBase;
    return;
  }
  const auto operands = input.operands_newest_first;
  const auto found = std::find_if(operands.begin(), operands.end(),
                                  [&](const Slice& operand) { return Within(existing, operand); });
  if (found != operands.end()) {
    result->kind = MergeResult::Kind::kOperand;
    result->operand = static_cast<size_t>(found - operands.begin());
    return;
  }
  // The operator owns these bytes and their lifetime is unknown, so they are copied now.
  result->kind = MergeResult::Kind::kComputed;
  result->computed.assign(existing.data(), existing.size());
  result->existing = Slice();
}

}  // namespace

Status FullMerge(const MergeInput& input, MergeResult* result,
                 MergeOperator::OpFailureScope* scope) {
  if (input.merge_operator == nullptr) {
    return Status::InvalidArgument(
        "merge operands were found, but the column family has no merge operator: set "
        "ColumnFamilyOptions::merge_operator");
  }
  const std::vector<Slice> operands = OldestFirst(input.operands_newest_first);
  const MergeOperator::MergeOperationInput merge_in(input.user_key, input.base, operands,
                                                    input.logger);
  result->computed.clear();
  Slice existing(nullptr, 0);
  MergeOperator::MergeOperationOutput merge_out(result->computed, existing);
  if (!CallOperator(input, merge_in, &merge_out)) {
    if (scope != nullptr) *scope = merge_out.op_failure_scope;
    if (const UnknownMergeOperator* const unknown = AsUnknown(input.merge_operator))
      return unknown->Error();
    input.recorder.Tick(NUMBER_MERGE_FAILURES);
    return OperatorFailed(*input.merge_operator);
  }
  result->kind = MergeResult::Kind::kComputed;
  if (existing.data() != nullptr) ResolveExisting(input, existing, result);
  return Status::OK();
}

bool PartialMerge(const MergeInput& input, std::string* result) {
  const size_t count = input.operands_newest_first.size();
  if (input.merge_operator == nullptr || count == 0 ||
      (count == 1 && !input.merge_operator->AllowSingleOperand()))
    return false;
  const std::deque<Slice> operands(input.operands_newest_first.rbegin(),
                                   input.operands_newest_first.rend());
  result->clear();
  return input.merge_operator->PartialMergeMulti(input.user_key, operands, result, input.logger);
}

}  // namespace ashlar
