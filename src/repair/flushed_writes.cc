#include "repair/flushed_writes.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ashlar {

LoggedWrite LoggedWrite::Of(const BatchRecord& record, SequenceNumber sequence) {
  if (record.type == ValueType::kRangeDeletion)
    return {.sequence = sequence, .key_hash = KeyVersion::kRangeHash, .kind = Kind::kRange};
  return {.sequence = sequence,
          .key_hash = Hash64(record.key),
          .kind = record.type == ValueType::kMerge ? Kind::kMerge : Kind::kPoint};
}

FlushedWrites::FlushedWrites(Args args) : args_(std::move(args)) {
  std::sort(args_.versions.begin(), args_.versions.end());
}

void FlushedWrites::Note(const LoggedWrite& write) {
  if (!args_.knows_logs) {
    const KeyVersion version{.key_hash = write.key_hash, .sequence = write.sequence};
    if (std::binary_search(args_.versions.begin(), args_.versions.end(), version))
      flushed_sequence_ = std::max(flushed_sequence_, write.sequence);
  }
  if (args_.is_lossy && write.kind == LoggedWrite::Kind::kPoint) {
    const auto [base, is_first] = bases_.emplace(write.key_hash, write.sequence);
    if (!is_first) base->second = std::min(base->second, write.sequence);
  }
}

bool FlushedWrites::Holds(FileNumber log, const LoggedWrite& write) const {
  const bool was_flushed = WasFlushed(log, write);
  if (write.kind == LoggedWrite::Kind::kRange) return was_flushed;  // I3
  const std::optional<SequenceNumber> newest = FindNewest(write.key_hash);
  if (newest.has_value() && *newest >= write.sequence) return true;  // I1
  if (!was_flushed || !args_.is_lossy) return was_flushed;           // I2
  if (write.kind == LoggedWrite::Kind::kPoint || newest != 0) return false;
  const auto base = bases_.find(write.key_hash);
  return base == bases_.end() || base->second > write.sequence;  // I3
}

std::optional<SequenceNumber> FlushedWrites::FindNewest(uint64_t key_hash) const {
  const KeyVersion last{.key_hash = key_hash, .sequence = kSequenceNumberMax};
  const auto after = std::upper_bound(args_.versions.begin(), args_.versions.end(), last);
  if (after == args_.versions.begin() || std::prev(after)->key_hash != key_hash)
    return std::nullopt;
  return std::prev(after)->sequence;
}

}  // namespace ashlar
