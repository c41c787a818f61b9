#include "table/block/block_entries.h"

#include "base/assert.h"
#include "table/block/block_format.h"

namespace ashlar {

namespace {

constexpr uint32_t kEvenKeysBit = uint32_t{1} << 29;
constexpr uint32_t kSeparatedValuesBit = uint32_t{1} << 28;
constexpr uint32_t kRestartsMax = (uint32_t{1} << 28) - 1;

}  // namespace

Status ParseBlockLayout(const Slice& block, BlockLayout* layout) {
  if (block.size() < sizeof(uint32_t)) return Status::Corruption("block too short");
  size_t left = block.size() - sizeof(uint32_t);
  uint32_t packed = DecodeFixed32(block.data() + left);
  if ((packed & kSeparatedValuesBit) != 0)
    return Status::NotSupported("block with separate keys and values");
  if ((packed & kBlockHashIndexBit) != 0) {
    if (left < sizeof(uint16_t)) return Status::Corruption("block too short for its hash index");
    left -= sizeof(uint16_t);
    const size_t buckets = DecodeFixed16(block.data() + left);
    if (left < buckets) return Status::Corruption("block too short for its hash index");
    left -= buckets;
  }
  packed &= ~(kBlockHashIndexBit | kEvenKeysBit);
  if (packed > kRestartsMax) return Status::NotSupported("block with an unknown feature");
  if (packed > left / sizeof(uint32_t))
    return Status::Corruption("block too short for its restarts");
  layout->entries = block.data();
  layout->entries_end = block.data() + left - size_t{packed} * sizeof(uint32_t);
  layout->restarts = packed;
  ASHLAR_DCHECK(layout->entries <= layout->entries_end);  // the restarts fit before the trailer
  return Status::OK();
}

bool DecodeStoredEntrySlow(const char* p, const char* limit, BlockEntry* entry) {
  for (uint32_t* const length : {&entry->shared, &entry->unshared, &entry->value_bytes}) {
    p = GetVarint32Ptr(p, limit, length);
    if (p == nullptr) return false;
  }
  entry->suffix = p;
  return static_cast<size_t>(limit - p) >= uint64_t{entry->unshared} + entry->value_bytes;
}

bool BlockEntries::Next() {
  if (!status_.ok() || next_ >= layout_.entries_end) return false;
  BlockEntry entry;
  if (!DecodeEntry(next_, layout_.entries_end, key_.size(), 0, &entry)) {
    status_ = DamagedEntryError();
    return false;
  }
  if (entry.key_bytes() > key_bytes_left_) {
    status_ = Status::Corruption("block keys that expand to far more than the block");
    return false;
  }
  ASHLAR_DCHECK(entry.end() <= layout_.entries_end);  // I1
  key_bytes_left_ -= entry.key_bytes();
  key_.resize(entry.shared);
  key_.append(entry.suffix, entry.unshared);
  value_ = entry.value();
  next_ = entry.end();
  return true;
}

Result<const char*> FindRestart(const BlockLayout& layout, const KeyComparator& comparator,
                                const Slice& user_key, uint64_t tag) {
  const auto entries_bytes = static_cast<size_t>(layout.entries_end - layout.entries);
  uint32_t begin = 0;
  for (uint32_t left = layout.restarts; left > 1;) {
    const uint32_t half = left / 2;
    const uint32_t offset = layout.Restart(begin + half);
    BlockEntry entry;
    if (offset >= entries_bytes ||
        !DecodeEntry(layout.entries + offset, layout.entries_end, 0, kTagBytes, &entry))
      return Status::Corruption("damaged block restart");
    if (comparator.CompareInternal(Slice(entry.suffix, entry.unshared), user_key, tag) < 0) {
      begin += half;
      left -= half;
    } else {
      left = half;
    }
  }
  const uint32_t offset = layout.restarts == 0 ? 0 : layout.Restart(begin);
  if (offset >= entries_bytes) return Status::Corruption("block restart outside the entries");
  return layout.entries + offset;
}

}  // namespace ashlar
