#include "key/internal_key.h"

namespace ashlar {

Status UnsupportedTypeError(ValueType type) {
  static constexpr char kDigits[] = "0123456789abcdef";
  const auto number = static_cast<uint8_t>(type);
  const char hex[] = {'0', 'x', kDigits[number >> 4], kDigits[number & 0xf], '\0'};
  return Status::NotSupported(std::string("an entry of type ") + hex + " (" + ValueTypeName(type) +
                              ") was found; this version of Ashlar does not read it");
}

}  // namespace ashlar
