#include "memtable/memtable_bloom.h"

#include <memory>

namespace ashlar {

void MemTableBloom::Allocate(Arena* arena) {
  auto* const lines =
      reinterpret_cast<Line*>(arena->AllocateAligned(line_count_ * sizeof(Line), sizeof(Line)));
  std::uninitialized_value_construct_n(lines, line_count_);
  lines_.store(lines, std::memory_order_release);
}

}  // namespace ashlar
