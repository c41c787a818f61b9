// Stands in for the codecs that a build is without, each chosen by a macro of the build. Nobody
// gets here: ValidateCompressionType has refused the type, by name, before any of these is called.
#include "base/compression_codec.h"

namespace ashlar {

#if defined(ASHLAR_WITHOUT_SNAPPY)
CompressorResult NewSnappyCompressor() { return ValidateCompressionType(kSnappyCompression); }
bool SnappyRawSize(const Slice&, size_t*) { return false; }
Status SnappyDecompress(const Slice&, std::span<char>) {
  return ValidateCompressionType(kSnappyCompression);
}
#endif

#if defined(ASHLAR_WITHOUT_ZLIB)
CompressorResult NewZlibCompressor(const CompressionParameters&, const Slice&) {
  return ValidateCompressionType(kZlibCompression);
}
Status ZlibDecompress(const Slice&, const DecompressionDictionary*, std::span<char>) {
  return ValidateCompressionType(kZlibCompression);
}
#endif

#if defined(ASHLAR_WITHOUT_LZ4)
CompressorResult NewLz4Compressor(const CompressionParameters&, const Slice&) {
  return ValidateCompressionType(kLZ4Compression);
}
CompressorResult NewLz4HcCompressor(const CompressionParameters&, const Slice&) {
  return ValidateCompressionType(kLZ4HCCompression);
}
Status Lz4Decompress(const Slice&, const DecompressionDictionary*, std::span<char>) {
  return ValidateCompressionType(kLZ4Compression);
}
#endif

#if defined(ASHLAR_WITHOUT_ZSTD)
DecompressionDictionary::DecompressionDictionary(const Slice& bytes)
    : bytes_(bytes.ToString()), zstd_(nullptr) {}
DecompressionDictionary::~DecompressionDictionary() = default;
size_t DecompressionDictionary::MemoryUsage() const { return sizeof(*this) + bytes_.capacity(); }
CompressorResult NewZstdCompressor(const CompressionParameters&, const Slice&) {
  return ValidateCompressionType(kZSTD);
}
Status ZstdDecompress(const Slice&, const DecompressionDictionary*, std::span<char>) {
  return ValidateCompressionType(kZSTD);
}
#endif

}  // namespace ashlar
