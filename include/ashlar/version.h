// The version of this library, and the RocksDB whose option names and file formats it writes.
#pragma once

#include <string>

#include "ashlar/export.h"

#define ASHLAR_MAJOR 0
#define ASHLAR_MINOR 1
#define ASHLAR_PATCH 0

namespace ashlar {

inline constexpr int kMajorVersion = ASHLAR_MAJOR;
inline constexpr int kMinorVersion = ASHLAR_MINOR;
inline constexpr int kPatchVersion = ASHLAR_PATCH;

// Names in an OPTIONS file, and the bytes of every file, are those that this release of RocksDB
// reads.
inline constexpr int kRocksDbFormatMajor = 7;
inline constexpr int kRocksDbFormatMinor = 8;
inline constexpr int kRocksDbFormatPatch = 3;

// "0.1.0", of the library that is running, not of the headers that were compiled against.
ASHLAR_API std::string GetAshlarVersionAsString();

}  // namespace ashlar
