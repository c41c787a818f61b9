#include "table/plain/plain_entry.h"

#include <algorithm>

namespace ashlar {

namespace {

// Reads one "kind and size". Returns null if it does not fit before `end`.
const char* ReadKindAndSize(const char* at, const char* end, PlainKeyKind* kind, size_t* size) {
  if (at == end) return nullptr;
  const auto first = static_cast<uint8_t>(*at++);
  *kind = static_cast<PlainKeyKind>(first >> 6);
  *size = first & kPlainSizeMask;
  if (*size < kPlainSizeMask) return at;
  uint32_t more = 0;
  at = GetVarint32Ptr(at, end, &more);
  *size += more;
  return at;
}

}  // namespace

const char* PlainFaultText(PlainFault fault) {
  switch (fault) {
    case PlainFault::kNone: break;
    case PlainFault::kKeyOutside: return "a key that leads outside the data";
    case PlainFault::kValueOutside: return "a value that leads outside the data";
    case PlainFault::kNothingToShare:
      return "a key that shares more than the full key before it has";
    case PlainFault::kUnknownKeyKind: return "a key of an unknown kind";
    case PlainFault::kUnknownType: return "an entry of a type that is not supported";
    case PlainFault::kOrder: return "keys out of order";
    case PlainFault::kExpansion: return "keys that expand to far more than the data";
  }
  return "no fault";
}

int ComparePiecewise(const KeyComparator& comparator, const PlainEntry& entry,
                     const Slice& user_key) {
  if (comparator.kind() == KeyComparator::Kind::kCustom) {
    std::string room;
    return comparator.Compare(entry.UserKey(&room), user_key);
  }
  const size_t n = std::min(entry.shared.size(), user_key.size());
  int r = Slice(entry.shared.data(), n).compare(Slice(user_key.data(), n));
  if (r == 0)
    r = n < entry.shared.size()
            ? 1
            : entry.rest.compare(Slice(user_key.data() + n, user_key.size() - n));
  return comparator.kind() == KeyComparator::Kind::kBytewise ? r : -r;
}

PlainFault PlainDecoder::ReadPrefix(const char* at, PlainEntry* entry) {
  PlainKeyKind kind;
  size_t size = 0;
  at = ReadKindAndSize(at, data_->end, &kind, &size);
  if (at == nullptr) return PlainFault::kKeyOutside;
  if (kind == PlainKeyKind::kFull) {
    entry->shared = Slice();
    entry->is_full = true;
    const PlainFault fault = ReadRest(at, size, entry);
    full_key_ = entry->rest;
    shares_ = false;
    return fault;
  }
  if (kind == PlainKeyKind::kSharedBytes) {
    if (size > full_key_.size()) return PlainFault::kNothingToShare;
    shared_bytes_ = size;
    shares_ = true;
    at = ReadKindAndSize(at, data_->end, &kind, &size);
    if (at == nullptr) return PlainFault::kKeyOutside;
  }
  if (kind != PlainKeyKind::kRest) return PlainFault::kUnknownKeyKind;
  if (!shares_) return PlainFault::kNothingToShare;
  entry->shared = Slice(full_key_.data(), shared_bytes_);
  entry->is_full = false;
  return ReadRest(at, size, entry);
}

}  // namespace ashlar
