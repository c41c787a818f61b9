#include "key/lookup.h"

#include "base/result.h"
#include "key/key_comparator.h"
#include "key/merge_helper.h"

namespace ashlar {

uint64_t Lookup::filter_hash() {
  if (!filter_hash_) filter_hash_ = FilterHash(args_.user_key);
  return *filter_hash_;
}

// Takes every version except a value that ends the search. Decides by the role of the record.
bool Lookup::OfferRare(ValueType type, const Slice& value, const PinSource& owner) {
  switch (RoleOf(type)) {
    case RecordRole::kValue:
      has_base_ = true;
      TakeValue(value, owner);
      return false;
    case RecordRole::kTombstone:
      state_ = state_ == State::kMerging ? State::kFound : State::kDeleted;
      return false;
    case RecordRole::kOperand: return OfferOperand(value, owner);
    case RecordRole::kNone:
    case RecordRole::kRange:
    case RecordRole::kRefused: break;
  }
  Fail(UnsupportedTypeError(type));
  return false;
}

bool Lookup::OfferOperand(const Slice& value, const PinSource& owner) {
  state_ = State::kMerging;
  operands_.push_back(value);
  operand_pins_.push_back(owner.Acquire());
  if (args_.merge_operator == nullptr || !args_.merge_operator->ShouldMerge(operands_)) return true;
  state_ = State::kFound;
  return false;
}

Status Lookup::Finish(const Recorder& recorder, Logger* logger, PinnableSlice* value) {
  switch (state_) {
    case State::kSearching:
    case State::kDeleted: return Status::NotFound();
    case State::kFailed: return status_;
    case State::kMerging:
    case State::kFound: break;
  }
  if (!operands_.empty()) return FinishMerge(recorder, logger, value);
  pin_.MoveTo(value, value_);
  return Status::OK();
}

Status Lookup::FinishOperands(std::span<PinnableSlice> results, size_t* count) {
  *count = 0;
  switch (state_) {
    case State::kSearching:
    case State::kDeleted: return Status::NotFound();
    case State::kFailed: return status_;
    case State::kMerging:
    case State::kFound: break;
  }
  const bool has_value = has_base_ || operands_.empty();
  *count = operands_.size() + (has_value ? 1 : 0);
  if (*count > results.size()) return Status::OK();
  size_t next = 0;
  if (has_value) pin_.MoveTo(&results[next++], value_);
  for (size_t i = operands_.size(); i-- > 0; ++next)
    operand_pins_[i].MoveTo(&results[next], operands_[i]);
  return Status::OK();
}

Status Lookup::FinishMerge(const Recorder& recorder, Logger* logger, PinnableSlice* value) {
  const MergeInput input{
      .merge_operator = args_.merge_operator,
      .user_key = args_.user_key,
      .base = has_base_ ? &value_ : nullptr,
      .operands_newest_first = operands_,
      .recorder = recorder,
      .logger = logger,
  };
  recorder.Record(READ_NUM_MERGE_OPERANDS, operands_.size());
  MergeResult result;
  ASHLAR_RETURN_IF_ERROR(FullMerge(input, &result, nullptr));
  switch (result.kind) {
    case MergeResult::Kind::kComputed:
      *value->GetSelf() = std::move(result.computed);
      value->PinSelf();
      break;
    case MergeResult::Kind::kBase: pin_.MoveTo(value, result.existing); break;
    case MergeResult::Kind::kOperand:
      operand_pins_[result.operand].MoveTo(value, result.existing);
      break;
  }
  return Status::OK();
}

}  // namespace ashlar
