// MemTableBloom: a bloom filter of a memtable's whole keys, of prefixes, or of both. It proves that
// a key is absent without a search of the index.
//
//   lines   [64 bytes][64 bytes] ...      a hash chooses a line, and six bits in it: a query
//                                         reads one cache line
//
// Bits are only ever set. A reader that may see an entry, because its sequence was published, sees
// the entry's bits as well: they were stored before.
//
// Thread safety: one writer for Allocate and Add; MayMatch from any thread. Words are relaxed; the
// array is stored with release, loaded with acquire. Lifetime: the lines live in the arena.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/hash.h"
#include "memtable/arena.h"

namespace ashlar {

class MemTableBloom {
 public:
  // bytes: 0 for no filter at all, which may hold everything; otherwise rounded up to whole lines.
  explicit MemTableBloom(size_t bytes) : line_count_((bytes + sizeof(Line) - 1) / sizeof(Line)) {}
  MemTableBloom(const MemTableBloom&) = delete;
  MemTableBloom& operator=(const MemTableBloom&) = delete;

  bool IsOn() const { return line_count_ != 0; }
  bool allocated() const { return lines_.load(std::memory_order_relaxed) != nullptr; }

  // Takes the memory; before the first Add.
  void Allocate(Arena* arena);

  // Precondition of both: IsOn(). hash: all 64 bits count.
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

  // Nine bits of the mixed hash for each: three choose the word, six the bit. The upper bits are
  // used, because they depend on every bit of the hash.
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
