#include "wal/record_decompressor.h"

#if !defined(ASHLAR_WITHOUT_ZSTD)
#include <zstd.h>
#endif

#include <algorithm>
#include <utility>

#include "ashlar/compression_type.h"
#include "base/compression.h"
#include "base/format.h"

namespace ashlar {

#if defined(ASHLAR_WITHOUT_ZSTD)

// Create has refused.
struct RecordDecompressor::Context {
  const void* zstd = nullptr;
};
Status RecordDecompressor::Decompress(const Slice&, size_t, std::string*) {
  return ValidateCompressionType(kZSTD);
}

#else

namespace {

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

}  // namespace

struct RecordDecompressor::Context {
  std::unique_ptr<ZSTD_DCtx, FreeContext> zstd{ZSTD_createDCtx()};
};

Status RecordDecompressor::Decompress(const Slice& frame, size_t bytes_max, std::string* out) {
  ZSTD_DCtx* zstd = context_->zstd.get();
  ZSTD_DCtx_reset(zstd, ZSTD_reset_session_only);
  ZSTD_inBuffer input{frame.data(), frame.size(), 0};
  size_t produced = 0;
  while (true) {
    if (produced == out->size()) {
      if (produced >= bytes_max) return Status::Corruption("compressed record is too long");
      out->resize(std::min(bytes_max, std::max(2 * produced, ZSTD_DStreamOutSize())));
    }
    const size_t consumed_before = input.pos;
    ZSTD_outBuffer output{out->data(), out->size(), produced};
    const size_t left = ZSTD_decompressStream(zstd, &output, &input);
    if (ZSTD_isError(left)) return Status::Corruption("compressed record is malformed");
    const bool moved = output.pos > produced || input.pos > consumed_before;
    produced = output.pos;
    if (left == 0) break;
    if (!moved && output.pos < output.size)
      return Status::Corruption("compressed record is cut short");
  }
  if (input.pos != input.size)
    return Status::Corruption("compressed record has bytes behind its end");
  out->resize(produced);
  return Status::OK();
}

#endif

RecordDecompressor::RecordDecompressor(std::unique_ptr<Context> context)
    : context_(std::move(context)) {}
RecordDecompressor::~RecordDecompressor() = default;

Result<std::unique_ptr<RecordDecompressor>> RecordDecompressor::Create(uint32_t codec) {
  if (codec != kZSTD) {
    const char* name =
        codec <= 0xff ? CompressionTypeName(static_cast<CompressionType>(codec)) : "Unknown";
    return Status::NotSupported(StrCat("log compressed with codec ", codec, " (", name, ")"));
  }
  ASHLAR_RETURN_IF_ERROR(ValidateCompressionType(kZSTD));
  auto context = std::make_unique<Context>();
  if (context->zstd == nullptr) return Status::MemoryLimit("no memory for a ZSTD context");
  return std::unique_ptr<RecordDecompressor>(new RecordDecompressor(std::move(context)));
}

}  // namespace ashlar
