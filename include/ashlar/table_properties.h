// TableProperties: the properties block of a table file.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "ashlar/export.h"

namespace ashlar {

using UserCollectedProperties = std::map<std::string, std::string>;

struct ASHLAR_API TableProperties {
  uint64_t orig_file_number = 0;
  uint64_t data_size = 0;   // bytes of all data blocks
  uint64_t index_size = 0;  // bytes of the index block
  uint64_t index_partitions = 0;
  uint64_t top_level_index_size = 0;
  uint64_t index_key_is_user_key = 0;
  uint64_t index_value_is_delta_encoded = 0;
  uint64_t filter_size = 0;
  uint64_t raw_key_size = 0;    // bytes of all internal keys before compression
  uint64_t raw_value_size = 0;  // bytes of all values before compression
  uint64_t num_data_blocks = 0;
  uint64_t num_entries = 0;    // of every type
  uint64_t num_deletions = 0;  // deletes and single deletes, point and range
  uint64_t num_merge_operands = 0;
  uint64_t num_range_deletions = 0;
  uint64_t num_filter_entries = 0;
  uint64_t format_version = 0;
  uint64_t fixed_key_len = 0;
  uint64_t column_family_id = 0x7fffffff;  // unknown
  uint64_t creation_time = 0;              // seconds since 1970, here and below; 0 unknown
  uint64_t oldest_key_time = 0;
  uint64_t file_creation_time = 0;

  std::string db_id;
  std::string db_session_id;
  std::string db_host_id;
  std::string column_family_name;
  std::string filter_policy_name;
  std::string comparator_name;
  std::string merge_operator_name;
  std::string prefix_extractor_name;
  std::string property_collectors_names;
  std::string compression_name;
  std::string compression_options;
  // Properties that this release has no field for.
  UserCollectedProperties user_collected_properties;

  // "name<kv_delim>value<prop_delim>" for each property.
  std::string ToString(const std::string& prop_delim = "; ",
                       const std::string& kv_delim = "=") const;
};

// By path of the table file.
using TablePropertiesCollection =
    std::unordered_map<std::string, std::shared_ptr<const TableProperties>>;

}  // namespace ashlar
