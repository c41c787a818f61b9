// Joins operands with a delimiter: existing "a", operands "b", "c" -> "a,b,c".
//
// An absent value and an empty one differ: nothing + "b" is "b", "" + "b" is ",b".
#include "ashlar/merge_operator.h"
#include "base/format.h"

namespace ashlar {
namespace {

class StringAppendOperator final : public MergeOperator {
 public:
  explicit StringAppendOperator(std::string delimiter) : delimiter_(std::move(delimiter)) {}

  const char* Name() const override { return "StringAppendOperator"; }

  std::string GetId() const override {
    // Braces protect a delimiter that would otherwise end the value, or be trimmed at its ends.
    const bool plain = delimiter_.find_first_of(";{}= \t\n\r\v\f") == std::string::npos;
    return plain ? StrCat("{id=", Name(), ";delimiter=", delimiter_, ";}")
                 : StrCat("{id=", Name(), ";delimiter={", delimiter_, "};}");
  }

  bool FullMergeV2(const MergeOperationInput& merge_in,
                   MergeOperationOutput* merge_out) const override {
    if (merge_in.existing_value == nullptr && merge_in.operand_list.size() == 1) {
      merge_out->existing_operand = merge_in.operand_list.front();
      return true;
    }
    Join(merge_in.existing_value, merge_in.operand_list, &merge_out->new_value);
    return true;
  }

  bool PartialMergeMulti(const Slice& /*key*/, const std::deque<Slice>& operand_list,
                         std::string* new_value, Logger* /*logger*/) const override {
    Join(nullptr, operand_list, new_value);
    return true;
  }

  bool PartialMerge(const Slice& key, const Slice& left_operand, const Slice& right_operand,
                    std::string* new_value, Logger* logger) const override {
    return PartialMergeMulti(key, {left_operand, right_operand}, new_value, logger);
  }

 private:
  template <typename Operands>
  void Join(const Slice* first, const Operands& operands, std::string* out) const {
    size_t bytes = first == nullptr ? 0 : first->size() + delimiter_.size();
    for (const Slice& operand : operands) bytes += operand.size() + delimiter_.size();
    out->clear();
    out->reserve(bytes);
    bool empty = first == nullptr;
    if (!empty) out->append(first->data(), first->size());
    for (const Slice& operand : operands) {
      if (!empty) out->append(delimiter_);
      empty = false;
      out->append(operand.data(), operand.size());
    }
  }

  const std::string delimiter_;
};

}  // namespace

std::shared_ptr<MergeOperator> MergeOperators::CreateStringAppendOperator() {
  return CreateStringAppendOperator(',');
}
std::shared_ptr<MergeOperator> MergeOperators::CreateStringAppendOperator(char delimiter) {
  return CreateStringAppendOperator(std::string(1, delimiter));
}
std::shared_ptr<MergeOperator> MergeOperators::CreateStringAppendOperator(
    const std::string& delimiter) {
  return std::make_shared<StringAppendOperator>(delimiter);
}

}  // namespace ashlar
