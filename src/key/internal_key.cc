#include "key/internal_key.h"

namespace ashlar {

const char* ValueTypeName(ValueType type) {
  switch (type) {
    case ValueType::kDeletion:
    case ValueType::kColumnFamilyDeletion: return "Delete";
    case ValueType::kValue:
    case ValueType::kColumnFamilyValue: return "Put";
    case ValueType::kMerge:
    case ValueType::kColumnFamilyMerge: return "Merge";
    case ValueType::kLogData: return "LogData";
    case ValueType::kSingleDeletion:
    case ValueType::kColumnFamilySingleDeletion: return "SingleDelete";
    case ValueType::kBeginPrepare: return "BeginPrepare";
    case ValueType::kEndPrepare: return "EndPrepare";
    case ValueType::kCommit: return "Commit";
    case ValueType::kRollback: return "Rollback";
    case ValueType::kNoop: return "Noop";
    case ValueType::kColumnFamilyRangeDeletion:
    case ValueType::kRangeDeletion: return "DeleteRange";
    case ValueType::kColumnFamilyBlobIndex:
    case ValueType::kBlobIndex: return "BlobIndex";
    case ValueType::kDeletionWithTimestamp: return "DeleteWithTimestamp";
    case ValueType::kWideColumnEntity:
    case ValueType::kColumnFamilyWideColumnEntity: return "PutEntity";
    case ValueType::kMax: break;
  }
  return "unknown";
}

Status UnsupportedTypeError(ValueType type) {
  static constexpr char kDigits[] = "0123456789abcdef";
  const auto number = static_cast<uint8_t>(type);
  const char hex[] = {'0', 'x', kDigits[number >> 4], kDigits[number & 0xf], '\0'};
  return Status::NotSupported(std::string("an entry of type ") + hex + " (" + ValueTypeName(type) +
                              ") was found; this version of Ashlar does not read it");
}

}  // namespace ashlar
