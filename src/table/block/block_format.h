// The bytes around the blocks of a table: handles, trailers, checksums, the footer.
//
//   file     [block][trailer] [block][trailer] ... [footer]
//   trailer  u8 compression type | fixed32 checksum of (block, type)                      5 bytes
//   handle   varint64 offset | varint64 size of the block without its trailer
//   footer   u8 checksum type | 40 bytes | fixed32 format_version | fixed64 magic        53 bytes
//            the 40 bytes, versions 1 to 5: metaindex handle, index handle, zeros
//            from version 6: 3e 00 7a 00 | fixed32 footer checksum | fixed32 base context |
//                            fixed32 metaindex size | zeros
//            version 0: the two handles, zeros to 40 bytes, fixed64 legacy magic         48 bytes
//
// From version 6 a context is added to every checksum: base ^ (low32(offset) + high32(offset)), or
// 0 if base is 0. So the checksum of a block at the wrong offset does not match. The metaindex ends
// where the footer begins, and it has the index handle under rocksdb.index.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "ashlar/compression_type.h"
#include "ashlar/slice.h"
#include "base/result.h"

namespace ashlar {

inline constexpr uint64_t kBlockBasedTableMagic = 0x88e241b785f4cff7u;
inline constexpr uint64_t kLegacyBlockBasedTableMagic = 0xdb4775248b80fb57u;
inline constexpr uint64_t kPlainTableMagic = 0x8242229663bf9564u;
inline constexpr uint64_t kLegacyPlainTableMagic = 0x4f3418eb7a8f13b8u;
inline constexpr uint64_t kCuckooTableMagic = 0x926789d0c5f17873u;

inline constexpr size_t kFooterBytes = 53;
inline constexpr size_t kLegacyFooterBytes = 48;
inline constexpr size_t kBlockTrailerBytes = 5;
inline constexpr size_t kBlockHandleBytesMax = 20;
inline constexpr uint32_t kFormatVersionDefault = 5;
inline constexpr uint32_t kFormatVersionWriteMin = 2;
inline constexpr uint32_t kFormatVersionWriteMax = 5;
inline constexpr uint32_t kFormatVersionReadMax = 7;
// A footer with a larger version is taken as damaged, not as written by a later release.
inline constexpr uint32_t kFormatVersionPlausibleMax = 100;
// A larger block is refused before memory is allocated for it. Offsets inside a block have 32 bits.
inline constexpr uint64_t kBlockBytesMax = uint64_t{1} << 30;
static_assert(kBlockBytesMax + kBlockTrailerBytes <= UINT32_MAX);
static_assert(kFooterBytes == 1 + 2 * kBlockHandleBytesMax + sizeof(uint32_t) + sizeof(uint64_t));
static_assert(kLegacyFooterBytes == 2 * kBlockHandleBytesMax + sizeof(uint64_t));

// The limit of the bytes that the keys of a data block share with the keys before them. A block
// with more is refused, unless they are at most kBlockSharedExpansionMax times the size of the
// block. That always holds if restarts are at most that many entries apart.
inline constexpr uint64_t kBlockSharedBytesMax = uint64_t{1} << 30;
inline constexpr uint64_t kBlockSharedExpansionMax = 64;

// In the last four bytes of a block, with the number of restarts: the block has a hash index.
inline constexpr uint32_t kBlockHashIndexBit = uint32_t{1} << 31;

enum class BlockChecksum : uint8_t {
  kNone = 0,
  kCrc32c = 1,
  kXxHash32 = 2,
  kXxHash64 = 3,
  kXxh3 = 4
};

struct BlockHandle {
  uint64_t offset = 0;
  uint64_t size = 0;

  bool operator==(const BlockHandle&) const = default;
};

void PutBlockHandle(std::string* out, const BlockHandle& handle);
[[nodiscard]] bool GetBlockHandle(Slice* input, BlockHandle* handle);

struct Footer {
  uint64_t magic = 0;
  uint32_t format_version = 0;
  BlockChecksum checksum = BlockChecksum::kCrc32c;
  uint32_t base_context = 0;  // 0: no context
  BlockHandle metaindex;
  BlockHandle index;  // size 0 from version 6 on: the metaindex has the handle
};

// Decodes the magic number at the end of a file, which identifies the kind of the table.
[[nodiscard]] bool DecodeTableMagic(const Slice& tail, uint64_t* magic);
// tail: the last min(kFooterBytes, file_bytes) bytes of a block-based table. Handles are checked to
// be inside the file. The caller adds the file's name to errors.
Result<Footer> DecodeFooter(const Slice& tail, uint64_t file_bytes);
// Requires: footer.format_version is 2 to 5.
void PutFooter(std::string* out, const Footer& footer);

// The checksum of a trailer, without context, for block[0, n) and the compression type in block[n].
uint32_t ComputeBlockChecksum(BlockChecksum type, const char* block, size_t n);
// The context that is added to the checksum of a block at this offset.
constexpr uint32_t ChecksumContext(uint32_t base_context, uint64_t offset) {
  return base_context == 0
             ? 0
             : base_context ^ (static_cast<uint32_t>(offset) + static_cast<uint32_t>(offset >> 32));
}

}  // namespace ashlar
