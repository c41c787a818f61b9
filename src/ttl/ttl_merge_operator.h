// TtlMergeOperator: the merge operator of a DBWithTTL. It merges with the program's operator, which
// sees values without their write times. The result gets the time of the merge.
//
// A value not ending in a write time fails the merge. Thread safety: as the program's operator.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/env.h"
#include "ashlar/merge_operator.h"

namespace ashlar {

class TtlMergeOperator final : public MergeOperator {
 public:
  TtlMergeOperator(Env* env, std::shared_ptr<MergeOperator> user)
      : env_(env), user_(std::move(user)) {}

  bool FullMergeV2(const MergeOperationInput& merge_in,
                   MergeOperationOutput* merge_out) const override;
  bool PartialMergeMulti(const Slice& key, const std::deque<Slice>& operand_list,
                         std::string* new_value, Logger* logger) const override;
  // Otherwise each compaction would renew the time of a single operand.
  bool AllowSingleOperand() const override { return false; }
  bool ShouldMerge(const std::vector<Slice>& operands) const override;

  // RocksDB's name, which is in tables.
  const char* Name() const override { return "TtlMergeOperator"; }
  std::string GetId() const override;

  // The merge operator of the program.
  const std::shared_ptr<MergeOperator>& user() const { return user_; }

 private:
  Env* const env_;
  const std::shared_ptr<MergeOperator> user_;
};

}  // namespace ashlar
