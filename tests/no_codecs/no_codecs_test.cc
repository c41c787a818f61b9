// A build without codecs names the missing codec.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/compression.h"

namespace ashlar {
namespace {

using ::testing::HasSubstr;

struct Codec {
  CompressionType type;
  const char* name;
};

class NoCodecs : public ::testing::TestWithParam<Codec> {};

TEST_P(NoCodecs, WritingIsRefusedByName) {
  for (const Status& status : {ValidateCompressionType(GetParam().type),
                               Compressor::Create(GetParam().type, {}, Slice()).status()}) {
    EXPECT_TRUE(status.IsNotSupported());
    EXPECT_THAT(status.ToString(), HasSubstr(std::string("no ") + GetParam().name + " codec"));
  }
}

TEST_P(NoCodecs, ABlockThatNeedsItIsRefusedByName) {
  const DecompressionDictionary dictionary("bytes of a dictionary");
  EXPECT_GT(dictionary.MemoryUsage(), 0u);
  std::string out;
  const Status status = Decompress(GetParam().type, Slice("\x05hello"), &dictionary, 1000, &out);
  EXPECT_TRUE(status.IsNotSupported());
  EXPECT_THAT(status.ToString(), HasSubstr(std::string("no ") + GetParam().name + " codec"));
}

TEST(NoCodecsAtAll, WhatIsNotCompressedNeedsNone) {
  EXPECT_TRUE(ValidateCompressionType(kNoCompression).ok());
}

INSTANTIATE_TEST_SUITE_P(All, NoCodecs,
                         ::testing::Values(Codec{kSnappyCompression, "Snappy"},
                                           Codec{kZlibCompression, "Zlib"},
                                           Codec{kLZ4Compression, "LZ4"},
                                           Codec{kLZ4HCCompression, "LZ4HC"}, Codec{kZSTD, "ZSTD"}),
                         [](const ::testing::TestParamInfo<Codec>& codec) {
                           return std::string(codec.param.name);
                         });

}  // namespace
}  // namespace ashlar
