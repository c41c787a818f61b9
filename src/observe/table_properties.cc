// TableProperties as text.
#include "ashlar/table_properties.h"

#include "base/format.h"

namespace ashlar {

std::string TableProperties::ToString(const std::string& prop_delim,
                                      const std::string& kv_delim) const {
  std::string out;
  const auto add = [&](std::string_view name, const auto& value) {
    StrAppend(&out, name, kv_delim, value, prop_delim);
  };
  const auto per_entry = [this](uint64_t bytes) {
    return num_entries == 0 ? 0.0 : static_cast<double>(bytes) / static_cast<double>(num_entries);
  };
  const auto text = [](const std::string& value) {
    return value.empty() ? std::string("N/A") : value;
  };
  add("# data blocks", num_data_blocks);
  add("# entries", num_entries);
  add("# deletions", num_deletions);
  add("# merge operands", num_merge_operands);
  add("# range deletions", num_range_deletions);
  add("raw key size", raw_key_size);
  add("raw average key size", FixedDecimal(per_entry(raw_key_size), 6));
  add("raw value size", raw_value_size);
  add("raw average value size", FixedDecimal(per_entry(raw_value_size), 6));
  add("data block size", data_size);
  add("index block size", index_size);
  if (index_partitions != 0) {
    add("# index partitions", index_partitions);
    add("top-level index size", top_level_index_size);
  }
  add("filter block size", filter_size);
  add("# entries for filter", num_filter_entries);
  add("(estimated) table size", data_size + index_size + filter_size);
  add("filter policy name", text(filter_policy_name));
  add("prefix extractor name", text(prefix_extractor_name));
  add("column family ID", column_family_id == TableProperties().column_family_id
                              ? std::string("N/A")
                              : StrCat(column_family_id));
  add("column family name", text(column_family_name));
  add("comparator name", text(comparator_name));
  add("merge operator name", text(merge_operator_name));
  add("property collectors names", text(property_collectors_names));
  add("SST file compression algo", text(compression_name));
  add("SST file compression options", text(compression_options));
  add("creation time", creation_time);
  add("time stamp of earliest key", oldest_key_time);
  add("file creation time", file_creation_time);
  add("DB identity", text(db_id));
  add("DB session identity", text(db_session_id));
  add("DB host id", text(db_host_id));
  add("original file number", orig_file_number);
  return out;
}

}  // namespace ashlar
