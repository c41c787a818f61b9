// Adds little-endian 64-bit numbers, modulo 2^64.
#include "ashlar/env.h"
#include "ashlar/merge_operator.h"
#include "base/coding.h"
#include "base/format.h"

namespace ashlar {
namespace {

uint64_t DecodeNumber(const Slice& bytes, Logger* logger) {
  if (bytes.size() == sizeof(uint64_t)) return DecodeFixed64(bytes.data());
  if (logger != nullptr && logger->GetInfoLogLevel() <= ERROR_LEVEL)
    logger->Log(ERROR_LEVEL, StrCat("merge uint64add: an operand of ", bytes.size(),
                                    " bytes instead of 8 counts as 0"));
  return 0;
}

class UInt64AddOperator final : public AssociativeMergeOperator {
 public:
  const char* Name() const override { return "UInt64AddOperator"; }

  bool Merge(const Slice& /*key*/, const Slice* existing_value, const Slice& value,
             std::string* new_value, Logger* logger) const override {
    const uint64_t base = existing_value == nullptr ? 0 : DecodeNumber(*existing_value, logger);
    PutFixed64(new_value, base + DecodeNumber(value, logger));
    return true;
  }
};

}  // namespace

std::shared_ptr<MergeOperator> MergeOperators::CreateUInt64AddOperator() {
  return std::make_shared<UInt64AddOperator>();
}

}  // namespace ashlar
