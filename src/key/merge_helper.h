// The only path that turns operands into a value. Lookups, iterators and compaction call it.
//
// Readers find operands newest first and pass them in this order. The merge operator gets them
// oldest first. Errors: InvalidArgument if there is no operator, NotSupported if it is unknown
// (unknown_merge_operator.h), Corruption with subcode kMergeOperatorFailed if it fails. Error texts
// have no key or value bytes. Thread safety: pure, as far as the operator is.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ashlar/merge_operator.h"
#include "ashlar/status.h"
#include "observe/recorder.h"

namespace ashlar {

struct MergeInput {
  const MergeOperator* merge_operator = nullptr;
  Slice user_key;
  const Slice* base = nullptr;  // the value below the operands; null: none, or a deletion
  std::span<const Slice> operands_newest_first;  // at least one
  Recorder recorder = {};                        // counts FullMerge's time and failures
  Logger* logger = nullptr;                      // for the operator; null: none
};

struct MergeResult {
  enum class Kind : uint8_t { kComputed, kBase, kOperand };
  Kind kind = Kind::kComputed;
  size_t operand = 0;    // kOperand: its index in operands_newest_first
  Slice existing;        // kBase, kOperand: the result, within the bytes of that value
  std::string computed;  // kComputed: the result

  Slice value() const { return kind == Kind::kComputed ? Slice(computed) : existing; }
};

// Merges the operands into the base. If the operator fails, *scope is set to the scope of the
// failure; `scope` may be null.
Status FullMerge(const MergeInput& input, MergeResult* result,
                 MergeOperator::OpFailureScope* scope);

// Combines the operands into one without the base, if the operator can; input.base is not used. A
// single operand is passed only to an operator whose AllowSingleOperand returns true.
bool PartialMerge(const MergeInput& input, std::string* result);

}  // namespace ashlar
