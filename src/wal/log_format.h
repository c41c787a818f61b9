// The framing of write-ahead logs and MANIFESTs. Records are cut into fragments that never cross a
// block boundary.
//
//   file      block (32 KiB) | block | ... | the last one may be short
//   block     fragment | fragment | ... | fewer zero bytes than a header has
//   fragment  fixed32 masked crc32c of everything from the type on | u16 payload length | u8 type |
//             payload
//   recyclable fragment (types 5 to 8, 11, 131)
//             fixed32 masked crc | u16 length | u8 type | fixed32 low half of the log number |
//             payload
//
//   a record is  Full  or  First Middle* Last
//
// In a recycled file, fragments of the older log follow those of the new one. The log number
// distinguishes them. A writer gives all fragments of a log the same kind, except that the
// compression fragment is always plain.
//
// In a compressed log (kSetCompression), a fragment at the start of a block never fills the block.
// RocksDB 7.8 reads every block into the same buffer and mistakes a fragment at the address of the
// previous fragment for that fragment, so the rest of the record would be lost.
//
// An empty payload is legal. A header of zeros marks space that was reserved and never written.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ashlar::log_format {

inline constexpr size_t kBlockBytes = 32768;
inline constexpr size_t kHeaderBytes = 4 + 2 + 1;
inline constexpr size_t kRecyclableHeaderBytes = kHeaderBytes + 4;

enum FragmentType : uint8_t {
  kZero = 0,
  kFull = 1,
  kFirst = 2,
  kMiddle = 3,
  kLast = 4,
  kRecyclableFull = 5,
  kRecyclableFirst = 6,
  kRecyclableMiddle = 7,
  kRecyclableLast = 8,
  kSetCompression = 9,  // payload: fixed32 codec of the records that follow
  kUserTimestampSizes = 10,
  kRecyclableUserTimestampSizes = 11,
  kPredecessorLog =
      130,  // number, size and last sequence of the log before this one; carries no data
  kRecyclablePredecessorLog = 131,
};

// A reader may skip a fragment of an unknown type if the type has this bit.
inline constexpr uint8_t kIgnorableBit = 0x80;

inline constexpr bool IsRecyclable(uint8_t type) {
  return (type >= kRecyclableFull && type <= kRecyclableLast) ||
         type == kRecyclableUserTimestampSizes || type == kRecyclablePredecessorLog;
}
inline constexpr size_t HeaderBytes(uint8_t type) {
  return IsRecyclable(type) ? kRecyclableHeaderBytes : kHeaderBytes;
}

}  // namespace ashlar::log_format
