// Compression of blocks, in the framing of tables of format_version 2 and up.
//
//   snappy                 its own framing, which begins with the raw size
//   zlib, lz4, lz4hc, zstd varint32 raw size, then: raw deflate | an LZ4 block | a ZSTD frame
//
// I1. A raw size is checked against the caller's limit before memory is allocated for it, and
//     exactly that many bytes must come out.
// I2. Compress and Decompress of the same type and dictionary are inverse.
// Errors name the codec, never the bytes. The caller, which knows the file and the offset, adds
// them. Thread safety: one thread at a time may use a Compressor. Any number may use a dictionary
// and the functions (their contexts are per thread and are freed when it ends).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/compression_type.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "base/compiler.h"
#include "base/result.h"

struct ZSTD_DDict_s;

namespace ashlar {

// The name in table properties: "NoCompression", "Snappy", ..., "ZSTD". "Unknown" for other values.
const char* CompressionTypeName(CompressionType type);
// Returns Ok, or NotSupported with the codec's name. kNoCompression is Ok.
Status ValidateCompressionType(CompressionType type);
// The codecs of this build.
std::vector<CompressionType> SupportedCompressionTypes();
// Returns true if logs can be written with the codec. That is only ZSTD, if it is built in.
bool CompressesLogs(CompressionType type);

// Leaves the level to the codec: zlib 6, lz4 1, lz4hc 9, zstd 3.
inline constexpr int kDefaultCompressionLevel = 32767;

struct CompressionParameters {
  // lz4: a negative level -n sets LZ4's acceleration to n, which trades size for speed.
  int level = kDefaultCompressionLevel;
  int window_bits = -14;  // zlib: -9 to -14, raw deflate; RocksDB reads no wider window
  int strategy = 0;       // zlib
};

// Returns Ok, NotSupported with the codec's name, or InvalidArgument for parameters out of its
// range. kNoCompression is Ok.
Status ValidateCompression(CompressionType type, const CompressionParameters& parameters);

// A dictionary for the data blocks of one table, made from samples of them.
struct DictionaryParameters {
  size_t bytes_max = 0;  // 0: no dictionary
  // Limits the samples for ZSTD's dictionary builder. 0: the samples are the dictionary.
  size_t train_bytes_max = 0;
  bool use_trainer = true;        // false: ZSTD only adds its tables to the samples
  uint64_t buffer_bytes_max = 0;  // limits blocks that wait for the dictionary; 0: a complete table
};

// Returns true if this build has the codec and the codec supports dictionaries.
bool TakesDictionary(CompressionType type);
// Builds a dictionary from concatenated samples with their sizes. Returns an empty string if the
// result is not useful, or if this build lacks ZSTD's builder.
std::string MakeDictionary(const DictionaryParameters& parameters, int level, const Slice& samples,
                           const std::vector<size_t>& sizes);

// Compresses blocks, one after another, with one set of buffers.
class Compressor {
 public:
  // `dictionary` is copied. It may be empty, and snappy ignores it. Returns InvalidArgument for
  // parameters out of range, or MemoryLimit. Not for kNoCompression.
  static Result<std::unique_ptr<Compressor>> Create(CompressionType type,
                                                    const CompressionParameters& parameters,
                                                    const Slice& dictionary);

  virtual ~Compressor() = default;
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  // Replaces *out with the framed bytes. Returns false, with *out unspecified, if the codec fails
  // or its result is not less than 7/8 of the raw size. Store the block uncompressed then.
  [[nodiscard]] virtual bool Compress(const Slice& raw, std::string* out) = 0;

 protected:
  Compressor() = default;
};

// A dictionary that is prepared for decompression with any codec. It is prepared once for a table,
// so that it need not be digested for each block.
class DecompressionDictionary {
 public:
  explicit DecompressionDictionary(const Slice& bytes);
  ~DecompressionDictionary();
  DecompressionDictionary(const DecompressionDictionary&) = delete;
  DecompressionDictionary& operator=(const DecompressionDictionary&) = delete;

  Slice bytes() const ASHLAR_LIFETIME_BOUND { return bytes_; }
  size_t MemoryUsage() const;
  // Null if an allocation failed or the bytes are no dictionary. ZSTD then reads the bytes again
  // for each block, and refuses the block if they are no dictionary.
  const ZSTD_DDict_s* zstd() const ASHLAR_LIFETIME_BOUND { return zstd_; }

 private:
  const std::string bytes_;
  ZSTD_DDict_s* const zstd_;  // owned
};

// Returns the raw size that the stored bytes claim. Returns Corruption if it is unreadable or
// greater than raw_bytes_max. Not for kNoCompression.
Result<size_t> DecompressedSize(CompressionType type, const Slice& stored, size_t raw_bytes_max);

// Decompresses into out[0, raw_bytes), where raw_bytes is the result of DecompressedSize. Returns
// Corruption unless exactly that many bytes come out. `dictionary` may be null.
Status DecompressInto(CompressionType type, const Slice& stored,
                      const DecompressionDictionary* dictionary, char* out, size_t raw_bytes);

// Calls the two functions above. Replaces *out.
Status Decompress(CompressionType type, const Slice& stored,
                  const DecompressionDictionary* dictionary, size_t raw_bytes_max,
                  std::string* out);

}  // namespace ashlar
