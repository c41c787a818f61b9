// RibbonBuilder: builds the bytes of a Ribbon filter (ribbon_format.h) from hashes.
//
//   hashes ──> equations ──> echelon form ──> solution, from the last slot to the first
//
// Each added equation is reduced by the earlier ones until its first coefficient is at an empty
// slot. A contradiction ends the attempt, and the next seed makes other equations of the same
// hashes. With a few percent more slots than entries an attempt almost always succeeds. The builder
// uses 20 bytes of memory per slot while it runs.
//
// I1: every hash that Build was given satisfies its equation.
// Thread safety: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "table/filter/ribbon_format.h"

namespace ashlar {

class RibbonBuilder {
 public:
  // The approximate limit of entries in a filter, because the number of blocks has 24 bits.
  static constexpr size_t kEntriesMax = 950'000'000;

  // Requires: 0 < entries <= kEntriesMax, 0 < false_positive_rate < 1.
  RibbonBuilder(size_t entries, double false_positive_rate);

  // The size of the filter block, tail included.
  size_t BlockBytes() const;
  // Writes BlockBytes() bytes. Returns false if no seed has a solution, as with many equal starts.
  [[nodiscard]] bool Build(std::span<const std::span<const uint64_t>> hashes, char* block);

 private:
  bool AddEquations(std::span<const std::span<const uint64_t>> hashes, uint32_t seed);
  bool AddEquation(RibbonEquation equation);
  void Solve(char* segments) const;

  uint32_t blocks_ = 0;
  uint32_t columns_ = 0;            // of blocks from upper_start_block_ on; one fewer before
  uint32_t upper_start_block_ = 0;  // at most blocks_ - 1
  // For each slot, the equation whose first coefficient is there. An empty row has no bits.
  std::vector<RibbonRow> rows_;
  std::vector<uint32_t> results_;
};

}  // namespace ashlar
