#include <zdict.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

#include "base/compression_codec.h"
#include "base/format.h"
#include "base/kept_by_thread.h"

namespace ashlar {
namespace {

constexpr int kDefaultLevel = 3;

class ZstdCompressor final : public Compressor {
 public:
  ZstdCompressor() : context_(ZSTD_createCCtx()) {}

  Status Start(const CompressionParameters& parameters, const Slice& dictionary) {
    const int level =
        parameters.level == kDefaultCompressionLevel ? kDefaultLevel : parameters.level;
    if (level < ZSTD_minCLevel() || level > ZSTD_maxCLevel()) {
      return Status::InvalidArgument(StrCat("ZSTD: level ", level, " is not between ",
                                            ZSTD_minCLevel(), " and ", ZSTD_maxCLevel()));
    }
    if (context_ == nullptr)
      return Status::MemoryLimit("ZSTD: no memory for a compression context");
    size_t result = ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
    if (ZSTD_isError(result) == 0 && !dictionary.empty()) {
      dictionary_.reset(ZSTD_createCDict(dictionary.data(), dictionary.size(), level));
      if (dictionary_ == nullptr) return Status::MemoryLimit("ZSTD: no memory for the dictionary");
      result = ZSTD_CCtx_refCDict(context_.get(), dictionary_.get());
    }
    if (ZSTD_isError(result) != 0)
      return Status::InvalidArgument("ZSTD", ZSTD_getErrorName(result));
    return Status::OK();
  }

  bool Compress(const Slice& raw, std::string* out) override {
    CompressionFrame frame(raw.size(), out);
    if (frame.room_bytes() == 0) return false;
    const size_t bytes =
        ZSTD_compress2(context_.get(), frame.room(), frame.room_bytes(), raw.data(), raw.size());
    if (ZSTD_isError(bytes) != 0) return false;
    frame.Finish(bytes);
    return true;
  }

 private:
  struct FreeContext {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  struct FreeDictionary {
    void operator()(ZSTD_CDict* dictionary) const { ZSTD_freeCDict(dictionary); }
  };

  // The context refers to the dictionary, so it is freed first.
  std::unique_ptr<ZSTD_CDict, FreeDictionary> dictionary_;
  const std::unique_ptr<ZSTD_CCtx, FreeContext> context_;
};

struct FreeDecompressionContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

size_t DecompressWith(ZSTD_DCtx* context, const Slice& payload,
                      const DecompressionDictionary* dictionary, std::span<char> raw) {
  const Slice bytes = DictionaryBytes(dictionary);
  if (bytes.empty())
    return ZSTD_decompressDCtx(context, raw.data(), raw.size(), payload.data(), payload.size());
  if (dictionary->zstd() == nullptr)
    return ZSTD_decompress_usingDict(context, raw.data(), raw.size(), payload.data(),
                                     payload.size(), bytes.data(), bytes.size());
  return ZSTD_decompress_usingDDict(context, raw.data(), raw.size(), payload.data(), payload.size(),
                                    dictionary->zstd());
}

}  // namespace

DecompressionDictionary::DecompressionDictionary(const Slice& bytes)
    : bytes_(bytes.ToString()),
      zstd_(bytes.empty() ? nullptr : ZSTD_createDDict(bytes.data(), bytes.size())) {}

DecompressionDictionary::~DecompressionDictionary() { ZSTD_freeDDict(zstd_); }

size_t DecompressionDictionary::MemoryUsage() const {
  return sizeof(*this) + bytes_.capacity() + ZSTD_sizeof_DDict(zstd_);
}

std::string BuildZstdDictionary(const DictionaryParameters& parameters, int level,
                                const Slice& samples, const std::vector<size_t>& sizes) {
  std::string dictionary(parameters.bytes_max, '\0');
  const auto count = static_cast<unsigned>(sizes.size());
  size_t bytes = 0;
  if (parameters.use_trainer) {
    bytes = ZDICT_trainFromBuffer(dictionary.data(), dictionary.size(), samples.data(),
                                  sizes.data(), count);
  } else {
    ZDICT_params_t options{};
    options.compressionLevel = level == kDefaultCompressionLevel ? kDefaultLevel : level;
    bytes = ZDICT_finalizeDictionary(dictionary.data(), dictionary.size(), samples.data(),
                                     std::min(samples.size(), dictionary.size()), samples.data(),
                                     sizes.data(), count, options);
  }
  // The builder fails if the samples are too few or too uniform.
  dictionary.resize(ZDICT_isError(bytes) != 0 ? 0 : bytes);
  return dictionary;
}

CompressorResult NewZstdCompressor(const CompressionParameters& parameters,
                                   const Slice& dictionary) {
  auto compressor = std::make_unique<ZstdCompressor>();
  ASHLAR_RETURN_IF_ERROR(compressor->Start(parameters, dictionary));
  return std::unique_ptr<Compressor>(std::move(compressor));
}

Status ZstdDecompress(const Slice& payload, const DecompressionDictionary* dictionary,
                      std::span<char> raw) {
  const KeptByThread<std::unique_ptr<ZSTD_DCtx, FreeDecompressionContext>> kept;
  std::unique_ptr<ZSTD_DCtx, FreeDecompressionContext>& context = *kept;
  if (context == nullptr) context.reset(ZSTD_createDCtx());
  if (context == nullptr) return Status::MemoryLimit("ZSTD: no memory for a decompression context");
  const size_t bytes = DecompressWith(context.get(), payload, dictionary, raw);
  if (ZSTD_isError(bytes) != 0)
    return Status::Corruption("ZSTD block does not decompress", ZSTD_getErrorName(bytes));
  if (bytes != raw.size())
    return Status::Corruption(
        StrCat("ZSTD block holds ", bytes, " bytes in place of ", raw.size()));
  return Status::OK();
}

}  // namespace ashlar
