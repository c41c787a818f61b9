#include "table/filter/ribbon_builder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/assert.h"
#include "table/filter/filter_format.h"

namespace ashlar {

namespace {

constexpr int kSeeds = 256;

// Slots per entry for one failure in 20 attempts. The ratio grows with the logarithm of the size:
// 1.036 at 2^17 slots, and 0.0038 more for each doubling. Small filters need 1.03.
double SlotsPerEntry(size_t entries) {
  return std::max(1.03, 0.9715 + 0.0038 * std::log2(static_cast<double>(entries)));
}

bool IsEmpty(const RibbonRow& row) { return (row.low | row.high) == 0; }

uint32_t Parity(const RibbonRow& a, const RibbonRow& b) {
  return static_cast<uint32_t>(std::popcount((a.low & b.low) ^ (a.high & b.high))) & 1;
}

}  // namespace

RibbonBuilder::RibbonBuilder(size_t entries, double false_positive_rate) {
  ASHLAR_ASSERT(entries > 0 && entries <= kEntriesMax);               // Requires
  ASHLAR_ASSERT(false_positive_rate > 0 && false_positive_rate < 1);  // Requires
  const double slots = std::ceil(static_cast<double>(entries) * SlotsPerEntry(entries));
  const auto blocks = static_cast<uint64_t>(std::ceil(slots / kRibbonBits));
  blocks_ = static_cast<uint32_t>(
      std::clamp<uint64_t>(blocks, kRibbonBlocksMin, uint64_t{kRibbonBlocksMax}));
  // Some of the blocks have one column fewer, so that the mean of 2^-columns is the rate.
  const double lower = std::floor(-std::log2(false_positive_rate));
  if (lower >= kRibbonColumnsMax) {
    columns_ = kRibbonColumnsMax;
    return;
  }
  const double lower_share = std::clamp(false_positive_rate * std::exp2(lower + 1) - 1, 0.0, 1.0);
  columns_ = static_cast<uint32_t>(lower) + 1;
  // Blocks without columns would match everything.
  if (lower >= 1) {
    upper_start_block_ = std::min(static_cast<uint32_t>(lower_share * blocks_), blocks_ - 1);
  }
}

size_t RibbonBuilder::BlockBytes() const {
  const uint64_t segments = uint64_t{blocks_} * columns_ - upper_start_block_;
  return static_cast<size_t>(segments * kRibbonSegmentBytes) + kFilterTailBytes;
}

bool RibbonBuilder::Build(std::span<const std::span<const uint64_t>> hashes, char* block) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    if (!AddEquations(hashes, RibbonSeed(static_cast<uint8_t>(seed)))) continue;
    Solve(block);
    char* const tail = block + BlockBytes() - kFilterTailBytes;
    tail[0] = static_cast<char>(kFilterMarkerRibbon);
    EncodeFixed32(tail + 1, static_cast<uint32_t>(seed) | blocks_ << 8);
    return true;
  }
  return false;
}

bool RibbonBuilder::AddEquations(std::span<const std::span<const uint64_t>> hashes, uint32_t seed) {
  const size_t slots = size_t{blocks_} * kRibbonBits;
  rows_.assign(slots, RibbonRow());
  results_.assign(slots, 0);
  const uint32_t starts = RibbonStarts(blocks_);
  for (const std::span<const uint64_t> chunk : hashes) {
    for (const uint64_t hash : chunk) {
      if (!AddEquation(MakeRibbonEquation(hash, seed, starts))) return false;
    }
  }
  return true;
}

bool RibbonBuilder::AddEquation(RibbonEquation equation) {
  // Bits of columns that are not stored cannot cause a contradiction.
  uint32_t result = equation.result & (~uint32_t{0} >> (kRibbonColumnsMax - columns_));
  RibbonRow row = equation.row;
  size_t slot = equation.start;
  ASHLAR_DCHECK(slot + kRibbonBits <= rows_.size());  // RibbonStarts: a row fits there
  while (!IsEmpty(rows_[slot])) {
    row.low ^= rows_[slot].low;
    row.high ^= rows_[slot].high;
    result ^= results_[slot];
    if (IsEmpty(row)) return result == 0;
    const auto zeros = static_cast<uint32_t>(row.low != 0 ? std::countr_zero(row.low)
                                                          : 64 + std::countr_zero(row.high));
    slot += zeros;
    row = ShiftRight(row, zeros);
    ASHLAR_DCHECK(slot < rows_.size() && (row.low & 1) != 0);  // its first coefficient is at slot
  }
  rows_[slot] = row;
  results_[slot] = result;
  return true;
}

void RibbonBuilder::Solve(char* segments) const {
  // For each column, the solution of the 128 slots from the current one on, which is bit 0.
  std::array<RibbonRow, kRibbonColumnsMax> window{};
  char* segment = segments + BlockBytes() - kFilterTailBytes;
  for (uint32_t block = blocks_; block-- > 0;) {
    const size_t first = size_t{block} * kRibbonBits;
    for (size_t slot = first + kRibbonBits; slot-- > first;) {
      for (uint32_t column = 0; column < columns_; ++column) {
        RibbonRow& solution = window[column];
        solution = ShiftLeft(solution, 1);
        solution.low |= Parity(solution, rows_[slot]) ^ (results_[slot] >> column & 1);
      }
    }
    const uint32_t columns = columns_ - (block < upper_start_block_ ? 1 : 0);
    segment -= size_t{columns} * kRibbonSegmentBytes;
    for (uint32_t column = 0; column < columns; ++column) {
      char* const p = segment + size_t{column} * kRibbonSegmentBytes;
      EncodeFixed64(p, window[column].low);
      EncodeFixed64(p + sizeof(uint64_t), window[column].high);
    }
  }
  ASHLAR_ASSERT(segment == segments);  // BlockBytes counts the same segments
}

}  // namespace ashlar
