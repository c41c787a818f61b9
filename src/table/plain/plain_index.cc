#include "table/plain/plain_index.h"

#include <algorithm>
#include <functional>

#include "base/assert.h"

namespace ashlar {

namespace {
constexpr double kLoadMax = 0.9;
constexpr double kSlotsPerPrefixMax = 64;
}  // namespace

void PlainIndex::SetPrefixes(const std::vector<Prefix>& prefixes, double prefixes_per_slot) {
  const double slots = static_cast<double>(prefixes.size()) / std::min(prefixes_per_slot, kLoadMax);
  // Memory is bounded for every ratio.
  slots_.assign(static_cast<size_t>(
                    std::min(slots, kSlotsPerPrefixMax * static_cast<double>(prefixes.size()))) +
                    1,
                kFree);
  ASHLAR_ASSERT(slots_.size() > prefixes.size());  // I3: one slot stays free
  for (const Prefix& prefix : prefixes) {
    ASHLAR_ASSERT(prefix.offset < kManyBit);  // offsets have 31 bits
    size_t slot = FastRange32(UpperHash32(prefix.hash), static_cast<uint32_t>(slots_.size()));
    while (slots_[slot] != kFree) slot = slot + 1 == slots_.size() ? 0 : slot + 1;
    slots_[slot] =
        uint64_t{LowerHash32(prefix.hash)} << 32 | prefix.offset | (prefix.many ? kManyBit : 0);
  }
}

void PlainIndex::CheckInvariants() const {
  ASHLAR_ASSERT(std::is_sorted(offsets_.begin(), offsets_.end(), std::less_equal<>()));  // I1
  ASHLAR_ASSERT(heads_.size() == offsets_.size());                                       // I2
  ASHLAR_ASSERT(std::is_sorted(heads_.begin(), heads_.end()));                           // I2
  ASHLAR_ASSERT(slots_.empty() ||
                std::find(slots_.begin(), slots_.end(), kFree) != slots_.end());  // I3
}

PlainIndex::Range PlainIndex::FindHead(uint64_t head) const {
  const auto first = std::lower_bound(heads_.begin(), heads_.end(), head);
  auto last = first;
  // Most ranges are short.
  while (last != heads_.end() && *last == head && last - first < 4) ++last;
  if (last != heads_.end() && *last == head) last = std::upper_bound(last, heads_.end(), head);
  return {static_cast<uint32_t>(first - heads_.begin()),
          static_cast<uint32_t>(last - heads_.begin())};
}

uint32_t PlainIndex::SparseEntryAtOffset(uint32_t offset) const {
  ASHLAR_DCHECK(!offsets_.empty());  // Requires
  const auto after = std::upper_bound(offsets_.begin(), offsets_.end(), offset);
  return after == offsets_.begin() ? 0 : static_cast<uint32_t>(after - offsets_.begin() - 1);
}

}  // namespace ashlar
