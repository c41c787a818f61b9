// The codecs of the library. Each library has a file, src/base/compression_<library>.cc, and each
// codec has a row in the table kCodecs in compression.cc. Only for src/base/compression*.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "base/coding.h"
#include "base/compression.h"

namespace ashlar {

using CompressorResult = Result<std::unique_ptr<Compressor>>;

// A row of the registry. If it has no functions, this build lacks the codec.
struct CompressionCodec {
  CompressionType type;
  // The most raw bytes that one payload byte can represent. A block that claims more is a bomb.
  uint32_t expansion_max = 0;
  CompressorResult (*create)(const CompressionParameters& parameters,
                             const Slice& dictionary) = nullptr;
  // Reads the raw size and leaves the payload for `decompress` in *stored. Returns false if the
  // stored bytes hold no raw size.
  bool (*read_raw_size)(Slice* stored, size_t* raw_bytes) = nullptr;
  // Fills `raw` to its end, or returns Corruption. dictionary may be null.
  Status (*decompress)(const Slice& payload, const DecompressionDictionary* dictionary,
                       std::span<char> raw) = nullptr;
  bool takes_dictionary = false;
};

CompressorResult NewLz4Compressor(const CompressionParameters& parameters, const Slice& dictionary);
CompressorResult NewLz4HcCompressor(const CompressionParameters& parameters,
                                    const Slice& dictionary);
CompressorResult NewSnappyCompressor(const CompressionParameters& parameters,
                                     const Slice& dictionary);
CompressorResult NewZlibCompressor(const CompressionParameters& parameters,
                                   const Slice& dictionary);
CompressorResult NewZstdCompressor(const CompressionParameters& parameters,
                                   const Slice& dictionary);

inline bool ReadVarintRawSize(Slice* stored, size_t* raw_bytes) {
  uint32_t bytes = 0;
  if (!GetVarint32(stored, &bytes)) return false;
  *raw_bytes = bytes;
  return true;
}
// The payload is all stored bytes, because snappy's own framing holds the raw size.
bool ReadSnappyRawSize(Slice* stored, size_t* raw_bytes);

Status Lz4Decompress(const Slice& payload, const DecompressionDictionary* dictionary,
                     std::span<char> raw);
Status SnappyDecompress(const Slice& payload, const DecompressionDictionary* dictionary,
                        std::span<char> raw);
Status ZlibDecompress(const Slice& payload, const DecompressionDictionary* dictionary,
                      std::span<char> raw);
Status ZstdDecompress(const Slice& payload, const DecompressionDictionary* dictionary,
                      std::span<char> raw);

// Returns the dictionary that ZSTD's builder makes from the samples, or an empty string.
std::string BuildZstdDictionary(const DictionaryParameters& parameters, int level,
                                const Slice& samples, const std::vector<size_t>& sizes);

inline Slice DictionaryBytes(const DecompressionDictionary* dictionary) {
  return dictionary == nullptr ? Slice() : dictionary->bytes();
}

// Raw sizes are 32-bit in the format, and the codecs count in int.
inline constexpr size_t kCompressibleBytesMax = size_t{0x7e000000};

// The largest compressed size that is worth a decompression: less than 7/8 of the raw size.
constexpr size_t WorthwhileBytesMax(size_t raw_bytes) {
  return raw_bytes == 0 ? 0 : raw_bytes - raw_bytes / 8 - 1;
}

// The output of a compressor: [raw size | room]. The room ends where compression is no longer
// worthwhile, so that a codec gives up there.
class CompressionFrame {
 public:
  CompressionFrame(size_t raw_bytes, std::string* out)
      : out_(out), prefix_bytes_(VarintLength(raw_bytes)) {
    const size_t bytes_max = WorthwhileBytesMax(raw_bytes);
    if (raw_bytes > kCompressibleBytesMax || bytes_max <= prefix_bytes_) return;
    room_bytes_ = bytes_max - prefix_bytes_;
    out_->resize(bytes_max);
    EncodeVarint64(out_->data(), raw_bytes);
  }

  char* room() { return out_->data() + prefix_bytes_; }
  // 0 if no result could be worthwhile.
  size_t room_bytes() const { return room_bytes_; }
  // The first payload_bytes of the room are the result.
  void Finish(size_t payload_bytes) { out_->resize(prefix_bytes_ + payload_bytes); }

 private:
  std::string* const out_;
  const size_t prefix_bytes_;
  size_t room_bytes_ = 0;
};

}  // namespace ashlar
