// UnknownMergeOperator: replaces a merge operator that the OPTIONS file names and the program has
// not set.
//
// I1: it never combines operands. Flushes and compactions keep them as they are, in the memtables
//     and in the tables.
//
// FullMerge (merge_helper.h) returns Error(), which is NotSupported. Writes of new operands are
// refused with the same status, but the replay of a log accepts them. Thread safety: immutable.
#pragma once

#include <string>
#include <utility>

#include "ashlar/merge_operator.h"
#include "ashlar/status.h"

namespace ashlar {

class UnknownMergeOperator final : public MergeOperator {
 public:
  // id: the text in the OPTIONS file; name: the name in it.
  UnknownMergeOperator(std::string name, std::string id)
      : name_(std::move(name)), id_(std::move(id)) {}

  const char* Name() const override { return name_.c_str(); }
  std::string GetId() const override { return id_; }
  bool FullMergeV2(const MergeOperationInput& /*merge_in*/,
                   MergeOperationOutput* merge_out) const override {
    merge_out->op_failure_scope = OpFailureScope::kMustMerge;
    return false;
  }

  Status Error() const {
    return Status::NotSupported(
        "the OPTIONS file names a merge operator that the program has not set in "
        "ColumnFamilyOptions::merge_operator",
        name_);
  }

 private:
  const std::string name_;
  const std::string id_;
};

// Returns null if it is another operator, or none.
inline const UnknownMergeOperator* AsUnknown(const MergeOperator* merge_operator) {
  return dynamic_cast<const UnknownMergeOperator*>(merge_operator);
}

}  // namespace ashlar
