// Internal keys: a user key with the sequence number and the type of the change that wrote it.
//
//   internal key = user_key || fixed64 tag        tag = sequence << 8 | type        sequence < 2^56
//
// Order: user key ascending, then tag descending, so that the newest version of a key comes first.
// The encoding is RocksDB's and is stored as it is.
#pragma once

#include <cstdint>
#include <string>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/types.h"
#include "base/assert.h"
#include "base/coding.h"
#include "key/record_kind.h"

namespace ashlar {

inline constexpr SequenceNumber kSequenceNumberMax = (uint64_t{1} << 56) - 1;
// The last sequence that a database may have when it is opened. The 2^48 sequences above it are for
// the writes before the next open.
inline constexpr SequenceNumber kSequenceNumberMaxAtOpen = kSequenceNumberMax - (uint64_t{1} << 48);
// The last sequence that a table of another database may bring to an open one. Another 2^48 are
// left for the writes before the next open, which accepts them.
inline constexpr SequenceNumber kSequenceNumberMaxOfOthers =
    kSequenceNumberMaxAtOpen - (uint64_t{1} << 48);
inline constexpr size_t kTagBytes = 8;
// The limit for a user key and its value together. A block to which one more entry is added then
// stays within 1 GiB, the limit of table readers (block_format.h).
inline constexpr size_t kEntryBytesMax = size_t{1} << 29;
inline constexpr bool EntryFits(size_t user_key_bytes, size_t value_bytes,
                                size_t entry_bytes_max = kEntryBytesMax) {
  return user_key_bytes <= entry_bytes_max && value_bytes <= entry_bytes_max - user_key_bytes;
}

inline constexpr uint64_t PackTag(SequenceNumber sequence, ValueType type) {
  return (sequence << 8) | static_cast<uint8_t>(type);
}
inline constexpr SequenceNumber TagSequence(uint64_t tag) { return tag >> 8; }
inline constexpr ValueType TagType(uint64_t tag) { return static_cast<ValueType>(tag & 0xff); }
// The tag that seeks to the newest version visible at `sequence`.
inline constexpr uint64_t SeekTag(SequenceNumber sequence) {
  return PackTag(sequence, ValueType::kMax);
}

// All three require internal_key.size() >= kTagBytes. Readers of files check this.
inline Slice ExtractUserKey(const Slice& internal_key) {
  return Slice(internal_key.data(), internal_key.size() - kTagBytes);
}
inline uint64_t ExtractTag(const Slice& internal_key) {
  return DecodeFixed64(internal_key.data() + internal_key.size() - kTagBytes);
}
inline ValueType ExtractType(const Slice& internal_key) {
  return TagType(ExtractTag(internal_key));
}

// The order of the versions of a key, newest first: < 0, 0, > 0.
inline constexpr int CompareTags(uint64_t a, uint64_t b) { return a > b ? -1 : (a < b ? 1 : 0); }

inline void AppendInternalKey(std::string* out, const Slice& user_key, uint64_t tag) {
  out->append(user_key.data(), user_key.size());
  PutFixed64(out, tag);
}
inline std::string MakeInternalKey(const Slice& user_key, SequenceNumber sequence, ValueType type) {
  std::string key;
  key.reserve(user_key.size() + kTagBytes);
  AppendInternalKey(&key, user_key, PackTag(sequence, type));
  return key;
}

// Returns NotSupported with the type's name, for entries that IsPointType refuses.
Status UnsupportedTypeError(ValueType type);

}  // namespace ashlar
