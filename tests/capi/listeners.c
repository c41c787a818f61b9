// Event listeners in C: each function is called by a real flush, compaction, ingestion, stall or
// error. Callbacks copy the infos, and the scenario checks the copies after the database is
// closed.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/capi/program.h"

enum { kTextMax = 600 };

// Counts of a listener's events, and a copy of the last info of each kind.
struct Seen {
  int flushes_begun;
  int flushes_completed;
  char family[32];
  char file_path[kTextMax];
  uint64_t file_number;
  uint32_t flush_reason;
  uint64_t smallest_seqno;
  uint64_t largest_seqno;
  uint64_t flushed_entries;
  int flush_job;
  int job_at_begin;
  unsigned char slowdown;
  char value[8];  // that the callback read

  int compactions_begun;
  int compactions_completed;
  char compaction_error[kTextMax];
  uint32_t compaction_reason;
  int output_level;
  size_t inputs;
  size_t outputs;
  size_t tables;
  uint64_t output_entries;
  uint64_t records_in;
  uint64_t records_out;
  size_t files_in;
  int is_manual;
  char smallest_key[9];
  int compaction_job;

  int ranges_begun;
  int ranges_completed;
  int range_job;
  int range;
  uint64_t range_records;

  int ingested;
  char external_path[kTextMax];
  char internal_path[kTextMax];
  uint64_t global_seqno;
  uint64_t ingested_entries;
  char ingested_value[8];  // that the callback read

  int errors;
  uint32_t error_reason;
  char error[kTextMax];

  int stalls;
  int stall_from[64];
  int stall_to[64];

  int sealed;
  uint64_t sealed_entries;
  uint64_t sealed_deletes;
  uint64_t sealed_first_seqno;

