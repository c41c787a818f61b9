#include "lsm/predecessor_record.h"

#include <string_view>

#include "ashlar/write_batch.h"
#include "base/assert.h"
#include "base/coding.h"
#include "key/write_batch_internal.h"

namespace ashlar {

namespace {
constexpr std::string_view kPrefix = "ashlar.log.continues:";
// The header of a batch, a type, the length of the log data, and the log data.
constexpr size_t kBytesMax = WriteBatchInternal::kHeaderBytes + 1 + kVarint32BytesMax +
                             kPrefix.size() + 2 * kVarint64BytesMax;
}  // namespace

std::string EncodePredecessorRecord(const PredecessorRecord& predecessor,
                                    SequenceNumber next_sequence) {
  std::string blob(kPrefix);
  PutVarint64(&blob, predecessor.previous_number);
  PutVarint64(&blob, predecessor.previous_bytes);
  WriteBatch batch;
  const Status put = batch.PutLogData(blob);
  ASHLAR_ASSERT(put.ok());  // the blob is short
  WriteBatchInternal::SetSequence(&batch, next_sequence);
  return batch.Data();
}

std::optional<PredecessorRecord> DecodePredecessorRecord(const Slice& record) {
  BatchReader reader(record);
  if (!reader.Next() || reader.record().type != ValueType::kLogData) return std::nullopt;
  Slice blob = reader.record().value;
  if (reader.Next() || !reader.status().ok()) return std::nullopt;  // it has more than that
  if (!blob.starts_with(Slice(kPrefix.data(), kPrefix.size()))) return std::nullopt;
  blob.remove_prefix(kPrefix.size());
  PredecessorRecord predecessor;
  if (!GetVarint64(&blob, &predecessor.previous_number) ||
      !GetVarint64(&blob, &predecessor.previous_bytes) || !blob.empty())
    return std::nullopt;
  return predecessor;
}

bool ReadsAsPredecessorRecord(std::span<const Slice> pieces) {
  size_t bytes = 0;
  for (const Slice& piece : pieces) bytes += piece.size();
  if (bytes > kBytesMax) return false;
  std::string record;
  for (const Slice& piece : pieces) record.append(piece.data(), piece.size());
  return DecodePredecessorRecord(record).has_value();
}

}  // namespace ashlar
