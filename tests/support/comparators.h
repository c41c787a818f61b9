// The three comparators with which every ordered structure is tested.
#pragma once

#include <array>
#include <string>

#include "ashlar/comparator.h"

namespace ashlar {

struct NamedComparator {
  const char* name;
  const Comparator* comparator;
};

// Orders keys by length, and keys of equal length bytewise. No built-in comparator does.
class LengthFirstComparator final : public Comparator {
 public:
  const char* Name() const override { return "test.LengthFirst"; }
  int Compare(const Slice& a, const Slice& b) const override {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
  bool CanKeysWithDifferentByteContentsBeEqual() const override { return false; }
};

// Treats keys that differ only in the case of letters as equal.
class CaselessComparator final : public Comparator {
 public:
  const char* Name() const override { return "test.Caseless"; }
  int Compare(const Slice& a, const Slice& b) const override {
    return Slice(Lower(a)).compare(Slice(Lower(b)));
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
  bool CanKeysWithDifferentByteContentsBeEqual() const override { return true; }

 private:
  static std::string Lower(const Slice& key) {
    std::string lower = key.ToString();
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return lower;
  }
};

// Bytewise, and counts its comparisons. Requires: one thread.
class CountingComparator final : public Comparator {
 public:
  const char* Name() const override { return "test.Counting"; }
  int Compare(const Slice& a, const Slice& b) const override {
    comparisons_++;
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
  bool CanKeysWithDifferentByteContentsBeEqual() const override { return false; }
  uint64_t comparisons() const { return comparisons_; }

 private:
  mutable uint64_t comparisons_ = 0;
};

inline const std::array<NamedComparator, 3>& TestComparators() {
  static const LengthFirstComparator length_first;
  static const std::array<NamedComparator, 3> all = {{
      {"bytewise", BytewiseComparator()},
      {"reverse bytewise", ReverseBytewiseComparator()},
      {"length first", &length_first},
  }};
  return all;
}

}  // namespace ashlar
