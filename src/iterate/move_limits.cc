#include "iterate/move_limits.h"

#include <optional>

#include "key/key_prefix.h"

namespace ashlar {

void MoveLimits::StayInPrefixOf(const SliceTransform* extractor, const Slice& user_key) {
  const std::optional<Slice> prefix = KeyPrefix(extractor, user_key);
  in_prefix_ = prefix.has_value();
  if (!in_prefix_) return;
  extractor_ = extractor;
  prefix_.Assign(*prefix);
}

bool MoveLimits::IsOutsidePrefix(Slice user_key) const {
  return KeyPrefix(extractor_, user_key) != prefix_.key();
}

}  // namespace ashlar
