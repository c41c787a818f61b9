// PredecessorRecord: the first record of a log that continues another. It holds the number of that
// log and its length when it was closed.
//
//   batch   sequence of the next write, fixed64 | count 0, fixed32 | 03 | string:
//           "ashlar.log.continues:" varint64 number, varint64 bytes
//
// A log is not synced when the next one takes over, so a power cut may keep records of the newer
// log and lose some of the older one. If the older log then ends with a complete record, it looks
// complete, but the predecessor record shows the loss. That record is a write batch that has only
// log data, which every reader of the format skips.
//
// A program may write any bytes as log data (WriteBatch::PutLogData). A batch that would read as
// such a record is logged with a further record after it.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ashlar/slice.h"
#include "ashlar/types.h"

namespace ashlar {

struct PredecessorRecord {
  uint64_t previous_number = 0;
  uint64_t previous_bytes = 0;
};

std::string EncodePredecessorRecord(const PredecessorRecord& predecessor,
                                    SequenceNumber next_sequence);
// Returns std::nullopt if the record is a different one.
std::optional<PredecessorRecord> DecodePredecessorRecord(const Slice& record);

// True if DecodePredecessorRecord accepts the concatenation of the pieces.
bool ReadsAsPredecessorRecord(std::span<const Slice> pieces);
// Empty log data. Appended to a batch that reads as a predecessor record, it makes the batch read
// as something else.
inline constexpr std::string_view kEmptyLogData("\x03\x00", 2);

}  // namespace ashlar
