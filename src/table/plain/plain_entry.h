// Reads an entry of a PlainTable, checked against the bounds of the data.
//
//   entry    key | varint32 value bytes | value
//
//   kPlain   [varint32 user key bytes, unless all keys have one length] | user key | tag
//   kPrefix  00 size | user key | tag            a full key: the first of its prefix, and every
//                                                sparseness-th after it
//            01 size | 10 size | rest | tag      the first entry after a full key: shares the first
//                                                `size` bytes with it
//            10 size | rest | tag                the next ones: share as many
//   size     the 6 bits after the two shown; 111111: 63 more than the varint32 that follows
//   tag      fixed64, or the one byte ff for a value of sequence 0
//
// I1: nothing at or after the limit is read, for any input. The bytes of a key and of a value are
//     inside the data.
// I2: an entry shares bytes of an earlier full key in the data, so no key is copied to be read.
//
// Decoding into complete internal keys was rejected, because lookups only compare keys and most
// keys are complete in the file. Thread safety: values.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "ashlar/slice.h"
#include "base/assert.h"
#include "base/coding.h"
#include "key/internal_key.h"
#include "key/key_comparator.h"
#include "table/plain/plain_table_config.h"

namespace ashlar {

inline constexpr uint8_t kPlainZeroSequenceByte = 0xff;
inline constexpr uint8_t kPlainSizeMask = 0x3f;
enum class PlainKeyKind : uint8_t { kFull = 0, kSharedBytes = 1, kRest = 2 };

struct PlainData {
  const char* begin = nullptr;
  const char* end = nullptr;
  PlainEncoding encoding = PlainEncoding::kPlain;
  uint32_t user_key_bytes = 0;  // kPlain: size of every user key; 0: each entry stores its own
};

// The fault of an entry.
enum class PlainFault : uint8_t {
  kNone,
  kKeyOutside,
  kValueOutside,
  kNothingToShare,
  kUnknownKeyKind,
  kUnknownType,
  kOrder,
  kExpansion
};
const char* PlainFaultText(PlainFault fault);

struct PlainEntry {
  Slice shared;  // the first bytes of the user key, in an earlier full key; empty: stored whole
  Slice rest;    // the bytes of the user key that the entry holds
  uint64_t tag = 0;
  bool tag_follows = false;  // the eight bytes after `rest` are the tag
  bool is_full = false;      // can be read without earlier entries
  Slice value;
  const char* end = nullptr;  // where the next entry begins

  size_t user_key_size() const { return shared.size() + rest.size(); }
  // Writes user_key_size() bytes.
  void CopyUserKey(char* to) const {
    if (!shared.empty()) memcpy(to, shared.data(), shared.size());
    if (!rest.empty()) memcpy(to + shared.size(), rest.data(), rest.size());
  }
  // The user key: in the data if it is complete there, otherwise assembled in *room.
  Slice UserKey(std::string* room) const {
    if (shared.empty()) return rest;
    room->resize(user_key_size());
    CopyUserKey(room->data());
    return Slice(*room);
  }
};

// Compares the user key of an entry with user_key: < 0, 0, > 0.
int ComparePiecewise(const KeyComparator& comparator, const PlainEntry& entry,
                     const Slice& user_key);
inline int ComparePlainKey(const KeyComparator& comparator, const PlainEntry& entry,
                           const Slice& user_key) {
  if (entry.shared.empty()) [[likely]] {
    return comparator.Compare(entry.rest, user_key);
  }
  return ComparePiecewise(comparator, entry, user_key);
}

// Reads entries one after another, or from any full key on.
class PlainDecoder {
 public:
  explicit PlainDecoder(const PlainData* data) : data_(data) {}

  // Requires: data->begin <= at < data->end, and an entry begins at `at`: one with a full key, or
  // the one after the entry that was read last.
  PlainFault Read(const char* at, PlainEntry* entry) {
    ASHLAR_DCHECK(data_->begin <= at && at < data_->end);  // Requires
    if (data_->encoding == PlainEncoding::kPlain) [[likely]] {
      return ReadPlain(at, entry);
    }
    return ReadPrefix(at, entry);
  }

 private:
  PlainFault ReadPlain(const char* at, PlainEntry* entry) const {
    uint32_t key_bytes = data_->user_key_bytes;
    if (key_bytes == 0) {
      at = GetVarint32Ptr(at, data_->end, &key_bytes);
      if (at == nullptr) return PlainFault::kKeyOutside;
    }
    entry->shared = Slice();
    entry->is_full = true;
    return ReadRest(at, key_bytes, entry);
  }
  PlainFault ReadPrefix(const char* at, PlainEntry* entry);

  // Reads the rest of an entry, from the bytes of the user key on.
  PlainFault ReadRest(const char* at, size_t key_bytes, PlainEntry* entry) const {
    const char* const end = data_->end;
    if (static_cast<size_t>(end - at) <= key_bytes) return PlainFault::kKeyOutside;
    entry->rest = Slice(at, key_bytes);
    at += key_bytes;
    if (static_cast<uint8_t>(*at) == kPlainZeroSequenceByte) {
      entry->tag = PackTag(0, ValueType::kValue);
      entry->tag_follows = false;
      ++at;
    } else {
      if (static_cast<size_t>(end - at) < kTagBytes) return PlainFault::kKeyOutside;
      entry->tag = DecodeFixed64(at);
      entry->tag_follows = true;
      if (!IsPointType(TagType(entry->tag))) [[unlikely]] {
        return PlainFault::kUnknownType;
      }
      at += kTagBytes;
    }
    uint32_t value_bytes = 0;
    at = GetVarint32Ptr(at, end, &value_bytes);
    if (at == nullptr || static_cast<size_t>(end - at) < value_bytes)
      return PlainFault::kValueOutside;
    entry->value = Slice(at, value_bytes);
    entry->end = at + value_bytes;
    return PlainFault::kNone;
  }

  const PlainData* data_;
  // kPrefix: the last full user key, and how much of it the next entries share.
  Slice full_key_;
  size_t shared_bytes_ = 0;
  bool shares_ = false;
};

}  // namespace ashlar
