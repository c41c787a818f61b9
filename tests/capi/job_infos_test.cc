// The getters of the infos that listeners receive, and of the table properties in them. Each
// returns the C++ member of the same name. All numbers of an info differ, so that no getter can
// return its neighbour's.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "ashlar/c.h"
#include "ashlar/listener.h"
#include "capi/handles.h"

namespace ashlar {
namespace {

using capi::Rep;
using capi::Wrap;

// Returns the text of a getter that is passed a place for the size.
template <typename Get>
std::string TextOf(const Get& get) {
  size_t size = 99;
  const char* const text = get(&size);
  if (text == nullptr) return size == 0 ? "null" : "null with a size";
  EXPECT_EQ(text[size], 0);
  EXPECT_EQ(get(nullptr), text) << "the size may be unwanted";
  return {text, size};
}
template <typename Object>
std::string Text(const char* (*getter)(const Object*, size_t*), const Object* object) {
  return TextOf([&](size_t* size) { return getter(object, size); });
}
template <typename Object>
std::string TextAt(const char* (*getter)(const Object*, size_t, size_t*), const Object* object,
                   size_t position) {
  return TextOf([&](size_t* size) { return getter(object, position, size); });
}

template <typename Object>
std::string ErrorOf(void (*getter)(const Object*, char**), const Object* object) {
  char* error = nullptr;
  getter(object, &error);
  const std::string text = error == nullptr ? "none" : error;
  rocksdb_free(error);
  return text;
}

BlobFileAdditionInfo AddedBlobs() {
  BlobFileAdditionInfo info;
  info.blob_file_path = "/db/000021.blob";
  info.blob_file_number = 21;
  info.total_blob_count = 22;
  info.total_blob_bytes = 23;
  return info;
}
BlobFileGarbageInfo GarbageBlobs() {
  BlobFileGarbageInfo info;
  info.blob_file_path = "/db/000024.blob";
  info.blob_file_number = 24;
  info.garbage_blob_count = 25;
  info.garbage_blob_bytes = 26;
  return info;
}

TableProperties PropertiesWith(uint64_t entries) {
  TableProperties properties;
  properties.num_entries = entries;
  return properties;
}

CompactionJobStats DistinctStats() {
  CompactionJobStats stats;
  stats.elapsed_micros = 101;
  stats.cpu_micros = 102;
  stats.has_accurate_num_input_records = false;
  stats.num_input_records = 103;
  stats.num_input_files = 104;
  stats.num_input_files_trivially_moved = 105;
  stats.num_input_files_at_output_level = 106;
  stats.num_output_records = 107;
  stats.num_output_files = 108;
  stats.is_full_compaction = true;
  stats.total_input_bytes = 109;
  stats.total_output_bytes = 110;
  stats.num_records_replaced = 111;
  stats.total_input_raw_key_bytes = 112;
  stats.total_input_raw_value_bytes = 113;
  stats.num_input_deletion_records = 114;
  stats.num_expired_deletion_records = 115;
  stats.num_corrupt_keys = 116;
  stats.smallest_output_key_prefix = std::string("a\0b", 3);
  stats.largest_output_key_prefix = "zz";
  stats.num_single_del_fallthru = 117;
  stats.num_single_del_mismatch = 118;
  stats.file_write_nanos = 122;
  stats.file_range_sync_nanos = 123;
  stats.file_fsync_nanos = 124;
  stats.file_prepare_write_nanos = 125;
  stats.num_filtered_input_files = 119;
  stats.num_filtered_input_files_at_output_level = 120;
  stats.total_skipped_input_bytes = 121;
  stats.is_remote_compaction = true;
  stats.num_blobs_read = 126;
  stats.num_output_files_blob = 127;
  stats.total_blob_bytes_read = 128;
  stats.total_output_bytes_blob = 129;
  return stats;
}

// The getter and the member have the same name.
#define EXPECT_SAME(type, name) EXPECT_EQ(rocksdb_##type##_##name(c), info.name)
#define EXPECT_SAME_NUMBER(type, name) \
  EXPECT_EQ(rocksdb_##type##_##name(c), static_cast<uint32_t>(info.name))
#define EXPECT_SAME_TEXT(type, name) EXPECT_EQ(Text(rocksdb_##type##_##name, c), info.name)

TEST(JobInfos, AFlushIsDescribed) {
  FlushJobInfo info;
  info.cf_id = 1;
  info.cf_name = "family";
  info.file_path = "/db/000007.sst";
  info.file_number = 7;
  info.thread_id = 2;
  info.job_id = 3;
  info.smallest_seqno = 4;
  info.largest_seqno = 5;
  info.table_properties = PropertiesWith(6);
  info.flush_reason = FlushReason::kWalFull;
  info.oldest_blob_file_number = 8;
  info.blob_compression_type = kZSTD;
  info.blob_file_addition_infos = {BlobFileAdditionInfo(), AddedBlobs()};
  for (const bool slows : {false, true}) {
    info.triggered_writes_slowdown = slows;
    info.triggered_writes_stop = !slows;
    const rocksdb_flushjobinfo_t* const c = Wrap(&info);
    EXPECT_SAME(flushjobinfo, cf_id);
    EXPECT_SAME_TEXT(flushjobinfo, cf_name);
    EXPECT_SAME_TEXT(flushjobinfo, file_path);
    EXPECT_SAME(flushjobinfo, file_number);
    EXPECT_SAME(flushjobinfo, thread_id);
    EXPECT_SAME(flushjobinfo, job_id);
    EXPECT_SAME(flushjobinfo, triggered_writes_slowdown);
    EXPECT_SAME(flushjobinfo, triggered_writes_stop);
    EXPECT_SAME(flushjobinfo, smallest_seqno);
    EXPECT_SAME(flushjobinfo, largest_seqno);
    EXPECT_SAME_NUMBER(flushjobinfo, flush_reason);
    EXPECT_SAME(flushjobinfo, oldest_blob_file_number);
    EXPECT_SAME_NUMBER(flushjobinfo, blob_compression_type);
    ASSERT_EQ(rocksdb_flushjobinfo_blob_file_addition_infos_count(c), 2u);
    EXPECT_EQ(Rep(rocksdb_flushjobinfo_blob_file_addition_info_at(c, 1)),
              &info.blob_file_addition_infos[1]);
    EXPECT_EQ(rocksdb_flushjobinfo_blob_file_addition_info_at(c, 2), nullptr);
    EXPECT_EQ(Rep(rocksdb_flushjobinfo_table_properties(c)), &info.table_properties);
  }
}

CompactionJobInfo DistinctCompaction() {
  CompactionJobInfo info;
  info.cf_id = 1;
  info.cf_name = "family";
  info.status = Status::Corruption("broken");
  info.thread_id = 2;
  info.job_id = 3;
  info.num_l0_files = 4;
  info.aborted = true;
  info.base_input_level = 5;
  info.output_level = 6;
  info.input_files = {"/db/in1", "/db/in2"};
  info.input_file_infos = {{.level = 7, .file_number = 8}, {.level = 9, .file_number = 10}};
  info.output_files = {"/db/out"};
  info.output_file_infos = {{.level = 11, .file_number = 12, .oldest_blob_file_number = 15}};
  info.blob_compression_type = kSnappyCompression;
  info.blob_file_addition_infos = {AddedBlobs()};
  info.blob_file_garbage_infos = {BlobFileGarbageInfo(), GarbageBlobs()};
  info.compaction_reason = CompactionReason::kRefitLevel;
  info.compression = kZSTD;
  info.stats = DistinctStats();
  info.table_properties["/db/in1"] = std::make_shared<TableProperties>(PropertiesWith(13));
  info.table_properties["/db/out"] = std::make_shared<TableProperties>(PropertiesWith(14));
  return info;
}

TEST(JobInfos, ACompactionIsDescribed) {
  const CompactionJobInfo info = DistinctCompaction();
  const rocksdb_compactionjobinfo_t* const c = Wrap(&info);
  EXPECT_EQ(ErrorOf(rocksdb_compactionjobinfo_status, c), info.status.ToString());
  EXPECT_SAME(compactionjobinfo, cf_id);
  EXPECT_SAME_TEXT(compactionjobinfo, cf_name);
  EXPECT_SAME(compactionjobinfo, thread_id);
  EXPECT_SAME(compactionjobinfo, job_id);
  EXPECT_SAME(compactionjobinfo, num_l0_files);
  EXPECT_SAME(compactionjobinfo, aborted);
  EXPECT_SAME(compactionjobinfo, base_input_level);
  EXPECT_SAME(compactionjobinfo, output_level);
  EXPECT_SAME_NUMBER(compactionjobinfo, compaction_reason);
  EXPECT_SAME_NUMBER(compactionjobinfo, compression);
  EXPECT_SAME_NUMBER(compactionjobinfo, blob_compression_type);
  EXPECT_EQ(Rep(rocksdb_compactionjobinfo_stats(c)), &info.stats);
  EXPECT_EQ(rocksdb_compactionjobinfo_elapsed_micros(c), info.stats.elapsed_micros);
  EXPECT_EQ(rocksdb_compactionjobinfo_num_corrupt_keys(c), info.stats.num_corrupt_keys);
  EXPECT_EQ(rocksdb_compactionjobinfo_input_records(c), info.stats.num_input_records);
  EXPECT_EQ(rocksdb_compactionjobinfo_output_records(c), info.stats.num_output_records);
  EXPECT_EQ(rocksdb_compactionjobinfo_total_input_bytes(c), info.stats.total_input_bytes);
  EXPECT_EQ(rocksdb_compactionjobinfo_total_output_bytes(c), info.stats.total_output_bytes);
  EXPECT_EQ(rocksdb_compactionjobinfo_num_input_files(c), info.stats.num_input_files);
  EXPECT_EQ(rocksdb_compactionjobinfo_num_input_files_at_output_level(c),
            info.stats.num_input_files_at_output_level);
}

TEST(JobInfos, TheFilesOfACompactionAreListed) {
  const CompactionJobInfo info = DistinctCompaction();
  const rocksdb_compactionjobinfo_t* const c = Wrap(&info);
  ASSERT_EQ(rocksdb_compactionjobinfo_input_files_count(c), 2u);
  ASSERT_EQ(rocksdb_compactionjobinfo_input_file_infos_count(c), 2u);
  auto* const input = rocksdb_compactionjobinfo_input_file_at;
  EXPECT_EQ(TextAt(input, c, 0), "/db/in1");
  EXPECT_EQ(TextAt(input, c, 1), "/db/in2");
  EXPECT_EQ(TextAt(input, c, 2), "null");
  EXPECT_EQ(rocksdb_compaction_file_info_level(rocksdb_compactionjobinfo_input_file_info_at(c, 1)),
            9);
  EXPECT_EQ(
      rocksdb_compaction_file_info_file_number(rocksdb_compactionjobinfo_input_file_info_at(c, 1)),
      10u);
  EXPECT_EQ(rocksdb_compactionjobinfo_input_file_info_at(c, 2), nullptr);

  ASSERT_EQ(rocksdb_compactionjobinfo_output_files_count(c), 1u);
  ASSERT_EQ(rocksdb_compactionjobinfo_output_file_infos_count(c), 1u);
  auto* const output = rocksdb_compactionjobinfo_output_file_at;
  EXPECT_EQ(TextAt(output, c, 0), "/db/out");
  EXPECT_EQ(TextAt(output, c, 1), "null");
  EXPECT_EQ(rocksdb_compaction_file_info_level(rocksdb_compactionjobinfo_output_file_info_at(c, 0)),
            11);
  EXPECT_EQ(
      rocksdb_compaction_file_info_file_number(rocksdb_compactionjobinfo_output_file_info_at(c, 0)),
      12u);
  EXPECT_EQ(rocksdb_compaction_file_info_oldest_blob_file_number(
                rocksdb_compactionjobinfo_output_file_info_at(c, 0)),
            15u);
  EXPECT_EQ(rocksdb_compactionjobinfo_output_file_info_at(c, 1), nullptr);
}

TEST(JobInfos, TheBlobFilesOfACompactionAreListed) {
  const CompactionJobInfo info = DistinctCompaction();
  const rocksdb_compactionjobinfo_t* const c = Wrap(&info);
  ASSERT_EQ(rocksdb_compactionjobinfo_blob_file_addition_infos_count(c), 1u);
  EXPECT_EQ(Rep(rocksdb_compactionjobinfo_blob_file_addition_info_at(c, 0)),
            info.blob_file_addition_infos.data());
  EXPECT_EQ(rocksdb_compactionjobinfo_blob_file_addition_info_at(c, 1), nullptr);
  ASSERT_EQ(rocksdb_compactionjobinfo_blob_file_garbage_infos_count(c), 2u);
  EXPECT_EQ(Rep(rocksdb_compactionjobinfo_blob_file_garbage_info_at(c, 1)),
            &info.blob_file_garbage_infos[1]);
  EXPECT_EQ(rocksdb_compactionjobinfo_blob_file_garbage_info_at(c, 2), nullptr);
}

TEST(JobInfos, ABlobFileIsDescribed) {
  {
    const BlobFileAdditionInfo info = AddedBlobs();
    const rocksdb_blob_file_addition_info_t* const c = Wrap(&info);
    EXPECT_SAME_TEXT(blob_file_addition_info, blob_file_path);
    EXPECT_SAME(blob_file_addition_info, blob_file_number);
    EXPECT_SAME(blob_file_addition_info, total_blob_count);
    EXPECT_SAME(blob_file_addition_info, total_blob_bytes);
  }
  const BlobFileGarbageInfo info = GarbageBlobs();
  const rocksdb_blob_file_garbage_info_t* const c = Wrap(&info);
  EXPECT_SAME_TEXT(blob_file_garbage_info, blob_file_path);
  EXPECT_SAME(blob_file_garbage_info, blob_file_number);
  EXPECT_SAME(blob_file_garbage_info, garbage_blob_count);
  EXPECT_SAME(blob_file_garbage_info, garbage_blob_bytes);
}

TEST(JobInfos, ThePropertiesOfTheFilesOfACompactionAreFoundByPositionAndByPath) {
  const CompactionJobInfo info = DistinctCompaction();
  const rocksdb_compactionjobinfo_t* const c = Wrap(&info);
  ASSERT_EQ(rocksdb_compactionjobinfo_table_properties_count(c), 2u);
  auto* const key = rocksdb_compactionjobinfo_table_properties_key_at;
  std::set<std::string> paths;
  for (size_t i = 0; i < 2; ++i) {
    const std::string path = TextAt(key, c, i);
    paths.insert(path);
    const TableProperties* const wanted = info.table_properties.at(path).get();
    EXPECT_EQ(Rep(rocksdb_compactionjobinfo_table_properties_value_at(c, i)), wanted);
    EXPECT_EQ(Rep(rocksdb_compactionjobinfo_table_properties_for_file(c, path.data(), path.size())),
              wanted);
  }
  EXPECT_EQ(paths.size(), 2u);
  EXPECT_EQ(TextAt(key, c, 2), "null");
  EXPECT_EQ(rocksdb_compactionjobinfo_table_properties_value_at(c, 2), nullptr);
  EXPECT_EQ(rocksdb_compactionjobinfo_table_properties_for_file(c, "/db/in12", 7),
            rocksdb_compactionjobinfo_table_properties_for_file(c, "/db/in1", 7))
      << "the size counts";
  EXPECT_EQ(rocksdb_compactionjobinfo_table_properties_for_file(c, "/db/in2", 7), nullptr);
}

TEST(JobInfos, AnInfoOfTheProgramIsEmptyAtFirst) {
  rocksdb_compactionjobinfo_t* const info = rocksdb_compactionjobinfo_create();
  EXPECT_EQ(ErrorOf(rocksdb_compactionjobinfo_status,
                    static_cast<const rocksdb_compactionjobinfo_t*>(info)),
            "none");
  EXPECT_EQ(rocksdb_compactionjobinfo_input_files_count(info), 0u);
  EXPECT_EQ(rocksdb_compactionjobinfo_table_properties_count(info), 0u);
  EXPECT_EQ(rocksdb_compactionjobinfo_blob_file_addition_infos_count(info), 0u);
  EXPECT_EQ(rocksdb_compactionjobinfo_blob_file_garbage_infos_count(info), 0u);
  EXPECT_EQ(rocksdb_compactionjobinfo_blob_compression_type(info),
            static_cast<uint32_t>(rocksdb_no_compression));
  rocksdb_compactionjobinfo_destroy(info);
}

TEST(JobInfos, ARangeOfACompactionIsDescribed) {
  SubcompactionJobInfo info;
  info.cf_id = 1;
  info.cf_name = "family";
  info.status = Status::Aborted("another range failed");
  info.thread_id = 2;
  info.job_id = 3;
  info.subcompaction_job_id = 4;
  info.base_input_level = 5;
  info.output_level = 6;
  info.compaction_reason = CompactionReason::kTtl;
  info.compression = kLZ4Compression;
  info.blob_compression_type = kZSTD;
  const rocksdb_subcompactionjobinfo_t* const c = Wrap(&info);
  EXPECT_EQ(ErrorOf(rocksdb_subcompactionjobinfo_status, c), info.status.ToString());
  EXPECT_SAME(subcompactionjobinfo, cf_id);
  EXPECT_SAME_TEXT(subcompactionjobinfo, cf_name);
  EXPECT_SAME(subcompactionjobinfo, thread_id);
  EXPECT_SAME(subcompactionjobinfo, job_id);
  EXPECT_SAME(subcompactionjobinfo, subcompaction_job_id);
  EXPECT_SAME(subcompactionjobinfo, base_input_level);
  EXPECT_SAME(subcompactionjobinfo, output_level);
  EXPECT_SAME_NUMBER(subcompactionjobinfo, compaction_reason);
  EXPECT_SAME_NUMBER(subcompactionjobinfo, compression);
  EXPECT_SAME_NUMBER(subcompactionjobinfo, blob_compression_type);
  EXPECT_EQ(Rep(rocksdb_subcompactionjobinfo_stats(c)), &info.stats);
}

TEST(JobInfos, TheFiguresOfACompactionAreDescribed) {
  const CompactionJobStats info = DistinctStats();
  const rocksdb_compaction_job_stats_t* const c = Wrap(&info);
  EXPECT_SAME(compaction_job_stats, elapsed_micros);
  EXPECT_SAME(compaction_job_stats, cpu_micros);
  EXPECT_SAME(compaction_job_stats, has_accurate_num_input_records);
  EXPECT_SAME(compaction_job_stats, num_input_records);
  EXPECT_SAME(compaction_job_stats, num_input_files);
  EXPECT_SAME(compaction_job_stats, num_input_files_trivially_moved);
  EXPECT_SAME(compaction_job_stats, num_input_files_at_output_level);
  EXPECT_SAME(compaction_job_stats, num_output_records);
  EXPECT_SAME(compaction_job_stats, num_output_files);
  EXPECT_SAME(compaction_job_stats, is_full_compaction);
  EXPECT_SAME(compaction_job_stats, is_manual_compaction);
  EXPECT_SAME(compaction_job_stats, total_input_bytes);
  EXPECT_SAME(compaction_job_stats, total_output_bytes);
  EXPECT_SAME(compaction_job_stats, num_records_replaced);
  EXPECT_SAME(compaction_job_stats, total_input_raw_key_bytes);
  EXPECT_SAME(compaction_job_stats, total_input_raw_value_bytes);
  EXPECT_SAME(compaction_job_stats, num_input_deletion_records);
  EXPECT_SAME(compaction_job_stats, num_expired_deletion_records);
  EXPECT_SAME(compaction_job_stats, num_corrupt_keys);
  EXPECT_SAME_TEXT(compaction_job_stats, smallest_output_key_prefix);
  EXPECT_SAME_TEXT(compaction_job_stats, largest_output_key_prefix);
  EXPECT_SAME(compaction_job_stats, num_single_del_fallthru);
  EXPECT_SAME(compaction_job_stats, num_single_del_mismatch);
  EXPECT_SAME(compaction_job_stats, file_write_nanos);
  EXPECT_SAME(compaction_job_stats, file_range_sync_nanos);
  EXPECT_SAME(compaction_job_stats, file_fsync_nanos);
  EXPECT_SAME(compaction_job_stats, file_prepare_write_nanos);
  EXPECT_SAME(compaction_job_stats, num_filtered_input_files);
  EXPECT_SAME(compaction_job_stats, num_filtered_input_files_at_output_level);
  EXPECT_SAME(compaction_job_stats, total_skipped_input_bytes);
  EXPECT_SAME(compaction_job_stats, is_remote_compaction);
  EXPECT_SAME(compaction_job_stats, num_blobs_read);
  EXPECT_SAME(compaction_job_stats, num_output_files_blob);
  EXPECT_SAME(compaction_job_stats, total_blob_bytes_read);
  EXPECT_SAME(compaction_job_stats, total_output_bytes_blob);
}

TEST(JobInfos, AnIngestionIsDescribed) {
  ExternalFileIngestionInfo info;
  info.cf_name = "family";
  info.external_file_path = "/elsewhere/file";
  info.internal_file_path = "/db/000008.sst";
  info.global_seqno = 9;
  const rocksdb_externalfileingestioninfo_t* const c = Wrap(&info);
  EXPECT_SAME_TEXT(externalfileingestioninfo, cf_name);
  EXPECT_SAME_TEXT(externalfileingestioninfo, external_file_path);
  EXPECT_SAME_TEXT(externalfileingestioninfo, internal_file_path);
  EXPECT_SAME(externalfileingestioninfo, global_seqno);
  EXPECT_EQ(Rep(rocksdb_externalfileingestioninfo_table_properties(c)), &info.table_properties);
}

TEST(JobInfos, AMemTableIsDescribed) {
  MemTableInfo info;
  info.cf_name = "family";
  info.first_seqno = 1;
  info.earliest_seqno = 2;
  info.num_entries = 3;
  info.num_deletes = 4;
  info.newest_udt = "time";
  const rocksdb_memtableinfo_t* const c = Wrap(&info);
  EXPECT_SAME_TEXT(memtableinfo, cf_name);
  EXPECT_SAME(memtableinfo, first_seqno);
  EXPECT_SAME(memtableinfo, earliest_seqno);
  EXPECT_SAME(memtableinfo, num_entries);
  EXPECT_SAME(memtableinfo, num_deletes);
  EXPECT_SAME_TEXT(memtableinfo, newest_udt);
  info.newest_udt.clear();
  EXPECT_EQ(Text(rocksdb_memtableinfo_newest_udt, c), "");
}

TEST(JobInfos, AStallIsDescribed) {
  WriteStallInfo info;
  info.cf_name = "family";
  info.condition.prev = WriteStallCondition::kStopped;
  info.condition.cur = WriteStallCondition::kDelayed;
  const rocksdb_writestallinfo_t* const c = Wrap(&info);
  EXPECT_SAME_TEXT(writestallinfo, cf_name);
  EXPECT_EQ(Rep(rocksdb_writestallinfo_prev(c)), &info.condition.prev);
  EXPECT_EQ(Rep(rocksdb_writestallinfo_cur(c)), &info.condition.cur);
}

// All numbers differ, and so do all texts.
#define NUMBERS(each)                                                                              \
  each(orig_file_number) each(external_sst_file_global_seqno_offset) each(data_size) each(         \
      index_size) each(index_partitions) each(top_level_index_size) each(index_key_is_user_key)    \
      each(index_value_is_delta_encoded) each(filter_size) each(raw_key_size) each(raw_value_size) \
          each(num_data_blocks) each(num_entries) each(num_deletions) each(num_merge_operands)     \
              each(num_range_deletions) each(num_filter_entries) each(format_version) each(        \
                  fixed_key_len) each(column_family_id) each(creation_time) each(oldest_key_time)  \
                  each(file_creation_time) each(slow_compression_estimated_data_size)              \
                      each(fast_compression_estimated_data_size)                                   \
                          each(num_data_blocks_compression_rejected)                               \
                              each(num_data_blocks_compression_bypassed) each(num_uniform_blocks)  \
                                  each(newest_key_time) each(tail_start_offset)                    \
                                      each(user_defined_timestamps_persisted)                      \
                                          each(key_largest_seqno) each(key_smallest_seqno)         \
                                              each(data_block_restart_interval)                    \
                                                  each(index_block_restart_interval)               \
                                                      each(separate_key_value_in_data_block)       \
                                                          each(uncompressed_data_size)             \
                                                              each(udi_is_primary_index)
#define TEXTS(each)                                                                          \
  each(db_id) each(db_session_id) each(db_host_id) each(column_family_name)                  \
      each(filter_policy_name) each(comparator_name) each(merge_operator_name)               \
          each(prefix_extractor_name) each(property_collectors_names) each(compression_name) \
              each(compression_options) each(seqno_to_time_mapping)

TEST(JobInfos, ThePropertiesOfATableAreDescribed) {
  TableProperties info;
  uint64_t number = 0;
#define SET_NUMBER(name) info.name = ++number;
#define SET_TEXT(name) info.name = #name;
  NUMBERS(SET_NUMBER)
  TEXTS(SET_TEXT)
  const rocksdb_table_properties_t* const c = Wrap(&info);
#define EXPECT_NUMBER(name) EXPECT_SAME(table_properties, name);
#define EXPECT_TEXT(name) EXPECT_SAME_TEXT(table_properties, name);
  NUMBERS(EXPECT_NUMBER)
  TEXTS(EXPECT_TEXT)
  info.user_collected_properties = {{"a", "1"}, {"b", "2"}};
  info.readable_properties = {{"c", "3"}};
  size_t size = 0;
  EXPECT_EQ(rocksdb_table_properties_user_collected_properties_count(c), 2u);
  EXPECT_STREQ(rocksdb_table_properties_user_collected_properties_key_at(c, 1, &size), "b");
  EXPECT_STREQ(rocksdb_table_properties_user_collected_properties_value_at(c, 1, &size), "2");
  EXPECT_EQ(rocksdb_table_properties_readable_properties_count(c), 1u);
  EXPECT_STREQ(rocksdb_table_properties_readable_properties_key_at(c, 0, &size), "c");
  EXPECT_STREQ(rocksdb_table_properties_readable_properties_value_at(c, 0, &size), "3");
  EXPECT_EQ(size, 1u);
  EXPECT_EQ(rocksdb_table_properties_readable_properties_key_at(c, 1, &size), nullptr);
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(rocksdb_table_properties_has_key_largest_seqno(c), 1);
  info.key_largest_seqno = UINT64_MAX;
  EXPECT_EQ(rocksdb_table_properties_has_key_largest_seqno(c), 0);
  EXPECT_EQ(rocksdb_table_properties_has_key_smallest_seqno(c), 1);
  info.key_smallest_seqno = UINT64_MAX;
  EXPECT_EQ(rocksdb_table_properties_has_key_smallest_seqno(c), 0);
}
#undef NUMBERS
#undef TEXTS
#undef SET_NUMBER
#undef SET_TEXT
#undef EXPECT_NUMBER
#undef EXPECT_TEXT

#undef EXPECT_SAME
#undef EXPECT_SAME_NUMBER
#undef EXPECT_SAME_TEXT

}  // namespace
}  // namespace ashlar
