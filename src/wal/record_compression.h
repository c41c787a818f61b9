// The codec of a log that begins with a compression fragment. Each record of such a log is one ZSTD
// frame, which is cut into fragments like any other record.
//
// Thread safety: one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "ashlar/compression_type.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "base/result.h"

namespace ashlar {

// A longer record is neither written nor accepted by a reader.
inline constexpr size_t kCompressedRecordBytesMax = size_t{1} << 30;

class RecordCompressor {
 public:
  // Requires: CompressesLogs(type). Returns MemoryLimit if a context cannot be allocated.
  static Result<std::unique_ptr<RecordCompressor>> Create(CompressionType type);
  ~RecordCompressor();
  RecordCompressor(const RecordCompressor&) = delete;
  RecordCompressor& operator=(const RecordCompressor&) = delete;

  // Returns the frame of the concatenated pieces, valid until the next call.
  Result<Slice> Compress(std::span<const Slice> pieces);

 private:
  struct Context;
  explicit RecordCompressor(std::unique_ptr<Context> context);

  const std::unique_ptr<Context> context_;
  std::string frame_;
};

class RecordDecompressor {
 public:
  // codec: the value in the compression fragment. Returns NotSupported naming the codec unless it
  // is ZSTD and ZSTD is built in.
  static Result<std::unique_ptr<RecordDecompressor>> Create(uint32_t codec);
  ~RecordDecompressor();
  RecordDecompressor(const RecordDecompressor&) = delete;
  RecordDecompressor& operator=(const RecordDecompressor&) = delete;

  // Replaces *out and allocates at most bytes_max for it. Corruption unless the input is exactly
  // one frame of at most bytes_max uncompressed. MemoryLimit if the codec cannot allocate a window.
  Status Decompress(const Slice& frame, size_t bytes_max, std::string* out);

 private:
  struct Context;
  explicit RecordDecompressor(std::unique_ptr<Context> context);

  const std::unique_ptr<Context> context_;
};

}  // namespace ashlar
