// The codecs that a table may use for its blocks. The values are bytes of the file format.
//
// Supported: none, Snappy, zlib, LZ4, LZ4HC, ZSTD. BZip2 and Xpress have a value so that the error
// for a file that uses them can name the codec.
#pragma once

namespace ashlar {

enum CompressionType : unsigned char {
  kNoCompression = 0x0,
  kSnappyCompression = 0x1,
  kZlibCompression = 0x2,
  kBZip2Compression = 0x3,
  kLZ4Compression = 0x4,
  kLZ4HCCompression = 0x5,
  kXpressCompression = 0x6,
  kZSTD = 0x7,
  // Only in options: "not set, use the general setting". Never in a file.
  kDisableCompressionOption = 0xff,
};

}  // namespace ashlar
