#include "table/table_properties.h"

#include <string_view>
#include <utility>

#include "base/assert.h"
#include "base/coding.h"
#include "table/block/block_builder.h"
#include "table/block/block_entries.h"

namespace ashlar {

namespace {

constexpr char kPropertySnapshotVersions[] = "ashlar.snapshot.versions";

struct NumberField {
  std::string_view name;
  uint64_t TableProperties::* field;
  bool omit_default;  // not written while it has the default value
};
struct TextField {
  std::string_view name;
  std::string TableProperties::* field;
};

constexpr NumberField kNumbers[] = {
    {"rocksdb.original.file.number", &TableProperties::orig_file_number, false},
    {"rocksdb.data.size", &TableProperties::data_size, false},
    {"rocksdb.index.size", &TableProperties::index_size, false},
    {"rocksdb.index.partitions", &TableProperties::index_partitions, true},
    {"rocksdb.top-level.index.size", &TableProperties::top_level_index_size, true},
    {"rocksdb.index.key.is.user.key", &TableProperties::index_key_is_user_key, false},
    {"rocksdb.index.value.is.delta.encoded", &TableProperties::index_value_is_delta_encoded, false},
    {"rocksdb.filter.size", &TableProperties::filter_size, false},
    {"rocksdb.raw.key.size", &TableProperties::raw_key_size, false},
    {"rocksdb.raw.value.size", &TableProperties::raw_value_size, false},
    {"rocksdb.num.data.blocks", &TableProperties::num_data_blocks, false},
    {"rocksdb.num.entries", &TableProperties::num_entries, false},
    {"rocksdb.num.filter_entries", &TableProperties::num_filter_entries, false},
    {"rocksdb.deleted.keys", &TableProperties::num_deletions, false},
    {"rocksdb.merge.operands", &TableProperties::num_merge_operands, false},
    {"rocksdb.num.range-deletions", &TableProperties::num_range_deletions, false},
    {"rocksdb.format.version", &TableProperties::format_version, false},
    {"rocksdb.fixed.key.length", &TableProperties::fixed_key_len, false},
    {"rocksdb.column.family.id", &TableProperties::column_family_id, false},
    {"rocksdb.creation.time", &TableProperties::creation_time, false},
    {"rocksdb.oldest.key.time", &TableProperties::oldest_key_time, false},
    {"rocksdb.file.creation.time", &TableProperties::file_creation_time, true},
    {"rocksdb.sample_for_compression.slow.data.size",
     &TableProperties::slow_compression_estimated_data_size, true},
    {"rocksdb.sample_for_compression.fast.data.size",
     &TableProperties::fast_compression_estimated_data_size, true},
    {"rocksdb.num.data.blocks.compression.rejected",
     &TableProperties::num_data_blocks_compression_rejected, true},
    {"rocksdb.num.data.blocks.compression.bypassed",
     &TableProperties::num_data_blocks_compression_bypassed, true},
    {"rocksdb.num.uniform.blocks", &TableProperties::num_uniform_blocks, true},
    {"rocksdb.newest.key.time", &TableProperties::newest_key_time, true},
    {"rocksdb.tail.start.offset", &TableProperties::tail_start_offset, true},
    {"rocksdb.user.defined.timestamps.persisted",
     &TableProperties::user_defined_timestamps_persisted, true},
    {"rocksdb.key.largest.seqno", &TableProperties::key_largest_seqno, true},
    {"rocksdb.key.smallest.seqno", &TableProperties::key_smallest_seqno, true},
    {"rocksdb.data.block.restart.interval", &TableProperties::data_block_restart_interval, true},
    {"rocksdb.index.block.restart.interval", &TableProperties::index_block_restart_interval, true},
    {"rocksdb.separate.key.value.in.data.block", &TableProperties::separate_key_value_in_data_block,
     true},
    {"rocksdb.udi.is.primary.index", &TableProperties::udi_is_primary_index, true},
};

constexpr TextField kTexts[] = {
    {"rocksdb.creating.db.identity", &TableProperties::db_id},
    {"rocksdb.creating.session.identity", &TableProperties::db_session_id},
    {"rocksdb.creating.host.identity", &TableProperties::db_host_id},
    {"rocksdb.filter.policy", &TableProperties::filter_policy_name},
    {"rocksdb.comparator", &TableProperties::comparator_name},
    {"rocksdb.merge.operator", &TableProperties::merge_operator_name},
    {"rocksdb.prefix.extractor.name", &TableProperties::prefix_extractor_name},
    {"rocksdb.property.collectors", &TableProperties::property_collectors_names},
    {"rocksdb.column.family.name", &TableProperties::column_family_name},
    {"rocksdb.compression", &TableProperties::compression_name},
    {"rocksdb.compression_options", &TableProperties::compression_options},
    {"rocksdb.seqno.time.map", &TableProperties::seqno_to_time_mapping},
};

Status SetProperty(const Slice& name, const Slice& value, TableProperties* properties) {
  for (const NumberField& field : kNumbers) {
    if (name != Slice(field.name)) continue;
    Slice rest = value;
    if (!GetVarint64(&rest, &(properties->*field.field)) || !rest.empty()) {
      return Status::Corruption("bad number in property", Slice(field.name));
    }
    return Status::OK();
  }
  for (const TextField& field : kTexts) {
    if (name != Slice(field.name)) continue;
    (properties->*field.field).assign(value.data(), value.size());
    return Status::OK();
  }
  properties->user_collected_properties.insert_or_assign(name.ToString(), value.ToString());
  return Status::OK();
}

}  // namespace

std::string EncodeTableProperties(const TableProperties& properties) {
  const TableProperties defaults;
  UserCollectedProperties all = properties.user_collected_properties;
  for (const NumberField& field : kNumbers) {
    const uint64_t value = properties.*field.field;
    if (field.omit_default && value == defaults.*field.field) continue;
    std::string encoded;
    PutVarint64(&encoded, value);
    all.insert_or_assign(std::string(field.name), std::move(encoded));
  }
  for (const TextField& field : kTexts) {
    const std::string& value = properties.*field.field;
    if (!value.empty()) all.insert_or_assign(std::string(field.name), value);
  }
  BlockBuilder block({.restart_interval = 1, .delta_keys = true, .values_have_length = true});
  for (const auto& [name, value] : all) block.Add(name, value, 0);
  return block.Finish().ToString();
}

Result<TableProperties> DecodeTableProperties(const Slice& block) {
  TableProperties properties;
  std::string previous;
  BlockEntries entries(block);
  while (entries.Next()) {
    if (!previous.empty() && entries.key().compare(previous) <= 0)
      return Status::Corruption("properties are not in order");
    previous = entries.key().ToString();
    ASHLAR_RETURN_IF_ERROR(SetProperty(entries.key(), entries.value(), &properties));
  }
  ASHLAR_RETURN_IF_ERROR(entries.status());
  return properties;
}

void RecordSnapshotVersions(uint64_t count, TableProperties* properties) {
  ASHLAR_ASSERT(count > 0);  // Requires
  std::string encoded;
  PutVarint64(&encoded, count);
  properties->user_collected_properties.insert_or_assign(kPropertySnapshotVersions,
                                                         std::move(encoded));
}

uint64_t SnapshotVersions(const TableProperties& properties) {
  const auto found = properties.user_collected_properties.find(kPropertySnapshotVersions);
  if (found == properties.user_collected_properties.end()) return 0;
  Slice rest = found->second;
  uint64_t count = 0;
  return GetVarint64(&rest, &count) && rest.empty() ? count : 0;
}

UserCollectedProperties TablePropertiesByName(const TableProperties& properties) {
  UserCollectedProperties out = properties.user_collected_properties;
  for (const NumberField& field : kNumbers)
    out.insert_or_assign(std::string(field.name), std::to_string(properties.*field.field));
  for (const TextField& field : kTexts)
    out.insert_or_assign(std::string(field.name), properties.*field.field);
  return out;
}

}  // namespace ashlar
