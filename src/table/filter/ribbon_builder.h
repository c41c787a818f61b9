// RibbonBuilder: hashes in, the bytes of a Ribbon filter out (ribbon_format.h).
//
//   hashes ──> equations ──> echelon form ──> solution, from the last slot to the first
//
// Each equation that is added is reduced by those already there until its first coefficient is at
// an empty slot. One that is reduced to a contradiction ends the attempt: the next seed makes other
// equations of the same hashes. A few percent more slots than entries make an attempt succeed
// almost always. 20 bytes of memory per slot while it runs.
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
  // For filters of up to about kEntriesMax entries. The number of blocks has 24 bits in the format.
  static constexpr size_t kEntriesMax = 950'000'000;

  // Requires: 0 < entries <= kEntriesMax, 0 < false_positive_rate < 1.
  RibbonBuilder(size_t entries, double false_positive_rate);

  // With the tail.
  size_t BlockBytes() const;
  // Writes BlockBytes() bytes. False: no seed has a solution, which very many equal starts cause.
  [[nodiscard]] bool Build(std::span<const std::span<const uint64_t>> hashes, char* block);

 private:
  bool AddEquations(std::span<const std::span<const uint64_t>> hashes, uint32_t seed);
  bool AddEquation(RibbonEquation equation);
  void Solve(char* segments) const;

  uint32_t blocks_ = 0;
  uint32_t columns_ = 0;            // of blocks from upper_start_block_ on; one less before
  uint32_t upper_start_block_ = 0;  // may be blocks_ - 1 at most
  // Per slot: the equation whose first coefficient is there. An empty row has no bits.
  std::vector<RibbonRow> rows_;
  std::vector<uint32_t> results_;
};

}  // namespace ashlar
