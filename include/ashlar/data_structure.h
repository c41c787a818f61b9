// Small data structures that option structs use.
#pragma once

#include <bitset>
#include <cstddef>

namespace ashlar {

// A set of enumerators from 0 to kMax. Requires: each argument is one of them.
// Thread safety: a plain value.
template <typename E, E kMax>
class SmallEnumSet {
 public:
  using Enum = E;

  SmallEnumSet() = default;
  template <typename... Rest>
  SmallEnumSet(E first, Rest... rest) {  // NOLINT(google-explicit-constructor): as in RocksDB
    Add(first, rest...);
  }

  bool Contains(E e) const { return bits_[static_cast<size_t>(e)]; }
  bool empty() const { return bits_.none(); }
  size_t count() const { return bits_.count(); }

  // Returns true if the set changed.
  bool Add(E e) {
    const bool is_new = !Contains(e);
    bits_.set(static_cast<size_t>(e));
    return is_new;
  }
  template <typename... Rest>
  bool Add(E e, Rest... rest) {
    const bool is_new = Add(e);
    return Add(rest...) || is_new;
  }
  bool Remove(E e) {
    const bool was_there = Contains(e);
    bits_.reset(static_cast<size_t>(e));
    return was_there;
  }

  bool operator==(const SmallEnumSet& other) const = default;

 private:
  std::bitset<static_cast<size_t>(kMax) + 1> bits_;
};

}  // namespace ashlar
