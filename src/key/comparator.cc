// The two built-in orders of keys.
//
// KeyComparator recognises both by address. Each therefore exists once and lives as long as the
// process, because databases may be closed after static destructors have begun.
#include "ashlar/comparator.h"

#include <algorithm>
#include <new>

namespace ashlar {
namespace {

uint8_t ByteAt(const Slice& s, size_t i) { return static_cast<uint8_t>(s.data()[i]); }

class BytewiseOrder final : public Comparator {
 public:
  const char* Name() const override { return "leveldb.BytewiseComparator"; }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  bool Equal(const Slice& a, const Slice& b) const override { return a == b; }
  bool CanKeysWithDifferentByteContentsBeEqual() const override { return false; }

  void FindShortestSeparator(std::string* start, const Slice& limit) const override {
    const size_t common = limit.difference_offset(*start);
    if (common >= start->size() || common >= limit.size()) return;  // one is a prefix of the other
    const uint8_t start_byte = ByteAt(*start, common);
    const uint8_t limit_byte = ByteAt(limit, common);
    if (start_byte >= limit_byte) return;  // start does not sort before limit
    if (start_byte + 1 < limit_byte || common + 1 < limit.size()) {
      // The raised byte is below limit's byte, or equal to it and limit is longer. In both cases
      // the result is before limit.
      (*start)[common] = static_cast<char>(start_byte + 1);
      start->resize(common + 1);
      return;
    }
    // limit ends right after a byte that is one above start's. So the shortest key between the two
    // is start, cut after a later byte that is raised by one.
    for (size_t i = common + 1; i < start->size(); ++i) {
      const uint8_t byte = ByteAt(*start, i);
      if (byte != 0xff) {
        (*start)[i] = static_cast<char>(byte + 1);
        start->resize(i + 1);
        return;
      }
    }
  }

  void FindShortSuccessor(std::string* key) const override {
    const auto it = std::find_if(key->begin(), key->end(),
                                 [](char c) { return static_cast<uint8_t>(c) != 0xff; });
    if (it == key->end()) return;
    *it = static_cast<char>(static_cast<uint8_t>(*it) + 1);
    key->erase(it + 1, key->end());
  }
};

class ReverseBytewiseOrder final : public Comparator {
 public:
  const char* Name() const override { return "rocksdb.ReverseBytewiseComparator"; }
  int Compare(const Slice& a, const Slice& b) const override { return b.compare(a); }
  bool Equal(const Slice& a, const Slice& b) const override { return a == b; }
  bool CanKeysWithDifferentByteContentsBeEqual() const override { return false; }

  void FindShortestSeparator(std::string* start, const Slice& limit) const override {
    const size_t common = limit.difference_offset(*start);
    if (common >= start->size() || common >= limit.size()) return;
    // In this order a prefix of start sorts after start. It is before limit if it has the first
    // byte in which the two differ.
    if (ByteAt(*start, common) > ByteAt(limit, common)) start->resize(common + 1);
  }

  // Leaves the key as it is. The empty key sorts last here. It would be correct but would lose the
  // position of the table's end.
  void FindShortSuccessor(std::string*) const override {}
};

template <typename T>
const Comparator* Immortal() {
  alignas(T) static char storage[sizeof(T)];
  static const Comparator* const instance = new (storage) T;
  return instance;
}

}  // namespace

const Comparator* BytewiseComparator() { return Immortal<BytewiseOrder>(); }
const Comparator* ReverseBytewiseComparator() { return Immortal<ReverseBytewiseOrder>(); }

}  // namespace ashlar
