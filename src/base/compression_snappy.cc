#include <snappy.h>

#include "base/compression_codec.h"

namespace ashlar {
namespace {

class SnappyCompressor final : public Compressor {
 public:
  bool Compress(const Slice& raw, std::string* out) override {
    if (raw.size() > kCompressibleBytesMax) return false;
    out->resize(snappy::MaxCompressedLength(raw.size()));
    size_t bytes = 0;
    snappy::RawCompress(raw.data(), raw.size(), out->data(), &bytes);
    out->resize(bytes);
    return bytes <= WorthwhileBytesMax(raw.size());
  }
};

}  // namespace

CompressorResult NewSnappyCompressor(const CompressionParameters& /*parameters*/,
                                     const Slice& /*dictionary*/) {
  return std::unique_ptr<Compressor>(std::make_unique<SnappyCompressor>());
}

bool ReadSnappyRawSize(Slice* stored, size_t* raw_bytes) {
  return snappy::GetUncompressedLength(stored->data(), stored->size(), raw_bytes);
}

Status SnappyDecompress(const Slice& payload, const DecompressionDictionary* /*dictionary*/,
                        std::span<char> raw) {
  if (snappy::RawUncompress(payload.data(), payload.size(), raw.data())) return Status::OK();
  return Status::Corruption("Snappy block does not decompress");
}

}  // namespace ashlar
