// The framing of write-ahead logs and MANIFESTs: records cut into fragments that never cross a
// block.
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
// A file that is written over holds fragments of the older log after those of the new one: the
// number tells them apart. All logs of one writer have the same kind of fragments, except that the
// compression fragment is always plain.
//
// In a compressed log (kSetCompression) no fragment that begins a block fills it. RocksDB 7.8 reads
// blocks into one buffer, and takes a fragment at the address of the one before for that one: the
// rest of the record would be lost.
//
// Length 0 is a legal payload. A header of zeros marks space that was reserved and never written.
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

// A reader that does not know a type with this bit may skip the fragment.
inline constexpr uint8_t kIgnorableBit = 0x80;

inline constexpr bool IsRecyclable(uint8_t type) {
  return (type >= kRecyclableFull && type <= kRecyclableLast) ||
         type == kRecyclableUserTimestampSizes || type == kRecyclablePredecessorLog;
}
inline constexpr size_t HeaderBytes(uint8_t type) {
  return IsRecyclable(type) ? kRecyclableHeaderBytes : kHeaderBytes;
}

}  // namespace ashlar::log_format
