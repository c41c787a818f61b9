#include "wal/record_compression.h"

#if !defined(ASHLAR_WITHOUT_ZSTD)
#include <zstd.h>
#include <zstd_errors.h>
#endif

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/compression.h"
#include "base/format.h"

namespace ashlar {

#if defined(ASHLAR_WITHOUT_ZSTD)

// Never created without ZSTD.
struct RecordCompressor::Context {
  bool IsUsable() const { return false; }
};
Result<Slice> RecordCompressor::Compress(std::span<const Slice>) {
  return ValidateCompressionType(kZSTD);
}

struct RecordDecompressor::Context {
  const void* zstd = nullptr;
};
Status RecordDecompressor::Decompress(const Slice&, size_t, std::string*) {
  return ValidateCompressionType(kZSTD);
}

#else

namespace {

// A writer waits for the compression of its record, so the level is at the fast end of the range.
constexpr int kLevel = 1;

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

}  // namespace

struct RecordCompressor::Context {
  bool IsUsable() const {
    return zstd != nullptr &&
           ZSTD_isError(ZSTD_CCtx_setParameter(zstd.get(), ZSTD_c_compressionLevel, kLevel)) == 0 &&
           ZSTD_isError(ZSTD_CCtx_setParameter(zstd.get(), ZSTD_c_checksumFlag, 1)) == 0;
  }
  const std::unique_ptr<ZSTD_CCtx, FreeContext> zstd{ZSTD_createCCtx()};
};

Result<Slice> RecordCompressor::Compress(std::span<const Slice> pieces) {
  size_t raw_bytes = 0;
  for (const Slice& piece : pieces) raw_bytes += piece.size();
  ASHLAR_ASSERT(raw_bytes <= kCompressedRecordBytesMax);  // the reader's limit
  if (const size_t room = ZSTD_compressBound(raw_bytes); frame_.size() < room) frame_.resize(room);
  ZSTD_CCtx* const zstd = context_->zstd.get();
  ZSTD_CCtx_reset(zstd, ZSTD_reset_session_only);
  // With the length in its header, a short frame needs neither a large window nor large tables.
  size_t left = ZSTD_CCtx_setPledgedSrcSize(zstd, raw_bytes);
  ZSTD_outBuffer output{frame_.data(), frame_.size(), 0};
  for (const Slice& piece : pieces) {
    ZSTD_inBuffer input{piece.data(), piece.size(), 0};
    while (ZSTD_isError(left) == 0 && input.pos < input.size)
      left = ZSTD_compressStream2(zstd, &output, &input, ZSTD_e_continue);
  }
  ZSTD_inBuffer end{nullptr, 0, 0};
  if (ZSTD_isError(left) == 0) left = ZSTD_compressStream2(zstd, &output, &end, ZSTD_e_end);
  if (ZSTD_isError(left) != 0)
    return Status::MemoryLimit("the record was not compressed", ZSTD_getErrorName(left));
  ASHLAR_ASSERT(left == 0);  // the room is enough for any contents
  return Slice(frame_.data(), output.pos);
}

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
    if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
      return Status::MemoryLimit("no memory for the window of a compressed record");
    if (ZSTD_isError(left)) return Status::Corruption("compressed record is malformed");
    const bool moved = output.pos > produced || input.pos > consumed_before;
    produced = output.pos;
    if (left == 0) break;
    if (!moved && output.pos < output.size)
      return Status::Corruption("compressed record is cut short");
  }
  if (input.pos != input.size)
    return Status::Corruption("compressed record has bytes after its end");
  out->resize(produced);
  return Status::OK();
}

#endif

RecordCompressor::RecordCompressor(std::unique_ptr<Context> context)
    : context_(std::move(context)) {}
RecordCompressor::~RecordCompressor() = default;

Result<std::unique_ptr<RecordCompressor>> RecordCompressor::Create(CompressionType type) {
  ASHLAR_ASSERT(CompressesLogs(type));  // Requires
  auto context = std::make_unique<Context>();
  if (!context->IsUsable()) return Status::MemoryLimit("no memory for a ZSTD context");
  return std::unique_ptr<RecordCompressor>(new RecordCompressor(std::move(context)));
}

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
