// The table of record kinds: number, form with a column family, role for the key, fields in a write
// batch, name. A new kind is one row here. Readers check roles (IsValue, IsRange, RoleOf, ...)
// instead of numbers, except for single deletions and on fast paths (IsPlainValue). A new role is
// one case in each of the three places that turn a role into a result: Lookup::OfferRare,
// UserIterator (ResolveAtCursor and its neighbours) and CompactionIterator::Decide.
//
// The numbers are RocksDB's and are stored on disk. Kinds that Ashlar does not implement have rows
// so that they are refused by name.
//
// I1: each number has at most one row, and each row's numbers are below kRecordTypes.
// Thread safety: constants.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace ashlar {

enum class ValueType : uint8_t {
  kDeletion = 0x0,
  kValue = 0x1,
  kMerge = 0x2,
  kLogData = 0x3,
  kColumnFamilyDeletion = 0x4,
  kColumnFamilyValue = 0x5,
  kColumnFamilyMerge = 0x6,
  kSingleDeletion = 0x7,
  kColumnFamilySingleDeletion = 0x8,
  kBeginPrepare = 0x9,
  kEndPrepare = 0xA,
  kCommit = 0xB,
  kRollback = 0xC,
  kNoop = 0xD,
  kColumnFamilyRangeDeletion = 0xE,
  kRangeDeletion = 0xF,
  kColumnFamilyBlobIndex = 0x10,
  kBlobIndex = 0x11,
  kBeginPersistedPrepare = 0x12,
  kBeginUnprepare = 0x13,
  kDeletionWithTimestamp = 0x14,
  kCommitWithTimestamp = 0x15,
  kWideColumnEntity = 0x16,
  kColumnFamilyWideColumnEntity = 0x17,
  // Never stored. As the type of a sought key it sorts before every stored type of the same
  // sequence.
  kMax = 0x7F,
};

// The effect of a stored entry on its key.
enum class RecordRole : uint8_t {
  kNone,       // no entry: a record of batches and logs that changes no key
  kRefused,    // not implemented: a batch with it is not written, an entry of it is not read
  kValue,      // the key's value; hides older versions
  kTombstone,  // the key is deleted; hides older versions
  kOperand,    // is merged with older versions
  kRange,      // deletes a range of keys; never among the entries of keys
};

// The fields of a record in a write batch, after its type and column family.
enum class RecordFields : uint8_t { kNotInBatches, kNone, kKey, kValue, kKeyAndValue };

struct RecordKind {
  ValueType type = ValueType::kNoop;         // without a column family
  ValueType family_type = ValueType::kNoop;  // with one; equal to `type`: there is no such form
  RecordRole role = RecordRole::kRefused;
  RecordFields fields = RecordFields::kNotInBatches;
  bool counted = false;  // takes a sequence number
  const char* name = "unknown";
};

inline constexpr size_t kRecordTypes = 0x20;

inline constexpr RecordKind kRecordKinds[] = {
    {ValueType::kValue, ValueType::kColumnFamilyValue, RecordRole::kValue,
     RecordFields::kKeyAndValue, true, "Put"},
    {ValueType::kDeletion, ValueType::kColumnFamilyDeletion, RecordRole::kTombstone,
     RecordFields::kKey, true, "Delete"},
    {ValueType::kSingleDeletion, ValueType::kColumnFamilySingleDeletion, RecordRole::kTombstone,
     RecordFields::kKey, true, "SingleDelete"},
    {ValueType::kMerge, ValueType::kColumnFamilyMerge, RecordRole::kOperand,
     RecordFields::kKeyAndValue, true, "Merge"},
    {ValueType::kRangeDeletion, ValueType::kColumnFamilyRangeDeletion, RecordRole::kRange,
     RecordFields::kKeyAndValue, true, "DeleteRange"},
    {ValueType::kBlobIndex, ValueType::kColumnFamilyBlobIndex, RecordRole::kRefused,
     RecordFields::kKeyAndValue, true, "BlobIndex"},
    {ValueType::kWideColumnEntity, ValueType::kColumnFamilyWideColumnEntity, RecordRole::kRefused,
     RecordFields::kKeyAndValue, true, "PutEntity"},
    {ValueType::kDeletionWithTimestamp, ValueType::kDeletionWithTimestamp, RecordRole::kRefused,
     RecordFields::kNotInBatches, true, "DeleteWithTimestamp"},
    {ValueType::kLogData, ValueType::kLogData, RecordRole::kNone, RecordFields::kValue, false,
     "LogData"},
    {ValueType::kNoop, ValueType::kNoop, RecordRole::kNone, RecordFields::kNone, false, "Noop"},
    {ValueType::kBeginPrepare, ValueType::kBeginPrepare, RecordRole::kRefused, RecordFields::kNone,
     false, "BeginPrepare"},
    {ValueType::kBeginPersistedPrepare, ValueType::kBeginPersistedPrepare, RecordRole::kRefused,
     RecordFields::kNone, false, "BeginPersistedPrepare"},
    {ValueType::kBeginUnprepare, ValueType::kBeginUnprepare, RecordRole::kRefused,
     RecordFields::kNone, false, "BeginUnprepare"},
    {ValueType::kEndPrepare, ValueType::kEndPrepare, RecordRole::kRefused, RecordFields::kValue,
     false, "EndPrepare"},
    {ValueType::kCommit, ValueType::kCommit, RecordRole::kRefused, RecordFields::kValue, false,
     "Commit"},
    {ValueType::kCommitWithTimestamp, ValueType::kCommitWithTimestamp, RecordRole::kRefused,
     RecordFields::kKeyAndValue, false, "CommitWithTimestamp"},
    {ValueType::kRollback, ValueType::kRollback, RecordRole::kRefused, RecordFields::kValue, false,
     "Rollback"},
};

