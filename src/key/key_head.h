// Searches over key heads (KeyComparator::Head), and the prefix that heads skip.
// Thread safety: pure functions; atomics are loaded relaxed.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ashlar/slice.h"
#include "base/coding.h"

namespace ashlar {

// The length of the longest common prefix of a[0, n) and b[0, n).
inline size_t CommonPrefixBytes(const char* a, const char* b, size_t n) {
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const uint64_t difference = DecodeFixed64(a + i) ^ DecodeFixed64(b + i);
    if (difference != 0) return i + static_cast<size_t>(std::countr_zero(difference)) / 8;
  }
  while (i < n && a[i] == b[i]) ++i;
  return i;
}
// For the first and the last of sorted strings. The prefix that these share is common to all.
inline size_t CommonPrefixBytes(const Slice& a, const Slice& b) {
  return CommonPrefixBytes(a.data(), b.data(), a.size() < b.size() ? a.size() : b.size());
}

inline constexpr uint32_t kHeadGroup = 16;

// The number of smaller heads in a group of kHeadGroup ascending ones. Takes five dependent steps
// without a branch.
inline uint32_t CountSmallerInGroup(const uint64_t* group, uint64_t head) {
  const uint64_t* base = group;
  base += base[7] < head ? 8 : 0;
  base += base[3] < head ? 4 : 0;
  base += base[1] < head ? 2 : 0;
  base += base[0] < head ? 1 : 0;
  return static_cast<uint32_t>(base - group) + (*base < head ? 1 : 0);
}

// The number of smaller heads among ascending ones. The mask prevents a branch, which the processor
// would mispredict at every second step.
inline size_t CountSmaller(std::span<const uint64_t> heads, uint64_t head) {
  size_t begin = 0;
  for (size_t left = heads.size(); left > 0;) {
    const size_t half = (left + 1) / 2;
    begin += half & (size_t{0} - static_cast<size_t>(heads[begin + half - 1] < head));
    left -= half;
  }
  return begin;
}

// The number of smaller heads among `count` in any order, which a writer may change meanwhile. Each
// comparison is a compare and an add with carry. Four sums keep the adds independent.
inline uint32_t CountSmaller(const std::atomic<uint32_t>* heads, uint32_t count, uint32_t head) {
  const auto smaller = [head](const std::atomic<uint32_t>& slot) {
    return slot.load(std::memory_order_relaxed) < head;
  };
  std::array<uint32_t, 4> sums{};
  const std::atomic<uint32_t>* p = heads;
  for (const std::atomic<uint32_t>* const end = p + (count & ~3u); p != end; p += 4) {
    sums[0] += smaller(p[0]);
    sums[1] += smaller(p[1]);
    sums[2] += smaller(p[2]);
    sums[3] += smaller(p[3]);
  }
  for (const std::atomic<uint32_t>* const end = heads + count; p != end; ++p)
    sums[0] += smaller(*p);
  return sums[0] + sums[1] + sums[2] + sums[3];
}

// The same for heads that no writer changes. Compilers turn a binary search into branches, which
// the processor mispredicts. A loop whose length is a multiple of four becomes vector code.
template <size_t kHeads>
uint32_t CountSmaller(const std::array<uint32_t, kHeads>& heads, uint32_t head) {
  constexpr size_t kInVectors = kHeads / 4 * 4;
  uint32_t count = 0;
  for (size_t i = 0; i < kInVectors; ++i) count += heads[i] < head ? 1u : 0u;
  for (size_t i = kInVectors; i < kHeads; ++i) count += heads[i] < head ? 1u : 0u;
  return count;
}

}  // namespace ashlar
