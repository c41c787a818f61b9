// The default implementations of the methods of ashlar/compaction_filter.h.
#include "ashlar/compaction_filter.h"

namespace ashlar {

bool CompactionFilter::Filter(int /*level*/, const Slice& /*key*/, const Slice& /*existing_value*/,
                              std::string* /*new_value*/, bool* /*value_changed*/) const {
  return false;
}

bool CompactionFilter::FilterMergeOperand(int /*level*/, const Slice& /*key*/,
                                          const Slice& /*operand*/) const {
  return false;
}

CompactionFilter::Decision CompactionFilter::FilterV2(int level, const Slice& key,
                                                      ValueType value_type,
                                                      const Slice& existing_value,
                                                      std::string* new_value,
                                                      std::string* /*skip_until*/) const {
  switch (value_type) {
    case kValue: {
      bool changed = false;
      if (Filter(level, key, existing_value, new_value, &changed)) return Decision::kRemove;
      return changed ? Decision::kChangeValue : Decision::kKeep;
    }
    case kMergeOperand:
      return FilterMergeOperand(level, key, existing_value) ? Decision::kRemove : Decision::kKeep;
    case kBlobIndex:
    case kWideColumnEntity: break;
  }
  return Decision::kKeep;
}

CompactionFilter::Decision CompactionFilter::FilterV3(
    int level, const Slice& key, ValueType value_type, const Slice* existing_value,
    const WideColumns* existing_columns, std::string* new_value,
    std::vector<std::pair<std::string, std::string>>* /*new_columns*/,
    std::string* skip_until) const {
  if (existing_columns != nullptr || existing_value == nullptr) return Decision::kKeep;
  return FilterV2(level, key, value_type, *existing_value, new_value, skip_until);
}

CompactionFilter::Decision CompactionFilter::FilterBlobByKey(int /*level*/, const Slice& /*key*/,
                                                             std::string* /*new_value*/,
                                                             std::string* /*skip_until*/) const {
  return Decision::kUndetermined;
}

}  // namespace ashlar
