// The version of this library, and the releases of RocksDB whose file formats and interface it has.
#pragma once

#include <string>
#include <unordered_map>

#include "ashlar/export.h"

#define ASHLAR_MAJOR 0
#define ASHLAR_MINOR 1
#define ASHLAR_PATCH 0

namespace ashlar {

inline constexpr int kMajorVersion = ASHLAR_MAJOR;
inline constexpr int kMinorVersion = ASHLAR_MINOR;
inline constexpr int kPatchVersion = ASHLAR_PATCH;

// The release of RocksDB that reads all files that Ashlar writes. The names in OPTIONS files are
// those of this release.
inline constexpr int kRocksDbFormatMajor = 7;
inline constexpr int kRocksDbFormatMinor = 8;
inline constexpr int kRocksDbFormatPatch = 3;

// The release whose signatures the headers in rocksdb/ have (ROCKSDB_MAJOR and so on).
inline constexpr int kRocksDbInterfaceMajor = 11;
inline constexpr int kRocksDbInterfaceMinor = 8;
inline constexpr int kRocksDbInterfacePatch = 1;

// "0.1.0": the version of the running library, not of the headers that the program includes.
ASHLAR_API std::string GetAshlarVersionAsString();

// RocksDB's functions. "11.8.1", or "11.8" without the patch: the release whose interface the
// running library has.
ASHLAR_API std::string GetRocksVersionAsString(bool with_patch = true);
// "ashlar_version", "rocksdb_interface" and "rocksdb_format", each with a release. Never destroyed.
ASHLAR_API const std::unordered_map<std::string, std::string>& GetRocksBuildProperties();
// "<program> (Ashlar) 0.1.0". If verbose, also a line "    name: value" for each property.
ASHLAR_API std::string GetRocksBuildInfoAsString(const std::string& program, bool verbose = false);

}  // namespace ashlar
