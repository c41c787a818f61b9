#include "base/compression.h"

#include <algorithm>
#include <iterator>

#include "base/coding.h"
#include "base/compression_codec.h"
#include "base/format.h"

namespace ashlar {
namespace {

// In Snappy, a copy of 64 bytes takes three bytes. In LZ4, a length byte adds 255. In deflate, a
// match of 258 bytes takes two bits. In ZSTD, a block of 128 KiB takes four bytes.
[[maybe_unused]] constexpr uint32_t kSnappyExpansionMax = 22;
[[maybe_unused]] constexpr uint32_t kLz4ExpansionMax = 255;
[[maybe_unused]] constexpr uint32_t kZlibExpansionMax = 1032;
[[maybe_unused]] constexpr uint32_t kZstdExpansionMax = 32768;
// Added to the size of a payload, because a tiny one may still expand like a minimal ZSTD block.
constexpr uint64_t kExpandedBytesMin = 4;

[[maybe_unused]] constexpr bool kTakesDictionary = true;
constexpr CompressionCodec kCodecs[] = {
#if defined(ASHLAR_WITHOUT_SNAPPY)
    {.type = kSnappyCompression},
#else
    {kSnappyCompression, kSnappyExpansionMax, &NewSnappyCompressor, &ReadSnappyRawSize,
     &SnappyDecompress},
#endif
#if defined(ASHLAR_WITHOUT_ZLIB)
    {.type = kZlibCompression},
#else
    {kZlibCompression, kZlibExpansionMax, &NewZlibCompressor, &ReadVarintRawSize, &ZlibDecompress,
     kTakesDictionary},
#endif
#if defined(ASHLAR_WITHOUT_LZ4)
    {.type = kLZ4Compression},
    {.type = kLZ4HCCompression},
#else
    {kLZ4Compression, kLz4ExpansionMax, &NewLz4Compressor, &ReadVarintRawSize, &Lz4Decompress,
     kTakesDictionary},
    {kLZ4HCCompression, kLz4ExpansionMax, &NewLz4HcCompressor, &ReadVarintRawSize, &Lz4Decompress,
     kTakesDictionary},
#endif
#if defined(ASHLAR_WITHOUT_ZSTD)
    {.type = kZSTD},
#else
    {kZSTD, kZstdExpansionMax, &NewZstdCompressor, &ReadVarintRawSize, &ZstdDecompress,
     kTakesDictionary},
#endif
};

// Returns the codec of a type, with its functions, or NotSupported with the type's name.
Result<const CompressionCodec*> FindCodec(CompressionType type) {
  for (const CompressionCodec& codec : kCodecs) {
    if (codec.type != type) continue;
    if (codec.create != nullptr) return &codec;
    return Status::NotSupported(
        StrCat("this build of the library has no ", CompressionTypeName(type), " codec"));
  }
  return Status::NotSupported(StrCat("compression type ", static_cast<unsigned>(type), " (",
                                     CompressionTypeName(type), ")"));
}

// The codec, the raw size and the payload of stored bytes.
struct StoredBlock {
  const CompressionCodec* codec;
  size_t raw_bytes;
  Slice payload;
};

Result<StoredBlock> ReadFrame(CompressionType type, const Slice& stored) {
  if (type == kNoCompression)
    return Status::InvalidArgument("an uncompressed block has no decompressed size");
  ASHLAR_ASSIGN_OR_RETURN(const CompressionCodec* const codec, FindCodec(type));
  StoredBlock block{.codec = codec, .raw_bytes = 0, .payload = stored};
  if (!codec->read_raw_size(&block.payload, &block.raw_bytes))
    return Status::Corruption(
        StrCat(CompressionTypeName(type), " block without a readable raw size"));
  if (block.raw_bytes > (block.payload.size() + kExpandedBytesMin) * codec->expansion_max)
    return Status::Corruption(StrCat(CompressionTypeName(type), " block of ", block.payload.size(),
                                     " bytes claims ", block.raw_bytes, ", more than it can hold"));
  return block;
}

Status TooLarge(CompressionType type, size_t raw_bytes, size_t raw_bytes_max) {
  return Status::Corruption(StrCat(CompressionTypeName(type), " block claims ", raw_bytes,
                                   " bytes, more than the ", raw_bytes_max, " allowed"));
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

#if defined(ASHLAR_WITHOUT_ZSTD)
DecompressionDictionary::DecompressionDictionary(const Slice& bytes)
    : bytes_(bytes.ToString()), zstd_(nullptr) {}
DecompressionDictionary::~DecompressionDictionary() = default;
size_t DecompressionDictionary::MemoryUsage() const { return sizeof(*this) + bytes_.capacity(); }
std::string BuildZstdDictionary(const DictionaryParameters& /*parameters*/, int /*level*/,
                                const Slice& /*samples*/, const std::vector<size_t>& /*sizes*/) {
  return {};
}
#endif

bool CompressesLogs(CompressionType type) {
  return type == kZSTD && ValidateCompressionType(type).ok();
}

Status ValidateCompressionType(CompressionType type) {
  return type == kNoCompression ? Status::OK() : FindCodec(type).status();
}

bool TakesDictionary(CompressionType type) {
  return std::any_of(std::begin(kCodecs), std::end(kCodecs), [type](const CompressionCodec& codec) {
    return codec.type == type && codec.takes_dictionary;
  });
}

std::vector<CompressionType> SupportedCompressionTypes() {
  std::vector<CompressionType> types;
  for (const CompressionCodec& codec : kCodecs) {
    if (codec.create != nullptr) types.push_back(codec.type);
  }
  return types;
}

std::string MakeDictionary(const DictionaryParameters& parameters, int level, const Slice& samples,
                           const std::vector<size_t>& sizes) {
  if (parameters.train_bytes_max > 0) return BuildZstdDictionary(parameters, level, samples, sizes);
  return samples.ToString();
}

Result<std::unique_ptr<Compressor>> Compressor::Create(CompressionType type,
                                                       const CompressionParameters& parameters,
                                                       const Slice& dictionary) {
  if (type == kNoCompression) return Status::InvalidArgument("NoCompression has no compressor");
  ASHLAR_ASSIGN_OR_RETURN(const CompressionCodec* const codec, FindCodec(type));
  return codec->create(parameters, dictionary);
}

Status ValidateCompression(CompressionType type, const CompressionParameters& parameters) {
  return type == kNoCompression ? Status::OK()
                                : Compressor::Create(type, parameters, Slice()).status();
}

Result<size_t> DecompressedSize(CompressionType type, const Slice& stored, size_t raw_bytes_max) {
  ASHLAR_ASSIGN_OR_RETURN(const StoredBlock block, ReadFrame(type, stored));
  if (block.raw_bytes > raw_bytes_max) return TooLarge(type, block.raw_bytes, raw_bytes_max);
  return block.raw_bytes;
}

Status DecompressInto(CompressionType type, const Slice& stored,
                      const DecompressionDictionary* dictionary, char* out, size_t raw_bytes) {
  ASHLAR_ASSIGN_OR_RETURN(const StoredBlock block, ReadFrame(type, stored));
  if (block.raw_bytes > raw_bytes) return TooLarge(type, block.raw_bytes, raw_bytes);
  if (block.raw_bytes < raw_bytes)
    return Status::Corruption(StrCat(CompressionTypeName(type), " block holds ", block.raw_bytes,
                                     " bytes in place of ", raw_bytes));
  return block.codec->decompress(block.payload, dictionary, std::span<char>(out, raw_bytes));
}

Status Decompress(CompressionType type, const Slice& stored,
                  const DecompressionDictionary* dictionary, size_t raw_bytes_max,
                  std::string* out) {
  ASHLAR_ASSIGN_OR_RETURN(const size_t raw_bytes, DecompressedSize(type, stored, raw_bytes_max));
  out->resize(raw_bytes);
  return DecompressInto(type, stored, dictionary, out->data(), raw_bytes);
}

}  // namespace ashlar
