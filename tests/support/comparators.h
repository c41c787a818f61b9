// The three kinds of comparator that every ordered structure is tested with.
#pragma once

#include <array>
#include <string>

#include "ashlar/comparator.h"

namespace ashlar {

struct NamedComparator {
  const char* name;
  const Comparator* comparator;
};

// Shorter keys first, keys of one length bytewise: an order that neither built-in has.
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
