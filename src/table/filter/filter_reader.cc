#include "table/filter/filter_reader.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "base/coding.h"
#include "table/filter/ribbon_format.h"

namespace ashlar {

namespace {

// The bits of `row` that are also in the segment at p, folded to 64. Only their parity matters.
uint64_t Masked(const char* p, RibbonRow row) {
  return (DecodeFixed64(p) & row.low) ^ (DecodeFixed64(p + 8) & row.high);
}

}  // namespace

FilterReader::FilterReader(const Slice& block) {
  if (block.size() <= kFilterTailBytes) {
    kind_ = Kind::kMatchesNone;
    return;
  }
  if (block.size() - kFilterTailBytes > 0xffffffffu) return;
  data_ = block.data();
  const auto marker = static_cast<int8_t>(block[block.size() - kFilterTailBytes]);
  if (marker == kFilterMarkerBloom) {
    InitBloom(block);
  } else if (marker == kFilterMarkerRibbon) {
    InitRibbon(block);
  } else if (marker > 0) {
    InitLegacyBloom(block, static_cast<uint32_t>(marker));
  }
}

void FilterReader::InitBloom(const Slice& block) {
  const size_t bytes = block.size() - kFilterTailBytes;
  const char* const tail = block.data() + bytes;
  const auto shape = static_cast<uint8_t>(tail[2]);
  probes_ = shape & 31u;
  const bool known = tail[1] == 0 && (shape >> 5) == 0 && probes_ >= 1 && probes_ <= 30 &&
                     tail[3] == 0 && tail[4] == 0 && bytes >= kBloomLineBytes;
  if (!known) return;
  lines_ = static_cast<uint32_t>(bytes / kBloomLineBytes);
  ASHLAR_ASSERT(uint64_t{lines_} * kBloomLineBytes <= bytes);  // I2
  kind_ = Kind::kBloom;
}

void FilterReader::InitRibbon(const Slice& block) {
  const size_t bytes = block.size() - kFilterTailBytes;
  const char* const tail = block.data() + bytes;
  const uint32_t blocks = DecodeFixed32(tail + 1) >> 8;
  if (blocks < kRibbonBlocksMin) return;
  const auto segments = static_cast<uint32_t>(bytes / kRibbonSegmentBytes);
  columns_ = (segments + blocks - 1) / blocks;
  upper_start_block_ = columns_ * blocks - segments;
  ASHLAR_ASSERT(upper_start_block_ < blocks);  // I2: no block has two columns fewer
  if (columns_ > kRibbonColumnsMax) {
    columns_ = kRibbonColumnsMax;
    upper_start_block_ = 0;
  }
  starts_ = RibbonStarts(blocks);
  seed_ = RibbonSeed(static_cast<uint8_t>(tail[1]));
  kind_ = Kind::kRibbon;
}

void FilterReader::InitLegacyBloom(const Slice& block, uint32_t probes) {
  const auto bytes = static_cast<uint32_t>(block.size() - kFilterTailBytes);
  lines_ = DecodeFixed32(block.data() + block.size() - 4);
  if (lines_ == 0 || bytes % lines_ != 0) return;
  const uint32_t line_bytes = bytes / lines_;
  if (!std::has_single_bit(line_bytes) || line_bytes > (uint32_t{1} << 28)) return;
  line_bytes_log2_ = static_cast<uint32_t>(std::countr_zero(line_bytes));
  ASHLAR_ASSERT((uint64_t{lines_} << line_bytes_log2_) == bytes);  // I2
  probes_ = probes;
  kind_ = Kind::kLegacyBloom;
}

bool FilterReader::OtherMayMatch(uint64_t hash, const Slice& key) const {
  switch (kind_) {
    case Kind::kMatchesNone: return false;
    case Kind::kRibbon: return RibbonMayMatch(hash);
    case Kind::kLegacyBloom:
      return LegacyBloomMayMatch(LegacyHash32(key.data(), key.size(), kLegacyFilterHashSeed));
    case Kind::kBloom:
    case Kind::kMatchesAll: break;
  }
  return true;
}

bool FilterReader::RibbonMayMatch(uint64_t hash) const {
  const auto [start, row, expected] = MakeRibbonEquation(hash, seed_, starts_);
  const uint32_t block = start / kRibbonBits;
  const uint32_t bit = start % kRibbonBits;
  const uint64_t first_segment = uint64_t{block} * columns_ - std::min(block, upper_start_block_);
  const uint32_t columns = columns_ - (block < upper_start_block_ ? 1 : 0);

  const RibbonRow left = ShiftLeft(row, bit);
  const RibbonRow right = bit == 0 ? RibbonRow{0, 0} : ShiftRight(row, kRibbonBits - bit);
  const char* const near = data_ + first_segment * kRibbonSegmentBytes;
  // The next block may have one column more than this one. The row extends only into the first
  // `columns` of it.
  const char* const far = bit == 0 ? near : near + uint64_t{columns} * kRibbonSegmentBytes;
  for (uint32_t i = 0; i < columns; ++i) {
    const uint64_t solution =
        Masked(near + i * kRibbonSegmentBytes, left) ^ Masked(far + i * kRibbonSegmentBytes, right);
    if ((static_cast<uint32_t>(std::popcount(solution)) & 1) != ((expected >> i) & 1)) return false;
  }
  return true;
}

bool FilterReader::LegacyBloomMayMatch(uint32_t hash) const {
  ASHLAR_DCHECK(kind_ == Kind::kLegacyBloom);  // Requires
  const char* const line = data_ + (uint64_t{hash % lines_} << line_bytes_log2_);
  const uint32_t mask = (uint32_t{8} << line_bytes_log2_) - 1;
  const uint32_t delta = std::rotr(hash, 17);
  for (uint32_t i = 0; i < probes_; ++i, hash += delta) {
    const uint32_t bit = hash & mask;
    if ((static_cast<uint8_t>(line[bit / 8]) >> (bit % 8) & 1) == 0) return false;
  }
  return true;
}

}  // namespace ashlar
