#include <zlib.h>

#include "base/compression_codec.h"
#include "base/format.h"
#include "base/kept_by_thread.h"

namespace ashlar {
namespace {

// zlib's interface takes pointers to mutable bytes that it does not change.
Bytef* Input(const char* p) { return reinterpret_cast<Bytef*>(const_cast<char*>(p)); }
Bytef* Output(char* p) { return reinterpret_cast<Bytef*>(p); }

// Deflate looks back 32 KiB at most.
Slice UsefulDictionary(const Slice& dictionary) {
  constexpr size_t kBytesMax = size_t{32} << 10;
  const size_t bytes = dictionary.size() < kBytesMax ? dictionary.size() : kBytesMax;
  return Slice(dictionary.data() + (dictionary.size() - bytes), bytes);
}

class ZlibCompressor final : public Compressor {
 public:
  explicit ZlibCompressor(const Slice& dictionary)
      : dictionary_(UsefulDictionary(dictionary).ToString()) {}
  ~ZlibCompressor() override {
    if (ready_) deflateEnd(&stream_);
  }

  Status Start(const CompressionParameters& parameters) {
    const int level =
        parameters.level == kDefaultCompressionLevel ? Z_DEFAULT_COMPRESSION : parameters.level;
    const int result =
        parameters.window_bits >= kWindowBitsMin && parameters.window_bits <= kWindowBitsMax
            ? deflateInit2(&stream_, level, Z_DEFLATED, parameters.window_bits, kMemoryLevel,
                           parameters.strategy)
            : Z_STREAM_ERROR;
    ready_ = result == Z_OK;
    if (ready_) return Status::OK();
    if (result == Z_MEM_ERROR)
      return Status::MemoryLimit("Zlib: no memory for a compression context");
    return Status::InvalidArgument(
        StrCat("Zlib: level ", parameters.level, " (0 to 9), window_bits ", parameters.window_bits,
               " (-9 to -14), strategy ", parameters.strategy, " (0 to 4): out of range"));
  }

  bool Compress(const Slice& raw, std::string* out) override {
    CompressionFrame frame(raw.size(), out);
    if (frame.room_bytes() == 0 || deflateReset(&stream_) != Z_OK) return false;
    if (!dictionary_.empty() && deflateSetDictionary(&stream_, Input(dictionary_.data()),
                                                     static_cast<uInt>(dictionary_.size())) != Z_OK)
      return false;
    stream_.next_in = Input(raw.data());
    stream_.avail_in = static_cast<uInt>(raw.size());
    stream_.next_out = Output(frame.room());
    stream_.avail_out = static_cast<uInt>(frame.room_bytes());
    if (deflate(&stream_, Z_FINISH) != Z_STREAM_END) return false;
    frame.Finish(frame.room_bytes() - stream_.avail_out);
    return true;
  }

 private:
  // Negative values mean raw deflate, without zlib's header and checksum. Readers of the format
  // open a window of 2^14.
  static constexpr int kWindowBitsMin = -14;
  static constexpr int kWindowBitsMax = -9;
  static constexpr int kMemoryLevel = 8;

  const std::string dictionary_;
  z_stream stream_{};
  bool ready_ = false;
};

// One per thread, because setting it up costs more than inflating a block.
class Inflater {
 public:
  Inflater() = default;
  ~Inflater() {
    if (ready_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  Status Run(const Slice& payload, const Slice& dictionary, std::span<char> raw) {
    // The widest window can read data with every narrower one.
    if (!ready_) ready_ = inflateInit2(&stream_, -15) == Z_OK;
    if (!ready_ || inflateReset(&stream_) != Z_OK)
      return Status::MemoryLimit("Zlib: no memory for a decompression context");
    if (!dictionary.empty() && inflateSetDictionary(&stream_, Input(dictionary.data()),
                                                    static_cast<uInt>(dictionary.size())) != Z_OK) {
      return Status::Corruption("Zlib dictionary is not usable");
    }
    stream_.next_in = Input(payload.data());
    stream_.avail_in = static_cast<uInt>(payload.size());
    stream_.next_out = Output(raw.data());
    stream_.avail_out = static_cast<uInt>(raw.size());
    const int result = inflate(&stream_, Z_FINISH);
    if (result == Z_MEM_ERROR) return Status::MemoryLimit("Zlib: no memory to decompress a block");
    if (result != Z_STREAM_END || stream_.avail_out != 0 || stream_.avail_in != 0)
      return Status::Corruption("Zlib block does not decompress");
    return Status::OK();
  }

 private:
  z_stream stream_{};
  bool ready_ = false;
};

}  // namespace

CompressorResult NewZlibCompressor(const CompressionParameters& parameters,
                                   const Slice& dictionary) {
  auto compressor = std::make_unique<ZlibCompressor>(dictionary);
  ASHLAR_RETURN_IF_ERROR(compressor->Start(parameters));
  return std::unique_ptr<Compressor>(std::move(compressor));
}

Status ZlibDecompress(const Slice& payload, const DecompressionDictionary* dictionary,
                      std::span<char> raw) {
  const KeptByThread<Inflater> inflater;
  if (payload.size() > kCompressibleBytesMax || raw.size() > kCompressibleBytesMax)
    return Status::Corruption("Zlib block larger than zlib can count");
  return inflater->Run(payload, UsefulDictionary(DictionaryBytes(dictionary)), raw);
}

}  // namespace ashlar
