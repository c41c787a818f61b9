#include "pmem/size_class.h"

#include <bit>

#include "base/assert.h"
#include "pmem/layout.h"

namespace ashlar::pmem {
namespace {

constexpr uint64_t kFineBytesMax = 1024;
constexpr uint32_t kFineClasses = kFineBytesMax / kUnitBytes;
constexpr uint32_t kClassesPerDoubling = 8;

}  // namespace

static_assert(kFineClasses + kClassesPerDoubling * 4 == kSizeClasses);

uint32_t SizeClassOf(uint64_t bytes) {
  ASHLAR_DCHECK(bytes > 0 && bytes <= kSmallBytesMax);  // Requires
  if (bytes <= kFineBytesMax) return static_cast<uint32_t>((bytes - 1) / kUnitBytes);
  // (2^k, 2^(k+1)] is cut into 8 steps.
  const auto doubling =
      static_cast<uint32_t>(std::bit_width(bytes - 1) - std::bit_width(kFineBytesMax));
  const uint64_t base = kFineBytesMax << doubling;
  const uint64_t step = base / kClassesPerDoubling;
  return kFineClasses + doubling * kClassesPerDoubling +
         static_cast<uint32_t>((bytes - base - 1) / step);
}

uint64_t SizeClassBytes(uint32_t size_class) {
  if (size_class < kFineClasses) return (size_class + 1) * kUnitBytes;
  const uint32_t coarse = size_class - kFineClasses;
  const uint64_t base = kFineBytesMax << (coarse / kClassesPerDoubling);
  return base + (coarse % kClassesPerDoubling + 1) * (base / kClassesPerDoubling);
}

}  // namespace ashlar::pmem
