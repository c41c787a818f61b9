#include "ranges/varying_bytes.h"

namespace ashlar {

uint64_t VaryingBytes::HeadOf(const Slice& key) const {
  const KeyWords own(key, (limit() + 7) / 8);
  uint64_t head = 0;
  for (size_t slot = 0; slot < count_; ++slot)
    head |= uint64_t{own.byte(positions_[slot])} << (56 - 8 * slot);
  return head;
}

void VaryingBytes::CheckInvariants() const {
  ASHLAR_ASSERT(count_ <= kPositionsMax);  // I2
  for (size_t slot = 1; slot < count_; ++slot)
    ASHLAR_ASSERT(positions_[slot - 1] < positions_[slot]);                               // I2
  ASHLAR_ASSERT(count_ < kPositionsMax || limit_ == positions_[count_ - 1] + size_t{1});  // I2
  size_t slot = 0;
  for (size_t position = 0; position < limit(); ++position) {
    const bool varies = slot < count_ && positions_[slot] == position;
    ASHLAR_ASSERT(IsConstant(position) != varies);  // I1
    slot += varies ? size_t{1} : 0;
  }
}

uint64_t VaryingBytes::InsertByte(uint64_t head, size_t slot, uint8_t byte) {
  const uint64_t before = slot == 0 ? 0 : ~uint64_t{0} << (64 - 8 * slot);
  return (head & before) | (uint64_t{byte} << (56 - 8 * slot)) | ((head & ~before) >> 8);
}

}  // namespace ashlar
