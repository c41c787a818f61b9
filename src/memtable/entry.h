// The entry of a memtable: one write, as stored in the arena.
//
//   key_size varint32 | user key | tag fixed64 | value_size varint32 | value
//   key_size counts the user key alone
//
// User key and tag are adjacent and form the internal key, so a cursor returns it in place.
// I1: an entry is complete before it is reachable, and it never changes. So decoding checks
//     nothing.
#pragma once

#include "key/internal_key.h"
#include "key/key_comparator.h"
#include "memtable/arena.h"

namespace ashlar {

struct DecodedEntry {
  const char* key = nullptr;
  size_t key_bytes = 0;  // of the user key

  Slice user_key() const { return Slice(key, key_bytes); }
  uint64_t tag() const { return DecodeFixed64(key + key_bytes); }
  Slice internal_key() const { return Slice(key, key_bytes + kTagBytes); }
  Slice value() const;
};

// Parses a varint32 that is known to be complete.
inline const char* ReadTrustedVarint32(const char* p, uint32_t* v) {
  return GetVarint32Ptr(p, p + kVarint32BytesMax, v);
}

inline DecodedEntry DecodeEntry(const char* entry) {
  uint32_t key_bytes;
  const char* key = ReadTrustedVarint32(entry, &key_bytes);
  return {.key = key, .key_bytes = key_bytes};
}

inline Slice DecodedEntry::value() const {
  uint32_t value_bytes;
  const char* value = ReadTrustedVarint32(key + key_bytes + kTagBytes, &value_bytes);
  return Slice(value, value_bytes);
}

// A search target: the version of a key with this tag, or the place where that version would be.
struct EntryTarget {
  Slice user_key;
  uint64_t tag;
};

inline EntryTarget TargetOf(const char* entry) {
  const DecodedEntry decoded = DecodeEntry(entry);
  return {decoded.user_key(), decoded.tag()};
}

// Compares the entry with the target: < 0, 0 or > 0.
inline int CompareEntry(const KeyComparator& comparator, const char* entry,
                        const EntryTarget& target) {
  const DecodedEntry decoded = DecodeEntry(entry);
  const int r = comparator.Compare(decoded.user_key(), target.user_key);
  if (r != 0) return r;
  return CompareTags(decoded.tag(), target.tag);
}

inline size_t EntryBytes(const Slice& user_key, const Slice& value) {
  return VarintLength(user_key.size()) + user_key.size() + kTagBytes + VarintLength(value.size()) +
         value.size();
}

// Writes EntryBytes bytes. Requires: key and value are shorter than 4 GiB.
inline void WriteEntry(char* to, const Slice& user_key, uint64_t tag, const Slice& value) {
  char* p = EncodeVarint32(to, static_cast<uint32_t>(user_key.size()));
  memcpy(p, user_key.data(), user_key.size());
  p += user_key.size();
  EncodeFixed64(p, tag);
  p = EncodeVarint32(p + kTagBytes, static_cast<uint32_t>(value.size()));
  memcpy(p, value.data(), value.size());
}

// Allocates an entry in the arena and writes it.
inline const char* NewEntry(Arena* arena, const Slice& user_key, uint64_t tag, const Slice& value) {
  char* const entry = arena->Allocate(EntryBytes(user_key, value));
  WriteEntry(entry, user_key, tag, value);
  return entry;
}

}  // namespace ashlar
