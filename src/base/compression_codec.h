// What compression.cc asks of each codec: a Compressor of its own, and a function that turns a
// payload (the stored bytes behind the raw size) back into exactly raw.size() bytes. Only for
// src/base/compression*.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "ashlar/slice.h"
#include "base/coding.h"
#include "base/compression.h"

namespace ashlar {

using CompressorResult = Result<std::unique_ptr<Compressor>>;

CompressorResult NewLz4Compressor(const CompressionParameters& parameters, const Slice& dictionary);
CompressorResult NewLz4HcCompressor(const CompressionParameters& parameters,
                                    const Slice& dictionary);
CompressorResult NewSnappyCompressor();
CompressorResult NewZlibCompressor(const CompressionParameters& parameters,
                                   const Slice& dictionary);
CompressorResult NewZstdCompressor(const CompressionParameters& parameters,
                                   const Slice& dictionary);

Status Lz4Decompress(const Slice& payload, const DecompressionDictionary* dictionary,
                     std::span<char> raw);
// Snappy's payload is all that is stored: its own framing holds the raw size.
bool SnappyRawSize(const Slice& stored, size_t* raw_bytes);
Status SnappyDecompress(const Slice& payload, std::span<char> raw);
Status ZlibDecompress(const Slice& payload, const DecompressionDictionary* dictionary,
                      std::span<char> raw);
Status ZstdDecompress(const Slice& payload, const DecompressionDictionary* dictionary,
                      std::span<char> raw);

inline Slice DictionaryBytes(const DecompressionDictionary* dictionary) {
  return dictionary == nullptr ? Slice() : dictionary->bytes();
}

// Raw sizes are 32-bit in the format, and the codecs count in int.
inline constexpr size_t kCompressibleBytesMax = size_t{0x7e000000};

// The most bytes that compressed data may take and still be worth its decompression: less than 7/8
// of the raw size.
constexpr size_t WorthwhileBytesMax(size_t raw_bytes) {
  return raw_bytes == 0 ? 0 : raw_bytes - raw_bytes / 8 - 1;
}

// The compressed form in the making: [raw size | room]. The room ends where compression stops being worthwhile, so that a codec gives up there.
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
  // 0 when no result could be worthwhile.
  size_t room_bytes() const { return room_bytes_; }
  // payload_bytes of the room are the result.
  void Finish(size_t payload_bytes) { out_->resize(prefix_bytes_ + payload_bytes); }

 private:
  std::string* const out_;
  const size_t prefix_bytes_;
  size_t room_bytes_ = 0;
};

}  // namespace ashlar
