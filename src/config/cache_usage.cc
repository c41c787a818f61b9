#include "config/cache_usage.h"

#include <array>

#include "base/assert.h"
#include "base/format.h"

namespace ashlar {

const std::string& GetCacheEntryRoleName(CacheEntryRole role) {
  static const std::array<std::string, kNumCacheEntryRoles> names = {
      "DataBlock",          "FilterBlock",
      "FilterMetaBlock",    "DeprecatedFilterBlock",
      "IndexBlock",         "OtherBlock",
      "WriteBuffer",        "CompressionDictionaryBuildingBuffer",
      "FilterConstruction", "BlockBasedTableReader",
      "FileMetadata",       "BlobValue",
      "BlobCache",          "Misc",
  };
  const auto index = static_cast<size_t>(role);
  ASHLAR_ASSERT(index < names.size());  // a name for each role
  return names[index];
}

bool IsCharged(const CacheUsageOptions& usage, CacheEntryRole role) {
  using Decision = CacheEntryRoleOptions::Decision;
  const auto own = usage.options_overrides.find(role);
  const bool has_own =
      own != usage.options_overrides.end() && own->second.charged != Decision::kFallback;
  return (has_own ? own->second : usage.options).charged == Decision::kEnabled;
}

Status CheckCacheUsage(const BlockBasedTableOptions& options) {
  for (uint32_t i = 0; i < kNumCacheEntryRoles; ++i) {
    const auto role = static_cast<CacheEntryRole>(i);
    if (!IsCharged(options.cache_usage_options, role)) continue;
    const std::string option =
        StrCat("option cache_usage_options=", GetCacheEntryRoleName(role), " charged");
    if (role != CacheEntryRole::kBlockBasedTableReader) {
      return Status::NotSupported(
          StrCat(option,
                 " is not implemented; enable kBlockBasedTableReader alone, by options_overrides"));
    }
    if (options.no_block_cache) {
      return Status::InvalidArgument(
          StrCat(option, ": there is no block cache to charge; set no_block_cache=false"));
    }
  }
  return Status::OK();
}

}  // namespace ashlar
