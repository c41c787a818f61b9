// MemTableBloom: a bloom filter of a memtable's whole keys, of prefixes, or of both. It proves that
// a key is absent without a search of the index.
//
//   lines   [64 bytes][64 bytes] ...      a hash selects a line and six bits in it, so a query
//                                         reads one cache line
//
// Bits are set and never cleared. The bits of an entry are stored before its sequence is published,
// so a reader that may see the entry also sees its bits.
//
// Thread safety: one writer for Allocate and Add, any thread for MayMatch. Words are relaxed. The
// array is stored with release and loaded with acquire. Lifetime: the lines are in the arena.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/hash.h"
#include "memtable/arena.h"

namespace ashlar {

class MemTableBloom {
 public:
  // bytes: 0 disables the filter, so any key may be present; otherwise rounded up to full lines.
  explicit MemTableBloom(size_t bytes) : line_count_((bytes + sizeof(Line) - 1) / sizeof(Line)) {}
  MemTableBloom(const MemTableBloom&) = delete;
  MemTableBloom& operator=(const MemTableBloom&) = delete;

  bool IsOn() const { return line_count_ != 0; }
  bool allocated() const { return lines_.load(std::memory_order_relaxed) != nullptr; }

  // Allocates the lines. Requires: Add has not been called.
  void Allocate(Arena* arena);

  // Both require IsOn(). They use all 64 bits of the hash.
  void Add(uint64_t hash) {
    Line& line = lines_.load(std::memory_order_relaxed)[FastRange64(hash, line_count_)];
    ForEachBit(hash, [&line](size_t word, uint64_t bit) {
      const uint64_t old = line[word].load(std::memory_order_relaxed);
      line[word].store(old | bit, std::memory_order_relaxed);
      return true;
    });
  }
  bool MayMatch(uint64_t hash) const {
    const Line* const lines = lines_.load(std::memory_order_acquire);
    if (lines == nullptr) return false;  // nothing was added
    const Line& line = lines[FastRange64(hash, line_count_)];
    return ForEachBit(hash, [&line](size_t word, uint64_t bit) {
      return (line[word].load(std::memory_order_relaxed) & bit) != 0;
    });
  }

 private:
  static constexpr int kBits = 6;
  static constexpr size_t kWords = 8;
  using Line = std::array<std::atomic<uint64_t>, kWords>;
  static_assert(sizeof(Line) == 64);

  // Nine bits of the mixed hash select each bit: three the word, and six the bit in the word. The
  // upper bits are used, because they depend on every bit of the hash.
  template <typename Visit>
  static bool ForEachBit(uint64_t hash, Visit visit) {
    uint64_t mixed = hash * 0x9e3779b97f4a7c15u;
    for (int i = 0; i < kBits; ++i, mixed <<= 9) {
      if (!visit(mixed >> 61, uint64_t{1} << ((mixed >> 55) & 63))) return false;
    }
    return true;
  }

  const size_t line_count_;
  std::atomic<Line*> lines_{nullptr};
};

}  // namespace ashlar
