// SequenceOverride: the one sequence of all entries of an ingested table. It replaces the sequences
// in the table's keys.
//
// Decided once, when the table is opened. Both masks are constants of the table, so applying them
// costs no branch where there is no override.
//
// I1: with an override, every entry has its sequence, and entries with the same user key are in the
//     order of their stored tags.
// Thread safety: constant once made.
#pragma once

#include <cstdint>

#include "key/internal_key.h"

namespace ashlar {

class SequenceOverride {
 public:
  // No override: entries have the sequences that their keys store.
  SequenceOverride() = default;
  explicit SequenceOverride(SequenceNumber sequence)
      : kept_bits_(kTypeBits),
        set_bits_(PackTag(sequence, ValueType{0})),
        sought_bits_(~uint64_t{0}) {
    ASHLAR_ASSERT(sequence <= kSequenceNumberMax);  // LoadSequenceOverride refuses others
  }

  bool active() const { return sought_bits_ != 0; }
  // The tag of an entry from the tag that its key stores.
  uint64_t Apply(uint64_t stored_tag) const { return (stored_tag & kept_bits_) | set_bits_; }
  // The tag to search the stored tags for. With an override the search begins with the newest tag,
  // because the stored sequences are not those of the entries.
  uint64_t SoughtTag(uint64_t tag) const { return tag | sought_bits_; }

 private:
  static constexpr uint64_t kTypeBits = 0xff;
  static_assert(PackTag(0, ValueType::kMax) <= kTypeBits);

  uint64_t kept_bits_ = ~uint64_t{0};
  uint64_t set_bits_ = 0;
  uint64_t sought_bits_ = 0;
};

}  // namespace ashlar
