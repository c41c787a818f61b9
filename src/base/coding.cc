#include "base/coding.h"

#include <limits>

#include "base/assert.h"

namespace ashlar {

const char* GetVarint32PtrSlow(const char* p, const char* limit, uint32_t* v) {
  uint32_t value = 0;
  for (uint32_t shift = 0; shift <= 28 && p < limit; shift += 7) {
    const uint32_t byte = static_cast<uint8_t>(*p++);
    // The fifth byte has room for the four highest bits of the value and for nothing else.
    if (shift == 28 && byte > 0x0f) return nullptr;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      *v = value;
      return p;
    }
  }
  return nullptr;
}

const char* GetVarint64PtrSlow(const char* p, const char* limit, uint64_t* v) {
  uint64_t value = 0;
  for (uint32_t shift = 0; shift <= 63 && p < limit; shift += 7) {
    const uint64_t byte = static_cast<uint8_t>(*p++);
    if (shift == 63 && byte > 0x01) return nullptr;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      *v = value;
      return p;
    }
  }
  return nullptr;
}

void PutLengthPrefixedSlice(std::string* out, const Slice& s) {
  ASHLAR_ASSERT(s.size() <= std::numeric_limits<uint32_t>::max());  // Requires
  PutVarint32(out, static_cast<uint32_t>(s.size()));
  out->append(s.data(), s.size());
}

}  // namespace ashlar
