// PredecessorRecord: the first record of a log that continues another. It holds the number of that
// log and its length when it was closed.
//
//   batch   sequence of the next write, fixed64 | count 0, fixed32 | 03 | string:
//           "ashlar.log.continues:" varint64 number, varint64 bytes
//
// A log is not synced when the next one takes over, so a power cut may keep records of the newer
// log and lose some of the older one; cut at the end of a record, the older log looks whole. The
// record shows the loss. It is a write batch with nothing but log data, which every reader of the
// format passes over.
//
// A program may write log data of any bytes (WriteBatch::PutLogData). Those that would read as such
// a record go to the log with a further record after them.
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
// Nothing when the record is another.
std::optional<PredecessorRecord> DecodePredecessorRecord(const Slice& record);

// True if the pieces are one after another what DecodePredecessorRecord accepts.
bool ReadsAsPredecessorRecord(std::span<const Slice> pieces);
// Log data of no bytes. Appended to a batch that reads as a predecessor record, they make it
// another.
inline constexpr std::string_view kEmptyLogData("\x03\x00", 2);

}  // namespace ashlar
