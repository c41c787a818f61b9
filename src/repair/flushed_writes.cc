#include "repair/flushed_writes.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace ashlar {

namespace {

// Returns the sequence of the key's newest version, or nothing if it has no version.
std::optional<SequenceNumber> FindNewest(const std::vector<KeyVersion>& versions,
                                         uint64_t key_hash) {
  const KeyVersion last{.key_hash = key_hash, .sequence = kSequenceNumberMax, .is_operand = true};
  const auto after = std::upper_bound(versions.begin(), versions.end(), last);
  if (after == versions.begin() || std::prev(after)->key_hash != key_hash) return std::nullopt;
  return std::prev(after)->sequence;
}

}  // namespace

LoggedWrite LoggedWrite::Of(const BatchRecord& record, SequenceNumber sequence) {
  if (IsRange(record.type))
    return {.sequence = sequence, .key_hash = KeyVersion::kRangeHash, .kind = Kind::kRange};
  return {.sequence = sequence,
          .key_hash = Hash64(record.key),
          .kind = IsOperand(record.type) ? Kind::kMerge : Kind::kPoint};
}

void LoggedKeys::Add(const LoggedWrite& write) {
  hashes_.insert(write.key_hash);
  smallest_ = std::min(smallest_, write.sequence);
  largest_ = std::max(largest_, write.sequence);
}

void LoggedKeys::TakeVersion(const KeyVersion& version, std::vector<KeyVersion>* versions) const {
  if (!hashes_.contains(version.key_hash)) return;
  const bool is_newest = versions->empty() || versions->back().key_hash != version.key_hash;
  const bool ends_operands = !is_newest && versions->back().is_operand && !version.is_operand;
  const bool may_be_logged = version.sequence >= smallest_ && version.sequence <= largest_;
  if (is_newest || ends_operands || may_be_logged) versions->push_back(version);
}

FlushedWrites::FlushedWrites(Args args) : args_(std::move(args)) {
  std::sort(args_.versions.begin(), args_.versions.end());
  std::copy_if(args_.versions.begin(), args_.versions.end(), std::back_inserter(values_),
               [](const KeyVersion& version) { return !version.is_operand; });
}

void FlushedWrites::Note(const LoggedWrite& write) {
  if (!args_.knows_logs) {
    if (HasVersion(write)) flushed_sequence_ = std::max(flushed_sequence_, write.sequence);
  }
  if (args_.is_lossy && write.kind == LoggedWrite::Kind::kPoint) {
    const auto [base, is_first] = bases_.emplace(write.key_hash, write.sequence);
    if (!is_first) base->second = std::min(base->second, write.sequence);
  }
}

bool FlushedWrites::Holds(FileNumber log, const LoggedWrite& write) const {
  const bool was_flushed = WasFlushed(log, write);
  if (write.kind == LoggedWrite::Kind::kRange)
    return was_flushed || (!args_.is_lossy && HasVersion(write));  // I3
  const bool is_point = write.kind == LoggedWrite::Kind::kPoint;
  const std::optional<SequenceNumber> newest =
      FindNewest(is_point ? values_ : args_.versions, write.key_hash);
  if (newest.has_value() && *newest >= write.sequence) return true;  // I1
  if (!was_flushed || !args_.is_lossy) return was_flushed;           // I2
  if (is_point) return newest == 0 && HasNewer(write);               // I3
  if (newest != 0) return false;
  const auto base = bases_.find(write.key_hash);
  return base == bases_.end() || base->second > write.sequence;  // I3
}

bool FlushedWrites::HasNewer(const LoggedWrite& write) const {
  const std::optional<SequenceNumber> newest = FindNewest(args_.versions, write.key_hash);
  return write.kind != LoggedWrite::Kind::kRange && newest.has_value() && *newest > write.sequence;
}

bool FlushedWrites::HasVersion(const LoggedWrite& write) const {
  const KeyVersion version{.key_hash = write.key_hash, .sequence = write.sequence};
  const auto found = std::lower_bound(args_.versions.begin(), args_.versions.end(), version);
  return found != args_.versions.end() && found->key_hash == write.key_hash &&
         found->sequence == write.sequence;
}

}  // namespace ashlar
