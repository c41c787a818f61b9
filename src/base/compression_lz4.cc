#include <lz4.h>
#include <lz4hc.h>

#include <cstring>

#include "base/compression_codec.h"

namespace ashlar {
namespace {

// LZ4 looks back 64 KiB at most.
constexpr size_t kDictionaryBytesMax = size_t{64} << 10;

std::string UsefulDictionary(const Slice& dictionary) {
  const size_t bytes =
      dictionary.size() < kDictionaryBytesMax ? dictionary.size() : kDictionaryBytesMax;
  return std::string(dictionary.data() + (dictionary.size() - bytes), bytes);
}

// Without a dictionary every block begins with a cleared state. Clearing 16 KiB is cheaper than
// continuing the stream, in which every stale position of an earlier block is a mispredicted branch
// (2.7 times the time for 4 KiB blocks). Small blocks also get LZ4's table of 16-bit positions.
class Lz4Compressor final : public Compressor {
 public:
  Lz4Compressor(int acceleration, const Slice& dictionary)
      : acceleration_(acceleration), dictionary_(UsefulDictionary(dictionary)) {
    LZ4_initStream(&prepared_, sizeof(prepared_));
    if (!dictionary_.empty())
      LZ4_loadDict(&prepared_, dictionary_.data(), static_cast<int>(dictionary_.size()));
  }

  bool Compress(const Slice& raw, std::string* out) override {
    CompressionFrame frame(raw.size(), out);
    if (frame.room_bytes() == 0) return false;
    const int raw_bytes = static_cast<int>(raw.size());
    const int room_bytes = static_cast<int>(frame.room_bytes());
    int bytes;
    if (dictionary_.empty()) {
      bytes = LZ4_compress_fast_extState(&working_, raw.data(), frame.room(), raw_bytes, room_bytes,
                                         acceleration_);
    } else {
      // Copying the prepared state is cheaper than hashing the dictionary again.
      memcpy(&working_, &prepared_, sizeof(working_));
      bytes = LZ4_compress_fast_continue(&working_, raw.data(), frame.room(), raw_bytes, room_bytes,
                                         acceleration_);
    }
    if (bytes <= 0) return false;
    frame.Finish(static_cast<size_t>(bytes));
    return true;
  }

 private:
  const int acceleration_;
  const std::string dictionary_;
  LZ4_stream_t prepared_;  // with the dictionary loaded
  LZ4_stream_t working_;
};

class Lz4HcCompressor final : public Compressor {
 public:
  Lz4HcCompressor(int level, const Slice& dictionary)
      : level_(level), dictionary_(UsefulDictionary(dictionary)), stream_(LZ4_createStreamHC()) {}

  bool ready() const { return stream_ != nullptr; }

  bool Compress(const Slice& raw, std::string* out) override {
    CompressionFrame frame(raw.size(), out);
    if (frame.room_bytes() == 0) return false;
    LZ4_resetStreamHC_fast(stream_.get(), level_);
    if (!dictionary_.empty())
      LZ4_loadDictHC(stream_.get(), dictionary_.data(), static_cast<int>(dictionary_.size()));
    const int bytes = LZ4_compress_HC_continue(stream_.get(), raw.data(), frame.room(),
                                               static_cast<int>(raw.size()),
                                               static_cast<int>(frame.room_bytes()));
    if (bytes <= 0) return false;
    frame.Finish(static_cast<size_t>(bytes));
    return true;
  }

 private:
  struct FreeStream {
    void operator()(LZ4_streamHC_t* stream) const { LZ4_freeStreamHC(stream); }
  };

  const int level_;
  const std::string dictionary_;
  const std::unique_ptr<LZ4_streamHC_t, FreeStream> stream_;
};

}  // namespace

CompressorResult NewLz4Compressor(const CompressionParameters& parameters,
                                  const Slice& dictionary) {
  // LZ4 clamps values above its largest acceleration.
  constexpr int kLevelMin = -65537;
  const int level = parameters.level < kLevelMin ? kLevelMin : parameters.level;
  return std::unique_ptr<Compressor>(
      std::make_unique<Lz4Compressor>(level < 0 ? -level : 1, dictionary));
}

CompressorResult NewLz4HcCompressor(const CompressionParameters& parameters,
                                    const Slice& dictionary) {
  // LZ4HC uses 0 for its default, and clamps values out of range.
  const int level = parameters.level == kDefaultCompressionLevel ? 0 : parameters.level;
  auto compressor = std::make_unique<Lz4HcCompressor>(level, dictionary);
  if (!compressor->ready())
    return Status::MemoryLimit("LZ4HC: no memory for a compression context");
  return std::unique_ptr<Compressor>(std::move(compressor));
}

Status Lz4Decompress(const Slice& payload, const DecompressionDictionary* dictionary,
                     std::span<char> raw) {
  if (payload.size() > kCompressibleBytesMax || raw.size() > kCompressibleBytesMax)
    return Status::Corruption("LZ4 block larger than LZ4 allows");
  Slice bytes = DictionaryBytes(dictionary);
  if (bytes.size() > kDictionaryBytesMax) bytes.remove_prefix(bytes.size() - kDictionaryBytesMax);
  const int result = LZ4_decompress_safe_usingDict(
      payload.data(), raw.data(), static_cast<int>(payload.size()), static_cast<int>(raw.size()),
      bytes.data(), static_cast<int>(bytes.size()));
  if (result < 0 || static_cast<size_t>(result) != raw.size())
    return Status::Corruption("LZ4 block does not decompress");
  return Status::OK();
}

}  // namespace ashlar
