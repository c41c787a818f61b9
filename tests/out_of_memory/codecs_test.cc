// Allocation failure inside the codecs. A call fails with MemoryLimit, and succeeds as soon as
// memory is available again. Data is never taken for damaged.
//
// This file replaces functions of the codecs' libraries. While a test requests it, they fail as the
// originals do when they cannot allocate memory.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "base/compression.h"
#include "wal/record_compression.h"

namespace {

bool has_memory = true;

template <typename Function>
Function* Original(Function* /*type*/, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

ZSTD_DCtx* ZSTD_createDCtx() {
  return has_memory ? Original(&ZSTD_createDCtx, "ZSTD_createDCtx")() : nullptr;
}

ZSTD_DDict* ZSTD_createDDict(const void* bytes, size_t size) {
  return has_memory ? Original(&ZSTD_createDDict, "ZSTD_createDDict")(bytes, size) : nullptr;
}

ZSTD_CDict* ZSTD_createCDict(const void* bytes, size_t size, int level) {
  return has_memory ? Original(&ZSTD_createCDict, "ZSTD_createCDict")(bytes, size, level) : nullptr;
}

size_t ZSTD_decompressStream(ZSTD_DStream* stream, ZSTD_outBuffer* output, ZSTD_inBuffer* input) {
  return has_memory
             ? Original(&ZSTD_decompressStream, "ZSTD_decompressStream")(stream, output, input)
             : static_cast<size_t>(-int{ZSTD_error_memory_allocation});
}

int inflateInit2_(z_streamp stream, int window_bits, const char* version, int stream_bytes) {
  return has_memory
             ? Original(&inflateInit2_, "inflateInit2_")(stream, window_bits, version, stream_bytes)
             : Z_MEM_ERROR;
}

}  // extern "C"

namespace ashlar {
namespace {

class WithoutMemory {
 public:
  WithoutMemory() { has_memory = false; }
  ~WithoutMemory() { has_memory = true; }
  WithoutMemory(const WithoutMemory&) = delete;
  WithoutMemory& operator=(const WithoutMemory&) = delete;
};

constexpr size_t kBytesMax = size_t{1} << 20;

std::string Raw() {
  std::string raw;
  for (int i = 0; i < 500; ++i) raw += "entry " + std::to_string(i * i) + ";";
  return raw;
}

std::string Stored(CompressionType type, const std::string& dictionary = "") {
  const Result<std::unique_ptr<Compressor>> compressor = Compressor::Create(type, {}, dictionary);
  std::string stored;
  EXPECT_TRUE(compressor.ok() && (*compressor)->Compress(Raw(), &stored));
  return stored;
}

// Runs a function in a thread that has no context yet.
void InNewThread(const std::function<void()>& function) { std::thread(function).join(); }

class ContextTest : public testing::TestWithParam<CompressionType> {};

TEST_P(ContextTest, AThreadWithoutMemoryForOneTriesAgain) {
  const std::string stored = Stored(GetParam());
  InNewThread([&] {
    std::string raw;
    for (int i = 0; i < 2; ++i) {
      const WithoutMemory scope;
      EXPECT_TRUE(Decompress(GetParam(), stored, nullptr, kBytesMax, &raw).IsMemoryLimit());
    }
    EXPECT_TRUE(Decompress(GetParam(), stored, nullptr, kBytesMax, &raw).ok());
    EXPECT_EQ(raw, Raw());
  });
}

INSTANTIATE_TEST_SUITE_P(Codecs, ContextTest, testing::Values(kZSTD, kZlibCompression));

TEST(ZstdDictionary, IsReadFromItsBytesWithoutMemory) {
  const std::string bytes = Raw().substr(1000, 3000);
  const std::string stored = Stored(kZSTD, bytes);
  std::string raw;
  EXPECT_FALSE(Decompress(kZSTD, stored, nullptr, kBytesMax, &raw).ok());
  std::unique_ptr<DecompressionDictionary> dictionary;
  {
    const WithoutMemory scope;
    dictionary = std::make_unique<DecompressionDictionary>(bytes);
  }
  ASSERT_EQ(dictionary->zstd(), nullptr);
  ASSERT_TRUE(Decompress(kZSTD, stored, dictionary.get(), kBytesMax, &raw).ok());
  EXPECT_EQ(raw, Raw());
}

TEST(ZstdDictionary, WithoutMemoryNothingIsCompressedWithIt) {
  const WithoutMemory scope;
  EXPECT_TRUE(Compressor::Create(kZSTD, {}, Raw()).status().IsMemoryLimit());
}

TEST(RecordDecompressor, ARecordWithoutMemoryForItsWindowIsNotDamaged) {
  Result<std::unique_ptr<RecordCompressor>> compressor = RecordCompressor::Create(kZSTD);
  ASSERT_TRUE(compressor.ok());
  const std::string raw = Raw();
  const Slice piece(raw);
  const Result<Slice> frame = (*compressor)->Compress({&piece, 1});
  ASSERT_TRUE(frame.ok());
  Result<std::unique_ptr<RecordDecompressor>> decompressor = RecordDecompressor::Create(kZSTD);
  ASSERT_TRUE(decompressor.ok());
  std::string out;
  {
    const WithoutMemory scope;
    EXPECT_TRUE((*decompressor)->Decompress(*frame, kBytesMax, &out).IsMemoryLimit());
    EXPECT_TRUE(RecordDecompressor::Create(kZSTD).status().IsMemoryLimit());
  }
  ASSERT_TRUE((*decompressor)->Decompress(*frame, kBytesMax, &out).ok());
  EXPECT_EQ(out, raw);
}

}  // namespace
}  // namespace ashlar
