#include "table/block/block_format.h"

#include "base/assert.h"
#include "base/coding.h"
#include "base/crc32c.h"
#include "base/format.h"
#include "base/hash.h"

namespace ashlar {

namespace {

constexpr size_t kMagicBytes = 8;
constexpr size_t kFooterMiddleBytes = 40;
constexpr char kExtendedMagic[4] = {0x3e, 0x00, 0x7a, 0x00};
constexpr uint32_t kLastByteFactor = 0x6b9083d9u;

// Computes the checksum of all n bytes. kXxh3 hashes the last byte separately.
uint32_t ChecksumOfBytes(BlockChecksum type, const char* data, size_t n) {
  switch (type) {
    case BlockChecksum::kNone: return 0;
    case BlockChecksum::kCrc32c: return crc32c::Mask(crc32c::Value(data, n));
    case BlockChecksum::kXxHash32: return XxHash32(data, n);
    case BlockChecksum::kXxHash64: return LowerHash32(XxHash64(data, n));
    case BlockChecksum::kXxh3: {
      if (n == 0) return 0;
      return LowerHash32(Hash64(data, n - 1)) ^
             (static_cast<uint8_t>(data[n - 1]) * kLastByteFactor);
    }
  }
  return 0;
}

Status CheckInsideFile(const BlockHandle& handle, uint64_t limit, const char* what) {
  if (handle.offset > limit || handle.size > limit - handle.offset) {
    return Status::Corruption(StrCat("footer: the ", what, " handle points outside the file"));
  }
  return Status::OK();
}

// Decodes the middle of a footer of version 6 or 7, and checks the footer's own checksum, which
// includes the context.
Status DecodeMiddle6(const Slice& footer_bytes, uint64_t footer_offset, Footer* footer) {
  ASHLAR_DCHECK(footer_bytes.size() == kFooterBytes);  // a legacy footer has version 0
  Slice middle(footer_bytes.data() + 1, kFooterMiddleBytes);
  if (!middle.starts_with(Slice(kExtendedMagic, sizeof(kExtendedMagic))))
    return Status::Corruption("footer: bad extended magic number");
  middle.remove_prefix(sizeof(kExtendedMagic));
  uint32_t stored_checksum = 0;
  uint32_t metaindex_bytes = 0;
  if (!GetFixed32(&middle, &stored_checksum) || !GetFixed32(&middle, &footer->base_context) ||
      !GetFixed32(&middle, &metaindex_bytes)) {
    return Status::Corruption("footer: too short");
  }
  char copy[kFooterBytes];
  memcpy(copy, footer_bytes.data(), kFooterBytes);
  EncodeFixed32(copy + 1 + sizeof(kExtendedMagic), 0);
  const uint32_t actual = ChecksumOfBytes(footer->checksum, copy, kFooterBytes) +
                          ChecksumContext(footer->base_context, footer_offset);
  // Without checksums only the context is stored, and RocksDB checks that too.
  if (actual != stored_checksum) return Status::Corruption("footer: checksum mismatch");
  if (DecodeFixed64(footer_bytes.data() + 1 + kFooterMiddleBytes - 8) != 0) {
    return Status::NotSupported("footer: the file uses a feature of a later version");
  }
  if (metaindex_bytes + uint64_t{kBlockTrailerBytes} > footer_offset)
    return Status::Corruption("footer: the metaindex does not fit into the file");
  footer->metaindex = {footer_offset - kBlockTrailerBytes - metaindex_bytes, metaindex_bytes};
  return Status::OK();
}

}  // namespace

void PutBlockHandle(std::string* out, const BlockHandle& handle) {
  PutVarint64(out, handle.offset);
  PutVarint64(out, handle.size);
}

bool GetBlockHandle(Slice* input, BlockHandle* handle) {
  return GetVarint64(input, &handle->offset) && GetVarint64(input, &handle->size);
}

bool DecodeTableMagic(const Slice& tail, uint64_t* magic) {
  if (tail.size() < kMagicBytes) return false;
  *magic = DecodeFixed64(tail.data() + tail.size() - kMagicBytes);
  return true;
}

Result<Footer> DecodeFooter(const Slice& tail, uint64_t file_bytes) {
  Footer footer;
  if (!DecodeTableMagic(tail, &footer.magic))
    return Status::Corruption("the file is too short to be a table");
  const bool legacy = footer.magic == kLegacyBlockBasedTableMagic;
  if (!legacy && footer.magic != kBlockBasedTableMagic)
    return Status::Corruption("bad magic number: not a block-based table");
  const size_t footer_bytes = legacy ? kLegacyFooterBytes : kFooterBytes;
  if (tail.size() < footer_bytes || file_bytes < footer_bytes)
    return Status::Corruption("the file is too short to be a table");
  const Slice bytes(tail.data() + tail.size() - footer_bytes, footer_bytes);
  const uint64_t footer_offset = file_bytes - footer_bytes;

  Slice middle(bytes.data(), kFooterMiddleBytes);
  if (!legacy) {
    const auto checksum = static_cast<uint8_t>(bytes[0]);
    footer.format_version = DecodeFixed32(bytes.data() + 1 + kFooterMiddleBytes);
    if (footer.format_version > kFormatVersionPlausibleMax)
      return Status::Corruption(
          StrCat("footer: format_version ", footer.format_version, " is impossible"));
    if (footer.format_version > kFormatVersionReadMax) {
      return Status::NotSupported(StrCat("footer: format_version ", footer.format_version,
                                         " is not known (or the footer is damaged)"));
    }
    if (checksum > static_cast<uint8_t>(BlockChecksum::kXxh3)) {
      return Status::Corruption(
          StrCat("footer: checksum type ", static_cast<unsigned>(checksum), " is not known"));
    }
    footer.checksum = static_cast<BlockChecksum>(checksum);
    middle = Slice(bytes.data() + 1, kFooterMiddleBytes);
  }
  if (footer.format_version >= 6) {
    ASHLAR_RETURN_IF_ERROR(DecodeMiddle6(bytes, footer_offset, &footer));
    return footer;
  }
  if (!GetBlockHandle(&middle, &footer.metaindex) || !GetBlockHandle(&middle, &footer.index))
    return Status::Corruption("footer: bad block handle");
  ASHLAR_RETURN_IF_ERROR(CheckInsideFile(footer.metaindex, footer_offset, "metaindex"));
  ASHLAR_RETURN_IF_ERROR(CheckInsideFile(footer.index, footer_offset, "index"));
  return footer;
}

void PutFooter(std::string* out, const Footer& footer) {
  ASHLAR_ASSERT(footer.format_version >= kFormatVersionWriteMin &&
                footer.format_version <= kFormatVersionWriteMax);  // versions 2 to 5
  out->push_back(static_cast<char>(footer.checksum));
  const size_t middle = out->size();
  PutBlockHandle(out, footer.metaindex);
  PutBlockHandle(out, footer.index);
  out->resize(middle + kFooterMiddleBytes, '\0');
  PutFixed32(out, footer.format_version);
  PutFixed64(out, kBlockBasedTableMagic);
}

uint32_t ComputeBlockChecksum(BlockChecksum type, const char* block, size_t n) {
  return ChecksumOfBytes(type, block, n + 1);
}

}  // namespace ashlar
