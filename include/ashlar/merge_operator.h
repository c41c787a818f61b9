// MergeOperator: combines the operand of Merge(key, operand) with the existing value.
//
// The engine stores operands as they are and combines them later, when the key is read, flushed or
// compacted. It combines them in the order in which they were written. The result must depend on
// the operands alone, not on when they are combined. Thread safety: every method may be called by
// several threads at once. Failure: if a method returns false, the read or compaction reports
// Corruption (subcode kMergeOperatorFailed); no operand is lost. Must not throw.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"

namespace ashlar {

class Logger;

class ASHLAR_API MergeOperator : public Customizable {
 public:
  static const char* Type() { return "MergeOperator"; }

  // Written into the OPTIONS file and the tables; the same operator has the same name in every
  // process.
  const char* Name() const override = 0;

  struct MergeOperationInput {
    explicit MergeOperationInput(const Slice& key_in, const Slice* existing_value_in,
                                 const std::vector<Slice>& operand_list_in, Logger* logger_in)
        : key(key_in),
          existing_value(existing_value_in),
          operand_list(operand_list_in),
          logger(logger_in) {}

    const Slice& key;
    const Slice* existing_value;             // null: the key did not exist, or was deleted
    const std::vector<Slice>& operand_list;  // oldest first, never empty
    Logger* logger;                          // the database's LOG or info_log; may be null
  };

  enum class OpFailureScope {
    kDefault,    // the same as kTryMerge
    kTryMerge,   // a flush or compaction fails too
    kMustMerge,  // only reads of this key fail; a compaction keeps the operands
  };

  struct MergeOperationOutput {
    explicit MergeOperationOutput(std::string& new_value_in, Slice& existing_operand_in)
        : new_value(new_value_in), existing_operand(existing_operand_in) {}

    // Receives the result. Empty at the call; its memory may be reused from an earlier call.
    std::string& new_value;
    // If the result is an operand or the existing value, set this to it instead and leave new_value
    // unchanged, which saves a copy. data() is null at the call.
    Slice& existing_operand;
    // Read when the method returns false.
    OpFailureScope op_failure_scope = OpFailureScope::kDefault;
  };

  // Combines the existing value with all operands. The default calls FullMerge.
  virtual bool FullMergeV2(const MergeOperationInput& merge_in,
                           MergeOperationOutput* merge_out) const;

  // The older form of FullMergeV2; implement one of the two. The default fails.
  virtual bool FullMerge(const Slice& key, const Slice* existing_value,
                         const std::deque<std::string>& operand_list, std::string* new_value,
                         Logger* logger) const;

  // Combines two adjacent operands into one with the effect of both, if that is possible without
  // knowing the value below them. Returning false is not an error.
  virtual bool PartialMerge(const Slice& key, const Slice& left_operand, const Slice& right_operand,
                            std::string* new_value, Logger* logger) const;

  // The same for two or more operands, oldest first. The default folds them with PartialMerge.
  virtual bool PartialMergeMulti(const Slice& key, const std::deque<Slice>& operand_list,
                                 std::string* new_value, Logger* logger) const;

  // If true, compactions also pass single operands to PartialMergeMulti, which may rewrite them.
  virtual bool AllowSingleOperand() const { return false; }

  // Called by a read after each operand, newest first. True stops the search, and the operands
  // found so far are merged without a base value. It must return quickly, because the database
  // frees no retired memory while it runs. The other functions may be slow.
  virtual bool ShouldMerge(const std::vector<Slice>& operands) const;

  // Text that the OPTIONS file stores and CreateFromStringId parses, such as
  // "{id=StringAppendOperator;delimiter=,;}". The default is Name().
  std::string GetId() const override { return Name(); }
};

// A merge operator whose operands are values. One associative function combines a value and an
// operand, or two operands.
class ASHLAR_API AssociativeMergeOperator : public MergeOperator {
 public:
  // Sets *new_value, which is empty at the call, to existing_value (null: there is none) combined
  // with value. Returns false if they cannot be combined.
  virtual bool Merge(const Slice& key, const Slice* existing_value, const Slice& value,
                     std::string* new_value, Logger* logger) const = 0;

  bool FullMergeV2(const MergeOperationInput& merge_in,
                   MergeOperationOutput* merge_out) const override;
  bool PartialMerge(const Slice& key, const Slice& left_operand, const Slice& right_operand,
                    std::string* new_value, Logger* logger) const override;
};

// The operators that the library provides. RocksDB's tools support all of them by the same names.
class ASHLAR_API MergeOperators {
 public:
  // Values and operands are little-endian 64-bit numbers; the sum wraps. Anything that is not 8
  // bytes long counts as 0.
  static std::shared_ptr<MergeOperator> CreateUInt64AddOperator();
  // Appends operands after the delimiter: "a" and "b" become "a,b".
  static std::shared_ptr<MergeOperator> CreateStringAppendOperator();
  static std::shared_ptr<MergeOperator> CreateStringAppendOperator(char delimiter);
  static std::shared_ptr<MergeOperator> CreateStringAppendOperator(const std::string& delimiter);
  // Put: the last operand wins. Max: the bytewise largest of the value and the operands wins.
  static std::shared_ptr<MergeOperator> CreatePutOperator();
  static std::shared_ptr<MergeOperator> CreateMaxOperator();

  // Creates an operator from its GetId or its short name: "uint64add", "stringappend", "put",
  // "max". NotSupported names an unknown id.
  static Status CreateFromStringId(const std::string& id, std::shared_ptr<MergeOperator>* result);
};

}  // namespace ashlar
