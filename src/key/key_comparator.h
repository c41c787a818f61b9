// KeyComparator: the order of user keys and internal keys, resolved once so that the two built-in
// orders cost no virtual call.
//
// Head: the first 8 bytes of a key after a skipped common prefix, as an integer that sorts like the
// key. head(a) < head(b) implies a < b, and equal heads imply nothing. Only the built-in orders
// have heads. A custom order has the constant head 0, so that every comparison calls Compare.
//
// ComparedPart is the one place that separates a user key from the bytes that are compared, hashed
// and made into heads.
//
// I1: keys with equal bytes are equal in every order. A custom comparator is called only for two
//     keys with different bytes.
//
// A value type of 16 bytes; copy it. The Comparator must outlive it. Thread safety: const.
#pragma once

#include "ashlar/comparator.h"
#include "base/compiler.h"
#include "base/xxph3.h"
#include "key/internal_key.h"
#include "key/key_head.h"

namespace ashlar {

// The part of a user key that is compared and hashed: all of it, because no key has a timestamp.
inline Slice ComparedPart(const Slice& user_key) { return user_key; }
// The hash of a user key in filters, equal to RocksDB's (Xxph3Hash64).
inline uint64_t FilterHash(const Slice& user_key) { return Xxph3Hash64(ComparedPart(user_key)); }

// The length of a prefix that the compared bytes of two user keys share. In a built-in order all
// keys between them share it too, so heads may skip it.
inline size_t CommonKeyPrefixBytes(const Slice& a, const Slice& b) {
  return CommonPrefixBytes(ComparedPart(a), ComparedPart(b));
}

class KeyComparator {
 public:
  enum class Kind : uint8_t { kBytewise, kReverseBytewise, kCustom };

  explicit KeyComparator(const Comparator* user)
      : user_(user),
        kind_(user == BytewiseComparator()          ? Kind::kBytewise
              : user == ReverseBytewiseComparator() ? Kind::kReverseBytewise
                                                    : Kind::kCustom) {}

  Kind kind() const { return kind_; }
  bool HasHeads() const { return kind_ != Kind::kCustom; }
  const Comparator* user_comparator() const { return user_; }

  // User keys: < 0, 0, > 0.
  int Compare(const Slice& a, const Slice& b) const {
    if (kind_ == Kind::kBytewise) [[likely]] {
      return ComparedPart(a).compare(ComparedPart(b));
    }
    if (kind_ == Kind::kReverseBytewise) return ComparedPart(b).compare(ComparedPart(a));
    return CompareByUser(a, b);
  }
  // Equality of user keys. In a custom order, Compare decides it.
  bool Equal(const Slice& a, const Slice& b) const {
    if (kind_ != Kind::kCustom) [[likely]] {
      return ComparedPart(a) == ComparedPart(b);
    }
    return CompareByUser(a, b) == 0;
  }
  // Internal keys: user key ascending, tag descending.
  int CompareInternal(const Slice& a, const Slice& b) const {
    const int r = Compare(ExtractUserKey(a), ExtractUserKey(b));
    if (r != 0) return r;
    return CompareTags(ExtractTag(a), ExtractTag(b));
  }
  // An internal key against (user key, tag).
  int CompareInternal(const Slice& internal_key, const Slice& user_key, uint64_t tag) const {
    const int r = Compare(ExtractUserKey(internal_key), user_key);
    if (r != 0) return r;
    return CompareTags(ExtractTag(internal_key), tag);
  }

  // The head of user_key after its first `skip` bytes. If skip exceeds the size, this is the head
  // of the empty string.
  uint64_t Head(const Slice& user_key, size_t skip) const {
    if (kind_ == Kind::kCustom) return 0;
    const Slice key = ComparedPart(user_key);
    const size_t from = skip < key.size() ? skip : key.size();
    const uint64_t head = LoadHead(key.data() + from, key.size() - from);
    return kind_ == Kind::kBytewise ? head : ~head;
  }

 private:
  // I1. Not inlined, so that the built-in orders stay short where they are inlined.
  ASHLAR_NO_INLINE int CompareByUser(const Slice& a, const Slice& b) const {
    return a == b ? 0 : user_->Compare(a, b);  // the complete keys, as the comparator expects
  }

  const Comparator* user_;
  Kind kind_;
};

}  // namespace ashlar
