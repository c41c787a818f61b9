// The records of a log that begins with a compression fragment: each is one ZSTD frame, cut into
// fragments like any other record.
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

// A longer record is not written, and not believed when it is read.
inline constexpr size_t kCompressedRecordBytesMax = size_t{1} << 30;

class RecordCompressor {
 public:
  // Requires: CompressesLogs(type). MemoryLimit if there is no memory for a context.
  static Result<std::unique_ptr<RecordCompressor>> Create(CompressionType type);
  ~RecordCompressor();
  RecordCompressor(const RecordCompressor&) = delete;
  RecordCompressor& operator=(const RecordCompressor&) = delete;

  // The frame of the pieces one after another, valid until the next call.
  Result<Slice> Compress(std::span<const Slice> pieces);

 private:
  struct Context;
  explicit RecordCompressor(std::unique_ptr<Context> context);

  const std::unique_ptr<Context> context_;
  std::string frame_;
};

class RecordDecompressor {
 public:
  // codec: the value of the compression fragment. NotSupported naming it unless it is ZSTD and that
  // is built in.
  static Result<std::unique_ptr<RecordDecompressor>> Create(uint32_t codec);
  ~RecordDecompressor();
  RecordDecompressor(const RecordDecompressor&) = delete;
  RecordDecompressor& operator=(const RecordDecompressor&) = delete;

  // Replaces *out. Corruption unless the bytes are exactly one frame of at most bytes_max; no more
  // than that is allocated. MemoryLimit without memory for the codec's window.
  Status Decompress(const Slice& frame, size_t bytes_max, std::string* out);

 private:
  struct Context;
  explicit RecordDecompressor(std::unique_ptr<Context> context);

  const std::unique_ptr<Context> context_;
};

}  // namespace ashlar