// The bit of a type in a set of types.
inline constexpr uint32_t RecordTypeBit(ValueType type) {
  return uint32_t{1} << static_cast<uint8_t>(type);
}

// The rows by number. Both forms of a kind have its row.
inline constexpr std::array<const RecordKind*, kRecordTypes> kRecordKindByType = [] {
  std::array<const RecordKind*, kRecordTypes> kinds{};
  for (const RecordKind& kind : kRecordKinds) {
    kinds[static_cast<uint8_t>(kind.type)] = &kind;
    kinds[static_cast<uint8_t>(kind.family_type)] = &kind;
  }
  return kinds;
}();
// Returns null if no kind has this number.
inline constexpr const RecordKind* FindRecordKind(ValueType type) {
  const auto number = static_cast<uint8_t>(type);
  return number < kRecordTypes ? kRecordKindByType[number] : nullptr;
}

// The set of the types with one of the roles, without the forms for column families.
inline constexpr uint32_t RecordTypesOf(std::initializer_list<RecordRole> roles) {
  uint32_t types = 0;
  for (const RecordKind& kind : kRecordKinds) {
    for (const RecordRole role : roles) {
      if (kind.role == role) types |= RecordTypeBit(kind.type);
    }
  }
  return types;
}
template <uint32_t kTypes>
inline constexpr bool IsTypeIn(ValueType type) {
  const auto number = static_cast<uint8_t>(type);
  // If the set has one type, one comparison of numbers is enough.
  if constexpr (std::has_single_bit(kTypes)) return number == std::countr_zero(kTypes);
  return number < kRecordTypes && (kTypes >> number & 1) != 0;
}

// Whether memtables and tables store entries of this type and Ashlar implements it.
inline constexpr bool IsPointType(ValueType type) {
  return IsTypeIn<RecordTypesOf(
      {RecordRole::kValue, RecordRole::kTombstone, RecordRole::kOperand})>(type);
}
inline constexpr bool IsValue(ValueType type) {
  return IsTypeIn<RecordTypesOf({RecordRole::kValue})>(type);
}
inline constexpr bool IsTombstone(ValueType type) {
  return IsTypeIn<RecordTypesOf({RecordRole::kTombstone})>(type);
}
inline constexpr bool IsOperand(ValueType type) {
  return IsTypeIn<RecordTypesOf({RecordRole::kOperand})>(type);
}
inline constexpr bool IsRange(ValueType type) {
  return IsTypeIn<RecordTypesOf({RecordRole::kRange})>(type);
}
// A value whose stored bytes are the value. Fast paths take only these. A kind that stores a
// reference to bytes elsewhere is resolved in Lookup::TakeValue, UserIterator::ValueAtCursor and
// CompactionIterator::ValueAhead.
inline constexpr bool IsPlainValue(ValueType type) { return type == ValueType::kValue; }
// The role of a stored entry; kRefused for a number without a kind.
inline constexpr RecordRole RoleOf(ValueType type) {
  const RecordKind* kind = FindRecordKind(type);
  return kind == nullptr || kind->type != type || !kind->counted ? RecordRole::kRefused
                                                                 : kind->role;
}
// "Put", "Delete", ... for error texts; "unknown" for a number without a kind.
inline constexpr const char* ValueTypeName(ValueType type) {
  const RecordKind* kind = FindRecordKind(type);
  return kind == nullptr ? "unknown" : kind->name;
}

static_assert([] {  // I1
  uint32_t seen = 0;
  for (const RecordKind& kind : kRecordKinds) {
    const uint32_t types = RecordTypeBit(kind.type) | RecordTypeBit(kind.family_type);
    if ((seen & types) != 0 || static_cast<uint8_t>(kind.family_type) >= kRecordTypes) return false;
    seen |= types;
  }
  return true;
}());

}  // namespace ashlar