  int destroyed;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void Copy(char* to, size_t to_size, const char* text, size_t size) {
  CHECK(text != NULL && text[size] == 0 && size < to_size);
  memcpy(to, text, size + 1);
}

static void OnFlushBegin(void* state, rocksdb_t* db, const rocksdb_flushjobinfo_t* info) {
  struct Seen* const seen = state;
  CHECK(db != NULL);
  pthread_mutex_lock(&mutex);
  ++seen->flushes_begun;
  seen->job_at_begin = rocksdb_flushjobinfo_job_id(info);
  pthread_mutex_unlock(&mutex);
}

static void OnFlushCompleted(void* state, rocksdb_t* db, const rocksdb_flushjobinfo_t* info) {
  struct Seen* const seen = state;
  char* error = NULL;
  size_t size = 0;
  char* const value = rocksdb_get(db, readoptions, "a", 1, &size, &error);
  CHECK_OK(error);
  pthread_mutex_lock(&mutex);
  ++seen->flushes_completed;
  if (value != NULL) snprintf(seen->value, sizeof seen->value, "%.*s", (int)size, value);
  const char* const family = rocksdb_flushjobinfo_cf_name(info, &size);
  Copy(seen->family, sizeof seen->family, family, size);
  const char* const path = rocksdb_flushjobinfo_file_path(info, &size);
  Copy(seen->file_path, sizeof seen->file_path, path, size);
  seen->file_number = rocksdb_flushjobinfo_file_number(info);
  seen->flush_reason = rocksdb_flushjobinfo_flush_reason(info);
  seen->smallest_seqno = rocksdb_flushjobinfo_smallest_seqno(info);
  seen->largest_seqno = rocksdb_flushjobinfo_largest_seqno(info);
  seen->flushed_entries =
      rocksdb_table_properties_num_entries(rocksdb_flushjobinfo_table_properties(info));
  seen->flush_job = rocksdb_flushjobinfo_job_id(info);
  seen->slowdown = rocksdb_flushjobinfo_triggered_writes_slowdown(info);
  CHECK(rocksdb_flushjobinfo_thread_id(info) != 0);
  CHECK(rocksdb_flushjobinfo_blob_file_addition_infos_count(info) == 0);
  CHECK(rocksdb_flushjobinfo_oldest_blob_file_number(info) == 0);
  CHECK(rocksdb_flushjobinfo_blob_compression_type(info) == rocksdb_no_compression);
  CHECK(rocksdb_table_properties_udi_is_primary_index(
            rocksdb_flushjobinfo_table_properties(info)) == 0);
  pthread_mutex_unlock(&mutex);
  rocksdb_free(value);
}

static void OnCompactionBegin(void* state, rocksdb_t* db, const rocksdb_compactionjobinfo_t* info) {
  struct Seen* const seen = state;
  CHECK(db != NULL && rocksdb_compactionjobinfo_output_files_count(info) == 0);
  pthread_mutex_lock(&mutex);
  ++seen->compactions_begun;
  pthread_mutex_unlock(&mutex);
}

static void OnCompactionCompleted(void* state, rocksdb_t* db,
                                  const rocksdb_compactionjobinfo_t* info) {
  struct Seen* const seen = state;
  char* error = NULL;
  size_t size = 0;
  char* const files = rocksdb_property_value(db, "rocksdb.num-files-at-level0");
  CHECK(files != NULL && strcmp(files, "0") == 0);
  rocksdb_free(files);
  rocksdb_compactionjobinfo_status(info, &error);
  const rocksdb_compaction_job_stats_t* const stats = rocksdb_compactionjobinfo_stats(info);
  pthread_mutex_lock(&mutex);
  ++seen->compactions_completed;
  if (error != NULL) snprintf(seen->compaction_error, sizeof seen->compaction_error, "%s", error);
  seen->compaction_reason = rocksdb_compactionjobinfo_compaction_reason(info);
  seen->output_level = rocksdb_compactionjobinfo_output_level(info);
  seen->inputs = rocksdb_compactionjobinfo_input_files_count(info);
  seen->outputs = rocksdb_compactionjobinfo_output_files_count(info);
  seen->tables = rocksdb_compactionjobinfo_table_properties_count(info);
  const char* const output = rocksdb_compactionjobinfo_output_file_at(info, 0, &size);
  const rocksdb_table_properties_t* const properties =
      rocksdb_compactionjobinfo_table_properties_for_file(info, output, size);
  CHECK(properties != NULL);
  seen->output_entries = rocksdb_table_properties_num_entries(properties);
  seen->records_in = rocksdb_compaction_job_stats_num_input_records(stats);
  seen->records_out = rocksdb_compaction_job_stats_num_output_records(stats);
  seen->files_in = rocksdb_compaction_job_stats_num_input_files(stats);
  seen->is_manual = rocksdb_compaction_job_stats_is_manual_compaction(stats);
  const char* const key = rocksdb_compaction_job_stats_smallest_output_key_prefix(stats, &size);
  Copy(seen->smallest_key, sizeof seen->smallest_key, key, size);
  seen->compaction_job = rocksdb_compactionjobinfo_job_id(info);
  CHECK(rocksdb_compactionjobinfo_blob_file_addition_infos_count(info) == 0);
  CHECK(rocksdb_compactionjobinfo_blob_file_garbage_infos_count(info) == 0);
  CHECK(rocksdb_compactionjobinfo_blob_compression_type(info) == rocksdb_no_compression);
  CHECK(rocksdb_compaction_job_stats_num_output_files_blob(stats) == 0);
  pthread_mutex_unlock(&mutex);
  rocksdb_free(error);
}

static void OnSubcompactionBegin(void* state, const rocksdb_subcompactionjobinfo_t* info) {
  struct Seen* const seen = state;
  pthread_mutex_lock(&mutex);
  ++seen->ranges_begun;
  CHECK(seen->compactions_completed == 0 && rocksdb_subcompactionjobinfo_thread_id(info) != 0);
  pthread_mutex_unlock(&mutex);
}

static void OnSubcompactionCompleted(void* state, const rocksdb_subcompactionjobinfo_t* info) {
  struct Seen* const seen = state;
  char* error = NULL;
  rocksdb_subcompactionjobinfo_status(info, &error);
  CHECK_OK(error);
  pthread_mutex_lock(&mutex);
  ++seen->ranges_completed;
  CHECK(seen->compactions_completed == 0);
  seen->range_job = rocksdb_subcompactionjobinfo_job_id(info);
  seen->range = rocksdb_subcompactionjobinfo_subcompaction_job_id(info);
  seen->range_records =
      rocksdb_compaction_job_stats_num_input_records(rocksdb_subcompactionjobinfo_stats(info));
  pthread_mutex_unlock(&mutex);
}

static void OnExternalFileIngested(void* state, rocksdb_t* db,
                                   const rocksdb_externalfileingestioninfo_t* info) {
  struct Seen* const seen = state;
  char* error = NULL;
  size_t size = 0;
  char* const value = rocksdb_get(db, readoptions, "a", 1, &size, &error);
  CHECK_OK(error);
  pthread_mutex_lock(&mutex);
  ++seen->ingested;
  if (value != NULL)
    snprintf(seen->ingested_value, sizeof seen->ingested_value, "%.*s", (int)size, value);
  const char* text = rocksdb_externalfileingestioninfo_cf_name(info, &size);
  Copy(seen->family, sizeof seen->family, text, size);
  text = rocksdb_externalfileingestioninfo_external_file_path(info, &size);
  Copy(seen->external_path, sizeof seen->external_path, text, size);
  text = rocksdb_externalfileingestioninfo_internal_file_path(info, &size);
  Copy(seen->internal_path, sizeof seen->internal_path, text, size);
  seen->global_seqno = rocksdb_externalfileingestioninfo_global_seqno(info);
  seen->ingested_entries = rocksdb_table_properties_num_entries(
      rocksdb_externalfileingestioninfo_table_properties(info));
  pthread_mutex_unlock(&mutex);
  rocksdb_free(value);
}

static void OnBackgroundError(void* state, uint32_t reason, rocksdb_status_ptr_t* status) {
  struct Seen* const seen = state;
  char* error = NULL;
  rocksdb_status_ptr_get_error(status, &error);
  pthread_mutex_lock(&mutex);
  ++seen->errors;
  seen->error_reason = reason;
  if (error != NULL) snprintf(seen->error, sizeof seen->error, "%s", error);
  pthread_mutex_unlock(&mutex);
  rocksdb_free(error);
  rocksdb_reset_status(status);
  error = NULL;
  rocksdb_status_ptr_get_error(status, &error);
  CHECK(error == NULL);
}

static void OnStallConditionsChanged(void* state, const rocksdb_writestallinfo_t* info) {
  struct Seen* const seen = state;
  size_t size = 0;
  const char* const family = rocksdb_writestallinfo_cf_name(info, &size);
  CHECK(Equal(family, size, "default"));
  pthread_mutex_lock(&mutex);
  if (seen->stalls < 64) {
    seen->stall_from[seen->stalls] = *(const int*)rocksdb_writestallinfo_prev(info);
    seen->stall_to[seen->stalls] = *(const int*)rocksdb_writestallinfo_cur(info);
    ++seen->stalls;
  }
  pthread_mutex_unlock(&mutex);
}

static void OnMemTableSealed(void* state, const rocksdb_memtableinfo_t* info) {
  struct Seen* const seen = state;
  size_t size = 0;
  const char* const family = rocksdb_memtableinfo_cf_name(info, &size);
  CHECK(Equal(family, size, "default"));
  pthread_mutex_lock(&mutex);
  ++seen->sealed;
  seen->sealed_entries = rocksdb_memtableinfo_num_entries(info);
  seen->sealed_deletes = rocksdb_memtableinfo_num_deletes(info);
  seen->sealed_first_seqno = rocksdb_memtableinfo_first_seqno(info);
  CHECK(rocksdb_memtableinfo_earliest_seqno(info) <= seen->sealed_first_seqno);
  CHECK(rocksdb_memtableinfo_newest_udt(info, &size) != NULL && size == 0);
  pthread_mutex_unlock(&mutex);
}

static void OnDestroyed(void* state) { ++((struct Seen*)state)->destroyed; }

static rocksdb_eventlistener_t* Listener(struct Seen* seen) {
  memset(seen, 0, sizeof *seen);
  return rocksdb_eventlistener_create(
      seen, OnDestroyed, OnFlushBegin, OnFlushCompleted, OnCompactionBegin, OnCompactionCompleted,
      OnSubcompactionBegin, OnSubcompactionCompleted, OnExternalFileIngested, OnBackgroundError,
      OnStallConditionsChanged, OnMemTableSealed);
}

static rocksdb_options_t* simple;  // while a scenario has options of its own

// `options` become a copy with a listener. RestoreOptions ends it.
static void ListenInto(struct Seen* seen) {
  simple = options;
  options = rocksdb_options_create_copy(simple);
  rocksdb_options_set_disable_auto_compactions(options, 1);
  rocksdb_options_add_eventlistener(options, Listener(seen));
}
static void RestoreOptions(void) {
  rocksdb_options_destroy(options);
  options = simple;
}

static void Flush(rocksdb_t* db) {
  char* error = NULL;
  rocksdb_flushoptions_t* const flush = rocksdb_flushoptions_create();
  rocksdb_flush(db, flush, &error);
  CHECK_OK(error);
  rocksdb_flushoptions_destroy(flush);
}

void ListenersHearOfAFlush(void) {
  struct Seen seen;
  ListenInto(&seen);
  rocksdb_t* const db = OpenEmpty();
  char* error = NULL;
  Put(db, "a", "1");
  Put(db, "b", "2");
  rocksdb_delete(db, writeoptions, "c", 1, &error);
  CHECK_OK(error);
  Flush(db);
  rocksdb_close(db);
  CHECK(seen.sealed == 1 && seen.sealed_entries == 3 && seen.sealed_deletes == 1);
  CHECK(seen.sealed_first_seqno == 1);
  CHECK(seen.flushes_begun == 1 && seen.flushes_completed == 1);
  CHECK(seen.flush_job != 0 && seen.flush_job == seen.job_at_begin);
  CHECK(strcmp(seen.family, "default") == 0);
  CHECK(strstr(seen.file_path, ".sst") != NULL && seen.file_number != 0);
  CHECK(seen.flush_reason == 0x0a);  // manual
  CHECK(seen.smallest_seqno == 1 && seen.largest_seqno == 3);
  CHECK(seen.flushed_entries == 3 && seen.slowdown == 0);
  CHECK(strcmp(seen.value, "1") == 0);
  RestoreOptions();
  CHECK(seen.destroyed == 1);
}

void ListenersHearOfACompaction(void) {
  struct Seen seen;
  ListenInto(&seen);
  rocksdb_t* const db = OpenEmpty();
  for (int round = 0; round < 2; ++round) {
    Put(db, "first key", "1");
    Put(db, "second key", "2");
    Flush(db);
  }
  rocksdb_compact_range(db, NULL, 0, NULL, 0);
  rocksdb_close(db);
  CHECK(seen.compactions_begun == 1 && seen.compactions_completed == 1);
  CHECK(seen.compaction_error[0] == 0);
  CHECK(seen.compaction_reason == 9 && seen.is_manual);  // manual
  CHECK(seen.output_level > 0);
  CHECK(seen.inputs == 2 && seen.files_in == 2 && seen.outputs == 1 && seen.tables == 3);
  CHECK(seen.records_in == 4 && seen.records_out == 2 && seen.output_entries == 2);
  CHECK(strcmp(seen.smallest_key, "first ke") == 0);
  CHECK(seen.ranges_begun == 1 && seen.ranges_completed == 1);
  CHECK(seen.range_job == seen.compaction_job && seen.range == 0 && seen.range_records == 4);
  RestoreOptions();
}

void ListenersHearOfAnIngestion(void) {
  char* error = NULL;
  char file[512];
  snprintf(file, sizeof file, "%s.heard.sst", directory);
  struct Seen seen;
  ListenInto(&seen);
  rocksdb_t* const db = OpenEmpty();
  Put(db, "a", "old");
  rocksdb_envoptions_t* const env = rocksdb_envoptions_create();
  rocksdb_sstfilewriter_t* const writer = rocksdb_sstfilewriter_create(env, options);
  rocksdb_sstfilewriter_open(writer, file, &error);
  rocksdb_sstfilewriter_put(writer, "a", 1, "new", 3, &error);
  rocksdb_sstfilewriter_put(writer, "b", 1, "new", 3, &error);
  rocksdb_sstfilewriter_finish(writer, &error);
  CHECK_OK(error);
  rocksdb_sstfilewriter_destroy(writer);
  rocksdb_envoptions_destroy(env);
  const char* const files[] = {file};
  rocksdb_ingestexternalfileoptions_t* const how = rocksdb_ingestexternalfileoptions_create();
  rocksdb_ingestexternalfileoptions_set_move_files(how, 1);
  rocksdb_ingest_external_file(db, files, 1, how, &error);
  CHECK_OK(error);
  rocksdb_ingestexternalfileoptions_destroy(how);
  rocksdb_close(db);
  CHECK(seen.ingested == 1 && seen.ingested_entries == 2);
  CHECK(strcmp(seen.external_path, file) == 0);
  CHECK(strstr(seen.internal_path, directory) == seen.internal_path);
  CHECK(strcmp(seen.external_path, seen.internal_path) != 0);
  CHECK(seen.global_seqno > 1);
  CHECK(strcmp(seen.ingested_value, "new") == 0);
  RestoreOptions();
}

void ListenersHearOfStalls(void) {
  char* error = NULL;
  struct Seen seen;
  ListenInto(&seen);
  rocksdb_options_set_disable_auto_compactions(options, 0);
  rocksdb_options_set_level0_file_num_compaction_trigger(options, 2);
  rocksdb_options_set_level0_slowdown_writes_trigger(options, 2);
  rocksdb_options_set_level0_stop_writes_trigger(options, 100);
  rocksdb_t* const db = OpenEmpty();
  for (int round = 0; round < 2; ++round) {
    Put(db, "a", "1");
    Flush(db);
  }
  rocksdb_wait_for_compact_options_t* const wait = rocksdb_wait_for_compact_options_create();
  rocksdb_wait_for_compact(db, wait, &error);
  CHECK_OK(error);
  rocksdb_wait_for_compact_options_destroy(wait);
  rocksdb_close(db);
  CHECK(seen.stalls >= 2);
  CHECK(seen.stall_from[0] == ashlar_write_stall_normal &&
        seen.stall_to[0] == ashlar_write_stall_delayed);
  CHECK(seen.stall_from[1] == ashlar_write_stall_delayed &&
        seen.stall_to[1] == ashlar_write_stall_normal);
  RestoreOptions();
}

// The space that the database may take is used up by its first table.
void ListenersHearOfErrors(void) {
  char* error = NULL;
  struct Seen first;
  struct Seen second;
  rocksdb_options_t* const own = rocksdb_options_create();
  rocksdb_options_set_create_if_missing(own, 1);
  rocksdb_options_add_eventlistener(own, Listener(&first));
  rocksdb_options_add_eventlistener(own, Listener(&second));
  rocksdb_env_t* const env = rocksdb_create_mem_env();
  rocksdb_options_set_env(own, env);
  rocksdb_sst_file_manager_t* const manager = rocksdb_sst_file_manager_create(env);
  rocksdb_options_set_sst_file_manager(own, manager);
  rocksdb_t* const db = rocksdb_open(own, "/memory", &error);
  CHECK_OK(error);
  rocksdb_sst_file_manager_set_max_allowed_space_usage(manager, 1);
  Put(db, "granite", "igneous");
  Flush(db);
  rocksdb_close(db);
  CHECK(first.errors >= 1 && first.error_reason == 0);  // of a flush
  CHECK(strstr(first.error, "SetMaxAllowedSpaceUsage") != NULL);
  // The first took the error away from the second, but not from the database.
  CHECK(second.errors == first.errors && second.error[0] == 0);
  rocksdb_options_destroy(own);
  CHECK(first.destroyed == 1 && second.destroyed == 1);
  rocksdb_sst_file_manager_destroy(manager);
  rocksdb_env_destroy(env);
}

void ListenersEndWithTheirOptions(void) {
  struct Seen seen;
  rocksdb_eventlistener_destroy(Listener(&seen));
  CHECK(seen.destroyed == 1);

  // Copies of the options and an open database share it. Nothing is wanted, not even its end.
  rocksdb_options_t* const own = rocksdb_options_create_copy(options);
  rocksdb_options_add_eventlistener(own, Listener(&seen));
  rocksdb_options_add_eventlistener(
      own, rocksdb_eventlistener_create(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                                        NULL, NULL));
  rocksdb_options_t* const copy = rocksdb_options_create_copy(own);
  rocksdb_options_destroy(own);
  CHECK(seen.destroyed == 0);
  rocksdb_options_t* const simple_options = options;
  options = copy;
  rocksdb_t* const db = OpenEmpty();
  options = simple_options;
  rocksdb_options_destroy(copy);
  CHECK(seen.destroyed == 0);
  for (int round = 0; round < 2; ++round) {
    Put(db, "a", "1");
    Flush(db);
  }
  rocksdb_compact_range(db, NULL, 0, NULL, 0);
  rocksdb_close(db);
  CHECK(seen.destroyed == 1 && seen.flushes_completed == 2);
}
