#include "base/compression.h"

#include "base/coding.h"
#include "base/compression_codec.h"
#include "base/format.h"

namespace ashlar {
namespace {

// The build leaves out what it does not find: compression_absent.cc.
constexpr bool IsBuiltIn(CompressionType type) {
  switch (type) {
#if defined(ASHLAR_WITHOUT_SNAPPY)
    case kSnappyCompression: return false;
#endif
#if defined(ASHLAR_WITHOUT_ZLIB)
    case kZlibCompression: return false;
#endif
#if defined(ASHLAR_WITHOUT_LZ4)
    case kLZ4Compression:
    case kLZ4HCCompression: return false;
#endif
#if defined(ASHLAR_WITHOUT_ZSTD)
    case kZSTD: return false;
#endif
    default: return true;
  }
}

// Takes the raw size off the front of *stored; snappy keeps it, since its decoder reads it again.
bool ReadRawSize(CompressionType type, Slice* stored, size_t* raw_bytes) {
  if (type == kSnappyCompression) return SnappyRawSize(*stored, raw_bytes);
  uint32_t bytes;
  if (!GetVarint32(stored, &bytes)) return false;
  *raw_bytes = bytes;
  return true;
}

Status NoRawSize(CompressionType type) {
  return Status::Corruption(
      StrCat(CompressionTypeName(type), " block without a readable raw size"));
}

}  // namespace

const char* CompressionTypeName(CompressionType type) {
  switch (type) {
    case kNoCompression: return "NoCompression";
    case kSnappyCompression: return "Snappy";
    case kZlibCompression: return "Zlib";
    case kBZip2Compression: return "BZip2";
    case kLZ4Compression: return "LZ4";
    case kLZ4HCCompression: return "LZ4HC";
    case kXpressCompression: return "Xpress";
    case kZSTD: return "ZSTD";
    case kDisableCompressionOption: return "DisableOption";
  }
  return "Unknown";
}

Status ValidateCompressionType(CompressionType type) {
  if (!IsBuiltIn(type))
    return Status::NotSupported(
        StrCat("this build of the library has no ", CompressionTypeName(type), " codec"));
  switch (type) {
    case kNoCompression:
    case kSnappyCompression:
    case kZlibCompression:
    case kLZ4Compression:
    case kLZ4HCCompression:
    case kZSTD: return Status::OK();
    case kBZip2Compression:
    case kXpressCompression:
    case kDisableCompressionOption: break;
  }
  return Status::NotSupported(StrCat("compression type ", static_cast<unsigned>(type), " (",
                                     CompressionTypeName(type), ")"));
}

Result<std::unique_ptr<Compressor>> Compressor::Create(CompressionType type,
                                                       const CompressionParameters& parameters,
                                                       const Slice& dictionary) {
  ASHLAR_RETURN_IF_ERROR(ValidateCompressionType(type));
  switch (type) {
    case kSnappyCompression: return NewSnappyCompressor();
    case kZlibCompression: return NewZlibCompressor(parameters, dictionary);
    case kLZ4Compression: return NewLz4Compressor(parameters, dictionary);
    case kLZ4HCCompression: return NewLz4HcCompressor(parameters, dictionary);
    case kZSTD: return NewZstdCompressor(parameters, dictionary);
    default: break;
  }
  return Status::InvalidArgument("NoCompression has no compressor");
}

Result<size_t> DecompressedSize(CompressionType type, const Slice& stored, size_t raw_bytes_max) {
  ASHLAR_RETURN_IF_ERROR(ValidateCompressionType(type));
  if (type == kNoCompression)
    return Status::InvalidArgument("an uncompressed block has no decompressed size");
  Slice rest = stored;
  size_t raw_bytes = 0;
  if (!ReadRawSize(type, &rest, &raw_bytes)) return NoRawSize(type);
  if (raw_bytes > raw_bytes_max) {
    return Status::Corruption(StrCat(CompressionTypeName(type), " block claims ", raw_bytes,
                                     " bytes, more than the ", raw_bytes_max, " allowed"));
  }
  return raw_bytes;
}

Status DecompressInto(CompressionType type, const Slice& stored,
                      const DecompressionDictionary* dictionary, char* out, size_t raw_bytes) {
  ASHLAR_ASSIGN_OR_RETURN(const size_t claimed, DecompressedSize(type, stored, raw_bytes));
  if (claimed != raw_bytes)
    return Status::Corruption(StrCat(CompressionTypeName(type), " block holds ", claimed,
                                     " bytes in place of ", raw_bytes));
  Slice payload = stored;
  size_t unused = 0;
  if (!ReadRawSize(type, &payload, &unused)) return NoRawSize(type);
  const std::span<char> raw(out, raw_bytes);
  switch (type) {
    case kSnappyCompression: return SnappyDecompress(payload, raw);
    case kZlibCompression: return ZlibDecompress(payload, dictionary, raw);
    case kLZ4Compression:
    case kLZ4HCCompression: return Lz4Decompress(payload, dictionary, raw);
    case kZSTD: return ZstdDecompress(payload, dictionary, raw);
    default: break;
  }
  return ValidateCompressionType(type);
}

Status Decompress(CompressionType type, const Slice& stored,
                  const DecompressionDictionary* dictionary, size_t raw_bytes_max,
                  std::string* out) {
  ASHLAR_ASSIGN_OR_RETURN(const size_t raw_bytes, DecompressedSize(type, stored, raw_bytes_max));
  out->resize(raw_bytes);
  return DecompressInto(type, stored, dictionary, out->data(), raw_bytes);
}

}  // namespace ashlar
