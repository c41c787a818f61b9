#include "ashlar/version.h"

#include <map>
#include <string>
#include <unordered_map>

#include "base/format.h"

namespace ashlar {

std::string GetAshlarVersionAsString() {
  return StrCat(kMajorVersion, ".", kMinorVersion, ".", kPatchVersion);
}

std::string GetRocksVersionAsString(bool with_patch) {
  std::string release = StrCat(kRocksDbInterfaceMajor, ".", kRocksDbInterfaceMinor);
  if (with_patch) StrAppend(&release, ".", kRocksDbInterfacePatch);
  return release;
}

const std::unordered_map<std::string, std::string>& GetRocksBuildProperties() {
  static const auto* const kProperties = new std::unordered_map<std::string, std::string>{
      {"ashlar_version", GetAshlarVersionAsString()},
      {"rocksdb_interface", GetRocksVersionAsString()},
      {"rocksdb_format",
       StrCat(kRocksDbFormatMajor, ".", kRocksDbFormatMinor, ".", kRocksDbFormatPatch)}};
  return *kProperties;
}

std::string GetRocksBuildInfoAsString(const std::string& program, bool verbose) {
  std::string info = StrCat(program, " (Ashlar) ", GetAshlarVersionAsString());
  if (!verbose) return info;
  const auto& properties = GetRocksBuildProperties();
  const std::map<std::string, std::string> sorted(properties.begin(), properties.end());
  for (const auto& [name, value] : sorted) StrAppend(&info, "\n    ", name, ": ", value);
  return info;
}

}  // namespace ashlar
