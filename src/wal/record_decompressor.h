// RecordDecompressor: the records of a log that begins with a compression fragment. A record's
// fragments together are one ZSTD frame.
//
// Thread safety: one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "base/result.h"

namespace ashlar {

class RecordDecompressor {
 public:
  // codec: the value of the compression fragment. NotSupported naming it unless it is ZSTD and that
  // is built in.
  static Result<std::unique_ptr<RecordDecompressor>> Create(uint32_t codec);
  ~RecordDecompressor();
  RecordDecompressor(const RecordDecompressor&) = delete;
  RecordDecompressor& operator=(const RecordDecompressor&) = delete;

  // Replaces *out. Corruption unless the bytes are exactly one frame of at most bytes_max; no more
  // than that is allocated.
  Status Decompress(const Slice& frame, size_t bytes_max, std::string* out);

 private:
  struct Context;
  explicit RecordDecompressor(std::unique_ptr<Context> context);

  const std::unique_ptr<Context> context_;
};

}  // namespace ashlar
