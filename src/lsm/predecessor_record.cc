#include "lsm/predecessor_record.h"

#include <string_view>

#include "ashlar/write_batch.h"
#include "base/assert.h"
#include "base/coding.h"
#include "key/write_batch_internal.h"

namespace ashlar {

namespace {
constexpr std::string_view kPrefix = "ashlar.log.continues:";
}  // namespace

std::string EncodePredecessorRecord(const PredecessorRecord& predecessor,
                                    SequenceNumber next_sequence) {
  std::string blob(kPrefix);
  PutVarint64(&blob, predecessor.previous_number);
  PutVarint64(&blob, predecessor.previous_bytes);
  WriteBatch batch;
  const Status put = batch.PutLogData(blob);
  ASHLAR_ASSERT(put.ok());
  WriteBatchInternal::SetSequence(&batch, next_sequence);
  return batch.Data();
}

std::optional<PredecessorRecord> DecodePredecessorRecord(const Slice& record) {
  BatchReader reader(record);
  if (!reader.Next() || reader.record().type != ValueType::kLogData) return std::nullopt;
  Slice blob = reader.record().value;
  if (!blob.starts_with(Slice(kPrefix.data(), kPrefix.size()))) return std::nullopt;
  blob.remove_prefix(kPrefix.size());
  PredecessorRecord predecessor;
  if (!GetVarint64(&blob, &predecessor.previous_number) ||
      !GetVarint64(&blob, &predecessor.previous_bytes) || !blob.empty())
    return std::nullopt;
  return predecessor;
}

}  // namespace ashlar
